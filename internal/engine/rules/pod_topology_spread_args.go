package rules

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	configv1 "k8s.io/kube-scheduler/config/v1"
)

// SpreadArgs is kubescheduler.config.k8s.io/v1 PodTopologySpreadArgs. System
// stands for defaultingType System, which brings its own constraints.
type SpreadArgs struct {
	System      bool                              `json:"system"`
	Constraints []corev1.TopologySpreadConstraint `json:"constraints,omitempty"`
}

// readSpreadArgs reads PodTopologySpreadArgs
// (apis/config/validation/validation_pluginargs.go ValidatePodTopologySpreadArgs).
func readSpreadArgs(in *argsInput, a *configv1.PodTopologySpreadArgs, out *Args) {
	kind := in.at.Child("defaultingType")
	switch a.DefaultingType {
	case "", configv1.SystemDefaulting:
		if len(a.DefaultConstraints) > 0 {
			in.refuse(field.Invalid(kind, configv1.SystemDefaulting, "must be List where there are defaultConstraints"))
		}
	case configv1.ListDefaulting:
		out.PodTopologySpread = SpreadArgs{Constraints: a.DefaultConstraints}
	default:
		in.refuse(field.NotSupported(kind, a.DefaultingType, []configv1.PodTopologySpreadConstraintsDefaulting{configv1.ListDefaulting, configv1.SystemDefaulting}))
	}
	type pair struct {
		key    string
		action corev1.UnsatisfiableConstraintAction
	}
	seen := map[pair]bool{}
	for i := range a.DefaultConstraints {
		c := &a.DefaultConstraints[i]
		at := in.at.Child("defaultConstraints").Index(i)
		if c.MaxSkew <= 0 {
			in.refuse(field.Invalid(at.Child("maxSkew"), c.MaxSkew, "must be greater than 0"))
		}
		if c.TopologyKey == "" {
			in.refuse(field.Required(at.Child("topologyKey"), "must not be empty"))
		} else {
			in.refuse(metav1validation.ValidateLabelName(c.TopologyKey, at.Child("topologyKey"))...)
		}
		switch c.WhenUnsatisfiable {
		case corev1.DoNotSchedule, corev1.ScheduleAnyway:
		case "":
			in.refuse(field.Required(at.Child("whenUnsatisfiable"), "must not be empty"))
		default:
			in.refuse(field.NotSupported(at.Child("whenUnsatisfiable"), c.WhenUnsatisfiable, []corev1.UnsatisfiableConstraintAction{corev1.DoNotSchedule, corev1.ScheduleAnyway}))
		}
		if c.LabelSelector != nil {
			in.refuse(field.Forbidden(at.Child("labelSelector"), "each pod's own Services and controller say whom to count"))
		}
		p := pair{c.TopologyKey, c.WhenUnsatisfiable}
		if seen[p] {
			in.refuse(field.Duplicate(at, fmt.Sprintf("{%s, %s}", p.key, p.action)))
		}
		seen[p] = true
	}
}
