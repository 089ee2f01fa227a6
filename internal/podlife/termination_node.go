package podlife

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// gcPeriod is how often PodGC looks, in seconds (pkg/controller/podgc
// gc_controller.go gcCheckPeriod).
const gcPeriod = 20

// nodeState is what the question says of the pod's node.
func (e *Ending) nodeState() NodeState {
	switch {
	case e.NodeGiven && e.Node == nil:
		return NodeGone
	case e.NodeLostSince != nil:
		return NodeLost
	case !e.NodeGiven:
		return NodeHealthy
	}
	return NodeStateOf(e.Node)
}

func (e *Ending) checkNode() (errs field.ErrorList) {
	if e.Node != nil && e.Node.Name != "" && e.Pod.Spec.NodeName != "" && e.Node.Name != e.Pod.Spec.NodeName {
		errs = append(errs, field.Invalid(field.NewPath("node", "metadata", "name"), e.Node.Name, "the pod is on node "+e.Pod.Spec.NodeName))
	}
	if e.Cause == CauseTaint && !e.NodeGiven && e.NodeLostSince == nil {
		errs = append(errs, field.Required(field.NewPath("node"), "the taints of the pod's node decide; give the Node, null if it does not exist any more, or nodeLostSince"))
	}
	if e.nodeState() == NodeGone && !e.Cause.throughAPI() && len(errs) == 0 {
		errs = append(errs, field.Invalid(field.NewPath("cause"), e.Cause, "the node does not exist any more, so it has no kubelet that could do it"))
	}
	return errs
}

// tainted is the deletion of a pod for its node's sake, at the time that the node's
// taints, or its loss, and the pod's tolerations say.
func (w *ending) tainted() {
	node := w.Node
	if node == nil && !w.NodeGiven {
		node = &corev1.Node{} // lost, and nothing else is known of it
	}
	d := DeletionByNode(w.asPosted(), node, w.NodeLostSince, w.Now)
	w.out.NodeDeletion = &d
	switch {
	case w.Pod.DeletionTimestamp != nil:
		w.deleted()
	case d.At == nil:
		w.out.Phase = phaseNow(w.Pod)
		w.out.GracePeriodSeconds = specPeriod(w.asPosted(), true, w.step)
		w.out.Endpoints = Endpoints{Ready: w.ready(), Serving: w.ready(), Detail: "nothing deletes the pod"}
		if d.Rule.ID == ruleSinceUnknown {
			w.out.Endpoints.Detail = "when the pod is deleted is not known"
			w.out.Notes = append(w.out.Notes, d.Rule.Text)
		}
	default:
		if after := int64(d.At.Sub(w.Now) / time.Second); after > 0 {
			w.shift, w.Now = after, addSeconds(w.Now, after)
		}
		if d.By == byPodGC {
			w.out.GracePeriodSeconds = 0
			w.step("pod-garbage-collector", "PodGC deletes with period 0", 0)
			w.collected(int64(d.Latest.Sub(*d.At)/time.Second), "")
			return
		}
		w.deleted()
	}
}

// disrupted is the condition that is written before a delete.
func (w *ending) disrupted(at int64, cause Cause, again bool) {
	const condition = "condition DisruptionTarget"
	switch {
	case cause == CausePreempt && !again:
		w.event(at, actorScheduler, condition, "", "True, PreemptionByScheduler, before the delete")
	case cause == CauseAPIEviction:
		w.event(at, actorAPI, condition, "", "True, EvictionByEvictionAPI, before the delete")
	case cause == CauseTaint:
		w.event(at, byTaintEviction, condition, "", "True, DeletionByTaintManager, before the delete; the Event has the reason TaintManagerEviction")
	}
}

// stranded is a delete of a pod whose node does not answer: no kubelet stops it or removes the
// object.
func (w *ending) stranded() {
	w.out.Endpoints.Serving = false
	w.out.Endpoints.Detail = "the pods of a lost node are marked not ready"
	switch {
	case w.nodeState() == NodeGone:
		after := int64(orphanLatest)
		if w.NodeLostSince != nil {
			after = max(0, int64(addSeconds(*w.NodeLostSince, orphanLatest).Sub(w.Now)/time.Second))
		}
		w.collected(after, "node no longer exists")
	case w.Node != nil && OutOfService(w.Node):
		w.collected(gcPeriod, "")
	default:
		w.out.Phase = phaseNow(w.Pod)
		w.out.StaysTerminating = true
		w.running()
		w.event(0, actorAPI, "stays Terminating", "", "the node does not answer, and only its kubelet removes the object")
		w.out.Notes = append(w.out.Notes, "it stays Terminating until its node is Ready again (its kubelet then stops the containers in their grace period), "+
			"has the taint node.kubernetes.io/out-of-service (PodGC then removes the object within 20 seconds), or its Node object is deleted (PodGC then removes the object 40 to 60 seconds later)")
		if w.Node != nil && readyCondition(w.Node) == nil && w.NodeLostSince == nil {
			w.out.Notes = append(w.out.Notes, "the node has no condition Ready: it counts as not Ready")
		}
	}
}

// collected is the end by PodGC, at the latest so many seconds from now: it writes
// phase Failed and deletes with period 0 (pkg/controller/podgc gc_controller.go
// markFailedAndDeletePodWithCondition).
func (w *ending) collected(after int64, message string) {
	w.out.Phase = phaseNow(w.Pod)
	if !terminal(w.Pod.Status.Phase) {
		detail := "before the delete"
		if w.nodeState() == NodeGone {
			detail += "; condition DisruptionTarget True, DeletionByPodGC"
		}
		w.out.Phase = string(corev1.PodFailed)
		w.closing(after, byPodGC, "phase Failed", detail)
	}
	w.running()
	w.last = after
	if len(w.Pod.Finalizers) > 0 {
		w.removal(after)
		return
	}
	w.closing(after, byPodGC, "object removed", "a delete with period 0, in its pass every 20 seconds")
	if message != "" {
		w.step("pod-garbage-collector", "of a node that is missing, pods go 40 to 60 seconds after it", after)
	}
}

// running records the running containers as left running: no kubelet stops them.
func (w *ending) running() {
	eachContainer(w.Pod, func(c *corev1.Container, kind string) {
		if state, runs := w.state(c, kind); runs {
			w.out.LeftRunning = append(w.out.LeftRunning, c.Name)
		} else {
			w.out.NotRunning = append(w.out.NotRunning, Idle{c.Name, kind, state})
		}
	})
}

// mirrored is a graceful delete of a mirror pod: its kubelet removes the object and
// writes it again, and the static pod behind it runs on (pkg/kubelet/kubelet.go
// tryReconcileMirrorPods).
func (w *ending) mirrored() {
	w.closing(w.last, actorKubelet, "object removed", "at once, with period 0: the static pod is not stopped")
	w.rewritten()
}

// rewritten is the new object of a static pod.
func (w *ending) rewritten() {
	w.out.Phase = phaseNow(w.Pod)
	w.running()
	w.closing(max(w.last, 0), actorKubelet, eventRewritten, "with the state of the static pod, which runs on")
	w.out.Notes = append(w.out.Notes, fmt.Sprintf("the static pod behind a mirror pod ends when its manifest is taken from the kubelet (%s)", w.Pod.Annotations[annotationSource]))
}
