package state

import (
	"sync"
	"sync/atomic"
)

// nodeMemo caches what is derived from the nodes on demand. It is bounded and changes no result.
type nodeMemo struct {
	mu          sync.RWMutex
	columns     map[string]*Column
	scalars     map[int32][]int64 // allocatable by row, by scalar id
	columnBytes int
	terms       map[string]Bits
	termBytes   int
	reach       map[any]*Reach // of volumes and pools of storage, by their selector
	names       atomic.Pointer[nameList]
}

// Bounds of a nodeMemo. Callers choose the keys, so a bound on the number of entries is not enough.
// What exceeds a bound is worked out each time.
const (
	maxMemoTerms       = 4096
	maxMemoTermBytes   = 16 << 20 // keys and rows of all terms
	maxMemoTermKey     = 64 << 10 // bytes of one key
	maxMemoColumns     = 1024     // of labels, and as many of resources
	maxMemoColumnBytes = 32 << 20 // of all columns; 512 bytes a node where that is more
)

// keepTerm caches the rows of a term, nil where it does not parse.
func (m *nodeMemo) keepTerm(key string, rows Bits) {
	size := len(key) + 8*len(rows)
	if len(key) > maxMemoTermKey {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, have := m.terms[key]; have {
		return
	}
	if len(m.terms) >= maxMemoTerms || m.termBytes+size > maxMemoTermBytes {
		clear(m.terms)
		m.termBytes = 0
	}
	m.terms[key] = rows
	m.termBytes += size
}

// DropMemos drops what was derived from nodes and can be derived again.
func (s *State) DropMemos() {
	m := s.nodes.memo
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropColumns()
	clear(m.terms)
	m.termBytes, m.reach = 0, nil
	m.names.Store(nil)
}

func (m *nodeMemo) dropColumns() {
	clear(m.columns)
	clear(m.scalars)
	m.columnBytes = 0
}

// columnRoom makes room for a column of so many bytes over so many rows.
func (m *nodeMemo) columnRoom(size, rows int) {
	if max(len(m.columns), len(m.scalars)) >= maxMemoColumns || m.columnBytes+size > max(maxMemoColumnBytes, 512*rows) {
		m.dropColumns()
	}
	m.columnBytes += size
}

// EachScalar visits the extended resources, and those like them, that nodes list, in no order that
// means anything.
func (s *NodeSet) EachScalar(f func(id int32, nodes int)) {
	for id, n := range s.offered {
		f(id, int(n))
	}
}

// ScalarColumn returns a resource's allocatable by row, made at first use; nil where no node
// lists it. Most resources of a cluster that has very many are never asked for, and each column
// has a place for every node. For one row there is Offers.
func (s *NodeSet) ScalarColumn(id int32) []int64 {
	if s.offered[id] == 0 {
		return nil
	}
	m := s.memo
	m.mu.RLock()
	col := m.scalars[id]
	m.mu.RUnlock()
	if col != nil {
		return col
	}
	col = make([]int64, len(s.rows))
	for r, n := range s.rows {
		if n != nil {
			col[r], _ = n.offers(id)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if have := m.scalars[id]; have != nil {
		return have
	}
	m.columnRoom(8*len(col), len(col))
	m.scalars[id] = col
	return col
}

// Column is one label key over all nodes. Whole reports that every node has it.
type Column struct {
	Key    string
	Value  []int32  // by row: index into Values, -1 without the label
	Values []string // distinct values in order of first row by name
	Rows   [][]int32
	Whole  bool
	sets   []Bits // the rows by value, of few values
	index  map[string]int32
}

// maxColumnSets is the number of values up to which a column keeps the set of each.
const maxColumnSets = 16

// AddRows adds the rows of a value to a set.
func (c *Column) AddRows(value int, out Bits) {
	if c.sets != nil {
		out.Or(c.sets[value])
		return
	}
	for _, row := range c.Rows[value] {
		out.Set(int(row))
	}
}

// Occurring reports of each value whether one of some rows has it, and counts these values.
func (c *Column) Occurring(rows Bits) (of []bool, n int) {
	of = make([]bool, len(c.Values))
	if c.sets != nil {
		for v, set := range c.sets {
			if of[v] = set.Meets(rows); of[v] {
				n++
			}
		}
		return of, n
	}
	for from, to := range rows.Runs() {
		if n == len(of) {
			break
		}
		for _, v := range c.Value[from:to] {
			if v >= 0 && !of[v] {
				of[v] = true
				n++
			}
		}
	}
	return of, n
}

// Counts returns how many of some rows have each value.
func (c *Column) Counts(rows Bits) []int {
	of := make([]int, len(c.Values))
	if c.sets != nil {
		for v, set := range c.sets {
			of[v] = CountAnd(set, rows)
		}
		return of
	}
	for from, to := range rows.Runs() {
		for _, v := range c.Value[from:to] {
			if v >= 0 {
				of[v]++
			}
		}
	}
	return of
}

// Lookup returns the index of a value; -1 where no node has it.
func (c *Column) Lookup(value string) int32 {
	if i, ok := c.index[value]; ok {
		return i
	}
	return -1
}

// Column returns a label key's column, made on first use.
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
	if len(c.Values) <= maxColumnSets {
		c.sets = make([]Bits, len(c.Rows))
		for v, rows := range c.Rows {
			c.sets[v] = NewBits(len(s.rows))
			for _, row := range rows {
				c.sets[v].Set(int(row))
			}
		}
	}
	s.memo.mu.Lock()
	defer s.memo.mu.Unlock()
	if have := s.memo.columns[key]; have != nil {
		return have
	}
	s.memo.columnRoom(c.bytes(), len(s.rows))
	s.memo.columns[key] = c
	return c
}

// bytes is about the size of a column; the values' text belongs to the nodes.
func (c *Column) bytes() int {
	const valueBytes = 100 // a string, a list of rows, an entry of the index
	n := len(c.Key) + 4*len(c.Value) + valueBytes*len(c.Values)
	for _, rows := range c.Rows {
		n += 4 * cap(rows)
	}
	for _, set := range c.sets {
		n += 8 * len(set)
	}
	return n
}
