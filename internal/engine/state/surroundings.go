package state

// Surroundings are what answers about a pod depend on beside the pod itself and the pods on each
// row. They are equal if and only if nothing of that changed.
type Surroundings struct {
	tables     *Tables
	nodes      *NodeSet
	objects    *namespaced
	namespaces uint64 // the edit that last changed the namespaces' labels
	terms      int    // interned, as are the names of resources
	scalars    int
}

// Surroundings returns the surroundings of pods of a namespace.
func (s *State) Surroundings(namespace string) Surroundings {
	s.t.mu.RLock()
	defer s.t.mu.RUnlock()
	return Surroundings{s.t, s.nodes, s.objects[namespace], s.nsEdit, len(s.t.terms), len(s.t.scalarIDs)}
}
