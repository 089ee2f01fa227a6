package state

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reach is the rows on which a volume or a storage pool can be used. A local volume has one row of
// thousands, so few rows are a list.
type Reach struct {
	Few  []int32 // where Many is nil; ascending
	Many Bits
}

// fewRows is the number of rows up to which a reach is a list.
const fewRows = 16

// maxMemoReach bounds how many reaches are kept.
const maxMemoReach = 1 << 16

// Has reports whether a row is in reach.
func (r *Reach) Has(row int) bool {
	if r.Many != nil {
		return r.Many.Has(row)
	}
	for _, f := range r.Few {
		if int(f) == row {
			return true
		}
	}
	return false
}

// AddTo adds the rows to a set.
func (r *Reach) AddTo(b Bits) {
	if r.Many != nil {
		b.Or(r.Many)
		return
	}
	for _, row := range r.Few {
		b.Set(int(row))
	}
}

// VolumeReach returns the nodes that a volume's node affinity admits. It is kept for as long as the
// nodes stay the same and is not to be written.
func (s *NodeSet) VolumeReach(pv *corev1.PersistentVolume) *Reach {
	a := pv.Spec.NodeAffinity
	if a == nil || a.Required == nil {
		return &Reach{Many: s.alive}
	}
	return s.reach(a, func() *Reach {
		if few, ok := s.fewIn(a.Required); ok {
			return &Reach{Few: few}
		}
		return reachOf(s.VolumeRows(a.Required))
	})
}

// PoolReach returns the nodes that a CSIStorageCapacity's topology selects: none without one, all
// with an empty one (plugins/volumebinding/binder.go nodeHasAccess).
func (s *NodeSet) PoolReach(topology *metav1.LabelSelector) *Reach {
	if topology == nil {
		return &Reach{}
	}
	if len(topology.MatchLabels) == 0 && len(topology.MatchExpressions) == 0 {
		return &Reach{Many: s.alive}
	}
	return s.reach(topology, func() *Reach {
		out := s.SelectorRows(topology.MatchLabels)
		for _, e := range topology.MatchExpressions {
			// The four operators have the same names and meaning.
			term := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: e.Key, Operator: corev1.NodeSelectorOperator(e.Operator), Values: e.Values}}}
			rows, ok := s.TermRows(&term)
			if !ok {
				return &Reach{}
			}
			out.And(rows)
		}
		return reachOf(out)
	})
}

// VolumeRows returns the nodes that the node selector of a volume selects. Volumes are matched by
// labels alone: a term's fields must parse and are then ignored
// (k8s.io/component-helpers/storage/volume CheckNodeAffinity).
func (s *NodeSet) VolumeRows(sel *corev1.NodeSelector) Bits {
	out := NewBits(len(s.rows))
	for i := range sel.NodeSelectorTerms {
		t := &sel.NodeSelectorTerms[i]
		if len(t.MatchFields) == 0 {
			if rows, ok := s.TermRows(t); ok {
				out.Or(rows)
			}
			continue
		}
		if _, ok := s.TermRows(&corev1.NodeSelectorTerm{MatchFields: t.MatchFields}); !ok {
			continue
		}
		if len(t.MatchExpressions) == 0 {
			out.Or(s.alive)
		} else if rows, ok := s.TermRows(&corev1.NodeSelectorTerm{MatchExpressions: t.MatchExpressions}); ok {
			out.Or(rows)
		}
	}
	return out
}

// fewIn reads the affinity that local volumes have, one term with one In, from
// the label's column.
func (s *NodeSet) fewIn(sel *corev1.NodeSelector) ([]int32, bool) {
	if len(sel.NodeSelectorTerms) != 1 {
		return nil, false
	}
	t := &sel.NodeSelectorTerms[0]
	if len(t.MatchFields) != 0 || len(t.MatchExpressions) != 1 {
		return nil, false
	}
	e := &t.MatchExpressions[0]
	if e.Operator != corev1.NodeSelectorOpIn || len(e.Values) != 1 {
		return nil, false
	}
	col := s.Column(e.Key)
	i := col.Lookup(e.Values[0])
	if i < 0 || len(col.Rows[i]) != 1 {
		return nil, false
	}
	return col.Rows[i], true
}

func (s *NodeSet) reach(key any, work func() *Reach) *Reach {
	s.memo.mu.RLock()
	r := s.memo.reach[key]
	s.memo.mu.RUnlock()
	if r != nil {
		return r
	}
	r = work()
	s.memo.mu.Lock()
	defer s.memo.mu.Unlock()
	if s.memo.reach == nil || len(s.memo.reach) >= maxMemoReach {
		s.memo.reach = map[any]*Reach{}
	}
	s.memo.reach[key] = r
	return r
}

func reachOf(rows Bits) *Reach {
	if rows.Count() > fewRows {
		return &Reach{Many: rows}
	}
	r := &Reach{}
	for row := range rows.All() {
		r.Few = append(r.Few, int32(row))
	}
	return r
}
