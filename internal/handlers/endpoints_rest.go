package handlers

import (
	"net/http"

	"berth/internal/access"
)

// endpoints refuse parameters of the query that they do not have. POST /v1/decisions and the
// routes with a body name their cluster in it: before it is read they need the right somewhere, and
// after that in that cluster (guarded.go).
func (a *restAPI) endpoints() []endpoint {
	return append([]endpoint{
		routed("GET /v1/whoami", 0, callerAlone, a.readCalls, a.whoami),

		routed("GET /v1/tokens", access.Administer, allClusters, a.readCalls, a.listTokens),
		routed("POST /v1/tokens", access.Administer, allClusters, a.readCalls, a.createToken),
		routed("DELETE /v1/tokens/{id}", access.Administer, allClusters, a.readCalls, a.revokeToken),
		routed("POST /v1/tokens/{id}/rotate", access.Administer, allClusters, a.readCalls, a.rotateToken),

		routed("GET /v1/access/changes", access.Administer, allClusters, a.readCalls, a.listAccessChanges, "limit", "cursor"),

		routed("POST /v1/snapshots", access.Administer, wholeCluster, a.snapshotCalls, a.uploadSnapshot, "cluster", fieldValidation, "allow-empty"),
		routed("GET /v1/snapshots", access.View, wholeCluster, a.readCalls, a.listSnapshots, "cluster", "limit", "cursor"),
		routed("GET /v1/snapshots/{id}", access.View, wholeCluster, a.readCalls, a.getSnapshot),
		routed("DELETE /v1/snapshots/{id}", access.Administer, wholeCluster, a.readCalls, a.deleteSnapshot),
		routed("GET /v1/snapshots/{id}/objects", access.View, someNamespaces, a.readCalls, a.listObjects, "kind", "namespace", "name", "limit", "cursor"),
		routed("GET /v1/snapshots/{id}/diff", access.View, someNamespaces, a.decisionCalls, a.diffSnapshots, "to", "limit"),
		routed("POST /v1/snapshots/{id}/changes", access.Administer, wholeCluster, a.decisionCalls, a.changeSnapshot, fieldValidation),

		routed("GET /v1/clusters", access.View, someNamespaces, a.readCalls, a.listClusters, "limit", "cursor"),
		routed("GET /v1/clusters/{cluster}", access.View, someNamespaces, a.readCalls, a.getCluster),
		routed("GET /v1/clusters/{cluster}/queue", access.View, someNamespaces, a.readCalls, a.getQueue, "limit", "cursor", "snapshot", "now"),
		routed("GET /v1/clusters/{cluster}/pending", access.View, someNamespaces, a.decisionCalls, a.listPending, "namespace", "limit", "suggest", "snapshot", "now"),
		routed("GET /v1/clusters/{cluster}/classes", access.View, wholeCluster, a.readCalls, a.surveyClasses, "snapshot"),
		routed("POST /v1/clusters/{cluster}/garbage", access.Decide, wholeCluster, a.decisionCalls, a.listGarbage),
		routed("GET /v1/clusters/{cluster}/nodes", access.View, wholeCluster, a.readCalls, a.listNodes, "group", "snapshot"),
		routed("GET /v1/clusters/{cluster}/pods/{namespace}/{name}", access.View, someNamespaces, a.decisionCalls, a.getStory, "attempts", "suggest", "snapshot", "now"),
		routed("DELETE /v1/clusters/{cluster}", access.Administer, wholeCluster, a.readCalls, a.deleteCluster),
		routed("GET /v1/clusters/{cluster}/audit", access.View, wholeCluster, a.replayCalls, a.verifyAudit, "after", "limit", "seal", "hash"),

		routed("GET /v1/audit/heads", access.View, wholeCluster, a.readCalls, a.listAuditHeads, "cluster"),

		routed("GET /v1/clusters/{cluster}/capacity", access.View, wholeCluster, a.decisionCalls, a.getCapacity, "pool", "snapshot"),

		routed("GET /v1/simulations", access.View, wholeCluster, a.readCalls, a.listSimulations, "cluster", "limit", "cursor"),
		routed("GET /v1/simulations/{id}", access.View, wholeCluster, a.readCalls, a.getSimulation),
		routed("DELETE /v1/simulations/{id}", access.Decide, wholeCluster, a.readCalls, a.deleteSimulation),
		routed("POST /v1/simulations/{id}/cancel", access.Decide, wholeCluster, a.readCalls, a.cancelSimulation),

		routed("GET /v1/priorityclasses", access.View, wholeCluster, a.readCalls, a.listPriorityClasses, "cluster"),
		routed("POST /v1/priorityclasses", access.Administer, wholeCluster, a.decisionCalls, a.createPriorityClass, "cluster", fieldValidation),
		routed("GET /v1/priorityclasses/{name}", access.View, wholeCluster, a.readCalls, a.getPriorityClass, "cluster"),
		routed("PUT /v1/priorityclasses/{name}", access.Administer, wholeCluster, a.decisionCalls, a.updatePriorityClass, "cluster", fieldValidation),
		routed("DELETE /v1/priorityclasses/{name}", access.Administer, wholeCluster, a.readCalls, a.deletePriorityClass, "cluster"),

		routed("POST /v1/pods/termination", access.Decide, someNamespaces, a.decisionCalls, a.previewTermination, fieldValidation),

		routed("POST /v1/nodes/eviction-ranking", access.Decide, wholeCluster, a.decisionCalls, a.rankForEviction, fieldValidation),
		routed("POST /v1/nodes/eviction", access.Decide, wholeCluster, a.decisionCalls, a.previewEvictions, fieldValidation),

		routed("POST /v1/pods/admission", access.Decide, wholeCluster, a.decisionCalls, a.admitPod, fieldValidation),
		routed("POST /v1/pods/lifecycle", access.Decide, someNamespaces, a.decisionCalls, a.podLifecycle, fieldValidation),

		routed("POST /v1/decisions", access.Decide, someNamespaces, a.decisionCalls, a.decide, fieldValidation),

		routed("POST /v1/previews", access.Decide, wholeCluster, a.decisionCalls, a.preview, fieldValidation),

		routed("GET /v1/decisions", access.View, someNamespaces, a.readCalls, a.listDecisions, "cluster", "namespace", "pod", "node", "outcome", "verb", "askedBy", "since", "until", "limit", "cursor", "after"),
		routed("GET /v1/decisions/{id}", access.View, someNamespaces, a.readCalls, a.getDecision),
		routed("POST /v1/decisions/{id}/replay", access.Decide, someNamespaces, a.replayCalls, a.replay, fieldValidation),

		routed("GET /v1/queries", 0, callerAlone, a.readCalls, a.listQueries),
		routed("GET /v1/queries/{name}", access.View, wholeCluster, a.queryCalls, a.runQuery, "cluster", "namespace", "pod", "node", "outcome", "verb", "resource", "since", "until", "limit", "format"),

		routed("POST /v1/replays", access.Decide, wholeCluster, a.replayCalls, a.startBatch),
		routed("GET /v1/replays", access.View, wholeCluster, a.readCalls, a.listBatches, "cluster", "limit", "cursor"),
		routed("GET /v1/replays/{id}", access.View, wholeCluster, a.readCalls, a.getBatch),
		routed("DELETE /v1/replays/{id}", access.Decide, wholeCluster, a.readCalls, a.deleteBatch),
		routed("GET /v1/replays/{id}/differences", access.View, wholeCluster, a.readCalls, a.listBatchDifferences, "limit", "cursor"),
		routed("POST /v1/replays/{id}/cancel", access.Decide, wholeCluster, a.readCalls, a.cancelBatch),
	}, a.scenarioEndpoints()...)
}

// scenarioEndpoints are the questions about what comes next.
func (a *restAPI) scenarioEndpoints() (all []endpoint) {
	for verb := range scenarioVerbs {
		path, params := "/v1/clusters/{cluster}/"+verb, []string{"snapshot", "now", fieldValidation}
		if verb == simulationVerb {
			path, params = "/v1/simulations", []string{fieldValidation}
		}
		ask := func(w http.ResponseWriter, r *http.Request) error { return a.askScenario(w, r, verb) }
		all = append(all, routed("POST "+path, access.Decide, wholeCluster, a.scenarioCalls, ask, params...))
	}
	return all
}
