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
		{"internal/scenario/pools_search.go", `_, err := r.f.Run(ctx, e.Daemons, Limits{}, nil)`, `_, err := r.f.Run(ctx, nil, Limits{}, nil)`},
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
	{"scenario-departures", "a pod whose time is over goes on using its node", "./internal/scenario", "TestDepartures", []edit{
		{"internal/scenario/run.go", `if err := r.f.Delete(e.Pod.Namespace, e.Pod.Name); err != nil {`, `if err := error(nil); err != nil {`},
	}},
	{"scenario-first-difference", "the first difference is decided on the state after it", "./internal/scenario", "TestSimulate", []edit{
		{"internal/scenario/differ.go", `Limits{Attempts: k, `, `Limits{Attempts: k + 1, `},
	}},
	{"fit-evicts", "pods are evicted for replicas that are counted", "./internal/scenario", "TestFitEqualsBindingUntilUnschedulable", []edit{
		{"internal/scenario/fit.go", `o.NoPreemption = true`, `o.NoPreemption = false`},
	}},
	{"capacity-cordoned", "what is free on cordoned nodes counts as free", "./internal/scenario", "TestCapacity", []edit{
		{"internal/scenario/grid.go", `return !g.set.Node(int(row)).Unschedulable`, `return true`},
	}},
}
