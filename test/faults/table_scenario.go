package main

// scenarioFaults are faults of what comes next in a cluster.
var scenarioFaults = []fault{
	{"surge-rounded-down", "a rollout of 25 % surge has none for three pods", "./internal/scenario", "TestUpstreamsRollouts", []edit{
		{"internal/world/deployment.go", `scaled(u.MaxSurge, replicas, true)`, `scaled(u.MaxSurge, replicas, false)`},
	}},
	{"rollout-name-counts-as-gone", "a StatefulSet's new pod that waits counts as gone, for the old one of its name is", "./internal/scenario", "TestRolloutOfSets", []edit{
		{"internal/scenario/rollout.go", `return p.Replacement != c && p.LeavesAfterSeconds >= c.CreatedAfterSeconds`, `return true`},
	}},
	{"rollout-keeps-replicas", "an update of a StatefulSet does not read its replicas", "./internal/scenario", "TestRolloutOfSets", []edit{
		{"internal/world/statefulset_update.go", `	case n != nil:
		return c.resize`, `	case n != nil && len(s.places) == 0:
		return c.resize`},
	}},
	{"rollout-untried-remedy", "a change that does not help an update is named", "./internal/scenario", "TestRolloutOfSets", []edit{
		{"internal/scenario/rollout_sets.go", `if again.out.Outcome != RolloutComplete && (`, `if false && (`},
	}},
	{"rollout-dead-node-unseen", "a node that runs no pod more and has one that does not end holds nothing up", "./internal/scenario", "TestRolloutOfDaemons", []edit{
		{"internal/world/daemonset_update.go", `!p.run && len(there) == 0, false`, `!p.run, false`},
	}},
	{"rollout-on-delete-hides", "with OnDelete a pod without a node is no matter", "./internal/scenario", "TestRolloutOfDaemons", []edit{
		{"internal/scenario/rollout_sets.go", `onDelete && len(out.Held) == 0 && out.Pending == 0 {`, `onDelete {`},
	}},
	{"rollout-start-unread", "startSeconds of an update of a StatefulSet counts for its new pods alone", "./internal/scenario", "TestRolloutOfSetsAnswers", []edit{
		{"internal/scenario/rollout_sets.go", `if s := r.q.StartSeconds; s != nil {`, `if s := r.q.StartSeconds; s != nil && false {`},
	}},
	{"retention-unread", "a StatefulSet that is scaled down keeps all claims", "./internal/scenario", "TestRetentionWhenScaled", []edit{
		{"internal/world/statefulset_scale.go", `s.losesClaims = p != nil && p.WhenScaled ==`, `s.losesClaims = false && p.WhenScaled ==`},
	}},
	{"retention-for-good", "a claim goes though its pod is wanted again before it is gone", "./internal/scenario", "TestRetentionWhenScaled", []edit{
		{"internal/world/statefulset_scale.go", `if claim == nil || condemned ==`, `if claim == nil || !condemned || condemned ==`},
	}},
	{"retention-whoever-owns", "a claim goes that another controller owns, too", "./internal/scenario", "TestRetentionWhenScaled", []edit{
		{"internal/world/statefulset_scale.go", `if len(claim.OwnerReferences) > 1 {`, `if false {`},
	}},
	{"retention-beside-the-set", "a claim that its set owns outlasts the pod that was too many", "./internal/scenario", "TestRetentionWhenScaled", []edit{
		{"internal/world/statefulset_scale.go", `condemned && r.Kind == "StatefulSet"`, `!condemned && r.Kind == "StatefulSet"`},
	}},
	{"available-before-sick", "a rollout takes available pods while there are others that are not", "./internal/scenario", "TestUpstreamsRollouts", []edit{
		{"internal/world/deployment.go", `n := min(room, s.Replicas-available[i]); n > 0`, `n := min(room, s.Replicas-available[i]); n > 0 && false`},
	}},
	{"crowded-node-forgotten", "a scale-down leaves two pods on one node", "./internal/scenario", "TestUpstreamsRollouts", []edit{
		{"internal/world/replicaset_rank.go", `cmp.Compare(on[b.Node], on[a.Node]),`, `cmp.Compare(on[a.Node], on[a.Node]),`},
	}},
	{"daemons-forgotten", "new nodes are counted without their daemon pods", "./internal/scenario", "TestPools", []edit{
		{"internal/scenario/pools_search.go", `out, err := r.f.Run(ctx, e.Daemons, world.Limits{}, nil)`, `out, err := r.f.Run(ctx, nil, world.Limits{}, nil)`},
	}},
	{"scenario-order", "pods are tried as they come, whatever their priority", "./internal/scenario", "TestQueueOrder", []edit{
		{"internal/world/queue.go", `cmp.Compare(b.priority, a.priority), q.stood(a)`, `cmp.Compare(a.priority, a.priority), q.stood(a)`},
	}},
	{"scenario-no-retry", "a pod that failed is not tried again after a change", "./internal/scenario", "TestRunEqualsAttemptsAskedAlone", []edit{
		{"internal/world/queue.go", `if !e.failed || q.hears(e) || flushes`, `if !e.failed || flushes`},
	}},
	{"scenario-shape-for-ever", "a shape that fitted nowhere is not asked again after a change", "./internal/scenario", "TestRunEqualsAttemptsAskedAlone", []edit{
		{"internal/world/queue.go", `v.message != "" && v.changes == q.f.changes {`, `v.message != "" && v.changes <= q.f.changes {`},
	}},
	{"scenario-wait-from-the-start", "a pod's wait counts attempts before its arrival", "./internal/scenario", "TestDepartures", []edit{
		{"internal/world/queue.go", `at.Waited = q.attempts - e.came`, `at.Waited = q.attempts`},
	}},
	{"scenario-uneven-whole-group", "pods in the emptiest domain count as unevenly spread", "./internal/scenario", "TestUneven", []edit{
		{"internal/engine/rules/pod_topology_spread_table.go", `counts[v]-c.least > c.MaxSkew`, `max(counts[v], c.most)-c.least > c.MaxSkew`},
	}},
	{"scenario-largest-over-all", "the largest pod of a shape is as large as the emptiest resource", "./internal/scenario", "TestCapacity", []edit{
		{"internal/scenario/grid.go", `largest = min(largest, float64(free)/float64(want))`, `largest = float64(free) / float64(want)`},
	}},
	{"long-answer-goes-on", "a long answer is written for a caller who has gone", "./internal/steps", "TestMarshalEndsWithItsCall", []edit{
		{"internal/steps/marshal.go", `else if err = ctx.Err(); err == nil {`, `else {`},
	}},
	{"long-answer-element-lost", "the last elements of a long list are not written", "./internal/steps", "TestMarshal", []edit{
		{"internal/steps/marshal.go", `min(i+chunk, n)`, `min(i+chunk, n-n/600)`},
	}},
	{"history-last-question", "a pod of the history arrives as it was asked about last", "./internal/handlers", "TestHistoryArrives", []edit{
		{"internal/decision/record/history.go", `known && !d.CreatedAt.Before(out[at].At)`, `known && d.CreatedAt.Before(out[at].At)`},
	}},
	{"history-of-later", "a pod of the history is read from a later revision", "./internal/handlers", "TestHistoryArrives", []edit{
		{"internal/decision/record/history.go", `view, err := walk.To(ctx, d.Revision)`, `view, err := walk.To(ctx, d.Revision+1)`},
	}},
	{"capacity-each-scrape", "each scrape measures clusters that change", "./internal/handlers", "TestCapacity", []edit{
		{"internal/handlers/rest/capacity.go", `now.Sub(m.at) >= a.Limits.CapacityInterval`, `now.Sub(m.at) >= 0`},
	}},
	{"capacity-again", "another replica's measurement of a revision replaces the first", "./internal/store/sqlite", "TestCapacityView", []edit{
		{"internal/store/sqlcommon/logs.go", "\nON CONFLICT DO NOTHING", "\nON CONFLICT (cluster, revision, resource) DO UPDATE SET requested = excluded.requested"},
	}},
	{"scenario-departures", "a pod whose time is over goes on using its node", "./internal/scenario", "TestDepartures", []edit{
		{"internal/world/run.go", `return r.queue.f.Delete(e.Pod.Namespace, e.Pod.Name)`, `return nil`},
	}},
	{"scenario-first-difference", "the first difference is decided on the state after it", "./internal/scenario", "TestSimulate", []edit{
		{"internal/scenario/differ.go", `world.Limits{Attempts: k, `, `world.Limits{Attempts: k + 1, `},
	}},
	{"fit-evicts", "pods are evicted for replicas that are counted", "./internal/scenario", "TestFitEqualsBindingUntilUnschedulable", []edit{
		{"internal/scenario/fit.go", `o.NoPreemption = true`, `o.NoPreemption = false`},
	}},
	{"capacity-cordoned", "what is free on cordoned nodes counts as free", "./internal/scenario", "TestCapacity", []edit{
		{"internal/scenario/grid.go", `return !n.Unschedulable && n.Health.State != podlife.NodeNotReady`, `return n.Health.State != podlife.NodeNotReady`},
	}},
	{"drain-counts-late", "a pod that is evicted stays healthy for its budget", "./internal/scenario", "TestDrainKeepsBudgets", []edit{
		{"internal/world/leave.go", `w.budgets.changed(w.Fork, pod, -1)`, `w.budgets.changed(w.Fork, pod, 0)`},
	}},
	{"drain-counts-early", "a replacement counts as healthy before it is ready", "./internal/scenario", "TestDrain", []edit{
		{"internal/world/attach.go", `a.w.due.schedule(a.w.now+c.took, writes,`, `a.w.due.schedule(a.w.now+0*c.took, writes,`},
	}},
	{"drain-uncordoned", "a drained node takes the pods that leave it", "./internal/scenario", "TestDrain", []edit{
		{"internal/world/fork_nodes.go", `n.Spec.Unschedulable = true`, `n.Spec.Unschedulable = false`},
		{"internal/world/fork_nodes.go", `n.Spec.Taints = append(n.Spec.Taints, taint)`, `n.Spec.Taints = append(n.Spec.Taints[:0:0], n.Spec.Taints...)`},
	}},
	{"drain-set-early", "a StatefulSet's pod is created while the old one is still there", "./internal/scenario", "TestDrain", []edit{
		{"internal/world/pods.go", `case owner.Kind == "StatefulSet", owner.Kind == "DaemonSet":`, `case owner.Kind == "DaemonSet":`},
	}},
	{"drain-local-data", "local data is deleted without its flag", "./internal/scenario", "TestDrain", []edit{
		{"internal/scenario/drain_filters.go", `case hasLocalData(pod) && !q.DeleteEmptyDirData:`, `case hasLocalData(pod) && !q.DeleteEmptyDirData && false:`},
	}},
	{"find-leaves-traces", "a pod that was moved in vain is not put back", "./internal/scenario", "TestFindLeavesNoTrace", []edit{
		{"internal/world/fork_undo.go", `return f.walk.Changes().Put(pod)`, `return nil`},
	}},
	{"find-moves-others", "a node is emptied at the cost of pods on others", "./internal/scenario", "TestFindLeavesNoTrace", []edit{
		{"internal/scenario/drain_find.go", `case p.Cause == world.CausePreemption:`, `case p.Cause == world.CausePreemption && false:`},
	}},
	{"lose-all-at-once", "all nodes of a zone are tainted at once", "./internal/scenario", "TestLose", []edit{
		{"internal/world/nodezones.go", `z.next = w.now + z.every`, `z.next = w.now`},
	}},
	{"lose-ends-pods", "a pod on a dead node is gone after its grace period", "./internal/scenario", "TestLose", []edit{
		{"internal/world/leave.go", `case err == nil && !w.endsPods(n):`, `case err == nil && !w.endsPods(n) && false:`},
	}},
	{"sweep-shares-budgets", "the drain of one node uses up the budgets that the next one finds", "./internal/scenario", "TestSweepEqualsSingleQuestions", []edit{
		{"internal/world/budgets.go", `return f.of.budgets.copied(), nil`, `return f.of.budgets, nil`},
	}},
	{"sweep-ignores-stays", "a node can be lost on which a pod stays for good", "./internal/scenario", "TestSweepStays", []edit{
		{"internal/scenario/lose.go", `i.Why = l.stays`, `i.Why = ""`},
	}},
	{"sweep-forgets-warnings", "a sweep that goes on warns of nothing that came before", "./internal/scenario", "TestSweepGoesOn", []edit{
		{"internal/scenario/sweep.go", `s.on.Strangers.Add(part.Noted)`, `_ = part.Noted`},
	}},
	{"lose-whole-cluster", "all zones are lost, and pods are deleted all the same", "./internal/scenario", "TestLose", []edit{
		{"internal/world/nodezones.go", `all := full > 0 && full == zones`, `all := full > zones`},
	}},
	{"victims-at-once", "a preemption's victims are gone before their grace periods end", "./internal/scenario", "TestControllers", []edit{
		{"internal/world/world.go", `beside: of.Namespace != ""}, nil)`, `beside: of.Namespace != ""}, new(int64))`},
	}},
	{"sets-all-at-once", "a StatefulSet makes all of its pods at once", "./internal/scenario", "TestControllers", []edit{
		{"internal/world/statefulset.go", `s.ordered = set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement`, `s.ordered = false`},
		{"internal/world/statefulset.go", `name: k.Name, ordered: true,`, `name: k.Name,`},
	}},
	{"parallel-sets-in-order", "a Parallel StatefulSet makes its pods in order", "./internal/scenario", "TestControllers", []edit{
		{"internal/world/statefulset.go", `s.ordered = set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement`, `s.ordered = true`},
	}},
	{"sets-ready-is-available", "a StatefulSet goes on before minReadySeconds are over", "./internal/scenario", "TestControllers", []edit{
		{"internal/world/statefulset.go", `ready != nil && minReady > 0`, `ready != nil && minReady > 0 && false`},
	}},
	{"sets-over-sick-pods", "a StatefulSet makes pods above one that is not Ready", "./internal/scenario", "TestControllers", []edit{
		{"internal/world/statefulset.go", `case !IsReady(pod) && !AssumedReady(pod):`, `case !IsReady(pod) && !AssumedReady(pod) && false:`},
	}},
	{"jobs-never-fail", "a Job outlives its backoffLimit", "./internal/scenario", "TestControllers", []edit{
		{"internal/world/job.go", `if j.failed++; j.failed > j.limit {`, `if j.failed++; j.failed > j.limit && false {`},
	}},
	{"jobs-wait-ten-seconds", "a Job's back-off does not double", "./internal/scenario", "TestControllers", []edit{
		{"internal/world/job.go", `if d *= 2; d >= mostJobBackoff {`, `if d *= 1; d >= mostJobBackoff {`},
	}},
	{"jobs-count-early", "a Job counts pods that end, whatever its podReplacementPolicy", "./internal/scenario", "TestControllers", []edit{
		{"internal/world/job.go", `j.whenEnd && !gone`, `j.whenEnd && !gone && false`},
	}},
	{"jobs-ignore-nothing", "a Job's podFailurePolicy is not read", "./internal/scenario", "TestControllers", []edit{
		{"internal/world/job.go", `counted = false`, `counted = true`},
	}},
	{"pending-left-out", "pods that wait in the snapshot take no room", "./internal/scenario", "TestControllers", []edit{
		{"internal/scenario/disruption.go", `if err := w.Waits(); err != nil {`, `if err := error(nil); err != nil {`},
	}},
	{"ending-for-ever", "pods that were being deleted before keep their room", "./internal/scenario", "TestControllers", []edit{
		{"internal/scenario/disruption.go", `return &disruption{World: w, steps: steps.Of(ctx), throttled: throttled}, w.Endings()`, `return &disruption{World: w, steps: steps.Of(ctx), throttled: throttled}, nil`},
	}},
	{"binds-wake-nobody", "a pod that waits for another one's bind is not tried after it", "./internal/scenario", "TestBindsWake", []edit{
		{"internal/world/wakes.go", `r.last = e.n`, `r.last = 0 * e.n`},
	}},
	{"hints-unheard", "pods that wait are tried again after every event", "./internal/scenario", "TestHints", []edit{
		{"internal/world/queue.go", `return q.wakes(r) > e.seen || min(r.gained, r.ended) > e.seen`, `return q.f.heard(e.priority, e.seen) && r != nil`},
	}},
	{"flush-a-look-early", "a pod is tried again by time alone after five minutes and no look", "./internal/scenario", "TestHints", []edit{
		{"internal/world/turn.go", `/flushEvery*flushEvery + flushEvery`, `/flushEvery*flushEvery`},
	}},
	{"flush-in-vain", "a run without an end goes on for attempts that change nothing", "./internal/scenario", "TestHints", []edit{
		{"internal/world/wakes.go", `changes := r.Outcome != engine.UnschedulableOK ||`, `changes := true ||`},
	}},
	{"sleepers-forgotten", "pods that slept twice hear of nothing", "./internal/handlers", "TestPlayedByHand", []edit{
		{"internal/world/queue.go", `case r.asleep != q.sleeps:`, `case r.asleep == 0:`},
	}},
	{"passes-unordered", "pods that are moved back together stand as they were last tried", "./internal/handlers", "TestPlayedByHand", []edit{
		{"internal/world/turn.go", `return history{h.turn, h.passes.before}, true`, `return history{h.turn, nil}, true`},
	}},
	{"join-next-pass", "a pod that an attempt before its own helps has its turn in the next pass", "./internal/handlers", "TestPlayedByHand", []edit{
		{"internal/world/turn.go", `if p.order == 0 || p.events == q.f.events {`, `if p.order == 0 || p.events <= q.f.events {`},
	}},
	{"endings-unseen", "an attempt that a taint brings about is in vain though spreads count fewer pods by then", "./internal/handlers", "TestPlayedByHand", []edit{
		{"internal/world/wakes.go", `r.ended = e.n`, `r.ended = 0 * e.n`},
	}},
	{"volumes-everywhere", "a volume of one node is attached to two", "./internal/scenario", "TestVolumesStayAttached", []edit{
		{"internal/world/attach.go", `if pods > 0 && int(other) != row && why == "" {`, `if pods > 0 && int(other) != row && why == "" && false {`},
	}},
	{"volumes-detached-at-once", "a dead node gives up its volumes at once", "./internal/scenario", "TestVolumesStayAttached", []edit{
		{"internal/world/attach.go", `at > a.w.now {`, `at > a.w.now && false {`},
	}},
	{"lost-again", "a node that is lost already is lost again", "./internal/scenario", "TestLostBefore", []edit{
		{"internal/world/nodelifecycle.go", `if t.Key != corev1.TaintNodeUnreachable {`, `if t.Key != "" {`},
	}},
	{"dead-kubelet-starts", "a kubelet that has stopped starts pods until the node is given up", "./internal/scenario", "TestClock", []edit{
		{"internal/world/attach.go", `if a.w.Dead(pod.Spec.NodeName) {`, `if false {`},
		{"internal/world/world.go", `if c.pod != pod || w.Dead(pod.Spec.NodeName) {`, `if c.pod != pod {`},
	}},
	{"dead-kubelet-ends", "a kubelet that has stopped ends pods until the node is given up", "./internal/scenario", "TestClock", []edit{
		{"internal/world/leave.go", `return podlife.EndsPods(n) && (!w.Dead(n.Name) ||`, `return podlife.EndsPods(n) && (true ||`},
		{"internal/world/leave.go", `case w.Dead(rec.Node):`, `case false:`},
	}},
	{"returned-node-evicts", "a node that is back has its pods deleted all the same", "./internal/scenario", "TestClock", []edit{
		{"internal/world/tainteviction.go", `if w.counts[name] != count {`, `if false {`},
	}},
	{"drain-ends-before-its-last-try", "a drain is not tried again after the last event", "./internal/scenario", "TestDrainTriesAfterTheLastEvent", []edit{
		{"internal/scenario/clock.go", `at > changed+retrySeconds:`, `true:`},
	}},
	{"deleted-pod-counts-twice", "a pod that is being deleted counts again for its budget when its node is given up", "./internal/scenario", "TestDeletedPodsCountOnce", []edit{
		{"internal/world/kubelet.go", `was != is && p.DeletionTimestamp == nil {`, `was != is {`},
	}},
	{"preemption-reads-old-budgets", "a preemption reads the budgets of the snapshot", "./internal/scenario", "TestClock", []edit{
		{"internal/world/budgets.go", `if err := f.walk.Changes().Put(&now); err != nil {`, `if err := error(nil); err != nil || now.Name == "" {`},
	}},
	{"returned-node-forgets", "a node that is back does not end the pods that were deleted meanwhile", "./internal/scenario", "TestClock", []edit{
		{"internal/world/nodelifecycle.go", `w.due.schedule(w.now+time.Duration(after)*time.Second, writes,`, `w.due.schedule(w.now+3*time.Duration(after)*time.Second, writes,`},
	}},
	{"zones-frozen", "a zone's rate stays when more of its nodes are lost", "./internal/scenario", "TestZonesFollow", []edit{
		{"internal/world/nodezones.go", `if c.full = c.judge(); c.full && !was {`, `if c.full && !was {`},
	}},
	{"orphans-at-once", "PodGC deletes the pods of a removed node at once", "./internal/scenario", "TestClock", []edit{
		{"internal/world/leave.go", `const orphanSeconds = 60`, `const orphanSeconds = 0`},
	}},
	{"condemned-at-once", "an ordered set that is scaled down ends all pods at once", "./internal/scenario", "TestClock", []edit{
		{"internal/world/statefulset_scale.go", `if s.ordered {`, `if false {`},
	}},
	{"runs-for-good", "a pod that is to end by itself does not", "./internal/scenario", "TestClock", []edit{
		{"internal/world/world.go", `if c.runs > 0 {`, `if c.runs > 0 && false {`},
	}},
	{"drain-tries-for-good", "a drain that nothing lets go on keeps the clock running", "./internal/scenario", "TestClockEnds", []edit{
		{"internal/scenario/disruption.go", `if happens {`, `if true {`},
	}},
	{"drain-stops-at-refused", "a node that is refused stops the drain of those after it", "./internal/scenario", "TestClockDrainGoesOn", []edit{
		{"internal/scenario/draining.go", "\t\treturn x.next()\n\t}\n\tif out.Ended", "\t\tx.over = true\n\t\treturn nil\n\t}\n\tif out.Ended"},
	}},
	{"job-misses-success", "a Job does not hear of a pod that has succeeded", "./internal/scenario", "TestClockLeadsPods", []edit{
		{"internal/world/kubelet.go", `case ControlledBy(pod, "Job") && !failed:`, `case ControlledBy(pod, "Job") && false:`},
	}},
	{"crash-loop-heals", "a container that waits in back-off at the start of a scenario runs on once it starts", "./internal/scenario", "TestClockLeadsPods", []edit{
		{"internal/world/kubelet.go", `k.run.Crashes()`, `_ = k.run`},
	}},
	{"sidecar-outlives-work", "a sidecar is not stopped once the main containers are done", "./internal/scenario", "TestClockLeadsPods", []edit{
		{"internal/podlife/life_led.go", `&& !r.plan().mainsDone ||`, `||`},
	}},
	{"budget-misses-crash", "a budget does not hear of a pod whose container waits to start again", "./internal/scenario", "TestClockLeadsPods", []edit{
		{"internal/world/kubelet.go", `by = -1`, `by = 0`},
	}},
	{"blame-counts-the-pod", "a pod that is bound takes its own room in the history of its verdict", "./internal/blame", "TestRandomHistories", []edit{
		{"internal/revision/walk.go", `return eitherOf(before, after).key != w.apart.pod`, `return true`},
	}},
	{"blame-names-the-hidden", "what turned a verdict is named to callers who may not see it", "./internal/blame", "TestMasked", []edit{
		{"internal/blame/words.go", `if !w.sees(c.Kind, o.Key.Namespace) {`, `if false {`},
	}},
	{"blame-any-object", "of an upload the first object is blamed", "./internal/blame", "TestUploadNamesTheOne", []edit{
		{"internal/blame/find.go", `if len(changed) == 1 {`, `if changed = changed[:1]; true {`},
	}},
}
