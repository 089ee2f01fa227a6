package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/store"
	"berth/test/rollupcheck"

	"github.com/google/go-cmp/cmp"
)

func init() {
	register("Rollups", cases{
		"EqualToThePlainQueries": rollupsAreEqual,
		"SeveralAtOnce":          rollupsAtOnce,
		"RecordsThatComeLate":    rollupsLate,
		"BuiltAgain":             rollupsRebuilt,
		"OutlastRetention":       rollupsRetained,
		"GoWithTheirCluster":     rollupsDeleted,
		"NothingIsStored":        rollupsOfNothing,
		"StepsAreSmall":          rollupsInSteps,
		"ReasonsOfAnyLength":     rollupsOfLongReasons,
		"PodsThatGo":             rollupsOfGonePods,
		"WaitingHours":           waitingHours,
		"WaitingEqual":           waitingEqual,
		"ReadyEqualPlain":        readyEqualPlain,
		"Configurations":         profileLog,
	}, calls{
		"RollupStates":   func(ctx context.Context, s store.Store) error { _, err := s.RollupStates(ctx); return err },
		"RollUp":         func(ctx context.Context, s store.Store) error { _, err := s.RollUp(ctx, "prod"); return err },
		"RebuildRollups": func(ctx context.Context, s store.Store) error { return s.RebuildRollups(ctx, "prod") },
	})
}

// history draws records of pods that wait for this and that, in the order in which they were made.
type history struct {
	rand *rand.Rand
	made int
	at   time.Time
}

func newHistory(seed uint64) *history {
	return &history{rand: rand.New(rand.NewPCG(seed, 4)), at: at(0)}
}

func (h *history) next(cluster string) *store.Decision {
	h.made++
	if h.rand.IntN(4) > 0 { // some are of one time
		h.at = h.at.Add(time.Duration(h.rand.IntN(200_000_000)) * time.Microsecond)
	}
	d := decision(cluster, fmt.Sprintf("%s-%08d", cluster, h.made), h.at)
	d.Namespace, d.Pod = fmt.Sprintf("ns-%d", h.rand.IntN(2)), fmt.Sprintf("pod-%d", h.rand.IntN(12))
	if n := h.rand.IntN(3); n > 0 {
		d.PodUID = fmt.Sprintf("8f14e45f-ceea-467f-a8d2-36fc7e8a5a1%d", n)
	}
	d.Verb = []string{"decide", "filter", "filter", "prioritize", "preempt", "bind"}[h.rand.IntN(6)]
	d.Outcome = []string{"Scheduled", "Unschedulable", "Unschedulable", "Preempting", "Gated"}[h.rand.IntN(5)]
	d.Profile, d.ProfileDigest, d.Engine = "p", fmt.Sprintf("sha256:%d", h.rand.IntN(2)), "v1"
	d.DurationMicros = h.rand.Int64N(1 << h.rand.IntN(24))
	if h.rand.IntN(8) == 0 {
		d.Mode = "shadow"
	}
	if h.rand.IntN(3) > 0 { // records of before have neither
		d.Purpose, d.Attempt = []string{"live", "live", "watched", "question"}[h.rand.IntN(4)], d.ID
		if d.Mode != "" {
			d.Purpose = "shadow"
		}
		if d.Verb != "filter" && h.rand.IntN(2) == 0 {
			d.Attempt = "of another"
		}
	}
	if h.rand.IntN(2) == 0 && d.Mode == "" && (d.Outcome == "Scheduled" || d.Outcome == "Preempting") && d.Verb != "filter" {
		d.BoundRevision = int64(h.made) // no revision has to be stored where none is decided on
	}
	if d.Outcome == "Scheduled" {
		d.Node = fmt.Sprintf("node-%d", h.rand.IntN(5))
	}
	if d.Outcome == "Unschedulable" || d.Outcome == "Preempting" || h.rand.IntN(2) == 0 {
		for _, plugin := range []string{"NodeResourcesFit", "TaintToleration", "NodeAffinity"} {
			if h.rand.IntN(2) == 0 { // some as many as another's
				f := store.Failure{Plugin: plugin, Code: "Unschedulable", Reason: fmt.Sprintf("reason %d", h.rand.IntN(2)), Nodes: 1 + h.rand.IntN(4)}
				if h.rand.IntN(3) > 0 {
					f.Pools = []store.PoolCount{{Pool: "large", Nodes: f.Nodes}, {Pool: "", Nodes: h.rand.IntN(3)}}
				}
				d.Failures = append(d.Failures, f)
			}
		}
	}
	return d
}

func (h *history) entries(cluster string, n int) []*store.Entry {
	list := make([]*store.Entry, n)
	for i := range list {
		list[i] = &store.Entry{Decision: h.next(cluster)}
	}
	return list
}

// rollUp brings the roll-ups of a cluster up to the log.
func rollUp(t *testing.T, s store.Store, cluster string) (steps int) {
	t.Helper()
	for {
		step, err := s.RollUp(t.Context(), cluster)
		wantErr(t, "RollUp", err, nil)
		steps++
		if !step.More {
			return steps
		}
	}
}

// sorted returns the rows of a query as lines.
func sorted(t *testing.T, s store.Store, query string) []string {
	t.Helper()
	table, err := s.Query(t.Context(), &store.Query{SQL: query, MaxBytes: 1 << 30})
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	lines := make([]string, len(table.Rows))
	for i, row := range table.Rows {
		cells := make([]string, len(row))
		for j, v := range row {
			cells[j] = fmt.Sprint(v)
		}
		lines[i] = strings.Join(cells, "|")
	}
	slices.Sort(lines)
	return lines
}

// rollupsEqual wants the roll-ups, or some of them, to be as the plain queries of the log.
func rollupsEqual(t *testing.T, s store.Store, only ...string) {
	t.Helper()
	for _, p := range rollupcheck.Pairs() {
		if len(only) > 0 && !slices.Contains(only, p.Name) {
			continue
		}
		plain := sorted(t, s, p.Plain)
		if diff := cmp.Diff(plain, sorted(t, s, p.Rollup)); diff != "" || len(plain) == 0 {
			t.Errorf("%s, %d rows (-plain +roll-up):\n%s", p.Name, len(plain), diff)
		}
	}
}

func rollupsAreEqual(t *testing.T, s store.Store) {
	h := newHistory(1)
	for range 12 {
		appendAll(t, s, h.entries("prod", 1+h.rand.IntN(60))...)
		appendAll(t, s, h.entries("test", 1+h.rand.IntN(9))...)
		if h.rand.IntN(2) == 0 {
			rollUp(t, s, "prod")
		}
		if h.rand.IntN(2) == 0 {
			rollUp(t, s, "test")
		}
	}
	rollUp(t, s, "prod")
	rollUp(t, s, "test")
	rollupsEqual(t, s)
	states, err := s.RollupStates(t.Context())
	wantErr(t, "RollupStates", err, nil)
	if len(states) != 2 || states[0].Cluster != "prod" || states[0].Behind() != 0 || states[1].Behind() != 0 || states[0].Seq == 0 {
		t.Errorf("states %+v", states)
	}
}

// rollupsAtOnce has several workers beside a writer.
func rollupsAtOnce(t *testing.T, s store.Store) {
	h := newHistory(2)
	appendAll(t, s, h.entries("prod", 100)...)
	var wait sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		wait.Go(func() {
			for {
				_, err := s.RollUp(t.Context(), "prod")
				if err != nil && !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrUnavailable) {
					t.Errorf("RollUp: %v", err)
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for range 20 {
		appendAll(t, s, h.entries("prod", 20)...)
	}
	close(done)
	wait.Wait()
	rollUp(t, s, "prod")
	rollupsEqual(t, s)
}

// rollupsLate writes records out of the order in which they were made, as a spool does.
func rollupsLate(t *testing.T, s store.Store) {
	h := newHistory(3)
	entries := h.entries("prod", 400)
	h.rand.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	for part := range slices.Chunk(entries, 23) {
		appendAll(t, s, part...)
		rollUp(t, s, "prod")
	}
	rollupsEqual(t, s)
}

func rollupsRebuilt(t *testing.T, s store.Store) {
	h := newHistory(4)
	appendAll(t, s, h.entries("prod", 700)...)
	rollUp(t, s, "prod")
	wantErr(t, "RebuildRollups", s.RebuildRollups(t.Context(), "prod"), nil)
	same(t, "rows after the beginning", "0", sorted(t, s, `SELECT count(*) FROM decisions_by_hour`)[0])
	_, err := s.RollUp(t.Context(), "prod")
	wantErr(t, "RollUp", err, nil)
	states, err := s.RollupStates(t.Context())
	wantErr(t, "RollupStates", err, nil)
	if r := states[0]; r.Rebuilding != 700 || r.Seq == 0 || r.Seq >= 700 {
		t.Errorf("in the middle the state is %+v", r)
	}
	wantErr(t, "a second one goes on", s.RebuildRollups(t.Context(), "prod"), nil)
	after, err := s.RollupStates(t.Context())
	wantErr(t, "RollupStates", err, nil)
	same(t, "the state", states, after)
	appendAll(t, s, h.entries("prod", 50)...)
	rollUp(t, s, "prod")
	rollupsEqual(t, s)
	wantErr(t, "of no cluster", s.RebuildRollups(t.Context(), "none"), store.ErrNotFound)
}

// rollupsRetained wants what is summed up to outlast the records, and a rebuild.
func rollupsRetained(t *testing.T, s store.Store) {
	h := newHistory(5)
	entries := h.entries("prod", 600)
	appendAll(t, s, entries...)
	rollUp(t, s, "prod")
	all := func() (rows []string) {
		for _, p := range rollupcheck.Pairs() {
			rows = append(rows, sorted(t, s, p.Rollup)...)
		}
		return rows
	}
	whole := all()
	n, err := s.Retain(t.Context(), entries[300].Decision.CreatedAt)
	wantErr(t, "Retain", err, nil)
	if n == 0 {
		t.Fatal("nothing was deleted")
	}
	same(t, "the sums", whole, all())
	wantErr(t, "RebuildRollups", s.RebuildRollups(t.Context(), "prod"), nil)
	if kept := len(all()); kept == 0 || kept == len(whole) {
		t.Errorf("a rebuild leaves %d of %d rows", kept, len(whole))
	}
	rollUp(t, s, "prod")
	if diff := cmp.Diff(whole, all()); diff != "" {
		t.Errorf("built again (-before +after):\n%s", diff)
	}
	late := *entries[10].Decision // a record of an hour that stayed
	late.ID, late.Seq = "late", 0
	appendAll(t, s, &store.Entry{Decision: &late})
	rollUp(t, s, "prod")
	same(t, "decisions", []string{"601"}, sorted(t, s, `SELECT sum(decisions) FROM decisions_by_hour`))
	_, err = s.Retain(t.Context(), h.at.Add(time.Second))
	wantErr(t, "Retain", err, nil)
	wantErr(t, "RebuildRollups of no record", s.RebuildRollups(t.Context(), "prod"), nil)
	rollUp(t, s, "prod")
	same(t, "decisions", []string{"601"}, sorted(t, s, `SELECT sum(decisions) FROM decisions_by_hour`))
}

func rollupsDeleted(t *testing.T, s store.Store) {
	h := newHistory(6)
	appendAll(t, s, revision("prod", 1))
	appendAll(t, s, h.entries("prod", 700)...)
	appendAll(t, s, h.entries("test", 40)...)
	rollUp(t, s, "test")
	_, err := s.RollUp(t.Context(), "prod") // a part
	wantErr(t, "RollUp", err, nil)
	wantErr(t, "DeleteCluster", s.DeleteCluster(t.Context(), "prod"), nil)
	rollUp(t, s, "prod")
	rollupsEqual(t, s)
	appendAll(t, s, h.entries("prod", 30)...)
	rollUp(t, s, "prod")
	rollupsEqual(t, s)
	wantErr(t, "RebuildRollups", s.RebuildRollups(t.Context(), "prod"), nil)
	rollUp(t, s, "prod")
	rollupsEqual(t, s)
}

func rollupsOfNothing(t *testing.T, s store.Store) {
	_, err := s.RollUp(t.Context(), "prod")
	wantErr(t, "RollUp", err, store.ErrNotFound)
	appendAll(t, s, revision("prod", 1))
	step, err := s.RollUp(t.Context(), "prod")
	wantErr(t, "RollUp", err, nil)
	same(t, "the step", store.RollupStep{}, step)
	states, err := s.RollupStates(t.Context())
	wantErr(t, "RollupStates", err, nil)
	sameList(t, "states", []store.RollupState{}, states)
}

// rollupsInSteps wants records of many kinds to be added in steps that change few rows.
func rollupsInSteps(t *testing.T, s store.Store) {
	var entries []*store.Entry
	for i := range 1500 {
		d := decision("prod", fmt.Sprintf("%08d", i), at(i))
		d.Node, d.BoundRevision = fmt.Sprintf("node-%d", i), int64(i+1)
		entries = append(entries, &store.Entry{Decision: d})
	}
	appendAll(t, s, entries...)
	if steps := rollUp(t, s, "prod"); steps < 4 || steps > 6 {
		t.Errorf("%d steps", steps)
	}
	same(t, "placements", []string{"1500"}, sorted(t, s, `SELECT sum(placements) FROM placements_by_hour`))
}

func rollupsOfLongReasons(t *testing.T, s store.Store) {
	for i, end := range []string{"a", "b"} {
		d := decision("prod", end, at(i))
		d.Verb, d.Outcome = "filter", "Unschedulable"
		d.Failures = []store.Failure{{Plugin: "NodeAffinity", Code: "Unschedulable", Reason: strings.Repeat("long ", 20_000) + end, Nodes: 2}}
		appendAll(t, s, &store.Entry{Decision: d})
	}
	rollUp(t, s, "prod")
	same(t, "reasons", []string{"a|1|2", "b|1|2"}, sorted(t, s, `SELECT substr(reason, 100001), decisions, nodes FROM failures_by_hour`))
}

// waitingHours wants a pod in each hour that it waited in, the present one too.
func waitingHours(t *testing.T, s store.Store) {
	start := time.Date(2026, 1, 2, 3, 30, 0, 0, time.UTC)
	record := func(id, pod, outcome string, at time.Time) *store.Entry {
		d := decision("prod", id, at)
		d.Verb, d.Namespace, d.Pod, d.Outcome = "filter", "shop", pod, outcome
		return &store.Entry{Decision: d}
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	appendAll(t, s, record("1", "cart", "Gated", start), record("2", "till", "Gated", start.Add(15*time.Minute)),
		record("3", "till", "Scheduled", start.Add(30*time.Minute)), record("4", "cart", "Scheduled", start.Add(2*time.Hour)),
		record("5", "crate", "Unschedulable", now.Add(-time.Minute)))
	rollUp(t, s, "prod")
	same(t, "waits", []string{
		"2026-01-02T03:00:00Z|shop|SchedulingGates|2|2700", "2026-01-02T04:00:00Z|shop|SchedulingGates|1|3600", "2026-01-02T05:00:00Z|shop|SchedulingGates|1|1800",
	}, sorted(t, s, `SELECT hour, namespace, cause, pods, seconds FROM waiting_by_hour WHERE cause = 'SchedulingGates'`))
	same(t, "who waits now", []string{"crate|Unschedulable"}, sorted(t, s, `SELECT pod, cause FROM pod_waits WHERE until IS NULL AND seconds > 59 AND seconds < 600`))
	same(t, "the hour of now", []string{"1"}, sorted(t, s, `SELECT max(pods) FROM waiting_by_hour WHERE cause = 'Unschedulable' AND seconds > 0`))
}

// RollupsBroken has roll-ups fail at each call of the database in turn, by rollUp, which fails at
// the given one and reports whether there was such a call, and wants nothing to be counted twice.
func RollupsBroken(t *testing.T, s store.Store, rollUp func(call int) (failed bool)) {
	h := newHistory(7)
	for range 3 {
		appendAll(t, s, h.entries("prod", 60)...)
		calls := 0
		for rollUp(calls) {
			calls++
		}
		if calls < 6 {
			t.Errorf("a step is %d calls", calls)
		}
	}
	rollupsEqual(t, s)
}
