package admission

import (
	"crypto/sha256"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/kube/object/apiserver"
	"berth/internal/podlife"
)

// Classes returns a priority class by its name, the default one for the name "";
// nil without one. The built-in classes are known beside it.
type Classes func(name string) *schedulingv1.PriorityClass

// Verdict is what an API server would make of a pod.
type Verdict struct {
	// Pod is the object as it would be stored; nil where Errors is not empty.
	Pod    *corev1.Pod
	Errors field.ErrorList
	// Forbidden is an API server's answer where the plugin RuntimeClass, LimitRanger or
	// ResourceQuota forbids the pod; Errors has it then.
	Forbidden string
	// Quota is the quota that does not let the pod in; nil: it is none.
	Quota *QuotaUse
}

// Create judges a pod that is to be created, at a time: defaults, the admission plugins
// LimitRanger, Priority, DefaultTolerationSeconds, RuntimeClass and PodTopologyLabels, validation,
// and what LimitRanger, RuntimeClass and ResourceQuota refuse, in this order
// (pkg/kubeapiserver/options/plugins.go AllOrderedPlugins; apiserver/pkg/registry/generic store.go
// Create). The argument is not written.
func Create(in *corev1.Pod, a Admission, now time.Time) Verdict {
	p := in.DeepCopy()
	a.now = now
	if p.Namespace == "" {
		p.Namespace = corev1.NamespaceDefault
	}
	apiserver.SetPodDefaults(p)
	x, set, refused := a.defaultLimits(p)
	if refused != nil {
		return refused.verdict(p)
	}
	annotate(p, set)
	if err := admitPriority(p, a.Classes); err != nil {
		return Verdict{Errors: field.ErrorList{err}}
	}
	podlife.AddTolerationSeconds(&p.Spec)
	if refused := a.useRuntimeClass(p, &x); refused != nil {
		return refused.verdict(p)
	}
	if a.Topology != nil && p.Spec.NodeName != "" {
		p = a.Topology(p)
	}
	if p.ResourceVersion != "" {
		return Verdict{Errors: field.ErrorList{field.Forbidden(field.NewPath("metadata", "resourceVersion"), "resourceVersion should not be set on objects to be created")}}
	}
	if p.Name == "" && p.GenerateName != "" {
		p.Name = standInName(p.GenerateName)
	}
	prepareCreate(p, metav1.NewTime(now.UTC().Truncate(time.Second)))
	if errs := apiserver.ValidatePod(p); len(errs) > 0 {
		return Verdict{Errors: errs}
	}
	if refused := a.validate(p, x); refused != nil {
		return refused.verdict(p)
	}
	return Verdict{Pod: p}
}

// Update judges a pod that is to replace another of its name. A pod without a
// resourceVersion is taken to replace the one that is there. Neither argument
// is written.
func Update(in, before *corev1.Pod) Verdict {
	p, old := in.DeepCopy(), before.DeepCopy()
	for _, x := range []*corev1.Pod{p, old} {
		if x.Namespace == "" {
			x.Namespace = corev1.NamespaceDefault
		}
		apiserver.SetPodDefaults(x)
	}
	keepPriority(p, old)
	podlife.AddTolerationSeconds(&p.Spec)
	prepareUpdate(p, old)
	countGeneration(p, old)
	bare := p.ResourceVersion == ""
	if bare { // of two manifests: validation wants one, whichever
		p.ResourceVersion = "0"
	}
	if errs := apiserver.ValidatePodUpdate(p, old); len(errs) > 0 {
		return Verdict{Errors: errs}
	}
	if bare {
		p.ResourceVersion = ""
	}
	return Verdict{Pod: p}
}

// standInName stands for the name that an API server would make up. It is the
// same for the same prefix, since an answer here depends on its question only.
func standInName(prefix string) string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	sum := sha256.Sum256([]byte(prefix))
	var b strings.Builder
	b.WriteString(prefix[:min(len(prefix), 58)])
	for _, c := range sum[:5] {
		b.WriteByte(letters[int(c)%len(letters)])
	}
	return b.String()
}
