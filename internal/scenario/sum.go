package scenario

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
)

// sum is a digest over texts. Each is preceded by its length, so that no two lists of texts give
// the same bytes.
type sum struct {
	h   hash.Hash
	buf []byte
}

// newSum begins a digest; kind distinguishes what it is of.
func newSum(kind string) sum {
	s := sum{h: sha256.New()}
	s.add(kind)
	return s
}

func (s *sum) add(texts ...string) {
	s.buf = s.buf[:0]
	for _, t := range texts {
		s.buf = append(binary.AppendUvarint(s.buf, uint64(len(t))), t...)
	}
	s.h.Write(s.buf)
}

func (s *sum) text() string { return "sha256:" + hex.EncodeToString(s.h.Sum(nil)) }
