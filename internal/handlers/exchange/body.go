package exchange

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"berth/internal/handlers/limits"
	"berth/internal/memory"
	"berth/internal/span"
)

// lenience is by how much a body may be over its limit and still be read to its end, in bytes. Many
// clients send all of a body before they look for an answer: one that is cut off would get a broken
// connection, not the limit's name.
const lenience = 16 << 20

// firstRead is how much of an announced body is made room for before any of it has come.
const firstRead = 256 << 10

// readBody reads a body of at most limit bytes into buf. Compressed bodies are refused: only a
// snapshot may be one. setting names the limit. Memory for it is taken before it is allocated.
func readBody(w http.ResponseWriter, r *http.Request, buf []byte, limit limits.Bytes, setting string) ([]byte, error) {
	if enc := r.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return buf, UnsupportedEncoding(w, enc, "identity")
	}
	if r.ContentLength > int64(limit) {
		if r.ContentLength > int64(limit)+lenience {
			w.Header().Set("Connection", "close") // or the rest would be read for nothing
			return buf, bodyOver(setting, limit)
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return buf, unreadable(r, err)
		}
		return buf, bodyOver(setting, limit)
	}
	// A length is only an announcement: the buffer grows by what has come.
	n := int(min(r.ContentLength, firstRead))
	if err := memory.Take(r.Context(), bodyFactor*int64(max(n, bytes.MinRead))); err != nil {
		return buf, err
	}
	if n > cap(buf)-len(buf) {
		buf = slices.Grow(buf, n+bytes.MinRead)
	}
	in := r.Body
	if r.ContentLength <= 0 { // else net/http reads no more than was announced
		in = http.MaxBytesReader(w, in, int64(limit))
	}
	for {
		if len(buf) == cap(buf) {
			more := max(bytes.MinRead, len(buf))
			if r.ContentLength >= 0 {
				more = max(bytes.MinRead, min(len(buf), int(r.ContentLength)-len(buf)+bytes.MinRead))
			}
			if err := memory.Take(r.Context(), bodyFactor*int64(more)); err != nil {
				return buf, err
			}
			buf = slices.Grow(buf, more)
		}
		n, err := in.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return buf, nil
		case errors.As(err, new(*http.MaxBytesError)): // of no length that was said before
			_, _ = io.CopyN(io.Discard, r.Body, lenience)
			return buf, bodyOver(setting, limit)
		default:
			return buf, unreadable(r, err)
		}
	}
}

func bodyOver(setting string, limit limits.Bytes) error {
	return TooLarge(setting, fmt.Sprintf("the body is over the limit %s=%s", setting, limit))
}

// unreadable words a body that broke off.
func unreadable(r *http.Request, err error) error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	if ctxErr := r.Context().Err(); ctxErr != nil {
		return ctxErr
	}
	return &Error{Status: http.StatusBadRequest, Kind: "malformed", Detail: "the body could not be read to its end", Cause: err}
}

// UnsupportedEncoding refuses a body that is encoded.
func UnsupportedEncoding(w http.ResponseWriter, got, want string) error {
	w.Header().Set("Accept-Encoding", want)
	return &Error{
		Status: http.StatusUnsupportedMediaType, Kind: "media-type",
		Detail: fmt.Sprintf("Content-Encoding %.40q is not supported here; send %s", got, want),
	}
}

// RawBody reads a body into a pooled buffer, which the exchange gives back at its end: nothing of
// it may be kept.
func RawBody(w http.ResponseWriter, r *http.Request, limit limits.Bytes, setting string) ([]byte, error) {
	buf := Of(r.Context()).buffer()
	_, read := span.Start(r.Context(), span.Read)
	body, err := readBody(w, r, *buf, limit, setting)
	read.End(err)
	*buf = body
	return body, err
}
