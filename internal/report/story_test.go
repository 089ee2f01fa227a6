package report

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/config"
	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/engine/explain/suggest"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/semantics"
	"berth/internal/store"
	"berth/internal/store/groupcommit"
	"berth/internal/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open makes a teller over a store of its own.
func open(t testing.TB) (*Reader, *revision.Manager, *record.Log) {
	t.Helper()
	ctx := context.Background()
	st, err := sqlite.Open(ctx, t.TempDir(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := groupcommit.NewGroup(st, groupcommit.Options{})
	m, err := revision.Open(ctx, st, g, revision.Options{ProfileOf: (&decision.Configuration{Profiles: config.Default(semantics.Default())}).Named})
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
	l := record.New(m, st, &decision.Configuration{Profiles: config.Default(semantics.Default())}, record.Options{})
	return &Reader{Clusters: m, Log: l, Runs: func(s string) (ours, gates bool) { return s == "default-scheduler", true }, Clock: time.Now}, m, l
}

func decoded(t testing.TB, js string) object.Object {
	t.Helper()
	o, err := object.Decode([]byte(js), object.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func upload(t testing.TB, m *revision.Manager, list []object.Object) {
	t.Helper()
	if _, _, err := m.Upload(t.Context(), "default", func(yield func(object.Object) error) (map[string]int, error) {
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

// motley is a cluster of so many nodes, no two of which keep the pod off for the
// same taint, and a pod that requests much.
func motley(t testing.TB, nodes int) []object.Object {
	list := make([]object.Object, 0, nodes+1)
	for i := range nodes {
		list = append(list, decoded(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"a-node-with-a-rather-long-name-%05d.example.com","labels":{"kubernetes.io/hostname":"h%d","topology.kubernetes.io/zone":"z%d"}},
			"spec":{"taints":[{"key":"example.com/owner-%05d","value":"somebody-%05d","effect":"NoSchedule"}]},"status":{"allocatable":{"cpu":"%d","memory":"64Gi","pods":"110"}}}`, i, i, i%3, i, i, 4+i%60)))
	}
	return append(list, decoded(t, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"big","namespace":"d","uid":"b"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"3"}}}]}}`))
}

// TestStoryIsBounded: on 5,000 nodes that all differ, with more records than are
// read, an answer stays small, and describes what it left out.
func TestStoryIsBounded(t *testing.T) {
	reader, m, l := open(t)
	upload(t, m, motley(t, 5000))
	ref := &object.Key{Kind: "Pod", Namespace: "d", Name: "big"}
	for i := range 60 {
		// Each is about other nodes, so that no two answers are alike.
		q := decision.Question{PodRef: ref, NodeNames: []string{}}
		for k := range i + 1 {
			q.NodeNames = append(q.NodeNames, fmt.Sprintf("a-node-with-a-rather-long-name-%05d.example.com", k))
		}
		if _, err := l.Decide(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	s, err := reader.Tell(t.Context(), "default", "d", "big", Ask{Attempts: MaxAttempts, Suggest: true})
	if err != nil {
		t.Fatal(err)
	}
	js, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	total, merged := 0, 0
	for i := range s.Now.Groups {
		total, merged = total+s.Now.Groups[i].Nodes, merged+s.Now.Groups[i].Merged
	}
	if len(js) > 64<<10 || total != 5000 || merged != 4988 || len(s.Now.Groups) > 24 || len(s.Attempts) != 60 || len(s.Suggestions) == 0 {
		t.Errorf("%d bytes, groups of %d nodes in %d (%d merged), %d attempts, %d suggestions", len(js), total, len(s.Now.Groups), merged, len(s.Attempts), len(s.Suggestions))
	}
	if s.Summary != "No node fits: all 5,000 nodes have a taint that it does not tolerate: example.com/owner-00000=somebody-00000:NoSchedu..." {
		t.Error(s.Summary)
	}
}

// row is a record as lists show it, the newer the greater its number.
func row(n int, verb, outcome, node, message string) *record.Row {
	return &record.Row{ID: fmt.Sprint(n), Verb: verb, Outcome: outcome, Node: node, Message: message, CreatedAt: time.Unix(int64(n), 0), Pod: decision.PodRef{Namespace: "d", Name: "p", UID: "u"}}
}

// fakeLog lists rows and has no records beside.
type fakeLog struct{ rows []*record.Row }

func (f *fakeLog) Decide(context.Context, decision.Question) (*decision.Answer, error) {
	return &decision.Answer{}, nil
}

func (f *fakeLog) List(_ context.Context, filter store.DecisionFilter) ([]*record.Row, error) {
	at := 0
	if filter.BeforeID != "" {
		at = 1 + slices.IndexFunc(f.rows, func(r *record.Row) bool { return r.ID == filter.BeforeID })
	}
	return f.rows[at:min(len(f.rows), at+filter.Limit)], nil
}

func (*fakeLog) Queue(_ context.Context, v *revision.View, runs state.Runs, _ func(string) *schedulingv1.PriorityClass, when record.When) (*record.Queue, error) {
	return record.Untried(v, runs, nil, when.At), nil
}

func (*fakeLog) Record(context.Context, string) (*store.Decision, error) {
	return nil, fmt.Errorf("it was deleted since: %w", store.ErrNotFound)
}

func past(t *testing.T, rows []*record.Row, most int) *Story {
	t.Helper()
	s := &telling{Reader: &Reader{Log: &fakeLog{rows}}, view: &revision.View{Cluster: "c"}, out: &Story{}}
	if err := s.readLog(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.attempts(t.Context(), most); err != nil {
		t.Fatal(err)
	}
	return s.out
}

func TestEqualAttemptsAreMerged(t *testing.T) {
	other := row(3, "decide", "Unschedulable", "", "0/2")
	other.Pod.UID = "before"
	s := past(t, []*record.Row{
		row(12, "bind", "Scheduled", "n1", ""), row(11, "prioritize", "Scheduled", "n1", ""), row(10, "filter", "Scheduled", "", ""), row(9, "prioritize", "Scheduled", "n1", ""),
		row(8, "prioritize", "Scheduled", "n2", ""), row(7, "decide", "Unschedulable", "", "0/2"), row(6, "decide", "Unschedulable", "", "0/2"), row(5, "decide", "Unschedulable", "", "0/3"),
		row(4, "decide", "Unschedulable", "", "0/2"), other,
	}, 10)
	var got []string
	for _, a := range s.Attempts {
		got = append(got, fmt.Sprintf("%s %s %d %d-%d %v", a.Outcome, a.Node+a.Message, a.Count, a.First.Unix(), a.Last.Unix(), a.Verbs))
	}
	if d := cmp.Diff([]string{
		"Scheduled n1 1 12-12 [bind]", "Scheduled n1 3 9-11 [prioritize filter]", "Scheduled n2 1 8-8 [prioritize]", "Unschedulable 0/2 2 6-7 [decide]",
		"Unschedulable 0/3 1 5-5 [decide]", "Unschedulable 0/2 1 4-4 [decide]", "Unschedulable 0/2 1 3-3 [decide]",
	}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if s.More || s.Decisions != 10 {
		t.Errorf("more %t, of %d", s.More, s.Decisions)
	}
}

func TestLogIsReadToALimit(t *testing.T) {
	var rows []*record.Row
	for i := range maxRead + 5 {
		rows = append(rows, row(9999-i, "decide", "Unschedulable", "", "0/2"))
	}
	if s := past(t, rows, 10); len(s.Attempts) != 1 || s.Attempts[0].Count != maxRead || s.Decisions != maxRead || !s.More {
		t.Errorf("%d attempts, %d decisions, more %t", len(s.Attempts), s.Decisions, s.More)
	}
	if s := past(t, rows[:readPage+1], 10); s.Decisions != readPage+1 || s.More {
		t.Errorf("%d decisions, more %t", s.Decisions, s.More)
	}
}

func TestSummaryOfGroups(t *testing.T) {
	group := func(reason string, nodes int) suggest.Group {
		return suggest.Group{Rule: "NodeVolumeLimits", Reason: reason, Nodes: nodes}
	}
	for _, c := range []struct {
		nodes  int
		groups []suggest.Group
		want   string
	}{
		{1, []suggest.Group{group(engine.CauseInsufficientCPU, 1)}, "No node fits: of 1 node 1 lacks cpu."},
		{
			5000,
			[]suggest.Group{group(engine.CauseInsufficientCPU, 3120), group(engine.CauseAffinityNotMatched, 1460), group(engine.CauseUntoleratedTaint, 380), group(engine.CauseSkewExceeded, 40)},
			"No node fits: of 5,000 nodes 3,120 lack cpu, 1,460 do not match its node affinity, 420 otherwise.",
		},
		// The same reason with another action is told once.
		{6, []suggest.Group{group(engine.CauseInsufficientCPU, 3), group(engine.CauseInsufficientCPU, 2), group(engine.CauseRejected, 1)}, "No node fits: of 6 nodes 5 lack cpu, 1 is rejected by NodeVolumeLimits."},
	} {
		if got := NoNode(c.nodes, c.groups, nil); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	for _, r := range []string{
		engine.CauseGated, engine.CauseCordoned, engine.CauseOtherNode, engine.CauseUntoleratedTaint, engine.CauseSelectorNotMatched, engine.CauseAffinityNotMatched, engine.CauseAddedAffinityNotMatched,
		engine.CausePortTaken, engine.CauseTooManyPods, engine.CauseInsufficientCPU, engine.CauseInsufficientMemory, engine.CauseInsufficientEphemeralStorage, engine.CauseInsufficientExtended,
		engine.CauseSkewExceeded, engine.CauseTopologyLabelMissing, engine.CausePodAffinityNotMatched, engine.CausePodAntiAffinityViolated, engine.CauseOthersAntiAffinityViolated, engine.CauseFeatureMissing, engine.CauseNotNamed,
	} {
		many := []suggest.Group{group(r, 30000), group(engine.CauseOthersAntiAffinityViolated, 20000), group(engine.CauseAddedAffinityNotMatched, 10000)}
		if got := NoNode(60000, many, nil); utf8.RuneCountInString(got) > maxSummary {
			t.Errorf("%d characters: %s", len(got), got)
		}
	}
	if got := clip(strings.Repeat("ä", 130)); utf8.RuneCountInString(got) != maxSummary || !strings.HasSuffix(got, "ä...") {
		t.Errorf("clipped to %q", got)
	}
}

// TestHeldBack has a pod that a plugin holds back before any node is judged.
func TestHeldBack(t *testing.T) {
	s, m, _ := open(t)
	upload(t, m, []object.Object{
		decoded(t, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"},"status":{"allocatable":{"cpu":"4","pods":"10"}}}`),
		decoded(t, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"resourceClaims":[{"name":"g","resourceClaimTemplateName":"t"}],"containers":[{"name":"c"}]}}`),
	})
	got, err := s.Tell(t.Context(), "default", "default", "p", Ask{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Summary != `It is not tried yet: pod "default/p": ResourceClaim not created yet.` {
		t.Error(got.Summary)
	}
	if g := got.Now.Groups; len(g) != 1 || g[0].Rule != "DynamicResources" || g[0].Reason != engine.CauseGated || g[0].Action != suggest.Wait || g[0].Message == "" {
		t.Errorf("%+v", g)
	}
}

// BenchmarkTell tells a story of a pod that fits none of 5,000 nodes.
func BenchmarkTell(b *testing.B) {
	reader, m, _ := open(b)
	upload(b, m, motley(b, 5000))
	for _, suggest := range []bool{false, true} {
		b.Run(fmt.Sprintf("suggest=%t", suggest), func(b *testing.B) {
			size := 0
			for b.Loop() {
				s, err := reader.Tell(b.Context(), "default", "d", "big", Ask{Attempts: 10, Suggest: suggest})
				if err != nil {
					b.Fatal(err)
				}
				js, err := json.Marshal(s)
				if err != nil {
					b.Fatal(err)
				}
				size = len(js)
			}
			b.ReportMetric(float64(size), "answer-B")
		})
	}
}
