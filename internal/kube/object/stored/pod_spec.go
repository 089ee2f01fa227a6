package stored

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateStored returns what no API server would have stored in a pod's spec. It is never stricter
// than ValidateCreate. What may be set only after a create, such as ephemeral containers, passes,
// and so does what older releases admitted. Fields that decisions do not read are absent.
func validateStored(p *corev1.Pod) field.ErrorList {
	return append(validateSpec(p, field.NewPath("spec")), checkGatedNode(&p.Spec)...)
}

func checkGatedNode(s *corev1.PodSpec) field.ErrorList {
	if s.NodeName == "" || len(s.SchedulingGates) == 0 {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec", "nodeName"), "cannot be set until all schedulingGates have been cleared")}
}

func checkTrimmed(image string, path *field.Path) field.ErrorList {
	if strings.TrimSpace(image) == image {
		return nil
	}
	return field.ErrorList{field.Invalid(path, image, "must not have leading or trailing whitespace")}
}

// checkAnnotations is ValidatePodSpecificAnnotations without the annotations
// that once were tolerations, seccomp and AppArmor profiles.
func checkAnnotations(p *corev1.Pod, anyCost bool, path *field.Path) (errs field.ErrorList) {
	if value, static := p.Annotations[corev1.MirrorPodAnnotationKey]; static && p.Spec.NodeName == "" {
		errs = append(errs, field.Invalid(path.Key(corev1.MirrorPodAnnotationKey), value, "must set spec.nodeName if mirror pod annotation is set"))
	}
	if cost, ok := p.Annotations[corev1.PodDeletionCost]; ok && !anyCost && !isDeletionCost(cost) {
		errs = append(errs, field.Invalid(path.Key(corev1.PodDeletionCost), cost, "must be a 32bit integer"))
	}
	return errs
}

// isDeletionCost refuses a plus sign and leading zeros (upstream pkg/apis/core/helper,
// GetDeletionCostFromPodAnnotations).
func isDeletionCost(s string) bool {
	if s == "" || s[0] == '+' || s[0] == '0' && s != "0" {
		return false
	}
	_, err := strconv.ParseInt(s, 10, 32)
	return err == nil
}

// validateSpec is the part of upstream's ValidatePodSpec about what is kept.
func validateSpec(p *corev1.Pod, path *field.Path) (errs field.ErrorList) {
	s := &p.Spec
	errs = append(errs, checkVolumes(s.Volumes, path.Child("volumes"))...)
	k := containerCheck{spec: s, claims: claimNames(s.ResourceClaims)}
	errs = append(errs, k.containers(path.Child("containers"))...)
	errs = append(errs, k.initContainers(path.Child("initContainers"))...)
	errs = append(errs, k.podResources(path.Child("resources"))...)
	errs = append(errs, checkHostNetwork(s, path.Child("containers"))...)
	errs = append(errs, checkRequiredEnum(s.RestartPolicy, path.Child("restartPolicy"), corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)...)
	errs = append(errs, metavalidation.ValidateLabels(s.NodeSelector, path.Child("nodeSelector"))...)
	errs = append(errs, checkAffinity(s.Affinity, path.Child("affinity"))...)
	for i, g := range s.ReadinessGates {
		errs = append(errs, checkQualified(string(g.ConditionType), path.Child("readinessGates").Index(i).Child("conditionType"))...)
	}
	errs = append(errs, checkGates(s.SchedulingGates, path.Child("schedulingGates"))...)
	errs = append(errs, checkSpread(s.TopologySpreadConstraints, path.Child("topologySpreadConstraints"))...)
	errs = append(errs, checkDNSName(s.ServiceAccountName, path.Child("serviceAccountName"))...)
	errs = append(errs, checkDNSName(s.NodeName, path.Child("nodeName"))...)
	if s.Hostname != "" {
		errs = append(errs, checkLabel(s.Hostname, path.Child("hostname"))...)
	}
	if s.Subdomain != "" {
		errs = append(errs, checkLabel(s.Subdomain, path.Child("subdomain"))...)
	}
	errs = append(errs, checkTolerations(s.Tolerations, anyComparison, path.Child("tolerations"))...)
	errs = append(errs, checkDNSName(s.PriorityClassName, path.Child("priorityClassName"))...)
	errs = append(errs, checkGivenName(s.RuntimeClassName, path.Child("runtimeClassName"))...)
	if s.PreemptionPolicy != nil {
		errs = append(errs, checkPreemptionPolicy(s.PreemptionPolicy, path.Child("preemptionPolicy"))...)
	}
	if s.Overhead != nil {
		errs = append(errs, checkRequirements(&corev1.ResourceRequirements{Limits: s.Overhead}, containerResource, path.Child("overhead"))...)
	}
	if s.OS != nil {
		errs = append(errs, checkRequiredEnum(s.OS.Name, path.Child("os", "name"), corev1.Linux, corev1.Windows)...)
	}
	return errs
}

// checkName refuses what valid finds in a name.
func checkName(name string, valid func(string) []string, path *field.Path) (errs field.ErrorList) {
	for _, msg := range valid(name) {
		errs = append(errs, field.Invalid(path, name, msg))
	}
	return errs
}

func checkQualified(name string, path *field.Path) field.ErrorList {
	return checkName(name, validation.IsQualifiedName, path)
}

func checkLabel(name string, path *field.Path) field.ErrorList {
	return checkName(name, validation.IsDNS1123Label, path)
}

// checkDNSName passes an empty name, which means none.
func checkDNSName(name string, path *field.Path) field.ErrorList {
	if name == "" {
		return nil
	}
	return checkName(name, validation.IsDNS1123Subdomain, path)
}

// checkGivenName passes nil, which means none. It refuses an empty name.
func checkGivenName(name *string, path *field.Path) field.ErrorList {
	if name == nil {
		return nil
	}
	return checkName(*name, validation.IsDNS1123Subdomain, path)
}

// checkEnum refuses a value outside a closed set.
func checkEnum[T ~string](v T, path *field.Path, allowed ...T) field.ErrorList {
	for _, a := range allowed {
		if v == a {
			return nil
		}
	}
	return field.ErrorList{field.NotSupported(path, v, allowed)}
}

// checkRequiredEnum has one error for a missing value and another for a wrong one.
func checkRequiredEnum[T ~string](v T, path *field.Path, allowed ...T) field.ErrorList {
	if v == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	return checkEnum(v, path, allowed...)
}

// checkHostNetwork is validatePodHostNetworkDeps.
func checkHostNetwork(s *corev1.PodSpec, path *field.Path) (errs field.ErrorList) {
	if !s.HostNetwork {
		return nil
	}
	for i, c := range s.Containers {
		for j, p := range c.Ports {
			if p.HostPort != p.ContainerPort {
				errs = append(errs, field.Invalid(path.Index(i).Child("ports").Index(j).Child("hostPort"), p.HostPort, "must match `containerPort` when `hostNetwork` is true"))
			}
		}
	}
	return errs
}

// claimNames returns nil if there are no claims, as most pods have none.
func claimNames(claims []corev1.PodResourceClaim) map[string]bool {
	if len(claims) == 0 {
		return nil
	}
	names := make(map[string]bool, len(claims))
	for _, c := range claims {
		if c.Name != "" {
			names[c.Name] = true
		}
	}
	return names
}

// comparisons chooses which tolerations pass that have the operators Lt and Gt, whose feature is
// off by default.
type comparisons int

const (
	noComparison  comparisons = iota
	ofIntegers                // an update may keep them
	anyComparison             // as stored
)

// checkTolerations is ValidateTolerations.
func checkTolerations(list []corev1.Toleration, c comparisons, path *field.Path) (errs field.ErrorList) {
	for i, t := range list {
		at := path.Index(i)
		if t.Key != "" {
			errs = append(errs, metavalidation.ValidateLabelName(t.Key, at.Child("key"))...)
		} else if t.Operator != corev1.TolerationOpExists {
			errs = append(errs, field.Invalid(at.Child("operator"), t.Operator, "operator must be Exists when `key` is empty, which means \"match all values and all keys\""))
		}
		if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
			errs = append(errs, field.Invalid(at.Child("effect"), t.Effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
		}
		switch t.Operator {
		case corev1.TolerationOpEqual, "":
			if msgs := validation.IsValidLabelValue(t.Value); len(msgs) > 0 {
				errs = append(errs, field.Invalid(at.Child("operator"), t.Value, strings.Join(msgs, ";")))
			}
		case corev1.TolerationOpExists:
			if t.Value != "" {
				errs = append(errs, field.Invalid(at.Child("operator"), t.Value, "value must be empty when `operator` is 'Exists'"))
			}
		case corev1.TolerationOpLt, corev1.TolerationOpGt:
			errs = append(errs, checkComparison(t, c, at)...)
		default:
			errs = append(errs, field.NotSupported(at.Child("operator"), t.Operator, []corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists}))
		}
		if t.Effect != "" {
			errs = append(errs, checkEnum(t.Effect, at.Child("effect"), corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)...)
		}
	}
	return errs
}

func checkComparison(t corev1.Toleration, c comparisons, at *field.Path) field.ErrorList {
	switch c {
	case anyComparison:
		return nil
	case noComparison:
		return field.ErrorList{field.NotSupported(at.Child("operator"), t.Operator, []corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists, corev1.TolerationOpLt, corev1.TolerationOpGt})}
	}
	if _, err := strconv.ParseInt(t.Value, 10, 64); err != nil {
		return field.ErrorList{field.Invalid(at.Child("value"), t.Value, fmt.Sprint(err))}
	}
	return nil
}
