package bind_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/store"
	"berth/internal/store/groupcommit"
	"berth/internal/store/postgres"
	"berth/internal/store/sqlite"
	"berth/test/logtest"
	"berth/test/pgtest"
)

// moved is a clock that tests move.
type moved struct{ at atomic.Int64 }

func (c *moved) now() time.Time {
	return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC).Add(time.Duration(c.at.Load()))
}

func (c *moved) add(d time.Duration) { c.at.Add(int64(d)) }

// over opens a server over a store. End closes it, and not the store.
func over(t *testing.T, st store.Store, c *moved, around func(revision.Committer) revision.Committer) *logtest.Fixture {
	t.Helper()
	g := groupcommit.NewGroup(st, groupcommit.Options{CallersWrite: true})
	committer := revision.Committer(g)
	if around != nil {
		committer = around(g)
	}
	m, err := revision.Open(t.Context(), st, committer, revision.Options{Clock: c.now})
	if err != nil {
		t.Fatal(err)
	}
	h := logtest.New(m, st, []*engine.Profile{logtest.Profile(t, nil)}, record.Options{})
	h.End = func() {
		_ = m.Close()
		_ = g.Close(context.Background())
	}
	return h
}

// file opens an embedded store.
func file(t *testing.T, dir string) store.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// alone opens a server over an embedded store of its own.
func alone(t *testing.T, c *moved) *logtest.Fixture {
	st := file(t, t.TempDir())
	h := over(t, st, c, nil)
	t.Cleanup(func() {
		h.End()
		_ = st.Close()
	})
	return h
}

// database opens two servers over a database, each with its clock.
func database(t *testing.T, clocks ...*moved) (servers []*logtest.Fixture) {
	t.Helper()
	url := pgtest.URL(t)
	if err := postgres.MigrateUp(t.Context(), url, postgres.MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range clocks {
		st, err := postgres.Open(t.Context(), url, postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		h := over(t, st, c, nil)
		t.Cleanup(func() {
			h.End()
			_ = st.Close()
		})
		servers = append(servers, h)
	}
	return servers
}

func hold(t *testing.T, h *logtest.Fixture, name string, pods int) (*decision.PlacementAnswer, error) {
	t.Helper()
	var list []*corev1.Pod
	for i := range pods {
		list = append(list, logtest.Pod(t, fmt.Sprintf("%s-%d", name, i), ""))
	}
	return h.Binder.Place(t.Context(), &decision.Placement{Members: members(list), Hold: 30 * time.Second})
}

func mustHold(t *testing.T, h *logtest.Fixture, name string, pods int) string {
	t.Helper()
	a, err := hold(t, h, name, pods)
	if err != nil || a.Hold == nil || a.Placed != pods {
		t.Fatalf("%+v, %v", a, err)
	}
	return a.Hold.ID
}

// TestHeldIsBound: a hold is a placement that binds, to the digest of the state and of each answer;
// after its commit nothing is left of it, and after its release nothing at all. Its records replay.
func TestHeldIsBound(t *testing.T) {
	c := &moved{}
	var digests, answers []string
	for _, held := range []bool{false, true} {
		h := alone(t, c)
		logtest.Upload(t, h, logtest.Sample(t)...)
		p := &decision.Placement{Members: members([]*corev1.Pod{logtest.Pod(t, "a", ""), logtest.Pod(t, "b", "")}, "free"), Now: c.now()}
		if held {
			p.Hold = time.Minute
		}
		before := newestOf(t, h).Digest
		a, err := h.Binder.Place(t.Context(), p)
		if err != nil || a.Placed != 3 || (a.Hold != nil) != held {
			t.Fatalf("%+v, %v", a, err)
		}
		digests = append(digests, newestOf(t, h).Digest)
		list := ""
		for _, r := range a.Results {
			d, err := h.Record(t.Context(), r.Decision)
			if err != nil {
				t.Fatal(err)
			}
			list += d.AnswerDigest + " "
		}
		answers = append(answers, list)
		if a.Hold == nil {
			continue
		}
		replaysSame(t, h)
		if _, err := h.Manager.EndHold(t.Context(), a.Hold.ID, false); err != nil {
			t.Fatal(err)
		}
		if after := newestOf(t, h); after.Digest != before || after.Cause != "release" {
			t.Errorf("a release leaves %s (%s), before it was %s", after.Digest, after.Cause, before)
		}
		replaysSame(t, h)
	}
	if digests[0] != digests[1] || answers[0] != answers[1] {
		t.Errorf("bound %s %s, held %s %s", digests[0], answers[0], digests[1], answers[1])
	}
}

// TestHoldsRace: two platforms hold the last room, through two servers: never both get it.
func TestHoldsRace(t *testing.T) {
	c := &moved{}
	h := alone(t, c)
	for name, servers := range map[string][]*logtest.Fixture{"one server": {h, h}, "two servers": database(t, c, c)} {
		logtest.Upload(t, servers[0], logtest.Node(t, "n1", 1))
		newestOf(t, servers[1])
		for round := range 15 {
			var got [2]*decision.PlacementAnswer
			var both sync.WaitGroup
			for i, h := range servers {
				both.Go(func() {
					var err error
					if got[i], err = h.Binder.Place(t.Context(), &decision.Placement{
						Members: members([]*corev1.Pod{logtest.Pod(t, fmt.Sprintf("p%d-%d", i, round), "")}), Hold: 30 * time.Second, Atomic: true,
					}); err != nil {
						t.Error(err)
					}
				})
			}
			both.Wait()
			if t.Failed() {
				return
			}
			winner := 0
			if got[1].Hold != nil {
				winner = 1
			}
			if got[0].Placed+got[1].Placed != 1 || got[winner].Hold == nil || got[1-winner].Hold != nil {
				t.Fatalf("%s, round %d: %+v and %+v", name, round, got[0], got[1])
			}
			if round%2 == 0 {
				c.add(30 * time.Second)
			} else if _, err := servers[1-winner].Manager.EndHold(t.Context(), got[winner].Hold.ID, false); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestHoldsEndOnce: a commit through a server whose clock is late races with releases and with the
// end of the hold's time in others.
func TestHoldsEndOnce(t *testing.T) {
	late, early := &moved{}, &moved{}
	servers := database(t, late, early, early)
	logtest.Upload(t, servers[0], logtest.Node(t, "n1", 64))
	ended := map[string]int{}
	for round := range 24 {
		id := mustHold(t, servers[0], fmt.Sprintf("p%d", round), 1)
		before, err := servers[0].Store.Newest(t.Context(), "default")
		if err != nil {
			t.Fatal(err)
		}
		early.at.Store(late.at.Load() + int64(30*time.Second))
		var errs [3]error
		var all sync.WaitGroup
		all.Go(func() { _, errs[0] = servers[0].Manager.EndHold(t.Context(), id, true) })
		all.Go(func() {
			if round%3 == 0 {
				_, errs[1] = servers[0].Manager.EndHold(t.Context(), id, false)
				return
			}
			errs[1] = servers[1].Manager.ExpireDue(t.Context())
		})
		all.Go(func() { errs[2] = servers[2].Manager.ExpireHolds(t.Context(), "default") })
		all.Wait()
		h, err := servers[1].Manager.Hold(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		ended[h.State]++
		v, err := servers[0].Manager.View(t.Context(), "default", h.EndedRevision)
		if err != nil {
			t.Fatal(err)
		}
		there := v.State.Pod("d", fmt.Sprintf("p%d-0", round)) != nil
		var lost *revision.HoldEndedError
		if committed := h.State == store.HoldCommitted; there != committed || committed != (errs[0] == nil) || errs[0] != nil && !errors.As(errs[0], &lost) || errs[2] != nil {
			t.Fatalf("round %d: %s, its pod is there: %v; %v", round, h.State, there, errs)
		}
		rows, err := servers[0].Store.RevisionsAfter(t.Context(), "default", before.Number, 0)
		if err != nil || len(rows) != 1 || rows[0].Number != h.EndedRevision {
			t.Fatalf("round %d: %d revisions end a hold, %v", round, len(rows), err)
		}
		early.at.Store(late.at.Load())
	}
	t.Log(ended)
}

// between is a store in which something happens once behind a list of holds.
type between struct {
	store.Store
	do func()
}

func (b *between) Held(ctx context.Context, cluster string, limit int) ([]*store.Hold, error) {
	list, err := b.Store.Held(ctx, cluster, limit)
	if do := b.do; do != nil {
		b.do = nil
		do()
	}
	return list, err
}

// TestHoldEndsAmidExpiry: a hold that another server ends while its expiry is worked out has ended
// as that server says, and the expiry is no error, nor is the call that came upon it.
func TestHoldEndsAmidExpiry(t *testing.T) {
	for _, what := range []string{"expiry", "call"} {
		late, early := &moved{}, &moved{}
		commits := database(t, late)[0]
		st := &between{Store: commits.Store}
		expires := over(t, st, early, nil)
		t.Cleanup(expires.End)
		logtest.Upload(t, commits, logtest.Node(t, "n1", 64))
		id := mustHold(t, commits, "a", 2)
		if _, err := expires.Manager.View(t.Context(), "default", 0); err != nil {
			t.Fatal(err)
		}
		early.at.Store(late.at.Load() + int64(30*time.Second))
		var ended error
		st.do = func() { _, ended = commits.Manager.EndHold(t.Context(), id, true) }
		if what == "call" {
			mustHold(t, expires, "b", 1)
		} else if err := expires.Manager.ExpireHolds(t.Context(), "default"); err != nil {
			t.Error(err)
		}
		h, err := commits.Manager.Hold(t.Context(), id)
		if err != nil || ended != nil || st.do != nil || h.State != store.HoldCommitted {
			t.Errorf("%s: %+v, %v, %v", what, h, err, ended)
		}
	}
}

// TestHoldsExpireWhileDown: at the next start a hold whose time is over goes before anything is
// answered, by the start itself or by the first call.
func TestHoldsExpireWhileDown(t *testing.T) {
	for _, start := range []bool{true, false} {
		c, st := &moved{}, file(t, t.TempDir())
		h := over(t, st, c, nil)
		logtest.Upload(t, h, logtest.Node(t, "n1", 2))
		id, stays := mustHold(t, h, "a", 2), newestOf(t, h).Revision
		h.End()
		c.add(30*time.Second - time.Microsecond)
		h = over(t, st, c, nil)
		if err := h.Manager.ExpireDue(t.Context()); err != nil || newestOf(t, h).Revision != stays {
			t.Fatalf("a hold ended early: %v", err)
		}
		h.End()
		c.add(time.Microsecond)
		h = over(t, st, c, nil)
		if start {
			if err := h.Manager.ExpireDue(t.Context()); err != nil {
				t.Fatal(err)
			}
			if row, err := st.Newest(t.Context(), "default"); err != nil || row.Cause != "expired" || row.Asked.By != "" {
				t.Errorf("%+v, %v", row, err)
			}
		}
		if a, err := hold(t, h, "b", 2); err != nil || a.Placed != 2 {
			t.Errorf("%+v, %v", a, err)
		}
		if x, err := st.Hold(t.Context(), id); err != nil || x.State != store.HoldExpired || x.EndedRevision != stays+1 {
			t.Errorf("%+v, %v", x, err)
		}
		h.End()
		_ = st.Close()
	}
}

// breaking fails one of the writes of a revision: before it is written, or after it was, when the
// answer is lost.
type breaking struct {
	revision.Committer
	left  *atomic.Int64
	after bool
}

var errBroken = errors.New("the machine is gone")

func (b breaking) Submit(ctx context.Context, e *store.Entry) (func(context.Context) error, error) {
	breaks := e.Revision != nil && b.left.Add(-1) == 0
	if breaks && !b.after {
		return nil, errBroken
	}
	wait, err := b.Committer.Submit(ctx, e)
	if err != nil || !breaks {
		return wait, err
	}
	return func(ctx context.Context) error { return errors.Join(wait(ctx), errBroken) }, nil
}

// TestHoldsAtEveryFailure lets the Nth write of a revision fail, for every N of a run of holds and
// their ends, and the server end with it. What was answered is so at the next start, a hold and its
// pods are there together or not at all, and once all have ended the room is as it was.
func TestHoldsAtEveryFailure(t *testing.T) {
	for _, after := range []bool{false, true} {
		for n := int64(1); ; n++ {
			c, st, left := &moved{}, file(t, t.TempDir()), &atomic.Int64{}
			h := over(t, st, c, func(g revision.Committer) revision.Committer { return breaking{g, left, after} })
			logtest.Upload(t, h, logtest.Node(t, "n1", 8))
			left.Store(n)
			answered := map[string]string{}
			run := func() error {
				var ids []string
				for i := range 3 {
					a, err := hold(t, h, fmt.Sprint("p", i), 2)
					if err != nil {
						return err
					}
					ids = append(ids, a.Hold.ID)
					answered[a.Hold.ID] = store.HoldHeld
				}
				for i, commit := range []bool{true, false} {
					x, err := h.Manager.EndHold(t.Context(), ids[i], commit)
					if err != nil {
						return err
					}
					answered[ids[i]] = x.State
				}
				c.add(30 * time.Second)
				if err := h.Manager.ExpireDue(t.Context()); err != nil {
					return err
				}
				answered[ids[2]] = store.HoldExpired
				return nil
			}
			err := run()
			h.End()
			left.Store(0)
			h = over(t, st, c, nil)
			late := c.now()
			list, listErr := st.ListHolds(t.Context(), store.HoldFilter{})
			if listErr != nil {
				t.Fatal(listErr)
			}
			known := map[string]bool{}
			for _, x := range list {
				known[x.ID] = true
				if want, ok := answered[x.ID]; ok && x.State != want && want != store.HoldHeld {
					t.Errorf("N=%d, after %v: hold %s is %s, answered was %s", n, after, x.ID, x.State, want)
				}
			}
			for id := range answered {
				if !known[id] {
					t.Errorf("N=%d, after %v: hold %s was answered and is lost", n, after, id)
				}
			}
			v, viewErr := h.Manager.View(t.Context(), "default", 0) // ends those whose time is over
			if viewErr != nil {
				t.Fatal(viewErr)
			}
			pods := 0
			list, _ = st.ListHolds(t.Context(), store.HoldFilter{})
			for _, x := range list {
				if x.State == store.HoldCommitted || x.State == store.HoldHeld && late.Before(x.ExpiresAt) {
					pods += x.PodCount
				}
			}
			if v.State.PodCount() != pods {
				t.Errorf("N=%d, after %v: %d pods, holds have %d", n, after, v.State.PodCount(), pods)
			}
			h.End()
			_ = st.Close()
			if err == nil {
				break
			}
			if n > 20 {
				t.Fatalf("the run never ends well: %v", err)
			}
		}
	}
}

// TestHoldsUndoDevices: the devices of a hold are free once it has ended, and a claim that another
// pod uses by then stays.
func TestHoldsUndoDevices(t *testing.T) {
	h := alone(t, &moved{})
	for seed, found := uint64(0), 0; found < 3; seed++ {
		if seed > 3000 {
			t.Fatal("no cluster with devices for a pod")
		}
		list, pods := drawn(t, seed)
		if len(pods[0].Spec.ResourceClaims) == 0 {
			continue
		}
		cluster := fmt.Sprint("c", seed)
		uploadAs(t, h, cluster, list)
		before := newestIn(t, h, cluster)
		a, err := h.Binder.Place(t.Context(), &decision.Placement{Cluster: cluster, Members: members(pods[:1]), Hold: time.Minute})
		if err != nil || a.Hold == nil {
			continue
		}
		wrote := 0
		if err := before.Differences(t.Context(), newestIn(t, h, cluster), func(k object.Key, _, _ []byte) {
			if k.Kind == "ResourceClaim" {
				wrote++
			}
		}); err != nil {
			t.Fatal(err)
		}
		if wrote == 0 {
			continue
		}
		found++
		if _, err := h.Manager.EndHold(t.Context(), a.Hold.ID, false); err != nil {
			t.Fatal(err)
		}
		if after := newestIn(t, h, cluster); after.Digest != before.Digest {
			t.Errorf("seed %d: something of %d claims is left", seed, wrote)
		}
	}
}

// TestHoldThroughAPIServer: a cluster that its apiserver keeps has no holds.
func TestHoldThroughAPIServer(t *testing.T) {
	h := logtest.Through(t, &logtest.APIServer{})
	_, err := h.Binder.Place(t.Context(), &decision.Placement{Members: members([]*corev1.Pod{logtest.Pod(t, "a", "")}), Hold: time.Minute})
	var named *decision.Error
	if !errors.As(err, &named) || named.Field != "hold" || named.Kind != decision.Conflict {
		t.Errorf("%v", err)
	}
}
