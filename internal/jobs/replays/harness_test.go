package replays

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/config"
	"berth/internal/decision"
	"berth/internal/decision/bind"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/jobs"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/semantics"
	"berth/internal/store"
	"berth/internal/store/groupcommit"
	"berth/internal/store/postgres"
	"berth/internal/store/sqlite"
	"berth/test/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Around(m)) }

// backends returns a fresh store of each kind.
var backends = map[string]func(t *testing.T) store.Store{
	"sqlite": func(t *testing.T) store.Store {
		s, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	},
	"postgres": func(t *testing.T) store.Store {
		url := pgtest.URL(t)
		if err := postgres.MigrateUp(t.Context(), url, postgres.MigrateOptions{}); err != nil {
			t.Fatal(err)
		}
		s, err := postgres.Open(t.Context(), url, postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	},
}

// onBoth runs a test on each kind of store.
func onBoth(t *testing.T, run func(t *testing.T, h *fixture)) {
	for name, open := range backends {
		t.Run(name, func(t *testing.T) { run(t, openFixture(t, open(t))) })
	}
}

// fixture is the rooms over a store.
type fixture struct {
	store.Store
	m      *revision.Manager
	log    *record.Log
	binder *bind.Binder
}

func openFixture(t *testing.T, st store.Store) *fixture {
	t.Helper()
	ctx := context.Background()
	g := groupcommit.NewGroup(st, groupcommit.Options{})
	m, err := revision.Open(ctx, st, g, revision.Options{CheckpointEvery: 25})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, err := range []error{m.Close(), g.Close(ctx), st.Close()} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	return newFixture(st, m)
}

func newFixture(st store.Store, m *revision.Manager) *fixture {
	l := record.New(m, st, &decision.Configuration{Profiles: config.Default(semantics.Default())}, record.Options{})
	return &fixture{st, m, l, bind.New(m, l, bind.Options{})}
}

// jobs makes jobs over a house's rooms, on another view of its store if one is
// given.
func (h *fixture) jobs(st store.Store, o jobs.Options) *Jobs {
	if st == nil {
		st = h.Store
	}
	o.ParseProfiles = config.Parse
	if o.Chunk == 0 {
		o.Chunk = time.Nanosecond // commits after every decision
	}
	return New(st, h.log, o)
}

func decoded(t *testing.T, js string) object.Object {
	t.Helper()
	o, err := object.Decode([]byte(js), object.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func node(t *testing.T, i int) object.Object {
	return decoded(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n%d","labels":{"kubernetes.io/hostname":"n%d","zone":"z%d"}},
		"status":{"allocatable":{"cpu":"%d","memory":"64Gi","pods":"110"}}}`, i, i, i%3, 2+i%7))
}

func pod(t *testing.T, name string, r *rand.Rand) *corev1.Pod {
	extra := ""
	if r.IntN(4) == 0 {
		extra = fmt.Sprintf(`"nodeSelector":{"zone":"z%d"},`, r.IntN(4))
	}
	return decoded(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"d","labels":{"app":"a%d"}},
		"spec":{%s"containers":[{"name":"c","resources":{"requests":{"cpu":"%dm","memory":"1Gi"}}}]}}`, name, r.IntN(3), extra, 100+100*r.IntN(9))).Value.(*corev1.Pod)
}

// live makes a cluster and lets n decisions, binds, changes, deletions and
// uploads happen to it. It returns the decisions' number.
func live(t *testing.T, h *fixture, n int, seed uint64) int {
	t.Helper()
	ctx := t.Context()
	r := rand.New(rand.NewPCG(seed, 1))
	all := func(extra int) object.Reader {
		return func(yield func(object.Object) error) (map[string]int, error) {
			for i := range 12 + extra {
				if err := yield(node(t, i)); err != nil {
					return nil, err
				}
			}
			return nil, nil
		}
	}
	if _, _, err := h.m.Upload(ctx, "prod", all(0)); err != nil {
		t.Fatal(err)
	}
	decisions := 0
	var bound []string
	decided := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		decisions++
	}
	for i := range n {
		name := fmt.Sprintf("p%d", i)
		switch k := r.IntN(20); {
		case k < 11:
			a, err := h.binder.Decide(ctx, decision.Question{Cluster: "prod", Pod: pod(t, name, r)})
			decided(err)
			if a.Outcome == engine.Scheduled {
				bound = append(bound, name)
			}
		case k < 13:
			_, err := h.log.Decide(ctx, decision.Question{Cluster: "prod", Pod: pod(t, name, r), NodeNames: []string{"n1", "n5", "n7"}})
			decided(err)
		case k < 14: // of an older state
			_, err := h.log.Decide(ctx, decision.Question{Cluster: "prod", Revision: 1, Pod: pod(t, name, r)})
			decided(err)
		case k < 15:
			e, err := h.log.Evaluate(ctx, decision.Question{Cluster: "prod", Verb: decision.VerbFilter, Pod: pod(t, name, r), Nodes: []*corev1.Node{node(t, 3).Value.(*corev1.Node), node(t, 90).Value.(*corev1.Node)}})
			if err == nil {
				_, err = h.log.Write(ctx, e)
			}
			decided(err)
		case k < 17: // a pod that is there first, then bound by name
			p := pod(t, name, r)
			js, err := object.Encode(p)
			if err != nil {
				t.Fatal(err)
			}
			o := object.Object{Key: object.Key{Kind: "Pod", Namespace: "d", Name: name}, Value: p, JSON: js}
			if _, err := h.m.Change(ctx, "prod", 0, []object.Object{o}, nil); err != nil {
				t.Fatal(err)
			}
			_, err = h.log.Decide(ctx, decision.Question{Cluster: "prod", PodRef: &o.Key})
			decided(err)
			if _, err := h.binder.Bind(ctx, "prod", decision.PodRef{Namespace: "d", Name: name}, fmt.Sprintf("n%d", r.IntN(12))); err == nil {
				decisions++
				bound = append(bound, name)
			}
		case k < 19 && len(bound) > 0:
			gone := r.IntN(len(bound))
			if _, err := h.m.Change(ctx, "prod", 0, []object.Object{node(t, r.IntN(12))}, []object.Key{{Kind: "Pod", Namespace: "d", Name: bound[gone]}}); err != nil {
				t.Fatal(err)
			}
			bound = append(bound[:gone], bound[gone+1:]...)
		case k == 19 && i%4 == 0:
			if _, _, err := h.m.Upload(ctx, "prod", all(i%3)); err != nil {
				t.Fatal(err)
			}
			bound = nil
		}
	}
	return decisions
}

// start starts a job over everything.
func start(t *testing.T, j *Jobs, q Request) *Job {
	t.Helper()
	q.Cluster = "prod"
	job, err := j.Start(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// finish works until there is nothing left to do.
func finish(t *testing.T, w *Worker) {
	t.Helper()
	for {
		worked, err := w.Step(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !worked {
			return
		}
	}
}

func get(t *testing.T, j *Jobs, id string) *Job {
	t.Helper()
	job, err := j.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// found lists all that a job found, and holds the list against its counters.
func found(t *testing.T, j *Jobs, job *Job) []*Difference {
	t.Helper()
	var all []*Difference
	for after := (store.ReplayCursor{}); ; {
		page, err := j.Differences(t.Context(), job.ID, after, 7)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		all = append(all, page...)
		after = page[len(page)-1].Cursor
	}
	seen := map[string]bool{}
	failed := int64(0)
	for _, d := range all {
		if seen[d.ID] {
			t.Errorf("decision %s is there twice", d.ID)
		}
		seen[d.ID] = true
		if d.Error != "" {
			failed++
		} else if len(d.Differences) == 0 {
			t.Errorf("decision %s differs in nothing", d.ID)
		}
	}
	if failed != job.Errors || int64(len(all))-failed != job.Different {
		t.Errorf("the list has %d decisions, %d of them errors; the job counts %d different, %d errors", len(all), failed, job.Different, job.Errors)
	}
	return all
}

// want holds a job against what it should have come to.
func want(t *testing.T, job *Job, total, different, failed int) {
	t.Helper()
	if job.State != store.JobDone || job.EndedAt == nil || job.Total != int64(total) || job.Done != job.Total || job.Different != int64(different) ||
		job.Errors != int64(failed) || job.Identical+job.Different+job.Errors != job.Done {
		t.Fatalf("%+v; want %d done, %d different, %d errors", job, total, different, failed)
	}
}

// errPulled is what a store says whose plug was pulled.
var errPulled = errors.New("the plug was pulled")

// pulled is a store that a process loses in the middle: after so many calls
// nothing of it works, and the last write may have taken effect all the same.
type pulled struct {
	store.Store
	mu    sync.Mutex
	calls int  // that still work
	lost  bool // the answer to the last write is lost, not the write
}

func (p *pulled) call() (works, last bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls--
	return p.calls > 0, p.calls == 0
}

func (p *pulled) AdvanceReplay(ctx context.Context, before, after *store.ReplayPart, differ []*store.ReplayDifference, lease time.Duration) (string, error) {
	works, last := p.call()
	if works {
		return p.Store.AdvanceReplay(ctx, before, after, differ, lease)
	}
	if last && p.lost {
		if _, err := p.Store.AdvanceReplay(ctx, before, after, differ, lease); err != nil {
			return "", err
		}
	}
	return "", errPulled
}

func (p *pulled) ReleaseReplay(ctx context.Context, part *store.ReplayPart) error {
	if works, _ := p.call(); !works {
		return errPulled
	}
	return p.Store.ReleaseReplay(ctx, part)
}

func (p *pulled) ReplayDecisions(ctx context.Context, q store.ReplayRange, after store.ReplayCursor, limit int, f func(*store.Decision) error) error {
	if works, _ := p.call(); !works {
		return errPulled
	}
	return p.Store.ReplayDecisions(ctx, q, after, limit, f)
}

func paths(list []*Difference) string {
	var out []string
	for _, d := range list {
		for _, x := range d.Differences {
			out = append(out, x.Path)
		}
	}
	return strings.Join(out, " ")
}
