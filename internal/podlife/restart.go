package podlife

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// mayRestart reports whether a container that ended with a code is run again, and
// what says so: the first of its rules that matches, then its own policy, then
// the pod's. Rules without a policy of the container's own are not looked at
// (pkg/api/v1/pod/util.go ContainerShouldRestart).
func mayRestart(s *corev1.PodSpec, c *corev1.Container, code int32) (yes bool, why string) {
	if c.RestartPolicy != nil {
		if rule, i := matchingRule(c, code); rule != nil {
			switch rule.Action {
			case corev1.ContainerRestartRuleActionRestart, corev1.ContainerRestartRuleActionRestartAllContainers:
				return true, fmt.Sprintf("its restart rule %d matches exit code %d (%s)", i, code, rule.Action)
			}
		}
		if yes, known := byPolicy(string(*c.RestartPolicy), code); known {
			return yes, fmt.Sprintf("its own restartPolicy is %s and the exit code %d", *c.RestartPolicy, code)
		}
	}
	policy := s.RestartPolicy
	yes, known := byPolicy(string(policy), code)
	if !known {
		policy, yes = corev1.RestartPolicyAlways, true
	}
	return yes, fmt.Sprintf("the pod's restartPolicy is %s and the exit code %d", policy, code)
}

func byPolicy(policy string, code int32) (yes, known bool) {
	switch corev1.RestartPolicy(policy) {
	case corev1.RestartPolicyAlways:
		return true, true
	case corev1.RestartPolicyOnFailure:
		return code != 0, true
	case corev1.RestartPolicyNever:
		return false, true
	}
	return false, false
}

// matchingRule returns the first rule that matches an exit code, and its place
// (pkg/api/v1/pod/util.go FindMatchingContainerRestartRule).
func matchingRule(c *corev1.Container, code int32) (*corev1.ContainerRestartRule, int) {
	for i := range c.RestartPolicyRules {
		codes := c.RestartPolicyRules[i].ExitCodes
		if codes == nil {
			continue
		}
		in := slices.Contains(codes.Values, code)
		if in && codes.Operator == corev1.ContainerRestartRuleOnExitCodesOpIn ||
			!in && codes.Operator == corev1.ContainerRestartRuleOnExitCodesOpNotIn {
			return &c.RestartPolicyRules[i], i
		}
	}
	return nil, 0
}

// restartable reports whether a container that stopped counts as one that will
// run again (pkg/kubelet/kubelet_pods.go getPhase).
func (r *reading) restartable(s *seen) bool {
	yes, _ := mayRestart(&r.pod.Spec, s.c, s.end.ExitCode)
	return yes || r.by.RestartsAll && s.end.Reason == restartingAll
}

// couldRestartAll reports whether some container has a rule that restarts all.
func (r *reading) couldRestartAll() bool { return anyRestartsAll(&r.pod.Spec) }

// restartsAll returns which container's end makes all of the pod's start anew; its
// policy is not asked here. By is empty where the condition
// AllContainersRestarting says so
// (pkg/kubelet/container/helpers.go ShouldAllContainersRestart).
func (r *reading) restartsAll() (by string, yes bool) {
	for _, c := range r.pod.Status.Conditions {
		if c.Type == corev1.AllContainersRestarting && c.Status == corev1.ConditionTrue {
			return "", true
		}
	}
	for _, list := range [][]seen{r.inits, r.mains} {
		for i := range list {
			s := &list[i]
			if s.is != exited || s.removed {
				continue
			}
			if rule, _ := matchingRule(s.c, s.end.ExitCode); rule != nil && rule.Action == corev1.ContainerRestartRuleActionRestartAllContainers {
				return s.c.Name, true
			}
		}
	}
	return "", false
}

// resetting reports whether all containers are to start anew and not all of them are
// removed yet (AllContainersRestartCleanedUp). A pod without such a rule never
// does, whatever its conditions say.
func (r *reading) resetting() (by string, yes bool) {
	if !r.couldRestartAll() {
		return "", false
	}
	if by, yes = r.restartsAll(); !yes {
		return "", false
	}
	for _, list := range [][]seen{r.inits, r.mains} {
		for i := range list {
			if list[i].ran() {
				return by, true
			}
		}
	}
	return "", false
}

// StateTransitions returns what an API server refuses in the container states of a pod's new
// status: a container that has ended and is not to run again runs, or waits
// (pkg/apis/core/validation ValidateContainerStateTransition, ValidateInitContainerStateTransition,
// ValidateEphemeralContainerStateTransition).
func StateTransitions(now, old *corev1.Pod) (errs field.ErrorList) {
	path, s := field.NewPath("status"), &old.Spec
	may := func(list []corev1.Container) func(name string, code int32) bool {
		return func(name string, code int32) bool {
			i := slices.IndexFunc(list, func(c corev1.Container) bool { return c.Name == name })
			if i < 0 {
				return false
			}
			yes, _ := mayRestart(s, &list[i], code)
			return yes
		}
	}
	never := func(string, int32) bool { return false }
	if !anyRestartsAll(s) {
		errs = append(errs, ended(now.Status.ContainerStatuses, old.Status.ContainerStatuses, may(s.Containers), path.Child("containerStatuses"))...)
		errs = append(errs, ended(now.Status.InitContainerStatuses, old.Status.InitContainerStatuses, may(s.InitContainers), path.Child("initContainerStatuses"))...)
	}
	return append(errs, ended(now.Status.EphemeralContainerStatuses, old.Status.EphemeralContainerStatuses, never, path.Child("ephemeralContainerStatuses"))...)
}

// ended returns the errors of one list of containers. may reports whether a container that ended
// with a code may run again.
func ended(now, old []corev1.ContainerStatus, may func(name string, code int32) bool, path *field.Path) (errs field.ErrorList) {
	for i := range old {
		end := old[i].State.Terminated
		if end == nil {
			continue
		}
		k := slices.IndexFunc(now, func(c corev1.ContainerStatus) bool { return c.Name == old[i].Name })
		if k >= 0 && now[k].State.Terminated == nil && !may(old[i].Name, end.ExitCode) {
			errs = append(errs, field.Forbidden(path.Index(i).Child("state"), "may not be transitioned to non-terminated state"))
		}
	}
	return errs
}

// anyRestartsAll reports whether a container has a rule that restarts all of the pod's
// (pkg/api/v1/pod/util.go AllContainersCouldRestart).
func anyRestartsAll(s *corev1.PodSpec) bool {
	for _, list := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range list {
			if slices.ContainsFunc(list[i].RestartPolicyRules, func(r corev1.ContainerRestartRule) bool {
				return r.Action == corev1.ContainerRestartRuleActionRestartAllContainers
			}) {
				return true
			}
		}
	}
	return false
}

// plan is what a kubelet would start next.
type plan struct {
	// start marks the init containers that are to run now.
	start []bool
	// last is the last init container that the runtime knows; -1 without one.
	last int
	// initialized lets main containers run.
	initialized bool
	// mainsDone: no main container runs or will run, so the pod is stopped.
	mainsDone bool
	// failed is the init container whose end stops the pod; "" without one.
	failed string
}

// plan goes over the init containers from the last to the first: what is behind
// one that has run is never revisited, since old containers may have been
// cleaned away (pkg/kubelet/kuberuntime/kuberuntime_container.go
// computeInitContainerActions; kuberuntime_manager.go computePodActions).
//
// A sidecar counts as up once its status says started; the kubelet asks its
// startup probe, and writes that into the status.
func (r *reading) plan() plan {
	p := plan{start: make([]bool, len(r.inits)), last: -1, initialized: len(r.inits) == 0}
	ended := r.by.ExitedInitialized && !r.initAgain() // main containers count that have ended
	for i := range r.mains {
		p.initialized = p.initialized || r.mains[i].is == running || ended && r.mains[i].ran()
	}
	mainRuns := p.initialized && len(r.inits) > 0
	final := len(r.inits) - 1
	// through reports whether the one after place i may start, if it is new.
	through := func(i int, first bool) {
		if i == final {
			p.initialized = true
		} else if first {
			p.start[i+1] = true
		}
	}
	for i := final; i >= 0; i-- {
		s := &r.inits[i]
		looked := mainRuns || p.last >= 0
		if !s.ran() {
			p.start[i] = p.start[i] || looked && s.kind == KindSidecar
			continue
		}
		switch {
		case looked && s.kind == KindInit:
		case s.is == running:
			if s.kind == KindSidecar && s.started() {
				through(i, !looked)
			}
		case s.kind == KindSidecar:
			p.start[i] = true
		case initFailed(s.end):
			p.start[i] = true
			if yes, _ := mayRestart(&r.pod.Spec, s.c, s.end.ExitCode); !yes {
				p.failed = s.c.Name
				return p
			}
		default:
			through(i, true)
		}
		if p.last < 0 {
			p.last = i
		}
	}
	if p.last < 0 && !mainRuns && final >= 0 {
		p.start[0] = true
	}
	if p.mainsDone = p.initialized && r.mainsDone(); p.mainsDone {
		clear(p.start)
	}
	return p
}

// initAgain reports whether a plain init container runs or has failed: main containers that ended
// did so in a sandbox before this one, and tell nothing of its init containers.
func (r *reading) initAgain() bool {
	return slices.ContainsFunc(r.inits, func(s seen) bool { return s.kind == KindInit && s.ran() && !s.through() })
}

// mainsDone reports whether no main container runs or will be started.
func (r *reading) mainsDone() bool {
	return !slices.ContainsFunc(r.mains, func(s seen) bool {
		if s.is != exited || s.removed {
			return true
		}
		yes, _ := mayRestart(&r.pod.Spec, s.c, s.end.ExitCode)
		return yes
	})
}
