package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"berth/internal/handlers/exchange"
)

// pieces is a connection that notes each write.
type pieces struct {
	net.Conn
	list []string
}

func (p *pieces) Write(b []byte) (int, error) {
	p.list = append(p.list, string(b))
	return len(b), nil
}

// TestWritesAreJoined: a full buffer waits where it was said that more follows, and nothing else
// does.
func TestWritesAreJoined(t *testing.T) {
	var to pieces
	n := &conn{Conn: &to}
	write := func(size, writes int) {
		t.Helper()
		if k, err := n.Write(make([]byte, size)); k != size || err != nil {
			t.Errorf("wrote %d of %d bytes: %v", k, size, err)
		}
		if len(to.list) != writes {
			t.Errorf("%d bytes: %d writes, want %d", size, len(to.list), writes)
		}
	}
	write(httpBuffer, 1) // nothing was said
	n.joins = true
	write(100, 2) // the buffer was flushed, not full
	write(httpBuffer, 3)
	n.joins = true
	write(httpBuffer, 3)
	write(5000, 5) // both; a socket takes them in one call
	write(10, 6)
}

// TestLongAnswersArriveWhole sends bodies around the sizes of buffers over one connection.
func TestLongAnswersArriveWhole(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := newConns(l, 4, 4)
	text := bytes.Repeat([]byte("0123456789abcdef/"), 4096)
	handler := func(w http.ResponseWriter, r *http.Request) {
		size := int(r.ContentLength)
		if size >= 2*httpBuffer {
			r.Context().Value(exchange.JoinKey{}).(func())()
		}
		_, _ = w.Write(text[:size])
	}
	s := &http.Server{Handler: http.HandlerFunc(handler), ConnState: c.state, ConnContext: joining, ReadHeaderTimeout: time.Minute}
	done := make(chan error, 1)
	go func() { done <- s.Serve(c) }()
	t.Cleanup(func() { _ = s.Close(); <-done })
	for _, size := range []int{1, 2000, 4096, 8191, 8192, 8193, 12288, 16384, 31000, 65536, 8192, 1} {
		res, err := http.Post("http://"+l.Addr().String(), "text/plain", bytes.NewReader(text[:size]))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || !bytes.Equal(got, text[:size]) {
			t.Errorf("%d bytes: got %d: %v", size, len(got), err)
		}
	}
}
