package main

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"berth/internal/handlers/exchange"
)

// httpBuffer is the size of net/http's buffer of what it writes to a connection.
const httpBuffer = 4 << 10

// joiner lets a connection send the beginning of a long answer, which net/http writes when its
// buffer is full, together with the rest, which it writes next: one system call less, and the
// client is woken once.
type joiner struct {
	joins bool   // the next write is such a beginning
	begun []byte // what waits for the rest
	both  net.Buffers
}

// joining is the ConnContext of a server. Records of TLS are joined by their own rules.
func joining(ctx context.Context, c net.Conn) context.Context {
	raw := c
	if t, ok := c.(*tls.Conn); ok {
		raw = t.NetConn()
	}
	if n, ok := raw.(*conn); ok {
		ctx = context.WithValue(ctx, exchange.NamedKey{}, func() { n.named.Store(time.Now().UnixNano()) })
	}
	if n, ok := c.(*conn); ok {
		return context.WithValue(ctx, exchange.JoinKey{}, func() { n.joins = true })
	}
	return ctx
}

// Write implements net.Conn.
func (n *conn) Write(b []byte) (int, error) {
	waits := n.joins && len(b) == httpBuffer
	n.joins = false
	switch {
	case waits:
		n.begun = append(n.begun[:0], b...)
		return len(b), nil
	case len(n.begun) == 0:
		return n.Conn.Write(b)
	}
	n.both = append(n.both[:0], n.begun, b)
	sent, err := n.both.WriteTo(n.Conn)
	sent -= int64(len(n.begun))
	n.begun = n.begun[:0]
	return int(max(0, sent)), err
}
