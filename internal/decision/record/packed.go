package record

import (
	"bytes"
	"hash/maphash"
	"sync/atomic"
)

// Bounds of what is kept of packed inputs: together 1 MB at most.
const (
	keptInputs = 256
	keptInput  = 2 << 10
)

// keptPacks keeps the packed form of inputs that came twice, such as those of a pod that waits and
// is tried time and again: S2 clears a table of 64 KiB for each input. Of what came once only a
// hash is kept. It is safe for concurrent use; the zero value is ready.
type keptPacks struct {
	seen [keptInputs]atomic.Uint64 // hash of the last input of a slot
	kept [keptInputs]atomic.Pointer[keptPack]
}

type keptPack struct{ js, packed []byte }

var (
	packedBefore keptPacks
	packSeed     = maphash.MakeSeed()
)

func (k *keptPacks) pack(js []byte) []byte {
	hash := maphash.Bytes(packSeed, js)
	slot := hash % keptInputs
	if p := k.kept[slot].Load(); p != nil && bytes.Equal(p.js, js) {
		return p.packed
	}
	packed := packAnew(js)
	if k.seen[slot].Swap(hash) == hash {
		packed = packed[:len(packed):len(packed)]
		k.kept[slot].Store(&keptPack{bytes.Clone(js), packed})
	}
	return packed
}
