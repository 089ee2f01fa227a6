package main

// storeFaults are faults of both stores, of what they hold, and of replicas that
// share one.
var storeFaults = []fault{
	{"nameless-file-written", "the embedded store goes on in a file that was renamed", "./internal/store/sqlite", "TestFileGone", []edit{
		{"internal/store/sqlite/sqlite.go", `case errors.Is(err, fs.ErrNotExist):`, `case errors.Is(err, fs.ErrNotExist) && s.file == nil:`},
	}},
	{"cursor-by-id", "a list goes on by id alone, though ids do not come in order of time", "./internal/store/sqlite", "TestStore", []edit{
		{"internal/store/sqlite/decisions.go", `if !f.BeforeTime.IsZero() || f.BeforeID != "" {`, `if f.BeforeID != "" {
		and("d.id < ?", f.BeforeID)
	} else if !f.BeforeTime.IsZero() || f.BeforeID != "" {`},
	}},
	{"stale-class-version", "an update of a class overwrites another that it has not seen", "./internal/store/sqlite", "TestStore/PriorityClasses/StaleVersionIsRefused", []edit{
		{"internal/store/classes.go", `return false, had.expect(expect)`, `return false, nil`},
	}},
	{"follow-by-time", "a page of the log as it is followed ends with a record that is not the last one", "./internal/store/sqlite", "TestStore/Following", []edit{
		{"internal/store/sqlite/decisions.go", `d.seq > ? ORDER BY d.seq LIMIT`, `d.seq > ? ORDER BY d.created_at LIMIT`},
	}},
	{"seq-outside-lock", "a record comes to be seen behind the place that a reader has reached", "./internal/store/postgres", "TestFollowTwoReplicas", []edit{
		{"internal/store/batch/judge.go", `r.Seq = h.Seq + h.Decisions`, `r.Seq = d.CreatedAt.UnixMicro()`},
	}},
	{"replay-lease-ignored", "a part is handed out while another worker's lease lasts", "./internal/store/sqlite", "TestStore/Replays/LeaseThatRanOutIsTakenOver", []edit{
		{"internal/store/sqlcommon/replays.go", `if err := t.Row(sqlFreePart, []any{idle},`, `if _, err := t.Exec(sqlFreeParts); err != nil {
		return nil, err
	}
	if err := t.Row(sqlFreePart, []any{idle},`},
	}},

	{"short-digest", "a digest's column lacks its last byte", "./internal/store/sqlite", "TestMigrationsKeepData", []edit{
		{"internal/store/lists/packed.go", `append(b, sum[:]...)`, `append(b, sum[:len(sum)-1]...)`},
	}},
	{"stamp-mixed-up", "decisions of two profiles share a stamp", "./internal/store/postgres", "TestMigrationsKeepData", []edit{
		{"internal/store/lists/row.go", `Stamp: Stamp{d.Profile, d.ProfileDigest`, `Stamp: Stamp{"", d.ProfileDigest`},
	}},
	{"suffix-lost", "the end that rejected nodes' names share is not written", "./internal/store/sqlite", "TestStore", []edit{
		{"internal/store/lists/encode.go", `b = appendString(b, suffix)`, `b = appendString(b, "")`},
	}},
	{"long-key", "a name too long for an index is let through to the database", "./internal/store/postgres", "TestStore", []edit{
		{"internal/store/validate.go", `if len(t) > maxKey {`, `if len(t) > maxKey && false {`},
	}},

	{"copy-of-what-goes", "a copy is stored of a revision that is gone", "./internal/store/sqlite", "TestStore/Origins/OfWhatIsThere", []edit{
		{"internal/store/batch/judge.go", `!ok || token != o.Token {`, `!ok && token != o.Token {`},
	}},
	{"source-pruned", "retention takes the revision that a copy is of", "./internal/store/sqlite", "TestStore/Origins/KeepTheirSource", []edit{
		{"internal/store/sqlite/age.go", `OR EXISTS (SELECT 1 FROM origins o WHERE o.source = ?1 AND o.source_number = r.number))`, `)`},
	}},
	{"source-deleted", "a cluster is deleted without a look at its copies", "./internal/revision", "TestCopyOutlivesItsSource", []edit{
		{"internal/revision/prune.go", `		if err := m.release(ctx, cluster, 0); err != nil {
			return err
		}`, ``},
	}},
	{"copies-unbounded", "a copy of a copy of a copy is read through all of them", "./internal/revision", "TestCopiesOfCopies", []edit{
		{"internal/revision/copies.go", `case n == mostOrigins:`, `case n < 0:`},
	}},

	{"prune-needed-change", "retention deletes changes that a later revision is made of", "./internal/store/postgres", "TestStore/Pruning", []edit{
		{"internal/store/postgres/age.go", `r.number > s.last AND`, `r.superseded < $4 AND`},
	}},
	{"prune-referred-revision", "retention deletes revisions that binds made, which decisions refer to", "./internal/store/postgres", "TestStore/Pruning", []edit{
		{"internal/store/postgres/age.go", `d.bound_revision = r.number`, `false`},
	}},
	{"chain-lock-ignored", "revisions are appended while another replica has locked the chain", "./internal/store/postgres", "TestLockedChainRefusesOthers", []edit{
		{"internal/store/postgres/append.go", `chain := s.chainLocks.others(chains(entries))`, `chain := []string(nil)`},
	}},
	{"slow-decisions-cancelled", "a write of decisions that waits for another server's lock is cancelled, an ERROR in PostgreSQL's log", "./internal/store/spool", "TestSlowDecisionIsNotCancelled", []edit{
		{"internal/store/spool/writer.go", `			if patient {
				cancel()`, `			if true {
				cancel()`},
	}},
	{"remembered-end-believed", "a batch is written behind the end of a chain that another replica has moved", "./internal/store/postgres", "TestEndOfADeletedChain", []edit{
		{"internal/store/postgres/statements.go", `AND seals = $8 AND seal_hash = $9`, `AND $8::bigint >= 0 AND $9::bytea IS NOT NULL`},
	}},
	{"reconnect-all-at-once", "a pool whose database is back connects with all it has at once", "./internal/store/postgres", "TestReconnectsOneByOne", []edit{
		{"internal/store/postgres/backoff.go", `if b.pause > 0 {`, `if b.pause > 0 && false {`},
	}},

	{"stored-id-refused", "a batch with a record that is stored already is refused whole", "./internal/store/sqlite", "TestStore", []edit{
		{"internal/store/sqlite/append.go", `if taken(err) || `, `if taken(err) && false || `},
	}},
	{"outdated-head-refuses", "an entry is refused for a head that is not the one in the file any more", "./internal/store/sqlite", "TestOutdatedHeads", []edit{
		{"internal/store/sqlite/append.go", `if !all && refuses(entries) {`, `if false && refuses(entries) {`},
	}},
	{"outdated-head-moved", "a head is moved on from what was remembered, not from what is in the file", "./internal/store/sqlite", "TestOutdatedHeads", []edit{
		{"internal/store/sqlite/statements.go", `AND last_seq = ?10`, `AND ?10 = ?10`},
	}},
	{"skip-parent-check", "a change on a parent that is not the newest is written all the same", "./internal/revision", "TestStaleParentIsAConflict", []edit{
		{"internal/revision/write.go", `case revision == 0 || revision == head.Revision:`, `case revision == 0 || revision == head.Revision || true:`},
	}},
	{"stale-head-after-conflict", "after a refused write the next one builds on the same stale head", "./internal/revision", "TestNoPodIsBoundTwice", []edit{
		{"internal/revision/follow.go", `list, err := m.st.RevisionsAfter(ctx, l.name, v.Revision-1, limit)`, `return v, nil
		list, err := m.st.RevisionsAfter(ctx, l.name, v.Revision-1, limit)`},
	}},
	{"shown-before-durable", "readers get a revision whose write is in flight", "./internal/revision", "TestTransitions", []edit{
		{"internal/revision/messages.go", `s.position = live{s.views(), x.view}`, `s.position = live{stored{durable: x.view}, x.view}`},
	}},
	{"unknown-outcome-extended", "after a write of unknown outcome the next one extends it", "./internal/revision", "TestTransitions", []edit{
		{"internal/revision/messages.go", `s.position, e.read = uncertain{v, s.epoch}, true`, `s.position, e.read = live{v, x.view}, true`},
	}},
	{"cluster-before-counts", "a write to a cluster that was deleted becomes the newest revision of the next", "./internal/revision", "TestTransitionsKeepTheirPromises", []edit{
		{"internal/revision/messages.go", `if x.epoch >= s.began {`, `if x.epoch >= 0 {`},
	}},
	{"given-up-not-shown", "a revision whose caller was told of it is not shown where the head was given up meanwhile", "./internal/revision", "TestTransitionsKeepTheirPromises", []edit{
		{"internal/revision/messages.go", `if x.epoch >= s.began {`, `if ours {`},
	}},
	{"gone-cluster-kept", "a cluster that another replica deleted goes on being shown", "./internal/revision", "TestGoneClusterIsNoticed", []edit{
		{"internal/revision/follow.go", `end.Number == h.v.Revision && end.Token != h.v.token {`, `end.Number == h.v.Revision && end.Token != h.v.token {
		return 0, nil`},
	}},
	{"checkpoint-twice", "each replica makes the checkpoint that one of them has made", "./internal/revision", "TestCheckpointOfAnotherCounts", []edit{
		{"internal/revision/save.go", `v.Revision-made < v.checkpointEvery(int64(m.o.CheckpointEvery)) {`, `v.Revision-made < v.checkpointEvery(int64(m.o.CheckpointEvery)) && false {`},
	}},
	{"checkpoint-digest-unchecked", "what a checkpoint holds is not held against the recorded digest", "./internal/revision", "TestDamagedRows", []edit{
		{"internal/revision/load.go", `if got := v.inv.digest(); got != v.Digest {`, `if got := v.inv.digest(); got != v.Digest && false {`},
	}},
}

// spoolFaults are faults of the spool and of the queue before the store.
var spoolFaults = []fault{
	{"spool-acks-before-fsync", "a record is acknowledged when it is written, not when it is on disk", "./internal/store/spool", "TestPowerLoss", []edit{
		{"internal/store/spool/journal.go", `if err := j.file.Sync(); err != nil {`, `if err := error(nil); err != nil {`},
	}},
	{"spool-retries-fsync", "a failed fsync is tried again and believed", "./internal/store/spool", "TestEveryFailure", []edit{
		{"internal/store/spool/journal.go", `err := j.write(encodeGroup(active.seq, active.end, recs))`, `err := j.write(encodeGroup(active.seq, active.end, recs))
	if err != nil {
		err = j.file.Sync()
	}`},
	}},
	{"spool-truncates", "a damaged record ends its segment, and the good ones behind it go unseen", "./internal/store/spool", "TestDamageIsLoudAndBounded", []edit{
		{"internal/store/spool/scan.go", `next := nextGroup(data[:limit], seq, p+1)`, `next := nextGroup(data[:limit], seq, p+1)
		next = -1`},
	}},
	{"spool-deletes-before-commit", "a segment is removed before the database has committed it", "./internal/store/spool", "TestSimulation", []edit{
		{"internal/store/spool/drain.go", `sc, err := w.j.read(s)`, `defer func() { _ = w.j.finish(s) }()
	sc, err := w.j.read(s)`},
	}},
	{"spool-reorders", "new records take the straight way while older ones wait in the spool", "./internal/store/spool", "TestSimulation", []edit{
		{"internal/store/spool/writer.go", `closed, queued := w.closed, w.queued`, `closed, queued := w.closed, false`},
	}},
	{"spool-doubles-on-hang", "a record whose write hangs goes to the spool under another id", "./internal/store/spool", "TestSimulation", []edit{
		{"internal/store/spool/writer.go", `w.around(ctx, entries, err)`, `for _, e := range entries {
		if err != nil && e.Decision != nil {
			again := *e.Decision
			again.ID += "-2"
			e.Decision = &again
		}
	}
	w.around(ctx, entries, err)`},
	}},
	{"spool-drops-refused", "a record that the database refuses for good vanishes", "./internal/store/spool", "TestRefusedIsQuarantined", []edit{
		{"internal/store/spool/quarantine.go", `name := fmt.Sprintf("%s%016x-%x.jsonl"`, `return nil
	name := fmt.Sprintf("%s%016x-%x.jsonl"`},
	}},
	{"hold-kept-for-ever", "holds that have ended stay however old they are", "./internal/store/sqlite", "TestStore/Holds/GoWithTheirClusterAndAge", []edit{
		{"internal/store/sqlcommon/replayed.go", "`DELETE FROM placement_holds WHERE ended_at < $1`,", ""},
	}},
	{"spool-waits-for-hang", "a database that hangs is waited for", "./internal/store/spool", "TestHangIsAsHarmlessAsAnError", []edit{
		{"internal/store/spool/writer.go", `if !patient || most > 0 && waited >= most {`, `return <-done
		if !patient || most > 0 && waited >= most {`},
	}},
	{"spool-forgets-limit", "the spool grows beyond its limit", "./internal/store/spool", "TestFullSpoolRefuses", []edit{
		{"internal/store/spool/journal.go", `if full {`, `if full && false {`},
	}},
	{"commit-queue-unbounded", "a store that stalls lets the queue grow", "./internal/store/groupcommit", "TestStalledStoreHoldsCallersBack", []edit{
		{"internal/store/groupcommit/options.go", `if o.ObserveFunc == nil {`, `o.Queue = 1 << 20
	if o.ObserveFunc == nil {`},
	}},
}
