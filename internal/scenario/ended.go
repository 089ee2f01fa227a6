package scenario

import "berth/internal/engine/state"

// endedOn counts the pods of a node that have succeeded or failed. They hold nothing, so that
// states have them on no node.
func (d *disruption) endedOn(node string) (int, error) {
	if d.ended == nil && d.Base().Summary.Hygiene.TerminalPods > 0 {
		d.ended = map[string]int{}
		pods := 0
		d.Base().State.EachPod(func(p *state.Pod) {
			if pods++; p.Terminal && p.NodeName != "" {
				d.ended[p.NodeName]++
			}
		})
		if err := d.steps.Take(pods); err != nil {
			return 0, err
		}
	}
	return d.ended[node], nil
}
