package memory

import (
	"errors"
	"testing"
	"time"
)

type owner string

func (o owner) Owner() any { return string(o) }

// TestReserve: urgent claims find memory where work that can wait has taken all that it may, at
// once; one owner takes no more than half of it, and work that can wait nothing.
func TestReserve(t *testing.T) {
	b := New(90) // 80, and a reserve of 10
	long := b.Claim()
	if err := long.Take(t.Context(), 80); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	one, two := b.UrgentClaim(owner("a")), b.UrgentClaim(owner("b"))
	ctx := With(t.Context(), one)
	part, end := Within(ctx)
	if err := errors.Join(Take(ctx, 3), Take(part, 2), two.Take(t.Context(), 5)); err != nil || b.Used() != 90 {
		t.Errorf("%v; %d are taken", err, b.Used())
	}
	if took := time.Since(began); took > briefly {
		t.Errorf("an urgent claim waits %s", took)
	}
	end()
	if err := b.Like(two).Take(t.Context(), 1); !errors.Is(err, ErrFull) {
		t.Errorf("an owner takes more than half: %v", err)
	}
	if err := b.Like(long).Take(t.Context(), 1); !errors.Is(err, ErrFull) {
		t.Errorf("what can wait takes of the reserve: %v", err)
	}
	if err := b.Like(one).Take(t.Context(), 2); err != nil {
		t.Errorf("what a part gave back is not there: %v", err)
	}
	if err := b.Claim().Take(t.Context(), 81); !errors.As(err, new(*NeverError)) {
		t.Errorf("more than all but the reserve: %v", err)
	}
	one.End()
	two.End()
	long.End()
	if b.Used() != 2 || b.Like(nil).Urgent() {
		t.Errorf("%d are taken", b.Used())
	}
}

// TestReserveIgnoresGarbage: an urgent claim does not wait for a collection.
func TestReserveIgnoresGarbage(t *testing.T) {
	rt := &fakeRuntime{live: 40 << 20, allocated: 75 << 20}
	b := &Budget{limit: 54 << 20, total: 100 << 20, rt: rt, kept: reserve{size: 6 << 20}}
	if err := b.UrgentClaim(owner("a")).Take(t.Context(), 2<<20); err != nil {
		t.Error(err)
	}
}
