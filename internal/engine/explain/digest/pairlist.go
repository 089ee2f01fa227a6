package digest

import (
	"math"
	"math/bits"
	"slices"
	"sync"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

const (
	maxPairs = 256 // an index fits a byte
	maxKeys  = 512
	maxSlots = 1024
)

// pairList finds the pairs of a rule's scores, and each feasible node's index in their list.
type pairList struct {
	column // of the raw scores
	s      *engine.Scores
	keyed  bool // rows with the same key, their class or raw score, have one pair

	list    []pair
	indexes []byte // 64 at a time, without blocks that have no feasible node; 0 for other nodes
	byKey   [maxKeys]uint16
	byHash  [maxSlots]uint16 // of the pair; one more than the index, 0 where there is none
}

// unknown is the index of a key whose pair is not known.
const unknown = maxPairs

var noneKnown = [maxKeys]uint16(slices.Repeat([]uint16{unknown}, maxKeys))

var pairLists = sync.Pool{New: func() any { return new(pairList) }}

// reset prepares a list for the scores of a rule.
func (p *pairList) reset(r *engine.Result, rows state.Bits, s *engine.Scores) {
	p.r, p.rows, p.wide, p.narrow, p.classes = r, rows, s.Raw, s.RawBytes, nil
	p.s, p.list, p.indexes = s, p.list[:0], p.indexes[:0]
	p.byKey, p.byHash = noneKnown, [maxSlots]uint16{}
	p.keyed = s.NormIsRaw() || s.Normalization() != engine.ByRule
	if classes, ok := s.Classes(); ok {
		p.classes, p.keyed = classes, len(classes.Raw) < maxKeys
	}
}

func (p *pairList) release() {
	p.r, p.rows, p.wide, p.narrow, p.classes, p.s = nil, nil, nil, nil, nil, nil
	pairLists.Put(p)
}

// find finds the pairs. It returns false where there are more than an index can tell apart.
func (p *pairList) find() bool {
	p.indexes = slices.Grow(p.indexes, len(p.rows)*state.ChunkSize)
	for i, word := range p.rows {
		if word == 0 {
			continue
		}
		n := len(p.indexes)
		p.indexes = p.indexes[:n+state.ChunkSize]
		if !p.block((*[state.ChunkSize]byte)(p.indexes[n:]), i, word) {
			return false
		}
	}
	return true
}

// same reports whether all pairs are a byte twice.
func (p *pairList) same() bool {
	return !slices.ContainsFunc(p.list, func(x pair) bool { return x.raw != x.norm || x.raw&^math.MaxUint8 != 0 })
}

// block finds the indexes of 64 nodes in order of name: by their keys where the pairs of all of
// these are known, and one node after the other where not.
func (p *pairList) block(out *[state.ChunkSize]byte, i int, word uint64) bool {
	set := p.r.Nodes()
	order := set.Order()[i<<state.ChunkBits:]
	order = order[:min(state.ChunkSize, len(order))]
	var bytes [state.ChunkSize]byte // keys
	var own uint64
	keyed, known := p.keyed, false
	switch c := p.classes; {
	case !keyed:
	case c == nil:
		if keyed = p.pack(&bytes, i); keyed {
			mask(&bytes, word, uint8(p.at(p.r.Feasible.First())))
			known = lookUp(out, &bytes, &p.byKey)
		}
	default:
		if own = c.Own[i]; !set.InOrder() {
			own = gather(c.Own, order)
		}
		if c.Of == nil {
			known = lookUp(out, &bytes, &p.byKey)
		} else {
			known = lookUp(out, chunk(c.Of, order, set.InOrder()), &p.byKey)
		}
	}
	if known {
		mask(out, word, 0)
		word &= own
	} else {
		clear(out[:])
	}
	for ; word != 0; word &= word - 1 {
		k := bits.TrailingZeros64(word)
		row, key := int(order[k]), uint32(bytes[k])
		single := !keyed || own>>k&1 == 1
		if c := p.classes; c != nil && c.Of != nil {
			key = uint32(c.Of[row])
		}
		index := p.byKey[key%maxKeys]
		if single || index == unknown {
			if index = p.index(row); index == unknown {
				return false
			}
			if !single {
				p.byKey[key%maxKeys] = index
			}
		}
		out[k] = byte(index)
	}
	return true
}

// chunk returns what a column has for 64 rows.
func chunk(column, order []int32, inOrder bool) *[state.ChunkSize]int32 {
	if inOrder && len(order) == state.ChunkSize {
		return (*[state.ChunkSize]int32)(column[order[0]:])
	}
	var out [state.ChunkSize]int32
	for k, row := range order {
		out[k] = column[row]
	}
	return &out
}

// lookUp finds indexes by keys. It returns false where one is not known. It has no branch on rows.
func lookUp[K uint8 | int32](out *[state.ChunkSize]byte, keys *[state.ChunkSize]K, byKey *[maxKeys]uint16) bool {
	var all uint16
	for k, key := range keys {
		index := byKey[uint32(key)%maxKeys]
		out[k] = byte(index)
		all |= index
	}
	return all < unknown
}

// index returns the index of a feasible row's pair, which it adds where it is new, or unknown where
// there is no room.
func (p *pairList) index(row int) uint16 {
	raw, norm := p.s.At(row)
	x := pair{raw, norm}
	slot := (uint64(x.raw)*0x9e3779b97f4a7c15 + uint64(x.norm)) * 0xd6e8feb86659fd93 >> 54
	for ; p.byHash[slot] > 0; slot = (slot + 1) % maxSlots {
		if index := p.byHash[slot] - 1; p.list[index] == x {
			return index
		}
	}
	if len(p.list) == maxPairs {
		return unknown
	}
	p.list = append(p.list, x)
	p.byHash[slot] = uint16(len(p.list))
	return p.byHash[slot] - 1
}
