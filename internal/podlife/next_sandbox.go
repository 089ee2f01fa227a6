package podlife

import (
	corev1 "k8s.io/api/core/v1"
)

// nextWithoutSandbox returns what happens next in a pod that has no sandbox: one that never ran
// waits for its volumes and its network, one that ran starts anew in a new sandbox. It reports
// whether the pod is such a one.
func (r *reading) nextWithoutSandbox() (out []Next, yes bool) {
	gone := r.sandboxGone()
	switch {
	case r.sandboxUsed() && gone:
		return r.nextInNewSandbox(), true
	case r.unmounted != "":
		return r.all(Next{Action: ActionWait, Rule: Rule{"next/volumes", r.unmounted}}), true
	case gone:
		return r.all(Next{Action: ActionWait, Rule: Rule{
			"next/sandbox", "The kubelet has the pod and has made no sandbox for it yet: it mounts the volumes and sets up the network first, for as long as that takes or fails.",
		}}), true
	}
	return nil, false
}

// nextInNewSandbox: everything begins with the first init container; of a pod without any, what is
// to run again (pkg/kubelet/kuberuntime/kuberuntime_manager.go computePodActions).
func (r *reading) nextInNewSandbox() (out []Next) {
	if !r.makesSandbox() {
		return r.all(Next{Action: ActionLeave, Rule: Rule{"next/no-new-sandbox", "Its sandbox is gone, and nothing in the pod is to run again, so no new one is made."}})
	}
	fresh := *r
	fresh.open = nil
	for i := range r.inits {
		fresh.open = append(fresh.open, i)
		if i == 0 {
			out = append(out, r.anew(&r.inits[i]))
			continue
		}
		out = append(out, fresh.waitFor(plan{}, "next/init-turn", i))
	}
	for i := range r.mains {
		s := &r.mains[i]
		leaves := r.runsOnce(s)
		if len(r.inits) > 0 && s.is == exited && !s.removed {
			again, _ := mayRestart(&r.pod.Spec, s.c, s.end.ExitCode)
			leaves = !again
		}
		switch {
		case leaves:
			out = append(out, Next{Action: ActionLeave, Rule: Rule{"next/not-restarted", "It has stopped for good, and is not started in the new sandbox either."}})
		case len(r.inits) > 0:
			out = append(out, fresh.waitFor(plan{}, "next/main-turn", len(r.inits)))
		default:
			out = append(out, r.anew(s))
		}
	}
	for i := range r.extra {
		if r.extra[i].ran() {
			out = append(out, r.nextEphemeral(&r.extra[i], false))
			continue
		}
		out = append(out, Next{Action: ActionWait, Rule: Rule{"next/new-sandbox", "It waits until the pod has a new sandbox."}})
	}
	return out
}

// anew starts a container in a new sandbox, in words of its own where that is at once.
func (r *reading) anew(s *seen) Next {
	n := r.run(s)
	if n.Action == ActionStart || n.Action == ActionRestart {
		n.Rule = Rule{"next/new-sandbox", "The pod's sandbox is gone, as after a restart of its node: the kubelet makes a new one and begins with this container."}
		if len(r.inits) > 0 {
			n.Rule.Text = "The pod's sandbox is gone, as after a restart of its node: the kubelet makes a new one and runs all init containers again, from this one on."
		}
	}
	return n
}

// makesSandbox reports whether the kubelet makes a new sandbox for a pod that has run.
func (r *reading) makesSandbox() bool {
	if r.pod.Spec.RestartPolicy == corev1.RestartPolicyNever {
		return false
	}
	for i := range r.mains {
		if !r.runsOnce(&r.mains[i]) {
			return true
		}
	}
	return !r.mainRan()
}

// runsOnce reports whether a main container ended with 0 and is restarted on failure only.
func (r *reading) runsOnce(s *seen) bool {
	policy := r.pod.Spec.RestartPolicy
	if s.c.RestartPolicy != nil {
		policy = corev1.RestartPolicy(*s.c.RestartPolicy)
	}
	return s.is == exited && !s.removed && policy == corev1.RestartPolicyOnFailure && s.end.ExitCode == 0
}
