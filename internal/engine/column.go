package engine

import "sync"

// nodeMemo holds what was derived from the nodes on demand. It is bounded and
// semantically invisible.
type nodeMemo struct {
	mu      sync.RWMutex
	columns map[string]*Column
	terms   map[string]Bits
	reach   map[any]*Reach // of volumes and pools of storage, by their selector
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
