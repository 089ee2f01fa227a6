package handlers

import "berth/internal/access"

// endpoints are for kube-scheduler, which knows neither tokens nor versions.
func (a *extenderAPI) endpoints() (all []endpoint) {
	for _, at := range []string{"", "/clusters/{cluster}"} {
		all = append(all,
			routed("POST "+at+"/filter", access.Decide, wholeCluster, nil, a.filter),
			routed("POST "+at+"/prioritize", access.Decide, wholeCluster, nil, a.prioritize),
			routed("POST "+at+"/preempt", access.Decide, wholeCluster, nil, a.preempt),
			routed("POST "+at+"/bind", access.Bind, wholeCluster, a.bindCalls, a.bind),
			routed("POST "+at+"/shadow/filter", access.Decide, wholeCluster, nil, a.shadowFilter),
			routed("POST "+at+"/shadow/prioritize", access.Decide, wholeCluster, nil, a.shadowPrioritize),
			routed("POST "+at+"/shadow/preempt", access.Decide, wholeCluster, nil, a.shadowPreempt),
			routed("POST "+at+"/score-only/filter", access.Decide, wholeCluster, nil, a.shadowFilter),
			routed("POST "+at+"/score-only/prioritize", access.Decide, wholeCluster, nil, a.prioritize),
			routed("POST "+at+"/score-only/preempt", access.Decide, wholeCluster, nil, a.shadowPreempt),
		)
	}
	return all
}
