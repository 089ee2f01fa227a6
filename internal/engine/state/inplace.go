package state

// InPlace is a state that changes from one revision to the next without a copy. What was read of it
// is valid until the next change. It is for one goroutine.
type InPlace struct{ e *Edit }

// EditInPlace starts from a copy of the state, which stays as it is.
func (s *State) EditInPlace() *InPlace {
	e := s.Edit()
	e.inPlace, e.s.inPlace = true, true
	return &InPlace{e}
}

// Edit returns the edit to put changes into. It is valid as long as the InPlace is, and is not to
// be ended with Done.
func (p *InPlace) Edit() *Edit { return p.e }

// Next makes the edit so far a state to decide on; later edits clone whatever memos compare by
// identity. It reports whether anything changed that memos depend on, and in which rows pods
// changed, some rows more than once. The rows are valid until the next change.
func (p *InPlace) Next() (s *State, rows []int32, changed bool) {
	e := p.e
	if !e.dirty() {
		return e.s, nil, false
	}
	if e.nodes {
		e.ended = e.s.nodes.seal(e.within)
	}
	e.nodes, e.namespacesOwned, e.classesOwned, e.storageOwned, e.devicesOwned = false, false, false, false, false
	clear(e.objectsOwned)
	e.s.step++
	rows, e.rows = e.rows, e.rows[:0]
	return e.s, rows, true
}

// dirty reports whether something that memos depend on changed since Next.
func (e *Edit) dirty() bool {
	return len(e.rows) > 0 || e.nodes || e.namespacesOwned || e.classesOwned || e.storageOwned || e.devicesOwned || len(e.objectsOwned) > 0
}
