package podlife

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/kube/object/stored"
	"berth/internal/semantics"
)

// Lifecycle returns where a pod stands at a time and what comes next: phase and
// conditions as they would be written next, the containers' states as they are
// with what happens to each, and kubectl's columns for the pod as posted. The
// argument is not written. The kubelet is of the default release.
func Lifecycle(pod *corev1.Pod, node NodeState, now time.Time) Life {
	return readPod(pod, node, now, semantics.Default().Life).life()
}

// life is the answer about a pod that was read.
func (r *reading) life() Life {
	pod, node := r.pod, r.node
	columns := r.columns()
	l := Life{
		Status: columns.Status, StatusRule: columns.Rule, Ready: columns.Ready, Restarts: columns.Restarts,
		Conditions: []LifeCondition{}, Containers: []LifeContainer{},
	}
	bound := pod.Spec.NodeName != ""
	switch {
	case !bound:
		l.Phase, l.PhaseRule, l.Conditions = r.unbound()
	case node == NodeGone:
		l.Phase, l.PhaseRule, l.Conditions = r.gone()
	case node == NodeLost:
		l.Phase, l.PhaseRule, l.Conditions = r.lost()
	default:
		l.Phase, l.PhaseRule = r.phase()
		l.Conditions = r.conditions(l.Phase)
		l.DeadlineAt = r.deadlineAhead(l.Phase)
	}
	if l.PhaseRule.ID == ruleDeadline {
		l.Reason, l.Message = deadlineExceeded, pastDeadline
		// they belong to the phase, which only a kubelet changes
	} else if l.Phase == pod.Status.Phase || !bound || node != NodeHealthy {
		l.Reason, l.Message = pod.Status.Reason, pod.Status.Message
	}
	var next []Next
	if bound {
		next = r.next(l.Phase)
	}
	for _, list := range [][]seen{r.inits, r.mains, r.extra} {
		for i := range list {
			c := r.container(&list[i], bound)
			c.Probes = r.probes(&list[i], l.Phase)
			c.StartedAt, c.FinishedAt = list[i].times(bound)
			if bound {
				c.Next, c.IfItEnds = next[len(l.Containers)], r.crash(&list[i])
			} else {
				c.Next = r.nextUnbound()
			}
			l.Containers = append(l.Containers, c)
		}
	}
	l.StatusAfter = l.statusAfter()
	return l
}

// columns are kubectl's. A pod with gates that has no condition PodScheduled yet is shown as it is
// once it is stored: the API server adds the condition as it stores the pod (strategy.go
// applySchedulingGatedCondition).
func (r *reading) columns() Columns {
	if len(r.pod.Spec.SchedulingGates) == 0 || r.pod.Spec.NodeName != "" || r.posted(corev1.PodScheduled) != nil {
		return kubectlColumns(r.pod, r.now)
	}
	pod := *r.pod
	pod.Status.Conditions = append(slices.Clip(pod.Status.Conditions), stored.GatedCondition(metav1.NewTime(r.now)))
	c := kubectlColumns(&pod, r.now)
	if c.Status == corev1.PodReasonSchedulingGated {
		c.Rule = Rule{"status/gated-when-stored", "The pod has scheduling gates; it gets the condition PodScheduled with the reason SchedulingGated as it is stored."}
	}
	return c
}

// unbound is a pod without a node: no kubelet writes anything about it.
func (r *reading) unbound() (corev1.PodPhase, Rule, []LifeCondition) {
	list := r.asPosted()
	if len(r.pod.Spec.SchedulingGates) > 0 {
		c := stored.GatedCondition(metav1.NewTime(r.now.UTC().Truncate(time.Second)))
		rule := Rule{"condition/gated", "The pod has scheduling gates, so it is not scheduled until they are removed."}
		list = r.replaced(list, c, rule)
	}
	if p := r.pod.Status.Phase; p != "" {
		return p, Rule{"phase/no-node", "The pod has no node, so no kubelet changes its phase."}, list
	}
	return corev1.PodPending, Rule{"phase/new", "The pod is new: it has no node and no phase yet."}, list
}

// lost is a pod of a node that is not Ready: its phase stays, and a Ready
// condition that it has turns False, with its old reason and message
// (pkg/controller/util/node MarkPodsNotReady).
func (r *reading) lost() (corev1.PodPhase, Rule, []LifeCondition) {
	list := r.asPosted()
	if old := r.posted(corev1.PodReady); old != nil {
		c := *old
		c.Status = corev1.ConditionFalse
		list = r.replaced(list, c, Rule{"condition/node-lost", "The node is not Ready, so its pods are not; reason and message stay."})
	}
	phase := r.pod.Status.Phase
	if phase == "" {
		phase = corev1.PodPending
	}
	return phase, Rule{"phase/node-lost", "The node is not Ready and no kubelet updates its pods, so the phase stays."}, list
}

// gone is a pod whose node does not exist any more, as PodGC would patch it
// before it deletes it (pkg/controller/podgc/gc_controller.go gcOrphaned).
func (r *reading) gone() (corev1.PodPhase, Rule, []LifeCondition) {
	list := r.asPosted()
	if p := r.pod.Status.Phase; terminal(p) {
		return p, Rule{"phase/terminal-stays", "The pod has ended; PodGC deletes it as it is."}, list
	}
	list = r.replaced(list, corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByPodGC", Message: "PodGC: node no longer exists",
		ObservedGeneration: r.pod.Generation,
	}, Rule{"condition/node-gone", "The pod's node does not exist any more, so PodGC deletes the pod."})
	return corev1.PodFailed, Rule{"phase/node-gone", "The pod's node does not exist any more, so PodGC marks the pod Failed and deletes it."}, list
}

// asPosted returns the pod's own conditions.
func (r *reading) asPosted() []LifeCondition {
	list := make([]LifeCondition, 0, len(r.pod.Status.Conditions)+1)
	for _, c := range r.pod.Status.Conditions {
		k := r.kept(c)
		k.Rule = Rule{"condition/as-posted", "No component writes it now, so it stays as it is."}
		list = append(list, k)
	}
	return list
}

// replaced puts a condition in the place of the first of its type, or behind
// all. It changes at now unless it had the status before.
func (r *reading) replaced(list []LifeCondition, c corev1.PodCondition, rule Rule) []LifeCondition {
	made := r.kept(c)
	made.Rule = rule
	made.LastTransitionTime = inYears(r.now.Truncate(time.Second))
	for i := range list {
		if list[i].Type == c.Type {
			if list[i].Status == c.Status {
				made.LastTransitionTime = list[i].LastTransitionTime
			}
			list[i] = made
			return list
		}
	}
	return append(list, made)
}

// nextUnbound: nothing starts without a node.
func (r *reading) nextUnbound() Next {
	switch {
	case r.deleted() || terminal(r.pod.Status.Phase):
		return Next{Action: ActionWait, Rule: Rule{"next/no-node-ever", "The pod has no node, and is given none any more: it is being deleted or has ended."}}
	case len(r.pod.Spec.SchedulingGates) > 0:
		return Next{Action: ActionWait, Rule: Rule{"next/gated", "The pod has scheduling gates; it is not scheduled before they are removed."}}
	}
	return Next{Action: ActionWait, Rule: Rule{"next/no-node", "The pod waits for a node."}}
}

// times are when the present or last run began and, unless it goes on, ended.
func (s *seen) times(bound bool) (began, ended *time.Time) {
	if !bound {
		return nil, nil
	}
	if s.is == exited {
		ended = shownTime(s.end.FinishedAt)
	}
	return shownTime(metav1.NewTime(s.began())), ended
}

// container shows one container's state.
func (r *reading) container(s *seen, bound bool) LifeContainer {
	c := LifeContainer{Name: s.c.Name, Kind: s.kind, State: "waiting", Ready: s.ready(), Started: s.started()}
	if s.status == nil {
		switch {
		case !bound:
			c.Rule = Rule{"state/no-node", "It has no status, and the pod no node."}
		case len(r.inits) > 0:
			c.Reason, c.Rule = "PodInitializing", Rule{"state/initializing", "It has no status; in a pod with init containers that is PodInitializing."}
		default:
			c.Reason, c.Rule = "ContainerCreating", Rule{"state/creating", "It has no status; in a pod without init containers that is ContainerCreating."}
		}
		return c
	}
	c.RestartCount = s.status.RestartCount
	c.Rule = Rule{"state/as-posted", "Its status says so."}
	switch st := s.status.State; {
	case !bound && (st.Running != nil || st.Terminated != nil):
		c.Rule = Rule{"state/never-bound", "Without a node it cannot have run, whatever its status says."}
	case st.Running != nil:
		c.State = "running"
	case st.Terminated != nil:
		c.State, c.Reason, c.ExitCode = "terminated", st.Terminated.Reason, &st.Terminated.ExitCode
	case st.Waiting != nil:
		c.Reason = st.Waiting.Reason
	default:
		c.Rule = Rule{"state/none", "Its status names no state, which stands for waiting."}
	}
	if bound {
		c.LastRun, c.Message = s.lastRun(), messageOf(&s.status.State)
	}
	return c
}
