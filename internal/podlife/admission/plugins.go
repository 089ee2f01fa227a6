package admission

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/kube/object"
	"berth/internal/kube/object/apiserver"
)

// Admission is what a cluster's admission plugins work with. Any of it may be nil.
type Admission struct {
	Classes Classes
	// Topology returns a pod that names its node with that node's zone and region.
	Topology func(*corev1.Pod) *corev1.Pod
	// TolerationSeconds turns the plugin DefaultTolerationSeconds on for CreateStored.
	TolerationSeconds bool
	// Objects are what RuntimeClass, LimitRanger and ResourceQuota read; nil: the plugins are off.
	Objects Objects
	// Usage returns what the pods of a namespace use of its quotas, for one who has counted them;
	// nil: they are counted.
	Usage func(namespace string) (*Usage, error)

	now time.Time // of the call
}

// Objects are those of a cluster, in canonical JSON, which is not to be written.
type Objects interface {
	Object(k object.Key) ([]byte, bool)
	// In visits the objects of kinds in a namespace, in all for an empty one, in any order. JSON is
	// good until the next object.
	In(namespace string, kinds ...string) iter.Seq2[object.Key, []byte]
}

// Refusal is why an admission plugin forbids a pod.
type Refusal struct {
	At      *field.Path
	Message string // the plugin's
	// Quota is the quota that does not let the pod in; nil: it is none.
	Quota *QuotaUse
}

func forbidden(at *field.Path, format string, args ...any) *Refusal {
	return &Refusal{At: at, Message: fmt.Sprintf(format, args...)}
}

// verdict is the refusal of a pod in an API server's words (apiserver/pkg/admission errors.go,
// NewForbidden).
func (r *Refusal) verdict(p *corev1.Pod) Verdict {
	return r.of("pods", cmp.Or(p.Name, p.GenerateName))
}

// of is verdict for an object of any kind; resource has the kind's plural and group.
func (r *Refusal) of(resource, name string) Verdict {
	return Verdict{
		Errors:    field.ErrorList{field.Forbidden(r.At, r.Message)},
		Forbidden: fmt.Sprintf("%s %q is forbidden: %s", resource, name, r.Message),
		Quota:     r.Quota,
	}
}

// limitRanges returns those of a namespace, by name: upstream takes them in any order.
func (a *Admission) limitRanges(namespace string) ([]*corev1.LimitRange, error) {
	return objectsIn[*corev1.LimitRange](a.Objects, namespace, "LimitRange")
}

// objectsIn decodes the objects of a kind in a namespace, by name.
func objectsIn[T runtime.Object](from Objects, namespace, kind string) (list []T, err error) {
	if from == nil {
		return nil, nil
	}
	byName := map[string]T{}
	var names []string
	for k, js := range from.In(namespace, kind) {
		o, err := object.FromCanonical(kind, slices.Clone(js))
		if err != nil {
			return nil, err
		}
		names = append(names, k.Name)
		byName[k.Name] = o.Value.(T)
	}
	slices.Sort(names)
	for _, name := range names {
		list = append(list, byName[name])
	}
	return list, nil
}

// runtimeClass returns the class that a pod names; nil: it names none.
func (a *Admission) runtimeClass(p *corev1.Pod) (*nodev1.RuntimeClass, *Refusal) {
	name := p.Spec.RuntimeClassName
	if name == nil || a.Objects == nil {
		return nil, nil
	}
	at := field.NewPath("spec", "runtimeClassName")
	js, there := a.Objects.Object(object.Key{Kind: "RuntimeClass", Name: *name})
	if !there {
		return nil, forbidden(at, "pod rejected: RuntimeClass %q not found", *name)
	}
	o, err := object.FromCanonical("RuntimeClass", js)
	if err != nil {
		return nil, forbidden(at, "%v", err)
	}
	return o.Value.(*nodev1.RuntimeClass), nil
}

// applyRuntimeClass writes the overhead, the nodes and the tolerations of a class into a pod
// (plugin/pkg/admission/runtimeclass admission.go, setOverhead and setScheduling).
func applyRuntimeClass(p *corev1.Pod, class *nodev1.RuntimeClass) *Refusal {
	if class == nil {
		return nil
	}
	spec := field.NewPath("spec")
	if class.Overhead != nil {
		fixed := class.Overhead.PodFixed
		if len(p.Spec.Overhead) > 0 && !apiequality.Semantic.DeepEqual(fixed, p.Spec.Overhead) {
			return forbidden(spec.Child("overhead"), overheadDiffers)
		}
		p.Spec.Overhead = fixed.DeepCopy()
	}
	if class.Scheduling == nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(class.Scheduling.NodeSelector)) {
		value := class.Scheduling.NodeSelector[key]
		if has, ok := p.Spec.NodeSelector[key]; ok && has != value {
			return forbidden(spec.Child("nodeSelector"), "conflict: runtimeClass.scheduling.nodeSelector[%s]"+
				" = %s; pod.spec.nodeSelector[%s] = %s", key, value, key, has)
		}
		if p.Spec.NodeSelector == nil {
			p.Spec.NodeSelector = map[string]string{}
		}
		p.Spec.NodeSelector[key] = value
	}
	p.Spec.Tolerations = apiserver.MergeTolerations(p.Spec.Tolerations, class.Scheduling.Tolerations)
	return nil
}

const overheadDiffers = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"

// checkOverhead refuses an overhead that is not that of the pod's class (validateOverhead there).
func checkOverhead(p *corev1.Pod, class *nodev1.RuntimeClass) *Refusal {
	at := field.NewPath("spec", "overhead")
	switch {
	case class != nil && class.Overhead != nil:
		if !apiequality.Semantic.DeepEqual(class.Overhead.PodFixed, p.Spec.Overhead) {
			return forbidden(at, overheadDiffers)
		}
	case p.Spec.Overhead != nil:
		return forbidden(at, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
	}
	return nil
}

// admitted are what plugins made of a pod on its way.
type admitted struct {
	ranges []*corev1.LimitRange
	class  *nodev1.RuntimeClass

	ownOverhead bool // an overhead of the pod's own is let in
}

// defaultLimits is the part of LimitRanger that writes, which runs before all plugins here. It
// returns what was set, too.
func (a *Admission) defaultLimits(p *corev1.Pod) (x admitted, set []string, refused *Refusal) {
	ranges, err := a.limitRanges(p.Namespace)
	if err != nil {
		return x, nil, forbidden(nil, "%v", err)
	}
	for _, r := range ranges {
		if said := setDefaultLimits(p, r); said != nil {
			set = said // upstream's annotation is that of the last
		}
	}
	return admitted{ranges: ranges}, set, nil
}

// useRuntimeClass applies the class that a pod names.
func (a *Admission) useRuntimeClass(p *corev1.Pod, x *admitted) (refused *Refusal) {
	if x.class, refused = a.runtimeClass(p); refused != nil {
		return refused
	}
	return applyRuntimeClass(p, x.class)
}

// validate runs the plugins that judge a pod which is complete, in an API server's order.
func (a *Admission) validate(p *corev1.Pod, x admitted) *Refusal {
	if a.Objects == nil {
		return nil
	}
	for _, r := range x.ranges {
		if refused := checkLimits(p, r); refused != nil {
			return refused
		}
	}
	if refused := checkOverhead(p, x.class); refused != nil && !x.ownOverhead {
		return refused
	}
	return a.checkQuotas(p, nil)
}

// Foresee returns what LimitRanger would set in a pod of which only the kept fields are there, with
// the amounts, and why RuntimeClass, LimitRanger or ResourceQuota would refuse it; empty: they let
// it in.
func Foresee(in *corev1.Pod, a Admission, now time.Time) (set []string, refused string) {
	p := in.DeepCopy()
	a.now = now
	x, _, r := a.defaultLimits(p)
	if r == nil {
		for i := range p.Spec.InitContainers {
			set = append(set, added(&in.Spec.InitContainers[i], &p.Spec.InitContainers[i])...)
		}
		for i := range p.Spec.Containers {
			set = append(set, added(&in.Spec.Containers[i], &p.Spec.Containers[i])...)
		}
		r = a.useRuntimeClass(p, &x)
	}
	x.ownOverhead = true
	if r == nil {
		r = a.validate(p, x)
	}
	if r == nil {
		return set, ""
	}
	return set, r.verdict(p).Forbidden
}

// added words the amounts that a container got.
func added(before, after *corev1.Container) (said []string) {
	for _, x := range []struct {
		what        string
		before, now corev1.ResourceList
	}{
		{"requests", before.Resources.Requests, after.Resources.Requests},
		{"limits", before.Resources.Limits, after.Resources.Limits},
	} {
		var names []corev1.ResourceName
		for name := range x.now {
			if _, there := x.before[name]; !there {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			said = append(said, fmt.Sprintf("%s %s of container %s", x.what, listed(texts(x.now, names)), after.Name))
		}
	}
	return said
}
