package state

import (
	"cmp"
	"slices"
)

// Trail records which rows changed from one state to the next, so that a cache made some steps ago
// learns which of its rows are out of date. Rows are compared by their lists of pods, which states
// share where no edit touched them. Any state may follow any other; those that are edits of one
// another cost least.
type Trail struct {
	last   *State
	step   uint64 // the step of last, which a walk may have changed since
	nodes  *NodeSet
	tables *Tables
	rows   []int32 // those that changed, oldest first; some more than once
	from   uint64  // the place of rows[0]
	moved  []moved // of these, the ones whose nodes changed
}

// moved is a row whose node changed in its taints, its cordon or what it offers.
type moved struct {
	at  uint64 // its place among the rows
	row int32
}

// End is the position after the last step.
func (t *Trail) End() uint64 { return t.from + uint64(len(t.rows)) }

// At reports whether the last step was to a state as it is.
func (t *Trail) At(s *State) bool { return t.last == s && t.step == s.step }

// Follow steps to a state. It reports whether that has the nodes and the tables of the one before,
// some of them tainted or cordoned at most; a Trail that has been nowhere follows any.
func (t *Trail) Follow(s *State) (same bool) {
	if t.At(s) {
		return true
	}
	nodes, same := t.comparable(s)
	// States that a walk changed or that were made from one cannot be compared: it keeps writing
	// what they share.
	if t.last == nil || t.step != 0 || s.step != 0 || !same {
		t.restart(s)
		return same
	}
	t.compare(&t.last.onNode, &s.onNode)
	t.move(nodes)
	t.arrive(s)
	return same
}

// Walk steps to what a walk made of a state by changing these rows.
func (t *Trail) Walk(s *State, rows []int32) {
	nodes, same := t.comparable(s)
	if t.last != s || t.step+1 != s.step || !same {
		t.restart(s)
		return
	}
	t.rows = append(t.rows, rows...)
	t.move(nodes)
	t.arrive(s)
}

// comparable reports whether the rows of a state are those of the last one, and which of them have
// a changed node.
func (t *Trail) comparable(s *State) (moved []int32, same bool) {
	if t.last == nil {
		return nil, true
	}
	moved, same = s.nodes.movedFrom(t.nodes)
	return moved, same && t.tables == s.t
}

// move adds rows whose nodes changed.
func (t *Trail) move(rows []int32) {
	for _, row := range rows {
		t.moved = append(t.moved, moved{t.End(), row})
		t.rows = append(t.rows, row)
	}
}

// restart forgets all positions before this one.
func (t *Trail) restart(s *State) {
	t.from, t.rows, t.moved = t.End()+1, t.rows[:0], t.moved[:0]
	t.arrive(s)
}

func (t *Trail) arrive(s *State) {
	t.last, t.step, t.nodes, t.tables = s, s.step, s.nodes, s.t
	if most := max(4*s.nodes.Len(), 1024); len(t.rows) > most {
		gone := len(t.rows) - most/2
		t.from += uint64(gone)
		t.rows = append(t.rows[:0], t.rows[gone:]...)
		t.moved = slices.DeleteFunc(t.moved, func(m moved) bool { return m.at < t.from })
	}
}

func (t *Trail) compare(a, b *vec[*PodList]) {
	for g := range max(len(a.groups), len(b.groups)) {
		if g < len(a.groups) && g < len(b.groups) && a.groups[g] == b.groups[g] {
			continue
		}
		for i := g << groupBits; i < (g+1)<<groupBits; i++ {
			was, is := a.block(i), b.block(i)
			if was == is {
				continue
			}
			for k := range BlockSize {
				row := i<<blockBits + k
				if a.at(row) != b.at(row) { // an edit never writes a list
					t.rows = append(t.rows, int32(row))
				}
			}
		}
	}
}

// Since appends the rows that changed after a position to rows, some more than once; ok is false
// where the trail no longer reaches back to it.
func (t *Trail) Since(place uint64, rows []int32) (_ []int32, ok bool) {
	if place < t.from {
		return rows, false
	}
	return append(rows, t.rows[place-t.from:]...), true
}

// Moved appends to rows those of Since whose nodes changed in their taints, their cordon or what
// they offer.
func (t *Trail) Moved(place uint64, rows []int32) []int32 {
	first, _ := slices.BinarySearchFunc(t.moved, place, func(m moved, at uint64) int { return cmp.Compare(m.at, at) })
	for _, m := range t.moved[first:] {
		rows = append(rows, m.row)
	}
	return rows
}

// Surroundings are what answers about a pod depend on beside the pod itself, the pods on each row,
// and what a Trail records of the row's node. They are equal if and only if nothing of that
// changed.
type Surroundings struct {
	tables     *Tables
	nodes      *nodeMemo // one for all sets with the same rows, labels and images
	objects    *namespaced
	namespaces uint64 // the edit that last changed the namespaces' labels
	terms      int    // interned, as are the names of resources
	scalars    int
}

// Surroundings returns the surroundings of pods of a namespace.
func (s *State) Surroundings(namespace string) Surroundings {
	s.t.mu.RLock()
	defer s.t.mu.RUnlock()
	return Surroundings{s.t, s.nodes.memo, s.objects[namespace], s.nsEdit, len(s.t.terms), len(s.t.scalarIDs)}
}
