package main

import (
	"container/list"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// silent is after how long a connection on which nothing has come yet gives way to a new one.
const silent = time.Second

// trusted is for how long an idle connection is kept after a call of an identity on it: its caller
// is about to send the next one.
const trusted = 10 * time.Second

// conns bounds the connections of a listener, in all and of one peer. When all are taken, an idle
// one is closed for a new one: of the address that has most, one on which no identity has called
// before one where one has, and of these the one that has been idle longest. Without an idle one it
// is one that has said nothing yet.
type conns struct {
	net.Listener
	max, perPeer int

	mu sync.Mutex
	// guarded by mu
	open  map[net.Conn]*conn
	idle  *list.List // of *conn: idle between requests, longest first
	fresh *list.List // of *conn: nothing has come yet, oldest first
	peers map[string]int
	hosts map[string]int // by address, those of loopback too
	freed chan struct{}  // holds a token after a connection was closed
}

// conn is a connection that is counted.
type conn struct {
	net.Conn
	all   *conns
	since time.Time
	peer  string        // "": of loopback
	host  string        // its address
	named atomic.Int64  // when an identity called last, Unix time in ns; 0: never
	in    *list.List    // idle, fresh or nil
	at    *list.Element // in it
	once  sync.Once

	joiner
}

func newConns(l net.Listener, most, perPeer int) *conns {
	return &conns{Listener: l, max: most, perPeer: perPeer, open: map[net.Conn]*conn{}, idle: list.New(), fresh: list.New(), peers: map[string]int{}, hosts: map[string]int{}, freed: make(chan struct{}, 1)}
}

// Accept implements net.Listener.
func (c *conns) Accept() (net.Conn, error) {
	for {
		raw, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		n := c.of(raw)
		if !c.place(n) {
			_ = raw.Close()
			continue
		}
		return n, nil
	}
}

// of makes the counted connection of a new one.
func (c *conns) of(raw net.Conn) *conn {
	n := &conn{Conn: raw, all: c, since: time.Now(), peer: peerOf(raw.RemoteAddr())}
	if n.host, _, _ = net.SplitHostPort(raw.RemoteAddr().String()); n.peer != "" {
		n.host = n.peer // of IPv6 the network
	}
	return n
}

// place waits for room for a connection; false: its peer has as many as it may.
func (c *conns) place(n *conn) bool {
	for {
		c.mu.Lock()
		crowded := n.peer != "" && c.peers[n.peer] >= c.perPeer
		victim := (*conn)(nil)
		if crowded || len(c.open) >= c.max {
			victim = c.victim(n.peer, crowded)
		}
		switch {
		case victim == nil && crowded:
			c.mu.Unlock()
			return false
		case victim == nil && len(c.open) < c.max:
			c.open[n] = n
			c.hosts[n.host]++
			c.count(n.peer, 1)
			c.move(n, c.fresh)
			c.mu.Unlock()
			return true
		}
		c.mu.Unlock()
		if victim != nil {
			_ = victim.Close()
			continue
		}
		select {
		case <-c.freed:
		case <-time.After(100 * time.Millisecond): // one may have been silent for long enough
		}
	}
}

// victim finds the connection that gives way; of one peer where that is full. The caller holds mu.
func (c *conns) victim(peer string, same bool) *conn {
	var best *conn
	now := time.Now().UnixNano()
	for e := c.idle.Front(); e != nil; e = e.Next() {
		v := e.Value.(*conn)
		if same && v.peer != peer || now-v.named.Load() < int64(trusted) {
			continue
		}
		if best == nil || c.before(v, best) {
			best = v
		}
	}
	if best != nil {
		return best
	}
	if e := c.fresh.Front(); e != nil && !same && time.Since(e.Value.(*conn).since) > silent {
		return e.Value.(*conn)
	}
	return nil
}

// before reports whether a connection gives way before another that has been idle for longer. The
// caller holds mu.
func (c *conns) before(v, other *conn) bool {
	if n, m := c.hosts[v.host], c.hosts[other.host]; n != m {
		return n > m
	}
	return v.named.Load() == 0 && other.named.Load() != 0
}

func (c *conns) count(peer string, n int) {
	if peer == "" {
		return
	}
	if c.peers[peer] += n; c.peers[peer] <= 0 {
		delete(c.peers, peer)
	}
}

func (c *conns) move(n *conn, to *list.List) {
	if n.at != nil {
		n.in.Remove(n.at)
		n.at, n.in = nil, nil
	}
	if to != nil {
		n.at, n.in = to.PushBack(n), to
	}
}

// Close implements net.Conn.
func (n *conn) Close() error {
	n.once.Do(func() {
		c := n.all
		c.mu.Lock()
		c.move(n, nil)
		if c.open[n] != nil {
			delete(c.open, n)
			if c.hosts[n.host]--; c.hosts[n.host] <= 0 {
				delete(c.hosts, n.host)
			}
			c.count(n.peer, -1)
		}
		c.mu.Unlock()
		select {
		case c.freed <- struct{}{}:
		default:
		}
	})
	return n.Conn.Close()
}

// state follows what the HTTP server makes of a connection.
func (c *conns) state(nc net.Conn, s http.ConnState) {
	name := ""
	if t, ok := nc.(*tls.Conn); ok {
		if s == http.StateActive {
			if certs := t.ConnectionState().PeerCertificates; len(certs) > 0 {
				name = "name " + certs[0].Subject.CommonName
			}
		}
		nc = t.NetConn()
	}
	n, ok := nc.(*conn)
	if !ok {
		return
	}
	c.mu.Lock()
	if c.open[n] == nil { // closed already
		c.mu.Unlock()
		return
	}
	full := false
	switch s {
	case http.StateActive:
		c.move(n, nil)
		if name != "" && n.peer != name { // known from the handshake on
			c.count(n.peer, -1)
			n.peer = name
			c.count(name, 1)
			full = c.peers[name] > c.perPeer
		}
	case http.StateIdle:
		c.move(n, c.idle)
	}
	var victim *conn
	if full {
		if victim = c.victim(name, true); victim == nil {
			victim = n
		}
	}
	c.mu.Unlock()
	if victim != nil {
		_ = victim.Close()
	}
}

// peerOf is who connections are counted for: an address, of IPv6 its network; none for loopback,
// where all clients share one address.
func peerOf(a net.Addr) string {
	from, err := netip.ParseAddrPort(a.String())
	if err != nil || from.Addr().IsLoopback() {
		return ""
	}
	addr := from.Addr().Unmap()
	if addr.Is4() {
		return addr.String()
	}
	network, _ := addr.WithZone("").Prefix(64)
	return network.String()
}
