package objects

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// checkContainers follows upstream validateContainers and
// validateInitContainers in names, resources, ports, restart rules and periods.
func checkContainers(s *corev1.PodSpec, path *field.Path) (errs field.ErrorList) {
	if len(s.Containers) == 0 {
		errs = append(errs, field.Required(path.Child("containers"), ""))
	}
	names := map[string]bool{}
	claims := map[string]bool{}
	for _, c := range s.ResourceClaims {
		claims[c.Name] = true
	}
	for _, group := range []struct {
		list []corev1.Container
		path *field.Path
	}{{s.Containers, path.Child("containers")}, {s.InitContainers, path.Child("initContainers")}} {
		for i := range group.list {
			c, at := &group.list[i], group.path.Index(i)
			errs = append(errs, checkContainer(c, claims, at)...)
			if names[c.Name] {
				errs = append(errs, field.Duplicate(at.Child("name"), c.Name))
			}
			names[c.Name] = true
			errs = append(errs, checkPorts(c.Ports, s.HostNetwork, at.Child("ports"))...)
		}
	}
	return append(errs, checkHostPorts(s.Containers, path.Child("containers"))...)
}

func checkContainer(c *corev1.Container, claims map[string]bool, at *field.Path) (errs field.ErrorList) {
	if c.Name == "" {
		errs = append(errs, field.Required(at.Child("name"), ""))
	} else {
		for _, msg := range validation.IsDNS1123Label(c.Name) {
			errs = append(errs, field.Invalid(at.Child("name"), c.Name, msg))
		}
	}
	errs = append(errs, checkRequirements(&c.Resources, checkContainerResource, at.Child("resources"))...)
	for i, claim := range c.Resources.Claims {
		if !claims[claim.Name] {
			errs = append(errs, field.NotFound(at.Child("resources", "claims").Index(i).Child("name"), claim.Name))
		}
	}
	rules := at.Child("restartPolicyRules")
	if c.RestartPolicy == nil && len(c.RestartPolicyRules) > 0 {
		errs = append(errs, field.Required(at.Child("restartPolicy"), "must specify restartPolicy when restart rules are used"))
	}
	if c.RestartPolicy != nil {
		errs = append(errs, checkEnum(*c.RestartPolicy, at.Child("restartPolicy"), corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure)...)
	}
	for i, r := range c.RestartPolicyRules {
		if r.ExitCodes == nil {
			errs = append(errs, field.Required(rules.Index(i).Child("exitCodes"), "must be specified"))
			continue
		}
		errs = append(errs, checkEnum(r.ExitCodes.Operator, rules.Index(i).Child("exitCodes", "operator"), corev1.ContainerRestartRuleOnExitCodesOpIn, corev1.ContainerRestartRuleOnExitCodesOpNotIn)...)
	}
	for name, p := range map[string]*corev1.Probe{"livenessProbe": c.LivenessProbe, "readinessProbe": c.ReadinessProbe, "startupProbe": c.StartupProbe} {
		if p != nil {
			errs = append(errs, checkProbe(p, at.Child(name))...)
		}
	}
	sortErrors(errs)
	return errs
}

func checkProbe(p *corev1.Probe, at *field.Path) (errs field.ErrorList) {
	for name, v := range map[string]int32{
		"initialDelaySeconds": p.InitialDelaySeconds, "timeoutSeconds": p.TimeoutSeconds, "periodSeconds": p.PeriodSeconds,
		"successThreshold": p.SuccessThreshold, "failureThreshold": p.FailureThreshold,
	} {
		errs = append(errs, checkNotNegative(int64(v), at.Child(name))...)
	}
	if g := p.TerminationGracePeriodSeconds; g != nil && *g <= 0 {
		errs = append(errs, field.Invalid(at.Child("terminationGracePeriodSeconds"), *g, "must be greater than 0"))
	}
	return errs
}

// checkPorts is upstream validateContainerPorts; with hostNetwork a host port
// is the container's own (validateHostNetwork).
func checkPorts(ports []corev1.ContainerPort, hostNetwork bool, path *field.Path) (errs field.ErrorList) {
	for i, p := range ports {
		at := path.Index(i)
		if p.ContainerPort == 0 {
			errs = append(errs, field.Required(at.Child("containerPort"), ""))
		} else {
			errs = append(errs, checkPort(p.ContainerPort, at.Child("containerPort"))...)
		}
		if p.HostPort != 0 {
			errs = append(errs, checkPort(p.HostPort, at.Child("hostPort"))...)
		}
		errs = append(errs, checkEnum(p.Protocol, at.Child("protocol"), corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP)...)
		if hostNetwork && p.HostPort != p.ContainerPort {
			errs = append(errs, field.Invalid(at.Child("containerPort"), p.ContainerPort, "must match `hostPort` when `hostNetwork` is true"))
		}
	}
	return errs
}

func checkPort(port int32, path *field.Path) (errs field.ErrorList) {
	for _, msg := range validation.IsValidPortNum(int(port)) {
		errs = append(errs, field.Invalid(path, port, msg))
	}
	return errs
}

// checkHostPorts refuses a host port that two containers take (upstream
// checkHostPortConflicts).
func checkHostPorts(list []corev1.Container, path *field.Path) (errs field.ErrorList) {
	type hostPort struct {
		protocol corev1.Protocol
		ip       string
		port     int32
	}
	var seen map[hostPort]bool
	for i, c := range list {
		for j, p := range c.Ports {
			if p.HostPort == 0 {
				continue
			}
			if seen == nil {
				seen = map[hostPort]bool{}
			}
			h := hostPort{p.Protocol, p.HostIP, p.HostPort}
			if seen[h] {
				errs = append(errs, field.Duplicate(path.Index(i).Child("ports").Index(j).Child("hostPort"), p.HostPort))
			}
			seen[h] = true
		}
	}
	return errs
}

// checkVolumes sees only volumes of which a source was kept.
func checkVolumes(volumes []corev1.Volume, path *field.Path) (errs field.ErrorList) {
	seen := make(map[string]bool, len(volumes))
	for i, v := range volumes {
		at := path.Index(i)
		if v.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		} else if seen[v.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), v.Name))
		}
		seen[v.Name] = true
		if c := v.PersistentVolumeClaim; c != nil && c.ClaimName == "" {
			errs = append(errs, field.Required(at.Child("persistentVolumeClaim", "claimName"), ""))
		}
		if e := v.Ephemeral; e != nil && e.VolumeClaimTemplate == nil {
			errs = append(errs, field.Required(at.Child("ephemeral", "volumeClaimTemplate"), ""))
		}
	}
	return errs
}

// checkPodStatus checks what a status counts with: quantities and times.
func checkPodStatus(s *corev1.PodStatus, path *field.Path) (errs field.ErrorList) {
	errs = append(errs, checkTime(s.StartTime, path.Child("startTime"))...)
	for i := range s.Conditions {
		errs = append(errs, checkTime(&s.Conditions[i].LastTransitionTime, path.Child("conditions").Index(i).Child("lastTransitionTime"))...)
	}
	quantities := func(r *corev1.ResourceRequirements, at *field.Path) {
		if r != nil {
			errs = append(errs, checkQuantities(r.Requests, at.Child("requests").Key)...)
			errs = append(errs, checkQuantities(r.Limits, at.Child("limits").Key)...)
		}
	}
	quantities(s.Resources, path.Child("resources"))
	errs = append(errs, checkQuantities(s.AllocatedResources, path.Child("allocatedResources").Key)...)
	for name, list := range map[string][]corev1.ContainerStatus{
		"containerStatuses": s.ContainerStatuses, "initContainerStatuses": s.InitContainerStatuses, "ephemeralContainerStatuses": s.EphemeralContainerStatuses,
	} {
		for i := range list {
			c, at := &list[i], path.Child(name).Index(i)
			quantities(c.Resources, at.Child("resources"))
			errs = append(errs, checkQuantities(c.AllocatedResources, at.Child("allocatedResources").Key)...)
			errs = append(errs, checkState(&c.State, at.Child("state"))...)
			errs = append(errs, checkState(&c.LastTerminationState, at.Child("lastState"))...)
		}
	}
	sortErrors(errs)
	return errs
}

func checkState(s *corev1.ContainerState, path *field.Path) (errs field.ErrorList) {
	if s.Running != nil {
		errs = append(errs, checkTime(&s.Running.StartedAt, path.Child("running", "startedAt"))...)
	}
	if t := s.Terminated; t != nil {
		errs = append(errs, checkTime(&t.StartedAt, path.Child("terminated", "startedAt"))...)
		errs = append(errs, checkTime(&t.FinishedAt, path.Child("terminated", "finishedAt"))...)
	}
	return errs
}
