// Package seal hashes rows as the columns of every backend hold them, and makes the seals of the
// hash chains, so that one record has the same hash in each.
package seal

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"
)

// Kinds of values. An empty blob is as NULL, which one driver reads it as.
const (
	null byte = iota
	number
	text
	blob
)

// Hasher hashes rows; the zero value is ready. It keeps its buffer.
type Hasher struct{ buf []byte }

// rowSize is what most rows take in a buffer.
const rowSize = 2 << 10

// Sum returns the hash of a row's values behind the name of what they are.
func (h *Hasher) Sum(what string, values ...any) ([]byte, error) {
	h.begin(what)
	for i, v := range values {
		if !h.add(v) {
			return nil, fmt.Errorf("%s: value %d is %T", what, i, v)
		}
	}
	sum := h.end()
	return sum[:], nil
}

func (h *Hasher) begin(what string) {
	if h.buf == nil {
		h.buf = make([]byte, 0, rowSize)
	}
	h.buf = append(append(append(h.buf[:0], "berth "...), what...), '\n')
}

func (h *Hasher) end() [sha256.Size]byte { return sha256.Sum256(h.buf) }

func (h *Hasher) add(v any) bool {
	switch v := v.(type) {
	case nil:
		h.buf = append(h.buf, null)
	case int64:
		h.number(v)
	case int32:
		h.number(int64(v))
	case int:
		h.number(int64(v))
	case *int64:
		if v == nil {
			h.buf = append(h.buf, null)
		} else {
			h.number(*v)
		}
	case time.Time:
		h.number(v.UnixMicro())
	case string:
		h.text(v)
	case *string:
		if v == nil {
			h.buf = append(h.buf, null)
		} else {
			h.text(*v)
		}
	case []byte:
		h.blob(v)
	default:
		return false
	}
	return true
}

func (h *Hasher) number(n int64) {
	h.buf = binary.BigEndian.AppendUint64(append(h.buf, number), uint64(n))
}

func (h *Hasher) text(s string) {
	h.buf = append(binary.BigEndian.AppendUint64(append(h.buf, text), uint64(len(s))), s...)
}

func (h *Hasher) blob(b []byte) {
	if len(b) == 0 {
		h.buf = append(h.buf, null)
		return
	}
	h.buf = append(binary.BigEndian.AppendUint64(append(h.buf, blob), uint64(len(b))), b...)
}
