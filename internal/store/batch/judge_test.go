package batch

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"berth/internal/store"
	"berth/internal/store/lists"

	"github.com/google/go-cmp/cmp"
)

// bind makes the entry of a decision on a revision, with the revision that its bind made; 0: none.
func bind(id string, on, made int64) *store.Entry {
	e := &store.Entry{Decision: &store.Decision{ID: id, Cluster: "prod", Revision: on, CreatedAt: time.Unix(1, 0), Now: time.Unix(1, 0)}}
	if made > 0 {
		e.Revision = revision(made)
		e.Decision.BoundRevision = made
	}
	return e
}

func revision(number int64) *store.Revision {
	r := &store.Revision{Cluster: "prod", Number: number, Token: fmt.Sprint("t", number), CreatedAt: time.Unix(1, 0), Change: []byte{}}
	if number > 1 {
		r.ParentToken = fmt.Sprint("t", number-1)
	}
	return r
}

func only(r *store.Revision) *store.Entry { return &store.Entry{Revision: r} }

// stored are the facts of a cluster "prod" with revisions 1 to 3 and the decision "old", and of a
// cluster "test" with the decision "other".
func stored(b *Batch) {
	for cluster, h := range map[string]*Head{"prod": {Newest: 3, Token: "t3", Seq: 7}, "test": {Seq: 2}, "new": {}} {
		b.Heads[cluster] = h
	}
	for n := range int64(3) {
		b.Tokens[RevisionKey{"prod", n + 1}] = fmt.Sprint("t", n+1)
		b.Parents[ParentKey{"prod", revision(n + 1).ParentToken}] = true
	}
	b.Clusters["old"], b.Clusters["other"] = "prod", "test"
}

func TestJudge(t *testing.T) {
	with := func(r *store.Revision, change func(*store.Revision)) *store.Revision {
		change(r)
		return r
	}
	elsewhere := bind("old", 0, 0)
	elsewhere.Decision.Cluster = "new"
	for _, tt := range []struct {
		name    string
		entries []*store.Entry
		refused map[int]error
		// written are the revisions and the decisions with their place, in order.
		written string
	}{
		{"a revision on the head", []*store.Entry{only(revision(4))}, nil, "[4] []"},
		{"a chain", []*store.Entry{only(revision(4)), only(revision(5))}, nil, "[4 5] []"},
		{"the newest once more", []*store.Entry{only(revision(3))}, nil, "[] []"},
		{"an old one once more", []*store.Entry{only(revision(2))}, nil, "[] []"},
		{"twice in the batch", []*store.Entry{only(revision(4)), only(revision(4))}, nil, "[4] []"},
		{"a hole", []*store.Entry{only(revision(5))}, map[int]error{0: store.ErrConflict}, "[] []"},
		{
			"another's number",
			[]*store.Entry{only(with(revision(3), func(r *store.Revision) { r.Token = "x" }))},
			map[int]error{0: store.ErrConflict},
			"[] []",
		},
		{
			"another parent",
			[]*store.Entry{only(with(revision(4), func(r *store.Revision) { r.ParentToken = "x" }))},
			map[int]error{0: store.ErrConflict},
			"[] []",
		},
		{
			"a token that was used, as a parent",
			[]*store.Entry{
				only(with(revision(4), func(r *store.Revision) { r.Token = "t1" })), only(with(revision(5), func(r *store.Revision) { r.ParentToken = "t1" })),
			},
			map[int]error{1: store.ErrConflict},
			"[4] []",
		},
		{
			"what stands on a refused revision",
			[]*store.Entry{only(with(revision(4), func(r *store.Revision) { r.ParentToken = "x" })), only(revision(5)), bind("a", 3, 0)},
			map[int]error{0: store.ErrConflict, 1: store.ErrConflict},
			"[] [a@8]",
		},
		{
			"a first revision of a later epoch",
			[]*store.Entry{only(with(revision(2e9), func(r *store.Revision) { r.Cluster, r.ParentToken = "new", "" }))},
			nil,
			"[2000000000] []",
		},
		{"a later epoch behind revisions", []*store.Entry{only(with(revision(2e9), func(r *store.Revision) { r.ParentToken = "t3" }))}, map[int]error{0: store.ErrConflict}, "[] []"},
		{"a first revision", []*store.Entry{only(with(revision(1), func(r *store.Revision) { r.Cluster = "new" }))}, nil, "[1] []"},
		{"decisions", []*store.Entry{bind("a", 3, 0), bind("b", 0, 0)}, nil, "[] [a@8 b@9]"},
		{"a decision once more", []*store.Entry{bind("old", 3, 0), bind("a", 3, 0), bind("a", 2, 0)}, nil, "[] [a@8]"},
		{"a decision of another cluster", []*store.Entry{elsewhere}, map[int]error{0: store.ErrConflict}, "[] []"},
		{"a decision on nothing", []*store.Entry{bind("a", 4, 0)}, map[int]error{0: store.ErrNotFound}, "[] []"},
		{"a decision on a revision of the batch", []*store.Entry{only(revision(4)), bind("a", 4, 0)}, nil, "[4] [a@8]"},
		{"a bind", []*store.Entry{bind("a", 3, 4), bind("b", 4, 5)}, nil, "[4 5] [a@8 b@9]"},
		{"a decision on the revision that comes with it", []*store.Entry{bind("a", 4, 4)}, nil, "[4] [a@8]"},
		{"a bind once more", []*store.Entry{bind("old", 2, 3)}, nil, "[] []"},
		{"a second bind of one decision", []*store.Entry{bind("old", 3, 4)}, map[int]error{0: store.ErrConflict}, "[] []"},
		{"the revision of a bind is stored, and then a hole", []*store.Entry{bind("a", 2, 3), bind("b", 3, 5)}, map[int]error{1: store.ErrConflict}, "[] [a@8]"},
		{"a bind on nothing", []*store.Entry{bind("a", 9, 4)}, map[int]error{0: store.ErrNotFound}, "[] []"},
		{"an invalid one among others", []*store.Entry{bind("", 3, 0), bind("a", 3, 0)}, map[int]error{0: store.ErrInvalid}, "[] [a@8]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := New(tt.entries, &lists.StampIDs{})
			stored(b)
			b.Judge()
			for i, e := range tt.entries {
				if want := tt.refused[i]; !errors.Is(e.Err, want) {
					t.Errorf("entry %d: error %v, want %v", i, e.Err, want)
				}
			}
			var numbers []int64
			for _, r := range b.Revisions {
				numbers = append(numbers, r.Number)
			}
			var places []string
			for _, d := range b.Decisions {
				places = append(places, fmt.Sprintf("%s@%d", d.ID, d.Seq))
			}
			if got := fmt.Sprint(numbers, " ", places); got != tt.written {
				t.Errorf("written %s, want %s", got, tt.written)
			}
			var revisions, decisions int64
			for _, h := range b.Heads {
				revisions, decisions = revisions+h.Revisions, decisions+h.Decisions
			}
			if revisions != int64(len(b.Revisions)) || decisions != int64(len(b.Decisions)) {
				t.Errorf("the heads count %d revisions and %d decisions", revisions, decisions)
			}
		})
	}
}

// TestJudgeOfBusyChain: on a chain that another process has locked no new revision is written;
// decisions, other clusters and what is stored already are as ever.
func TestJudgeOfBusyChain(t *testing.T) {
	elsewhere := revision(1)
	elsewhere.Cluster = "new"
	entries := []*store.Entry{only(revision(3)), only(revision(4)), only(elsewhere), bind("a", 3, 0), bind("b", 3, 4)}
	b := New(entries, &lists.StampIDs{})
	stored(b)
	b.Busy["prod"] = true
	b.Judge()
	for i, want := range []error{nil, store.ErrConflict, nil, nil, store.ErrConflict} {
		if !errors.Is(entries[i].Err, want) {
			t.Errorf("entry %d: error %v, want %v", i, entries[i].Err, want)
		}
	}
	if len(b.Revisions) != 1 || len(b.Decisions) != 1 {
		t.Errorf("written %d revisions and %d decisions", len(b.Revisions), len(b.Decisions))
	}
}

// TestJudgeWritesWithWhatIsAccepted: profiles and checkpoints of refused entries are not written.
func TestJudgeWritesWithWhatIsAccepted(t *testing.T) {
	profile := func(digest string) *store.Profile { return &store.Profile{Digest: digest} }
	checkpointed := func(r *store.Revision) *store.Entry {
		return &store.Entry{Revision: r, Checkpoint: &store.Checkpoint{Cluster: r.Cluster, Number: r.Number}}
	}
	a, b, c := bind("a", 3, 0), bind("b", 9, 0), bind("c", 3, 0)
	a.Profile, b.Profile, c.Profile = profile("p2"), profile("p3"), profile("p1")
	gap := &store.Entry{Gap: &store.Gap{ID: "g", Cluster: "prod", Cause: "store", Lost: 1}}
	batch := New([]*store.Entry{a, b, c, bind("d", 3, 0), checkpointed(revision(4)), checkpointed(revision(6)), gap}, &lists.StampIDs{})
	stored(batch)
	batch.Judge()
	var digests []string
	for _, p := range batch.Profiles {
		digests = append(digests, p.Digest)
	}
	if diff := cmp.Diff([]string{"p1", "p2"}, digests); diff != "" {
		t.Errorf("profiles (-want +got):\n%s", diff)
	}
	if len(batch.Checkpoints) != 1 || batch.Checkpoints[0].Number != 4 {
		t.Errorf("checkpoints %v", batch.Checkpoints)
	}
	if len(batch.Gaps) != 1 {
		t.Errorf("gaps %v", batch.Gaps)
	}
	if diff := cmp.Diff([]string{"prod"}, batch.Changed()); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
}

// TestReads: each fact that the judge looks up is read.
func TestReads(t *testing.T) {
	first := only(revision(1))
	got := New([]*store.Entry{bind("b", 3, 4), bind("a", 0, 0), bind("", 8, 9), first}, &lists.StampIDs{}).Reads()
	want := map[RevisionKey]bool{{"prod", 3}: true, {"prod", 4}: true, {"prod", 1}: true}
	for i, cluster := range got.NumberClusters {
		delete(want, RevisionKey{cluster, got.Numbers[i]})
	}
	if len(want) != 0 || len(got.Numbers) != 3 {
		t.Errorf("numbers %v, without %v", got.Numbers, want)
	}
	parents := map[ParentKey]bool{{"prod", "t3"}: true, {"prod", ""}: true}
	for i, cluster := range got.ParentClusters {
		delete(parents, ParentKey{cluster, got.Parents[i]})
	}
	if len(parents) != 0 || len(got.Parents) != 2 {
		t.Errorf("parents %q, without %v", got.Parents, parents)
	}
	if diff := cmp.Diff([]string{"a", "b"}, got.IDs); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"prod"}, got.Clusters); diff != "" {
		t.Errorf("clusters (-want +got):\n%s", diff)
	}
}
