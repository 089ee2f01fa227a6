package report

import (
	"cmp"
	"slices"

	"berth/internal/engine/state"
	"berth/internal/memory"
)

// UnstartedPod is a pod that has a node and cannot start there.
type UnstartedPod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Node      string `json:"node"`
	// Claim is the one that nothing will bind, Why says so.
	Claim string `json:"claim"`
	Why   string `json:"why"`
} // @name UnstartedPod

// unstarted lists the pods with a node that wait for a claim which nothing will bind: to the
// scheduler they are done, and their kubelet never starts them.
func (j *judge) unstarted(out *Pending, sees func(namespace string) bool) error {
	storage := StorageOf(j.view)
	if storage.Claim == nil {
		return nil
	}
	var waiting []*state.Pod
	j.view.State.EachPod(func(p *state.Pod) {
		if p.NodeName == "" || p.Terminal || p.Terminating || j.ask.Namespace != "" && p.Namespace != j.ask.Namespace || sees != nil && !sees(p.Namespace) {
			return
		}
		for claim := range p.Claims() {
			if !storage.Ready(p.Namespace, claim) {
				waiting = append(waiting, p)
				return
			}
		}
	})
	slices.SortFunc(waiting, func(a, b *state.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, p := range waiting {
		if err := j.ctx.Err(); err != nil {
			return err
		}
		whole, err := j.view.Pod(p.Namespace, p.Name)
		if err != nil {
			return err
		}
		claim, why, forever := storage.Unmounted(whole)
		if !forever {
			continue
		}
		if out.Counts.Unstarted++; j.ask.Limit > 0 && len(out.Unstarted) >= j.ask.Limit {
			continue
		}
		if err := memory.Take(j.ctx, pendingBytes); err != nil {
			return err
		}
		out.Unstarted = append(out.Unstarted, UnstartedPod{p.Namespace, p.Name, p.NodeName, claim, why})
	}
	return nil
}
