package main

// jobFaults are in the jobs of questions about what comes next.
var jobFaults = []fault{
	{"job-part-unkept", "a finished configuration is not kept, and is run again after a kill", "./internal/scenario", "TestFinishedRunsAreNotRunAgain", []edit{
		{"internal/scenario/watch_kept.go", `return w.Save(partOf(t.config.name), &k)`, `return nil`},
	}},
	{"job-trace-lost", "the first configuration is kept without the trace that others are compared with", "./internal/scenario", "TestFinishedRunsAreNotRunAgain", []edit{
		{"internal/scenario/watch_kept.go", `if diff != nil {`, `if diff == nil {`},
	}},
	{"job-part-run-again", "what is kept of a job is not read", "./internal/jobs/simulations", "TestKilledAnywhereGoesOn", []edit{
		{"internal/jobs/simulations/work.go", `return err == nil, err
	}, Save:`, `return false, err
	}, Save:`},
	}},
	{"job-cancel-unheard", "a worker does not learn that its job was cancelled", "./internal/jobs/simulations", "TestEnds", []edit{
		{"internal/jobs/simulations/work.go", `|| err == nil && got != state`, `|| err == nil && got != state && false`},
	}},
	{"job-held-by-an-end", "a server that ends keeps its job until the lease runs out", "./internal/jobs/simulations", "TestEnds", []edit{
		{"internal/jobs/simulations/work.go", `nil, -time.Second) })`, `nil, time.Hour) })`},
	}},
	{"job-begun-for-ever", "a job that kills each process is begun again for ever", "./internal/jobs/simulations", "TestEnds", []edit{
		{"internal/jobs/simulations/work.go", `if job.Attempts > maxAttempts {`, `if job.Attempts > maxAttempts*100 {`},
	}},
	{"job-result-unbounded", "an answer of any size is stored", "./internal/jobs/simulations", "TestEnds", []edit{
		{"internal/jobs/simulations/work.go", `err == nil && len(result) > w.j.MaxResult:`, `err == nil && len(result) > w.j.MaxResult && false:`},
	}},
	{"job-never-late", "a job is run without a deadline", "./internal/jobs/simulations", "TestEnds", []edit{
		{"internal/jobs/simulations/work.go", `context.WithTimeoutCause(running, w.j.Deadline, late)`, `context.WithTimeoutCause(running, 2*time.Second, context.Canceled)`},
	}},
	{"job-unfenced", "a worker whose job was taken over writes its answer all the same", "./internal/store/sqlite", "TestStore/Simulations", []edit{
		{"internal/store/sqlcommon/jobs.go", `WHERE id = $1 AND owner = $2 AND state = 'running'`, `WHERE id = $1 AND $2 <> '' AND state = 'running'`},
	}},
	{"job-unfenced-postgres", "the same in Postgres", "./internal/store/postgres", "TestStore/Simulations", []edit{
		{"internal/store/sqlcommon/jobs.go", `WHERE id = $1 AND owner = $2 AND state = 'running'`, `WHERE id = $1 AND $2 <> '' AND state = 'running'`},
	}},
	{"job-claimed-twice", "a job whose lease lasts is claimed again", "./internal/store/sqlite", "TestStore/Simulations", []edit{
		{"internal/store/sqlcommon/jobs.go", `(owner = '' OR lease_until < `, `(owner = '' OR lease_until > `},
	}},
	{"job-revision-deleted", "a revision is deleted that a job is about", "./internal/store/sqlite", "TestStore/Simulations", []edit{
		{"internal/store/sqlite/statements.go", `
OR EXISTS (SELECT 1 FROM simulations WHERE cluster = ?1 AND revision = ?2)`, ``},
	}},
	{"job-revision-pruned", "retention deletes a revision that a job is about", "./internal/store/postgres", "TestStore/Simulations", []edit{
		{"internal/store/postgres/age.go", `
    OR EXISTS (SELECT 1 FROM simulations s WHERE s.cluster = $1 AND s.revision = r.number)`, ``},
	}},
	{"job-about-the-newest", "a job is about the newest revision, not the one that it was asked about", "./internal/handlers", "TestJobsAnswerAsCalls", []edit{
		{"internal/handlers/rest/simulation_jobs.go", `a.view(ctx, job.cluster, job.revision)`, `a.view(ctx, job.cluster, 0)`},
	}},
	{"job-classes-of-now", "a job is run with the priority classes of its run", "./internal/handlers", "TestJobKeepsItsPriorityClasses", []edit{
		{"internal/handlers/rest/simulation_jobs.go", `classes: q.Classes,`, `classes: a.priorityClasses,`},
	}},
	{"job-of-another-server", "a server answers a job that was asked under another configuration", "./internal/handlers", "TestJobsAreBoundedAndEnd", []edit{
		{"internal/handlers/rest/simulation_jobs.go", `if q.Server != a.server(job.cluster) {`, `if q.Server == "" {`},
	}},
	{"state-at-with-budgets-of-the-base", "the cluster at a time of a scenario has the budgets of its start", "./internal/handlers", "TestStateAt", []edit{
		{"internal/world/view.go", `further = append(further, one.pdb.DeepCopy())`, `_ = one`},
	}},
	{"state-at-without-waiting-pods", "the cluster at a time of a scenario lacks pods that were created and wait", "./internal/handlers", "TestStateAt", []edit{
		{"internal/world/view.go", `further = append(further, decision.WithKind(e.Pod))`, `_ = decision.WithKind`},
	}},
	{"timeline-of-another-deployment", "a ReplicaSet that is stored counts to a Deployment that does not own it", "./internal/handlers", "TestTimeline", []edit{
		{"internal/scenario/timeline.go", `return top != nil && top.Kind == "Deployment" && top.Name == deployment`, `return top != nil && top.Kind == "Deployment"`},
	}},
	{"quota-retried-at-once", "a controller whose pod a quota does not let in tries again without a back-off that grows", "./internal/scenario", "TestQuotas", []edit{
		{"internal/world/quota.go", `d = min(2*d, most)`, `d = min(d, most)`},
	}},
	{"quota-of-stuck-pods", "pods that are being deleted on a dead node count against quotas for ever", "./internal/scenario", "TestQuotas", []edit{
		{"internal/world/quota.go", `setIn(q.w.Fork, s.expired, n, true)`, `return nil`},
	}},
	{"jobs-of-a-cluster-unbounded", "one cluster takes all jobs", "./internal/handlers", "TestJobsAreBoundedAndEnd", []edit{
		{"internal/store/jobs.go", `n.Cluster >= places*int64(l.PerCluster):`, `n.Cluster >= 2*places*int64(l.PerCluster):`},
	}},
	{"one-caller-has-all-workers", "beside a caller's long job its next one is begun", "./internal/jobs/simulations", "TestCallersTakeTurns", []edit{
		{"internal/jobs/work.go", `j.working > 0)`, `j.working > 2)`},
	}},
	{"no-place-for-another", "a caller without a job is refused where others have all places", "./internal/handlers", "TestJobsAreBoundedAndEnd", []edit{
		{"internal/store/jobs.go", `places = 2`, `places = 1`},
	}},
	{"replays-without-turns", "the batch replays of one caller are all done before another caller's first", "./internal/store/sqlite", "TestStore/Replays", []edit{
		{"internal/store/sqlcommon/replays.go", `ORDER BY (SELECT max(o.claimed_at) FROM replays o WHERE o.asked_by = r.asked_by), r.id`, `ORDER BY r.id`},
	}},
	{"jobs-counted-apart", "calls at the same time each store the last job that is allowed", "./internal/store/postgres", "TestStore", []edit{
		{"internal/store/sqlcommon/sqlcommon.go", `SELECT pg_advisory_xact_lock(hashtext('berth jobs ' || current_schema()))`, `SELECT 1`},
	}},
	{"job-wait-forgotten", "a call waits for as long as it takes, whatever its wait", "./internal/handlers", "TestWaitThatEndsGoesOnAsAJob", []edit{
		{"internal/handlers/rest/simulation_jobs.go", `until := time.Now().Add(wait)`, `until := time.Now().Add(wait + time.Minute)`},
	}},
	{"job-not-cancelled", "the command line leaves its job behind on Ctrl-C", "./internal/cli", "TestJobIsShownAndCancelled", []edit{
		{"internal/cli/ahead.go", `append(one, "cancel")...)`, `one...)`},
	}},
}
