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

// Sum returns the hash of a row's values behind the name of what they are.
func (h *Hasher) Sum(what string, values ...any) ([]byte, error) {
	h.buf = append(append(h.buf[:0], "berth "...), what...)
	h.buf = append(h.buf, '\n')
	for i, v := range values {
		if !h.add(v) {
			return nil, fmt.Errorf("%s: value %d is %T", what, i, v)
		}
	}
	sum := sha256.Sum256(h.buf)
	return sum[:], nil
}

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
		h.buf = binary.BigEndian.AppendUint64(append(h.buf, text), uint64(len(v)))
		h.buf = append(h.buf, v...)
	case *string:
		if v == nil {
			h.buf = append(h.buf, null)
		} else {
			return h.add(*v)
		}
	case []byte:
		if len(v) == 0 {
			h.buf = append(h.buf, null)
			break
		}
		h.buf = binary.BigEndian.AppendUint64(append(h.buf, blob), uint64(len(v)))
		h.buf = append(h.buf, v...)
	default:
		return false
	}
	return true
}

func (h *Hasher) number(n int64) {
	h.buf = binary.BigEndian.AppendUint64(append(h.buf, number), uint64(n))
}
