package revision

import (
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestTransitionsKeepTheirPromises applies random messages in an order in which a chain's calls may
// come, and checks what has to hold after each.
func TestTransitionsKeepTheirPromises(t *testing.T) {
	positions := map[string]bool{}
	for seed := range int64(200) {
		rnd := rand.New(rand.NewSource(seed))
		b := bounds{keep: 1 + rnd.Intn(4), every: 3}
		s := &chainState{position: empty{}}
		releases, next := 0, int64(1)
		var flights []submitted
		for range 400 {
			epoch := s.epoch - min(s.epoch, uint64(rnd.Intn(4)/3)) // at times one of before
			v := row(max(1, next-int64(rnd.Intn(3))))
			v.changed = rnd.Intn(5 << 20)
			var x message
			switch k := rnd.Intn(14); {
			case k < 3:
				at, ok := s.position.(live)
				if !ok {
					x = loaded{epoch, v, true}
					break
				}
				f := submitted{s.epoch, row(at.head.Revision + 1)}
				f.view.changed = v.changed
				s, _ = transition(b, s, begun{s.epoch})
				flights = append(flights, f)
				next, x = max(next, f.view.Revision), f
			case k < 7 && len(flights) > 0:
				f := flights[0]
				flights = flights[1:]
				x = written{f.epoch, f.view, []outcome{durable, durable, durable, refused, failed, unknown}[rnd.Intn(6)], time.Unix(next, 0)}
			case k == 7:
				x = loaded{epoch, v, false}
			case k == 8:
				x = saved{v.Revision - 1}
			case k == 9:
				x = []message{evicted{}, forgotten{epoch}, outdated{epoch}, deleted{v.Revision}}[rnd.Intn(4)]
			case k == 10:
				x = awaited{make(chan struct{})}
			case k == 11:
				x = quieted{make(chan struct{})}
			case k == 12 && s.contention.lock == nil:
				x = locked{&storeLock{release: func() {}}}
				releases++
			default:
				x = unlocked{}
			}
			before, was := s, *s
			recent := slices.Clone(s.views().recent)
			after, e := transition(b, s, x)
			again, f := transition(b, s, x)
			name := fmt.Sprintf("seed %d: %T after %s", seed, x, describe(before, before, effects{}))
			if describe(before, after, e) != describe(before, again, f) || !reflect.DeepEqual(*before, was) || !slices.Equal(recent, before.views().recent) {
				t.Fatalf("%s: not pure", name)
			}
			s = after
			if e.release != nil {
				releases--
			}
			promises(t, name, b, before, s, x, e)
			if s.inFlight != len(flights) || e.release != nil && s.inFlight > 0 {
				t.Fatalf("%s: %d writes in flight are counted as %d, release %t", name, len(flights), s.inFlight, e.release != nil)
			}
			if held := s.contention.lock != nil; releases < 0 || releases > 1 || held != (releases == 1) {
				t.Fatalf("%s: the lock is held %t, %d are to be released", name, held, releases)
			}
			positions[strings.Fields(describe(s, s, effects{}))[0]] = true
		}
	}
	if len(positions) != 4 {
		t.Errorf("only %v", positions)
	}
}

// promises checks one transition.
func promises(t *testing.T, name string, b bounds, before, s *chainState, x message, e effects) {
	t.Helper()
	was, is := before.views(), s.views()
	newest := func(v *View) int64 {
		if v == nil {
			return 0
		}
		return v.Revision
	}
	_, forgot := x.(forgotten)
	_, evict := x.(evicted)
	w, wrote := x.(written)
	_, read := x.(loaded)
	switch at := s.position.(type) {
	case stored:
		if at.durable == nil {
			t.Fatalf("%s: stored without a view", name)
		}
	case live:
		if at.head == nil {
			t.Fatalf("%s: live without a head", name)
		}
	case uncertain:
		if at.durable == nil {
			t.Fatalf("%s: uncertain without a view", name)
		}
	}
	if _, ok := before.position.(uncertain); ok && !read && !forgot && !evict {
		if _, still := s.position.(uncertain); !still {
			t.Fatalf("%s: the outcome is not known, and is no longer asked for", name)
		}
	}
	switch {
	case wrote && w.outcome == durable && w.epoch >= before.began && newest(is.durable) < w.view.Revision:
		t.Fatalf("%s: a write was answered, and an older view is shown", name)
	case s.epoch < before.epoch:
		t.Fatalf("%s: the epoch went back", name)
	case newest(is.durable) < newest(was.durable) && !forgot && !evict:
		t.Fatalf("%s: the durable view went back to %d", name, newest(is.durable))
	case newest(is.durable) > newest(was.durable) && !read && !(wrote && w.outcome == durable && w.epoch >= before.began):
		t.Fatalf("%s: a view is shown that is not known to be stored", name)
	case newest(is.durable) > newest(was.durable) && (e.newer != before.newer || s.newer != nil):
		t.Fatalf("%s: no goroutine that waits for it hears of a newer view", name)
	case e.quiet != nil && s.inFlight > 0, s.inFlight == 0 && s.quiet != nil:
		t.Fatalf("%s: quiet with %d writes in flight", name, s.inFlight)
	case e.save != nil && (before.saving || !s.saving), e.read != (wrote && w.outcome == unknown && w.epoch == before.epoch && was.durable != nil):
		t.Fatalf("%s: effects %+v", name, e)
	case len(is.recent) > b.keep:
		t.Fatalf("%s: %d recent views", name, len(is.recent))
	}
	last := newest(is.durable)
	for _, v := range is.recent {
		if v.Revision >= last {
			t.Fatalf("%s: recent views are out of order", name)
		}
		last = v.Revision
	}
}
