// Package storetest is the suite that every backend of store.Store passes. A
// behaviour that is not in it is not promised.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/audit"
	"berth/internal/store"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// cases are the tests of one subject, by name.
type cases = map[string]func(t *testing.T, s store.Store)

// calls are calls of a store, by name.
type calls = map[string]func(ctx context.Context, s store.Store) error

type subject struct {
	name  string
	cases cases
}

// subjects and allCalls hold what the files of this package register.
var (
	subjects []subject
	allCalls = calls{}
)

// register adds a subject to the suite, with the calls of a store that it is about. Every call of
// those has to heed its context and to fail once the store is closed.
func register(name string, c cases, about ...calls) {
	subjects = append(subjects, subject{name, c})
	for _, list := range about {
		maps.Copy(allCalls, list)
	}
}

// Run runs the suite. open returns a fresh, empty store, which the suite closes.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	t.Helper()
	for _, subject := range slices.SortedFunc(slices.Values(subjects), func(a, b subject) int { return strings.Compare(a.name, b.name) }) {
		t.Run(subject.name, func(t *testing.T) {
			for name, run := range subject.cases {
				t.Run(name, func(t *testing.T) {
					s := open(t)
					t.Cleanup(func() {
						chains(t, s)
						if err := s.Close(); err != nil {
							t.Errorf("Close: %v", err)
						}
					})
					run(t, s)
				})
			}
		})
	}
}

// chains wants nothing to be found in the hash chains, whatever a case has done.
func chains(t *testing.T, s store.Store) {
	heads, err := s.SealHeads(context.Background(), "")
	if err != nil {
		return // a case about a store that is closed or shut
	}
	for _, h := range heads {
		r, err := audit.Verify(context.Background(), s, h.Cluster, audit.Options{})
		if err != nil {
			t.Errorf("verify cluster %s: %v", h.Cluster, err)
			continue
		}
		for _, f := range r.Findings {
			t.Errorf("hash chain of cluster %s: %s", f.Cluster, f.Detail)
		}
		if n := r.Rows[store.SealDecisions]; h.Number == 0 && h.Seq > 0 || n > h.Seq {
			t.Errorf("cluster %s: %d decisions of %d are sealed, by %d seals", h.Cluster, n, h.Seq, h.Number)
		}
	}
}

// at is a time with microseconds, i seconds after the suite's first.
func at(i int) time.Time {
	return time.Date(2026, 2, 28, 23, 59, 58, 123456000, time.UTC).Add(time.Duration(i) * time.Second)
}

// revision makes the entry of a revision that replaces the state.
func revision(cluster string, number int64) *store.Entry {
	return &store.Entry{
		Revision: &store.Revision{
			Cluster: cluster, Number: number, Token: token(number), ParentToken: token(number - 1),
			CreatedAt: at(int(number)), Digest: fmt.Sprintf("sha256:%d", number), Cause: "upload", Summary: []byte(`{"Node":5}`),
		},
		Checkpoint: &store.Checkpoint{Cluster: cluster, Number: number, Payload: []byte{byte(number), 0, 0xff}},
	}
}

// change makes the entry of a revision that changes its parent.
func change(cluster string, number int64) *store.Entry {
	e := revision(cluster, number)
	e.Checkpoint = nil
	e.Revision.Cause, e.Revision.Change = "change", []byte{0, 1, 0xfe}
	return e
}

func token(number int64) string {
	if number == 0 {
		return ""
	}
	return fmt.Sprintf("token-%d", number)
}

// decision makes a decision that stands on no stored revision.
func decision(cluster, id string, created time.Time) *store.Decision {
	return &store.Decision{ID: id, Cluster: cluster, Verb: "decide", CreatedAt: created, Now: created, Outcome: "Scheduled"}
}

func appendAll(t *testing.T, s store.Store, entries ...*store.Entry) {
	t.Helper()
	if err := s.Append(t.Context(), entries); err != nil {
		t.Fatalf("Append: %v", err)
	}
	for i, e := range entries {
		if e.Err != nil {
			t.Fatalf("entry %d was refused: %v", i, e.Err)
		}
	}
}

// refused appends entries and wants each Err to be the given one; nil means
// that the entry is written.
func refused(t *testing.T, s store.Store, entries []*store.Entry, want ...error) {
	t.Helper()
	if err := s.Append(t.Context(), entries); err != nil {
		t.Fatalf("Append: %v", err)
	}
	for i, e := range entries {
		wantErr(t, fmt.Sprintf("entry %d", i), e.Err, want[i])
	}
}

func wantErr(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: error %v, want %v", what, got, want)
	}
}

// same compares records; a nil payload and an empty one are told apart. Where
// in the log a decision stands is no part of it: the cases of following look at that.
func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(store.Decision{}, "Seq")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// sameList is same for lists, where none and empty are one.
func sameList(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func numbers(rs []*store.Revision) []int64 {
	var ns []int64
	for _, r := range rs {
		ns = append(ns, r.Number)
	}
	return ns
}

func big(size int) []byte {
	return bytes.Repeat([]byte{0, 1, 0xff, '\n', '\'', 0xc3, 0x28}, size/7+1)[:size]
}

func newest(t *testing.T, s store.Store, cluster string) int64 {
	t.Helper()
	r, err := s.Newest(context.Background(), cluster)
	if errors.Is(err, store.ErrNotFound) {
		return 0
	}
	if err != nil {
		t.Fatalf("Newest: %v", err)
	}
	return r.Number
}
