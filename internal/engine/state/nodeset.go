package state

import (
	"cmp"
	"crypto/sha256"
	"iter"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"berth/internal/podlife"
	"berth/internal/steps"
)

// Node is what a state holds of a node beside its columns.
type Node struct {
	Name          string
	Labels        labels.Set
	Taints        []corev1.Taint
	Unschedulable bool
	// Unannounced is podlife's: not Ready, and without a taint that rules could read.
	Unannounced bool
	// Health is for reports; no rule reads it.
	Health   podlife.NodeHealth
	Features []string // status.declaredFeatures
	Images   []Image
	hash     uint64
	scalars  []Scalar // allocatable extended resources, by ascending ID, amounts of 0 too
}

// NameHash returns a hash of the node's name.
func (n *Node) NameHash() uint64 { return n.hash }

// Image is an image that a node holds, under all its names.
type Image struct {
	Names []string
	Bytes int64
}

// Capacity is what a node offers: its allocatable.
type Capacity struct {
	Amount
	Pods int64
}

// Unannounced returns the names of the nodes that are not Ready without a taint for it, in order.
func (s *NodeSet) Unannounced() (names []string) {
	for _, r := range s.order {
		if s.rows[r].Unannounced {
			names = append(names, s.rows[r].Name)
		}
	}
	return names
}

// NodeSet is the part of a state that changes only with nodes: rows, columns and what is derived
// from them. A row keeps its node for as long as that exists; Order lists the rows by name. It is
// immutable once a state has it, except for memos, which change no result.
type NodeSet struct {
	rows     []*Node
	byName   map[string]int32
	order    []int32
	alive    Bits
	n        int
	capacity []Capacity
	offered  map[int32]int32  // by scalar id: how many nodes list it
	taintSet []int32          // by row
	taints   [][]corev1.Taint // distinct lists
	cordoned Bits
	images   map[string]*imageHolders
	hashes   []uint64 // of the names, by row
	inOrder  bool     // row order is name order, without gaps
	digest   [sha256.Size]byte

	memo *nodeMemo

	// tainted are the rows of an edit whose nodes changed in what only taints and cordons are
	// derived from; anew reports that all is to be derived.
	tainted []int32
	anew    bool
	named   bool // byName belongs to this set

	// from is the id of the set that this one differs from by the nodes of the rows in moved, which
	// are tainted above; 0 where everything was derived anew.
	id, from uint64
	moved    []int32
}

// imageHolders are the nodes that hold an image. Bytes is the size that the first node by name
// reported, which upstream uses.
type imageHolders struct {
	rows  []int32 // in order of the nodes' names
	bytes int64
}

// Len returns the number of rows, holes included; bitsets have this many bits.
func (s *NodeSet) Len() int { return len(s.rows) }

// Version identifies the set: no other has the same.
func (s *NodeSet) Version() uint64 { return s.id }

// Count returns the number of nodes.
func (s *NodeSet) Count() int { return s.n }

// Node returns the node of a row; nil for a hole.
func (s *NodeSet) Node(row int) *Node { return s.rows[row] }

// Row finds a node by name; -1 where there is none.
func (s *NodeSet) Row(name string) int {
	if r, ok := s.byName[name]; ok {
		return int(r)
	}
	return -1
}

// SetRows adds the rows of these names to a set. Names that no node has add nothing. Lists of names
// are mostly in order of the rows, so the row behind the last one is tried before it is looked up.
func (s *NodeSet) SetRows(out Bits, names []string) {
	next := 0
	for _, name := range names {
		row := next
		if row >= len(s.rows) || s.rows[row] == nil || s.rows[row].Name != name {
			if row = s.Row(name); row < 0 {
				continue
			}
		}
		out.Set(row)
		next = row + 1
	}
}

// Order returns the rows in order of the nodes' names. Not to be written.
func (s *NodeSet) Order() []int32 { return s.order }

// Alive returns the rows that have a node. Not to be written.
func (s *NodeSet) Alive() Bits { return s.alive }

// InOrder reports whether the rows are in order of the nodes' names, without gaps.
func (s *NodeSet) InOrder() bool { return s.inOrder }

// ByName returns the rows of a set in order of the nodes' names.
func (s *NodeSet) ByName(rows Bits) iter.Seq[int] {
	if s.inOrder {
		return rows.All()
	}
	return func(yield func(row int) bool) {
		for _, row := range s.order {
			if rows.Has(int(row)) && !yield(int(row)) {
				return
			}
		}
	}
}

// NamesDigest returns a hash over the nodes' names.
func (s *NodeSet) NamesDigest() []byte { return s.digest[:] }

// NameHashes returns a hash of each row's name. Not to be written.
func (s *NodeSet) NameHashes() []uint64 { return s.hashes }

// Cordoned returns the rows with spec.unschedulable. Not to be written.
func (s *NodeSet) Cordoned() Bits { return s.cordoned }

// Capacity returns a row's allocatable.
func (s *NodeSet) Capacity(row int) *Capacity { return &s.capacity[row] }

// Capacities returns the column of allocatables. Not to be written.
func (s *NodeSet) Capacities() []Capacity { return s.capacity }

// Offers returns a node's allocatable of an interned resource. listed is false where its status
// does not list it, which some rules distinguish from 0.
func (s *NodeSet) Offers(id int32, row int) (n int64, listed bool) { return s.rows[row].offers(id) }

func (n *Node) offers(id int32) (amount int64, listed bool) {
	i, listed := slices.BinarySearchFunc(n.scalars, id, func(s Scalar, id int32) int { return cmp.Compare(s.ID, id) })
	if listed {
		amount = n.scalars[i].N
	}
	return amount, listed
}

// TaintSets returns the distinct lists of taints; TaintSetOf is a row's index into them.
func (s *NodeSet) TaintSets() [][]corev1.Taint { return s.taints }

// TaintSetOf is the column of indexes into TaintSets.
func (s *NodeSet) TaintSetOf() []int32 { return s.taintSet }

func emptyNodeSet() *NodeSet {
	s := &NodeSet{byName: map[string]int32{}, offered: map[int32]int32{}, anew: true, named: true}
	_ = s.seal(nil) // it ends with a context alone
	return s
}

// clone copies the set so that an edit may change it. What is derived is shared until it is sealed.
func (s *NodeSet) clone() *NodeSet {
	c := &NodeSet{
		rows: slices.Clone(s.rows), byName: s.byName, from: s.id,
		alive: s.alive.Clone(), n: s.n, capacity: slices.Clone(s.capacity), offered: maps.Clone(s.offered),
		order: s.order, taintSet: s.taintSet, taints: s.taints, cordoned: s.cordoned, images: s.images, hashes: s.hashes,
		inOrder: s.inOrder, digest: s.digest, memo: s.memo,
	}
	return c
}

// rowsByName returns the rows by name to write.
func (s *NodeSet) rowsByName() map[string]int32 {
	if !s.named {
		s.byName, s.named = maps.Clone(s.byName), true
	}
	return s.byName
}

// movedFrom returns the rows whose nodes changed from an earlier set to this one in nothing but
// what derivesAs leaves out; ok is false where more changed, or the set is not the one before.
func (s *NodeSet) movedFrom(before *NodeSet) (rows []int32, ok bool) {
	if s == before {
		return nil, true
	}
	return s.moved, s.from != 0 && s.from == before.id
}

// put adds or replaces a node and returns its row.
func (s *NodeSet) put(spec nodeSpec) int32 {
	row, ok := s.byName[spec.node.Name]
	if !ok {
		row = int32(len(s.rows))
		s.rows = append(s.rows, nil)
		s.capacity = append(s.capacity, Capacity{})
		s.alive = s.alive.grown(len(s.rows))
		s.rowsByName()[spec.node.Name] = row
		s.alive.Set(int(row))
		s.n++
	}
	if was := s.rows[row]; was != nil && was.derivesAs(spec.node) {
		s.tainted = append(s.tainted, row)
	} else {
		s.anew = true
	}
	s.offer(s.rows[row], -1)
	s.offer(spec.node, 1)
	s.rows[row] = spec.node
	s.capacity[row] = spec.capacity
	return row
}

// offer counts the extended resources of a node, or of nil.
func (s *NodeSet) offer(n *Node, sign int32) {
	if n == nil {
		return
	}
	for _, sc := range n.scalars {
		if s.offered[sc.ID] += sign; s.offered[sc.ID] == 0 {
			delete(s.offered, sc.ID)
		}
	}
}

// remove removes a node; its row stays a hole.
func (s *NodeSet) remove(name string) (int32, bool) {
	row, ok := s.byName[name]
	if !ok {
		return -1, false
	}
	delete(s.rowsByName(), name)
	s.offer(s.rows[row], -1)
	s.rows[row], s.anew = nil, true
	s.capacity[row] = Capacity{}
	s.alive.Clear(int(row))
	s.n--
	return row, true
}

// derivesAs reports whether the same columns, memos and images follow from another node of the
// name: it may have other taints, and be cordoned or not. Nodes are tainted and cordoned far more
// often than relabelled, and to derive all anew takes a millisecond with 5,000 of them.
func (n *Node) derivesAs(o *Node) bool {
	image := func(a, b Image) bool { return a.Bytes == b.Bytes && slices.Equal(a.Names, b.Names) }
	return maps.Equal(n.Labels, o.Labels) && slices.Equal(n.scalars, o.scalars) && slices.EqualFunc(n.Images, o.Images, image)
}

// manyTaints is how many lists of taints are looked through for that of a node.
const manyTaints = 64

// retaint derives what the taints and cordons of some rows change, as seal does.
func (s *NodeSet) retaint() (done bool) {
	if len(s.taints) > manyTaints {
		return false
	}
	s.taintSet, s.taints, s.cordoned = slices.Clone(s.taintSet), slices.Clip(s.taints), s.cordoned.Clone()
	for _, r := range s.tainted {
		n := s.rows[r]
		key := taintKey(n.Taints)
		id := slices.IndexFunc(s.taints, func(t []corev1.Taint) bool { return taintKey(t) == key })
		if id < 0 {
			id = len(s.taints)
			s.taints = append(s.taints, n.Taints)
		}
		if s.taintSet[r] = int32(id); n.Unschedulable {
			s.cordoned.Set(int(r))
		} else {
			s.cordoned.Clear(int(r))
		}
	}
	place := make([]int32, len(s.taints)) // of each list, from 1, in order of the first node's name
	var taints [][]corev1.Taint
	for _, r := range s.order {
		at := &place[s.taintSet[r]]
		if *at == 0 {
			taints = append(taints, s.rows[r].Taints)
			*at = int32(len(taints))
		}
		s.taintSet[r] = *at - 1
	}
	s.taints = taints
	return true
}

// seal derives the columns after nodes changed. With an error the set is incomplete.
func (s *NodeSet) seal(count *steps.Counter) error {
	s.id = lastEdit.Add(1)
	if !s.anew && s.retaint() {
		s.tainted, s.moved = nil, s.tainted
		return nil
	}
	s.tainted, s.anew, s.from = nil, false, 0
	s.order = make([]int32, 0, s.n)
	for r, n := range s.rows {
		if n != nil {
			s.order = append(s.order, int32(r))
		}
	}
	err := steps.Sort(count, s.order, func(a, b int32) int { return strings.Compare(s.rows[a].Name, s.rows[b].Name) })
	if err != nil {
		return err
	}
	s.inOrder = len(s.order) == len(s.rows)
	h := sha256.New()
	for i, r := range s.order {
		if int(r) != i {
			s.inOrder = false
		}
		h.Write([]byte(s.rows[r].Name))
		h.Write([]byte{0})
	}
	h.Sum(s.digest[:0])
	s.taintSet = make([]int32, len(s.rows))
	s.taints = nil
	s.cordoned = NewBits(len(s.rows))
	s.hashes = make([]uint64, len(s.rows))
	s.images = map[string]*imageHolders{}
	known := map[string]int32{}
	for _, r := range s.order {
		n := s.rows[r]
		if err := count.Take(1 + len(n.Images)); err != nil {
			return err
		}
		s.hashes[r] = n.hash
		key := taintKey(n.Taints)
		id, ok := known[key]
		if !ok {
			id = int32(len(s.taints))
			known[key] = id
			s.taints = append(s.taints, n.Taints)
		}
		s.taintSet[r] = id
		if n.Unschedulable {
			s.cordoned.Set(int(r))
		}
		for _, im := range n.Images {
			for _, name := range im.Names {
				h := s.images[name]
				if h == nil {
					h = &imageHolders{bytes: im.Bytes}
					s.images[name] = h
				}
				if last := len(h.rows) - 1; last < 0 || h.rows[last] != r {
					h.rows = append(h.rows, r)
				}
			}
		}
	}
	s.memo = &nodeMemo{columns: map[string]*Column{}, scalars: map[int32][]int64{}, terms: map[string]Bits{}}
	return nil
}

// Image returns the nodes that hold an image of this (normalised) name, in order of their names,
// and the image's size; nil without any. Not to be written.
func (s *NodeSet) Image(name string) (rows []int32, bytes int64) {
	if h := s.images[name]; h != nil {
		return h.rows, h.bytes
	}
	return nil, 0
}
