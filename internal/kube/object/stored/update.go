package stored

import (
	"fmt"
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// updatable lists what an update may change, in an API server's words.
var updatable = strings.Join([]string{
	"`spec.containers[*].image`", "`spec.initContainers[*].image`", "`spec.activeDeadlineSeconds`",
	"`spec.tolerations` (only additions to existing tolerations)",
	"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
}, ",")

// ValidateKeptUpdate returns what an API server refuses in a pod that is to replace another, where
// both have only the fields that are kept: it judges changes alone (upstream
// pkg/apis/core/validation, ValidatePodUpdate). Both have their defaults, and a negative grace
// period is 1 in both.
func ValidateKeptUpdate(p, old *corev1.Pod) field.ErrorList {
	p = p.DeepCopy()
	DropUnlessKept(p, old)
	return PodChanges(p, old)
}

// PodChanges is ValidateKeptUpdate of pods that have all of their fields.
func PodChanges(p, old *corev1.Pod) field.ErrorList {
	meta, spec := field.NewPath("metadata"), field.NewPath("spec")
	errs := apivalidation.ValidateObjectMetaUpdate(&p.ObjectMeta, &old.ObjectMeta, meta)
	errs = append(errs, checkAnnotationUpdate(p, old, meta.Child("annotations"))...)

	for _, group := range []struct {
		name     string
		now, was []corev1.Container
	}{{"containers", p.Spec.Containers, old.Spec.Containers}, {"initContainers", p.Spec.InitContainers, old.Spec.InitContainers}} {
		if len(group.now) != len(group.was) {
			return append(errs, field.Forbidden(spec.Child(group.name), "pod updates may not add or remove containers"))
		}
		for i, c := range group.now {
			image := spec.Child(group.name).Index(i).Child("image")
			if c.Image == "" && group.was[i].Image != "" {
				errs = append(errs, field.Required(image, ""))
			}
			errs = append(errs, checkTrimmed(c.Image, image)...)
		}
	}

	deadline, was := p.Spec.ActiveDeadlineSeconds, old.Spec.ActiveDeadlineSeconds
	at := spec.Child("activeDeadlineSeconds")
	switch {
	case deadline == nil && was != nil:
		errs = append(errs, field.Invalid(at, deadline, "must not update from a positive integer to nil value"))
	case deadline != nil && (*deadline < 0 || *deadline > math.MaxInt32):
		return append(errs, field.Invalid(at, *deadline, validation.InclusiveRangeError(0, math.MaxInt32)))
	case deadline != nil && was != nil && *was < *deadline:
		return append(errs, field.Invalid(at, *deadline, "must be less than or equal to previous value"))
	}
	errs = append(errs, checkTolerationsOnlyAdded(p.Spec.Tolerations, old.Spec.Tolerations, spec.Child("tolerations"))...)
	errs = append(errs, checkGatesOnlyRemoved(p.Spec.SchedulingGates, old.Spec.SchedulingGates, spec.Child("schedulingGates"))...)
	return append(errs, checkRest(p, old, spec)...)
}

// checkRest refuses every other change of the spec.
func checkRest(p, old *corev1.Pod, path *field.Path) (errs field.ErrorList) {
	if apiequality.Semantic.DeepEqual(p.Spec, old.Spec) {
		return nil
	}
	s := p.Spec.DeepCopy()
	for i := range s.Containers {
		s.Containers[i].Image = old.Spec.Containers[i].Image
	}
	for i := range s.InitContainers {
		s.InitContainers[i].Image = old.Spec.InitContainers[i].Image
	}
	s.ActiveDeadlineSeconds = old.Spec.ActiveDeadlineSeconds
	s.SchedulingGates, s.Tolerations = old.Spec.SchedulingGates, old.Spec.Tolerations
	if len(old.Spec.SchedulingGates) > 0 {
		errs = checkDirectives(s, &old.Spec, path)
	}
	if !apiequality.Semantic.DeepEqual(*s, old.Spec) {
		errs = append(errs, field.Forbidden(path, fmt.Sprintf("pod updates may not change fields other than %s\n%v", updatable, specDiff(&old.Spec, s))))
	}
	return errs
}

// DropUnlessKept takes out of a pod what releases before v0.4.0 did not keep, where the stored pod
// has none: it may have been stored by one of them, and then says nothing of these fields.
func DropUnlessKept(p, stored *corev1.Pod) {
	s, old := &p.Spec, &stored.Spec
	if len(stored.Finalizers) == 0 {
		p.Finalizers = nil
	}
	if old.RuntimeClassName == nil {
		s.RuntimeClassName = nil
	}
	for _, group := range [][2][]corev1.Container{{s.Containers, old.Containers}, {s.InitContainers, old.InitContainers}} {
		for i := range min(len(group[0]), len(group[1])) {
			c, was := &group[0][i], &group[1][i]
			if was.ImagePullPolicy == "" {
				c.ImagePullPolicy = ""
			}
			if c.Lifecycle != nil && was.Lifecycle != nil && was.Lifecycle.PostStart == nil {
				c.Lifecycle.PostStart = nil
			}
		}
	}
	for i := range min(len(s.Volumes), len(old.Volumes)) {
		if was := old.Volumes[i].EmptyDir; s.Volumes[i].EmptyDir != nil && was != nil && *was == (corev1.EmptyDirVolumeSource{}) {
			s.Volumes[i].EmptyDir = was
		}
	}
}

// LargestDiff is the largest size of both specs, in bytes, for which the message shows how they
// differ. The time for that grows with the square of the size.
const LargestDiff = 128 << 10

func specDiff(old, now *corev1.PodSpec) string {
	if n := old.Size() + now.Size(); n > LargestDiff {
		return fmt.Sprintf("(the specs are too large to show how they differ: %d bytes)", n)
	}
	return diff.Diff(*old, *now)
}

// checkTolerationsOnlyAdded is validateOnlyAddedTolerations.
func checkTolerationsOnlyAdded(list, old []corev1.Toleration, path *field.Path) field.ErrorList {
	is := make(map[corev1.Toleration]bool, len(list))
	for _, t := range list {
		t.TolerationSeconds = nil // which may change
		is[t] = true
	}
	compares := noComparison
	for _, t := range old {
		t.TolerationSeconds = nil
		if t.Operator == corev1.TolerationOpLt || t.Operator == corev1.TolerationOpGt {
			compares = ofIntegers
		}
		if !is[t] {
			return field.ErrorList{field.Forbidden(path, "existing toleration can not be modified except its tolerationSeconds")}
		}
	}
	return checkTolerations(list, compares, path)
}

// checkAnnotationUpdate is ValidatePodSpecificAnnotationUpdates.
func checkAnnotationUpdate(p, old *corev1.Pod, path *field.Path) (errs field.ErrorList) {
	const key = corev1.MirrorPodAnnotationKey
	now, is := p.Annotations[key]
	was, had := old.Annotations[key]
	switch {
	case had && (!is || now != was):
		errs = append(errs, field.Forbidden(path.Key(key), "may not remove or update mirror pod annotation"))
	case is && !had:
		errs = append(errs, field.Forbidden(path.Key(key), "may not add mirror pod annotation"))
	}
	cost, ok := old.Annotations[corev1.PodDeletionCost]
	return append(errs, checkAnnotations(p, ok && !isDeletionCost(cost), path)...)
}
