package state

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestBackoff(t *testing.T) {
	b := DefaultBackoff()
	var got []time.Duration
	for n := range 70 {
		if n < 7 || n > 67 {
			got = append(got, b.After(n)/time.Second)
		}
	}
	if d := cmp.Diff([]time.Duration{0, 1, 2, 4, 8, 10, 10, 10, 10}, got); d != "" {
		t.Error(d)
	}
	b, got = Backoff{Initial: 3 * time.Second, Max: 7 * time.Second}, nil
	for n := range 5 {
		got = append(got, b.After(n)/time.Second)
	}
	if d := cmp.Diff([]time.Duration{0, 3, 6, 7, 7}, got); d != "" {
		t.Error(d)
	}
}

// TestRequeueAt has a pod that failed for the second time at 12:00:00.5: its
// back-off of 2 s counts to 12:00:02, and is over when that second is.
func TestRequeueAt(t *testing.T) {
	failed := time.Date(2026, 3, 4, 12, 0, 0, 5e8, time.UTC)
	for _, c := range []struct {
		woken bool
		after time.Duration
		want  string
	}{
		{false, 0, "unschedulable 12:05:00.5"},
		{true, 0, "backoff 12:00:03"},
		{true, 2400 * time.Millisecond, "backoff 12:00:03"},
		{true, 2500 * time.Millisecond, "active 00:00:00"},
		{false, 5 * time.Minute, "unschedulable 12:05:00.5"},
		{false, 5*time.Minute + 1, "active 00:00:00"},
	} {
		tried := Tried{Count: 2, Last: failed}
		if c.woken {
			tried.Woken = &Wake{Revision: 7}
		}
		in, next := tried.At(failed.Add(c.after), DefaultBackoff())
		if got := fmt.Sprintf("%s %s", in, next.Format("15:04:05.999")); got != c.want {
			t.Errorf("woken %t, after %s: %s, want %s", c.woken, c.after, got, c.want)
		}
	}
}

func TestRequeueOrder(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	tried := map[string]Tried{
		"again":   {1, ago(30 * time.Second), &Wake{}, false},
		"backing": {5, ago(2 * time.Second), nil, true},
		"second":  {2, ago(time.Second), &Wake{}, false},
		"stuck":   {3, ago(20 * time.Second), nil, false},
		"flushed": {3, ago(6 * time.Minute), nil, false},
	}
	var list []Queued
	for name, p := range map[string]struct {
		priority int32
		created  time.Duration
	}{
		"again": {5, time.Hour}, "backing": {99, time.Hour}, "second": {1, time.Hour}, "stuck": {1000, time.Hour}, "flushed": {5, 0},
		"old": {5, 40 * time.Second}, "new": {5, 10 * time.Second}, "low": {1, 2 * time.Hour},
	} {
		list = append(list, Queued{&Pod{Name: name, Created: ago(p.created).Unix()}, p.priority})
	}
	var got []string
	for _, w := range Requeue(list, func(p *Pod) Tried { return tried[p.Name] }, now, DefaultBackoff()) {
		got = append(got, string(w.In)+" "+w.Name)
	}
	want := []string{
		"active flushed", "active old", "active again", "active new", "active low", // by priority, then who failed last comes last
		"backoff second", "backoff backing", "unschedulable stuck",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
