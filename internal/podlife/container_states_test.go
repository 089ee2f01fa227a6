package podlife

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestContainerStateTransitions has a container that ended with a code, and then waits: what the
// pod's policy, the container's and its rules say of it.
func TestContainerStateTransitions(t *testing.T) {
	t.Parallel()
	restart := func(action corev1.ContainerRestartRuleAction) []corev1.ContainerRestartRule {
		return []corev1.ContainerRestartRule{{Action: action, ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{42}}}}
	}
	never, always := corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyAlways
	for name, c := range map[string]struct {
		policy    corev1.RestartPolicy
		c         corev1.Container
		code      int32
		main      bool // may run again as a main container
		init      bool // and as an init container
		ephemeral bool
	}{
		"Always":                        {corev1.RestartPolicyAlways, corev1.Container{}, 0, true, true, false},
		"OnFailure after a failure":     {corev1.RestartPolicyOnFailure, corev1.Container{}, 1, true, true, false},
		"OnFailure after a success":     {corev1.RestartPolicyOnFailure, corev1.Container{}, 0, false, false, false},
		"Never":                         {corev1.RestartPolicyNever, corev1.Container{}, 1, false, false, false},
		"Never, and a sidecar":          {corev1.RestartPolicyNever, corev1.Container{RestartPolicy: &always}, 0, true, true, false},
		"Always, the container Never":   {corev1.RestartPolicyAlways, corev1.Container{RestartPolicy: &never}, 1, false, false, false},
		"a rule for the code":           {corev1.RestartPolicyNever, corev1.Container{RestartPolicy: &never, RestartPolicyRules: restart(corev1.ContainerRestartRuleActionRestart)}, 42, true, true, false},
		"a rule for another code":       {corev1.RestartPolicyNever, corev1.Container{RestartPolicy: &never, RestartPolicyRules: restart(corev1.ContainerRestartRuleActionRestart)}, 1, false, false, false},
		"a rule that restarts all":      {corev1.RestartPolicyNever, corev1.Container{RestartPolicy: &never, RestartPolicyRules: restart(corev1.ContainerRestartRuleActionRestartAllContainers)}, 1, true, true, false},
		"a container that is not there": {corev1.RestartPolicyAlways, corev1.Container{Name: "other"}, 0, false, false, false},
	} {
		if c.c.Name == "" {
			c.c.Name = "c"
		}
		pod := func(init bool, s corev1.ContainerState, ephemeral bool) *corev1.Pod {
			p := &corev1.Pod{Spec: corev1.PodSpec{RestartPolicy: c.policy}}
			list := []corev1.ContainerStatus{{Name: "c", State: s}}
			switch {
			case ephemeral:
				p.Status.EphemeralContainerStatuses = list
			case init:
				p.Spec.InitContainers, p.Status.InitContainerStatuses = []corev1.Container{c.c}, list
			default:
				p.Spec.Containers, p.Status.ContainerStatuses = []corev1.Container{c.c}, list
			}
			return p
		}
		over, waits := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: c.code}}, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}
		for _, as := range []struct {
			init, ephemeral, may bool
			field                string
		}{{false, false, c.main, "status.containerStatuses[0].state"}, {true, false, c.init, "status.initContainerStatuses[0].state"}, {false, true, c.ephemeral, "status.ephemeralContainerStatuses[0].state"}} {
			errs := StateTransitions(pod(as.init, waits, as.ephemeral), pod(as.init, over, as.ephemeral))
			if (len(errs) == 0) != as.may || len(errs) > 0 && errs[0].Field != as.field {
				t.Errorf("%s, %s: %v", name, as.field, errs)
			}
			if errs := StateTransitions(pod(as.init, over, as.ephemeral), pod(as.init, waits, as.ephemeral)); len(errs) > 0 {
				t.Errorf("%s ends: %v", name, errs)
			}
		}
	}
}
