package main

// trapFaults are faults of a cluster's life by the numbers of the list "a cluster's life: a hundred
// and one traps"; test/conformance/controllers/README.md has the rest of the numbers.
var trapFaults = []fault{
	{"cron-history-uncut", "a CronJob keeps all Jobs that are over", "./internal/scenario", "TestCronJobs", []edit{
		{"internal/world/cronjob.go", `list[:max(0, len(list)-int(keeps))]`, `list[:min(0, int(keeps))]`},
	}},
	{"cron-history-mixed", "Jobs that have failed count with those that have succeeded", "./internal/scenario", "TestCronJobs", []edit{
		{"internal/world/cronjob.go", `if j.broken == failed {`, `if !failed {`},
	}},
	{"trap-2-burst", "a client makes no calls at once beyond its rate", "./internal/scenario", "TestRates", []edit{
		{"internal/world/throttle.go", `at := c.next - time.Duration(c.burst)*c.every`, `at := c.next`},
	}},
	{"trap-2-eviction-calls", "a taint eviction takes one call", "./internal/scenario", "TestRates", []edit{
		{"internal/world/tainteviction.go", `const evictionCalls = 3`, `const evictionCalls = 1`},
	}},
	{"trap-2-binds", "the scheduler binds as fast as it decides", "./internal/scenario", "TestRates", []edit{
		{"internal/world/world.go", `second := w.Call(w.clients.scheduler, 1)`, `second := w.Seconds()`},
	}},
	{"trap-2-resized-amid", "a ReplicaSet amid a sync hears of another size", "./internal/scenario", "TestRates", []edit{
		{"internal/world/throttle.go", `if at <= w.Seconds() {`, `if true {`},
	}},
	{"trap-3-nodes-uncounted", "the choice among equal nodes is not counted as chance", "./internal/scenario", "TestChance", []edit{
		{"internal/world/attempt.go", `if r.Scored && f.o.Chance.Counts() {`, `if r.Scored && false {`},
	}},
	{"trap-3-salt-unread", "each run chooses the same of equal nodes", "./internal/scenario", "TestChanceRuns", []edit{
		{"internal/world/attempt.go", `if !f.o.Chance.Salted() {`, `if true {`},
	}},
	{"trap-3-salt-always", "a run that counts what is chance chooses otherwise than one that does not", "./internal/scenario", "TestChanceRuns", []edit{
		{"internal/world/chance.go", `return d != nil && d.salt != 0`, `return d != nil`},
	}},
	{"trap-24-uids-known", "UIDs of pods that come later count as known", "./internal/scenario", "TestChance", []edit{
		{"internal/world/replicaset_rank.go", `return (a.random || b.random) &&`, `return false &&`},
	}},
	{"trap-3-all-taken", "taking all of several equal pods counts as a choice", "./internal/scenario", "TestChance", []edit{
		{"internal/world/chance.go", `chosen >= among {`, `chosen > among {`},
	}},
	{"trap-10-fit-hears-no-node", "a pod rejected for resources does not hear of a node that has grown", "./internal/engine", "TestWakes", []edit{
		{"internal/engine/rules/node_resources_fit_hint.go", `engine.Add | engine.UpdateNodeAllocatable`, `engine.Add`},
	}},
	{"trap-11-taints-wake-few", "a plugin that hears of new nodes does not hear of taints", "./internal/engine", "TestWakes", []edit{
		{"internal/engine/hint.go", `if of&Add != 0 && of&UpdateNodeTaint == 0 {`, `if false {`},
	}},
	{"trap-12-over-keeps-room", "a pod that is over wakes nobody", "./internal/scenario", "TestClock", []edit{
		{"internal/world/kubelet.go", "\t\treturn w.Put(w.ctx, p)\n", "\t\treturn w.putQuietly(w.ctx, p)\n"},
	}},
	{"trap-12-terminating-wakes", "the beginning of a deletion wakes those that wait", "./internal/scenario", "TestClock", []edit{
		{"internal/world/leave.go", `return w.putQuietly(w.ctx, p)`, `return w.Put(w.ctx, p)`},
	}},
	{"trap-14-gates-unread", "a pod with gates is tried", "./internal/scenario", "TestClock", []edit{
		{"internal/world/queue.go", `e.tries < q.l.Tries) && !q.gated(e.Pod)`, `e.tries < q.l.Tries)`},
	}},
	{"trap-15-preemptor-forgotten", "a preemptor is not tried again once its victims are gone", "./internal/scenario", "TestSamplesLoseVictims", []edit{
		{"internal/world/queue.go", `e.seen = before // its`, `_ = before // its`},
	}},
	{"trap-17-nomination-kept", "a pod without a candidate keeps its nomination", "./internal/scenario", "TestTrapsOfQueue", []edit{
		{"internal/world/attempt.go", `if clears && pod`, `if clears && false && pod`},
	}},
	{"trap-17-nomination-lost", "a pod that waits for its victims loses its nomination", "./internal/scenario", "TestTrapsOfQueue", []edit{
		{"internal/world/attempt.go", `if clears && pod`, `if (clears || true) && pod`},
	}},
	{"trap-21-terminating-counts", "a pod that is being deleted counts for its ReplicaSet", "./internal/scenario", "TestUpstreamsRollouts", []edit{
		{"internal/world/replicaset.go", `return p.DeletionTimestamp == nil && !hasEnded(p)`, `return !hasEnded(p)`},
	}},
	{"trap-21-replaced-once-gone", "a ReplicaSet makes another pod once the old one is gone", "./internal/scenario", "TestClock", []edit{
		{"internal/world/pods.go", "\treturn atDeletion, \"\"\n", "\treturn onceGone, \"\"\n"},
	}},
	{"trap-22-cost-unread", "a scale-down does not read pod-deletion-cost", "./internal/scenario", "TestUpstreamsRollouts", []edit{
		{"internal/world/replicaset_rank.go", `cmp.Compare(deletionCost(a.Pod), deletionCost(b.Pod)),`, `0,`},
	}},
	{"trap-22-ready-first", "a scale-down takes ready pods first", "./internal/scenario", "TestScaleDownOrder", []edit{
		{"internal/world/replicaset_rank.go", "\t\t\tfalseFirst(a.Ready, b.Ready),\n", "\t\t\tfalseFirst(b.Ready, a.Ready),\n"},
	}},
	{"trap-22-unbound-last", "a scale-down takes pods without a node last", "./internal/scenario", "TestScaleDownOrder", []edit{
		{"internal/world/replicaset_rank.go", "\t\t\tfalseFirst(a.Node != \"\", b.Node != \"\"),\n", "\t\t\tfalseFirst(b.Node != \"\", a.Node != \"\"),\n"},
	}},
	{"trap-23-rank-without-owner", "pods of a ReplicaSet without an owner are ranked by their nodes", "./internal/scenario", "TestScaleDownRank", []edit{
		{"internal/world/replicaset.go", `if top == (state.Owner{Kind: kindReplicaSet, Name: s.Name}) {`, `if false {`},
	}},
	{"trap-24-ages-by-seconds", "a scale-down compares ages by seconds", "./internal/scenario", "TestScaleDownOrder", []edit{
		{"internal/world/replicaset_rank.go", `return int64(math.Log2(float64(age)))`, `return int64(math.Log2(float64(1))) + int64(age)`},
	}},
	{"trap-26-name-taken", "a controller makes a pod of a name that is taken", "./internal/scenario", "TestJobFields", []edit{
		{"internal/world/pods.go", `i == 2 && pod.UID != "" || !free(p.Name); i++`, `i == 2 && (pod.UID != "" || !free(p.Name)); i++`},
	}},
	{"trap-27-unavailable-rounded-up", "a rollout has more unavailable pods than its share", "./internal/scenario", "TestUpstreamsRollouts", []edit{
		{"internal/world/deployment.go", `scaled(u.MaxUnavailable, replicas, false)`, `scaled(u.MaxUnavailable, replicas, true)`},
	}},
	{"trap-27-stuck-at-zero", "a rollout with neither surge nor unavailable pods stands still", "./internal/scenario", "TestUpstreamsRollouts", []edit{
		{"internal/world/deployment.go", `if d.Surge == 0 && d.Unavailable == 0 {`, `if d.Surge == 0 && d.Unavailable == 0 && false {`},
	}},
	{"trap-29-new-ones-count", "new pods that are not available count as room for old ones to go", "./internal/scenario", "TestUpstreamsRollouts", []edit{
		{"internal/world/deployment.go", ` - (d.New.Replicas - sum)`, ``},
	}},
	{"trap-30-share-cut", "a share of a scale amid a rollout is cut, not rounded", "./internal/scenario", "TestScaleAmidRollOut", []edit{
		{"internal/world/deployment.go", `int(math.Round(float64(s.Replicas*(to+d.Surge))/float64(most)))`, `int(math.Floor(float64(s.Replicas*(to+d.Surge))/float64(most)))`},
	}},
	{"trap-30-smallest-first", "what is left of a scale amid a rollout goes to the smallest set", "./internal/scenario", "TestScaleAmidRollOut", []edit{
		{"internal/world/deployment.go", `cmp.Compare(b.Replicas, a.Replicas), newer`, `cmp.Compare(a.Replicas, b.Replicas), newer`},
	}},
	{"trap-31-deadline-early", "a rollout exceeds its deadline in the second in which it ends", "./internal/scenario", "TestRollOutStalls", []edit{
		{"internal/world/deployment.go", `return d.progressed + int64(*limit) + 1, true`, `return d.progressed + int64(*limit), true`},
	}},
	{"trap-31-progress-unseen", "a pod that is available does not renew the deadline", "./internal/scenario", "TestRollOutGoesOn", []edit{
		{"internal/world/deployment.go", `c.updated > b.updated || c.old < b.old || c.ready > b.ready || c.available > b.available {`, `c.updated > b.updated && false || b == (counts{}) {`},
	}},
	{"trap-32-recreate-early", "Recreate makes new pods while old ones are ending", "./internal/scenario", "TestRecreateOnADeadNode", []edit{
		{"internal/world/deployment.go", `func(s *ReplicaSet) bool { return len(s.pods) > 0 }`, `func(s *ReplicaSet) bool { return len(s.active()) > 0 }`},
	}},
	{"trap-34-updates-at-once", "a StatefulSet updates pods before the one above is available", "./internal/scenario", "TestTrapsOfSets", []edit{
		{"internal/world/statefulset_update.go", `if why, until := c.blocks(s, i); why != "" {`, `if why, until := c.blocks(s, i); why != "" && until < 0 {`},
	}},
	{"trap-35-over-ending-pods", "a StatefulSet goes on above a pod that is being deleted", "./internal/scenario", "TestTrapsOfSets", []edit{
		{"internal/world/statefulset.go", `case pod.DeletionTimestamp != nil:`, `case pod.DeletionTimestamp != nil && !IsReady(pod):`},
	}},
	{"trap-35-lowest-first", "a StatefulSet that is scaled down ends the lowest pod first", "./internal/scenario", "TestClock", []edit{
		{"internal/world/statefulset_scale.go", `range slices.Backward(slices.Sorted(maps.Keys(s.places)))`, `range slices.All(slices.Sorted(maps.Keys(s.places)))`},
	}},
	{"trap-36-sick-below-blocks", "a sick pod below holds up the update of a Parallel set", "./internal/scenario", "TestTrapsOfSets", []edit{
		{"internal/world/statefulset.go", `why == "" || !s.ordered {`, `why == "" || !s.ordered && s.update == nil {`},
	}},
	{"trap-37-partition-from-zero", "a partition counts from ordinal 0", "./internal/scenario", "TestTrapsOfSets", []edit{
		{"internal/world/statefulset_update.go", `i >= s.first+s.update.partition`, `i >= s.update.partition`},
	}},
	{"trap-37-lost-pod-is-old", "a pod that is lost amid an update comes back by the old template", "./internal/scenario", "TestUpdateSet", []edit{
		{"internal/world/statefulset.go", `p.lost, s.takes(i)
`, `p.lost, s.takes(i) && (p.lost == nil || p.lost.Cause == CauseUpdate)
`},
	}},
	{"trap-38-over-stays", "a StatefulSet leaves a pod that has failed", "./internal/scenario", "TestSetOfSickPods", []edit{
		{"internal/world/statefulset.go", `p == nil || !p.Terminal {`, `p == nil || !p.Terminal || true {`},
	}},
	{"trap-40-no-schedule-ends", "a NoSchedule taint ends a daemon pod", "./internal/scenario", "TestDaemonNodes", []edit{
		{"internal/world/daemonset.go", `stay && t.Effect != corev1.TaintEffectNoExecute`, `stay && t.Effect == ""`},
	}},
	{"trap-40-selector-unread", "daemon pods come to nodes that their affinity leaves out", "./internal/scenario", "TestDaemonNodes", []edit{
		{"internal/world/daemonset.go", `err != nil || !ok {`, `err != nil && !ok {`},
	}},
	{"trap-41-cordon-keeps-daemons", "a daemon pod does not tolerate a cordon", "./internal/kube/object", "TestPodOfWorkload", []edit{
		{"internal/kube/object/workload.go", "\t\t\t{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule},\n", ""},
	}},
	{"trap-43-rounded-down", "a share of unavailable daemon pods is rounded down", "./internal/scenario", "TestUpdateDaemons", []edit{
		{"internal/world/daemonset_update.go", `scaled(r.MaxUnavailable, desired, true)`, `scaled(r.MaxUnavailable, desired, false)`},
	}},
	{"trap-43-ending-pod-free", "a daemon pod that is being deleted takes nothing of the number", "./internal/scenario", "TestUpdateDaemons", []edit{
		{"internal/world/daemonset_update.go", "(fresh == nil) == (old == nil):\n\t\t\tn++\n", "(fresh == nil) == (old == nil):\n"},
	}},
	{"trap-43-sick-ones-wait", "old daemon pods that are not available wait for the number", "./internal/scenario", "TestUpdateDaemons", []edit{
		{"internal/world/daemonset_update.go", "\t\t\tdoomed = append(doomed, old)\n\t\t\tn++\n", "\t\t\tmay = append(may, old)\n\t\t\tn++\n"},
	}},
	{"trap-44-no-backoff", "a daemon pod that fails is made again at once each time", "./internal/scenario", "TestDaemonNodes", []edit{
		{"internal/world/daemonset_sync.go", `if p.backoff > 0 && now-p.failed < p.backoff {`, `if p.backoff > 0 && now-p.failed < 0 {`},
	}},
	{"trap-46-beyond-completions", "a Job runs more pods than it has to complete", "./internal/scenario", "TestCronJobs", []edit{
		{"internal/world/job_sync.go", `min(int(*j.spec.Parallelism), int(*j.spec.Completions-j.succeeded))`, `min(int(*j.spec.Parallelism), int(*j.spec.Completions))`},
	}},
	{"trap-46-oldest-first", "a Job that is scaled down ends its oldest pods", "./internal/scenario", "TestJobFields", []edit{
		{"internal/world/replicaset_rank.go", `return cmp.Compare(b.Since, a.Since)`, `return cmp.Compare(a.Since, b.Since)`},
	}},
	{"trap-46-index-again", "a Job makes a pod of an index that has succeeded", "./internal/scenario", "TestJobFields", []edit{
		{"internal/world/job_sync.go", `if taken[i] || j.done[i] || j.lapsed[i] {`, `if taken[i] || j.lapsed[i] {`},
	}},
	{"trap-47-success-unheard", "a success does not end a Job's back-off", "./internal/scenario", "TestJobFields", []edit{
		{"internal/world/job.go", `j.succeeded, j.inRow, j.until = j.succeeded+1, 0, 0`, `j.succeeded = j.succeeded + 1`},
	}},
	{"trap-47-policy-by-default", "a Job with a podFailurePolicy replaces pods that are ending", "./internal/scenario", "TestControllers", []edit{
		{"internal/world/job_sync.go", `policy == nil && s.PodFailurePolicy != nil`, `policy == nil && s.PodFailurePolicy != nil && false`},
	}},
	{"trap-48-one-restart-more", "a Job's containers may be restarted once more than its limit", "./internal/scenario", "TestClockLeadsPods", []edit{
		{"internal/world/job.go", `if sum < max(j.limit, 1) {`, `if sum <= max(j.limit, 1) {`},
	}},
	{"trap-49-limit-of-all", "the default backoffLimit counts for a Job with one per index", "./internal/scenario", "TestTrapsOfJobs", []edit{
		{"internal/world/job_sync.go", `j.limit = math.MaxInt32 // pkg`, `_ = math.MaxInt32 // pkg`},
	}},
	{"trap-49-zero-matches", "exit code 0 matches a rule of a Job", "./internal/scenario", "TestJobFields", []edit{
		{"internal/world/job.go", `end != nil && end.ExitCode != 0 && (rule`, `end != nil && (rule`},
	}},
	{"trap-49-last-rule", "the last rule of a podFailurePolicy that matches decides", "./internal/scenario", "TestJobFields", []edit{
		{"internal/world/job.go", `for i := range j.spec.PodFailurePolicy.Rules {`, `for i := len(j.spec.PodFailurePolicy.Rules) - 1; i >= 0; i-- {`},
	}},
	{"trap-50-suspended-runs", "a Job that is suspended keeps its pods", "./internal/scenario", "TestJobFields", []edit{
		{"internal/world/job_sync.go", "\tcase j.suspended():\n\t\treturn 0\n", "\tcase j.suspended():\n\t\treturn active\n"},
	}},
	{"trap-50-deadline-goes-on", "the time in which a Job was suspended counts for its deadline", "./internal/scenario", "TestJobFields", []edit{
		{"internal/world/job.go", "\tif was && !j.suspended() {\n\t\tj.began = c.w.now\n", "\tif was && !j.suspended() {\n\t\tj.began += 0\n"},
	}},
	{"trap-50-over-before-its-pods", "a Job is over while its pods are ending", "./internal/scenario", "TestJobFields", []edit{
		{"internal/world/job_sync.go", `|| len(c.active(j)) > 0 || len(j.ending) > 0 {`, `|| len(c.active(j)) > 0 {`},
	}},
	{"trap-51-ending-is-healthy", "a pod that is being deleted counts as healthy", "./internal/scenario", "TestTrapsOfBudgets", []edit{
		{"internal/world/budgets.go", `if pods++; IsReady(p) && p.DeletionTimestamp == nil {`, `if pods++; IsReady(p) {`},
	}},
	{"trap-52-rounded-down", "a budget's percentage is rounded down", "./internal/scenario", "TestBudgetChanges", []edit{
		{"internal/world/budgets.go", `int(s.ExpectedPods), true)`, `int(s.ExpectedPods), false)`},
	}},
	{"trap-52-pods-not-replicas", "a budget of a share counts pods, not what their owners want", "./internal/scenario", "TestScaleUnderBudget", []edit{
		{"internal/world/budgets.go", "\t\ts.ExpectedPods += by\n", "\t\ts.ExpectedPods += 0 * by\n"},
	}},
	{"trap-53-failed-sync-follows", "a budget that cannot be worked out follows its pods", "./internal/scenario", "TestBudgetChanges", []edit{
		{"internal/world/budgets.go", `follows := s.DisruptionsAllowed == max(0, s.CurrentHealthy-s.DesiredHealthy) && s.ExpectedPods > 0`, `follows := true`},
	}},
	{"trap-55-pending-is-budgeted", "the eviction of a pod that is Pending needs its budget", "./internal/podlife", "TestEvictionAPI", []edit{
		{"internal/podlife/eviction_api.go", `phase == string(corev1.PodPending) || p.DeletionTimestamp`, `phase == "" || p.DeletionTimestamp`},
	}},
	{"trap-55-unhealthy-always", "unhealthyPodEvictionPolicy AlwaysAllow is not read", "./internal/podlife", "TestEvictionAPI", []edit{
		{"internal/podlife/eviction_api.go", `policy != nil && *policy == policyv1.AlwaysAllow {`, `policy != nil && false {`},
	}},
	{"trap-55-none-wanted", "a pod that is not ready may go where a budget wants no healthy pod", "./internal/podlife", "TestEvictionAPI", []edit{
		{"internal/podlife/eviction_api.go", ` && b.Status.DesiredHealthy > 0 {`, ` {`},
	}},
	{"trap-56-first-of-two", "of two budgets the first one decides", "./internal/podlife", "TestEvictionAPI", []edit{
		{"internal/podlife/eviction_api.go", "\tcase 1:\n\tdefault:\n", "\tcase 1, 2:\n\tdefault:\n"},
	}},
	{"trap-56-stale-is-read", "a budget is read that its controller has not seen", "./internal/podlife", "TestEvictionAPI", []edit{
		{"internal/podlife/eviction_api.go", `case s.ObservedGeneration < b.Generation:`, `case s.ObservedGeneration < 0:`},
	}},
	{"trap-61-cordoned-is-no-domain", "a cordoned node is no domain of spreads", "./internal/scenario", "TestDrain", []edit{
		{"internal/engine/rules/pod_topology_spread_constraint.go", "\tif c.honorTaints {\n", "\tif true {\n"},
	}},
	{"trap-62-given-up-early", "a node is given up 40 seconds after its last sign", "./internal/scenario", "TestClock", []edit{
		{"internal/world/nodezones.go", `Grace: 50 * time.Second`, `Grace: 40 * time.Second`},
	}},
	{"trap-63-stay-ready", "pods of a dead node stay Ready", "./internal/scenario", "TestClock", []edit{
		{"internal/world/nodelifecycle.go", "\t\t\treturn c.w.unready(pod)\n", "\t\t\treturn nil\n"},
	}},
	{"trap-63-still-placed", "pods are placed on a node that was given up", "./internal/scenario", "TestTrapsOfQueue", []edit{
		{"internal/world/nodelifecycle.go", `corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule, TimeAdded`, `corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectPreferNoSchedule, TimeAdded`},
	}},
	{"trap-64-region-unread", "zones of one name in two regions share a rate", "./internal/scenario", "TestLose", []edit{
		{"internal/world/nodezones.go", `return region + ":" + zone`, `return zone`},
	}},
	{"trap-65-two-are-partial", "two lost nodes are a partial disruption", "./internal/scenario", "TestLose", []edit{
		{"internal/world/nodezones.go", `partial := z.NotReady > 2 && share`, `partial := z.NotReady > 0 && share`},
	}},
	{"trap-65-small-zone", "nodes of a small zone are tainted in a partial disruption", "./internal/scenario", "TestLose", []edit{
		{"internal/world/nodezones.go", `case partial && int64(z.Nodes) > r.LargeZone:`, `case partial && z.Nodes > 0:`},
	}},
	{"trap-65-slow-when-full", "a zone that is lost as a whole is tainted slowly", "./internal/scenario", "TestLose", []edit{
		{"internal/world/nodezones.go", `z.State, z.every = zoneFull, r.Normal`, `z.State, z.every = zoneFull, r.Partial`},
	}},
	{"trap-66-count-is-moved", "a second taint begins a pod's count anew", "./internal/scenario", "TestClock", []edit{
		{"internal/world/tainteviction.go", `case runs != nil && runs.since < w.now && end.TolerationSeconds != nil:`, `case runs != nil && runs.since < 0 && end.TolerationSeconds != nil:`},
	}},
	{"trap-66-count-goes-on", "a pod is deleted for a taint that is off again", "./internal/scenario", "TestClock", []edit{
		{"internal/world/tainteviction.go", "\tcase end.At == nil:\n\t\tw.setCount(name, nil)\n", "\tcase end.At == nil:\n"},
	}},
	{"trap-66-last-toleration", "the last toleration that matches a taint counts", "./internal/podlife", "TestDeletionByNode", []edit{
		{"internal/podlife/taint_eviction.go", `for i := range tolerations {`, `for i := len(tolerations) - 1; i >= 0; i-- {`},
	}},
	{"trap-66-longest", "of several taints the longest toleration counts", "./internal/podlife", "TestDeletionByNode", []edit{
		{"internal/podlife/taint_eviction.go", `seconds < *out.seconds {`, `seconds > *out.seconds {`},
	}},
	{"trap-67-no-key-is-none", "a toleration without a key does not keep the default ones away", "./internal/podlife", "TestAddTolerationSeconds", []edit{
		{"internal/podlife/taint_eviction.go", `(t.Key == key || t.Key == "")`, `(t.Key == key)`},
	}},
	{"trap-69-next-pass-late", "PodGC passes every 200 seconds", "./internal/scenario", "TestClock", []edit{
		{"internal/world/leave.go", `const passSeconds = 20`, `const passSeconds = 200`},
	}},
	{"trap-70-taints-stay", "a node that is back keeps its taints", "./internal/scenario", "TestClock", []edit{
		{"internal/world/nodelifecycle.go", `return t.Key == corev1.TaintNodeUnreachable || t.Key == corev1.TaintNodeNotReady`, `return t.Key == corev1.TaintNodeNotReady`},
	}},
	{"trap-70-not-ready-again", "pods of a node that is back stay not ready", "./internal/scenario", "TestClock", []edit{
		{"internal/world/nodelifecycle.go", `case gaveUp && w.unreadied[name]:`, `case false:`},
	}},
	{"trap-72-ending-is-ready", "a pod that is being deleted is a ready endpoint", "./internal/podlife", "TestEndpointsOfTheDying", []edit{
		{"internal/podlife/termination_end.go", `w.out.Endpoints = Endpoints{Serving: w.ready(), Terminating: true, Detail: "not`, `w.out.Endpoints = Endpoints{Ready: w.ready(), Serving: w.ready(), Terminating: true, Detail: "not`},
	}},
	{"trap-77-defaults-kept", "a threshold that is set keeps the others' defaults", "./internal/podlife", "TestNodePressure", []edit{
		{"internal/podlife/pressure_config.go", `case c.MergeDefaultEvictionSettings:`, `case true:`},
	}},
	{"trap-78-condition-ends-at-once", "a pressure condition ends with the pressure", "./internal/podlife", "TestNodePressure", []edit{
		{"internal/podlife/pressure_config.go", "\ttransition = 5 * time.Minute\n\tif text", "\ttransition = time.Second\n\tif text"},
	}},
	{"trap-78-soft-at-once", "a soft threshold acts at once", "./internal/podlife", "TestNodePressure", []edit{
		{"internal/podlife/pressure.go", `if at.Sub(now[i]) >= w.lines[i].grace {`, `if at.Sub(now[i]) >= 0 {`},
	}},
	{"trap-78-no-reclaim", "a threshold ends at its value, whatever is to be reclaimed", "./internal/podlife", "TestNodePressure", []edit{
		{"internal/podlife/pressure.go", `!(w.unresolved[i] && w.met(t, true))`, `!(w.unresolved[i] && w.met(t, false))`},
	}},
	{"trap-79-evicts-before-cleaning", "the kubelet evicts before it cleans its disk", "./internal/podlife", "TestNodePressure", []edit{
		{"internal/podlife/pressure.go", `if w.reclaim(t.signal) {`, `if w.reclaim(t.signal) && false {`},
	}},
	{"trap-79-next-pass-late", "after an eviction the kubelet waits for its next pass", "./internal/podlife", "TestNodePressure", []edit{
		{"internal/podlife/pressure.go", `return at.Add(took + cleanupPoll), true`, `return at.Add(took + monitoringInterval), true`},
	}},
	{"trap-81-below-all", "a pod below all shares of a shutdown has the last one", "./internal/podlife", "TestShutdownShares", []edit{
		{"internal/podlife/termination_shutdown.go", `if at == len(list) || at > 0 && list[at].Priority > priority {`, `if at == 0 && list[at].Priority > priority {
		at = len(list) - 1
	} else if at == len(list) || at > 0 && list[at].Priority > priority {`},
	}},
	{"trap-82-bind-without-labels", "a bind copies no label of its node", "./internal/scenario", "TestTrapsOfQueue", []edit{
		{"internal/world/attempt.go", `object.WithTopology(revision.Bound(made.Pod(pod), at.Node), labels)`, `object.WithTopology(revision.Bound(made.Pod(pod), at.Node), nil)`},
		{"internal/world/attempt.go", "\tlabels := r.Nodes().Node(r.Row).Labels\n", ""},
	}},
	{"trap-83-quota-unread", "a quota lets every pod in", "./internal/scenario", "TestQuotas", []edit{
		{"internal/world/create.go", "\tcase why != \"\":\n\t\tw.quotas.hold(p, rec, why)\n", "\tcase why != \"\" && false:\n\t\tw.quotas.hold(p, rec, why)\n"},
	}},
	{"trap-83-no-doubling", "a controller whose pod a quota refuses tries again at one pace", "./internal/scenario", "TestQuotas", []edit{
		{"internal/world/quota.go", `d = min(2*d, most)`, `d = min(d, most)`},
	}},
	{"trap-84-no-claims", "nobody makes the claims of ephemeral volumes", "./internal/scenario", "TestFitMakesClaims", []edit{
		{"internal/world/claims.go", `if v.Ephemeral == nil || v.Ephemeral.VolumeClaimTemplate == nil {`, `if v.Ephemeral == nil || true {`},
	}},
	{"trap-85-pods-of-a-deleted-job", "a Job that is deleted leaves its pods", "./internal/scenario", "TestCronJobs", []edit{
		{"internal/world/job_sync.go", `case p == nil || OwnerOf(p) != "Job/"+j.key.Name:`, `case p == nil || OwnerOf(p) != "":`},
	}},
	{"trap-89-emptied-node-stays", "a node that is removed once it is drained stays a domain", "./internal/scenario", "TestDrain", []edit{
		{"internal/scenario/draining.go", "\t\terr = d.remove(out.Name)\n", "\t\terr = nil\n"},
	}},
	{"trap-91-without-daemons", "a copied node comes without daemon pods", "./internal/scenario", "TestEdits", []edit{
		{"internal/scenario/nodes.go", "\t\tif world.ControlledBy(pod, \"DaemonSet\") {\n", "\t\tif false {\n"},
	}},
	{"trap-93-replaced-twice", "an evicted pod that is replaced already gets another successor", "./internal/scenario", "TestDrain", []edit{
		{"internal/world/pods.go", "\tcase pod.DeletionTimestamp != nil:\n\t\treturn noSuccessor", "\tcase false:\n\t\treturn noSuccessor"},
	}},
	{"trap-95-bare-pods-return", "a pod without a controller counts as coming back", "./internal/scenario", "TestDrain", []edit{
		{"internal/world/pods.go", `return noSuccessor, "no controller`, `return atDeletion, "no controller`},
	}},
	{"trap-99-taints-unplayed", "taints that are there at the start count from the start", "./internal/scenario", "TestLostBefore", []edit{
		{"internal/podlife/taint_eviction.go", "\tif played {\n", "\tif played && false {\n"},
	}},
}
