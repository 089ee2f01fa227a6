package decision

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/revision"
)

// PodRef names a pod.
type PodRef struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
} // @name PodRef

func (p PodRef) String() string { return "pod " + p.Namespace + "/" + p.Name }

// CheckBind reports whether a view lets a pod be bound to a node: why not, or that it is bound so
// already. An empty UID is not compared, as an apiserver takes a Binding without one
// (registry/core/pod/storage/storage.go setPodNodeAndMetadata).
func CheckBind(v *revision.View, pod PodRef, node string) (refusal string, already bool) {
	p := v.State.Pod(pod.Namespace, pod.Name)
	switch {
	case p == nil:
		return fmt.Sprintf("%s is not in %s", pod, v.ID()), false
	case pod.UID != "" && p.UID != pod.UID:
		return fmt.Sprintf("%s has UID %s in %s, not %s: it is another pod of that name", pod, p.UID, v.ID(), pod.UID), false
	case p.NodeName == node && node != "":
		return "", true
	case p.NodeName != "":
		return fmt.Sprintf("%s is bound to node %s already and cannot be bound to %s", pod, p.NodeName, node), false
	case p.Terminating:
		return fmt.Sprintf("%s is being deleted", pod), false
	case p.Terminal:
		return fmt.Sprintf("%s has ended", pod), false
	case len(p.Gates) > 0:
		return fmt.Sprintf("%s has scheduling gates: %v", pod, p.Gates), false
	case v.State.Nodes().Row(node) < 0:
		return fmt.Sprintf("node %q is not in %s", node, v.ID()), false
	}
	return "", false
}

// LedgerBind returns a bind in a ledger as a decision: no plugin is called, CheckBind alone
// decides.
func LedgerBind(v *revision.View, pod PodRef, node string) engine.Decision {
	refusal, already := CheckBind(v, pod, node)
	d := engine.Decision{Outcome: engine.Scheduled, Node: node}
	if refusal != "" || already {
		d = engine.Decision{Outcome: engine.UnschedulableOK, Message: refusal}
		if already {
			d.Message = fmt.Sprintf("%s is on node %s already", pod, node)
		}
	}
	if p := v.State.Pod(pod.Namespace, pod.Name); p != nil {
		d.Priority = p.Priority
	}
	d.Digest = DigestOf(fmt.Appendf(nil, "berth-bind-1 %q %q %q %q %q %q", pod.Namespace, pod.Name, pod.UID, node, d.Outcome, d.Message))
	return d
}

// bindable refuses a pod that no apiserver would bind, as CheckBind does, and one whose amounts
// overflow where the ledger is all the books there are.
func bindable(p *corev1.Pod) error {
	switch {
	case p.DeletionTimestamp != nil:
		return Errorf(Conflict, "pod", "pod %s/%s is being deleted and cannot be bound", p.Namespace, p.Name)
	case p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed:
		return Errorf(Conflict, "pod", "pod %s/%s has ended and cannot be bound", p.Namespace, p.Name)
	}
	if errs := state.AmountErrors(p); len(errs) > 0 {
		return Errorf(Invalid, "pod."+errs[0].Field, "%s", errs[0].ErrorBody())
	}
	return nil
}

// checkBind works out the effects of the outcome's bind. A profile without the rule about
// scheduling gates would bind a gated pod.
func (o *Outcome) checkBind() error {
	if o.Result.Outcome == engine.Scheduled && len(o.Pod.Spec.SchedulingGates) > 0 {
		return Errorf(Conflict, "pod", "pod %s/%s has scheduling gates and cannot be bound", o.Pod.Namespace, o.Pod.Name)
	}
	a, err := o.Result.Effects()
	if err != nil {
		return Errorf(Conflict, "bind", "%v", err)
	}
	o.Bound, err = MakeEffects(o.View.State.ResourceClaim, o.View.Object, a)
	return err
}
