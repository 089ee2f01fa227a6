package main

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"berth/internal/handlers/exchange"
	"berth/internal/handlers/limits"
)

// serveConns serves with few connections.
func serveConns(t *testing.T, most int) (address string, c *conns) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c = newConns(l, most, most)
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) }), ConnState: c.state, ReadHeaderTimeout: time.Minute}
	done := make(chan error, 1)
	go func() { done <- s.Serve(c) }()
	t.Cleanup(func() { _ = s.Close(); <-done })
	return l.Addr().String(), c
}

func dialGet(t *testing.T, address string, get bool) (net.Conn, error) {
	nc, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	if !get {
		return nc, nil
	}
	_ = nc.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = fmt.Fprint(nc, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	res, err := http.ReadResponse(bufio.NewReader(nc), nil)
	if err != nil {
		return nc, err
	}
	return nc, res.Body.Close()
}

// TestIdleConnectionsGiveWay: those that are kept alive and those that say nothing do not keep new
// ones out.
func TestIdleConnectionsGiveWay(t *testing.T) {
	for _, get := range []bool{true, false} {
		address, c := serveConns(t, 5)
		for range 20 {
			if _, err := dialGet(t, address, get); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := dialGet(t, address, true); err != nil {
			t.Errorf("a new connection beside silent ones (after a GET: %v): %v", get, err)
		}
		c.mu.Lock()
		if len(c.open) > 5 {
			t.Errorf("%d connections", len(c.open))
		}
		c.mu.Unlock()
	}
}

type fakeConn struct {
	net.Conn
	from   string
	closed bool
}

func (f *fakeConn) Close() error { f.closed = true; return nil }

func (f *fakeConn) RemoteAddr() net.Addr { a, _ := net.ResolveTCPAddr("tcp", f.from); return a }

// TestConnectionsPerPeer: one address has its share, and its idle connections give way to its own
// first.
func TestConnectionsPerPeer(t *testing.T) {
	c := newConns(nil, 10, 2)
	add := func(from string) (*conn, bool) {
		f := &fakeConn{from: from}
		n := c.of(f)
		return n, c.place(n)
	}
	first, ok1 := add("192.0.2.1:1")
	_, ok2 := add("192.0.2.1:2")
	if _, ok := add("192.0.2.1:3"); !ok1 || !ok2 || ok {
		t.Error("a third connection of one address was let in")
	}
	if _, ok := add("192.0.2.2:1"); !ok {
		t.Error("another address was kept out")
	}
	for i := range 3 {
		if _, ok := add(fmt.Sprintf("127.0.0.1:%d", i+1)); !ok {
			t.Error("loopback is bounded")
		}
	}
	c.state(first, http.StateIdle)
	if _, ok := add("192.0.2.1:4"); !ok || !first.Conn.(*fakeConn).closed {
		t.Error("the address's own idle connection did not give way")
	}
}

// TestWhoGivesWay: idle connections of the address that has most are closed first, of these one
// that no identity called on, and none that an identity called on in the last seconds.
func TestWhoGivesWay(t *testing.T) {
	add := func(c *conns, from string) *conn {
		n := c.of(&fakeConn{from: from})
		if !c.place(n) {
			t.Fatalf("%s was kept out", from)
		}
		c.state(n, http.StateIdle)
		return n
	}
	gone := func(n *conn) bool { return n.Conn.(*fakeConn).closed }
	for _, many := range []string{"192.0.2.1", "127.0.0.1"} {
		c := newConns(nil, 5, 5)
		lone := add(c, "192.0.2.9:1")
		named, other, last := add(c, many+":1"), add(c, many+":2"), add(c, many+":3")
		named.named.Store(time.Now().Add(-time.Minute).UnixNano())
		recent := add(c, many+":4")
		recent.named.Store(time.Now().UnixNano())
		for i, want := range []*conn{other, last, named} {
			add(c, fmt.Sprintf("192.0.2.%d:1", 20+i))
			if !gone(want) {
				t.Errorf("%s: connection %d did not give way", many, i)
			}
		}
		if gone(lone) || gone(recent) {
			t.Errorf("%s: the connection of another address (%v) or of an identity (%v) gave way", many, gone(lone), gone(recent))
		}
	}
}

// TestIdentitiesKeepTheirConnections: a call of an identity marks its connection, also with TLS.
func TestIdentitiesKeepTheirConnections(t *testing.T) {
	c := newConns(nil, 5, 5)
	plain, secret := c.of(&fakeConn{from: "192.0.2.1:1"}), c.of(&fakeConn{from: "192.0.2.1:2"})
	for n, over := range map[*conn]net.Conn{plain: plain, secret: tls.Server(secret, &tls.Config{})} {
		joining(t.Context(), over).Value(exchange.NamedKey{}).(func())()
		if n.named.Load() == 0 {
			t.Errorf("%T: not marked", over)
		}
	}
}

// TestStreamsAreBounded: one connection of HTTP/2 carries as many calls at once as an apiserver's.
func TestStreamsAreBounded(t *testing.T) {
	limits := limits.Default()
	s := (&place{limits: &limits}).server(t.Context(), slog.New(slog.DiscardHandler))
	if s.HTTP2 == nil || s.HTTP2.MaxConcurrentStreams != 100 {
		t.Errorf("%+v", s.HTTP2)
	}
}
