package objects

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validatePod follows upstream ValidatePodSpec and ValidatePodCreate in what
// decisions read. What may only be set after a create, such as ephemeral
// containers, passes, since a stored pod has it.
func validatePod(p *corev1.Pod) (errs field.ErrorList) {
	s := &p.Spec
	path := field.NewPath("spec")
	errs = append(errs, checkContainers(s, path)...)
	errs = append(errs, checkVolumes(s.Volumes, path.Child("volumes"))...)
	errs = append(errs, checkPodResources(p, path.Child("resources"))...)
	errs = append(errs, checkEnum(s.RestartPolicy, path.Child("restartPolicy"), corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)...)
	errs = append(errs, metavalidation.ValidateLabels(s.NodeSelector, path.Child("nodeSelector"))...)
	errs = append(errs, checkAffinity(s.Affinity, path.Child("affinity"))...)
	for i, g := range s.ReadinessGates {
		errs = append(errs, checkQualified(string(g.ConditionType), path.Child("readinessGates").Index(i).Child("conditionType"))...)
	}
	errs = append(errs, checkGates(s, path)...)
	errs = append(errs, checkSpread(s.TopologySpreadConstraints, path.Child("topologySpreadConstraints"))...)
	errs = append(errs, checkTolerations(s.Tolerations, path.Child("tolerations"))...)
	errs = append(errs, checkName(s.NodeName, path.Child("nodeName"))...)
	errs = append(errs, checkName(s.PriorityClassName, path.Child("priorityClassName"))...)
	if s.PreemptionPolicy != nil {
		errs = append(errs, checkEnum(*s.PreemptionPolicy, path.Child("preemptionPolicy"), corev1.PreemptLowerPriority, corev1.PreemptNever)...)
	}
	errs = append(errs, checkRequirements(&corev1.ResourceRequirements{Limits: s.Overhead}, checkContainerResource, path.Child("overhead"))...)
	return append(errs, checkPodStatus(&p.Status, field.NewPath("status"))...)
}

// checkName takes an empty name for none.
func checkName(name string, path *field.Path) (errs field.ErrorList) {
	if name == "" {
		return nil
	}
	for _, msg := range apivalidation.NameIsDNSSubdomain(name, false) {
		errs = append(errs, field.Invalid(path, name, msg))
	}
	return errs
}

func checkQualified(name string, path *field.Path) (errs field.ErrorList) {
	for _, msg := range validation.IsQualifiedName(name) {
		errs = append(errs, field.Invalid(path, name, msg))
	}
	return errs
}

func checkGates(s *corev1.PodSpec, path *field.Path) (errs field.ErrorList) {
	seen := make(map[string]bool, len(s.SchedulingGates))
	for i, g := range s.SchedulingGates {
		at := path.Child("schedulingGates").Index(i)
		errs = append(errs, checkQualified(g.Name, at)...)
		if seen[g.Name] {
			errs = append(errs, field.Duplicate(at, g.Name))
		}
		seen[g.Name] = true
	}
	if s.NodeName != "" && len(s.SchedulingGates) > 0 {
		errs = append(errs, field.Forbidden(path.Child("nodeName"), "cannot be set until all schedulingGates have been cleared"))
	}
	return errs
}

// checkTolerations is upstream ValidateTolerations. The operators Lt and Gt are
// off by default in v1.36, but a cluster that turned them on stores them, and
// the engine takes them for not matching.
func checkTolerations(tolerations []corev1.Toleration, path *field.Path) (errs field.ErrorList) {
	for i, t := range tolerations {
		at := path.Index(i)
		if t.Key != "" {
			errs = append(errs, checkKey(t.Key, at.Child("key"))...)
		} else if t.Operator != corev1.TolerationOpExists {
			errs = append(errs, field.Invalid(at.Child("operator"), t.Operator, `operator must be Exists when `+"`key`"+` is empty, which means "match all values and all keys"`))
		}
		if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
			errs = append(errs, field.Invalid(at.Child("effect"), t.Effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
		}
		switch t.Operator {
		case corev1.TolerationOpEqual, "":
			for _, msg := range validation.IsValidLabelValue(t.Value) {
				errs = append(errs, field.Invalid(at.Child("operator"), t.Value, msg))
			}
		case corev1.TolerationOpExists:
			if t.Value != "" {
				errs = append(errs, field.Invalid(at.Child("operator"), t.Value, "value must be empty when `operator` is 'Exists'"))
			}
		case corev1.TolerationOpLt, corev1.TolerationOpGt:
		default:
			errs = append(errs, field.NotSupported(at.Child("operator"), t.Operator, []corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists}))
		}
		errs = append(errs, checkEnum(t.Effect, at.Child("effect"), taintEffects...)...)
	}
	return errs
}

// checkSpread is upstream validateTopologySpreadConstraints.
func checkSpread(constraints []corev1.TopologySpreadConstraint, path *field.Path) (errs field.ErrorList) {
	for i, c := range constraints {
		at := path.Index(i)
		errs = append(errs, checkPositive(int64(c.MaxSkew), at.Child("maxSkew"))...)
		if c.TopologyKey == "" {
			errs = append(errs, field.Required(at.Child("topologyKey"), "can not be empty"))
		} else {
			errs = append(errs, checkKey(c.TopologyKey, at.Child("topologyKey"))...)
		}
		when := []corev1.UnsatisfiableConstraintAction{corev1.DoNotSchedule, corev1.ScheduleAnyway}
		if c.WhenUnsatisfiable == "" {
			errs = append(errs, field.NotSupported(at.Child("whenUnsatisfiable"), c.WhenUnsatisfiable, when))
		}
		errs = append(errs, checkEnum(c.WhenUnsatisfiable, at.Child("whenUnsatisfiable"), when...)...)
		for _, later := range constraints[i+1:] {
			if later.TopologyKey == c.TopologyKey && later.WhenUnsatisfiable == c.WhenUnsatisfiable {
				errs = append(errs, field.Duplicate(at.Child("{topologyKey, whenUnsatisfiable}"), fmt.Sprintf("{%v, %v}", c.TopologyKey, c.WhenUnsatisfiable)))
				break
			}
		}
		if c.MinDomains != nil {
			errs = append(errs, checkPositive(int64(*c.MinDomains), at.Child("minDomains"))...)
			if c.WhenUnsatisfiable != corev1.DoNotSchedule {
				errs = append(errs, field.Invalid(at.Child("minDomains"), *c.MinDomains, fmt.Sprintf("can only use minDomains if whenUnsatisfiable=%s, not %s", corev1.DoNotSchedule, c.WhenUnsatisfiable)))
			}
		}
		for name, policy := range map[string]*corev1.NodeInclusionPolicy{"nodeAffinityPolicy": c.NodeAffinityPolicy, "nodeTaintsPolicy": c.NodeTaintsPolicy} {
			if policy != nil && *policy != corev1.NodeInclusionPolicyHonor && *policy != corev1.NodeInclusionPolicyIgnore {
				errs = append(errs, field.NotSupported(at.Child(name), *policy, []corev1.NodeInclusionPolicy{corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore}))
			}
		}
		errs = append(errs, checkLabelKeys(at, c.MatchLabelKeys, nil, c.LabelSelector)...)
		errs = append(errs, checkSelector(c.LabelSelector, at.Child("labelSelector"))...)
	}
	return errs
}
