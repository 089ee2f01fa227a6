package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"berth/internal/store"
)

// lapsing is a lease that is over at once.
const lapsing = -time.Second

// keyed is a claim of the key k by a caller.
func keyed(token string) *store.KeyedCall {
	return &store.KeyedCall{Caller: "token:ci", Key: "k", Token: token, Route: "POST /v1/decisions"}
}

// marked is an entry with the claim of a keyed call.
func marked(e *store.Entry, c *store.KeyedCall, answer []byte) *store.Entry {
	call := *c
	call.State, call.About, call.Body, call.Answer = store.CallWritten, "/v1/x", []byte{1, 0}, answer
	if answer != nil {
		call.State = store.CallAnswered
	}
	e.Call = &call
	return e
}

// claimCall begins a call and wants it to be in a state, held by a token.
func claimCall(t *testing.T, s store.Store, c *store.KeyedCall, lease time.Duration, token, state string) *store.KeyedCall {
	t.Helper()
	got, err := s.BeginCall(t.Context(), c, lease)
	if err != nil {
		t.Fatalf("BeginCall: %v", err)
	}
	if got.Token != token || got.State != state {
		t.Fatalf("the call is %s by %s, want %s by %s", got.State, got.Token, state, token)
	}
	return got
}

func init() {
	register("KeyedCalls", cases{
		"ClaimedOnce": func(t *testing.T, s store.Store) {
			got := claimCall(t, s, keyed("a"), time.Hour, "a", store.CallBegun)
			if got.Lapsed || time.Since(got.BegunAt).Abs() > time.Minute || got.Body != nil || got.Answer != nil || got.About != "" {
				t.Errorf("a new call is %+v", got)
			}
			claimCall(t, s, keyed("b"), time.Hour, "a", store.CallBegun)
			other := keyed("c") // another caller's key of the same name is another key
			other.Caller = "token:other"
			claimCall(t, s, other, time.Hour, "c", store.CallBegun)
		},
		"ClaimedByOneOfMany": func(t *testing.T, s store.Store) {
			var wg sync.WaitGroup
			winners := make([]string, 8)
			for i := range winners {
				wg.Go(func() {
					got, err := s.BeginCall(t.Context(), keyed(fmt.Sprint(i)), time.Hour)
					if err != nil {
						t.Error(err)
						return
					}
					winners[i] = got.Token
				})
			}
			wg.Wait()
			for _, w := range winners {
				if w != winners[0] {
					t.Errorf("claims of %v", winners)
				}
			}
		},
		"TakenOver": func(t *testing.T, s store.Store) {
			claimCall(t, s, keyed("a"), lapsing, "a", store.CallBegun)
			elsewhere := keyed("b")
			elsewhere.Route = "POST /v1/placements"
			if got := claimCall(t, s, elsewhere, time.Hour, "a", store.CallBegun); got.Route != "POST /v1/decisions" || !got.Lapsed {
				t.Errorf("the call is %+v", got)
			}
			wantErr(t, "RenewCall", s.RenewCall(t.Context(), keyed("a"), time.Hour), nil)
			claimCall(t, s, keyed("b"), time.Hour, "a", store.CallBegun)
			wantErr(t, "RenewCall", s.RenewCall(t.Context(), keyed("a"), lapsing), nil)
			claimCall(t, s, keyed("b"), time.Hour, "b", store.CallBegun)
			// What the first one still writes is refused, alone in its batch, and so is its end.
			refused(t, s, []*store.Entry{marked(revision("prod", 1), keyed("a"), nil), revision("test", 1)}, store.ErrTakenOver, nil)
			if newest(t, s, "prod") != 0 || newest(t, s, "test") != 1 {
				t.Error("the batch was not judged entry by entry")
			}
			wantErr(t, "EndCall", s.EndCall(t.Context(), keyed("a")), store.ErrTakenOver)
			wantErr(t, "DropCall", s.DropCall(t.Context(), keyed("a")), nil)
			wantErr(t, "RenewCall", s.RenewCall(t.Context(), keyed("a"), lapsing), nil)
			if got := claimCall(t, s, keyed("c"), time.Hour, "b", store.CallBegun); got.Lapsed {
				t.Error("a claim that is lost was renewed")
			}
		},
		"WrittenWithItsEntry": func(t *testing.T, s store.Store) {
			claimCall(t, s, keyed("a"), lapsing, "a", store.CallBegun)
			e := marked(revision("prod", 1), keyed("a"), nil)
			e.Decision = decision("prod", "d1", at(0))
			appendAll(t, s, e)
			appendAll(t, s, e) // its answer was lost
			got := claimCall(t, s, keyed("b"), time.Hour, "a", store.CallWritten)
			same(t, "written", "/v1/x", got.About)
			same(t, "body", []byte{1, 0}, got.Body)
			if !got.Lapsed || got.Answer != nil {
				t.Errorf("the call is %+v", got)
			}
			wantErr(t, "DropCall", s.DropCall(t.Context(), keyed("a")), nil)
			ended := keyed("a")
			ended.Body, ended.Answer = []byte{2}, []byte("answer")
			wantErr(t, "EndCall", s.EndCall(t.Context(), ended), nil)
			got = claimCall(t, s, keyed("b"), time.Hour, "a", store.CallAnswered)
			same(t, "answer", "answer", string(got.Answer))
			same(t, "what was written", "/v1/x", got.About)
		},
		"AnsweredWithItsEntry": func(t *testing.T, s store.Store) {
			claimCall(t, s, keyed("a"), lapsing, "a", store.CallBegun)
			appendAll(t, s, revision("prod", 1), marked(&store.Entry{Decision: decision("prod", "d1", at(0)), Fresh: true}, keyed("a"), []byte("x")))
			same(t, "answer", "x", string(claimCall(t, s, keyed("b"), time.Hour, "a", store.CallAnswered).Answer))
		},
		"NothingIsMarkedOfWhatIsRefused": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1))
			claimCall(t, s, keyed("a"), time.Hour, "a", store.CallBegun)
			refused(t, s, []*store.Entry{marked(revision("prod", 3), keyed("a"), nil)}, store.ErrConflict)
			claimCall(t, s, keyed("b"), time.Hour, "a", store.CallBegun)
			wantErr(t, "DropCall", s.DropCall(t.Context(), keyed("a")), nil)
			claimCall(t, s, keyed("b"), time.Hour, "b", store.CallBegun)
		},
		"WrittenWithWhatIsNoEntry": func(t *testing.T, s store.Store) {
			claimCall(t, s, keyed("a"), lapsing, "a", store.CallBegun)
			with := func(token string) context.Context {
				return context.WithValue(t.Context(), store.KeyedKey{}, &store.Keyed{KeyedCall: *keyed(token), Print: func() []byte { return []byte{7} }})
			}
			put := func(ctx context.Context, name string) error {
				_, err := s.PutPriorityClass(ctx, priorityClass("prod", name, 5), 0)
				return err
			}
			wantErr(t, "PutPriorityClass of another claim", put(with("b"), "high"), store.ErrTakenOver)
			_, err := s.PriorityClass(t.Context(), "prod", "high")
			wantErr(t, "PriorityClass", err, store.ErrNotFound)
			wantErr(t, "PutPriorityClass", put(with("a"), "high"), nil)
			got := claimCall(t, s, keyed("b"), time.Hour, "a", store.CallWritten)
			same(t, "written", "/v1/priorityclasses?cluster=prod", got.About)
			same(t, "body", []byte{7}, got.Body)
		},
		"Pruned": func(t *testing.T, s store.Store) {
			began := claimCall(t, s, keyed("a"), time.Hour, "a", store.CallBegun).BegunAt
			n, err := s.PruneCalls(t.Context(), began)
			wantErr(t, "PruneCalls", err, nil)
			same(t, "pruned too early", int64(0), n)
			n, err = s.PruneCalls(t.Context(), began.Add(time.Microsecond))
			wantErr(t, "PruneCalls", err, nil)
			same(t, "pruned", int64(1), n)
			claimCall(t, s, keyed("b"), time.Hour, "b", store.CallBegun)
		},
		"Invalid": func(t *testing.T, s store.Store) {
			for _, c := range []*store.KeyedCall{{Token: "a"}, {Key: "k"}, {Key: "k\x00", Token: "a"}} {
				_, err := s.BeginCall(t.Context(), c, time.Hour)
				wantErr(t, "BeginCall", err, store.ErrInvalid)
				e := revision("prod", 1)
				e.Call = c
				refused(t, s, []*store.Entry{e}, store.ErrInvalid)
			}
		},
	}, calls{
		"BeginCall": func(ctx context.Context, s store.Store) error {
			_, err := s.BeginCall(ctx, keyed("x"), time.Hour)
			return err
		},
		"RenewCall":  func(ctx context.Context, s store.Store) error { return s.RenewCall(ctx, keyed("x"), time.Hour) },
		"EndCall":    func(ctx context.Context, s store.Store) error { return s.EndCall(ctx, keyed("x")) },
		"DropCall":   func(ctx context.Context, s store.Store) error { return s.DropCall(ctx, keyed("x")) },
		"PruneCalls": func(ctx context.Context, s store.Store) error { _, err := s.PruneCalls(ctx, at(0)); return err },
	})
}
