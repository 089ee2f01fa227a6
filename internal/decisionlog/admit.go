package decisionlog

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"berth/internal/objects"
	"berth/internal/podlife"
)

// admit completes the pod of a question as an apiserver would that creates or
// updates it. A pod that comes without a UID is the one of its name that the ledger
// has. One that the ledger is to keep gets a UID of its own: another pod of that
// name may have been deleted before.
func (l *Log) admit(c *matter) {
	if c.q.Pod == nil || c.q.recorded || c.q.Verb != VerbDecide {
		return
	}
	pod := *c.q.Pod
	if k := podKey(pod.Namespace, pod.Name); pod.UID == objects.DerivedUID(k) {
		switch held := c.state.Pod(pod.Namespace, pod.Name); {
		case held != nil:
			pod.UID = types.UID(held.UID)
		case c.q.Bind:
			pod.UID = objects.GivenUID(k, c.view.Revision+1)
		}
	}
	if l.o.TolerationSeconds {
		pod.Spec.Tolerations = slices.Clip(pod.Spec.Tolerations)
		podlife.AddTolerationSeconds(&pod.Spec)
	}
	c.q.Pod = &pod
}
