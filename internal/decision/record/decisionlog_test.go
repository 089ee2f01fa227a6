package record_test

import (
	"errors"
	"fmt"
	"math/rand"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/decision/bind"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/store"
	"berth/test/logtest"
)

// TestRestartGivesTheSameBytes holds what was answered against what is given
// again from the record by a server that knows only the store.
func TestRestartGivesTheSameBytes(t *testing.T) {
	dir := t.TempDir()
	h := logtest.Open(t, dir)
	logtest.Upload(t, h, logtest.Sample(t)...)
	odd := logtest.Profile(t, func(s *rules.Spec) { s.SchedulerName = "odd"; s.Score = s.Score[:2] })
	overlaid := logtest.Node(t, "n9", 64).Value.(*corev1.Node)
	questions := map[string]decision.Question{
		"plain":     {Pod: logtest.Pod(t, "w", "")},
		"full":      {Pod: logtest.Pod(t, "w", ""), Explain: engine.ExplainFull},
		"ref":       {PodRef: &object.Key{Namespace: "d", Name: "free"}},
		"gated":     {PodRef: &object.Key{Namespace: "d", Name: "gated"}},
		"few":       {Pod: logtest.Pod(t, "w", ""), NodeNames: []string{"n3", "n1"}},
		"none":      {Pod: logtest.Pod(t, "w", ""), NodeNames: []string{}},
		"what if":   {Pod: logtest.Pod(t, "w", ""), Profiles: []*engine.Profile{odd}},
		"packed":    {Pod: logtest.Pod(t, "w", ""), Profile: "packed"},
		"new node":  {Pod: logtest.Pod(t, "w", ""), Nodes: []*corev1.Node{overlaid, logtest.Node(t, "n1", 4).Value.(*corev1.Node)}, ScoreAlways: true},
		"no room":   {Pod: logtest.Object(t, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"big","namespace":"d"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"99"}}}]}}`).Value.(*corev1.Pod)},
		"bind":      {Pod: logtest.Pod(t, "x", ""), Bind: true},
		"bind held": {PodRef: &object.Key{Namespace: "d", Name: "free"}, Bind: true},
	}
	given := map[string]*decision.Answer{}
	for _, name := range []string{"plain", "full", "ref", "gated", "few", "none", "what if", "packed", "new node", "no room", "bind", "bind held"} {
		given[name] = logtest.Decide(t, h, questions[name])
	}
	if given["bind"].BoundSnapshot != "default@2" || given["new node"].Node != "n9" || given["none"].Outcome != engine.UnschedulableOK || given["packed"].Profile != "packed" {
		t.Fatalf("%+v", given)
	}
	h.End()
	h = logtest.Open(t, dir)
	for name, was := range given {
		got, err := h.Get(t.Context(), was.ID)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !got.DigestAgrees || got.RecordedDigest != was.Digest || logtest.Text(t, got.Answer) != logtest.Text(t, was) {
			t.Errorf("%s: agrees %v\n%s", name, got.DigestAgrees, cmp.Diff(logtest.Text(t, was), logtest.Text(t, got.Answer)))
		}
		re, err := h.Replay(t.Context(), was.ID, record.Overrides{})
		if err != nil || !re.Identical || len(re.Differences) != 0 {
			t.Errorf("%s: replay %v %+v", name, err, re)
		}
	}
	rows, err := h.List(t.Context(), store.DecisionFilter{Cluster: "default", Outcome: "Gated"})
	if err != nil || len(rows) != 1 || rows[0].ID != given["gated"].ID {
		t.Fatal(rows, err)
	}
}

// TestOrderOfUploadIsForgotten uploads the same objects in other orders, each
// into a store of its own.
func TestOrderOfUploadIsForgotten(t *testing.T) {
	want := ""
	for seed := range int64(4) {
		h := logtest.Open(t, t.TempDir())
		list := logtest.Sample(t)
		for i := range 40 {
			list = append(list, logtest.Held(t, logtest.Pod(t, fmt.Sprintf("m%d", i), fmt.Sprintf(`"nodeName":"n%d",`, 1+i%2))))
		}
		rand.New(rand.NewSource(seed)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		logtest.Upload(t, h, list...)
		ans := logtest.Decide(t, h, decision.Question{Pod: logtest.Pod(t, "w", ""), Explain: engine.ExplainFull, DryRun: true})
		ans.CreatedAt, ans.DurationMicros = time.Time{}, 0
		if got := logtest.Text(t, ans); want == "" {
			want = got
		} else if got != want {
			t.Fatalf("seed %d: %s", seed, cmp.Diff(want, got))
		}
	}
}

// TestBindsNeverOvercommit has many callers want few slots, and replays every
// record.
func TestBindsNeverOvercommit(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	logtest.Upload(t, h, logtest.Sample(t)...)
	var wg sync.WaitGroup
	ids := make([]string, 200)
	for i := range ids {
		wg.Go(func() {
			a, err := h.Decide(t.Context(), decision.Question{Pod: logtest.Pod(t, fmt.Sprintf("p%d", i), ""), Bind: true})
			if err != nil {
				t.Error(err)
				return
			}
			ids[i] = a.ID
			if (a.Outcome == engine.Scheduled) != (a.BoundSnapshot != "") {
				t.Errorf("%s with bound snapshot %q", a.Outcome, a.BoundSnapshot)
			}
		})
	}
	wg.Wait()
	v, err := h.Manager.View(t.Context(), "default", 0)
	if err != nil {
		t.Fatal(err)
	}
	active, _, _ := v.State.Waiting(func(string) (bool, bool) { return true, true })
	if v.Revision != 201 || v.State.PodCount() != 3+200 || active != 1+187 { // 4+8+2 cpus, one taken
		t.Fatalf("%s holds %d pods, of which %d wait", v.ID(), v.State.PodCount(), active)
	}
	for row := range v.State.Nodes().Len() {
		if use, room := v.State.Use(row), v.State.Nodes().Capacity(row); use.CPU > room.CPU {
			t.Errorf("row %d: %d of %d", row, use.CPU, room.CPU)
		}
	}
	for _, id := range ids {
		r, err := h.Replay(t.Context(), id, record.Overrides{})
		if err != nil || !r.Identical {
			t.Fatalf("%s: %v %+v", id, err, r)
		}
	}
}

func TestRefusals(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	logtest.Upload(t, h, logtest.Sample(t)...)
	logtest.Upload(t, h, append(logtest.Sample(t), logtest.Node(t, "n4", 1))...)
	ref := func(name string) *object.Key { return &object.Key{Namespace: "d", Name: name} }
	cases := map[string]struct {
		q     decision.Question
		field string
		kind  decision.ErrorKind
	}{
		"no pod":          {decision.Question{}, "pod", decision.Malformed},
		"both":            {decision.Question{Pod: logtest.Pod(t, "w", ""), PodRef: ref("free")}, "pod", decision.Malformed},
		"dry bind":        {decision.Question{Pod: logtest.Pod(t, "w", ""), Bind: true, DryRun: true}, "bind", decision.Malformed},
		"explain":         {decision.Question{Pod: logtest.Pod(t, "w", ""), Explain: "everything"}, "explain", decision.Malformed},
		"cluster":         {decision.Question{Pod: logtest.Pod(t, "w", ""), Cluster: "No"}, "cluster", decision.Malformed},
		"unknown ref":     {decision.Question{PodRef: ref("nobody")}, "podRef", decision.NotFound},
		"bound ref":       {decision.Question{PodRef: ref("bound")}, "pod", decision.Conflict},
		"bound by name":   {decision.Question{Pod: logtest.Pod(t, "bound", "")}, "pod", decision.Conflict},
		"carries node":    {decision.Question{Pod: logtest.Pod(t, "w", `"nodeName":"n1",`)}, "pod.spec.nodeName", decision.Conflict},
		"unknown class":   {decision.Question{Pod: logtest.Pod(t, "w", `"priorityClassName":"vip",`)}, "pod.spec.priorityClassName", decision.Invalid},
		"unknown profile": {decision.Question{Pod: logtest.Pod(t, "w", ""), Profile: "none"}, "profile", decision.Invalid},
		"unknown node":    {decision.Question{Pod: logtest.Pod(t, "w", ""), NodeNames: []string{"n1", "n9"}}, "nodeNames[1]", decision.Invalid},
		"node twice":      {decision.Question{Pod: logtest.Pod(t, "w", ""), Nodes: []*corev1.Node{logtest.Node(t, "a", 1).Value.(*corev1.Node), logtest.Node(t, "a", 2).Value.(*corev1.Node)}}, "nodes", decision.Invalid},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := h.Decide(t.Context(), c.q)
			var in *decision.Error
			if !errors.As(err, &in) || in.Field != c.field || in.Kind != c.kind {
				t.Fatalf("%v", err)
			}
		})
	}
	if _, err := h.Decide(t.Context(), decision.Question{Pod: logtest.Pod(t, "w", ""), Revision: 1, Bind: true}); !errors.Is(err, store.ErrConflict) {
		t.Fatalf("a bind on a stale snapshot: %v", err)
	}
	if _, err := h.Decide(t.Context(), decision.Question{Pod: logtest.Pod(t, "w", ""), Revision: 77}); !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	if rows, err := h.List(t.Context(), store.DecisionFilter{}); err != nil || len(rows) != 0 {
		t.Fatalf("a refusal was recorded: %v %v", rows, err)
	}
}

func TestDryRun(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	logtest.Upload(t, h, logtest.Sample(t)...)
	a := logtest.Decide(t, h, decision.Question{PodRef: &object.Key{Namespace: "d", Name: "bound"}, DryRun: true, Explain: engine.ExplainFull})
	if a.Outcome != engine.Scheduled || a.Counts.Nodes != 3 || a.ID != "" {
		t.Fatalf("%+v", a)
	}
	// Without itself, n1 is as empty for the pod as for one that n1 never had.
	empty := logtest.Open(t, t.TempDir())
	logtest.Upload(t, empty, append(logtest.Sample(t)[:3:3], logtest.Sample(t)[4:]...)...)
	b := logtest.Decide(t, empty, decision.Question{Pod: logtest.Pod(t, "bound", ""), DryRun: true, Explain: engine.ExplainFull})
	if logtest.Text(t, a.Nodes) != logtest.Text(t, b.Nodes) {
		t.Fatal(cmp.Diff(logtest.Text(t, a.Nodes), logtest.Text(t, b.Nodes)))
	}
	if rows, err := h.List(t.Context(), store.DecisionFilter{}); err != nil || len(rows) != 0 {
		t.Fatal(rows, err)
	}
}

func TestPriority(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	logtest.Upload(t, h, logtest.Sample(t)...)
	for spec, want := range map[string]int32{
		"": 7, `"priorityClassName":"high",`: 1000, `"priority":-5,"priorityClassName":"high",`: -5,
		`"priorityClassName":"system-cluster-critical",`: 2_000_000_000, `"priorityClassName":"system-node-critical",`: 2_000_001_000,
	} {
		if a := logtest.Decide(t, h, decision.Question{Pod: logtest.Pod(t, "w", spec), DryRun: true}); a.Priority != want {
			t.Errorf("%s: %d, want %d", spec, a.Priority, want)
		}
	}
	logtest.Upload(t, h, logtest.Node(t, "n1", 4))
	if a := logtest.Decide(t, h, decision.Question{Pod: logtest.Pod(t, "w", ""), DryRun: true}); a.Priority != 0 {
		t.Errorf("without classes: %d", a.Priority)
	}
}

func TestBindLedger(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	logtest.Upload(t, h, append(logtest.Sample(t),
		logtest.Object(t, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"leaving","namespace":"d","uid":"u","deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{"containers":[{"name":"c"}]}}`))...)
	steps := []struct {
		pod, uid, node string
		refused        bool
		already        bool
		revision       string
	}{
		{"nobody", "", "n1", true, false, ""},
		{"free", "another", "n1", true, false, ""},
		{"gated", "uid-gated", "n1", true, false, ""},
		{"leaving", "u", "n1", true, false, ""},
		{"free", "uid-free", "n77", true, false, ""},
		{"free", "uid-free", "", true, false, ""},
		{"free", "uid-free", "n2", false, false, "default@2"},
		{"free", "uid-free", "n2", false, true, "default@2"},
		{"free", "", "n2", false, true, "default@2"},
		{"free", "uid-free", "n1", true, false, ""},
		{"bound", "uid-bound", "n1", false, true, "default@2"},
		{"bound", "uid-bound", "n2", true, false, ""},
	}
	for i, s := range steps {
		out, err := h.Bind(t.Context(), "default", "d", s.pod, s.uid, s.node)
		var refused *bind.RefusedError
		if errors.As(err, &refused) != s.refused || !s.refused && err != nil || out.AlreadyBound != s.already || out.Snapshot != s.revision {
			t.Errorf("step %d: %+v, %v", i, out, err)
		}
	}
	rows, err := h.List(t.Context(), store.DecisionFilter{Verb: decision.VerbBind})
	if err != nil || len(rows) != 1 || rows[0].BoundSnapshot != "default@2" || rows[0].Node != "n2" {
		t.Fatal(rows, err)
	}
	got, err := h.Get(t.Context(), rows[0].ID)
	if err != nil || !got.DigestAgrees || got.Outcome != engine.Scheduled {
		t.Fatal(got, err)
	}
	r, err := h.Replay(t.Context(), rows[0].ID, record.Overrides{Snapshot: "default@latest"})
	if err != nil || r.Identical || r.Decision.Outcome != engine.UnschedulableOK {
		t.Fatalf("%+v %v", r, err)
	}
	if _, err := h.Bind(t.Context(), "other", "d", "free", "", "n1"); err == nil {
		t.Fatal("a cluster that is not there")
	}
}

func TestEvaluate(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	list := logtest.Sample(t)
	for i := range 60 {
		list = append(list, logtest.Node(t, fmt.Sprintf("m%02d", i), 4))
	}
	logtest.Upload(t, h, list...)
	all := make([]string, 0, 63)
	var nodes []*corev1.Node
	for _, o := range list {
		if n, ok := o.Value.(*corev1.Node); ok {
			all, nodes = append(all, n.Name), append(nodes, n)
		}
	}
	changed := logtest.Node(t, "n2", 1).Value.(*corev1.Node)
	for name, q := range map[string]decision.Question{
		"all":       {Verb: decision.VerbFilter, NodeNames: all},
		"half":      {Verb: decision.VerbFilter, NodeNames: all[:31]},
		"but one":   {Verb: decision.VerbPrioritize, NodeNames: all[1:], ScoreAlways: true},
		"nodes":     {Verb: decision.VerbFilter, Nodes: nodes},
		"few nodes": {Verb: decision.VerbFilter, Nodes: nodes[:2]},
		"others":    {Verb: decision.VerbPrioritize, Nodes: append(append([]*corev1.Node{}, nodes[3:]...), changed), ScoreAlways: true},
	} {
		q.Pod = logtest.Pod(t, "w", "")
		feasible := 0
		id, err := logtest.Record(t.Context(), h, q, func(_ *revision.View, r *engine.Result) error {
			feasible = r.Feasible.Count()
			return nil
		})
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := h.Get(t.Context(), id)
		if err != nil || !got.DigestAgrees || got.Counts.Feasible != feasible || feasible == 0 || got.Verb != q.Verb {
			t.Errorf("%s: %v %+v", name, err, got.Counts)
		}
		if n := max(len(q.NodeNames), len(q.Nodes)); got.Counts.Nodes != n {
			t.Errorf("%s: %d nodes considered of %d asked", name, got.Counts.Nodes, n)
		}
	}
	refuse := errors.New("no")
	if _, err := logtest.Record(t.Context(), h, decision.Question{Verb: decision.VerbFilter, Pod: logtest.Pod(t, "w", "")}, func(*revision.View, *engine.Result) error { return refuse }); !errors.Is(err, refuse) {
		t.Fatal(err)
	}
}

// A record names the nodes that few were rejected with, so that SQL can say who
// was rejected on a node.
func TestRecordNamesFewRejectedNodes(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	logtest.Upload(t, h, logtest.Sample(t)...)
	ans, err := h.Decide(t.Context(), decision.Question{Pod: logtest.Pod(t, "big", `"nodeSelector":{"kubernetes.io/hostname":"n2"},`)})
	if err != nil {
		t.Fatal(err)
	}
	d, err := h.Store.Decision(t.Context(), ans.ID)
	if err != nil || len(d.Failures) != 1 {
		t.Fatalf("%v %+v", err, d)
	}
	if f := d.Failures[0]; f.Plugin != "NodeAffinity" || len(f.Names) != 2 || f.Names[0] != "n1" || f.Names[1] != "n3" {
		t.Fatalf("%+v", f)
	}
}
