package priorityclass

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/kube/object/stored"
	"berth/internal/store"
)

// Options tune a Registry. Zero fields take the defaults.
type Options struct {
	// Poll is how often the store is read for what other replicas wrote; 1 s
	// unless told. What this process writes is seen at once.
	Poll  time.Duration
	Clock func() time.Time
	Log   *slog.Logger
}

// maxClasses bounds a cluster's stored classes: all of them are in memory. The
// bound is judged by that memory, and so may be passed by a few in a race.
const maxClasses = 1000

// Registry keeps the stored classes of all clusters. It is safe for concurrent use.
type Registry struct {
	st store.PriorityClasses
	o  Options

	// byCluster holds the view of each cluster that has had classes. A value is
	// replaced whole, and readers take no lock.
	byCluster atomic.Pointer[map[string]*clusterClasses]
	mu        sync.Mutex // held while byCluster is replaced

	stop func()
	work sync.WaitGroup
}

// clusterClasses is a cluster's stored classes as of a version. It is never written.
type clusterClasses struct {
	version int64
	byName  map[string]*schedulingv1.PriorityClass
	// byDefault is the default class; nil without one.
	byDefault *schedulingv1.PriorityClass
}

// Open reads all clusters' classes and follows them until Close, which comes
// before the store's.
func Open(ctx context.Context, st store.PriorityClasses, o Options) (*Registry, error) {
	if o.Poll <= 0 {
		o.Poll = time.Second
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	r := &Registry{st: st, o: o}
	r.byCluster.Store(&map[string]*clusterClasses{})
	if err := r.Refresh(ctx); err != nil {
		return nil, fmt.Errorf("open priority classes: %w", err)
	}
	following, stop := context.WithCancel(context.WithoutCancel(ctx))
	r.stop = stop
	r.work.Go(func() { r.follow(following) })
	return r, nil
}

// Close ends the following.
func (r *Registry) Close() error {
	r.stop()
	r.work.Wait()
	return nil
}

func (r *Registry) follow(ctx context.Context) {
	tick := time.NewTicker(r.o.Poll)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := r.Refresh(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			r.o.Log.LogAttrs(ctx, slog.LevelWarn, "priority classes of other replicas are not seen", slog.String("error", err.Error()))
		}
		failing = err != nil
	}
}

// Refresh takes over what the store has of newer classes.
func (r *Registry) Refresh(ctx context.Context) error {
	versions, err := r.st.PriorityClassVersions(ctx)
	if err != nil {
		return err
	}
	for cluster, had := range *r.byCluster.Load() {
		if had.version == replaced { // the store may have none of it
			versions[cluster] = max(0, versions[cluster])
		}
	}
	for cluster, version := range versions {
		if p := (*r.byCluster.Load())[cluster]; p != nil && p.version >= version {
			continue
		}
		if err := r.refresh(ctx, cluster); err != nil {
			return err
		}
	}
	return nil
}

// Replaced has all classes read again from a store that took the place of another one, and whose
// versions may be older.
func (r *Registry) Replaced() {
	r.mu.Lock()
	defer r.mu.Unlock()
	after := maps.Clone(*r.byCluster.Load())
	for cluster, had := range after {
		again := *had
		again.version = replaced
		after[cluster] = &again
	}
	r.byCluster.Store(&after)
}

// replaced is the version of classes that no store is known to have.
const replaced = -1

// refresh reads one cluster's classes.
func (r *Registry) refresh(ctx context.Context, cluster string) error {
	list, version, err := r.st.PriorityClasses(ctx, cluster, false)
	if err != nil {
		return err
	}
	p := &clusterClasses{version: version, byName: make(map[string]*schedulingv1.PriorityClass, len(list))}
	for _, stored := range list {
		c := known(stored)
		p.byName[c.Name] = c
		if c.GlobalDefault {
			p.byDefault = c
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	before := *r.byCluster.Load()
	if had := before[cluster]; had != nil && had.version >= version {
		return nil
	}
	after := make(map[string]*clusterClasses, len(before)+1)
	for name, had := range before {
		after[name] = had
	}
	after[cluster] = p
	r.byCluster.Store(&after)
	return nil
}

// written shows a write of this process to its decisions at once. Where it
// cannot be read back, the next poll does it.
func (r *Registry) written(ctx context.Context, cluster string) {
	if err := r.refresh(context.WithoutCancel(ctx), cluster); err != nil {
		r.o.Log.LogAttrs(ctx, slog.LevelWarn, "a priority class that was written is not seen yet", slog.String("error", err.Error()))
	}
}

// Count returns how many classes a cluster has stored, and how many all clusters
// have together, a cluster that had some and has none counting as one. It is
// known from memory.
func (r *Registry) Count(cluster string) (inCluster, inAll int) {
	byCluster := *r.byCluster.Load()
	for _, p := range byCluster {
		inAll += max(len(p.byName), 1)
	}
	if p := byCluster[cluster]; p != nil {
		inCluster = len(p.byName)
	}
	return inCluster, inAll
}

// Class returns a cluster's stored class from memory, the default one for the
// name ""; nil without one: its name and what decisions read of it. The built-in
// classes are not among them. It is not to be written.
func (r *Registry) Class(cluster, name string) *schedulingv1.PriorityClass {
	p := (*r.byCluster.Load())[cluster]
	if p == nil {
		return nil
	}
	if name == "" {
		return p.byDefault
	}
	return p.byName[name]
}

// List returns a cluster's classes by name, the built-in ones included, and the
// resourceVersion of the list.
func (r *Registry) List(ctx context.Context, cluster string) (*schedulingv1.PriorityClassList, error) {
	stored, version, err := r.st.PriorityClasses(ctx, cluster, true)
	if err != nil {
		return nil, fmt.Errorf("list priority classes: %w", err)
	}
	return listOf(cluster, stored, version)
}

// Get returns a class; a *MissingError without one.
func (r *Registry) Get(ctx context.Context, cluster, name string) (*schedulingv1.PriorityClass, error) {
	if stored.SystemClass(name) != nil {
		return builtIn(cluster, name), nil
	}
	stored, err := r.st.PriorityClass(ctx, cluster, name)
	if errors.Is(err, store.ErrNotFound) {
		return nil, &MissingError{name}
	}
	if err != nil {
		return nil, fmt.Errorf("read priority class: %w", err)
	}
	return decode(stored)
}
