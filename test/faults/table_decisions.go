package main

// decisionFaults are faults of deciding, binding, recording and replaying.
var decisionFaults = []fault{
	{"answer-before-record", "an answer goes out while its record is still on the way", "./internal/decisionlog", "TestAnswersWaitForTheirRecord", []edit{
		{"internal/decisionlog/decide.go", `if spooled, err = l.m.RecordEntry(ctx, d, with); err != nil {`, `go func() { _ = l.m.Record(context.WithoutCancel(ctx), d, with) }()
	if err != nil {`},
	}},
	{"truncate-message", "a record's message is cut after 64 bytes", "./internal/decisionlog", "TestDocumentedQueries", []edit{
		{"internal/decisionlog/record.go", `Message: r.Message(), Priority:`, `Message: r.Message()[:min(64, len(r.Message()))], Priority:`},
	}},
	{"replay-reads-classes", "a replay answers with a class as it is today", "./internal/decisionlog", "TestReplayAfterTheClassChanged", []edit{
		{"internal/decisionlog/recall.go", `q.classes = rec.in.recorded()`, `q.classes = l.today(rec.d.Cluster)`},
		{"internal/decisionlog/replay.go", `q.classes = rec.in.recorded()`, `q.classes = l.today(view.Cluster)`},
	}},
	{"mask-forgotten", "one annotation that nothing reads is kept", "./internal/decisionlog", "TestNothingElseIsStored", []edit{
		{"internal/objects/keep.go", `metadata(annotations...)}`, `metadata(append(annotations, "kubectl.kubernetes.io/last-applied-configuration")...)}`},
	}},
	{"keep-nominations", "a pod of lower priority goes on waiting for a node that was given away", "./internal/decisionlog", "TestNominationsAreWrittenAndHonoured", []edit{
		{"internal/decisionlog/nominate.go", `range r.ClearedNominations() {`, `range r.ClearedNominations()[:0] {`},
	}},
	{"failure-keeps-nomination", "a pod that fits nowhere goes on holding the node that it is nominated to", "./internal/decisionlog", "TestFailedAttemptsAreWritten", []edit{
		{"internal/decisionlog/nominate.go", `case r.ClearsNomination():`, `case r.ClearsNomination() && false:`},
	}},

	{"victims-count-twice", "who was evicted for a pod still stands in its way", "./internal/decisionlog", "TestVictimsDoNotCount", []edit{
		{"internal/decisionlog/prepare.go", `p != nil && p.UID == g.UID {`, `p != nil && p.UID == g.UID && false {`},
	}},
	{"bind-unchecked", "a pod is bound though another was bound before it", "./internal/decisionlog", "TestBindIsJudgedAgain", []edit{
		{"internal/decisionlog/bind_through.go", `if r.Feasible.Count() == 0 {`, `if r.Feasible.Count() == 0 && false {`},
	}},
	{"old-agreement", "victims that another server agreed to count for their preemptor", "./internal/decisionlog", "TestNewestAgreementCounts", []edit{
		{"internal/decisionlog/agreed.go", `list[i].ID > newest.id {`, `list[i].ID > newest.id && false {`},
	}},
	{"bind-unasked", "a pod is bound to a node that no decision named", "./internal/decisionlog", "TestBindNeedsADecision", []edit{
		{"internal/decisionlog/asked.go", `return !l.o.BindUnasked && l.binder(cluster) != nil`, `return !l.o.BindUnasked && l.binder(cluster) != nil && false`},
	}},
	{"bind-not-idempotent", "a bind through another replica, after the first one's answer was lost, is refused", "./internal/decisionlog", "TestBindIsIdempotentAcrossReplicas", []edit{
		{"internal/decisionlog/bind.go", `case p.NodeName == node && node != "":`, `case p.NodeName == node && node != "" && false:`},
	}},

	{"replay-counters-late", "a part's cursor is committed before its counters, so that a kill between the two leaves decisions out", "./internal/replays", "TestKilledAnywhereCountsOnce", []edit{
		{"internal/replays/work.go", `state, err := r.j.st.AdvanceReplay(ctx, r.part, &after,`, `ahead := *r.part
	ahead.Cursor = after.Cursor
	if _, err := r.j.st.AdvanceReplay(ctx, r.part, &ahead, nil, r.j.o.Lease); err != nil {
		return err
	}
	state, err := r.j.st.AdvanceReplay(ctx, r.part, &after,`},
	}},
	{"replay-resumes-late", "a part that is taken up again starts one decision late", "./internal/replays", "TestKilledAnywhereCountsOnce", []edit{
		{"internal/replays/work.go", `asker := decisionlog.NewAsker()`, `asker, skip := decisionlog.NewAsker(), after.ID != ""`},
		{"internal/replays/work.go", `a := asker.Ask(d)`, `if skip {
				skip = false
				continue
			}
			a := asker.Ask(d)`},
	}},
	{"replay-difference-lost", "every second difference is counted and not kept", "./internal/replays", "TestOverrideIsFoundByPath", []edit{
		{"internal/replays/work.go", `r.differ = append(r.differ, &store.ReplayDifference{`, `if r.at.Different%2 == 0 {
		return nil
	}
	r.differ = append(r.differ, &store.ReplayDifference{`},
	}},
	{"replay-unverified", "a walked state is never held against its digest", "./internal/replays", "TestDamagedChangeSpoilsNothingElse", []edit{
		{"internal/replays/work.go", `if err := r.batch.Verify(); err != nil {`, `if err := r.batch.Verify(); err != nil && false {`},
	}},
	{"replay-cancel-unheard", "a worker does not learn that its job was cancelled", "./internal/replays", "TestCancelIsHeard", []edit{
		{"internal/replays/work.go", `r.ended = (&store.Replay{State: state}).Ended()`, `r.ended = (&store.Replay{State: state}).Ended() && false`},
	}},
	{"replay-override-forgotten", "a job's configuration is read and not used", "./internal/replays", "TestOverrideIsFoundByPath", []edit{
		{"internal/replays/work.go", `if w.batch == nil || w.job != job.ID {`, `o = decisionlog.Overrides{}
	if w.batch == nil || w.job != job.ID {`},
	}},
	{"replay-deletes-forgotten", "a walk takes deleted objects off its books and not off its state", "./internal/replays", "TestEverythingReplaysIdentical", []edit{
		{"internal/cluster/walk.go", `e.Delete(k.Kind, k.Namespace, k.Name)`, ``},
	}},
	{"merge-unlike", "a pod's story hides that the answer changed", "./internal/story", "TestAttemptsAreMergedWhereAlike", []edit{
		{"internal/story/past.go", `a.Message != r.Message || `, ``},
	}},
	{"default-class-by-memory", "two replicas each make a default class", "./internal/classes", "TestOneDefaultAmongReplicas", []edit{
		{"internal/classes/write.go", `version, err := b.st.PutPriorityClass(ctx, record, expect)`, `if d := b.Class(cluster, ""); record.GlobalDefault && d != nil && d.Name != c.Name {
		return nil, secondDefault(c.Name, d.Name)
	}
	record.GlobalDefault = false // the store does not get to judge
	version, err := b.st.PutPriorityClass(ctx, record, expect)`},
	}},
}
