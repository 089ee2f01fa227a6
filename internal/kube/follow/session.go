package follow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/store"
)

// session is one period in which this process holds the lease and follows the cluster.
type session struct {
	f      *Follower
	cache  *watchCache
	health *watchHealth
	began  time.Time
	missed time.Time // events since then may be missing until the cluster has been read
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	core      atomic.Pointer[rest.RESTClient]
	synced    atomic.Bool // the whole cluster is in the revisions
	undone    atomic.Bool // its revisions were deleted after that
	revisions atomic.Int64
	expired   atomic.Int64
	newest    atomic.Int64 // revision that holds all that was written
	watched   atomic.Pointer[[]watched]
	reads     reads
	trouble   atomic.Pointer[string] // the last error in writing

	assumed map[object.Key]assumption // used by the writing goroutine alone
}

func (f *Follower) begin(ctx context.Context, missed time.Time) *session {
	t := &session{
		f: f, cache: newWatchCache(f.o.Log, f.o.Clock), health: newWatchHealth(f.o.Clock, f.o.Ping), began: f.o.Clock(), missed: missed,
		assumed: map[object.Key]assumption{},
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

func (t *session) stop() {
	t.cancel()
	t.work.Wait()
}

// connect starts the watches. It tries until it succeeds or ctx ends, and reports whether it did.
func (t *session) connect(ctx context.Context) bool {
	for pause := t.f.o.Window; ; pause = min(2*pause, 10*time.Second) {
		err := t.start(ctx)
		if err == nil {
			return true
		}
		t.failed(err)
		if !sleep(ctx, pause) {
			return false
		}
	}
}

func (t *session) start(ctx context.Context) error {
	var list []watched
	for _, k := range kinds {
		w, err := t.find(ctx, k)
		if err != nil {
			return err
		}
		if w.client == nil {
			t.cache.absent(k)
			continue
		}
		if k.Kind == "Node" {
			t.core.Store(w.client)
		}
		list = append(list, w)
	}
	for _, w := range list {
		into := t.cache.store(w.kind, func() { t.health.listed(w.kind.Kind) })
		reflector := cache.NewReflectorWithOptions(t.health.listWatch(w.kind, w.client), w.kind.object, into,
			cache.ReflectorOptions{Name: t.f.o.Cluster + "/" + w.kind.Resource})
		t.work.Go(func() { t.health.watch(ctx, w.kind.Kind, reflector) })
	}
	t.watched.Store(&list)
	t.work.Go(func() { t.health.probe(ctx, t.core.Load()) })
	if t.f.o.Poll > 0 {
		t.work.Go(func() { t.answer(ctx) })
	}
	return nil
}

// find returns a kind in the newest version that the cluster serves; without a client where it
// serves none of an optional kind.
func (t *session) find(ctx context.Context, k Kind) (watched, error) {
	for _, k := range k.versions() {
		r, err := client(t.f.o.Config, k.Group)
		if err != nil {
			return watched{}, err
		}
		served := true
		if k.Optional {
			served, err = t.serves(ctx, r, k)
		}
		if served || err != nil {
			return watched{k, r}, err
		}
	}
	return watched{}, nil
}

// serves reports whether a cluster serves an optional kind: its group is there and has it. A kind
// that no decision reads counts as not served where berth may not list it: older roles lack the
// right.
func (t *session) serves(ctx context.Context, r *rest.RESTClient, k Kind) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request := r.Get().AbsPath("/apis/"+k.Group.String()).SetHeader("Accept", "application/json")
	later := object.ReadLater(k.Kind)
	if later {
		request = r.Get().Resource(k.Resource).Param("limit", "1")
	}
	result := request.Do(ctx)
	err := result.Error() // in the API server's words, which Raw leaves out
	if later && apierrors.IsForbidden(err) {
		t.f.o.Log.Info("a kind that no decision reads may not be listed: revisions will not have it",
			slog.String("kind", k.Kind), slog.String("resource", k.Resource), slog.Any("error", err))
		return false, nil
	}
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	var group metav1.APIResourceList
	if err == nil && !later {
		var answer []byte
		if answer, err = result.Raw(); err == nil {
			err = json.Unmarshal(answer, &group)
		}
	}
	if err != nil {
		return false, fmt.Errorf("discover %s: %w", k.Group, err)
	}
	return later || slices.ContainsFunc(group.APIResources, func(o metav1.APIResource) bool { return o.Name == k.Resource }), nil
}

// write makes revisions of the watches' events until ctx ends.
func (t *session) write(ctx context.Context) {
	check := time.NewTicker(max(t.f.o.Assumed/6, 10*time.Millisecond))
	defer check.Stop()
	pause := t.f.o.Window
	for {
		select {
		case <-ctx.Done():
			return
		case <-check.C:
			if t.synced.Load() {
				t.checkAssumed(ctx)
			}
			continue
		case <-t.cache.wake:
		}
		if !t.cache.synced() {
			continue // the first list of the last kind wakes the writer again
		}
		if !sleep(ctx, pause) {
			return
		}
		if err := t.flush(ctx); err != nil {
			if ctx.Err() == nil {
				t.failed(err)
				t.f.o.Log.Warn("changes of the cluster could not be written yet", slog.Any("error", err))
			}
			pause = min(2*pause, 2*time.Second)
			t.cache.wakeWriter() // tried again even if no further event comes
			continue
		}
		t.trouble.Store(nil)
		pause = t.f.o.Window
	}
}

// flush writes the pending changes as one revision.
func (t *session) flush(ctx context.Context) (err error) {
	if !t.f.leads() {
		return errors.New("the lease on following the cluster could not be renewed")
	}
	pending, since := t.cache.take()
	defer func() {
		if err != nil {
			t.cache.giveBack(pending, since)
		} else {
			t.cache.written()
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	first := !t.synced.Load()
	v, step, err := t.f.o.Clusters.Update(ctx, t.f.o.Cluster, 0, func(v *revision.View) (*revision.Step, error) {
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
	t.forgetRefuted(pending)
	if first {
		t.synced.Store(true)
		t.f.o.Log.Info("the cluster was read", slog.Int("objects", len(pending)), slog.Duration("took", t.f.o.Clock().Sub(t.began)))
	}
	return nil
}

// step returns what of the pending changes the newest revision lacks, or nil. The first time it
// also deletes objects that vanished while no server followed.
func (t *session) step(v *revision.View, pending map[object.Key]event, first bool) (*revision.Step, error) {
	s := &revision.Step{}
	for k, e := range pending {
		if e.gone() {
			if _, ok := v.Object(k); ok {
				s.Delete = append(s.Delete, k)
			}
			continue
		}
		o, err := t.assume(v, e.object)
		if err != nil {
			return nil, err
		}
		if have, ok := v.Object(k); !ok || string(have) != string(o.JSON) {
			s.Apply = append(s.Apply, o)
		}
	}
	if first {
		for k := range v.All() {
			if _, told := pending[k]; !told && t.cache.follows(k.Kind) && !t.cache.has(k) {
				s.Delete = append(s.Delete, k)
			}
		}
	}
	if len(s.Apply)+len(s.Delete) == 0 {
		return nil, nil
	}
	slices.SortFunc(s.Apply, func(a, b object.Object) int { return a.Key.Compare(b.Key) })
	slices.SortFunc(s.Delete, object.Key.Compare)
	return s, nil
}

// reader returns the pending changes as an upload.
func reader(pending map[object.Key]event) object.Reader {
	return func(yield func(object.Object) error) (map[string]int, error) {
		list := make([]object.Object, 0, len(pending))
		for _, e := range pending {
			if !e.gone() {
				list = append(list, e.object)
			}
		}
		slices.SortFunc(list, func(a, b object.Object) int { return a.Key.Compare(b.Key) })
		for _, o := range list {
			if err := yield(o); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
}

func (t *session) failed(err error) {
	text := err.Error()
	t.trouble.Store(&text)
}

// stale returns for how long events may be missing from the revisions: since the session began,
// since a watch broke, or since an event came that is not written yet.
func (t *session) stale() time.Duration {
	now := t.f.o.Clock()
	if !t.synced.Load() {
		return now.Sub(t.missed)
	}
	stale := t.health.stale()
	if oldest := t.cache.oldest(); !oldest.IsZero() {
		stale = max(stale, now.Sub(oldest))
	}
	return stale
}

// report fills in the part of the status that this session knows.
func (t *session) report(s *Status) {
	s.Synced = t.synced.Load()
	s.Revisions += t.revisions.Load()
	s.Expired += t.expired.Load()
	s.Events += t.cache.count(&t.cache.events)
	s.Noise += t.cache.count(&t.cache.noise)
	s.Unreadable = t.cache.left()
	kind, why := t.health.problem()
	switch text := t.trouble.Load(); {
	case kind != "":
		s.Problem = fmt.Sprintf("%s: %s", kind, why)
	case text != nil:
		s.Problem = *text
	case !s.Synced:
		waiting := t.cache.waiting()
		slices.Sort(waiting)
		s.Problem = "waiting for the first list of " + strings.Join(waiting, ", ")
	}
}

// sleep waits, and reports whether it did to the end: false if ctx ended first.
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
