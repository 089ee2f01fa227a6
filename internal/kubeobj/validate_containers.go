package kubeobj

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// containerCheck validates the containers of a pod.
type containerCheck struct {
	spec    *corev1.PodSpec
	volumes map[string]bool
	claims  map[string]bool
	options options
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
		errs = append(errs, k.lifecycle(c, at)...)
		errs = append(errs, checkRestartRules(c, k.options, at)...)
	}
	return append(errs, checkHostPorts(k.spec.Containers, path)...)
}

// initContainers is validateInitContainers. Like upstream it compares host ports only within one
// container, and its error names the first container.
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
		sidecar := c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
		if c.RestartPolicy != nil {
			errs = append(errs, checkRestartRules(c, k.options, at)...)
		} else if len(c.RestartPolicyRules) > 0 {
			errs = append(errs, field.Required(at.Child("restartPolicy"), "must specify restartPolicy when restart rules are used"))
		}
		if names[c.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), c.Name))
		}
		names[c.Name] = c.Name != ""
		if !k.options.stored {
			errs = append(errs, checkHostPorts([]corev1.Container{*c}, path)...)
		}
		if sidecar || k.options.stored {
			errs = append(errs, k.lifecycle(c, at)...)
			continue
		}
		for _, f := range []struct {
			name string
			set  bool
		}{
			{"lifecycle", c.Lifecycle != nil},
			{"livenessProbe", c.LivenessProbe != nil},
			{"readinessProbe", c.ReadinessProbe != nil},
			{"startupProbe", c.StartupProbe != nil},
		} {
			if f.set {
				errs = append(errs, field.Forbidden(at.Child(f.name), "may not be set for init containers without restartPolicy=Always"))
			}
		}
		for j, p := range c.ResizePolicy {
			if p.RestartPolicy == corev1.RestartContainer && !k.options.allowInitResize {
				errs = append(errs, field.Invalid(at.Child("resizePolicy").Index(j).Child("restartPolicy"), p.RestartPolicy, "must not be set to 'RestartContainer' for non-sidecar initContainers"))
			}
		}
	}
	return errs
}

// common is validateContainerCommon without security contexts.
func (k *containerCheck) common(c *corev1.Container, at *field.Path) (errs field.ErrorList) {
	if c.Name == "" {
		errs = append(errs, field.Required(at.Child("name"), ""))
	} else {
		errs = append(errs, checkLabel(c.Name, at.Child("name"))...)
	}
	if k.options.stored {
		errs = append(errs, checkPorts(c.Ports, at.Child("ports"))...)
		return append(errs, k.resources(c, at.Child("resources"))...)
	}
	if c.Image == "" {
		errs = append(errs, field.Required(at.Child("image"), ""))
	}
	errs = append(errs, checkRequiredEnum(c.TerminationMessagePolicy, at.Child("terminationMessagePolicy"), corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError)...)
	errs = append(errs, checkPorts(c.Ports, at.Child("ports"))...)
	errs = append(errs, checkEnv(c.Env, at.Child("env"))...)
	errs = append(errs, k.mounts(c, at.Child("volumeMounts"))...)
	errs = append(errs, checkRequiredEnum(c.ImagePullPolicy, at.Child("imagePullPolicy"), corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)...)
	errs = append(errs, k.resources(c, at.Child("resources"))...)
	return append(errs, k.resizePolicy(c.ResizePolicy, at.Child("resizePolicy"))...)
}

func (k *containerCheck) resources(c *corev1.Container, path *field.Path) field.ErrorList {
	errs := checkRequirements(&c.Resources, containerResource, k.options, path)
	return append(errs, checkClaimUses(c.Resources.Claims, k.claims, path.Child("claims"))...)
}

// checkEnv is the part of ValidateEnv about names.
func checkEnv(list []corev1.EnvVar, path *field.Path) (errs field.ErrorList) {
	for i, e := range list {
		at := path.Index(i).Child("name")
		if e.Name == "" {
			errs = append(errs, field.Required(at, ""))
			continue
		}
		for _, msg := range validation.IsRelaxedEnvVarName(e.Name) {
			errs = append(errs, field.Invalid(at, e.Name, msg))
		}
	}
	return errs
}

// mounts is the part of ValidateVolumeMounts about names and paths.
func (k *containerCheck) mounts(c *corev1.Container, path *field.Path) (errs field.ErrorList) {
	seen := map[string]bool{}
	for i, m := range c.VolumeMounts {
		at := path.Index(i)
		if m.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		}
		if !k.volumes[m.Name] {
			errs = append(errs, field.NotFound(at.Child("name"), m.Name))
		}
		if m.MountPath == "" {
			errs = append(errs, field.Required(at.Child("mountPath"), ""))
		}
		if seen[m.MountPath] {
			errs = append(errs, field.Invalid(at.Child("mountPath"), m.MountPath, "must be unique"))
		}
		seen[m.MountPath] = true
	}
	return errs
}

// resizePolicy is validateResizePolicy.
func (k *containerCheck) resizePolicy(list []corev1.ContainerResizePolicy, path *field.Path) (errs field.ErrorList) {
	seen := map[corev1.ResourceName]bool{}
	for i, p := range list {
		if seen[p.ResourceName] {
			errs = append(errs, field.Duplicate(path.Index(i), p.ResourceName))
		}
		seen[p.ResourceName] = true
		errs = append(errs, checkRequiredEnum(p.ResourceName, path, corev1.ResourceCPU, corev1.ResourceMemory)...)
		errs = append(errs, checkRequiredEnum(p.RestartPolicy, path, corev1.NotRequired, corev1.RestartContainer)...)
		if k.spec.RestartPolicy == corev1.RestartPolicyNever && p.RestartPolicy != corev1.NotRequired {
			errs = append(errs, field.Invalid(path, p.RestartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"))
		}
	}
	return errs
}

// checkRestartRules is validateContainerRestartPolicy.
func checkRestartRules(c *corev1.Container, o options, at *field.Path) (errs field.ErrorList) {
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
		if r.Action != "" || !o.stored {
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

// checkVolumes validates names, and that claims and their templates are present. Other sources are
// not validated. It returns the names that mounts may use (ValidateVolumes).
func checkVolumes(list []corev1.Volume, o options, path *field.Path) (names map[string]bool, errs field.ErrorList) {
	names = make(map[string]bool, len(list))
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
		} else if !o.stored {
			wrong = append(wrong, checkLabel(v.Name, at.Child("name"))...)
		}
		if names[v.Name] {
			wrong = append(wrong, field.Duplicate(at.Child("name"), v.Name))
		}
		if len(wrong) == 0 {
			names[v.Name] = true
		}
		errs = append(errs, wrong...)
	}
	return names, errs
}
