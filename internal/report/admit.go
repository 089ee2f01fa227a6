package report

import (
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/kube/object"
	"berth/internal/podlife/admission"
	"berth/internal/revision"
	"berth/internal/semantics"
)

// Admit judges the create of a pod under the objects of a view, and the stored classes; either may
// be nil.
func Admit(v *revision.View, pod *corev1.Pod, stored func(name string) *schedulingv1.PriorityClass, now time.Time) admission.Verdict {
	a := admission.Admission{Classes: classesOf(v, stored), Topology: topologyOf(v)}
	if v != nil {
		a.Objects, a.Usage = v, decision.UsageOf(v, now)
	}
	return admission.Create(pod, a, now)
}

// Unadmitted lists what of a pod, which replaces another where there are two, a release may admit
// otherwise than the newest, as which it is judged with errs.
func Unadmitted(under *semantics.Release, errs field.ErrorList, pods ...*corev1.Pod) (list []engine.NotEvaluated) {
	if under == semantics.Newest() {
		return nil
	}
	var trees []any
	for _, p := range pods {
		tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(p)
		if err != nil { // a pod that was decoded has no such types
			continue
		}
		trees = append(trees, tree)
	}
	has := func(path string) bool {
		return slices.ContainsFunc(trees, func(tree any) bool { return hasField(tree, strings.Split(path, ".")) })
	}
	refused := func(path string) bool {
		return slices.ContainsFunc(errs, func(e *field.Error) bool { return inList.ReplaceAllString(e.Field, "") == path })
	}
	for _, u := range under.Admission(len(pods) > 1, has, refused) {
		list = append(list, engine.NotEvaluated{Plugin: "admission", Reason: u.Reason})
	}
	return list
}

// inList matches the places in lists and maps that the field of an error has.
var inList = regexp.MustCompile(`\[[^\]]*\]`)

// hasField reports whether an object, or one of a list, has a field.
func hasField(tree any, path []string) bool {
	switch x := tree.(type) {
	case []any:
		return slices.ContainsFunc(x, func(e any) bool { return hasField(e, path) })
	case map[string]any:
		below, ok := x[path[0]]
		return ok && (len(path) == 1 || hasField(below, path[1:]))
	}
	return false
}

// classesOf looks classes up in a view, then among the stored ones.
func classesOf(view *revision.View, stored func(name string) *schedulingv1.PriorityClass) admission.Classes {
	return func(class string) *schedulingv1.PriorityClass {
		var c *schedulingv1.PriorityClass
		switch {
		case view == nil:
		case class == "":
			c = view.State.GlobalDefaultClass()
		default:
			c = view.State.PriorityClass(class)
		}
		if c == nil && stored != nil {
			c = stored(class)
		}
		return c
	}
}

// topologyOf sets on a pod the zone and region of its node in a snapshot; nil is none.
func topologyOf(view *revision.View) func(*corev1.Pod) *corev1.Pod {
	return func(pod *corev1.Pod) *corev1.Pod {
		if view == nil {
			return pod
		}
		nodes := view.State.Nodes()
		if row := nodes.Row(pod.Spec.NodeName); row >= 0 {
			return object.WithTopology(pod, nodes.Node(row).Labels)
		}
		return pod
	}
}
