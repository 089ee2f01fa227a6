package rest

import (
	"net/http"

	"berth/internal/access"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
)

// Endpoints refuse parameters of the query that they do not have. POST /v1/decisions and the
// routes with a body name their cluster in it: before it is read they need the right somewhere, and
// after that in that cluster (guarded.go).
func (a *API) Endpoints() []admit.Endpoint {
	return append([]admit.Endpoint{
		admit.Routed("GET /v1/whoami", 0, exchange.CallerAlone, a.ReadCalls, a.whoami),

		admit.Routed("GET /v1/tokens", access.Administer, exchange.AllClusters, a.ReadCalls, a.listTokens),
		admit.Routed("POST /v1/tokens", access.Administer, exchange.AllClusters, a.ReadCalls, a.createToken).WritesSecret(),
		admit.Routed("DELETE /v1/tokens/{id}", access.Administer, exchange.AllClusters, a.ReadCalls, a.revokeToken),
		admit.Routed("POST /v1/tokens/{id}/rotate", access.Administer, exchange.AllClusters, a.ReadCalls, a.rotateToken).WritesSecret(),

		admit.Routed("GET /v1/access/changes", access.Administer, exchange.AllClusters, a.ReadCalls, a.listAccessChanges, "limit", "cursor"),

		admit.Routed("POST /v1/snapshots", access.Administer, exchange.WholeCluster, a.SnapshotCalls, a.uploadSnapshot, "cluster", fieldValidation, "allow-empty").Writes(),
		admit.Routed("GET /v1/snapshots", access.View, exchange.WholeCluster, a.ReadCalls, a.listSnapshots, "cluster", "limit", "cursor"),
		admit.Routed("GET /v1/snapshots/{id}", access.View, exchange.WholeCluster, a.ReadCalls, a.getSnapshot),
		admit.Routed("DELETE /v1/snapshots/{id}", access.Administer, exchange.WholeCluster, a.ReadCalls, a.deleteSnapshot),
		admit.Routed("GET /v1/snapshots/{id}/objects", access.View, exchange.SomeNamespaces, a.ReadCalls, a.listObjects, objectFilters...),
		admit.Routed("GET /v1/snapshots/{id}/diff", access.View, exchange.SomeNamespaces, a.DecisionCalls, a.diffSnapshots, "to", "limit"),
		admit.Routed("POST /v1/snapshots/{id}/changes", access.Administer, exchange.WholeCluster, a.DecisionCalls, a.changeSnapshot, fieldValidation).Writes(),

		admit.Routed("POST /v1/clusters/{cluster}/fork", access.Administer, exchange.WholeCluster, a.DecisionCalls, a.forkCluster).Writes(),

		admit.Routed("GET /v1/clusters", access.View, exchange.SomeNamespaces, a.ReadCalls, a.listClusters, "limit", "cursor"),
		admit.Routed("GET /v1/clusters/{cluster}", access.View, exchange.SomeNamespaces, a.ReadCalls, a.getCluster),
		admit.Routed("GET /v1/clusters/{cluster}/objects", access.View, exchange.SomeNamespaces, a.ReadCalls, a.listNewestObjects, objectFilters...),
		admit.Routed("GET /v1/clusters/{cluster}/queue", access.View, exchange.SomeNamespaces, a.ReadCalls, a.getQueue, "limit", "cursor", "snapshot", "now"),
		admit.Routed("GET /v1/clusters/{cluster}/pending", access.View, exchange.SomeNamespaces, a.DecisionCalls, a.listPending, "namespace", "limit", "suggest", "snapshot", "now"),
		admit.Routed("GET /v1/clusters/{cluster}/upgrade", access.View, exchange.WholeCluster, a.DecisionCalls, a.getUpgrade, "to", "limit", "snapshot", "now"),
		admit.Routed("GET /v1/clusters/{cluster}/classes", access.View, exchange.WholeCluster, a.ReadCalls, a.surveyClasses, "snapshot"),
		admit.Routed("POST /v1/clusters/{cluster}/garbage", access.Decide, exchange.WholeCluster, a.DecisionCalls, a.listGarbage),
		admit.Routed("GET /v1/clusters/{cluster}/nodes", access.View, exchange.WholeCluster, a.ReadCalls, a.listNodes, "group", "snapshot"),
		admit.Routed("GET /v1/clusters/{cluster}/nodes/{node}", access.View, exchange.WholeCluster, a.ReadCalls, a.getNode, "snapshot"),
		admit.Routed("GET /v1/clusters/{cluster}/pods/{namespace}/{name}", access.View, exchange.SomeNamespaces, a.DecisionCalls, a.getStory, "attempts", "suggest", "snapshot", "now"),
		admit.Routed("GET /v1/clusters/{cluster}/pods/{namespace}/{name}/blame", access.View, exchange.SomeNamespaces, a.ScenarioCalls, a.getBlame, "since", "until", "node", "count"),
		admit.Routed("DELETE /v1/clusters/{cluster}", access.Administer, exchange.WholeCluster, a.ReadCalls, a.deleteCluster),
		admit.Routed("GET /v1/clusters/{cluster}/audit", access.View, exchange.WholeCluster, a.ReplayCalls, a.verifyAudit, "after", "limit", "seal", "hash"),

		admit.Routed("GET /v1/audit/heads", access.View, exchange.WholeCluster, a.ReadCalls, a.listAuditHeads, "cluster"),

		admit.Routed("GET /v1/clusters/{cluster}/capacity", access.View, exchange.WholeCluster, a.DecisionCalls, a.getCapacity, "pool", "snapshot"),

		admit.Routed("GET /v1/simulations", access.View, exchange.WholeCluster, a.ReadCalls, a.listSimulations, "cluster", "limit", "cursor"),
		admit.Routed("GET /v1/simulations/{id}", access.View, exchange.WholeCluster, a.ReadCalls, a.getSimulation),
		admit.Routed("GET /v1/simulations/{id}/timeline", access.View, exchange.WholeCluster, a.ReadCalls, a.getTimeline, "pod", "node", "workload", "namespace", "kind", "since", "until", "limit", "cursor"),
		admit.Routed("GET /v1/simulations/{id}/at", access.View, exchange.WholeCluster, a.ScenarioCalls, a.getStateAt, "time", "limit", "cursor"),
		admit.Routed("DELETE /v1/simulations/{id}", access.Decide, exchange.WholeCluster, a.ReadCalls, a.deleteSimulation),
		admit.Routed("POST /v1/simulations/{id}/cancel", access.Decide, exchange.WholeCluster, a.ReadCalls, a.cancelSimulation).Writes(),

		admit.Routed("GET /v1/priorityclasses", access.View, exchange.WholeCluster, a.ReadCalls, a.listPriorityClasses, "cluster"),
		admit.Routed("POST /v1/priorityclasses", access.Administer, exchange.WholeCluster, a.DecisionCalls, a.createPriorityClass, "cluster", fieldValidation).Writes(),
		admit.Routed("GET /v1/priorityclasses/{name}", access.View, exchange.WholeCluster, a.ReadCalls, a.getPriorityClass, "cluster"),
		admit.Routed("PUT /v1/priorityclasses/{name}", access.Administer, exchange.WholeCluster, a.DecisionCalls, a.updatePriorityClass, "cluster", fieldValidation),
		admit.Routed("DELETE /v1/priorityclasses/{name}", access.Administer, exchange.WholeCluster, a.ReadCalls, a.deletePriorityClass, "cluster"),

		admit.Routed("POST /v1/pods/termination", access.Decide, exchange.SomeNamespaces, a.DecisionCalls, a.previewTermination, fieldValidation),

		admit.Routed("POST /v1/nodes/eviction-ranking", access.Decide, exchange.WholeCluster, a.DecisionCalls, a.rankForEviction, fieldValidation),
		admit.Routed("POST /v1/nodes/eviction", access.Decide, exchange.WholeCluster, a.DecisionCalls, a.previewEvictions, fieldValidation),

		admit.Routed("POST /v1/pods/admission", access.Decide, exchange.WholeCluster, a.DecisionCalls, a.admitPod, fieldValidation),
		admit.Routed("POST /v1/pods/lifecycle", access.Decide, exchange.SomeNamespaces, a.DecisionCalls, a.podLifecycle, fieldValidation),

		admit.Routed("POST /v1/decisions", access.Decide, exchange.SomeNamespaces, a.DecisionCalls, a.decide, fieldValidation).Writes(),

		admit.Routed("POST /v1/placements", access.Decide, exchange.SomeNamespaces, a.DecisionCalls, a.place, fieldValidation).Writes(),
		admit.Routed("GET /v1/holds", access.View, exchange.SomeNamespaces, a.ReadCalls, a.listHolds, "cluster", "limit", "cursor"),
		admit.Routed("GET /v1/holds/{id}", access.View, exchange.SomeNamespaces, a.ReadCalls, a.getHold),
		admit.Routed("POST /v1/holds/{id}/commit", access.Bind, exchange.SomeNamespaces, a.DecisionCalls, a.commitHold).Writes(),
		admit.Routed("POST /v1/holds/{id}/release", access.Bind, exchange.SomeNamespaces, a.DecisionCalls, a.releaseHold).Writes(),

		admit.Routed("GET /v1/views/{view}", access.View, exchange.WholeCluster, a.QueryCalls, a.readView, "cluster", "since", "until", "limit", "cursor"),

		admit.Routed("POST /v1/previews", access.Decide, exchange.WholeCluster, a.DecisionCalls, a.preview, fieldValidation),

		admit.Routed("GET /v1/decisions", access.View, exchange.SomeNamespaces, a.ReadCalls, a.listDecisions, "cluster", "namespace", "pod", "node", "outcome", "verb", "askedBy", "placement", "since", "until", "limit", "cursor", "after"),
		admit.Routed("GET /v1/decisions/{id}", access.View, exchange.SomeNamespaces, a.ReadCalls, a.getDecision),
		admit.Routed("POST /v1/decisions/{id}/replay", access.Decide, exchange.SomeNamespaces, a.ReplayCalls, a.replay, fieldValidation).Writes(),

		admit.Routed("GET /v1/profiles/{digest}", access.View, exchange.SomeNamespaces, a.ReadCalls, a.getProfile),

		admit.Routed("GET /v1/queries", 0, exchange.CallerAlone, a.ReadCalls, a.listQueries),
		admit.Routed("GET /v1/queries/{name}", access.View, exchange.WholeCluster, a.QueryCalls, a.runQuery, "cluster", "namespace", "pod", "node", "outcome", "verb", "id", "request", "label", "resource", "since", "until", "limit", "format", "mark"),

		admit.Routed("POST /v1/replays", access.Decide, exchange.WholeCluster, a.ReplayCalls, a.startBatch).Writes(),
		admit.Routed("GET /v1/replays", access.View, exchange.WholeCluster, a.ReadCalls, a.listBatches, "cluster", "limit", "cursor"),
		admit.Routed("GET /v1/replays/{id}", access.View, exchange.WholeCluster, a.ReadCalls, a.getBatch),
		admit.Routed("DELETE /v1/replays/{id}", access.Decide, exchange.WholeCluster, a.ReadCalls, a.deleteBatch),
		admit.Routed("GET /v1/replays/{id}/differences", access.View, exchange.WholeCluster, a.ReadCalls, a.listBatchDifferences, "limit", "cursor"),
		admit.Routed("POST /v1/replays/{id}/cancel", access.Decide, exchange.WholeCluster, a.ReadCalls, a.cancelBatch).Writes(),
	}, a.scenarioEndpoints()...)
}

// scenarioEndpoints are the questions about what comes next.
func (a *API) scenarioEndpoints() (all []admit.Endpoint) {
	for verb := range scenarioVerbs {
		path, params := "/v1/clusters/{cluster}/"+verb, []string{"snapshot", "now", fieldValidation}
		if verb == simulationVerb {
			path, params = "/v1/simulations", []string{fieldValidation}
		}
		ask := func(w http.ResponseWriter, r *http.Request) error { return a.askScenario(w, r, verb) }
		all = append(all, admit.Routed("POST "+path, access.Decide, exchange.WholeCluster, a.ScenarioCalls, ask, params...).Writes()) // with wait they become jobs
	}
	return all
}
