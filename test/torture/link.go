//go:build linux

package main

import (
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
)

// link is one replica's way to Postgres, which can be cut (connections are
// closed) or clogged (nothing arrives, nothing is refused).
type link struct {
	dir, target string
	listener    net.Listener
	done        sync.WaitGroup

	mu    sync.Mutex
	free  *sync.Cond // signalled when the state changes
	state linkState
	conns map[net.Conn]bool
}

type linkState int

const (
	linkOpen linkState = iota
	linkCut
	linkClogged
	linkClosed
)

func newLink(target string) (*link, error) {
	dir, err := os.MkdirTemp("", "tl") // a socket's path may have a hundred letters or so
	if err != nil {
		return nil, err
	}
	l := &link{dir: dir, target: target, conns: map[net.Conn]bool{}}
	l.free = sync.NewCond(&l.mu)
	if l.listener, err = net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432")); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	l.done.Go(l.accept)
	return l, nil
}

// url is the database's address by this way.
func (l *link) url() string {
	q := url.Values{"host": {l.dir}, "port": {"5432"}, "user": {"berth"}, "sslmode": {"disable"}}
	return "postgres:///postgres?" + q.Encode()
}

// set changes what becomes of connections; those that are open are closed by a cut.
func (l *link) set(s linkState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = s
	if s == linkCut || s == linkClosed {
		for c := range l.conns {
			_ = c.Close() // it is to break
		}
		clear(l.conns)
	}
	l.free.Broadcast()
}

func (l *link) accept() {
	for {
		c, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.done.Go(func() { l.serve(c) })
	}
}

func (l *link) serve(c net.Conn) {
	if !l.pass(c) {
		return
	}
	to, err := net.Dial("unix", l.target)
	if err != nil {
		_ = c.Close()
		return
	}
	if !l.pass(to) {
		_ = c.Close()
		return
	}
	l.done.Go(func() { l.copy(c, to) })
	l.copy(to, c)
}

// pass registers a connection unless there is none to be had, in which case it
// is closed.
func (l *link) pass(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state == linkCut || l.state == linkClosed {
		_ = c.Close()
		return false
	}
	l.conns[c] = true
	return true
}

// copy carries bytes one way for as long as the way is open.
func (l *link) copy(to, from net.Conn) {
	defer func() {
		l.mu.Lock()
		delete(l.conns, to)
		delete(l.conns, from)
		l.mu.Unlock()
		_, _ = to.Close(), from.Close()
	}()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		l.mu.Lock()
		for l.state == linkClogged {
			l.free.Wait()
		}
		l.mu.Unlock()
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (l *link) close() error {
	l.set(linkClosed)
	err := l.listener.Close()
	l.done.Wait()
	return errors.Join(err, os.RemoveAll(l.dir))
}
