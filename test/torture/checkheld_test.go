//go:build linux

package main

import (
	"slices"
	"testing"
	"time"
)

// soundHeld are books with a hold of each end, a placement that was not committed, a change under a
// key, and the events of all of it with a follower.
func soundHeld() (*ledger, *books) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	kept := &books{revisions: map[string][]chainRow{"ant": {{Number: 1, Token: "t1", Digest: "s", Cause: "upload", whole: true}}}, events: map[string][]event{}}
	told := &ledger{sent: map[sentKey]int{}, marks: []sentKey{{"change", "ant", "m"}}}
	add := func(r chainRow) int64 {
		list := kept.revisions["ant"]
		last := list[len(list)-1]
		r.Number, r.Parent, r.Token, r.Digest = last.Number+1, last.Token, last.Token+"'", "s"
		kept.revisions["ant"] = append(list, r)
		return r.Number
	}
	add(chainRow{Cause: "change", puts: []string{"Pod/a", "mark/m"}, pods: map[string]podPut{"a": {uid: "u-a"}}}) // a waits
	for _, end := range []struct{ pod, cause, state string }{{"a", causeExpired, stateExpired}, {"b", causeCommit, stateCommitted}, {"c", causeRelease, stateReleased}} {
		n := add(chainRow{Cause: "bind", binds: map[string]string{end.pod: "n1"}, pods: map[string]podPut{end.pod: {"u-" + end.pod, 0}}})
		id := "h-" + end.pod
		kept.records = append(kept.records, record{ID: "d-" + end.pod, Cluster: "ant", Verb: "decide", Pod: end.pod, Node: "n1", Outcome: "Scheduled", SnapshotDigest: "s", Revision: n - 1, Bound: n, Placement: id, Seq: int64(len(kept.records)) + 1, Purpose: "live"})
		kept.placements = append(kept.placements, placement{"ant", end.pod, "n1", n})
		kept.attempts = append(kept.attempts, tried{"ant", "d-" + end.pod, `["d-` + end.pod + `"]`})
		told.sent[sentKey{"decide", "ant", end.pod}]++
		told.asked = append(told.asked, &asked{cluster: "ant", pods: []string{end.pod}, atomic: true, id: id, bound: idOf("ant", n), committed: true, nodes: map[string]string{end.pod: "n1"}, hold: true, expires: at})
		r := chainRow{Cause: end.cause}
		switch end.pod {
		case "a":
			r.puts, r.pods = []string{"Pod/a"}, map[string]podPut{"a": {"u-a", 0}}
		case "c":
			r.deletes = []string{"Pod/c"}
		}
		ended := at.Add(-time.Second)
		if end.pod == "a" {
			ended = at
		}
		in := add(r)
		kept.holds = append(kept.holds, held{ID: id, Cluster: "ant", State: end.state, Expires: at, Ended: &ended, Revision: n, EndedIn: in, pods: []heldPod{{end.pod, "u-" + end.pod, "n1"}}})
		told.ends = append(told.ends, ending{id: id, how: "commit", state: end.state, began: at.Add(-2 * time.Second), expires: at})
	}
	add(chainRow{Cause: "bind", binds: map[string]string{"r": "n1"}, pods: map[string]podPut{"r": {"u-r", 1}}})
	kept.placements = append(kept.placements, placement{"ant", "r", "n1", 9})
	told.asked = append(told.asked, &asked{cluster: "ant", pods: []string{"x", "y"}, atomic: true, id: "none"})
	tell := func(kind string, revision int64, decision, placement string) {
		e := event{ID: idOf("e", int64(100+len(kept.events["ant"]))), Event: kind}
		e.Data.Revision, e.Data.Decision, e.Data.Placement = revision, decision, placement
		kept.events["ant"] = append(kept.events["ant"], e)
	}
	for n := int64(1); n <= 9; n++ {
		tell("revision", n, "", "")
		if n == 3 || n == 5 || n == 7 {
			pod := string(rune('a' + (n-3)/2))
			tell("decision", n, "d-"+pod, "")
			tell("placement", n, "", "h-"+pod)
		}
	}
	f := &follower{cluster: "ant"}
	for _, e := range kept.events["ant"] {
		f.ids = append(f.ids, e.ID)
	}
	told.followers = []*follower{f}
	return told, kept
}

// The books of placements, holds, keys and events find every fault that they exist for, and none
// where there is none.
func TestCheckHeld(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(l *ledger, b *books, chain []chainRow)
		want  string
	}{
		"sound":                            {func(*ledger, *books, []chainRow) {}, ""},
		"a placement is bound in parts":    {func(_ *ledger, b *books, _ []chainRow) { b.records[1].Placement = b.records[0].Placement }, "placement in parts"},
		"an atomic one is bound in part":   {func(l *ledger, _ *books, _ []chainRow) { l.asked[0].pods = []string{"a", "z"} }, "placement in parts"},
		"what does not hold leaves a pod":  {func(l *ledger, _ *books, _ []chainRow) { l.asked[3].pods = []string{"r"} }, "placement left behind"},
		"a placed pod is elsewhere":        {func(l *ledger, _ *books, _ []chainRow) { l.asked[1].nodes["b"] = "n2" }, "lost bind"},
		"a change is done twice":           {func(_ *ledger, _ *books, chain []chainRow) { chain[8].puts = []string{"mark/m"} }, "done twice"},
		"a hold does not end":              {func(_ *ledger, b *books, _ []chainRow) { b.holds[0].State = stateHeld }, "hold without an end"},
		"a hold ends early":                {func(_ *ledger, b *books, _ []chainRow) { b.holds[0].Expires = b.holds[0].Expires.Add(1) }, "hold ended early"},
		"a hold is lost":                   {func(_ *ledger, b *books, _ []chainRow) { b.holds = b.holds[1:] }, "lost hold"},
		"a hold has another time":          {func(l *ledger, _ *books, _ []chainRow) { l.asked[1].expires = time.Time{} }, "lost hold"},
		"a hold is committed and released": {func(_ *ledger, b *books, _ []chainRow) { b.holds[1].State = stateReleased }, "hold ended otherwise"},
		"a hold is answered otherwise":     {func(l *ledger, _ *books, _ []chainRow) { l.ends[1].state = stateExpired }, "hold ended otherwise"},
		"an end is in another revision":    {func(l *ledger, _ *books, _ []chainRow) { l.ends[1].ended = "ant@2" }, "hold ended otherwise"},
		"a revision ends no hold":          {func(_ *ledger, b *books, _ []chainRow) { b.holds[1].EndedIn = 0 }, "end of no hold"},
		"a commit comes too late": {func(l *ledger, b *books, _ []chainRow) {
			late := b.holds[1].Expires.Add(time.Second)
			l.ends[1].began, b.holds[1].Ended = late, &late
		}, "committed too late"},
		"a hold's pod is not bound":      {func(_ *ledger, _ *books, chain []chainRow) { chain[4].binds["b"] = "n2" }, "hold without its revision"},
		"a pod of an expired hold stays": {func(_ *ledger, _ *books, chain []chainRow) { chain[3].puts = nil }, "pod of an ended hold"},
		"a pod of a released hold stays": {func(_ *ledger, _ *books, chain []chainRow) { chain[7].deletes = nil }, "pod of an ended hold"},
		"a pod that waited goes": {func(_ *ledger, _ *books, chain []chainRow) {
			chain[3].puts, chain[3].deletes = nil, []string{"Pod/a"}
		}, "pod of an ended hold"},
		"a commit takes a pod":               {func(_ *ledger, _ *books, chain []chainRow) { chain[5].deletes = []string{"Pod/b"} }, "another's pod"},
		"a release takes a committed pod":    {func(_ *ledger, _ *books, chain []chainRow) { chain[7].deletes = []string{"Pod/c", "Pod/b"} }, "another's pod"},
		"a release takes a pod of that name": {func(_ *ledger, b *books, _ []chainRow) { b.holds[2].pods[0].UID = "other" }, "another's pod"},
		"the last room is given twice":       {func(_ *ledger, _ *books, chain []chainRow) { chain[4].pods["b"] = podPut{"u-b", 1} }, "room given twice"},
		"a follower misses an event":         {func(l *ledger, _ *books, _ []chainRow) { l.followers[0].ids = slices.Delete(l.followers[0].ids, 3, 4) }, "event skipped"},
		"a follower misses the end":          {func(l *ledger, _ *books, _ []chainRow) { l.followers[0].ids = l.followers[0].ids[:14] }, "event skipped"},
		"a follower gets an event twice": {func(l *ledger, _ *books, _ []chainRow) {
			l.followers[0].ids = slices.Insert(l.followers[0].ids, 3, l.followers[0].ids[2])
		}, "event repeated"},
		"a follower is refused":                {func(l *ledger, _ *books, _ []chainRow) { l.followers[0].wrong = []string{"410"} }, "wrong answer"},
		"a revision is not told":               {func(_ *ledger, b *books, _ []chainRow) { b.events["ant"] = slices.Delete(b.events["ant"], 0, 1) }, "event out of order"},
		"the last revision is not told":        {func(_ *ledger, b *books, _ []chainRow) { b.events["ant"] = b.events["ant"][:14] }, "event skipped"},
		"a decision is not told":               {func(_ *ledger, b *books, _ []chainRow) { b.events["ant"] = slices.Delete(b.events["ant"], 3, 4) }, "event skipped"},
		"a decision comes before its revision": {func(_ *ledger, b *books, _ []chainRow) { b.records[0].Bound = 4 }, "event out of order"},
		"decisions are in another order":       {func(_ *ledger, b *books, _ []chainRow) { b.records[0].Seq = 9 }, "event out of order"},
		"a placement is told early":            {func(_ *ledger, b *books, _ []chainRow) { b.records[2].Placement = "h-b" }, "event out of order"},
		"a placement is not told":              {func(_ *ledger, b *books, _ []chainRow) { b.events["ant"] = slices.Delete(b.events["ant"], 4, 5) }, "event skipped"},
		"ids do not grow":                      {func(_ *ledger, b *books, _ []chainRow) { b.events["ant"][3].ID = "0" }, "event out of order"},
	} {
		t.Run(name, func(t *testing.T) {
			told, kept := soundHeld()
			c.spoil(told, kept, kept.revisions["ant"])
			found := append(check(told, kept), checkEvents(told.followers, kept)...)
			if c.want == "" && len(found) > 0 {
				t.Fatalf("found %v in sound books", found)
			}
			if c.want != "" && !slices.ContainsFunc(found, func(v violation) bool { return v.kind == c.want }) {
				t.Fatalf("found %v, want %q", found, c.want)
			}
		})
	}
}
