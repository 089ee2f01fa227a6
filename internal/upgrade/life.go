package upgrade

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// lifeChecks are about what kubelets do otherwise, whose releases are those of their nodes.
var lifeChecks = []check{
	{"D1", "Pod", "a rule that restarts all containers: kubelets until v1.35 leave it to the policy of the one that ended", of(func(p *corev1.Pod) bool {
		return anyContainer(p, func(c *corev1.Container, _ bool) bool {
			return slices.ContainsFunc(c.RestartPolicyRules, func(r corev1.ContainerRestartRule) bool {
				return r.Action == corev1.ContainerRestartRuleActionRestartAllContainers
			})
		})
	})},
	{"D5", "Pod", "readiness by a command: kubelets from v1.37 on still run it while the pod ends, so that it may leave its services earlier", of(func(p *corev1.Pod) bool {
		return anyContainer(p, func(c *corev1.Container, _ bool) bool { return c.ReadinessProbe != nil && c.ReadinessProbe.Exec != nil })
	})},
	{"D10", "Pod", "a restartPolicy of a container's own: kubelets until v1.34 follow the pod's", of(func(p *corev1.Pod) bool {
		return anyContainer(p, func(c *corev1.Container, init bool) bool {
			return c.RestartPolicy != nil && (!init || *c.RestartPolicy != corev1.ContainerRestartPolicyAlways)
		})
	})},
}

// anyContainer reports whether a function is true of a container; init ones are told apart.
func anyContainer(p *corev1.Pod, is func(c *corev1.Container, init bool) bool) bool {
	return slices.ContainsFunc(p.Spec.InitContainers, func(c corev1.Container) bool { return is(&c, true) }) ||
		slices.ContainsFunc(p.Spec.Containers, func(c corev1.Container) bool { return is(&c, false) })
}
