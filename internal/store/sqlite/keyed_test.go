package sqlite

import (
	"testing"
	"time"

	"berth/internal/store"
)

// TestCallsOfAProcessBefore: its claims count no more once the store is opened again, and its
// answers do.
func TestCallsOfAProcessBefore(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	claim := func(s *Store, key, token, want string) *store.KeyedCall {
		t.Helper()
		got, err := s.BeginCall(t.Context(), &store.KeyedCall{Caller: "c", Key: key, Token: token}, time.Hour)
		if err != nil || got.Token != want {
			t.Fatalf("%+v, %v, want it to be claimed by %s", got, err, want)
		}
		return got
	}
	claim(s, "begun", "a", "a")
	claim(s, "answered", "a", "a")
	claim(s, "begun", "b", "a")
	if err := s.EndCall(t.Context(), &store.KeyedCall{Caller: "c", Key: "answered", Token: "a", Answer: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openAt(t, dir)
	claim(s, "begun", "b", "b")
	if got := claim(s, "answered", "b", "a"); string(got.Answer) != "x" {
		t.Errorf("%+v", got)
	}
}
