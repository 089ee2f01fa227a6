package engine

import (
	"cmp"
	"crypto/sha256"
	"hash/fnv"
	"slices"
	"sort"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Node is what a state knows of a node beside its columns.
type Node struct {
	Name          string
	Labels        labels.Set
	Taints        []corev1.Taint
	Unschedulable bool
	Features      []string // status.declaredFeatures
	Images        []Image
	hash          uint64
}

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

// NodeSet is the part of a state that only changes with nodes: rows, columns
// and what was derived from them. A row keeps its node for as long as it
// exists; Order gives the rows by name. Immutable once a state bears it, but for
// memos that nobody can see.
type NodeSet struct {
	rows     []*Node
	byName   map[string]int32
	order    []int32
	alive    Bits
	n        int
	capacity []Capacity
	scalars  map[int32][]int64 // by scalar id: allocatable by row
	taintSet []int32           // by row
	taints   [][]corev1.Taint  // distinct lists
	tainted  []Bits            // by list: the rows that have it
	cordoned Bits
	images   map[string]*imageHolders
	inOrder  bool // row order is name order, without gaps
	digest   [sha256.Size]byte

	memo *nodeMemo
}

// imageHolders says which nodes hold an image. Bytes is what the first node by
// name reported, which is the size that upstream goes on with.
type imageHolders struct {
	rows  Bits
	count int
	bytes int64
}

// Len gives the number of rows, holes included; bitsets have this many bits.
func (s *NodeSet) Len() int { return len(s.rows) }

// Count gives the number of nodes.
func (s *NodeSet) Count() int { return s.n }

// Node gives the node of a row; nil for a hole.
func (s *NodeSet) Node(row int) *Node { return s.rows[row] }

// Row finds a node by name; -1 where there is none.
func (s *NodeSet) Row(name string) int {
	if r, ok := s.byName[name]; ok {
		return int(r)
	}
	return -1
}

// Order gives the rows in order of the nodes' names. Not to be written.
func (s *NodeSet) Order() []int32 { return s.order }

// Alive gives the rows that have a node. Not to be written.
func (s *NodeSet) Alive() Bits { return s.alive }

// Cordoned gives the rows with spec.unschedulable. Not to be written.
func (s *NodeSet) Cordoned() Bits { return s.cordoned }

// Capacity gives a row's allocatable.
func (s *NodeSet) Capacity(row int) *Capacity { return &s.capacity[row] }

// Capacities gives the column of allocatables. Not to be written.
func (s *NodeSet) Capacities() []Capacity { return s.capacity }

// ScalarColumn gives a resource's allocatable by row; nil where no node has it.
func (s *NodeSet) ScalarColumn(id int32) []int64 { return s.scalars[id] }

// TaintSets gives the distinct lists of taints; TaintSetOf says which a row has.
func (s *NodeSet) TaintSets() [][]corev1.Taint { return s.taints }

// TaintSetOf is the column of indexes into TaintSets.
func (s *NodeSet) TaintSetOf() []int32 { return s.taintSet }

// maxTaintRows is up to how many distinct lists of taints each keeps its rows;
// beyond, looking every node's list up costs less.
const maxTaintRows = 64

// TaintedRows gives the rows whose list of taints bad says yes to; it is
// asked once per distinct list; out makes the set where there is one to fill.
func (s *NodeSet) TaintedRows(out func() Bits, bad func(taints []corev1.Taint) bool) (rows Bits, any bool) {
	yes := make([]bool, len(s.taints))
	for i, taints := range s.taints {
		yes[i] = bad(taints)
		any = any || yes[i]
	}
	if !any {
		return nil, false
	}
	rows = out()
	if len(s.taints) <= maxTaintRows {
		for i, y := range yes {
			if y {
				rows.Or(s.tainted[i])
			}
		}
		return rows, true
	}
	for _, r := range s.order {
		if yes[s.taintSet[r]] {
			rows.Set(int(r))
		}
	}
	return rows, true
}

// HasTaintSet says whether a row of in has one of the TaintSets.
func (s *NodeSet) HasTaintSet(set int, in Bits) bool {
	if set < maxTaintRows {
		for i, word := range s.tainted[set] {
			if word&in[i] != 0 {
				return true
			}
		}
		return false
	}
	for i, of := range s.taintSet {
		if int(of) == set && in.Has(i) {
			return true
		}
	}
	return false
}

// nodeSpec is a node before it gets a row.
type nodeSpec struct {
	node     *Node
	capacity Capacity
	scalars  []Scalar
}

func compileNode(t *Tables, in *corev1.Node) nodeSpec {
	n := &Node{
		Name: in.Name, Labels: in.Labels, Taints: in.Spec.Taints,
		Unschedulable: in.Spec.Unschedulable, Features: in.Status.DeclaredFeatures,
	}
	h := fnv.New64a()
	h.Write([]byte(in.Name))
	n.hash = h.Sum64()
	for _, im := range in.Status.Images {
		n.Images = append(n.Images, Image{Names: im.Names, Bytes: im.SizeBytes})
	}
	out := nodeSpec{node: n}
	for name, q := range in.Status.Allocatable {
		switch name {
		case corev1.ResourceCPU:
			out.capacity.CPU = q.MilliValue()
		case corev1.ResourceMemory:
			out.capacity.Memory = q.Value()
		case corev1.ResourceEphemeralStorage:
			out.capacity.Ephemeral = q.Value()
		case corev1.ResourcePods:
			out.capacity.Pods = q.Value()
		default:
			if IsScalar(name) {
				out.scalars = append(out.scalars, Scalar{t.scalar(string(name)), q.Value()})
			}
		}
	}
	slices.SortFunc(out.scalars, func(a, b Scalar) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

func emptyNodeSet() *NodeSet {
	s := &NodeSet{}
	s.seal(nil)
	return s
}

// clone copies the set so that an edit may change it.
func (s *NodeSet) clone() *NodeSet {
	c := &NodeSet{
		rows: slices.Clone(s.rows), byName: make(map[string]int32, len(s.byName)+1),
		alive: s.alive.Clone(), n: s.n, capacity: slices.Clone(s.capacity),
		scalars: make(map[int32][]int64, len(s.scalars)),
	}
	for k, v := range s.byName {
		c.byName[k] = v
	}
	for k, v := range s.scalars {
		c.scalars[k] = slices.Clone(v)
	}
	return c
}

// put adds or replaces a node and gives its row.
func (s *NodeSet) put(spec nodeSpec) int32 {
	if s.byName == nil {
		s.byName = map[string]int32{}
		s.scalars = map[int32][]int64{}
	}
	row, ok := s.byName[spec.node.Name]
	if !ok {
		row = int32(len(s.rows))
		s.rows = append(s.rows, nil)
		s.capacity = append(s.capacity, Capacity{})
		s.alive = s.alive.grown(len(s.rows))
		s.byName[spec.node.Name] = row
		s.alive.Set(int(row))
		s.n++
	}
	s.rows[row] = spec.node
	s.capacity[row] = spec.capacity
	for id, col := range s.scalars {
		if int(row) < len(col) {
			s.scalars[id][row] = 0
		}
	}
	for _, sc := range spec.scalars {
		col := s.scalars[sc.ID]
		for len(col) < len(s.rows) {
			col = append(col, 0)
		}
		col[row] = sc.N
		s.scalars[sc.ID] = col
	}
	return row
}

// remove takes a node out; its row stays a hole.
func (s *NodeSet) remove(name string) (int32, bool) {
	row, ok := s.byName[name]
	if !ok {
		return -1, false
	}
	delete(s.byName, name)
	s.rows[row] = nil
	s.capacity[row] = Capacity{}
	s.alive.Clear(int(row))
	for _, col := range s.scalars {
		if int(row) < len(col) {
			col[row] = 0
		}
	}
	s.n--
	return row, true
}

// seal derives the columns after nodes changed.
func (s *NodeSet) seal(_ *Tables) {
	s.order = s.order[:0]
	for r, n := range s.rows {
		if n != nil {
			s.order = append(s.order, int32(r))
		}
	}
	sort.Slice(s.order, func(i, j int) bool { return s.rows[s.order[i]].Name < s.rows[s.order[j]].Name })
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
	for id, col := range s.scalars {
		for len(col) < len(s.rows) {
			col = append(col, 0)
		}
		s.scalars[id] = col
	}
	s.taintSet = make([]int32, len(s.rows))
	s.taints, s.tainted = nil, nil
	s.cordoned = NewBits(len(s.rows))
	s.images = map[string]*imageHolders{}
	known := map[string]int32{}
	for _, r := range s.order {
		n := s.rows[r]
		key := taintKey(n.Taints)
		id, ok := known[key]
		if !ok {
			id = int32(len(s.taints))
			known[key] = id
			s.taints = append(s.taints, n.Taints)
			if id < maxTaintRows {
				s.tainted = append(s.tainted, NewBits(len(s.rows)))
			}
		}
		s.taintSet[r] = id
		if id < maxTaintRows {
			s.tainted[id].Set(int(r))
		}
		if n.Unschedulable {
			s.cordoned.Set(int(r))
		}
		for _, im := range n.Images {
			for _, name := range im.Names {
				h := s.images[name]
				if h == nil {
					h = &imageHolders{rows: NewBits(len(s.rows)), bytes: im.Bytes}
					s.images[name] = h
				}
				if !h.rows.Has(int(r)) {
					h.rows.Set(int(r))
					h.count++
				}
			}
		}
	}
	s.memo = &nodeMemo{columns: map[string]*Column{}, terms: map[string]Bits{}}
}

func taintKey(taints []corev1.Taint) string {
	var b []byte
	for _, t := range taints {
		b = append(append(append(append(append(append(b, t.Key...), 0), t.Value...), 0), t.Effect...), 0)
	}
	return string(b)
}

// Image gives the nodes that hold an image of this (normalised) name, how many
// they are and its size; nil without any.
func (s *NodeSet) Image(name string) (rows Bits, count int, bytes int64) {
	if h := s.images[name]; h != nil {
		return h.rows, h.count, h.bytes
	}
	return nil, 0, 0
}

// nodeMemo holds what was derived from the nodes on demand. It is bounded and
// semantically invisible.
type nodeMemo struct {
	mu      sync.RWMutex
	columns map[string]*Column
	terms   map[string]Bits
}

const (
	maxMemoTerms   = 4096
	maxMemoColumns = 1024
)

// Column is one label key over all nodes. Whole says that every node bears it.
type Column struct {
	Key    string
	Value  []int32  // by row: index into Values, -1 without the label
	Values []string // distinct values in order of first row by name
	Rows   [][]int32
	Whole  bool
	index  map[string]int32
}

// Lookup gives the index of a value; -1 where no node has it.
func (c *Column) Lookup(value string) int32 {
	if i, ok := c.index[value]; ok {
		return i
	}
	return -1
}

// Column gives a label key's column, made at first use.
func (s *NodeSet) Column(key string) *Column {
	s.memo.mu.RLock()
	c := s.memo.columns[key]
	s.memo.mu.RUnlock()
	if c != nil {
		return c
	}
	c = &Column{Key: key, Value: make([]int32, len(s.rows)), index: map[string]int32{}}
	for i := range c.Value {
		c.Value[i] = -1
	}
	for _, r := range s.order {
		v, ok := s.rows[r].Labels[key]
		if !ok {
			continue
		}
		id, known := c.index[v]
		if !known {
			id = int32(len(c.Values))
			c.index[v] = id
			c.Values = append(c.Values, v)
			c.Rows = append(c.Rows, nil)
		}
		c.Value[r] = id
		c.Rows[id] = append(c.Rows[id], r)
	}
	n := 0
	for _, rows := range c.Rows {
		n += len(rows)
	}
	c.Whole = n == s.n
	s.memo.mu.Lock()
	defer s.memo.mu.Unlock()
	if have := s.memo.columns[key]; have != nil {
		return have
	}
	if len(s.memo.columns) >= maxMemoColumns {
		clear(s.memo.columns)
	}
	s.memo.columns[key] = c
	return c
}
