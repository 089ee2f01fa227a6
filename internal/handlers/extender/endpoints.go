package extender

import (
	"berth/internal/access"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
)

// Endpoints are for kube-scheduler, which knows neither tokens nor versions.
func (a *API) Endpoints() (all []admit.Endpoint) {
	for _, at := range []string{"", "/clusters/{cluster}"} {
		all = append(all,
			admit.Routed("POST "+at+"/filter", access.Decide, exchange.WholeCluster, nil, a.filter),
			admit.Routed("POST "+at+"/prioritize", access.Decide, exchange.WholeCluster, nil, a.prioritize),
			admit.Routed("POST "+at+"/preempt", access.Decide, exchange.WholeCluster, nil, a.preempt),
			admit.Routed("POST "+at+"/bind", access.Bind, exchange.WholeCluster, a.BindCalls, a.bind).Writes(),
			admit.Routed("POST "+at+"/shadow/filter", access.Decide, exchange.WholeCluster, nil, a.shadowFilter),
			admit.Routed("POST "+at+"/shadow/prioritize", access.Decide, exchange.WholeCluster, nil, a.shadowPrioritize),
			admit.Routed("POST "+at+"/shadow/preempt", access.Decide, exchange.WholeCluster, nil, a.shadowPreempt),
			admit.Routed("POST "+at+"/score-only/filter", access.Decide, exchange.WholeCluster, nil, a.shadowFilter),
			admit.Routed("POST "+at+"/score-only/prioritize", access.Decide, exchange.WholeCluster, nil, a.prioritize),
			admit.Routed("POST "+at+"/score-only/preempt", access.Decide, exchange.WholeCluster, nil, a.shadowPreempt),
		)
	}
	return all
}
