package rules

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	configv1 "k8s.io/kube-scheduler/config/v1"
)

// InterPodAffinityArgs is kubescheduler.config.k8s.io/v1 InterPodAffinityArgs.
type InterPodAffinityArgs struct {
	HardPodAffinityWeight              int32 `json:"hardPodAffinityWeight"`
	IgnorePreferredTermsOfExistingPods bool  `json:"ignorePreferredTermsOfExistingPods,omitempty"`
}

func readInterPodAffinityArgs(in *argsInput, a *configv1.InterPodAffinityArgs, out *Args) {
	i := &out.InterPodAffinity
	set(&i.HardPodAffinityWeight, a.HardPodAffinityWeight)
	i.IgnorePreferredTermsOfExistingPods = a.IgnorePreferredTermsOfExistingPods
	if w := i.HardPodAffinityWeight; w < 0 || w > 100 {
		in.refuse(field.Invalid(in.at.Child("hardPodAffinityWeight"), w, "must be in [0, 100]"))
	}
}
