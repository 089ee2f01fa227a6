package wire

import (
	"bytes"
	"sync"
	"sync/atomic"
)

// entryOverhead is what an entry costs besides its bytes and its value: the entry, its place in the
// map, its name.
const entryOverhead = 256

// NodeCache keeps decoded nodes beside the bytes they were decoded from. A node's object changes
// every few minutes while kube-scheduler sends it with each pod, so nearly always the bytes are
// those of last time; then neither a scan nor a decode is needed. Bytes are compared, never hashes:
// equal bytes of a complete object are the same object. Use one cache for each cluster, since nodes
// of different clusters may share names. It is safe for concurrent use.
type NodeCache[V any] struct {
	maxBytes   int64
	valueBytes int64

	// clock counts the questions asked; it tells how long an entry has been idle.
	clock atomic.Int64

	mu sync.RWMutex
	// entries, bytes and swept are guarded by mu. swept is the clock's time of the last search for
	// idle entries.
	entries map[string]*entry[V]
	bytes   int64
	swept   int64
}

// entry never changes but for used, so that it can be read without the lock.
type entry[V any] struct {
	raw, name     []byte
	depth, tokens int
	value         V
	used          atomic.Int64
}

var _ KnownNodes = (*NodeCache[int])(nil)

// NewNodeCache makes a cache of at most maxBytes bytes. valueBytes is the estimated size of one
// decoded value, which is counted for each entry besides its raw bytes. A cache of 0 bytes keeps
// nothing.
func NewNodeCache[V any](maxBytes, valueBytes int64) *NodeCache[V] {
	return &NodeCache[V]{maxBytes: maxBytes, valueBytes: valueBytes, entries: map[string]*entry[V]{}}
}

// Match implements KnownNodes.
func (c *NodeCache[V]) Match(rest, name []byte) (KnownNode, bool) {
	now := c.clock.Add(1)
	c.mu.RLock()
	e := c.entries[string(name)]
	c.mu.RUnlock()
	if e == nil || !bytes.HasPrefix(rest, e.raw) {
		return KnownNode{}, false
	}
	e.used.Store(now)
	return KnownNode{Size: len(e.raw), Name: e.name, known: e, depth: e.depth, tokens: e.tokens}, true
}

// Value returns the decoded form of an item. An item that a Parser recognised by this cache has it
// already; otherwise its bytes are compared with those remembered under its name, and only if they
// differ decode is called with the item's bytes and its result remembered. decode must not keep the
// bytes it gets and has to give a value that may be shared. Its error is handed on and nothing is
// kept.
func (c *NodeCache[V]) Value(item NodeItem, decode func(raw []byte) (V, error)) (V, error) {
	if e, ok := item.known.(*entry[V]); ok {
		return e.value, nil
	}
	c.mu.RLock()
	e := c.entries[string(item.Name)]
	c.mu.RUnlock()
	if e != nil && bytes.Equal(e.raw, item.Raw) {
		e.used.Store(c.clock.Add(1))
		return e.value, nil
	}
	value, err := decode(item.Raw)
	// A null and a node without a name are left out: Match looks for the beginning of an object
	// with a name.
	if err == nil && len(item.Name) > 0 {
		c.put(item, value)
	}
	return value, err
}

func (c *NodeCache[V]) cost(raw, name []byte) int64 {
	return int64(len(raw)+len(name)) + c.valueBytes + entryOverhead
}

// put remembers value. If there is no room, entries idle for long make way; if there are none the
// new one isn't kept, which for a list larger than the cache serves a part of it each time, where
// the usual "oldest goes" would serve none.
func (c *NodeCache[V]) put(item NodeItem, value V) {
	e := &entry[V]{depth: item.depth, tokens: item.tokens, value: value}
	e.used.Store(c.clock.Load())
	cost := c.cost(item.Raw, item.Name)

	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.entries[string(item.Name)]; old != nil {
		delete(c.entries, string(old.name))
		c.bytes -= c.cost(old.raw, old.name)
	}
	if c.bytes+cost > c.maxBytes {
		c.sweep()
	}
	if c.bytes+cost > c.maxBytes {
		return
	}
	e.raw, e.name = bytes.Clone(item.Raw), bytes.Clone(item.Name)
	c.entries[string(e.name)] = e
	c.bytes += cost
}

// sweep drops the entries that weren't asked for while each could have been four times. The caller
// holds mu. It does nothing if it ran a moment ago, since then nothing can have become idle.
func (c *NodeCache[V]) sweep() {
	now, n := c.clock.Load(), int64(len(c.entries))
	if now-c.swept < n {
		return
	}
	c.swept = now
	for name, e := range c.entries {
		if now-e.used.Load() > 4*n {
			delete(c.entries, name)
			c.bytes -= c.cost(e.raw, e.name)
		}
	}
}

// Stats returns the number of entries and the bytes they are counted as.
func (c *NodeCache[V]) Stats() (entries int, size int64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.entries), c.bytes
}
