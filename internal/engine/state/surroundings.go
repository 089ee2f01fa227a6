package state

// Surroundings are what answers about a pod depend on beside the pod itself and the pods on each
// row. Two that are equal are the same.
type Surroundings struct {
	tables     *Tables
	nodes      *NodeSet
	objects    *namespaced
	namespaces uint64 // the edit that gave the namespaces their labels
	terms      int    // interned, as are the names of resources
	scalars    int
}

// Surroundings returns those of pods of a namespace.
func (s *State) Surroundings(namespace string) Surroundings {
	s.t.mu.RLock()
	defer s.t.mu.RUnlock()
	return Surroundings{s.t, s.nodes, s.objects[namespace], s.nsEdit, len(s.t.terms), len(s.t.scalarIDs)}
}
