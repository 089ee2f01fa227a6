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

// next says what happens to each container: init, main, ephemeral ones, in
// order. Phase is the computed one.
func (r *reading) next(phase corev1.PodPhase) []Next {
	all := func(n Next) []Next {
		return slices.Repeat([]Next{n}, len(r.inits)+len(r.mains)+len(r.extra))
	}
	leave := func(id, text string) []Next { return all(Next{Action: ActionLeave, Rule: Rule{id, text}}) }
	switch {
	case r.node == NodeGone:
		return leave("next/node-gone", "The pod's node does not exist any more; PodGC deletes the pod.")
	case terminal(phase):
		return leave("next/pod-ended", fmt.Sprintf("The pod has ended as %s; nothing in it runs again.", phase))
	case r.deleted():
		return leave("next/pod-deleted", "The pod is being deleted; nothing in it is started any more.")
	case r.node == NodeLost:
		return r.nextWithoutKubelet()
	}
	if by, yes := r.resetting(); yes {
		return r.nextAfterReset(by)
	}
	p := r.plan()
	if p.failed != "" {
		return leave("next/init-failed", "Init container "+p.failed+" failed and may not run again, so the pod is stopped.")
	}
	out := make([]Next, 0, len(r.inits)+len(r.mains)+len(r.extra))
	for i := range r.inits {
		out = append(out, r.nextInit(p, i))
	}
	for i := range r.mains {
		out = append(out, r.nextMain(p, &r.mains[i]))
	}
	for i := range r.extra {
		out = append(out, r.nextEphemeral(&r.extra[i]))
	}
	return out
}

// nextWithoutKubelet leaves what runs and has nothing done to the rest.
func (r *reading) nextWithoutKubelet() (out []Next) {
	for _, list := range [][]seen{r.inits, r.mains, r.extra} {
		for i := range list {
			n := Next{Action: ActionWait, Rule: Rule{"next/node-lost", "The node is not Ready; nothing is known to happen until its kubelet is back."}}
			if s := &list[i]; s.is == running || s.is == exited && !r.comesBack(s) {
				n.Action = ActionLeave
			}
			out = append(out, n)
		}
	}
	return out
}

// comesBack says whether a container that stopped would be run again.
func (r *reading) comesBack(s *seen) bool {
	switch s.kind {
	case KindSidecar:
		return true
	case KindEphemeral:
		return false
	case KindInit:
		if s.end.ExitCode == 0 {
			return false
		}
	}
	yes, _ := mayRestart(&r.pod.Spec, s.c, s.end.ExitCode)
	return yes || s.removed
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
		out = append(out, r.nextEphemeral(&r.extra[i]))
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
	case s.is == exited && s.end.ExitCode == 0 && s.kind == KindInit:
		return Next{Action: ActionLeave, Rule: Rule{"next/init-done", "It has done its work."}}
	case p.mainsDone:
		return Next{Action: ActionLeave, Rule: Rule{"next/mains-done", "Every main container is done, so no init container and no sidecar is started again."}}
	case p.initialized && s.kind == KindInit:
		return Next{Action: ActionLeave, Rule: Rule{"next/init-over", "The pod is initialized; plain init containers do not run again."}}
	case i < p.last:
		return Next{Action: ActionLeave, Rule: Rule{"next/init-passed", fmt.Sprintf("Init container %s behind it has run already, so it is not looked at again.", r.inits[p.last].c.Name)}}
	}
	return r.waitFor("next/init-turn", i)
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
		return r.waitFor("next/main-turn", len(r.inits))
	}
	return r.run(s)
}

// nextEphemeral: they start at once, whatever else the pod does, and never
// again.
func (r *reading) nextEphemeral(s *seen) Next {
	switch s.is {
	case running:
		return Next{Action: ActionLeave, Rule: Rule{"next/running", "It runs."}}
	case exited:
		return Next{Action: ActionLeave, Rule: Rule{"next/ephemeral-once", "Ephemeral containers run once."}}
	}
	return r.run(s)
}

// named is how many containers a wait names; a pod may have thousands.
const named = 10

// waitFor waits for the init containers before place n that are not through.
func (r *reading) waitFor(id string, n int) Next {
	count, _ := slices.BinarySearch(r.open, n)
	var names []string
	for _, i := range r.open[:min(count, named)] {
		names = append(names, r.inits[i].c.Name)
	}
	more := ""
	if count > named {
		more = fmt.Sprintf(" and %d more", count-named)
	}
	return Next{Action: ActionWait, For: names, Rule: Rule{id, fmt.Sprintf("It waits until %s%s %s done or, if a sidecar, started.", strings.Join(names, ", "), more, plural(names, "is", "are"))}}
}

// run starts a container whose turn it is, now or after its back-off
// (pkg/kubelet/kuberuntime/kuberuntime_manager.go SyncPod, doBackOff).
func (r *reading) run(s *seen) Next {
	if st := s.status; st != nil && st.State.Waiting != nil && slices.Contains(imageErrors, st.State.Waiting.Reason) {
		return Next{Action: ActionBackoff, Rule: Rule{"next/image", fmt.Sprintf("It waits for its image (%s), which is tried again after a delay that the kubelet does not tell.", st.State.Waiting.Reason)}}
	}
	if s.removed {
		return Next{Action: ActionRestart, Rule: Rule{"next/restart-of-all", "It was removed because all containers are restarted, and it is its turn."}}
	}
	if s.is != exited {
		return Next{Action: ActionStart, Rule: Rule{"next/start", "It has never run, and it is its turn."}}
	}
	delay, steady := backoff(s.status.RestartCount, s.end)
	at := s.end.FinishedAt.UTC().Add(delay)
	switch left := at.Sub(r.now); {
	case steady:
		return Next{Action: ActionRestart, Rule: Rule{"next/restart-steady", "It ran for more than 10 minutes, so its restarts start anew with one at once."}}
	case delay == 0:
		return Next{Action: ActionRestart, Rule: Rule{"next/restart-first", "Its first restart is at once."}}
	case left > 0:
		return Next{
			Action: ActionBackoff, At: &at, BackoffSeconds: int64(delay / time.Second), RemainingSeconds: int64((left + time.Second - 1) / time.Second),
			Rule: Rule{"next/backoff", fmt.Sprintf("After %d restarts the delay is %d s from the end of its last run.", s.status.RestartCount, int64(delay/time.Second))},
		}
	default:
		return Next{Action: ActionRestart, Rule: Rule{"next/restart", fmt.Sprintf("Its back-off of %d s is over.", int64(delay/time.Second))}}
	}
}
