package kube

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"berth/internal/cluster"
	"berth/internal/objects"
	"berth/internal/store"
)

// tenure is the time during which this process follows a cluster.
type tenure struct {
	f      *Follower
	mirror *mirror
	links  *links
	began  time.Time
	missed time.Time // from then on, until the cluster has been read
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	core      atomic.Pointer[rest.RESTClient]
	synced    atomic.Bool // the whole cluster is in the revisions
	undone    atomic.Bool // and then was taken out of them by somebody else
	revisions atomic.Int64
	expired   atomic.Int64
	newest    atomic.Int64 // revision that holds all that was written
	watched   atomic.Pointer[[]watched]
	reads     reads
	trouble   atomic.Pointer[string] // the last thing that went wrong in writing

	assumed map[objects.Key]assumption // of the writing goroutine alone
}

func (f *Follower) begin(ctx context.Context, missed time.Time) *tenure {
	t := &tenure{
		f: f, mirror: newMirror(f.o.Log, f.o.Clock), links: newLinks(f.o.Clock, f.o.Ping), began: f.o.Clock(), missed: missed,
		assumed: map[objects.Key]assumption{},
	}
	ctx, t.cancel = context.WithCancel(ctx)
	t.ctx = ctx
	t.work.Go(func() {
		if t.connect(ctx) {
			t.write(ctx)
		}
	})
	return t
}

func (t *tenure) stop() {
	t.cancel()
	t.work.Wait()
}

// connect starts the watches, trying until it can or ctx ends.
func (t *tenure) connect(ctx context.Context) bool {
	for pause := t.f.o.Window; ; pause = min(2*pause, 10*time.Second) {
		err := t.start(ctx)
		if err == nil {
			return true
		}
		t.say(err)
		if !sleep(ctx, pause) {
			return false
		}
	}
}

func (t *tenure) start(ctx context.Context) error {
	var list []watched
	for _, k := range kinds {
		r, err := client(t.f.o.Config, k.Group)
		if err != nil {
			return err
		}
		if k.Kind == "Node" {
			t.core.Store(r)
		}
		if k.Optional {
			served, err := serves(ctx, r, k)
			if err != nil {
				return err
			}
			if !served {
				t.mirror.absent(k)
				continue
			}
		}
		list = append(list, watched{k, r})
	}
	for _, w := range list {
		into := t.mirror.store(w.kind, func() { t.links.listed(w.kind.Kind) })
		reflector := cache.NewReflectorWithOptions(t.links.listWatch(w.kind, w.client), w.kind.object, into,
			cache.ReflectorOptions{Name: t.f.o.Cluster + "/" + w.kind.Resource})
		t.work.Go(func() { t.links.watch(ctx, w.kind.Kind, reflector) })
	}
	t.watched.Store(&list)
	t.work.Go(func() { t.links.probe(ctx, t.core.Load()) })
	if t.f.o.Poll > 0 {
		t.work.Go(func() { t.answer(ctx) })
	}
	return nil
}

// serves reports whether a cluster has an optional kind. One that no decision reads
// is passed over, too, where berth may not list it: its right is younger than the
// others, and its group may be served without it.
func serves(ctx context.Context, r *rest.RESTClient, k Kind) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	ask := r.Get().AbsPath("/apis/" + k.Group.String())
	later := objects.ReadLater(k.Kind)
	if later {
		ask = r.Get().Resource(k.Resource).Param("limit", "1")
	}
	err := ask.Do(ctx).Error()
	if apierrors.IsNotFound(err) || later && apierrors.IsForbidden(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("ask for %s: %w", k.Group, err)
	}
	return true, nil
}

// write turns what the watches tell into revisions until ctx ends.
func (t *tenure) write(ctx context.Context) {
	check := time.NewTicker(max(t.f.o.Assumed/6, 10*time.Millisecond))
	defer check.Stop()
	pause := t.f.o.Window
	for {
		select {
		case <-ctx.Done():
			return
		case <-check.C:
			if t.synced.Load() {
				t.doubt(ctx)
			}
			continue
		case <-t.mirror.wake:
		}
		if !t.mirror.synced() {
			continue // the last kind to come wakes again
		}
		if !sleep(ctx, pause) {
			return
		}
		if err := t.flush(ctx); err != nil {
			if ctx.Err() == nil {
				t.say(err)
				t.f.o.Log.Warn("what the cluster said could not be written yet", slog.Any("error", err))
			}
			pause = min(2*pause, 2*time.Second)
			t.mirror.rouse() // what could not be written is tried again though nothing more is heard
			continue
		}
		t.trouble.Store(nil)
		pause = t.f.o.Window
	}
}

// flush writes what is pending as one revision.
func (t *tenure) flush(ctx context.Context) (err error) {
	if !t.f.leads() {
		return errors.New("the lease on following the cluster could not be renewed")
	}
	pending, since := t.mirror.take()
	defer func() {
		if err != nil {
			t.mirror.giveBack(pending, since)
		} else {
			t.mirror.written()
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	first := !t.synced.Load()
	v, step, err := t.f.o.Clusters.Update(ctx, t.f.o.Cluster, 0, func(v *cluster.View) (*cluster.Step, error) {
		if !t.f.leads() {
			return nil, errors.New("another server may follow the cluster by now")
		}
		return t.step(v, pending, first)
	})
	if errors.Is(err, store.ErrNotFound) && first {
		var created bool
		if v, created, err = t.f.o.Clusters.Upload(ctx, t.f.o.Cluster, reader(pending)); created {
			t.revisions.Add(1)
		}
	} else if err == nil && step != nil {
		t.revisions.Add(1)
	}
	if err != nil {
		t.undone.Store(!first && errors.Is(err, store.ErrNotFound))
		return err
	}
	t.newest.Store(v.Revision)
	t.settled(pending)
	if first {
		t.synced.Store(true)
		t.f.o.Log.Info("the cluster was read", slog.Int("objects", len(pending)), slog.Duration("took", t.f.o.Clock().Sub(t.began)))
	}
	return nil
}

// step works out what of the pending changes the newest revision lacks; nil
// where it lacks nothing. The first time it also finds what vanished unseen.
func (t *tenure) step(v *cluster.View, pending map[objects.Key]event, first bool) (*cluster.Step, error) {
	s := &cluster.Step{}
	for k, e := range pending {
		if e.gone() {
			if _, ok := v.Object(k); ok {
				s.Delete = append(s.Delete, k)
			}
			continue
		}
		o, err := t.believe(v, e.object)
		if err != nil {
			return nil, err
		}
		if have, ok := v.Object(k); !ok || string(have) != string(o.JSON) {
			s.Apply = append(s.Apply, o)
		}
	}
	if first {
		v.EachKey(func(k objects.Key) {
			if _, told := pending[k]; !told && t.mirror.follows(k.Kind) && !t.mirror.has(k) {
				s.Delete = append(s.Delete, k)
			}
		})
	}
	if len(s.Apply)+len(s.Delete) == 0 {
		return nil, nil
	}
	slices.SortFunc(s.Apply, func(a, b objects.Object) int { return a.Key.Compare(b.Key) })
	slices.SortFunc(s.Delete, objects.Key.Compare)
	return s, nil
}

// reader reads what is pending as an upload.
func reader(pending map[objects.Key]event) objects.Reader {
	return func(yield func(objects.Object) error) (map[string]int, error) {
		list := make([]objects.Object, 0, len(pending))
		for _, e := range pending {
			if !e.gone() {
				list = append(list, e.object)
			}
		}
		slices.SortFunc(list, func(a, b objects.Object) int { return a.Key.Compare(b.Key) })
		for _, o := range list {
			if err := yield(o); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
}

func (t *tenure) say(err error) {
	text := err.Error()
	t.trouble.Store(&text)
}

// stale is for how long something may have been missed: since the beginning,
// since a watch broke, or since something was heard that is not written yet.
func (t *tenure) stale() time.Duration {
	now := t.f.o.Clock()
	if !t.synced.Load() {
		return now.Sub(t.missed)
	}
	stale := t.links.stale()
	if oldest := t.mirror.oldest(); !oldest.IsZero() {
		stale = max(stale, now.Sub(oldest))
	}
	return stale
}

// report fills in what this tenure knows.
func (t *tenure) report(s *Status) {
	s.Synced = t.synced.Load()
	s.Revisions += t.revisions.Load()
	s.Expired += t.expired.Load()
	s.Events += t.mirror.count(&t.mirror.events)
	s.Noise += t.mirror.count(&t.mirror.noise)
	s.Unreadable = t.mirror.left()
	kind, why := t.links.problem()
	switch text := t.trouble.Load(); {
	case kind != "":
		s.Problem = fmt.Sprintf("%s: %s", kind, why)
	case text != nil:
		s.Problem = *text
	case !s.Synced:
		waiting := t.mirror.waiting()
		slices.Sort(waiting)
		s.Problem = "waiting for the first list of " + strings.Join(waiting, ", ")
	}
}

// sleep waits; false where ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
