package apiserver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	corev1internal "k8s.io/kubernetes/pkg/apis/core/v1"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/capabilities"

	"berth/internal/kube/object/stored"
)

// Clusters allow privileged containers, as kubeadm and all that follow it start kube-apiserver.
func init() { capabilities.Setup(true, 0) }

// SetPodDefaults sets what an API server sets in every pod that it reads. It is idempotent.
func SetPodDefaults(p *corev1.Pod) {
	p.Kind, p.APIVersion = "Pod", "v1"
	corev1internal.SetObjectDefaults_Pod(p)
}

// PrepareCreate drops the fields of features that are off from a pod that is to be created, and
// fills in its pod-level resources (pkg/registry/core/pod/strategy.go PrepareForCreate).
func PrepareCreate(p *corev1.Pod) {
	now := internalPod(p)
	podutil.DropDisabledPodFields(now, nil)
	podutil.DefaultPodLevelResources(now)
	through(&p.Spec, &now.Spec)
}

// PrepareUpdate takes over the pod-level resources of the old pod where the new one has none, and
// drops fields of features that are off, unless the old pod has them (strategy.go
// PrepareForUpdate).
func PrepareUpdate(p, old *corev1.Pod) {
	now, was := internalPod(p), internalPod(old)
	if now.Spec.Resources == nil && was.Spec.Resources != nil {
		now.Spec.Resources = was.Spec.Resources.DeepCopy()
	}
	podutil.DropDisabledPodFields(now, was)
	through(&p.Spec, &now.Spec)
}

// ValidatePod returns what an API server refuses in a pod that is to be created. The pod has its
// defaults.
func ValidatePod(p *corev1.Pod) field.ErrorList {
	in := internalPod(p)
	if errs := checkAmounts(&in.Spec, field.NewPath("spec")); len(errs) > 0 {
		return errs
	}
	opts := podutil.GetValidationOptionsFromPodSpecAndMeta(&in.Spec, nil, &in.ObjectMeta, nil)
	opts.ResourceIsPod = true
	return inOrder(corevalidation.ValidatePodCreate(in, opts))
}

// ValidatePodUpdate returns what an API server refuses in a pod that is to replace another. Both
// have their defaults. Specs that are too large to show how they differ are compared here.
func ValidatePodUpdate(p, old *corev1.Pod) field.ErrorList {
	in, was := internalPod(p), internalPod(old)
	if errs := checkAmounts(&in.Spec, field.NewPath("spec")); len(errs) > 0 {
		return errs
	}
	opts := podutil.GetValidationOptionsFromPodSpecAndMeta(&in.Spec, &was.Spec, &in.ObjectMeta,
		&was.ObjectMeta)
	opts.ResourceIsPod = true
	if p.Spec.Size()+old.Spec.Size() <= stored.LargestDiff {
		return inOrder(corevalidation.ValidatePodUpdate(in, was, opts))
	}
	errs := apivalidation.ValidateObjectMeta(&p.ObjectMeta, true, apivalidation.NameIsDNSSubdomain,
		field.NewPath("metadata"))
	errs = append(errs, corevalidation.ValidatePodSpec(&in.Spec, &in.ObjectMeta,
		field.NewPath("spec"), opts)...)
	return inOrder(append(errs, stored.PodChanges(p, old)...))
}

// inOrder sorts errors: upstream finds some of them by ranging over a map, and an answer depends on
// its question only.
func inOrder(errs field.ErrorList) field.ErrorList {
	slices.SortStableFunc(errs, func(a, b *field.Error) int {
		return cmp.Or(strings.Compare(a.Field, b.Field),
			strings.Compare(string(a.Type), string(b.Type)), strings.Compare(a.Detail, b.Detail),
			strings.Compare(a.ErrorBody(), b.ErrorBody()))
	})
	return errs
}

func internalPod(p *corev1.Pod) *core.Pod {
	return &core.Pod{ObjectMeta: p.ObjectMeta, Spec: *toInternal(&p.Spec)}
}

// toInternal returns the form of a spec that upstream's rules read. The two share memory.
func toInternal(s *corev1.PodSpec) *core.PodSpec {
	out := &core.PodSpec{}
	converted(corev1internal.Convert_v1_PodSpec_To_core_PodSpec(s, out, nil))
	return out
}

// through writes a spec back.
func through(s *corev1.PodSpec, in *core.PodSpec) {
	out := corev1.PodSpec{}
	converted(corev1internal.Convert_core_PodSpec_To_v1_PodSpec(in, &out, nil))
	*s = out
}

// converted panics for what cannot be: the internal form of an object holds the same.
func converted(err error) {
	if err != nil {
		panic(fmt.Errorf("convert to upstream's internal form: %w", err))
	}
}
