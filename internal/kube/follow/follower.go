package follow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"

	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/store"
)

// Clusters reads and writes the clusters' revisions. *revision.Manager implements it.
type Clusters interface {
	View(ctx context.Context, cluster string, rev int64) (*revision.View, error)
	Upload(ctx context.Context, cluster string, read object.Reader) (v *revision.View, created bool, err error)
	Update(ctx context.Context, cluster string, parent int64, f func(v *revision.View) (*revision.Step, error)) (*revision.View, *revision.Step, error)
}

// Options are what a Follower is made of. Cluster, Config, Clusters, Leads and
// Owner are needed.
type Options struct {
	Cluster  string
	Config   *rest.Config
	Clusters Clusters
	Leads    store.Leads
	// Confirmations pass requests to the server that holds the lease: nil if one server has the
	// store. Poll is the interval at which the holder reads them, 0 for never.
	Confirmations store.Confirmations
	Poll          time.Duration
	// Owner names this process among those that share the store, as the holder of the lease.
	Owner string
	// Window is how long changes are collected into one revision. The default is 20ms.
	Window time.Duration
	// Lease is the duration of the lease. The default is 5s.
	Lease time.Duration
	// Assumed is how long a bind counts as done without an event of the watch. After that the pod
	// is read from the apiserver. The default is 30s.
	Assumed time.Duration
	// Ping is the interval at which the apiserver's version is read. The default is 2s.
	Ping  time.Duration
	Clock func() time.Time
	Log   *slog.Logger
}

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&o.Window, 20 * time.Millisecond}, {&o.Lease, 5 * time.Second}, {&o.Assumed, 30 * time.Second}, {&o.Ping, 2 * time.Second}} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Log = o.Log.With(slog.String("cluster", o.Cluster))
	return o
}

// Follower follows one cluster. It is safe for concurrent use.
type Follower struct {
	o     Options
	began time.Time
	read  atomic.Bool // the cluster was read once, by any server

	mu      sync.Mutex
	lead    store.Lead // as last read
	heard   time.Time  // when
	until   time.Time  // this process holds the lease until then
	session *session   // nil unless this process holds the lease
	trail   Status     // sums over the sessions that ended
}

// Status describes a Follower to an operator.
type Status struct {
	Cluster string
	// Leading reports whether this process reads the cluster. Leader names the one that does.
	Leading bool
	Leader  string
	// Synced reports whether the whole cluster was read and is in the revisions.
	Synced bool
	// Stale is how long events may have been missed.
	Stale time.Duration
	// Problem describes what is wrong. It is empty if nothing is.
	Problem string
	// Events counts the events that changed what decisions read, Noise those that did not.
	// Revisions counts those written, Expired the assumed binds that were refuted, Unreadable the
	// objects that are left out.
	Events, Noise, Revisions, Expired int64
	Unreadable                        int
}

// New returns a Follower that follows once Run is called.
func New(o Options) *Follower {
	o = o.withDefaults()
	return &Follower{o: o, began: o.Clock()}
}

// Cluster returns the name of the cluster.
func (f *Follower) Cluster() string { return f.o.Cluster }

// Run follows the cluster until ctx ends, then releases the lease.
func (f *Follower) Run(ctx context.Context) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			f.end(true)
			return
		case <-pause.C:
		}
		f.claim(ctx)
		pause.Reset(f.o.Lease / 4)
	}
}

// claim requests the lease and begins or ends a session accordingly. While the store is unavailable
// a session goes on, though it cannot write: unless another server took over, nothing has to be
// read again.
func (f *Follower) claim(ctx context.Context) {
	asked := f.o.Clock()
	s := f.Status()
	limited, cancel := context.WithTimeout(ctx, f.o.Lease)
	defer cancel()
	now, err := f.o.Leads.Lead(limited, store.Lead{Cluster: f.o.Cluster, Owner: f.o.Owner, Synced: s.Leading && s.Synced, Stale: s.Stale}, f.o.Lease)
	if err != nil {
		if ctx.Err() == nil {
			f.o.Log.Warn("the lease could not be renewed: changes of the cluster cannot be written", slog.Any("error", err))
		}
		return
	}
	if now.Synced {
		f.read.Store(true)
	}
	f.mu.Lock()
	f.lead, f.heard = now, f.o.Clock()
	mine, running := now.Owner == f.o.Owner, f.session
	if mine {
		f.until = asked.Add(f.o.Lease)
	}
	f.mu.Unlock()
	if mine && running != nil && running.undone.Load() {
		f.o.Log.Warn("the cluster's revisions were deleted: reading it again")
		f.end(false)
		f.mu.Lock()
		running, f.until = nil, asked.Add(f.o.Lease)
		f.mu.Unlock()
	}
	switch {
	case mine && running == nil:
		f.o.Log.Info("following the cluster")
		// Events from before may be missing until the cluster has been read.
		t := f.begin(ctx, asked.Add(-s.Stale))
		f.mu.Lock()
		f.session = t
		f.mu.Unlock()
	case !mine && running != nil:
		f.o.Log.Info("another server follows the cluster", slog.String("owner", now.Owner))
		f.end(false)
	}
}

// end ends the session, and with resign releases the lease.
func (f *Follower) end(resign bool) {
	f.mu.Lock()
	t := f.session
	f.session, f.until = nil, time.Time{}
	f.mu.Unlock()
	if t == nil {
		return
	}
	t.stop()
	f.mu.Lock()
	f.trail.Events += t.cache.count(&t.cache.events)
	f.trail.Noise += t.cache.count(&t.cache.noise)
	f.trail.Revisions += t.revisions.Load()
	f.trail.Expired += t.expired.Load()
	f.mu.Unlock()
	if resign {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := f.o.Leads.Resign(ctx, f.o.Cluster, f.o.Owner); err != nil {
			f.o.Log.Warn("the lease was not released and expires by itself", slog.Any("error", err))
		}
	}
}

// leads reports whether this process holds the lease for certain.
func (f *Follower) leads() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.o.Clock().Before(f.until)
}

// Stale returns for how long events may have been missed. It costs less than Status, since every
// record has it.
func (f *Follower) Stale() time.Duration {
	f.mu.Lock()
	t, lead, since := f.session, f.lead, f.o.Clock().Sub(f.heard)
	f.mu.Unlock()
	switch {
	case t != nil:
		return t.stale()
	case lead.Owner == "":
		return f.o.Clock().Sub(f.began)
	}
	return lead.Stale + lead.Age + since
}

// Status returns the current status.
func (f *Follower) Status() Status {
	f.mu.Lock()
	t, s := f.session, f.trail
	lead := f.lead
	f.mu.Unlock()
	s.Cluster, s.Leader, s.Leading, s.Stale = f.o.Cluster, lead.Owner, t != nil, f.Stale()
	if t != nil {
		t.report(&s)
		return s
	}
	s.Synced = lead.Synced
	switch {
	case lead.Owner == "":
		s.Problem = "no server follows the cluster yet"
	case !s.Synced:
		s.Problem = fmt.Sprintf("%s has not read the whole cluster yet", lead.Owner)
	}
	return s
}

// Ready returns an error while decisions about the cluster cannot be made. Once any server has read
// the cluster it returns nil for good: what is missed after that makes the cluster stale.
func (f *Follower) Ready(context.Context) error {
	s := f.Status()
	if s.Synced {
		f.read.Store(true)
	}
	if f.read.Load() {
		return nil
	}
	if s.Problem == "" {
		s.Problem = "the cluster has not been read yet"
	}
	return errors.New(s.Problem)
}
