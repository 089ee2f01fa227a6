package object

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
)

// What an API server does with a pod that is created or replaced is upstream's own code, with its
// feature gates at their defaults. Nothing that is kept in a record may come from here: these gates
// and rules are those of one release (docs/decisions/0130-admission-by-upstream.md).

// Clusters allow privileged containers, as kubeadm and all that follow it start kube-apiserver.
func init() { capabilities.Setup(true, 0) }

// SetPodDefaults sets what an API server sets in every pod that it reads. It is idempotent.
func SetPodDefaults(p *corev1.Pod) {
	p.Kind, p.APIVersion = "Pod", "v1"
	corev1internal.SetObjectDefaults_Pod(p)
	s := &p.Spec
	if s.TerminationGracePeriodSeconds != nil && *s.TerminationGracePeriodSeconds < 0 {
		s.TerminationGracePeriodSeconds = new(int64(1)) // as the conversion of a pod does, and of no template
	}
	s.ServiceAccountName = cmp.Or(s.ServiceAccountName, s.DeprecatedServiceAccount)
	s.DeprecatedServiceAccount = s.ServiceAccountName
}

// DropDisabled drops the fields of features that are off, unless the old pod has them. old is nil
// for a pod that is created.
func DropDisabled(p, old *corev1.Pod) {
	now := internalPod(p)
	var was *core.Pod
	if old != nil {
		was = internalPod(old)
	}
	podutil.DropDisabledPodFields(now, was)
	through(&p.Spec, &now.Spec)
}

// ValidateCreate returns what an API server refuses in a pod that is to be created. The pod has its
// defaults.
func ValidateCreate(p *corev1.Pod) field.ErrorList {
	if errs := checkAmounts(&p.Spec); len(errs) > 0 {
		return errs
	}
	in := internalPod(p)
	opts := podutil.GetValidationOptionsFromPodSpecAndMeta(&in.Spec, nil, &in.ObjectMeta, nil)
	opts.ResourceIsPod = true
	return inOrder(corevalidation.ValidatePodCreate(in, opts))
}

// ValidateUpdate returns what an API server refuses in a pod that is to replace another. Both have
// their defaults. Specs that are too large to show how they differ are compared here.
func ValidateUpdate(p, old *corev1.Pod) field.ErrorList {
	if errs := checkAmounts(&p.Spec); len(errs) > 0 {
		return errs
	}
	in, was := internalPod(p), internalPod(old)
	opts := podutil.GetValidationOptionsFromPodSpecAndMeta(&in.Spec, &was.Spec, &in.ObjectMeta, &was.ObjectMeta)
	opts.ResourceIsPod = true
	if p.Spec.Size()+old.Spec.Size() <= largestDiff {
		return inOrder(corevalidation.ValidatePodUpdate(in, was, opts))
	}
	errs := apivalidation.ValidateObjectMeta(&p.ObjectMeta, true, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	errs = append(errs, corevalidation.ValidatePodSpec(&in.Spec, &in.ObjectMeta, field.NewPath("spec"), opts)...)
	return inOrder(append(errs, checkChanges(p, old)...))
}

// inOrder sorts errors: upstream finds some of them by ranging over a map, and an answer depends on
// its question only.
func inOrder(errs field.ErrorList) field.ErrorList {
	slices.SortStableFunc(errs, func(a, b *field.Error) int {
		if by := cmp.Or(strings.Compare(a.Field, b.Field), strings.Compare(string(a.Type), string(b.Type)), strings.Compare(a.Detail, b.Detail)); by != 0 {
			return by
		}
		return strings.Compare(a.ErrorBody(), b.ErrorBody())
	})
	return errs
}

// Upstream compares each entry of these lists with all others. An API server bounds them by the
// size of a request alone.
const (
	maxSpreadConstraints = 1000
	maxClaimUses         = 1000 // of one container
)

func checkAmounts(s *corev1.PodSpec) (errs field.ErrorList) {
	spec := field.NewPath("spec")
	bound := func(n, most int, at *field.Path) {
		if n > most {
			errs = append(errs, field.TooMany(at, n, most))
		}
	}
	bound(len(s.TopologySpreadConstraints), maxSpreadConstraints, spec.Child("topologySpreadConstraints"))
	for name, list := range map[string][]corev1.Container{"containers": s.Containers, "initContainers": s.InitContainers} {
		for i := range list {
			bound(len(list[i].Resources.Claims), maxClaimUses, spec.Child(name).Index(i).Child("resources", "claims"))
		}
	}
	sortErrors(errs)
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

// converted panics for what cannot be: both forms of a spec hold the same.
func converted(err error) {
	if err != nil {
		panic(fmt.Errorf("convert the spec of a pod: %w", err))
	}
}
