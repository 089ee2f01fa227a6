package main

// epochFaults are faults of what is noticed when the database becomes another one.
var epochFaults = []fault{
	{"epoch-numbers-reused", "numbers that a lost database gave out are given out again", "./internal/store/postgres", "TestSwitchover", []edit{
		{"internal/store/epochs.go", `n := ((last+epochMargin)/epochNumbers + 1) * epochNumbers`, `n := last + 1`},
	}},
	{"old-primary-used", "an old primary that comes back is written to", "./internal/store/postgres", "TestOldPrimary", []edit{
		{"internal/store/postgres/identity.go", `i.timeline > 0 && i.timeline < o.timeline`, `i.timeline > o.timeline`},
	}},
	{"put-back-unseen", "a database that was put back on its own timeline is taken for whole", "./internal/store/postgres", "TestDatabasePutBack", []edit{
		{"internal/store/postgres/identity.go", `return i.is(o) && i.started == o.started && i.started != ""`, `return i.is(o)`},
	}},
	{"old-commit-acknowledged", "what was committed to a database that others left counts", "./internal/store/postgres", "TestCommitOnConnectionFromBefore", []edit{
		{"internal/store/postgres/append.go", `return errMoved`, `return nil`},
	}},
	{"loss-without-gap", "what a failover lost is no gap of the log", "./internal/store/postgres", "TestFailoverThatLost", []edit{
		{"internal/store/postgres/epoch_report.go", `	p.Queue(sqlPutGap, values...)
`, ``},
	}},
	{"forgotten-not-counted", "records that are not remembered any more are taken for stored", "./internal/store/postgres", "TestRememberedIsBounded", []edit{
		{"internal/store/postgres/remembered.go", `r.of.dropped = max(r.of.dropped, r.seal)`, `_ = r`},
	}},
	{"row-between-epochs", "a row at a number that an epoch left out is not found", "./internal/store/postgres", "TestSwitchover", []edit{
		{"internal/audit/verify.go", `return errors.Join(c.between(ctx, s), c.revisions(`, `return errors.Join(c.revisions(`},
	}},
	{"page-beyond-revision", "an older revision is loaded with changes of later ones", "./internal/revision", "TestDatabaseThatLostRevisions", []edit{
		{"internal/revision/load.go", `if at.number == r.Number {`, `if false {`},
	}},
	{"gone-cluster-from-one", "a cluster that was lost begins with numbers that were given out", "./internal/revision", "TestDatabaseThatLostRevisions", []edit{
		{"internal/revision/epochs.go", `return store.EpochStart(gone.Last)`, `return 1, nil`},
	}},
	{"profile-taken-for-stored", "a profile that a failover lost is not stored again", "./cmd/server", "TestDatabaseThatLostAnswers", []edit{
		{"internal/decision/record/log.go", `l.profiles.replaced()`, `_ = l`},
	}},
	{"old-classes-kept", "priority classes that a failover lost go on", "./internal/priorityclass", "TestStoreThatTookAnothersPlace", []edit{
		{"internal/priorityclass/registry.go", `again.version = replaced`, `again.version++`},
	}},
}
