package state

// WithPods returns the state with pods on a row besides, and those pods as it has them. It shares
// all but the row with the state, which stays as it is.
func (s *State) WithPods(pods []*Pod, row int32) (over *State, added []*Pod) {
	e := s.Overlay()
	added = make([]*Pod, 0, len(pods))
	for _, p := range pods {
		e.removePod(p.Namespace, p.Name)
		there := *p
		there.NodeName = s.nodes.rows[row].Name
		if there.Class.Shape.Terminating {
			// Pods that are added count for topology spread even if they are on
			// their way out.
			c := *there.Class
			c.Shape = s.t.Shape(p.Namespace, c.Shape.Labels, false)
			there.Class = &c
		}
		e.addPod(&there)
		added = append(added, &there)
	}
	return e.Done(), added
}
