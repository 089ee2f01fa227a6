package digest

import (
	"bytes"
	"crypto/sha256"

	"berth/internal/engine"
)

// blockSize is how many bytes of an encoding are hashed together. A hash costs as much as some 300
// bytes beside its bytes, and binds go to nodes all over a cluster: smaller blocks would cost more
// where pods of many kinds come in turn.
const blockSize = 2048

// Memory keeps the hashes of the scores of one result for the next one of the same kind of pod, so
// that only blocks that changed are hashed again. Digests do not depend on it. It is for one
// goroutine at a time.
type Memory struct{ rules []hashed }

// hashed are the blocks of one rule's scores and their hashes.
type hashed struct {
	blocks [][]byte
	sums   [][sha256.Size]byte
}

// Use lets the digest of a result use a memory, and add to it.
func (m *Memory) Use(r *engine.Result) { r.Hashes = m }

// Bytes is about how many bytes the memory holds.
func (m *Memory) Bytes() (n int) {
	for i := range m.rules {
		n += len(m.rules[i].sums) * (blockSize + sha256.Size + 24)
	}
	return n
}

// of returns what is kept of the k-th rule that scored; nil of no memory.
func (m *Memory) of(k int) *hashed {
	if m == nil {
		return nil
	}
	for len(m.rules) <= k {
		m.rules = append(m.rules, hashed{})
	}
	return &m.rules[k]
}

// hashBlocks puts the hashes of its blocks in place of an encoding, which starts at an index, where
// it is longer than one block.
func hashBlocks(b []byte, from int, kept *hashed) []byte {
	if len(b)-from <= blockSize {
		return b
	}
	to := from // never behind the next block
	for i := 0; from < len(b); i++ {
		block := b[from:min(from+blockSize, len(b))]
		from += len(block)
		sum := kept.sum(i, block)
		to += copy(b[to:], sum[:])
	}
	return b[:to]
}

// sum returns the hash of the i-th block, and keeps both.
func (h *hashed) sum(i int, block []byte) [sha256.Size]byte {
	if h == nil {
		return sha256.Sum256(block)
	}
	if i == len(h.sums) {
		h.blocks, h.sums = append(h.blocks, nil), append(h.sums, [sha256.Size]byte{})
	}
	if !bytes.Equal(h.blocks[i], block) {
		h.blocks[i], h.sums[i] = append(h.blocks[i][:0], block...), sha256.Sum256(block)
	}
	return h.sums[i]
}

// memoryOf returns the memory of a result; nil without.
func memoryOf(r *engine.Result) *Memory {
	m, _ := r.Hashes.(*Memory)
	return m
}
