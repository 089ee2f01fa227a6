package decision

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/preempt"
	"berth/internal/kube/object"
	"berth/internal/podlife/admission"
)

// ToWrite returns the pod that an attempt which binds writes to: the stored one, of which nothing
// else changes, or the request's, which the ledger creates. Bound pods do not wait, and have no
// place in the queue.
func (p *Prepared) ToWrite(binds bool) *corev1.Pod {
	switch {
	case p.Stored != nil:
		return p.Stored
	case binds:
		pod := *p.Pod
		if pod.CreationTimestamp.IsZero() {
			pod.CreationTimestamp = metav1.NewTime(p.Now.Truncate(time.Second))
		}
		return &pod
	}
	return object.CreatedPod(p.Pod, p.Now, p.View.Revision+1, p.Place)
}

// StatusChanges returns what an attempt that binds nothing changes in the ledger, as kube-scheduler
// writes it to the pod's status: why the pod waits, and the node that it is nominated to or no
// longer. The victims of a preemption stay: their owner evicts them. A pod that the ledger
// does not have yet is stored, since kube-scheduler tries stored pods only. An attempt with the
// same outcome as the one before changes nothing (pkg/scheduler/schedule_one.go
// handleSchedulingFailure, updatePod).
func (o *Outcome) StatusChanges() ([]object.Object, error) {
	var out []object.Object
	put := func(p *corev1.Pod) error {
		made, err := object.Of(p)
		if err != nil {
			return fmt.Errorf("write the status of pod %s/%s: %w", p.Namespace, p.Name, err)
		}
		if was, ok := o.View.Object(made.Key); !ok || !bytes.Equal(was, made.JSON) {
			out = append(out, made)
		}
		return nil
	}
	p := *WithKind(o.ToWrite(false))
	r := o.Result
	switch {
	case r.Outcome == engine.Gated && o.Stored != nil: // gated pods are not tried
		return nil, nil
	case r.Outcome == engine.Gated:
		p.Status.Conditions = admission.CreatedConditions(&p, o.Now)
		err := put(&p)
		return out, err
	case r.Outcome == engine.Preempting:
		p.Status.NominatedNodeName = r.NominatedNode()
	case preempt.ClearsNomination(r):
		p.Status.NominatedNodeName = ""
	}
	p.Status.Conditions = unscheduled(p.Status.Conditions, explain.Message(r), o.Now)
	if err := put(&p); err != nil {
		return nil, err
	}
	// Pods of lower priority no longer wait for the node
	// (pkg/scheduler/framework/preemption prepareCandidate).
	for _, lower := range preempt.ClearedNominations(r) {
		pod, err := o.View.Pod(lower.Namespace, lower.Name)
		if err != nil {
			return nil, err
		}
		pod.Status.NominatedNodeName = ""
		if err := put(WithKind(pod)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Evicts returns the pods that are to go for the pod: the victims on the node that it is nominated
// to.
func (o *Outcome) Evicts() []engine.Victim { return slices.Clone(preempt.Victims(o.Result)) }

// unscheduled returns a pod's conditions after a failed attempt: PodScheduled is
// False with the attempt's message, since now unless it was False before
// (pkg/api/v1/pod UpdatePodCondition).
func unscheduled(conditions []corev1.PodCondition, message string, now time.Time) []corev1.PodCondition {
	want := corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: message,
		LastTransitionTime: metav1.NewTime(now.UTC().Truncate(time.Second)), // as far as JSON keeps it
	}
	out := slices.Clone(conditions)
	for i := range out {
		if out[i].Type != corev1.PodScheduled {
			continue
		}
		if out[i].Status == corev1.ConditionFalse {
			want.LastTransitionTime = out[i].LastTransitionTime
		}
		out[i] = want
		return out
	}
	return append(out, want)
}
