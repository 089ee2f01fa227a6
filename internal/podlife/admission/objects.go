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

	"berth/internal/kube/object"
	"berth/internal/kube/object/apiserver"
	"berth/internal/kube/object/stored"
)

// CheckObject returns what LimitRanger and ResourceQuota say of an object of another kind than Pod
// that is to be created, or to take the place of another, with a nil Value for none; nil: they let
// it in. ResourceQuota counts the objects of each kind but quotas, and of claims the storage too.
func CheckObject(o, old object.Object, a Admission) *Verdict {
	if o.Namespace == "" || o.Kind == "ResourceQuota" || a.Objects == nil {
		return nil
	}
	refused := a.checkClaimLimits(o)
	if refused == nil {
		refused = a.checkObjectQuotas(o, old)
	}
	if refused == nil {
		return nil
	}
	v := refused.of(object.Resource(o.Kind).String(), o.Name)
	return &v
}

// checkClaimLimits refuses a claim that requests less or more than a LimitRange allows
// (plugin/pkg/admission/limitranger admission.go, PersistentVolumeClaimValidateLimitFunc).
func (a *Admission) checkClaimLimits(o object.Object) *Refusal {
	claim, is := o.Value.(*corev1.PersistentVolumeClaim)
	if !is {
		return nil
	}
	ranges, err := a.limitRanges(o.Namespace)
	if err != nil {
		return forbidden(nil, "%v", err)
	}
	for _, r := range ranges {
		apiserver.SetLimitRangeDefaults(r)
		var errs []error
		for i := range r.Spec.Limits {
			l := &r.Spec.Limits[i]
			if l.Type != corev1.LimitTypePersistentVolumeClaim {
				continue
			}
			for _, rule := range []struct {
				of    corev1.ResourceList
				check func(corev1.LimitType, corev1.ResourceName, resource.Quantity, amounts) error
			}{{l.Min, belowMin}, {l.Max, requestAboveMax}} {
				for _, name := range slices.Sorted(maps.Keys(rule.of)) {
					if err := rule.check(l.Type, name, rule.of[name], amountsOf(name, claim.Spec.Resources.Requests, nil)); err != nil {
						errs = append(errs, err)
					}
				}
			}
		}
		if err := utilerrors.NewAggregate(errs); err != nil {
			return forbidden(field.NewPath("spec", "resources", "requests"), "%v", err)
		}
	}
	return nil
}

// requestAboveMax is aboveMax for what has no limits (maxRequestConstraint there).
func requestAboveMax(of corev1.LimitType, name corev1.ResourceName, bound resource.Quantity, a amounts) error {
	request, _, most := a.values(&bound)
	text := fmt.Sprintf("maximum %s usage per %s is %s", name, of, bound.String())
	switch {
	case !a.requested:
		return fmt.Errorf("%s.  No request is specified", text)
	case request > most:
		return fmt.Errorf("%s, but request is %s", text, a.request.String())
	}
	return nil
}

// checkObjectQuotas is checkQuotas for an object of another kind.
func (a *Admission) checkObjectQuotas(o, old object.Object) *Refusal {
	u, err := a.usageOf(o.Namespace)
	if err != nil {
		return forbidden(nil, "%v", err)
	}
	for i, q := range u.quotas {
		if len(namesOf(o.Kind, q.Spec.Hard)) == 0 || !objectInScope(q, o.Value) {
			continue
		}
		used, err := u.usedBy(a.Objects, o.Kind)
		if err != nil {
			return forbidden(nil, "%v", err)
		}
		uses := objectUsage(o)
		if old.Value != nil {
			if _, storage := o.Value.(*corev1.PersistentVolumeClaim); !storage || objectInScope(q, old.Value) {
				uses = grown(uses, objectUsage(old))
			}
		}
		if names := tooMuch(q, used[i], uses); len(names) > 0 {
			return exceeds(q, uses, used[i], names)
		}
	}
	return nil
}

// grown are the amounts by which some are larger than before
// (apiserver/pkg/quota/v1 resources.go, SubtractWithNonNegativeResult).
func grown(now, before corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, q := range now {
		more := q.DeepCopy()
		more.Sub(before[name])
		if more.Sign() > 0 {
			out[name] = more
		}
	}
	return out
}

// counted are the resources of quotas that count the objects of a kind.
func counted(kind string) []corev1.ResourceName {
	of := object.Resource(kind)
	names := []corev1.ResourceName{corev1.ResourceName("count/" + of.String())}
	switch kind {
	case "Service", "ReplicationController", "PersistentVolumeClaim":
		names = append(names, corev1.ResourceName(of.Resource)) // the names from before there was count/
	}
	return names
}

// ofClass comes after a class's name in the resources of quotas that are about its claims.
const ofClass = ".storageclass.storage.k8s.io/"

// namesOf returns the resources of a quota that are about objects of a kind (MatchingResources of
// pkg/quota/v1/evaluator/core persistent_volume_claims.go and services.go, and of generic
// evaluator.go).
func namesOf(kind string, hard corev1.ResourceList) (names []corev1.ResourceName) {
	all := counted(kind)
	for name := range hard {
		of := name
		if kind == "PersistentVolumeClaim" {
			if _, resource, is := strings.Cut(string(name), ofClass); is && !strings.HasPrefix(resource, "count/") {
				of = corev1.ResourceName(resource)
			}
		}
		if slices.Contains(all, of) || kind == "PersistentVolumeClaim" && of == corev1.ResourceRequestsStorage {
			names = append(names, name)
		}
	}
	return names
}

// objectUsage is what an object uses of quotas (Usage there). Of a claim its spec counts: what a
// volume is being expanded to in its status is not kept.
func objectUsage(o object.Object) corev1.ResourceList {
	uses, one := corev1.ResourceList{}, *resource.NewQuantity(1, resource.DecimalSI)
	for _, name := range counted(o.Kind) {
		uses[name] = one
	}
	claim, is := o.Value.(*corev1.PersistentVolumeClaim)
	if !is {
		return uses
	}
	class := stored.ClaimClass(claim)
	if class != "" {
		uses[corev1.ResourceName(class+ofClass)+corev1.ResourcePersistentVolumeClaims] = one
	}
	if storage, requests := claim.Spec.Resources.Requests[corev1.ResourceStorage]; requests {
		storage.RoundUp(0)
		uses[corev1.ResourceRequestsStorage] = storage
		if class != "" {
			uses[corev1.ResourceName(class+ofClass)+corev1.ResourceRequestsStorage] = storage
		}
	}
	return uses
}

// objectInScope reports whether a quota is about an object. No scope but VolumeAttributesClass is
// about claims, and none about other kinds (pvcMatchesScopeFunc there, MatchesNoScopeFunc).
func objectInScope(q *corev1.ResourceQuota, value any) bool {
	return inScopes(q, func(s corev1.ScopedResourceSelectorRequirement) bool {
		claim, is := value.(*corev1.PersistentVolumeClaim)
		if !is || s.ScopeName != corev1.ResourceQuotaScopeVolumeAttributesClass {
			return false
		}
		class := ""
		if claim.Spec.VolumeAttributesClassName != nil {
			class = *claim.Spec.VolumeAttributesClassName
		}
		return selectsName(s, class)
	})
}

// usedBy returns what the objects of a kind use of each quota. They are counted once.
func (u *Usage) usedBy(from Objects, kind string) ([]corev1.ResourceList, error) {
	if list, done := u.others[kind]; done {
		return list, nil
	}
	list := make([]corev1.ResourceList, len(u.quotas))
	for i, q := range u.quotas {
		list[i] = corev1.ResourceList{}
		for _, name := range namesOf(kind, q.Spec.Hard) {
			list[i][name] = resource.Quantity{Format: resource.DecimalSI}
		}
	}
	if u.others == nil {
		u.others = map[string][]corev1.ResourceList{}
	}
	u.others[kind] = list
	some := false
	for k, js := range from.In(u.namespace, kind) {
		some = true
		o, err := object.FromCanonical(k.Kind, slices.Clone(js))
		if err != nil {
			return nil, err
		}
		u.AddObject(o, 1)
	}
	if !some && !holds(from, kind) {
		u.takeStatus(list)
	}
	return list, nil
}

// AddObject counts an object of the namespace: by 1 one that came, by -1 one that goes. Kinds whose
// objects nothing has asked for are not counted.
func (u *Usage) AddObject(o object.Object, by int) {
	if pod, is := o.Value.(*corev1.Pod); is {
		u.Add(pod, by)
		return
	}
	used := u.others[o.Kind]
	for i := range used {
		if objectInScope(u.quotas[i], o.Value) {
			addUp(used[i], objectUsage(o), by)
		}
	}
}
