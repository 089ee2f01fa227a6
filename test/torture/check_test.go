//go:build linux

package main

import (
	"slices"
	"testing"
)

// sound are books without a fault: three revisions, a bind of each kind, and a filter.
func sound() (*ledger, *books) {
	told := &ledger{
		answers: []answer{
			{id: "d1", replica: "r1", verb: "decide", cluster: "ant", pod: "p", digest: "sha256:a", outcome: "Scheduled", node: "n1", snapshot: "ant@1", bound: "ant@2", feasible: -1},
			{id: "d2", replica: "r2", verb: "filter", cluster: "ant", pod: "q", feasible: 7},
		},
		claims: []claim{{"r1", "ant", "b", "n2", "an answered bind"}},
		states: []state{
			{replica: "r1", cluster: "ant", revision: 3, digest: "s3", made: true, parent: 2, holds: "Pod/b"},
			{replica: "r1", cluster: "ant", revision: 3, digest: "s3"},
		},
		sent: map[sentKey]int{{"decide", "ant", "p"}: 1, {"filter", "ant", "q"}: 1, {"bind", "ant", "b"}: 2},
	}
	kept := &books{
		records: []record{
			{ID: "d1", Cluster: "ant", Verb: "decide", Pod: "p", Digest: "sha256:a", Outcome: "Scheduled", Node: "n1", SnapshotDigest: "s1", Revision: 1, Bound: 2, Feasible: 3, Purpose: "live"},
			{ID: "d2", Cluster: "ant", Verb: "filter", Pod: "q", Outcome: "Scheduled", SnapshotDigest: "s2", Revision: 2, Feasible: 7, Purpose: "live"},
			{ID: "d3", Cluster: "ant", Verb: "bind", Pod: "b", Node: "n2", Outcome: "Scheduled", SnapshotDigest: "s3", Revision: 3, Bound: 4, Purpose: "live"},
		},
		revisions: map[string][]chainRow{"ant": {
			{Number: 1, Token: "t1", Digest: "s1", Cause: "upload", whole: true},
			{Number: 2, Token: "t2", Parent: "t1", Digest: "s2", Cause: "bind", binds: map[string]string{"p": "n1"}},
			{Number: 3, Token: "t3", Parent: "t2", Digest: "s3", Cause: "change", puts: []string{"Pod/b"}},
			{Number: 4, Token: "t4", Parent: "t3", Digest: "s4", Cause: "bind", binds: map[string]string{"b": "n2"}},
		}},
		placements: []placement{{"ant", "p", "n1", 2}, {"ant", "b", "n2", 4}},
		attempts:   []tried{{"ant", "d1", `["d1"]`}, {"ant", "d2", `["d2","d3"]`}},
	}
	return told, kept
}

// The checker finds every fault that it exists for, and none where there is none.
func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*ledger, *books)
		want  string // "": none
	}{
		"sound":               {func(*ledger, *books) {}, ""},
		"a record is lost":    {func(_ *ledger, b *books) { b.records = b.records[1:] }, "lost answer"},
		"a record is doubled": {func(_ *ledger, b *books) { b.records = append(b.records, b.records[1]) }, "recorded twice"},
		"a retry left two records": {func(_ *ledger, b *books) {
			again := b.records[1]
			again.ID = "d9"
			b.records = append(b.records, again)
		}, "recorded and never asked"},
		"an id was given twice":                   {func(l *ledger, _ *books) { l.answers = append(l.answers, l.answers[1]) }, "answered twice"},
		"another digest":                          {func(_ *ledger, b *books) { b.records[0].Digest = "sha256:b" }, "another answer"},
		"another node":                            {func(_ *ledger, b *books) { b.records[0].Node = "n9" }, "another answer"},
		"another outcome":                         {func(_ *ledger, b *books) { b.records[0].Outcome = "Gated" }, "another answer"},
		"another snapshot":                        {func(l *ledger, _ *books) { l.answers[0].snapshot = "ant@3" }, "another answer"},
		"fewer nodes were left":                   {func(_ *ledger, b *books) { b.records[1].Feasible = 6 }, "another answer"},
		"another bound revision":                  {func(_ *ledger, b *books) { b.records[0].Bound = 0 }, "another answer"},
		"a revision is missing":                   {func(_ *ledger, b *books) { b.revisions["ant"] = slices.Delete(b.revisions["ant"], 2, 3) }, "missing revision"},
		"a token does not chain":                  {func(_ *ledger, b *books) { b.revisions["ant"][2].Parent = "t1" }, "broken chain"},
		"the newest revisions are lost":           {func(_ *ledger, b *books) { b.revisions["ant"] = b.revisions["ant"][:2] }, "lost revision"},
		"a record's revision has another content": {func(_ *ledger, b *books) { b.revisions["ant"][1].Digest = "sx" }, "record of another revision"},
		"a record's revision is not there":        {func(_ *ledger, b *books) { b.records[1].Revision = 9 }, "record without its revision"},
		"a bind took place twice": {func(_ *ledger, b *books) {
			b.revisions["ant"] = append(b.revisions["ant"], chainRow{Number: 5, Token: "t5", Parent: "t4", binds: map[string]string{"b": "n5"}})
		}, "bound twice"},
		"a manifest takes a pod off its node": {func(_ *ledger, b *books) {
			b.revisions["ant"] = append(b.revisions["ant"], chainRow{Number: 5, Token: "t5", Parent: "t4", puts: []string{"Pod/b"}})
		}, "moved"},
		"an attempt's status is lost":   {func(_ *ledger, b *books) { b.records[0].Outcome = "Unschedulable" }, "attempt without its revision"},
		"an answered bind is lost":      {func(_ *ledger, b *books) { clear(b.revisions["ant"][3].binds) }, "lost bind"},
		"a bind went elsewhere":         {func(_ *ledger, b *books) { b.revisions["ant"][3].binds["b"] = "n7" }, "lost bind"},
		"a decision's bind is lost":     {func(_ *ledger, b *books) { clear(b.revisions["ant"][1].binds) }, "bind without its revision"},
		"two writers made one revision": {func(l *ledger, _ *books) { l.states = append(l.states, l.states[0]) }, "lost update"},
		"a change skipped another":      {func(l *ledger, _ *books) { l.states[0].parent = 1 }, "lost update"},
		"a change's object is lost":     {func(_ *ledger, b *books) { b.revisions["ant"][2].puts = nil }, "lost update"},
		"a shown revision was undone":   {func(l *ledger, _ *books) { l.states[1].digest = "sx" }, "lost revision"},
		"a bind has no placement":       {func(_ *ledger, b *books) { b.placements = b.placements[:1] }, "bind and placements"},
		"a bind has two placements":     {func(_ *ledger, b *books) { b.placements = append(b.placements, b.placements[1]) }, "bind and placements"},
		"a placement is of another pod": {func(_ *ledger, b *books) { b.placements[0].Pod = "q" }, "placement of no bind"},
		"a record is in no attempt":     {func(_ *ledger, b *books) { b.attempts = b.attempts[:1] }, "record and attempts"},
		"a record is in two attempts":   {func(_ *ledger, b *books) { b.attempts[0].Decisions = `["d1","d3"]` }, "record and attempts"},
		"a question is in an attempt":   {func(_ *ledger, b *books) { b.records[0].Purpose = "question" }, "record and attempts"},
		"an attempt lacks its own":      {func(_ *ledger, b *books) { b.attempts[0].Decisions = `[]` }, "attempt of others"},
		"someone is evicted":            {func(_ *ledger, b *books) { b.evictions = 1 }, "eviction of no preemption"},
	} {
		t.Run(name, func(t *testing.T) {
			told, kept := sound()
			c.spoil(told, kept)
			found := check(told, kept)
			if c.want == "" {
				if len(found) > 0 {
					t.Fatalf("found %v in sound books", found)
				}
				return
			}
			if !slices.ContainsFunc(found, func(v violation) bool { return v.kind == c.want }) {
				t.Fatalf("found %v, want %q", found, c.want)
			}
		})
	}
}

// A bound pod that was deleted, or went with a whole state, may be bound again.
func TestCheckBindsAgain(t *testing.T) {
	for name, between := range map[string]chainRow{
		"deleted":  {Number: 5, Token: "t5", Parent: "t4", deletes: []string{"Pod/b"}},
		"replaced": {Number: 5, Token: "t5", Parent: "t4", whole: true},
	} {
		told, kept := sound()
		kept.revisions["ant"] = append(kept.revisions["ant"], between, chainRow{Number: 6, Token: "t6", Parent: "t5", binds: map[string]string{"b": "n5"}})
		kept.placements = append(kept.placements, placement{"ant", "b", "n5", 6})
		if found := check(told, kept); len(found) > 0 {
			t.Errorf("%s: %v", name, found)
		}
	}
}

// A seed is a run: the same faults in the same order, and others for another.
func TestPlan(t *testing.T) {
	o := options{Scenario: "random", Replicas: 2, Turns: 20}
	one, again, other := plan(7, o), plan(7, o), plan(8, o)
	if !slices.Equal(one, again) {
		t.Errorf("seed 7 gives %v and %v", one, again)
	}
	if slices.Equal(one, other) {
		t.Errorf("seeds 7 and 8 give the same %v", one)
	}
	kinds := map[string]bool{}
	for _, f := range one {
		kinds[f.kind] = true
	}
	for _, want := range []string{killReplica, termReplica, freezeReplica, killDatabase, stopDatabase, freezeDatabase, cutLink, clogLink, flapLink, killAndDown, freezeAndDown, fillAndDown} {
		if !kinds[want] {
			t.Errorf("no run has %q", want)
		}
	}
}
