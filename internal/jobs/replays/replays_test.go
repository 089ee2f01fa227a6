package replays

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/jobs"
	"berth/internal/semantics"
	"berth/internal/store"
	"berth/internal/upgrade"
)

func TestEverythingReplaysIdentical(t *testing.T) {
	onBoth(t, func(t *testing.T, h *fixture) {
		n := live(t, h, 150, 1)
		j := h.jobs(nil, jobs.Options{})
		job := start(t, j, Request{})
		if job.State != store.JobQueued || job.Total != int64(n) || job.Done != 0 {
			t.Fatalf("%+v, want %d queued", job, n)
		}
		finish(t, j.Worker())
		job = get(t, j, job.ID)
		want(t, job, n, 0, 0)
		found(t, j, job)
	})
}

// leastAllocated packs where the default spreads, and so decides otherwise.
const packed = `{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","profiles":[{"schedulerName":"default-scheduler",
	"pluginConfig":[{"name":"NodeResourcesFit","args":{"scoringStrategy":{"type":"MostAllocated","resources":[{"name":"cpu","weight":1}]}}}]}]}`

// TestOverrideIsFoundByPath is the planted difference of an engine: a
// configuration that scores otherwise.
func TestOverrideIsFoundByPath(t *testing.T) {
	onBoth(t, func(t *testing.T, h *fixture) {
		n := live(t, h, 60, 2)
		j := h.jobs(nil, jobs.Options{})
		job := start(t, j, Request{Config: []byte(packed)})
		finish(t, j.Worker())
		job = get(t, j, job.ID)
		if job.State != store.JobDone || job.Done != int64(n) || job.Different == 0 || job.Identical == 0 || job.Errors != 0 {
			t.Fatalf("%+v of %d", job, n)
		}
		all := found(t, j, job)
		if got := paths(all); !strings.Contains(got, "scores[NodeResourcesFit].raw") || strings.Contains(got, "digest") {
			t.Errorf("paths %s", got)
		}
		// Each is what a replay of that decision alone says.
		o, err := j.overrides(&store.Job{Cluster: "prod", Config: []byte(packed)})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range all {
			alone, err := h.log.Replay(t.Context(), d.ID, o)
			if err != nil {
				t.Fatal(err)
			}
			total := len(alone.Differences) + alone.DifferencesOmitted
			if len(d.Differences)+d.DifferencesOmitted != total {
				t.Errorf("%s differs in %d paths, alone in %d", d.ID, len(d.Differences)+d.DifferencesOmitted, total)
			}
			said := map[string]bool{}
			for _, x := range alone.Differences {
				said[encode(t, x)] = true
			}
			for i, x := range d.Differences {
				if !said[encode(t, x)] {
					t.Errorf("%s: %s is none alone", d.ID, encode(t, x))
				}
				if i > 0 && !strings.Contains(x.Path, "[") && strings.Contains(d.Differences[i-1].Path, "[") {
					t.Errorf("%s: %s comes late", d.ID, x.Path)
				}
			}
		}
	})
}

// TestAnotherRelease: every decision is answered as the release has its recorded profile; without
// one it is answered as it was, whatever release it was of.
func TestAnotherRelease(t *testing.T) {
	onBoth(t, func(t *testing.T, h *fixture) {
		n := live(t, h, 60, 3)
		old := release(t, "v1.35")
		mine, err := h.log.Configured().Under(release(t, "v1.37 StorageCapacityScoring=false"))
		if err != nil {
			t.Fatal(err)
		}
		gated, err := h.log.Decide(t.Context(), decision.Question{Cluster: "prod", Pod: pod(t, "gated", rand.New(rand.NewPCG(1, 1))), Profiles: mine})
		if err != nil || gated.Semantics != "v1.37.2 StorageCapacityScoring=false" {
			t.Fatalf("%+v, %v", gated, err)
		}
		n++
		j := h.jobs(nil, jobs.Options{Unfinished: 9})
		same := start(t, j, Request{})
		job := start(t, j, Request{Release: old})
		named := start(t, j, Request{Release: old, Profile: "default-scheduler"})
		read := start(t, j, Request{Release: old, Config: []byte(`{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration"}`)})
		finish(t, j.Worker())
		want(t, get(t, j, same.ID), n, 0, 0)
		job = get(t, j, job.ID)
		if job.State != store.JobDone || job.Semantics != "v1.35.4" || job.Done != int64(n) || job.Different == 0 || job.Identical == 0 || job.Errors != 0 {
			t.Fatalf("%+v of %d", job, n)
		}
		all := found(t, j, job)
		if got := paths(all); !strings.Contains(got, "scores[NodeResourcesBalancedAllocation].raw") || strings.Contains(got, "NodeResourcesFit") {
			t.Errorf("paths %s", got)
		}
		var scores int
		for _, d := range all {
			for _, c := range d.Changes {
				if len(c.Causes) == 0 {
					t.Errorf("%s: nothing causes %+v", d.ID, c)
				}
				if c.Kind == upgrade.OtherScores && slices.Equal(c.Causes, []string{"Balance"}) {
					scores++
				}
			}
		}
		if scores == 0 {
			t.Errorf("no scores differ by Balance: %+v", all[0].Changes)
		}
		for _, other := range []*Job{named, read} {
			if other = get(t, j, other.ID); other.Different != job.Different || other.Errors != 0 {
				t.Errorf("%+v, as recorded %+v", other, job)
			}
		}
		alone, err := h.log.Replay(t.Context(), all[0].ID, record.Overrides{Release: old})
		if err != nil || alone.Identical || alone.Decision.Semantics != "v1.35.4" {
			t.Errorf("%+v, %v", alone, err)
		}
		if alone, err = h.log.Replay(t.Context(), gated.ID, record.Overrides{}); err != nil || !alone.Identical || alone.Decision.Semantics != gated.Semantics {
			t.Errorf("%+v, %v", alone, err)
		}
		listed, err := j.List(t.Context(), "prod", "", 0)
		if err != nil || len(listed) != 4 || listed[2].Semantics != "v1.35.4" || listed[3].Semantics != "" {
			t.Errorf("%+v, %v", listed, err)
		}
	})
}

func release(t *testing.T, text string) *semantics.Release {
	t.Helper()
	r, err := semantics.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func encode(t *testing.T, v any) string {
	t.Helper()
	js, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(js)
}

// TestKilledAnywhereCountsOnce pulls the plug at random points and goes on: no
// decision is left out, none is counted twice, and what differs is there once.
func TestKilledAnywhereCountsOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, h *fixture) {
		n := live(t, h, 50, 3)
		exact := start(t, h.jobs(nil, jobs.Options{}), Request{Config: []byte(packed)})
		finish(t, h.jobs(nil, jobs.Options{}).Worker())
		exact = get(t, h.jobs(nil, jobs.Options{}), exact.ID)
		expect := found(t, h.jobs(nil, jobs.Options{}), exact)
		r := rand.New(rand.NewPCG(3, 3))
		for round := range 6 {
			// A lease that has run out when it is given: the next replica takes over.
			j := h.jobs(nil, jobs.Options{Lease: -time.Second})
			job := start(t, j, Request{Config: []byte(packed)})
			for kills := 0; ; kills++ {
				p := &pulled{Store: h.Store, calls: 2 + r.IntN(n), lost: r.IntN(2) == 0}
				o := jobs.Options{Lease: -time.Second}
				if round%2 == 1 {
					o.Chunk = time.Hour // one commit a part
				}
				w := h.jobs(p, o).Worker()
				worked, err := true, error(nil)
				for worked && err == nil {
					worked, err = w.Step(t.Context())
				}
				if err == nil {
					break
				}
				if !errors.Is(err, errPulled) {
					t.Fatal(err)
				}
			}
			job = get(t, j, job.ID)
			want(t, job, n, int(exact.Different), 0)
			if diff := cmp.Diff(ids(expect), ids(found(t, j, job))); diff != "" {
				t.Errorf("round %d: what differs (-want +got):\n%s", round, diff)
			}
		}
	})
}

func ids(list []*Difference) []string {
	var out []string
	for _, d := range list {
		out = append(out, d.ID)
	}
	return out
}

func TestTwoWorkersShareAJob(t *testing.T) {
	onBoth(t, func(t *testing.T, h *fixture) {
		n := live(t, h, 120, 4)
		j := h.jobs(nil, jobs.Options{})
		r := &store.Job{ID: "01a1fcf1-7109-714c-aabc-23785be91e09", Cluster: "prod", Until: time.Now().Add(time.Hour), CreatedAt: time.Now()}
		parts, err := h.PlanReplay(t.Context(), "prod", r.Since, r.Until, 5)
		if err != nil {
			t.Fatal(err)
		}
		if len(parts) < 8 {
			t.Fatalf("%d parts", len(parts))
		}
		if err := h.CreateReplay(t.Context(), r, parts, store.JobLimits{}); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 2 { // two replicas, each with rooms of its own
			wg.Go(func() { finish(t, j.Worker()) })
		}
		wg.Wait()
		want(t, get(t, j, r.ID), n, 0, 0)
	})
}

func TestCancelIsHeard(t *testing.T) {
	onBoth(t, func(t *testing.T, h *fixture) {
		live(t, h, 40, 5)
		var j *Jobs
		var job *Job
		seen := 0
		j = h.jobs(nil, jobs.Options{Observe: func(same, different, failed int64) {
			if seen += int(same + different + failed); seen != 3 {
				return
			}
			for range 2 {
				if got, err := j.Cancel(context.Background(), job.ID); err != nil || got.State != store.JobCancelled {
					t.Errorf("%+v %v", got, err)
				}
			}
		}})
		job = start(t, j, Request{})
		finish(t, j.Worker())
		if seen > 4 {
			t.Errorf("%d decisions were answered, the job was cancelled after 3", seen)
		}
		if job = get(t, j, job.ID); job.State != store.JobCancelled || job.Done != 3 || job.EndedAt == nil {
			t.Errorf("%+v", job)
		}
		if err := j.Delete(t.Context(), job.ID); err != nil {
			t.Error(err)
		}
		if _, err := j.Get(t.Context(), job.ID); !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
	})
}

func TestOnlyTheWindow(t *testing.T) {
	onBoth(t, func(t *testing.T, h *fixture) {
		live(t, h, 30, 6)
		rows, err := h.log.List(t.Context(), store.DecisionFilter{Cluster: "prod"})
		if err != nil {
			t.Fatal(err)
		}
		since, until := rows[len(rows)-4].CreatedAt, rows[2].CreatedAt
		expect := 0
		for _, r := range rows {
			if !r.CreatedAt.Before(since) && r.CreatedAt.Before(until) {
				expect++
			}
		}
		j := h.jobs(nil, jobs.Options{})
		job := start(t, j, Request{Since: since, Until: until})
		finish(t, j.Worker())
		want(t, get(t, j, job.ID), expect, 0, 0)
		job = start(t, j, Request{Until: since.Add(-time.Hour)})
		want(t, get(t, j, job.ID), 0, 0, 0)
	})
}

// TestWhatCannotBeReplayedIsAnError has records that cannot be answered, among
// good ones.
func TestWhatCannotBeReplayedIsAnError(t *testing.T) {
	onBoth(t, func(t *testing.T, h *fixture) {
		n := live(t, h, 20, 7)
		rows, err := h.log.List(t.Context(), store.DecisionFilter{Cluster: "prod", Verb: "decide", Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		good, err := h.Decision(t.Context(), rows[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		for i, change := range []func(*store.Decision){
			func(d *store.Decision) { d.Input = []byte(`{"v":9}`) },
			func(d *store.Decision) { d.Semantics = "v1.99.0" },
			func(d *store.Decision) { d.SnapshotDigest = "sha256:00" },
			func(d *store.Decision) { d.ProfileDigest = "sha256:00" },
			func(d *store.Decision) { d.AnswerDigest = "sha256:00" }, // an older engine's answer
		} {
			d := *good
			d.ID, d.BoundRevision = fmt.Sprintf("01a1fcf1-7109-714c-aabc-23785be9%04d", i), 0
			change(&d)
			e := &store.Entry{Decision: &d}
			if err := h.Append(t.Context(), []*store.Entry{e}); err != nil || e.Err != nil {
				t.Fatal(err, e.Err)
			}
		}
		j := h.jobs(nil, jobs.Options{})
		job := start(t, j, Request{})
		finish(t, j.Worker())
		job = get(t, j, job.ID)
		want(t, job, n+5, 1, 4)
		for _, d := range found(t, j, job) {
			if d.Error == "" && !strings.Contains(paths([]*Difference{d}), "digest") {
				t.Errorf("%+v", d)
			}
		}
	})
}

func TestPoisonIsGivenUp(t *testing.T) {
	onBoth(t, func(t *testing.T, h *fixture) {
		live(t, h, 10, 8)
		j := h.jobs(nil, jobs.Options{Lease: -time.Second})
		job := start(t, j, Request{})
		for range maxAttempts { // each is killed before it commits
			if _, err := h.ClaimJob(t.Context(), store.Replays, "x", -time.Second, false); err != nil {
				t.Fatal(err)
			}
		}
		finish(t, j.Worker())
		if job = get(t, j, job.ID); job.State != store.JobFailed || job.Reason == "" || job.Done != 0 {
			t.Errorf("%+v", job)
		}
	})
}

// TestStoredContentFailsAtOnce: a job that was stored with a configuration that is refused today is
// not begun again and again, nor after a restart.
func TestStoredContentFailsAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, h *fixture) {
		live(t, h, 10, 8)
		var list []string
		for i := range 18_000 {
			list = append(list, fmt.Sprintf(`{"schedulerName":"s%d"}`, i))
		}
		config := `{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","profiles":[` + strings.Join(list, ",") + `]}`
		r := &store.Job{ID: "01a1fcf1-7109-714c-aabc-23785be91e0a", Cluster: "prod", Until: time.Now().Add(time.Hour), CreatedAt: time.Now(), Config: []byte(config)}
		parts, err := h.PlanReplay(t.Context(), "prod", r.Since, r.Until, 5)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.CreateReplay(t.Context(), r, parts, store.JobLimits{}); err != nil {
			t.Fatal(err)
		}
		j := h.jobs(nil, jobs.Options{})
		if _, err := j.Worker().Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		if job := get(t, j, r.ID); job.State != store.JobFailed || !strings.Contains(job.Reason, "profiles") || job.Done != 0 {
			t.Errorf("%+v", job)
		}
		if worked, err := j.Worker().Step(t.Context()); worked || err != nil {
			t.Errorf("it is worked on again: %v", err)
		}
	})
}

func TestRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, h *fixture) {
		live(t, h, 3, 9)
		j := h.jobs(nil, jobs.Options{Unfinished: 1})
		for _, tt := range []struct {
			q     Request
			field string
			kind  decision.ErrorKind
		}{
			{Request{Cluster: "Prod"}, "cluster", decision.Malformed},
			{Request{Cluster: "nowhere"}, "cluster", decision.NotFound},
			{Request{Cluster: "prod", Since: time.Now(), Until: time.Now().Add(-time.Hour)}, "since", decision.Invalid},
			{Request{Cluster: "prod", Profile: "none"}, "profile", decision.Invalid},
			{Request{Cluster: "prod", Config: []byte(`{}`)}, "config", decision.Invalid},
			{Request{Cluster: "prod", Config: []byte(packed), Profile: "none"}, "profile", decision.Invalid},
		} {
			_, err := j.Start(t.Context(), tt.q)
			var input *decision.Error
			if !errors.As(err, &input) || input.Field != tt.field || input.Kind != tt.kind {
				t.Errorf("%+v: %v", tt.q, err)
			}
		}
		start(t, j, Request{})
		var busy *store.BusyError
		if _, err := j.Start(t.Context(), Request{Cluster: "prod"}); !errors.As(err, &busy) {
			t.Errorf("a job too many: %v", err)
		}
	})
}

// TestSameOnAnyNumberOfProcessors is for one store: what differs would be the
// scheduler's doing, not the store's.
func TestSameOnAnyNumberOfProcessors(t *testing.T) {
	h := openFixture(t, backends["sqlite"](t))
	n := live(t, h, 60, 10)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first string
	for _, procs := range []int{1, 2, 16} {
		runtime.GOMAXPROCS(procs)
		j := h.jobs(nil, jobs.Options{})
		job := start(t, j, Request{Config: []byte(packed)})
		finish(t, j.Worker())
		job = get(t, j, job.ID)
		if job.Done != int64(n) || job.Different == 0 {
			t.Fatalf("%+v", job)
		}
		got := encode(t, found(t, j, job))
		if first == "" {
			first = got
		}
		if got != first {
			t.Errorf("%d processors find\n%s\nnot\n%s", procs, got, first)
		}
	}
}

// TestWork is the worker of a server: it finds what is started, and ends.
func TestWork(t *testing.T) {
	onBoth(t, func(t *testing.T, h *fixture) {
		n := live(t, h, 20, 11)
		ended := make(chan struct{})
		left := n
		j := h.jobs(nil, jobs.Options{Poll: time.Hour, Observe: func(same, different, failed int64) {
			n := int(same + different + failed) // none where the part's end alone is committed
			if left -= n; n > 0 && left == 0 {
				close(ended)
			}
		}})
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { j.Work(ctx) })
		start(t, j, Request{})
		<-ended
		stop()
		wg.Wait()
	})
}
