package admission

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/kube/object/apiserver"
	"berth/internal/kube/object/stored"
)

// LimitRangerSet is the annotation that tells what LimitRanger set in a pod.
const LimitRangerSet = "kubernetes.io/limit-ranger"

// setDefaultLimits sets the requests and limits that a pod's containers lack, and returns which
// (plugin/pkg/admission/limitranger admission.go, PodMutateLimitFunc). Of several entries of a
// range about one resource the last counts.
func setDefaultLimits(p *corev1.Pod, r *corev1.LimitRange) (said []string) {
	requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
	apiserver.SetLimitRangeDefaults(r)
	for i := range r.Spec.Limits {
		if l := &r.Spec.Limits[i]; l.Type == corev1.LimitTypeContainer {
			for name, q := range l.DefaultRequest {
				requests[name] = q
			}
			for name, q := range l.Default {
				limits[name] = q
			}
		}
	}
	set := func(what string, list []corev1.Container) {
		for i := range list {
			c := &list[i]
			limited := lacking(&c.Resources.Limits, limits)
			for _, s := range []struct {
				names []string
				what  string
			}{{lacking(&c.Resources.Requests, requests), "request"}, {limited, "limit"}} {
				if len(s.names) > 0 {
					said = append(said, fmt.Sprintf("%s %s for %s %s", strings.Join(s.names, ", "), s.what, what, c.Name))
				}
			}
		}
	}
	set("container", p.Spec.Containers)
	set("init container", p.Spec.InitContainers)
	return said
}

// annotate tells in a pod what LimitRanger set.
func annotate(p *corev1.Pod, set []string) {
	if len(set) == 0 {
		return
	}
	if p.Annotations == nil {
		p.Annotations = map[string]string{}
	}
	p.Annotations[LimitRangerSet] = "LimitRanger plugin set: " + strings.Join(set, "; ")
}

// lacking adds to a list the amounts that it lacks, and returns their names.
func lacking(list *corev1.ResourceList, from corev1.ResourceList) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(from)) {
		if _, there := (*list)[name]; there {
			continue
		}
		if *list == nil {
			*list = corev1.ResourceList{}
		}
		(*list)[name] = from[name].DeepCopy()
		names = append(names, string(name))
	}
	return names
}

// checkLimits refuses a pod whose containers, or which as a whole, has less or more than a range
// allows (PodValidateLimitFunc there). What upstream finds by ranging over maps is in order of
// names.
func checkLimits(p *corev1.Pod, r *corev1.LimitRange) *Refusal {
	var errs []error
	check := func(l *corev1.LimitRangeItem, requests, limits corev1.ResourceList) {
		for _, rule := range []struct {
			of    corev1.ResourceList
			check func(corev1.LimitType, corev1.ResourceName, resource.Quantity, amounts) error
		}{{l.Min, belowMin}, {l.Max, aboveMax}, {l.MaxLimitRequestRatio, aboveRatio}} {
			for _, name := range slices.Sorted(maps.Keys(rule.of)) {
				if err := rule.check(l.Type, name, rule.of[name], amountsOf(name, requests, limits)); err != nil {
					errs = append(errs, err)
				}
			}
		}
	}
	for i := range r.Spec.Limits {
		l := &r.Spec.Limits[i]
		switch l.Type {
		case corev1.LimitTypeContainer:
			for _, list := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
				for k := range list {
					check(l, list[k].Resources.Requests, list[k].Resources.Limits)
				}
			}
		case corev1.LimitTypePod:
			requests, limits := stored.ContainerRequests(p), stored.ContainerLimits(p)
			if of := p.Spec.Resources; of != nil {
				overridden(requests, of.Requests)
				overridden(limits, of.Limits)
			}
			check(l, requests, limits)
		}
	}
	if err := utilerrors.NewAggregate(errs); err != nil {
		return forbidden(field.NewPath("spec"), "%v", err)
	}
	return nil
}

// overridden takes over the amounts of cpu and memory that a pod has as a whole
// (isSupportedPodLevelResource there).
func overridden(sum, ofPod corev1.ResourceList) {
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if q, there := ofPod[name]; there {
			sum[name] = q
		}
	}
}

// amounts are the request and the limit for one resource.
type amounts struct {
	request, limit     resource.Quantity
	requested, limited bool
}

func amountsOf(name corev1.ResourceName, requests, limits corev1.ResourceList) (a amounts) {
	a.request, a.requested = requests[name]
	a.limit, a.limited = limits[name]
	return a
}

// values returns the amounts and a bound in one unit, the smallest that all fit
// (requestLimitEnforcedValues there).
func (a *amounts) values(bound *resource.Quantity) (request, limit, enforced int64) {
	request, limit, enforced = a.request.Value(), a.limit.Value(), bound.Value()
	if max(request, limit, enforced) <= resource.MaxMilliValue {
		return a.request.MilliValue(), a.limit.MilliValue(), bound.MilliValue()
	}
	return request, limit, enforced
}

func belowMin(of corev1.LimitType, name corev1.ResourceName, bound resource.Quantity, a amounts) error {
	request, limit, least := a.values(&bound)
	text := fmt.Sprintf("minimum %s usage per %s is %s", name, of, bound.String())
	switch {
	case !a.requested:
		return fmt.Errorf("%s.  No request is specified", text)
	case request < least:
		return fmt.Errorf("%s, but request is %s", text, a.request.String())
	case a.limited && limit < least:
		return fmt.Errorf("%s, but limit is %s", text, a.limit.String())
	}
	return nil
}

func aboveMax(of corev1.LimitType, name corev1.ResourceName, bound resource.Quantity, a amounts) error {
	request, limit, most := a.values(&bound)
	text := fmt.Sprintf("maximum %s usage per %s is %s", name, of, bound.String())
	switch {
	case !a.limited:
		return fmt.Errorf("%s.  No limit is specified", text)
	case limit > most:
		return fmt.Errorf("%s, but limit is %s", text, a.limit.String())
	case a.requested && request > most:
		return fmt.Errorf("%s, but request is %s", text, a.request.String())
	}
	return nil
}

func aboveRatio(of corev1.LimitType, name corev1.ResourceName, bound resource.Quantity, a amounts) error {
	request, limit, _ := a.values(&bound)
	text := fmt.Sprintf("%s max limit to request ratio per %s is %s", name, of, bound.String())
	switch {
	case !a.requested || request == 0:
		return fmt.Errorf("%s, but no request is specified or request is 0", text)
	case !a.limited || limit == 0:
		return fmt.Errorf("%s, but no limit is specified or limit is 0", text)
	}
	ratio := float64(limit) / float64(request)
	most, is := float64(bound.Value()), ratio
	if bound.Value() <= resource.MaxMilliValue {
		most, is = float64(bound.MilliValue()), ratio*1000
	}
	if is > most {
		return fmt.Errorf("%s, but provided ratio is %f", text, ratio)
	}
	return nil
}
