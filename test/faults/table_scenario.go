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
}
