package postgres

import (
	"testing"
	"time"

	"berth/internal/store"
)

// TestCallsOverReplicas: a claim holds on every replica. One that lost it writes nothing, also
// where it remembers the ends of the chain and would read nothing.
func TestCallsOverReplicas(t *testing.T) {
	url := freshURL(t)
	slow, quick := openAt(t, url, Options{}), openAt(t, url, Options{})
	entry := func(id string, c *store.KeyedCall) *store.Entry {
		return &store.Entry{Decision: sampleDecision("prod", id, time.Now()), Fresh: true, Call: c}
	}
	for _, id := range []string{"d1", "d2"} { // the end of the chain is this replica's
		if err := slow.Append(t.Context(), []*store.Entry{entry(id, nil)}); err != nil {
			t.Fatal(err)
		}
	}
	mine, theirs := &store.KeyedCall{Caller: "c", Key: "k", Token: "slow"}, &store.KeyedCall{Caller: "c", Key: "k", Token: "quick"}
	claims := func(s *Store, c *store.KeyedCall, want string) *store.KeyedCall {
		t.Helper()
		got, err := s.BeginCall(t.Context(), c, -time.Second)
		if err != nil || got.Token != want {
			t.Fatalf("%+v, %v, want it to be claimed by %s", got, err, want)
		}
		return got
	}
	claims(slow, mine, "slow")
	claims(quick, theirs, "quick")
	mine.State, theirs.State = store.CallAnswered, store.CallAnswered
	mine.Answer, theirs.Answer = []byte("slow"), []byte("quick")
	e := entry("d3", mine)
	if err := slow.Append(t.Context(), []*store.Entry{e, entry("d4", nil)}); err != nil {
		t.Fatal(err)
	}
	if e.Err == nil {
		t.Error("a call that was taken over has written")
	}
	own := &store.KeyedCall{Caller: "c", Key: "own", Token: "slow"}
	claims(slow, own, "slow")
	own.State, own.Answer = store.CallAnswered, []byte("own")
	kept := entry("d5", own)
	if err := slow.Append(t.Context(), []*store.Entry{kept, entry("d6", nil)}); err != nil || kept.Err != nil {
		t.Errorf("a call that nobody took over is refused: %v, %v", err, kept.Err)
	}
	done := entry("d7", theirs)
	if err := quick.Append(t.Context(), []*store.Entry{done}); err != nil || done.Err != nil {
		t.Fatal(err, done.Err)
	}
	if got := claims(slow, mine, "quick"); string(got.Answer) != "quick" {
		t.Errorf("%+v", got)
	}
	list, err := slow.FollowDecisions(t.Context(), "prod", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	ids := ""
	for _, d := range list {
		ids += d.ID + " "
	}
	if ids != "d1 d2 d4 d5 d6 d7 " {
		t.Errorf("stored: %s", ids)
	}
}
