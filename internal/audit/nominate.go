package audit

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine"
	"berth/internal/objects"
	"berth/internal/planted"
)

// nominate gives what a preemption changes in the ledger: the pod waits for its
// node, and pods of lower priority no longer do. The victims stay: whoever runs
// them evicts them. Nothing changes where the pod waits for that node already
// (pkg/scheduler/framework/preemption prepareCandidate).
func (c *matter) nominate(r *engine.Result) ([]objects.Object, error) {
	var out []objects.Object
	set := func(pod *corev1.Pod, node string) error {
		p := *withKind(pod)
		p.Status.NominatedNodeName = node
		if node != "" {
			known := p.Status.Conditions
			if held, err := c.view.Pod(p.Namespace, p.Name); err == nil && held.UID == p.UID {
				known = held.Status.Conditions // whoever asks again may send the pod as it was
			}
			p.Status.Conditions = waiting(known, c.q.Now)
		}
		o, err := objects.Of(&p)
		if err != nil {
			return fmt.Errorf("nominate pod %s/%s: %w", p.Namespace, p.Name, err)
		}
		if held, ok := c.view.Object(o.Key); !ok || !bytes.Equal(held, o.JSON) {
			out = append(out, o)
		}
		return nil
	}
	if err := set(c.pod, r.NominatedNode()); err != nil {
		return nil, err
	}
	for _, p := range r.ClearedNominations() {
		if planted.On(planted.KeepNominations) {
			break
		}
		pod, err := c.view.Pod(p.Namespace, p.Name)
		if err != nil {
			return nil, err
		}
		if err := set(pod, ""); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// waiting gives a pod's conditions once it is told to wait: PodScheduled is
// False for want of a node, since now unless it was False before
// (pkg/scheduler/schedule_one.go handleSchedulingFailure, pkg/api/v1/pod
// UpdatePodCondition).
func waiting(conditions []corev1.PodCondition, now time.Time) []corev1.PodCondition {
	want := corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
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
