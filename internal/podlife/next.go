package podlife

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// imageErrors are the reasons of containers that wait for their image. The
// kubelet keeps the back-off of pulls to itself (pkg/kubelet/images/types.go;
// k8s.io/cri-api/pkg/errors).
var imageErrors = []string{
	"ErrImagePull", "ImagePullBackOff", "ImageInspectError", "ErrImageNeverPull", "InvalidImageName", "RegistryUnavailable", "SignatureValidationFailed",
}

// next returns what happens to each container: init, main, ephemeral ones, in
// order. Phase is the computed one.
func (r *reading) next(phase corev1.PodPhase) []Next {
	leave := func(id, text string) []Next { return r.all(Next{Action: ActionLeave, Rule: Rule{id, text}}) }
	switch {
	case r.node == NodeGone:
		return leave("next/node-gone", "The pod's node does not exist any more; PodGC deletes the pod.")
	case terminal(phase):
		return leave("next/pod-ended", fmt.Sprintf("The pod has ended as %s; nothing in it runs again.", phase))
	case r.deleted():
		return leave("next/pod-deleted", "The pod is being deleted; nothing in it is started any more.")
	}
	if by, yes := r.resetting(); yes && r.node != NodeLost {
		return r.nextAfterReset(by)
	}
	out, yes := r.nextWithoutSandbox()
	if !yes {
		out = r.nextPlanned()
	}
	if r.node == NodeLost { // no kubelet starts anything there
		for i := range out {
			if out[i].Action != ActionLeave {
				out[i] = Next{Action: ActionWait, For: out[i].For, Rule: Rule{"next/node-lost", "The node is not Ready; nothing is known to happen until its kubelet is back."}}
			}
		}
	}
	return out
}

// all is the same for each container.
func (r *reading) all(n Next) []Next {
	return slices.Repeat([]Next{n}, len(r.inits)+len(r.mains)+len(r.extra))
}

// nextPlanned is what the plan means for each container of a pod with a sandbox, or of one that is
// new.
func (r *reading) nextPlanned() (out []Next) {
	p := r.plan()
	if p.failed != "" {
		return r.all(Next{Action: ActionLeave, Rule: Rule{"next/init-failed", "Init container " + p.failed + " failed and may not run again, so the pod is stopped."}})
	}
	for i := range r.inits {
		out = append(out, r.nextInit(p, i))
	}
	for i := range r.mains {
		out = append(out, r.nextMain(p, &r.mains[i]))
	}
	for i := range r.extra {
		out = append(out, r.nextEphemeral(&r.extra[i], p.mainsDone))
	}
	return out
}

// nextAfterReset: all containers are killed and removed, then the pod starts
// anew, without a back-off since no run is left to count from.
func (r *reading) nextAfterReset(by string) (out []Next) {
	why := "All containers are restarted"
	if by != "" {
		why = "A restart rule of container " + by + " restarts all containers"
	}
	for _, list := range [][]seen{r.inits, r.mains} {
		for i := range list {
			s := &list[i]
			n := Next{Action: ActionRestart, Rule: Rule{"next/restart-of-all", why + ": they are killed and removed, and then started in order."}}
			switch {
			case s.kind == KindContainer && len(r.inits) > 0:
				n.Action, n.For = ActionWait, []string{r.inits[len(r.inits)-1].c.Name}
			case s.kind != KindContainer && i > 0:
				n.Action, n.For = ActionWait, []string{r.inits[i-1].c.Name}
			case !s.ran():
				n.Action = ActionStart
			}
			out = append(out, n)
		}
	}
	for i := range r.extra {
		out = append(out, r.nextEphemeral(&r.extra[i], false))
	}
	return out
}

// nextInit is what the plan means for one init container.
func (r *reading) nextInit(p plan, i int) Next {
	s := &r.inits[i]
	switch {
	case p.start[i]:
		return r.run(s)
	case s.is == running && p.mainsDone:
		return Next{Action: ActionLeave, Rule: Rule{"next/mains-done", "Every main container is done, so the sidecars are stopped with the pod."}}
	case s.is == running:
		return Next{Action: ActionLeave, Rule: Rule{"next/running", "It runs."}}
	case s.kind == KindInit && s.through():
		return Next{Action: ActionLeave, Rule: Rule{"next/init-done", "It has done its work."}}
	case p.mainsDone:
		return Next{Action: ActionLeave, Rule: Rule{"next/mains-done", "Every main container is done, so no init container and no sidecar is started again."}}
	case p.initialized && s.kind == KindInit:
		return Next{Action: ActionLeave, Rule: Rule{"next/init-over", "The pod is initialized; plain init containers do not run again."}}
	case i < p.last:
		return Next{Action: ActionLeave, Rule: Rule{"next/init-passed", fmt.Sprintf("Init container %s behind it has run already, so it is not looked at again.", r.inits[p.last].c.Name)}}
	}
	return r.waitFor(p, "next/init-turn", i)
}

// nextMain is what the plan means for one main container.
func (r *reading) nextMain(p plan, s *seen) Next {
	if s.is == running {
		return Next{Action: ActionLeave, Rule: Rule{"next/running", "It runs."}}
	}
	if s.is == exited && !s.removed {
		if yes, why := mayRestart(&r.pod.Spec, s.c, s.end.ExitCode); !yes {
			return Next{Action: ActionLeave, Rule: Rule{"next/not-restarted", "It has stopped for good: " + why + "."}}
		}
	}
	if !p.initialized {
		return r.waitFor(p, "next/main-turn", len(r.inits))
	}
	return r.run(s)
}

// nextEphemeral: they start at once, whatever else the pod does, and never
// again while the runtime remembers them.
func (r *reading) nextEphemeral(s *seen, mainsDone bool) Next {
	switch {
	case s.is == running:
		return Next{Action: ActionLeave, Rule: Rule{"next/running", "It runs."}}
	case s.ran():
		return Next{Action: ActionLeave, Rule: Rule{"next/ephemeral-once", "Ephemeral containers run once."}}
	case mainsDone:
		return Next{Action: ActionLeave, Rule: Rule{"next/mains-done", "Every main container is done, so nothing is started any more."}}
	}
	return r.run(s)
}

// named is how many containers a wait names; a pod may have thousands.
const named = 10

// waitFor waits for the init containers before place n that are not through.
// Those that have been passed do not count.
func (r *reading) waitFor(p plan, id string, n int) Next {
	from, _ := slices.BinarySearch(r.open, p.last)
	to, _ := slices.BinarySearch(r.open, n)
	open := r.open[from:to]
	var names []string
	for _, i := range open[:min(len(open), named)] {
		names = append(names, r.inits[i].c.Name)
	}
	more := ""
	if len(open) > named {
		more = fmt.Sprintf(" and %d more", len(open)-named)
	}
	return Next{Action: ActionWait, For: names, Rule: Rule{id, fmt.Sprintf("It waits until %s%s %s done or, if a sidecar, started.", strings.Join(names, ", "), more, plural(names, "is", "are"))}}
}

// run starts a container whose turn it is, now or after its back-off
// (pkg/kubelet/kuberuntime/kuberuntime_manager.go SyncPod, doBackOff).
func (r *reading) run(s *seen) Next {
	switch reason := s.waits(); {
	case slices.Contains(imageErrors, reason):
		return Next{Action: ActionBackoff, Rule: Rule{"next/image", fmt.Sprintf("It waits for its image (%s), which is tried again after a delay that the kubelet does not tell.", reason)}}
	case slices.Contains(createErrors, reason), (s.is != exited || s.removed) && slices.Contains(runErrors, reason):
		return Next{Action: ActionBackoff, Rule: Rule{"next/start-failed", fmt.Sprintf("Its start failed (%s), and fails each time until the cause is gone; the kubelet tries it again after 10 to 15 s.", reason)}}
	}
	if s.removed {
		return Next{Action: ActionRestart, Rule: Rule{"next/restart-removed", "It was removed because all containers are restarted, and it is its turn."}}
	}
	if s.is != exited {
		return Next{Action: ActionStart, Rule: Rule{"next/start", "It has never run, and it is its turn."}}
	}
	memory, end := r.memory(s), s.end.FinishedAt.UTC()
	delay, steady := memory.after(end), memory.delay > 0 && memory.steady(end)
	at := end.Add(delay)
	switch left := at.Sub(r.now); {
	case steady:
		return Next{Action: ActionRestart, Rule: Rule{"next/restart-steady", "It ran for more than 10 minutes, so its restarts start anew with one at once."}}
	case delay == 0:
		return Next{Action: ActionRestart, Rule: Rule{"next/restart-first", "Its first restart is at once."}}
	case left > 0:
		return Next{
			Action: ActionBackoff, At: inYears(at), BackoffSeconds: int64(delay / time.Second), RemainingSeconds: int64((left-1)/time.Second) + 1,
			Rule: Rule{"next/backoff", fmt.Sprintf("After %d restarts the delay is %d s from the end of its last run.%s", s.status.RestartCount, int64(delay/time.Second), memory.sooner(at))},
		}
	default:
		return Next{Action: ActionRestart, Rule: Rule{"next/restart", fmt.Sprintf("Its back-off of %d s is over.", int64(delay/time.Second))}}
	}
}

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
// to run again. What succeeded and is run again by a rule alone is not begun with, and follows in
// the sandbox (pkg/kubelet/kuberuntime/kuberuntime_manager.go computePodActions).
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
		again, why := true, ""
		if s.is == exited && !s.removed {
			again, why = mayRestart(&r.pod.Spec, s.c, s.end.ExitCode)
		}
		once := r.runsOnce(s)
		switch {
		case !again && (once || len(r.inits) > 0):
			out = append(out, Next{Action: ActionLeave, Rule: Rule{"next/not-restarted", "It has stopped for good, and is not started in the new sandbox either."}})
		case len(r.inits) > 0:
			out = append(out, fresh.waitFor(plan{}, "next/main-turn", len(r.inits)))
		case once:
			out = append(out, Next{Action: ActionWait, Rule: Rule{"next/new-sandbox", "The kubelet begins the new sandbox with others, and starts this one after them: " + why + "."}})
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
