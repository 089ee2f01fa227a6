package stored

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// containerCheck validates the containers of a pod.
type containerCheck struct {
	spec   *corev1.PodSpec
	claims map[string]bool
}

// containers is validateContainers.
func (k *containerCheck) containers(path *field.Path) (errs field.ErrorList) {
	if len(k.spec.Containers) == 0 {
		return field.ErrorList{field.Required(path, "")}
	}
	names := map[string]bool{}
	for i := range k.spec.Containers {
		c, at := &k.spec.Containers[i], path.Index(i)
		errs = append(errs, k.common(c, at)...)
		if names[c.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), c.Name))
		}
		names[c.Name] = true
		errs = append(errs, storedProbes(c, at)...)
		errs = append(errs, checkRestartRules(c, at)...)
	}
	return append(errs, checkHostPorts(k.spec.Containers, path)...)
}

// initContainers is validateInitContainers, of what is kept.
func (k *containerCheck) initContainers(path *field.Path) (errs field.ErrorList) {
	if len(k.spec.InitContainers) == 0 {
		return nil
	}
	names := map[string]bool{}
	for _, c := range k.spec.Containers {
		names[c.Name] = true
	}
	for i := range k.spec.InitContainers {
		c, at := &k.spec.InitContainers[i], path.Index(i)
		errs = append(errs, k.common(c, at)...)
		if c.RestartPolicy != nil {
			errs = append(errs, checkRestartRules(c, at)...)
		} else if len(c.RestartPolicyRules) > 0 {
			errs = append(errs, field.Required(at.Child("restartPolicy"), "must specify restartPolicy when restart rules are used"))
		}
		if names[c.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), c.Name))
		}
		names[c.Name] = c.Name != ""
		errs = append(errs, storedProbes(c, at)...)
	}
	return errs
}

// common is the part of validateContainerCommon about what is kept.
func (k *containerCheck) common(c *corev1.Container, at *field.Path) (errs field.ErrorList) {
	if c.Name == "" {
		errs = append(errs, field.Required(at.Child("name"), ""))
	} else {
		errs = append(errs, checkLabel(c.Name, at.Child("name"))...)
	}
	errs = append(errs, checkPorts(c.Ports, at.Child("ports"))...)
	path := at.Child("resources")
	errs = append(errs, checkRequirements(&c.Resources, containerResource, path)...)
	return append(errs, checkClaimUses(c.Resources.Claims, k.claims, path.Child("claims"))...)
}

// checkRestartRules is validateContainerRestartPolicy.
func checkRestartRules(c *corev1.Container, at *field.Path) (errs field.ErrorList) {
	if c.RestartPolicy != nil {
		errs = append(errs, checkEnum(*c.RestartPolicy, at.Child("restartPolicy"), corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure)...)
	} else if len(c.RestartPolicyRules) > 0 {
		errs = append(errs, field.Required(at.Child("restartPolicy"), "must specify restartPolicy when restart rules are used"))
	}
	rules := at.Child("restartPolicyRules")
	if n := len(c.RestartPolicyRules); n > 20 {
		errs = append(errs, field.TooMany(rules, n, 20))
	}
	for i, r := range c.RestartPolicyRules {
		if r.Action != "" {
			errs = append(errs, checkEnum(r.Action, rules.Index(i).Child("action"), corev1.ContainerRestartRuleActionRestart, corev1.ContainerRestartRuleActionRestartAllContainers)...)
		}
		codes := rules.Index(i).Child("exitCodes")
		if r.ExitCodes == nil {
			errs = append(errs, field.Required(codes, "must be specified"))
			continue
		}
		errs = append(errs, checkEnum(r.ExitCodes.Operator, codes.Child("operator"), corev1.ContainerRestartRuleOnExitCodesOpIn, corev1.ContainerRestartRuleOnExitCodesOpNotIn)...)
		if n := len(r.ExitCodes.Values); n > 255 {
			errs = append(errs, field.TooMany(codes.Child("values"), n, 255))
		}
	}
	return errs
}

// checkPorts is validateContainerPorts.
func checkPorts(ports []corev1.ContainerPort, path *field.Path) (errs field.ErrorList) {
	number := func(n int32, at *field.Path) {
		for _, msg := range validation.IsValidPortNum(int(n)) {
			errs = append(errs, field.Invalid(at, n, msg))
		}
	}
	var names map[string]bool
	for i, p := range ports {
		at := path.Index(i)
		if p.Name != "" {
			msgs := validation.IsValidPortName(p.Name)
			for _, msg := range msgs {
				errs = append(errs, field.Invalid(at.Child("name"), p.Name, msg))
			}
			if len(msgs) == 0 && names[p.Name] {
				errs = append(errs, field.Duplicate(at.Child("name"), p.Name))
			}
			if names == nil {
				names = make(map[string]bool, len(ports))
			}
			names[p.Name] = names[p.Name] || len(msgs) == 0
		}
		if p.ContainerPort == 0 {
			errs = append(errs, field.Required(at.Child("containerPort"), ""))
		} else {
			number(p.ContainerPort, at.Child("containerPort"))
		}
		if p.HostPort != 0 {
			number(p.HostPort, at.Child("hostPort"))
		}
		errs = append(errs, checkRequiredEnum(p.Protocol, at.Child("protocol"), corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP)...)
	}
	return errs
}

// checkHostPorts is checkHostPortConflicts.
func checkHostPorts(list []corev1.Container, path *field.Path) (errs field.ErrorList) {
	var seen map[string]bool
	for i, c := range list {
		for j, p := range c.Ports {
			if p.HostPort == 0 {
				continue
			}
			if seen == nil {
				seen = map[string]bool{}
			}
			id := fmt.Sprintf("%s/%s/%d", p.Protocol, p.HostIP, p.HostPort)
			if seen[id] {
				errs = append(errs, field.Duplicate(path.Index(i).Child("ports").Index(j).Child("hostPort"), id))
			}
			seen[id] = true
		}
	}
	return errs
}

// checkVolumes validates that names, claims and their templates are present (ValidateVolumes).
func checkVolumes(list []corev1.Volume, path *field.Path) (errs field.ErrorList) {
	names := make(map[string]bool, len(list))
	for i, v := range list {
		at := path.Index(i)
		var wrong field.ErrorList
		if c := v.PersistentVolumeClaim; c != nil && c.ClaimName == "" {
			wrong = append(wrong, field.Required(at.Child("persistentVolumeClaim", "claimName"), ""))
		}
		if e := v.Ephemeral; e != nil && e.VolumeClaimTemplate == nil {
			wrong = append(wrong, field.Required(at.Child("ephemeral", "volumeClaimTemplate"), ""))
		}
		if v.Name == "" {
			wrong = append(wrong, field.Required(at.Child("name"), ""))
		}
		if names[v.Name] {
			wrong = append(wrong, field.Duplicate(at.Child("name"), v.Name))
		}
		if len(wrong) == 0 {
			names[v.Name] = true
		}
		errs = append(errs, wrong...)
	}
	return errs
}

// storedProbes validates the numbers of a stored pod's probes. Their handlers are not present.
func storedProbes(c *corev1.Container, at *field.Path) (errs field.ErrorList) {
	for _, f := range []struct {
		name  string
		probe *corev1.Probe
	}{{"livenessProbe", c.LivenessProbe}, {"readinessProbe", c.ReadinessProbe}, {"startupProbe", c.StartupProbe}} {
		if f.probe != nil {
			errs = append(errs, probeNumbers(f.probe, at.Child(f.name))...)
		}
	}
	return errs
}

func probeNumbers(p *corev1.Probe, path *field.Path) (errs field.ErrorList) {
	for _, f := range []struct {
		name  string
		value int32
	}{
		{"initialDelaySeconds", p.InitialDelaySeconds},
		{"timeoutSeconds", p.TimeoutSeconds},
		{"periodSeconds", p.PeriodSeconds},
		{"successThreshold", p.SuccessThreshold},
		{"failureThreshold", p.FailureThreshold},
	} {
		errs = append(errs, apivalidation.ValidateNonnegativeField(int64(f.value), path.Child(f.name))...)
	}
	if g := p.TerminationGracePeriodSeconds; g != nil && *g <= 0 {
		errs = append(errs, field.Invalid(path.Child("terminationGracePeriodSeconds"), *g, "must be greater than 0"))
	}
	return errs
}
