package main

// booksFaults are faults of placements, holds, keys and events that the books of a short torture
// have to find: two servers, their Postgres, and callers who compare what they were answered.
var booksFaults = []fault{
	{"books-expired-stay", "the pods of a hold whose time is over stay", "./test/torture", "TestBooks", []edit{
		{"internal/revision/held.go", `if state != store.HoldCommitted {`, `if state == store.HoldReleased {`},
	}},
	{"books-commit-removes", "a commit takes the pods away", "./test/torture", "TestBooks", []edit{
		{"internal/revision/held.go", `if state != store.HoldCommitted {`, `if state != "" {`},
	}},
	{"books-ended-twice", "a hold that was released meanwhile is committed too", "./test/torture", "TestBooks", []edit{
		{"internal/revision/held.go", `if h = now; h.State != store.HoldHeld {`, `if h = now; h.State == want {`},
	}},
	{"books-ended-early", "a hold ends before its time", "./test/torture", "TestBooks", []edit{
		{"internal/store/holds.go", `return !now.Before(expires)`, `return !now.Before(expires.Add(-300 * time.Millisecond))`},
	}},
	{"books-ended-late", "a hold can be committed after its time", "./test/torture", "TestBooks", []edit{
		{"internal/store/holds.go", `return !now.Before(expires)`, `return !now.Before(expires.Add(time.Second))`},
	}},
	{"books-nobody-looks", "a hold ends only with the next call about its cluster", "./test/torture", "TestBooks", []edit{
		{"internal/revision/held.go", `err := m.ExpireDue(ctx)
		if`, `err := ctx.Err()
		if`},
	}},
	{"books-any-uid", "the end of a hold takes another pod of the same name", "./test/torture", "TestBooks", []edit{
		{"internal/revision/held.go", `if uidOf(js) != p.UID || nodeOf(js) != p.Node {`, `if p.UID == "" {`},
	}},
	{"books-end-not-written", "the row of a hold stays held when it ends", "./test/torture", "TestBooks", []edit{
		{"internal/store/batch/judge.go", `b.Holds = append(b.Holds, e.Holds...)`, `if len(e.Placed) > 0 {
			b.Holds = append(b.Holds, e.Holds...)
		}`},
	}},
	{"books-waiting-removed", "a pod that waited before its hold is gone after it", "./test/torture", "TestBooks", []edit{
		{"internal/revision/held.go", `now[u.Key] = u.Before`, `now[u.Key] = nil`},
	}},
	{"books-answer-not-kept", "what is written is marked, and its answer is not kept with it", "./test/torture", "TestBooks", []edit{
		{"internal/store/keyed.go", `if c.Answer != nil {`, `if c.Answer = nil; c.Answer != nil {`},
	}},
	{"books-any-body", "another body of the same length counts as the same", "./test/torture", "TestBooks", []edit{
		{"internal/handlers/keyed/body.go", `if uint64(n) != p.n || !bytes.Equal(p.print()[1:], print[1:]) {`, `if uint64(n) != p.n {`},
	}},
	{"books-longer-body", "a body that goes on where the first one ended counts as the same", "./test/torture", "TestBooks", []edit{
		{"internal/handlers/keyed/body.go", `	if whole {`, `	if !whole {`},
	}},
	{"books-any-route", "a key of one call answers another", "./test/torture", "TestBooks", []edit{
		{"internal/handlers/keyed/keyed.go", `if have.Route != r.Method+" "+r.URL.RequestURI() {`, `if have.Route == "" {`},
	}},
	{"books-status-200", "an answer is repeated with another status", "./test/torture", "TestBooks", []edit{
		{"internal/handlers/keyed/capture.go", `Status: c.code()`, `Status: http.StatusOK`},
	}},
	{"books-no-claim", "a call is done while another server does it, and no write looks who has it", "./test/torture", "TestBooks", []edit{
		{"internal/store/sqlcommon/keyed.go", `(k.state = 'begun' AND k.lease_until < {now} AND`, `(k.state = 'begun' AND`},
		{"internal/store/batch/judge.go", `b.Calls[CallKey{c.Caller, c.Key}] != c.Token {`, `b.Calls[CallKey{c.Caller, c.Key}] == "" {`},
	}},
	{"books-page-skips", "the next page of a list begins behind what was read, not behind what was sent", "./test/torture", "TestBooks", []edit{
		{"internal/handlers/events/serve.go", `out.Next = out.Items[limit-1].ID`, `out.Next = c.in.at.String()`},
	}},
	{"books-resumes-late", "a reader that goes on within a commit misses an event", "./test/torture", "TestBooks", []edit{
		{"internal/handlers/events/read.go", `of[min(skip, len(of)):]`, `of[min(skip+min(skip, 1), len(of)):]`},
	}},
	{"books-resumes-now", "a stream that is taken up again begins with what comes", "./test/torture", "TestBooks", []edit{
		{"internal/handlers/events/serve.go", `after := r.Header.Get("Last-Event-ID")`, `after := ""`},
	}},
	{"books-place-short", "the place behind a commit is before its last event", "./test/torture", "TestBooks", []edit{
		{"internal/handlers/events/read.go", `skip, r.at = 0, behind(s.Number, s.Hash)`, `skip, r.at = 0, place{s.Number, len(of) - 1, short(s.Hash)}`},
	}},
	{"books-placement-untold", "a placement is not told where another decision follows in its commit", "./test/torture", "TestBooks", []edit{
		{"internal/handlers/events/read.go", `if i+1 == len(decisions) || decisions[i+1].Placement != d.Placement {`, `if i+1 == len(decisions) {`},
	}},
	{"books-tail-untold", "revisions behind a commit's last decision are not told", "./test/torture", "TestBooks", []edit{
		{"internal/handlers/events/read.go", `upTo(s.Revision)`, `upTo(s.AfterRevision)`},
	}},
	{"books-left-behind", "a placement that does not hold is written", "./test/torture", "TestBooks", []edit{
		{"internal/decision/bind/place.go", `	if holds {
`, `	if holds || r.records != nil {
`},
	}},
	{"books-in-parts", "an atomic placement is content with one pod", "./test/torture", "TestBooks", []edit{
		{"internal/decision/bind/place.go", `r.need = n`, `r.need = 1`},
	}},
	{"books-room-twice", "the pods of a placement do not see one another", "./test/torture", "TestBooks", []edit{
		{"internal/revision/trial.go", `		if err := t.w.state.Changes().Put(o.Value); err != nil {`, `		if o.Kind == "Pod" {
			continue
		}
		if err := t.w.state.Changes().Put(o.Value); err != nil {`},
	}},
}
