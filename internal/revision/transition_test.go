package revision

import (
	"fmt"
	"testing"
	"time"
)

// describe writes a state and what followed from it in short: the position with the durable
// revision and the head, +n for writes in flight, and what differs from before.
func describe(before, s *chainState, e effects) string {
	if e.stale {
		return "stale"
	}
	v, text := s.views(), ""
	number := func(v *View) int64 {
		if v == nil {
			return 0
		}
		return v.Revision
	}
	switch at := s.position.(type) {
	case empty:
		text = "empty"
	case stored:
		text = fmt.Sprintf("stored %d", number(v.durable))
	case live:
		text = fmt.Sprintf("live %d %d", number(v.durable), number(at.head))
	case uncertain:
		text = fmt.Sprintf("uncertain %d", number(v.durable))
	}
	if s.inFlight > 0 {
		text += fmt.Sprintf(" +%d", s.inFlight)
	}
	note := func(ok bool, what string) {
		if ok {
			text += " " + what
		}
	}
	note(s.epoch != before.epoch, "epoch")
	note(s.checkpoint != before.checkpoint, fmt.Sprintf("checkpoint=%d", s.checkpoint))
	note(s.contention.until != before.contention.until, "contested")
	note(s.contention.lock != nil && before.contention.lock == nil, "locked")
	note(e.newer != nil, "newer")
	note(e.quiet != nil, "quiet")
	note(e.release != nil, "release")
	note(e.save != nil, "save")
	note(s.saving && !before.saving, "saving")
	note(!s.saving && before.saving, "saved")
	note(e.read, "read")
	return text
}

// row is a view of a revision for tests; the newest checkpoint is at revision 2.
func row(revision int64) *View {
	return &View{Revision: revision, Cause: causeChange, checkpoint: 2, inv: new(inventory)}
}

// TestTransitions goes through every position with every message.
func TestTransitions(t *testing.T) {
	const now, past, before = 3, 2, 1 // epochs; the cluster was forgotten between the last two
	var v [10]*View
	for i := range v {
		v[i] = row(int64(i))
	}
	five := stored{durable: v[5], recent: []*View{v[4], v[3]}}
	positions := []struct {
		position
		inFlight int
	}{{empty{}, 0}, {five, 0}, {live{five, v[5]}, 0}, {live{five, v[7]}, 2}, {uncertain{five, now}, 1}}
	lock := &storeLock{release: func() {}}
	b := bounds{keep: 8, every: 4}
	// A cell that is empty is stale in every position.
	for _, row := range []struct {
		name string
		x    message
		want [5]string
	}{
		{"loaded", loaded{now, v[6], false}, [5]string{
			"stored 6 newer", "stored 6 newer", "live 6 6 newer", "live 6 7 +2 newer", "stored 6 +1 newer",
		}},
		{"loaded, older", loaded{now, v[4], false}, [5]string{
			"stored 4 newer", "stored 5", "live 5 5", "live 5 7 +2", "stored 5 +1",
		}},
		{"loaded, with writes in flight on another", loaded{now, v[8], false}, [5]string{
			"stored 8 newer", "stored 8 newer", "live 8 8 newer", "live 8 7 +2 newer", "stored 8 +1 newer",
		}},
		{"loaded by the writer", loaded{now, v[6], true}, [5]string{
			"live 6 6 newer", "live 6 6 newer", "live 6 6 newer", "live 6 7 +2 newer", "live 6 6 +1 newer",
		}},
		{"loaded before", loaded{past, v[6], true}, [5]string{
			"stored 6 newer", "stored 6 newer", "live 6 6 newer", "live 6 7 +2 newer", "uncertain 6 +1 newer",
		}},
		{"loaded of the cluster before", loaded{before, v[6], true}, [5]string{}},
		{"outdated", outdated{now}, [5]string{
			"empty epoch", "stored 5 epoch", "stored 5 epoch", "stored 5 +2 epoch", "uncertain 5 +1 epoch",
		}},
		{"outdated before", outdated{past}, [5]string{}},
		{"begun", begun{now}, [5]string{
			"empty +1", "stored 5 +1", "live 5 5 +1", "live 5 7 +3", "uncertain 5 +2",
		}},
		{"begun before", begun{past}, [5]string{}},
		{"submitted", submitted{now, v[8]}, [5]string{
			"live 0 8", "live 5 8", "live 5 8", "live 5 8 +2", "live 5 8 +1",
		}},
		{"submitted before", submitted{past, v[8]}, [5]string{}},
		{"saved", saved{4}, [5]string{
			"empty checkpoint=4", "stored 5 checkpoint=4", "live 5 5 checkpoint=4", "live 5 7 +2 checkpoint=4", "uncertain 5 +1 checkpoint=4",
		}},
		{"not saved", saved{0}, [5]string{
			"empty", "stored 5", "live 5 5", "live 5 7 +2", "uncertain 5 +1",
		}},
		{"checkpointed", checkpointed{now, 4}, [5]string{
			"empty checkpoint=4", "stored 5 checkpoint=4", "live 5 5 checkpoint=4", "live 5 7 +2 checkpoint=4", "uncertain 5 +1 checkpoint=4",
		}},
		{"checkpointed before", checkpointed{past, 4}, [5]string{}},
		{"a checkpoint that is known", checkpointed{now, 2}, [5]string{}},
		{"recompiled", recompiled{v[5], v[9]}, [5]string{"stale", "stale", "live 9 9", "stale", "stale"}},
		{"recompiled, not durable yet", recompiled{v[7], v[9]}, [5]string{"stale", "stale", "stale", "live 5 9 +2", "stale"}},
		{"evicted", evicted{}, [5]string{"empty", "empty", "empty", "stale", "stale"}},
		{"forgotten", forgotten{now}, [5]string{
			"empty epoch checkpoint=0", "empty epoch checkpoint=0", "empty epoch checkpoint=0", "empty +2 epoch checkpoint=0", "empty +1 epoch checkpoint=0",
		}},
		{"forgotten before", forgotten{past}, [5]string{}},
		{"deleted", deleted{4}, [5]string{
			"empty", "stored 5", "live 5 5", "live 5 7 +2", "uncertain 5 +1",
		}},
		{"awaited", awaited{make(chan struct{})}, [5]string{
			"empty", "stored 5", "live 5 5", "live 5 7 +2", "uncertain 5 +1",
		}},
		{"quieted", quieted{make(chan struct{})}, [5]string{"stale", "stale", "stale", "live 5 7 +2", "uncertain 5 +1"}},
		{"locked", locked{lock}, [5]string{
			"empty epoch locked", "stored 5 epoch locked", "stored 5 epoch locked", "stored 5 +2 epoch locked", "uncertain 5 +1 epoch locked",
		}},
		{"unlocked without a lock", unlocked{}, [5]string{}},
		{"contested", contested{time.Unix(9, 0)}, [5]string{
			"empty contested", "stored 5 contested", "live 5 5 contested", "live 5 7 +2 contested", "uncertain 5 +1 contested",
		}},
	} {
		for i, p := range positions {
			s := chainState{position: p.position, epoch: now, began: past, inFlight: p.inFlight, checkpoint: 2, newer: make(chan struct{})}
			check(t, fmt.Sprintf("%s in %s", row.name, describe(&s, &s, effects{})), b, s, row.x, row.want[i])
		}
	}
	// Outcomes of a write that is in flight. The others are as they are beside it.
	for _, row := range []struct {
		name string
		x    written
		want [4]string
	}{
		{"durable", written{now, v[6], durable, time.Time{}}, [4]string{
			"stored 6 newer quiet release save saving", "live 6 6 newer quiet release save saving", "live 6 7 +1 newer save saving", "uncertain 6 newer quiet release save saving",
		}},
		{"durable, begun before", written{past, v[6], durable, time.Time{}}, [4]string{
			"stored 6 newer quiet release save saving", "live 6 6 newer quiet release save saving", "live 6 7 +1 newer save saving", "uncertain 6 newer quiet release save saving",
		}},
		{"durable, of the cluster before", written{before, v[6], durable, time.Time{}}, [4]string{
			"stored 5 quiet release save saving", "live 5 6 quiet release save saving", "live 5 7 +1 save saving", "uncertain 5 quiet release save saving",
		}},
		{"durable, few after the checkpoint", written{now, v[5], durable, time.Time{}}, [4]string{
			"stored 5 quiet release", "live 5 6 quiet release", "live 5 7 +1", "uncertain 5 quiet release",
		}},
		{"refused", written{now, v[6], refused, time.Unix(9, 0)}, [4]string{
			"stored 5 epoch contested quiet release", "stored 5 epoch contested quiet release", "stored 5 +1 epoch contested", "uncertain 5 epoch contested quiet release",
		}},
		{"refused, begun before", written{past, v[6], refused, time.Unix(9, 0)}, [4]string{
			"stored 5 contested quiet release", "live 5 6 contested quiet release", "live 5 7 +1 contested", "uncertain 5 contested quiet release",
		}},
		{"failed", written{now, v[6], failed, time.Time{}}, [4]string{
			"stored 5 epoch quiet release", "stored 5 epoch quiet release", "stored 5 +1 epoch", "uncertain 5 epoch quiet release",
		}},
		{"failed, begun before", written{past, v[6], failed, time.Time{}}, [4]string{
			"stored 5 quiet release", "live 5 6 quiet release", "live 5 7 +1", "uncertain 5 quiet release",
		}},
		{"unknown", written{now, v[6], unknown, time.Time{}}, [4]string{
			"uncertain 5 epoch quiet release read", "uncertain 5 epoch quiet release read", "uncertain 5 +1 epoch read", "uncertain 5 epoch quiet release read",
		}},
		{"unknown, begun before", written{past, v[6], unknown, time.Time{}}, [4]string{
			"stored 5 quiet release", "live 5 6 quiet release", "live 5 7 +1", "uncertain 5 quiet release",
		}},
	} {
		for i, p := range []struct {
			position
			inFlight int
		}{{five, 1}, {live{five, v[6]}, 1}, {live{five, v[7]}, 2}, {uncertain{five, now}, 1}} {
			s := chainState{position: p.position, epoch: now, began: past, inFlight: p.inFlight, checkpoint: 2, newer: make(chan struct{}), quiet: make(chan struct{}), contention: contention{lock: lock}}
			check(t, fmt.Sprintf("%s in %s", row.name, describe(&s, &s, effects{})), b, s, row.x, row.want[i])
		}
	}
	// The first revision of a cluster.
	first := chainState{position: live{head: v[1]}, epoch: now, inFlight: 1}
	check(t, "durable, the first", b, first, written{now, v[1], durable, time.Time{}}, "live 1 1 checkpoint=2")
	check(t, "unknown, the first", b, first, written{now, v[1], unknown, time.Time{}}, "empty epoch")
	check(t, "refused, the first", b, first, written{now, v[1], refused, time.Time{}.Add(1)}, "empty epoch contested")
	// A write that was not submitted, and the lock's end.
	held := chainState{position: five, epoch: now, inFlight: 1, checkpoint: 2, contention: contention{lock: lock}}
	check(t, "unsent", b, held, unsent{}, "stored 5 release")
	check(t, "unlocked with a write in flight", b, held, unlocked{}, "stale")
	held.inFlight = 0
	check(t, "unlocked", b, held, unlocked{}, "stored 5 release")
	held.saving = true
	check(t, "saved at last", b, held, saved{5}, "stored 5 checkpoint=5 saved")
	check(t, "evicted while it is saved", b, held, evicted{}, "stale")
	_, e := transition(b, &held, written{now, v[9], durable, time.Time{}})
	if e.save != nil {
		t.Error("two checkpoints are made at once")
	}
}

func check(t *testing.T, name string, b bounds, s chainState, x message, want string) {
	t.Helper()
	if want == "" {
		want = "stale"
	}
	next, e := transition(b, &s, x)
	if got := describe(&s, next, e); got != want {
		t.Errorf("%s: %s, not %s", name, got, want)
	}
	if e.stale && next != &s {
		t.Errorf("%s: stale, and changed", name)
	}
}
