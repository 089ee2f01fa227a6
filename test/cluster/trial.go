package main

import "context"

// trial is what most scenarios have: one or more berths, a recorder in front of
// them, and a kube-scheduler that asks through it until it is stopped.
type trial struct {
	s        *server // whose records are looked at
	f        *frontend
	stop     func()
	database string // of the servers; empty for the embedded store
	binds    bool   // berth does
}

// enforced has berth's word count in everything. Of several servers on one
// database the last one's records are looked at.
func (e *env) enforced(p profile, database string, servers ...*server) (*trial, error) {
	t := &trial{s: servers[len(servers)-1], database: database, binds: true}
	var err error
	if t.f, err = e.front(servers...); err != nil {
		return nil, err
	}
	t.stop, err = e.schedule(p, enforcing(t.f.calls("")))
	return t, err
}

// shadowed has berth look on.
func (e *env) shadowed(s *server, flags ...string) (*trial, error) {
	t := &trial{s: s}
	var err error
	if t.f, err = e.front(s); err != nil {
		return nil, err
	}
	t.stop, err = e.schedule(full, asking(t.f.calls("shadow")), flags...)
	return t, err
}

// books does the books: all records are replayed, every pod's way to its node is
// on record, and so is every answer.
func (e *env) books(ctx context.Context, t *trial) (*books, error) {
	b, err := e.bookkeeping(ctx, t.s, t.database)
	if err != nil {
		return nil, err
	}
	e.bound(b, t.binds)
	e.answered(b, t.f)
	return b, nil
}
