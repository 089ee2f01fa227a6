package state

// WithPods returns the state with more pods on a row, and those pods as it holds them. It shares
// all but the row with the state, which stays as it is.
func (s *State) WithPods(pods []*Pod, row int32) (over *State, added []*Pod) {
	e := s.Overlay()
	added = make([]*Pod, 0, len(pods))
	for _, p := range pods {
		e.removePod(p.Namespace, p.Name)
		there := *p
		there.NodeName = s.nodes.rows[row].Name
		if there.Class.Shape.Terminating {
			// Added pods count for topology spread even if they are terminating.
			c := *there.Class
			c.Shape = s.t.Shape(p.Namespace, c.Shape.Labels, false)
			there.Class = &c
		}
		e.addPod(&there)
		added = append(added, &there)
	}
	return e.Done(), added
}
