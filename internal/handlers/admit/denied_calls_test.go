package admit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"berth/internal/store"
)

// denialStore keeps rows, or fails.
type denialStore struct {
	rows []store.Denial
	err  error
}

func (s *denialStore) PutDenials(_ context.Context, list []store.Denial) error {
	if s.err == nil {
		s.rows = append(s.rows, list...)
	}
	return s.err
}

// sum counts rows and calls.
func (s *denialStore) sum() (rows int, calls, cut int64) {
	for _, r := range s.rows {
		calls += r.Count
		if r.Reason == store.DenialsCut {
			cut += r.Count
		}
	}
	return len(s.rows), calls, cut
}

// TestDeniedCallsAreBounded: floods of addresses and of one named caller leave a bounded number of
// rows, lose no count, and take no room from another named caller.
func TestDeniedCallsAreBounded(t *testing.T) {
	st := &denialStore{}
	d := &deniedCalls{st: st, instance: "i"}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const minutes, each = 40, 1000
	var wg sync.WaitGroup
	for m := range minutes {
		now := at.Add(time.Duration(m) * time.Minute)
		for w := range 2 {
			wg.Go(func() {
				for i := range each {
					d.add(now, deniedKind{caller: fmt.Sprint(w, "-", i), route: "/", reason: "unauthenticated", status: 401}, "", "p")
					d.add(now, deniedKind{cluster: fmt.Sprint("c", w, "-", i), caller: "token:a", route: "/", reason: "hidden", status: 404}, "token:a", "p")
				}
			})
		}
		wg.Wait()
		d.add(now, deniedKind{caller: "token:b", route: "/", reason: "forbidden", status: 403}, "token:b", "p")
		if err := d.flush(t.Context(), now.Add(time.Minute), false); err != nil {
			t.Fatal(err)
		}
	}
	rows, calls, cut := st.sum()
	if most := 2*(mostRows+minutes*rowsPerMinute) + minutes; rows > most || calls != minutes*(4*each+1) || cut == 0 {
		t.Errorf("%d rows of at most %d, %d calls, %d of them cut", rows, most, calls, cut)
	}
	b := 0
	for _, r := range st.rows {
		if r.Caller == "token:b" && r.Count == 1 && r.AskedBy == "token:b" && r.Minute.Equal(r.FirstAt.Truncate(time.Minute)) {
			b++
		}
	}
	if b != minutes {
		t.Errorf("the other caller has %d rows, want %d", b, minutes)
	}
}

// TestDeniedCallsWaitForTheStore: what a store that is away does not take is written later,
// bounded; a row of a minute is written once.
func TestDeniedCallsWaitForTheStore(t *testing.T) {
	st := &denialStore{err: errors.New("away")}
	d := &deniedCalls{st: st, instance: "i"}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const minutes = 30
	for m := range minutes {
		now := at.Add(time.Duration(m) * time.Minute)
		for i := range mostKinds {
			d.add(now, deniedKind{caller: fmt.Sprint(i), reason: "unauthenticated"}, "", "p")
		}
		if err := d.flush(t.Context(), now, false); m > 0 && err == nil {
			t.Fatal("no error")
		}
		if n := len(d.ready); n > mostKept+1 {
			t.Fatalf("%d rows wait", n)
		}
	}
	st.err = nil
	end := at.Add(minutes * time.Minute)
	if err := errors.Join(d.flush(t.Context(), at.Add((minutes-1)*time.Minute), true), d.flush(t.Context(), end, true)); err != nil {
		t.Fatal(err)
	}
	if _, calls, cut := st.sum(); calls != minutes*mostKinds || cut == 0 {
		t.Errorf("%d calls, %d cut, want %d", calls, cut, minutes*mostKinds)
	}
	type key struct {
		minute int64
		caller string
	}
	seen := map[key]bool{}
	for _, r := range st.rows {
		k := key{r.Minute.Unix(), r.Caller}
		if seen[k] {
			t.Errorf("%s has two rows of %s", r.Caller, r.Minute)
		}
		seen[k] = true
	}
}
