package rules

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	configv1 "k8s.io/kube-scheduler/config/v1"
)

// NodeAffinityArgs is kubescheduler.config.k8s.io/v1 NodeAffinityArgs.
type NodeAffinityArgs struct {
	AddedAffinity *corev1.NodeAffinity `json:"addedAffinity,omitempty"`
}

// readNodeAffinityArgs reads NodeAffinityArgs. An added affinity without any term is none
// (apis/config/validation/validation_pluginargs.go ValidateNodeAffinityArgs).
func readNodeAffinityArgs(in *argsInput, a *configv1.NodeAffinityArgs, out *Args) {
	if a.AddedAffinity == nil {
		return
	}
	at := in.at.Child("addedAffinity")
	required := a.AddedAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	preferred := a.AddedAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	if required != nil {
		if _, err := nodeaffinity.NewNodeSelector(required, field.WithPath(at.Child("requiredDuringSchedulingIgnoredDuringExecution"))); err != nil {
			in.problems = append(in.problems, err)
		}
	}
	if len(preferred) > 0 {
		if _, err := nodeaffinity.NewPreferredSchedulingTerms(preferred, field.WithPath(at.Child("preferredDuringSchedulingIgnoredDuringExecution"))); err != nil {
			in.problems = append(in.problems, err)
		}
	}
	if required != nil || len(preferred) > 0 {
		out.NodeAffinity.AddedAffinity = a.AddedAffinity
	}
}
