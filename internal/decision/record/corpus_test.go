package record_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/scenario"
	"berth/internal/store"
	"berth/internal/store/groupcommit"
	"berth/internal/store/postgres"
	"berth/internal/store/sqlite"
	"berth/test/logtest"
	"berth/test/pgtest"
)

// corpus is a log with two mornings' decisions of a cluster named demo, made by
// the server's own code under a clock that the test sets.
type corpus struct {
	*logtest.Fixture
	now   time.Time
	ids   []string // of the decisions, in order
	st    store.Store
	close func()
}

// backends open an empty store each; address is the file's directory or the
// database's URL.
var backends = map[string]func(t testing.TB) (st store.Store, address string){
	"sqlite": func(t testing.TB) (store.Store, string) {
		dir := t.TempDir()
		return reopen(t, "sqlite", dir), dir
	},
	"postgres": func(t testing.TB) (store.Store, string) {
		url := pgtest.URL(t)
		if err := postgres.MigrateUp(t.Context(), url, postgres.MigrateOptions{}); err != nil {
			t.Fatal(err)
		}
		return reopen(t, "postgres", url), url
	},
}

func reopen(t testing.TB, backend, address string) store.Store {
	t.Helper()
	var st store.Store
	var err error
	if backend == "sqlite" {
		st, err = sqlite.Open(t.Context(), address, sqlite.Options{})
	} else {
		st, err = postgres.Open(t.Context(), address, postgres.Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st
}

// openCorpus opens the rooms over a store; they are closed before the store is.
func openCorpus(t testing.TB, st store.Store) *corpus {
	t.Helper()
	c := &corpus{st: st}
	clock := func() time.Time { return c.now }
	g := groupcommit.NewGroup(st, groupcommit.Options{})
	m, err := revision.Open(t.Context(), st, g, revision.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	c.Fixture = logtest.New(m, st, []*engine.Profile{logtest.Profile(t, nil), logtest.Packed(t)}, record.Options{Clock: clock})
	closed := false
	c.close = func() {
		if closed {
			return
		}
		closed = true
		_ = m.Close()
		_ = g.Close(context.Background())
		_ = st.Close()
	}
	t.Cleanup(c.close)
	return c
}

// at sets the clock to a time of 2 January 2026, UTC.
func (c *corpus) at(t testing.TB, clock string) {
	t.Helper()
	now, err := time.Parse(time.DateTime, "2026-01-02 "+clock)
	if err != nil {
		t.Fatal(err)
	}
	c.now = now
}

func (c *corpus) decide(t testing.TB, clock string, q decision.Question) *decision.Answer {
	t.Helper()
	c.at(t, clock)
	q.Cluster = "demo"
	a, err := c.Decide(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	c.ids = append(c.ids, a.ID)
	return a
}

func (c *corpus) judge(t testing.TB, clock string, q decision.Question) {
	t.Helper()
	c.at(t, clock)
	q.Cluster, q.NoPreemption = "demo", true // as the extender's calls ask
	id, err := logtest.Record(t.Context(), c, q, nothing)
	if err != nil {
		t.Fatal(err)
	}
	c.ids = append(c.ids, id)
}

func (c *corpus) upload(t testing.TB, clock string, list ...object.Object) {
	t.Helper()
	c.at(t, clock)
	if _, _, err := c.Manager.Upload(t.Context(), "demo", func(yield func(object.Object) error) (map[string]int, error) {
		for _, o := range list {
			if err := yield(o); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}); err != nil {
		t.Fatal(err)
	}
}

// shopPod is a pod of the namespace shop; more goes into its spec.
func shopPod(t testing.TB, name, cpu, more string) *corev1.Pod {
	return logtest.Object(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"shop","uid":"00000000-0000-4000-8000-%012x","labels":{"app":%q}},
		"spec":{%s"containers":[{"name":"c","image":"shop/%s:1","resources":{"requests":{"cpu":%q,"memory":"1Gi"}}}]}}`, name, len(name), name, more, name, cpu)).Value.(*corev1.Pod)
}

func machine(t testing.TB, name, cpu, more string) object.Object {
	return logtest.Object(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":%q,"labels":{"kubernetes.io/hostname":%q}},"spec":{%s},
		"status":{"allocatable":{"cpu":%q,"memory":"64Gi","pods":"110"}}}`, name, name, more, cpu))
}

// fill makes the log: see internal/queries/ready.md, whose examples are its answers.
func (c *corpus) fill(t testing.TB) {
	t.Helper()
	gpu := machine(t, "gpu-1", "16", `"taints":[{"key":"gpu","value":"true","effect":"NoSchedule"}]`)
	old := machine(t, "old-1", "4", `"unschedulable":true`)
	api, cart, big := shopPod(t, "api", "1", ""), shopPod(t, "cart", "500m", ""), shopPod(t, "big", "12", "")
	c.upload(t, "08:00:00", machine(t, "web-1", "4", ""), machine(t, "web-2", "8", ""), gpu, old, logtest.Held(t, cart))
	c.decide(t, "09:00:00", decision.Question{Pod: api})
	c.decide(t, "09:10:00", decision.Question{Pod: big})
	c.judge(t, "09:20:00", decision.Question{Verb: decision.VerbFilter, Pod: big})
	c.decide(t, "09:30:00", decision.Question{Pod: api, Profile: "packed"})
	c.judge(t, "10:00:00", decision.Question{Verb: decision.VerbFilter, Pod: cart})
	c.judge(t, "10:00:01", decision.Question{Verb: decision.VerbPrioritize, Pod: cart, NodeNames: []string{"web-1", "web-2"}})
	c.at(t, "10:00:02")
	if _, err := c.Bind(t.Context(), "demo", "shop", "cart", string(cart.UID), "web-2"); err != nil {
		t.Fatal(err)
	}
	c.decide(t, "10:00:30", decision.Question{Pod: api, Bind: true})
	c.upload(t, "10:20:00", machine(t, "web-1", "4", ""), machine(t, "web-2", "8", `"unschedulable":true`), gpu, old, logtest.Held(t, cart))
	c.decide(t, "10:30:00", decision.Question{Pod: shopPod(t, "worker", "1", "")})
	c.decide(t, "10:40:00", decision.Question{Pod: shopPod(t, "worker", "1", ""), Revision: 1})
	c.evictAgain(t)
	c.measure(t)
	c.simulate(t)
}

// simulate stores jobs that have not ended and that have.
func (c *corpus) simulate(t testing.TB) {
	t.Helper()
	for i, kind := range []string{"drains", "losses"} {
		s := &store.Job{ID: fmt.Sprintf("019b0000-0000-7000-8000-00000000000%d", i), Cluster: "demo", Revision: 9, Verb: kind, CreatedAt: c.now.Add(time.Duration(i) * time.Second)}
		if err := c.st.CreateSimulation(t.Context(), s, nil, store.JobLimits{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.st.EndJob(t.Context(), store.Simulations, "019b0000-0000-7000-8000-000000000001", store.JobFailed, "zone: demo@9 has no node in zone \"a\""); err != nil {
		t.Fatal(err)
	}
}

// measure stores the capacity at each revision, as scrapes of the metrics would.
func (c *corpus) measure(t testing.TB) {
	t.Helper()
	for revision := int64(1); revision <= 9; revision++ {
		v, err := c.Manager.View(t.Context(), "demo", revision)
		if err != nil {
			t.Fatal(err)
		}
		m, err := scenario.MeasureCapacity(t.Context(), v, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range m.Resources {
			row := store.Capacity{Cluster: "demo", Revision: revision, MeasuredAt: v.CreatedAt.Add(time.Minute), Resource: r.Resource, Allocatable: r.Allocatable, Requested: r.Requested, Free: r.Free, Stranded: r.Stranded, Fragmentation: r.Fragmentation, Nodes: m.Nodes.Total, NodesInUse: m.Nodes.InUse, NodesBound: m.Nodes.Bound}
			if err := c.st.PutCapacities(t.Context(), []store.Capacity{row}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// evictAgain has a pod evict another that comes back, and wait for a node that
// it is never bound to.
func (c *corpus) evictAgain(t testing.TB) {
	t.Helper()
	urgent := shopPod(t, "urgent", "4", `"priority":10000,`)
	for i, clock := range []string{"11:00:0", "11:30:0"} {
		batch := shopPod(t, "batch", "2", `"priority":1,"nodeName":"web-1",`)
		batch.UID = types.UID(fmt.Sprintf("00000000-0000-4000-8000-00000000b00%d", i))
		c.at(t, clock+"0")
		if _, err := c.Manager.Change(t.Context(), "demo", 0, []object.Object{logtest.Held(t, batch)}, nil); err != nil {
			t.Fatal(err)
		}
		if a := c.decide(t, clock+"1", decision.Question{Pod: urgent, Bind: true}); a.Outcome != engine.Preempting {
			t.Fatalf("%s: %s", a.Outcome, a.Message)
		}
		c.at(t, clock+"2")
		if _, err := c.Manager.Change(t.Context(), "demo", 0, nil, []object.Key{logtest.PodKey("shop", "batch")}); err != nil {
			t.Fatal(err)
		}
	}
}

// all lists the ids of the whole log, newest first: Bind gives none.
func (c *corpus) all(t testing.TB) []string {
	t.Helper()
	rows, err := c.List(t.Context(), store.DecisionFilter{Cluster: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range rows {
		ids = append(ids, r.ID)
	}
	return ids
}
