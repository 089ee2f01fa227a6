package keyed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/klauspost/compress/zstd"

	"berth/internal/handlers/exchange"
)

// maxAnswer bounds an answer that is kept, compressed, and maxPlain before. That of a placement of
// 10,000 pods has 3 MB, and 0.4 MB compressed.
const (
	maxAnswer = 4 << 20
	maxPlain  = 64 << 20
)

// keptHeaders are the headers of an answer that are kept. Those of the connection, of limits and of
// the request's id are of each call.
var keptHeaders = []string{"Content-Type", "Location", "Warning", "X-Content-Type-Options", exchange.DecisionIDHeader}

// captureKey is the key of a context's *capture.
type captureKey struct{}

// capture holds an answer back until it is kept.
type capture struct {
	x      *exchange.Exchange
	out    http.ResponseWriter
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (c *capture) Header() http.Header { return c.out.Header() }

// WriteHeader implements http.ResponseWriter.
func (c *capture) WriteHeader(status int) {
	if c.status == 0 && status >= http.StatusOK {
		c.status = status
	}
}

// Write implements http.ResponseWriter.
func (c *capture) Write(b []byte) (int, error) {
	if c.status == 0 {
		c.status = http.StatusOK
	}
	return c.body.Write(b)
}

// Unwrap is for http.ResponseController.
func (c *capture) Unwrap() http.ResponseWriter { return c.out }

func (c *capture) code() int {
	if c.status == 0 {
		return http.StatusOK
	}
	return c.status
}

// reset forgets what was written of an answer: another one follows.
func (c *capture) reset() {
	c.status, c.x.Status, c.x.Bytes = 0, 0, 0
	c.body.Reset()
	for _, name := range keptHeaders {
		c.Header().Del(name)
	}
	c.Header().Del("Content-Length")
}

// send sends the answer.
func (c *capture) send() {
	c.out.WriteHeader(c.code())
	_, _ = c.out.Write(c.body.Bytes()) // a client that is gone repeats the call
}

// answer is an answer as it is kept: this as JSON in a line, and the body behind it.
type answer struct {
	Status int
	Header http.Header
	body   []byte
}

// encode returns the answer as it is kept.
func (c *capture) encode() ([]byte, error) {
	if c.body.Len() > maxPlain {
		return nil, fmt.Errorf("%w: %d bytes", errTooLong, c.body.Len())
	}
	a := answer{Status: c.code(), Header: http.Header{}}
	for _, name := range keptHeaders {
		if values := c.Header().Values(name); len(values) > 0 {
			a.Header[name] = values
		}
	}
	head, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("encode an answer: %w", err)
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, fmt.Errorf("compress an answer: %w", err)
	}
	packed := z.EncodeAll(append(append(head, '\n'), c.body.Bytes()...), nil)
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("compress an answer: %w", err)
	}
	if len(packed) > maxAnswer {
		return nil, fmt.Errorf("%w: %d bytes compressed", errTooLong, len(packed))
	}
	return packed, nil
}

// decode reads an answer that was kept.
func decode(packed []byte) (*answer, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(2*maxPlain))
	if err != nil {
		return nil, fmt.Errorf("read a kept answer: %w", err)
	}
	defer z.Close()
	plain, err := z.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("read a kept answer: %w", err)
	}
	head, body, _ := bytes.Cut(plain, []byte{'\n'})
	a := &answer{body: body}
	if err := json.Unmarshal(head, a); err != nil {
		return nil, fmt.Errorf("read a kept answer: %w", err)
	}
	return a, nil
}

// write sends a kept answer.
func (a *answer) write(w http.ResponseWriter) {
	w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.body)
}
