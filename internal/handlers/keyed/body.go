package keyed

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"net/http"

	"berth/internal/handlers/exchange"
)

// mostDrained is how much of a body is read that a handler has left, as by net/http itself.
const mostDrained = 256 << 10

// printed is a body that is hashed as it is read.
type printed struct {
	io.ReadCloser
	sum   hash.Hash
	n     uint64
	ended bool
}

func newPrinted(body io.ReadCloser) *printed {
	return &printed{ReadCloser: body, sum: sha256.New(), ended: body == http.NoBody}
}

// Read implements io.Reader.
func (p *printed) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	p.sum.Write(b[:n])
	p.n += uint64(n)
	p.ended = p.ended || errors.Is(err, io.EOF)
	return n, err //nolint:wrapcheck // readers compare it with io.EOF
}

// drain reads what a handler has left, and reports whether the whole body is read.
func (p *printed) drain() bool {
	if !p.ended {
		_, _ = io.CopyN(io.Discard, p, mostDrained)
	}
	return p.ended
}

// print stands for what was read: whether that is all, how much it is, and its hash.
func (p *printed) print() []byte {
	out := []byte{0}
	if p.ended {
		out[0] = 1
	}
	return p.sum.Sum(binary.BigEndian.AppendUint64(out, p.n))
}

// samePrint reports whether a body is the one that a print stands for.
func samePrint(print []byte, body io.ReadCloser) (bool, error) {
	if len(print) < 9 {
		return false, nil
	}
	p := newPrinted(body)
	whole, n := print[0] == 1, int64(binary.BigEndian.Uint64(print[1:9]))
	if _, err := io.CopyN(io.Discard, p, n); err != nil && !errors.Is(err, io.EOF) {
		return false, unread(err)
	}
	if uint64(n) != p.n || !bytes.Equal(p.print()[1:], print[1:]) {
		return false, nil
	}
	if whole {
		if _, err := io.CopyN(io.Discard, p, 1); err != nil && !errors.Is(err, io.EOF) {
			return false, unread(err)
		}
		return uint64(n) == p.n, nil
	}
	return true, nil
}

func unread(err error) error {
	return &exchange.Error{Status: http.StatusBadRequest, Kind: "malformed", Detail: "the body could not be read to its end", Cause: err}
}
