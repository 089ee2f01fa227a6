package main

// scenarioFaults are faults of what comes next in a cluster.
var scenarioFaults = []fault{
	{"surge-rounded-down", "a rollout of 25 % surge has none for three pods", "./internal/scenario", "TestUpstreamsRollouts", []edit{
		{"internal/scenario/rollout_base.go", `scaled(u.MaxSurge, r.replicas, true)`, `scaled(u.MaxSurge, r.replicas, false)`},
	}},
	{"available-before-sick", "a rollout takes available pods while there are others that are not", "./internal/scenario", "TestUpstreamsRollouts", []edit{
		{"internal/scenario/rollout_run.go", `n := min(room, s.spec-available[i]); n > 0`, `n := min(room, s.spec-available[i]); n > 0 && false`},
	}},
	{"crowded-node-forgotten", "a scale-down leaves two pods on one node", "./internal/scenario", "TestUpstreamsRollouts", []edit{
		{"internal/scenario/replicaset_order.go", `cmp.Compare(on[nodeB], on[nodeA]),`, `cmp.Compare(on[nodeA], on[nodeA]),`},
	}},
	{"daemons-forgotten", "new nodes are counted without their daemon pods", "./internal/scenario", "TestPools", []edit{
		{"internal/scenario/pools_search.go", `out, err := r.f.Run(ctx, e.Daemons, Limits{}, nil)`, `out, err := r.f.Run(ctx, nil, Limits{}, nil)`},
	}},
	{"scenario-order", "pods are tried as they come, whatever their priority", "./internal/scenario", "TestQueueOrder", []edit{
		{"internal/scenario/run.go", `return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.order, b.order))`, `return cmp.Compare(a.order, b.order)`},
	}},
	{"scenario-no-retry", "a pod that failed is not tried again after a change", "./internal/scenario", "TestRunEqualsAttemptsAskedAlone", []edit{
		{"internal/scenario/run.go", `!(e.failed && e.seen == r.f.changes)`, `!e.failed`},
	}},
	{"scenario-shape-for-ever", "a shape that fitted nowhere is not asked again after a change", "./internal/scenario", "TestRunEqualsAttemptsAskedAlone", []edit{
		{"internal/scenario/run.go", `ok && v.changes == r.f.changes {`, `ok && v.changes <= r.f.changes {`},
	}},
	{"scenario-wait-from-the-start", "a pod's wait counts attempts before its arrival", "./internal/scenario", "TestDepartures", []edit{
		{"internal/scenario/run.go", `at.Waited = r.out.Attempts - e.came`, `at.Waited = r.out.Attempts`},
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
		{"internal/scenario/run.go", `return r.f.Delete(e.Pod.Namespace, e.Pod.Name)`, `return nil`},
	}},
	{"scenario-first-difference", "the first difference is decided on the state after it", "./internal/scenario", "TestSimulate", []edit{
		{"internal/scenario/differ.go", `Limits{Attempts: k, `, `Limits{Attempts: k + 1, `},
	}},
	{"fit-evicts", "pods are evicted for replicas that are counted", "./internal/scenario", "TestFitEqualsBindingUntilUnschedulable", []edit{
		{"internal/scenario/fit.go", `o.NoPreemption = true`, `o.NoPreemption = false`},
	}},
	{"capacity-cordoned", "what is free on cordoned nodes counts as free", "./internal/scenario", "TestCapacity", []edit{
		{"internal/scenario/grid.go", `return !n.Unschedulable && n.Health.State != podlife.NodeNotReady`, `return n.Health.State != podlife.NodeNotReady`},
	}},
	{"drain-counts-late", "a pod that is evicted stays healthy for its budget", "./internal/scenario", "TestDrainKeepsBudgets", []edit{
		{"internal/scenario/disruption.go", `d.budgets.changed(d.f, pod, -1)`, `d.budgets.changed(d.f, pod, 0)`},
	}},
	{"drain-counts-early", "a replacement counts as healthy before it is ready", "./internal/scenario", "TestDrain", []edit{
		{"internal/scenario/disruption.go", `d.events.schedule(d.now+c.took, func() error { return d.started(c, pod) })`, `d.events.schedule(d.now+0*c.took, func() error { return d.started(c, pod) })`},
	}},
	{"drain-uncordoned", "a drained node takes the pods that leave it", "./internal/scenario", "TestDrain", []edit{
		{"internal/scenario/fork_nodes.go", `n.Spec.Unschedulable = true`, `n.Spec.Unschedulable = false`},
		{"internal/scenario/fork_nodes.go", `n.Spec.Taints = append(n.Spec.Taints, taint)`, `n.Spec.Taints = append(n.Spec.Taints[:0:0], n.Spec.Taints...)`},
	}},
	{"drain-set-early", "a StatefulSet's pod is created while the old one is still there", "./internal/scenario", "TestDrain", []edit{
		{"internal/scenario/owners.go", `case owner.Kind == "StatefulSet", owner.Kind == "DaemonSet":`, `case owner.Kind == "DaemonSet":`},
	}},
	{"drain-local-data", "local data is deleted without its flag", "./internal/scenario", "TestDrain", []edit{
		{"internal/scenario/drain_filters.go", `case hasLocalData(pod) && !q.DeleteEmptyDirData:`, `case hasLocalData(pod) && !q.DeleteEmptyDirData && false:`},
	}},
	{"find-leaves-traces", "a pod that was moved in vain is not put back", "./internal/scenario", "TestFindLeavesNoTrace", []edit{
		{"internal/scenario/fork_undo.go", `return f.walk.Changes().Put(pod)`, `return nil`},
	}},
	{"find-moves-others", "a node is emptied at the cost of pods on others", "./internal/scenario", "TestFindLeavesNoTrace", []edit{
		{"internal/scenario/drain_find.go", `case p.Cause == causePreemption:`, `case p.Cause == causePreemption && false:`},
	}},
	{"lose-all-at-once", "all nodes of a zone are tainted at once", "./internal/scenario", "TestLose", []edit{
		{"internal/scenario/lose.go", `n.NotReadyAfterSeconds + int64(i)*z.every`, `n.NotReadyAfterSeconds + 0*int64(i)*z.every`},
	}},
	{"lose-ends-pods", "a pod on a dead node is gone after its grace period", "./internal/scenario", "TestLose", []edit{
		{"internal/scenario/lose.go", `&Disrupted{Cause: causeTaint, Rule: rule}, -1)`, `&Disrupted{Cause: causeTaint, Rule: rule}, 30)`},
	}},
	{"lose-whole-cluster", "all zones are lost, and pods are deleted all the same", "./internal/scenario", "TestLose", []edit{
		{"internal/scenario/lose_zones.go", `if full > 0 && full == len(all) {`, `if full > len(all) {`},
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
