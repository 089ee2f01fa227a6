package kube

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"

	"berth/internal/cluster"
	"berth/internal/objects"
	"berth/internal/store"
)

// Clusters is what following needs of the clusters' revisions; *cluster.Manager
// is one.
type Clusters interface {
	View(ctx context.Context, cluster string, revision int64) (*cluster.View, error)
	Upload(ctx context.Context, cluster string, read objects.Reader) (v *cluster.View, created bool, err error)
	Update(ctx context.Context, cluster string, parent int64, f func(v *cluster.View) (*cluster.Step, error)) (*cluster.View, *cluster.Step, error)
}

// Options are what a Follower is made of. Cluster, Config, Clusters, Leads and
// Owner are needed.
type Options struct {
	Cluster  string
	Config   *rest.Config
	Clusters Clusters
	Leads    store.Leads
	// Confirmations carry questions to the server that leads; nil where nobody
	// else has the store. Poll is how often that one looks for them, 0 for never.
	Confirmations store.Confirmations
	Poll          time.Duration
	// Owner names this process among those that share the store.
	Owner string
	// Window is for how long changes are gathered into one revision; 20ms unless
	// told.
	Window time.Duration
	// Lease is for how long a server that went silent is waited for; 5s.
	Lease time.Duration
	// Assumed is for how long a bind is believed that no watch confirms; then the
	// apiserver is asked. 30s.
	Assumed time.Duration
	// Ping is how often the apiserver is asked for a sign of life; 2s.
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
	read  atomic.Bool // the cluster was read once, by whomever

	mu     sync.Mutex
	lead   store.Lead // as last heard
	heard  time.Time  // when
	until  time.Time  // the lease is ours until then
	tenure *tenure    // while this process leads
	trail  Status     // counts of tenures that ended
}

// Status is what an operator may know of a Follower.
type Status struct {
	Cluster string
	// Leading says that this process reads the cluster; another one's is told
	// by Leader.
	Leading bool
	Leader  string
	// Synced says that the whole cluster was read and is in the revisions.
	Synced bool
	// Stale is for how long something may have been missed.
	Stale time.Duration
	// Problem says what is wrong; empty where nothing is.
	Problem string
	// Events were heard that changed something, Noise that changed nothing that
	// decisions read. Revisions were written. Unreadable objects are left out.
	Events, Noise, Revisions, Expired int64
	Unreadable                        int
}

// New makes a Follower; Run makes it follow.
func New(o Options) *Follower {
	o = o.withDefaults()
	return &Follower{o: o, began: o.Clock()}
}

// Cluster is the name of the cluster that is followed.
func (f *Follower) Cluster() string { return f.o.Cluster }

// Run follows until ctx ends, and gives up the lease then.
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

// claim asks for the lease and begins or ends a tenure accordingly. While the
// store is away a tenure goes on, though it cannot write: where nobody else took
// over meanwhile nothing is to be read again.
func (f *Follower) claim(ctx context.Context) {
	asked := f.o.Clock()
	s := f.Status()
	limited, cancel := context.WithTimeout(ctx, f.o.Lease)
	defer cancel()
	now, err := f.o.Leads.Lead(limited, store.Lead{Cluster: f.o.Cluster, Owner: f.o.Owner, Synced: s.Leading && s.Synced, Stale: s.Stale}, f.o.Lease)
	if err != nil {
		if ctx.Err() == nil {
			f.o.Log.Warn("nothing that the cluster says can be written now", slog.Any("error", err))
		}
		return
	}
	if now.Synced {
		f.read.Store(true)
	}
	f.mu.Lock()
	f.lead, f.heard = now, f.o.Clock()
	mine, running := now.Owner == f.o.Owner, f.tenure
	if mine {
		f.until = asked.Add(f.o.Lease)
	}
	f.mu.Unlock()
	if mine && running != nil && running.undone.Load() {
		f.o.Log.Warn("the cluster's revisions were deleted: it is read anew")
		f.end(false)
		f.mu.Lock()
		running, f.until = nil, asked.Add(f.o.Lease)
		f.mu.Unlock()
	}
	switch {
	case mine && running == nil:
		f.o.Log.Info("following the cluster")
		// What nobody saw before is missed until the cluster has been read anew.
		t := f.begin(ctx, asked.Add(-s.Stale))
		f.mu.Lock()
		f.tenure = t
		f.mu.Unlock()
	case !mine && running != nil:
		f.o.Log.Info("another server follows the cluster", slog.String("owner", now.Owner))
		f.end(false)
	}
}

// end ends a tenure, and with resign the lease.
func (f *Follower) end(resign bool) {
	f.mu.Lock()
	t := f.tenure
	f.tenure, f.until = nil, time.Time{}
	f.mu.Unlock()
	if t == nil {
		return
	}
	t.stop()
	f.mu.Lock()
	f.trail.Events += t.mirror.count(&t.mirror.events)
	f.trail.Noise += t.mirror.count(&t.mirror.noise)
	f.trail.Revisions += t.revisions.Load()
	f.trail.Expired += t.expired.Load()
	f.mu.Unlock()
	if resign {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := f.o.Leads.Resign(ctx, f.o.Cluster, f.o.Owner); err != nil {
			f.o.Log.Warn("the lease on following the cluster runs out by itself", slog.Any("error", err))
		}
	}
}

// leads says whether the lease is ours for certain.
func (f *Follower) leads() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.o.Clock().Before(f.until)
}

// Stale tells for how long something may have been missed: what every record
// says, and so less work than a Status.
func (f *Follower) Stale() time.Duration {
	f.mu.Lock()
	t, lead, since := f.tenure, f.lead, f.o.Clock().Sub(f.heard)
	f.mu.Unlock()
	switch {
	case t != nil:
		return t.stale()
	case lead.Owner == "":
		return f.o.Clock().Sub(f.began)
	}
	return lead.Stale + lead.Age + since
}

// Status tells how following goes.
func (f *Follower) Status() Status {
	f.mu.Lock()
	t, s := f.tenure, f.trail
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
		s.Problem = "nobody follows the cluster yet"
	case !s.Synced:
		s.Problem = fmt.Sprintf("%s has not read the whole cluster yet", lead.Owner)
	}
	return s
}

// Ready says why decisions about the cluster cannot be made yet. Once it has
// been read, by whichever server, that is over for good: what is missed later
// makes it stale, such as while another server takes over.
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
