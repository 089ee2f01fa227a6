package main

// keyedFaults are faults of calls with an Idempotency-Key.
var keyedFaults = []fault{
	{"claim-not-fenced", "a server whose call was taken over writes it a second time", "./internal/store/sqlite", "TestStore/KeyedCalls/TakenOver", []edit{
		{"internal/store/batch/judge.go", `b.Calls[CallKey{c.Caller, c.Key}] != c.Token {`, `b.Calls[CallKey{c.Caller, c.Key}] == "" {`},
	}},
	{"claim-not-marked", "a call that has written counts as begun, and is done again", "./internal/store/sqlite", "TestStore/KeyedCalls/WrittenWithItsEntry", []edit{
		{"internal/store/batch/judge.go", `		b.Marks = append(b.Marks, e.Call)`, `		_ = b.Marks`},
	}},
	{"written-claimed-anew", "a call whose holder wrote and lapsed is claimed anew", "./internal/store/sqlite", "TestStore/KeyedCalls/WrittenWithItsEntry", []edit{
		{"internal/store/sqlcommon/keyed.go", `OR (k.state = 'begun' AND k.lease_until`, `OR (k.state <> 'answered' AND k.lease_until`},
	}},
	{"claim-by-remembered-end", "a batch with a claim is written without reading who has it", "./internal/store/postgres", "TestCallsOverReplicas", []edit{
		{"internal/store/postgres/ends.go", `len(reads.Gaps)+len(reads.Classes)+len(reads.Calls) > 0`, `len(reads.Gaps)+len(reads.Classes) > 0`},
	}},
	{"keyed-record-spooled", "the record of a call with a key waits in the spool, where no other server finds it", "./internal/store/spool", "TestKeyedCallsNeedTheDatabase", []edit{
		{"internal/store/spool/doc.go", `e.Checkpoint == nil && e.Call == nil &&`, `e.Checkpoint == nil &&`},
	}},
	{"claims-outlive-process", "a call of a process that has ended holds its key until its lease is over", "./internal/store/sqlite", "TestCallsOfAProcessBefore", []edit{
		{"internal/store/sqlite/sqlite.go", `errors.Join(s.ReleaseAll(ctx), s.FreeCalls(ctx))`, `errors.Join(s.ReleaseAll(ctx))`},
	}},
	{"answer-after-commit", "the answer of a bind is kept only behind its commit", "./internal/handlers", "TestKeyedCallsOutliveTheirServer", []edit{
		{"internal/decision/bind/decide.go", `if store.KeyedOf(ctx).Renders() {`, `if store.KeyedOf(ctx).Renders() && q.DryRun {`},
	}},
	{"keys-of-all", "a key is one for all callers", "./internal/handlers", "TestKeysBelongToCallers", []edit{
		{"internal/handlers/keyed/keyed.go", `Caller: store.AskedOf(r.Context()).By, Key: key,`, `Caller: "all", Key: key,`},
	}},
	{"secret-kept", "the secret of a token is kept with its key", "./internal/handlers", "TestKeysBelongToCallers", []edit{
		{"internal/handlers/keyed/keyed.go", `if kind != Secret || failed {`, `if kind != None || failed {`},
	}},
	{"body-prefix", "a body that begins like the first one counts as the same", "./internal/handlers", "TestKeyOfAnotherRequest", []edit{
		{"internal/handlers/keyed/body.go", `		return uint64(n) == p.n, nil`, `		return true, nil`},
	}},
	{"key-of-each-try", "a client sends a call again under another key", "./internal/apiclient", "TestCallsAreRepeated", []edit{
		{"client/client.go", `c.once(ctx, method, query, key, sent, path)`, `c.once(ctx, method, query, key+fmt.Sprint(try), sent, path)`},
	}},
	{"event-twice", "a reader that goes on within a commit gets its first events again", "./internal/handlers", "TestEvents", []edit{
		{"internal/handlers/events/read.go", `list = append(list, of[min(skip, len(of)):]...)`, `list = append(list, of...)`},
	}},
	{"event-before-its-revision", "a decision is told before the revision that it made", "./internal/handlers", "TestEvents", []edit{
		{"internal/handlers/events/read.go", `upTo(max(d.Revision, d.BoundRevision))`, `upTo(d.Revision)`},
	}},
	{"gone-events-skipped", "events that retention deleted are passed over in silence", "./internal/handlers", "TestEventsThatAreGone", []edit{
		{"internal/handlers/events/read.go", `if len(decisions) != len(s.RowHashes)/32 || len(revisions)`, `if len(revisions)`},
	}},
	{"place-of-another-chain", "an id of a chain that was lost counts in the one that took its place", "./internal/handlers", "TestEventsThatAreGone", []edit{
		{"internal/handlers/events/read.go", `|| short(seals[0].Hash) != r.at.hash {`, `{`},
	}},
	{"wake-of-any-plugin", "a pod is told to be worth a try by a plugin that had not rejected it", "./internal/handlers", "TestEvents", []edit{
		{"internal/handlers/events/wakes.go", `return !slices.Contains(strings.Split(rejected[p], ","), e.Data.Plugin)`, `return strings.HasPrefix(rejected[p], "\x00")`},
	}},
	{"events-of-all-namespaces", "a caller of one namespace gets the decisions of all", "./internal/handlers", "TestEventsOfSomeNamespaces", []edit{
		{"internal/handlers/events/serve.go", `if !admit.Sees(c.r.Context(), c.cluster, "") {`, `if c.cluster == "" {`},
	}},
	{"slow-reader-kept", "a reader that takes nothing keeps its stream", "./internal/handlers/events", "TestSlowReader", []edit{
		{"internal/handlers/events/serve.go", `time.Now().Add(c.a.writeWithin)`, `time.Now().Add(time.Hour + c.a.writeWithin)`},
	}},
	{"stream-outlives-server", "a stream goes on while the server ends", "./internal/handlers", "TestEventStream", []edit{
		{"internal/handlers/api.go", `	a.events.Drain()`, `	_ = a.events`},
	}},
	{"busy-kept", "a call that found no room is refused for a day", "./internal/handlers", "TestKeyedRefusals", []edit{
		{"internal/handlers/keyed/keyed.go", `status == http.StatusTooManyRequests ||`, `status == http.StatusTeapot ||`},
	}},
}
