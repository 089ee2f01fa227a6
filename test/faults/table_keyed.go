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
	{"busy-kept", "a call that found no room is refused for a day", "./internal/handlers", "TestKeyedRefusals", []edit{
		{"internal/handlers/keyed/keyed.go", `status == http.StatusTooManyRequests ||`, `status == http.StatusTeapot ||`},
	}},
}
