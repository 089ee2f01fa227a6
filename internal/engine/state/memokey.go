package state

import "encoding/binary"

// memoKey is the key of a memo or of an interning table. Every text is preceded by its length and
// every list by its number of items, so that different inputs never have the same key, whatever
// bytes their values hold. Separators would not suffice: values of preferred node affinity and of
// several other fields are free text.
type memoKey []byte

// newMemoKey has the capacity of a key of usual length.
func newMemoKey() memoKey { return make(memoKey, 0, 128) }

func (k memoKey) text(s string) memoKey {
	return append(binary.AppendUvarint(k, uint64(len(s))), s...)
}

func (k memoKey) texts(list []string) memoKey {
	k = k.number(len(list))
	for _, s := range list {
		k = k.text(s)
	}
	return k
}

func (k memoKey) number(n int) memoKey { return binary.AppendVarint(k, int64(n)) }

func (k memoKey) flag(b bool) memoKey {
	if b {
		return append(k, 1)
	}
	return append(k, 0)
}

// Mix is a bijective scrambling of 64 bits (the finaliser of splitmix64).
func Mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// MixString hashes a text (FNV-1a, scrambled).
func MixString(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return Mix(h)
}
