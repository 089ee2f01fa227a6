package main

// decisionFaults are faults of deciding, binding, recording and replaying.
var decisionFaults = []fault{
	{"taint-unnoticed", "a filter that reads nodes alone is not asked again about one that was tainted", "./internal/engine/recall", "TestNodesThatAreTaintedAreJudgedAgain", []edit{
		{"internal/engine/recall/memo_filter.go", `} else if f.settled && m.renewed == nil {`, `} else if f.settled {`},
	}},
	{"template-keeps-the-name", "a pod of a known workload gets another pod's name in its JSON", "./internal/kube/object", "TestRequestPods", []edit{
		{"internal/kube/object/requestpods.go", `append(append(out, t.js[:t.name.from]...), pod.Name...)`, `append(append(out, t.js[:t.name.from]...), t.pod.Name...)`},
	}},
	{"template-skips-the-check-of-names", "the name of a pod of a known workload is not checked", "./internal/kube/object", "TestRequestPods", []edit{
		{"internal/kube/object/requestpods.go", `if !subdomain(js[name.from:name.to]) ||`, `if`},
	}},
	{"dictionary-changed", "stored inputs no longer have their dictionary", "./internal/decision/record", "TestStoredInputs", []edit{
		{"internal/decision/record/compress.go", `"\x00" + strings.TrimSuffix(dictionary1, "\n")`, `"\x00" + dictionary1[1:]`},
	}},
	{"pack-of-another", "a record gets the packed input of another that has its slot", "./internal/decision/record", "TestKeptPacks", []edit{
		{"internal/decision/record/packed.go", `p != nil && bytes.Equal(p.js, js)`, `p != nil`},
	}},
	{"answer-before-record", "an answer goes out while its record is still on the way", "./internal/decision/record", "TestAnswersWaitForTheirRecord", []edit{
		{"internal/decision/record/evaluate.go", `if spooled, err = l.m.RecordEntry(ctx, e.Record, e.Profile); err != nil {`, `go func() { _ = l.m.Record(context.WithoutCancel(ctx), e.Record, e.Profile) }()
	if err != nil {`},
	}},
	{"truncate-message", "a record's message is cut after 64 bytes", "./internal/decision/record", "TestDocumentedQueries", []edit{
		{"internal/decision/record/record.go", `d.Outcome, d.Message, d.Priority = string(r.Outcome), explain.Message(r), *o.`, `d.Outcome, d.Message, d.Priority = string(r.Outcome), explain.Message(r)[:min(64, len(explain.Message(r)))], *o.`},
	}},
	{"blockers-unrecorded", "a decision that places nothing does not record what was in the way", "./internal/decision/record", "TestRecordsNameBlockers", []edit{
		{"internal/decision/record/record.go", `d.Blockers = l.facts(o.View, o.Pod, d), blockers(r)`, `d.Blockers = l.facts(o.View, o.Pod, d), ""`},
	}},
	{"replay-reads-classes", "a replay answers with a class as it is today", "./internal/decision/record", "TestReplayAfterTheClassChanged", []edit{
		{"internal/decision/record/evaluated.go", `e.fixed.Class = e.Class.Source`, `e.fixed.Class = nil`},
	}},
	{"mask-forgotten", "one annotation that nothing reads is kept", "./internal/decision/record", "TestNothingElseIsStored", []edit{
		{"internal/kube/object/keep.go", `metadata(annotations...)}`, `metadata(append(annotations, "kubectl.kubernetes.io/last-applied-configuration")...)}`},
	}},
	{"keep-nominations", "a pod of lower priority goes on waiting for a node that was given away", "./internal/decision/record", "TestNominationsAreWrittenAndHonoured", []edit{
		{"internal/decision/status.go", `range preempt.ClearedNominations(r) {`, `range preempt.ClearedNominations(r)[:0] {`},
	}},
	{"failure-keeps-nomination", "a pod that fits nowhere goes on holding the node that it is nominated to", "./internal/decision/bind", "TestFailedAttemptsAreWritten", []edit{
		{"internal/decision/status.go", `case preempt.ClearsNomination(r):`, `case preempt.ClearsNomination(r) && false:`},
	}},

	{"placement-binds-in-part", "a placement that does not hold binds the pods before it failed", "./internal/decision/bind", "TestPlacementHoldsOrNot", []edit{
		{"internal/decision/bind/place.go", `	if holds {
		step.Apply`, `	if holds || true {
		step.Apply`},
	}},
	{"placement-recorded-in-part", "of a placement the first decision alone is stored", "./internal/store/sqlite", "TestStore/Entries/PlacementIsOneThing", []edit{
		{"internal/store/store.go", `range e.Placed {`, `range e.Placed[:min(1, len(e.Placed))] {`},
	}},
	{"placement-replayed-on-its-snapshot", "a record of a placement is replayed without the pods before it", "./internal/decision/bind", "TestPlacementHoldsOrNot", []edit{
		{"internal/decision/record/placement.go", `	if len(b.trial.Puts) == p.After {`, `	if len(b.trial.Puts) <= p.After {`},
	}},

	{"hold-counts-after-its-time", "a dry decision sees the pods of a hold whose time is over", "./internal/handlers", "TestHolds", []edit{
		{"internal/revision/manager.go", `if err == nil && revision == 0 {`, `if err == nil && revision == 0 && false {`},
	}},
	{"hold-in-the-way-after-its-time", "a bind decides on a state with the pods of a hold whose time is over", "./internal/handlers", "TestLateHoldsCannotBeCommitted", []edit{
		{"internal/revision/write.go", `if head.due(m) {`, `if head.due(m) && false {`},
	}},
	{"hold-committed-after-its-time", "a hold is committed after its time where its summary was lost", "./internal/revision", "TestHoldsWithoutSummary", []edit{
		{"internal/revision/held.go", `ends = causeExpired`, `ends = cause`},
	}},
	{"hold-ended-twice", "an end of a hold does not look whether another one came first", "./internal/decision/bind", "TestHoldsEndOnce", []edit{
		{"internal/revision/held.go", `if h = now; h.State != store.HoldHeld {`, `if h = now; false {`},
	}},
	{"hold-row-without-revision", "a hold is written as it was by an entry that is stored already", "./internal/store/sqlite", "TestStore/Holds/OnlyWithItsRevision", []edit{
		{"internal/store/batch/judge.go", `		b.Holds = append(b.Holds, e.Holds...)
	}`, `	}
	b.Holds = append(b.Holds, e.Holds...)`},
	}},
	{"hold-lost-by-a-load", "a state that is read from its checkpoint knows of no hold", "./internal/decision/bind", "TestHoldsExpireWhileDown", []edit{
		{"internal/revision/compile.go", `Ignored: stored.Ignored, Holds: stored.Holds}`, `Ignored: stored.Ignored}`},
	}},
	{"hold-lost-by-an-upload", "an upload forgets the holds of its cluster", "./internal/handlers", "TestHoldsAmongChanges", []edit{
		{"internal/revision/write.go", `v.Summary.Holds = head.Summary.Holds`, `v.Summary.Holds = nil`},
	}},
	{"hold-takes-another-pod", "the end of a hold deletes another pod of its pod's name", "./internal/handlers", "TestHoldsAmongChanges", []edit{
		{"internal/revision/held.go", `if uidOf(js) != p.UID || nodeOf(js) != p.Node {`, `if nodeOf(js) != p.Node {`},
	}},
	{"ended-hold-is-damage", "a hold that another server ends amid its expiry is taken for damage", "./internal/decision/bind", "TestHoldEndsAmidExpiry", []edit{
		{"internal/revision/held.go", `if ends[i].State != store.HoldHeld {`, `if false {`},
	}},
	{"hold-leaves-claims", "the end of a hold leaves what its placement wrote beside its pods", "./internal/handlers", "TestHoldsLeaveNothing", []edit{
		{"internal/revision/held.go", `} else if !slices.Equal(wrote(js), u.Wrote) {`, `} else {`},
	}},
	{"hold-of-the-longest", "the holds of a state end with the last one's time", "./internal/revision", "TestHoldsOfSeveralLengths", []edit{
		{"internal/revision/held.go", `row.ExpiresAt.Before(s.sum.Until) {`, `row.ExpiresAt.After(s.sum.Until) {`},
	}},

	{"victims-count-twice", "who was evicted for a pod still stands in its way", "./internal/decision/bind", "TestVictimsDoNotCount", []edit{
		{"internal/decision/pod.go", `held != nil && held.UID == x.UID {`, `held != nil && held.UID == x.UID && false {`},
	}},
	{"bind-unchecked", "a pod is bound though another was bound before it", "./internal/decision/bind", "TestBindIsJudgedAgain", []edit{
		{"internal/decision/bind/attempt.go", `if e.Result.Feasible.Count() == 0 {`, `if e.Result.Feasible.Count() == 0 && false {`},
	}},
	{"old-agreement", "victims that another server agreed to count for their preemptor", "./internal/decision/record", "TestNewestAgreementCounts", []edit{
		{"internal/decision/record/agreement.go", `list[i].ID > newest.id {`, `list[i].ID > newest.id && false {`},
	}},
	{"bind-unasked", "a pod is bound to a node that no decision named", "./internal/decision/bind", "TestBindNeedsADecision", []edit{
		{"internal/decision/bind/guard.go", `return b.o.Guarded != nil && b.o.Guarded(cluster)`, `return b.o.Guarded != nil && b.o.Guarded(cluster) && false`},
	}},
	{"bind-not-idempotent", "a bind through another replica, after the first one's answer was lost, is refused", "./internal/decision/bind", "TestBindIsIdempotentAcrossReplicas", []edit{
		{"internal/decision/bind.go", `case p.NodeName == node && node != "":`, `case p.NodeName == node && node != "" && false:`},
	}},

	{"replay-counters-late", "a part's cursor is committed before its counters, so that a kill between the two leaves decisions out", "./internal/jobs/replays", "TestKilledAnywhereCountsOnce", []edit{
		{"internal/jobs/replays/work.go", `state, err := r.j.st.AdvanceReplay(ctx, r.part, &after,`, `ahead := *r.part
	ahead.Cursor = after.Cursor
	if _, err := r.j.st.AdvanceReplay(ctx, r.part, &ahead, nil, r.j.Lease); err != nil {
		return err
	}
	state, err := r.j.st.AdvanceReplay(ctx, r.part, &after,`},
	}},
	{"replay-resumes-late", "a part that is taken up again starts one decision late", "./internal/jobs/replays", "TestKilledAnywhereCountsOnce", []edit{
		{"internal/jobs/replays/work.go", `reader := record.NewReader()`, `reader, skip := record.NewReader(), after.ID != ""`},
		{"internal/jobs/replays/work.go", `a := reader.Read(d)`, `if skip {
				skip = false
				continue
			}
			a := reader.Read(d)`},
	}},
	{"replay-difference-lost", "every second difference is counted and not kept", "./internal/jobs/replays", "TestOverrideIsFoundByPath", []edit{
		{"internal/jobs/replays/work.go", `r.differ = append(r.differ, &store.ReplayDifference{`, `if r.at.Different%2 == 0 {
		return nil
	}
	r.differ = append(r.differ, &store.ReplayDifference{`},
	}},
	{"replay-unverified", "a walked state is never held against its digest", "./internal/jobs/replays", "TestDamagedChangeSpoilsNothingElse", []edit{
		{"internal/decision/record/batch.go", `if err := b.walk.Verify(); err != nil {`, `if err := b.walk.Verify(); err != nil && false {`},
	}},
	{"replay-uncompared", "digests that are hashed beside are not compared", "./internal/jobs/replays", "TestWhatCannotBeReplayedIsAnError", []edit{
		{"internal/decision/record/digests.go", `string(text[:]) != e.want[i]`, `string(text[:]) != e.want[i] && false`},
	}},
	{"replay-cancel-unheard", "a worker does not learn that its job was cancelled", "./internal/jobs/replays", "TestCancelIsHeard", []edit{
		{"internal/jobs/replays/work.go", `r.ended = store.JobEnded(state)`, `r.ended = store.JobEnded(state) && false`},
	}},
	{"replay-override-forgotten", "a job's configuration is read and not used", "./internal/jobs/replays", "TestOverrideIsFoundByPath", []edit{
		{"internal/jobs/replays/work.go", `if w.batch == nil || w.job != job.ID {`, `o = record.Overrides{}
	if w.batch == nil || w.job != job.ID {`},
	}},
	{"answer-member-forgotten", "an answer written by hand lacks a member", "./internal/decision", "TestAnswerJSON", []edit{
		{"internal/engine/decision_json.go", "w.OptRef(`,\"margin\":`, d.Margin)", ``},
	}},
	{"small-change-packed", "a small change is compressed, which each replay undoes", "./internal/revision", "TestChangeOfOneObject", []edit{
		{"internal/revision/codec.go", `const smallest = 1 << 10`, `const smallest = 1 << 9`},
	}},
	{"replay-deletes-forgotten", "a walk takes deleted objects off its books and not off its state", "./internal/jobs/replays", "TestEverythingReplaysIdentical", []edit{
		{"internal/revision/walk.go", `e.Delete(k.Kind, k.Namespace, k.Name)`, ``},
	}},
	{"merge-unlike", "a pod's story hides that the answer changed", "./internal/report", "TestEqualAttemptsAreMerged", []edit{
		{"internal/report/past.go", `a.Message != r.Message || `, ``},
	}},
	{"default-class-by-memory", "two replicas each make a default class", "./internal/priorityclass", "TestOneDefaultAmongReplicas", []edit{
		{"internal/priorityclass/write.go", `version, err := r.st.PutPriorityClass(ctx, record, expect)`, `if d := r.Class(cluster, ""); record.GlobalDefault && d != nil && d.Name != c.Name {
		return nil, secondDefault(c.Name, d.Name)
	}
	record.GlobalDefault = false // the store does not get to judge
	version, err := r.st.PutPriorityClass(ctx, record, expect)`},
	}},
}
