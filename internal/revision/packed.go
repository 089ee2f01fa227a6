package revision

import (
	"encoding/binary"
	"slices"
	"strings"
	"sync"

	"berth/internal/kube/object"
)

// Objects are kept as what differs from a similar object, their base: pods of one workload differ
// in a name, a UID and a node, so that some 40 bytes stand for 700. A base is kept whole.

const (
	// minPacked is the size of an object from which on packing it saves memory.
	minPacked = 128
	// maxBase bounds a base: its positions are 16 bits, and it stays in memory as long as one
	// object refers to it.
	maxBase = 8 << 10
	// baseShare is how many times as large as an object its base may be, so that small objects do
	// not keep large ones in memory.
	baseShare = 3
	// maxBases bounds the JSON of the objects that are offered as bases, in bytes.
	maxBases = 16 << 20
)

// bases are the objects that later ones may be packed against, one for each kind, namespace and
// stem of a name. All inventories that descend from one another share them.
type bases struct {
	mu    sync.Mutex
	byKey map[object.Key]*entry
	bytes int
}

// stem returns the key under which objects share a base. Workloads name their pods by their own
// name, a dash and a suffix.
func stem(k object.Key) object.Key {
	if k.Namespace == "" {
		return object.Key{Kind: k.Kind}
	}
	k.Name = k.Name[:max(strings.LastIndexByte(k.Name, '-'), 0)]
	return k
}

func (b *bases) get(k object.Key) *entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.byKey[stem(k)]
}

func (b *bases) put(e *entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bytes += len(e.text); b.byKey == nil || b.bytes > maxBases {
		b.byKey, b.bytes = map[object.Key]*entry{}, len(e.text)
	}
	b.byKey[stem(e.key)] = e
}

// pack returns the entry as it is kept, beside the one that it replaces; nil: none. It does not
// write its arguments.
func (b *bases) pack(e, before *entry) *entry {
	if e.base != nil || len(e.text) < minPacked {
		return e
	}
	if before != nil {
		if before.base != nil {
			before = before.base
		}
		if p := e.against(before); p != nil {
			return p
		}
	}
	base := b.get(e.key)
	if base == e {
		return e
	}
	if base != nil && base != before {
		if p := e.against(base); p != nil {
			return p
		}
	}
	if len(e.text) <= maxBase {
		b.put(e)
	}
	return e
}

// against returns the entry packed against a base; nil where that does not halve it.
func (e *entry) against(base *entry) *entry {
	if n := len(base.text); n < minPacked || n > min(maxBase, baseShare*len(e.text)) {
		return nil
	}
	buf := packing.Get().(*packBuffer)
	defer packing.Put(buf)
	buf.text = buf.appendDelta(buf.text[:0], base.text, e.text)
	if len(buf.text) > len(e.text)/2 {
		return nil
	}
	return &entry{key: e.key, text: slices.Clone(buf.text), base: base, sum: e.sum}
}

// json returns the object's canonical JSON, not to be written.
func (e *entry) json() []byte { return e.read(nil) }

// read is json in a buffer that may be used again, where the object is packed.
func (e *entry) read(buf []byte) []byte {
	if e.base == nil {
		return e.text
	}
	return applyDelta(buf, e.text, e.base.text)
}

// size returns the length of the object's JSON.
func (e *entry) size() int {
	if e.base == nil {
		return len(e.text)
	}
	n, _ := binary.Uvarint(e.text)
	return int(n)
}

// A delta is the length of the text, then pieces in turns: a length and so many bytes of the text's
// own, a length and so many bytes of the base. Where the latter begin is written as the difference
// to where the text is, and to that of the piece before, so that it is zero where texts differ in
// values of equal length.

// seed is the shortest piece of a base that is looked for.
const seed = 8

// packBuffer is what making a delta needs.
type packBuffer struct {
	text  []byte
	table [1 << 12]uint16 // 1 + a position in the base, by the hash of what is there
}

var packing = sync.Pool{New: func() any { return new(packBuffer) }}

func (b *packBuffer) slot(word uint64) *uint16 { return &b.table[word*0x9e3779b97f4a7c15>>52] }

func (b *packBuffer) appendDelta(out, base, js []byte) []byte {
	clear(b.table[:])
	for i := len(base) - seed; i >= 0; i-- {
		*b.slot(binary.LittleEndian.Uint64(base[i:])) = uint16(i + 1)
	}
	out = binary.AppendUvarint(out, uint64(len(js)))
	own, shift := 0, 0 // what is not written yet begins at own
	for at := 0; at+seed <= len(js); {
		word := binary.LittleEndian.Uint64(js[at:])
		from := at + shift
		if from < 0 || from+seed > len(base) || binary.LittleEndian.Uint64(base[from:]) != word {
			from = int(*b.slot(word)) - 1
			if from < 0 || binary.LittleEndian.Uint64(base[from:]) != word {
				at++
				continue
			}
		}
		for at > own && from > 0 && base[from-1] == js[at-1] {
			at, from = at-1, from-1
		}
		n := seed
		for at+n < len(js) && from+n < len(base) && js[at+n] == base[from+n] {
			n++
		}
		out = binary.AppendUvarint(out, uint64(at-own))
		out = append(out, js[own:at]...)
		out = binary.AppendUvarint(out, uint64(n))
		out = binary.AppendVarint(out, int64(from-at-shift))
		shift = from - at
		at += n
		own = at
	}
	if own < len(js) {
		out = binary.AppendUvarint(out, uint64(len(js)-own))
		out = append(out, js[own:]...)
	}
	return out
}

// applyDelta undoes appendDelta, in a buffer if that is large enough.
func applyDelta(buf, delta, base []byte) []byte {
	number := func() int {
		n, size := binary.Uvarint(delta)
		delta = delta[size:]
		return int(n)
	}
	total := number()
	js, shift := slices.Grow(buf[:0], total), 0
	for len(js) < total {
		n := number()
		js = append(js, delta[:n]...)
		if delta = delta[n:]; len(js) == total {
			break
		}
		n = number()
		moved, size := binary.Varint(delta)
		delta = delta[size:]
		shift += int(moved)
		from := len(js) + shift
		js = append(js, base[from:from+n]...)
	}
	return js
}
