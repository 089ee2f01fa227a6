package main

import (
	"net"
	"sync"
	"time"
)

// wire is a way to an address on which what comes back can be late, and which can
// be cut. What is carried may be TLS.
type wire struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	lag   time.Duration
	cut   bool
	conns map[net.Conn]bool
}

func newWire(target string, lag time.Duration) (*wire, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &wire{listener: l, target: target, lag: lag, conns: map[net.Conn]bool{}}
	go w.accept()
	return w, nil
}

func (w *wire) address() string { return w.listener.Addr().String() }

func (w *wire) accept() {
	for {
		c, err := w.listener.Accept()
		if err != nil {
			return
		}
		go w.serve(c)
	}
}

func (w *wire) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	w.mu.Lock()
	cut := w.cut
	w.mu.Unlock()
	if cut {
		return
	}
	to, err := net.Dial("tcp", w.target)
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }()
	if !w.hold(c, to) {
		return
	}
	defer w.drop(c, to)
	go func() {
		defer w.drop(c, to)
		w.carry(to, c, false)
	}()
	w.carry(c, to, true)
}

func (w *wire) hold(list ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range list {
		w.conns[c] = true
	}
	return !w.cut
}

func (w *wire) drop(list ...net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range list {
		_ = c.Close()
		delete(w.conns, c)
	}
}

// carry passes bytes on; late ones keep their order and their distances.
func (w *wire) carry(to, from net.Conn, late bool) {
	type parcel struct {
		bytes []byte
		due   time.Time
	}
	queue := make(chan parcel, 4096)
	go func() {
		defer close(queue)
		for {
			buf := make([]byte, 32<<10)
			n, err := from.Read(buf)
			if n > 0 {
				w.mu.Lock()
				due := time.Now()
				if late {
					due = due.Add(w.lag)
				}
				w.mu.Unlock()
				queue <- parcel{buf[:n], due}
			}
			if err != nil {
				return
			}
		}
	}()
	failed := false
	for p := range queue { // to its end, so that the reader can end
		time.Sleep(time.Until(p.due))
		if !failed {
			_, err := to.Write(p.bytes)
			if failed = err != nil; failed {
				w.drop(to, from)
			}
		}
	}
}

// sever breaks open connections and refuses new ones until mend.
func (w *wire) sever() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = true
	for c := range w.conns {
		_ = c.Close()
	}
}

func (w *wire) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = false
}

func (w *wire) close() {
	w.sever()
	_ = w.listener.Close()
}
