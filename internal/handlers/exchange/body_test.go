package exchange

import (
	"bytes"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
)

// A header alone must not take memory for the body that it announces.
func TestBodiesGrowByWhatHasCome(t *testing.T) {
	const announced = 100 << 20
	r := httptest.NewRequest("POST", "/filter", io.MultiReader(strings.NewReader("{"), iotest.ErrReader(io.ErrUnexpectedEOF)))
	r.ContentLength = announced
	buf, err := readBody(httptest.NewRecorder(), r, nil, 128<<20, "nodes-max-bytes")
	if err == nil || cap(buf) > 1<<20 {
		t.Errorf("%d bytes are held for one that came: %v", cap(buf), err)
	}
	body := bytes.Repeat([]byte("0123456789abcdef"), 300_000)
	for _, length := range []int64{int64(len(body)), -1} {
		r := httptest.NewRequest("POST", "/filter", bytes.NewReader(body))
		r.ContentLength = length
		got, err := readBody(httptest.NewRecorder(), r, nil, 128<<20, "nodes-max-bytes")
		if err != nil || !bytes.Equal(got, body) || cap(got) > 3*len(body) {
			t.Errorf("length %d: %d of %d bytes in %d: %v", length, len(got), len(body), cap(got), err)
		}
	}
}
