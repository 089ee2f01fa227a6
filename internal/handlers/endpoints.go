package handlers

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"berth/internal/access"
)

// endpoint is a route, declared once: what it needs of its caller, the class that bounds its calls
// (nil: it bounds them itself), what answers it, and the parameters of its query. The annotations
// of the handler describe it, and a test compares them with this.
type endpoint struct {
	route string // method and path
	need  need
	class func(*API) *callClass
	serve func(*API, http.ResponseWriter, *http.Request) error
	query []string
}

func decisionClass(a *API) *callClass { return a.decisionCalls }
func readClass(a *API) *callClass     { return a.readCalls }
func queryClass(a *API) *callClass    { return a.queryCalls }
func replayClass(a *API) *callClass   { return a.replayCalls }
func scenarioClass(a *API) *callClass { return a.scenarioCalls }
func snapshotClass(a *API) *callClass { return a.snapshotCalls }
func bindClass(a *API) *callClass     { return a.bindCalls }

// restEndpoints refuse parameters of the query that they do not have. POST /v1/decisions and the
// routes with a body name their cluster in it: before it is read they need the right somewhere, and
// after that in that cluster (guarded.go).
var restEndpoints = append([]endpoint{
	{"GET /v1/whoami", need{scope: callerAlone}, readClass, (*API).whoami, nil},

	{"GET /v1/tokens", need{access.Administer, allClusters}, readClass, (*API).listTokens, nil},
	{"POST /v1/tokens", need{access.Administer, allClusters}, readClass, (*API).createToken, nil},
	{"DELETE /v1/tokens/{id}", need{access.Administer, allClusters}, readClass, (*API).revokeToken, nil},
	{"POST /v1/tokens/{id}/rotate", need{access.Administer, allClusters}, readClass, (*API).rotateToken, nil},

	{"GET /v1/access/changes", need{access.Administer, allClusters}, readClass, (*API).listAccessChanges, []string{"limit", "cursor"}},

	{"POST /v1/snapshots", need{access.Administer, wholeCluster}, snapshotClass, (*API).uploadSnapshot, []string{"cluster", fieldValidation, "allow-empty"}},
	{"GET /v1/snapshots", need{access.View, wholeCluster}, readClass, (*API).listSnapshots, []string{"cluster", "limit", "cursor"}},
	{"GET /v1/snapshots/{id}", need{access.View, wholeCluster}, readClass, (*API).getSnapshot, nil},
	{"DELETE /v1/snapshots/{id}", need{access.Administer, wholeCluster}, readClass, (*API).deleteSnapshot, nil},
	{"GET /v1/snapshots/{id}/objects", need{access.View, someNamespaces}, readClass, (*API).listObjects, []string{"kind", "namespace", "name", "limit", "cursor"}},
	{"GET /v1/snapshots/{id}/diff", need{access.View, someNamespaces}, decisionClass, (*API).diffSnapshots, []string{"to", "limit"}},
	{"POST /v1/snapshots/{id}/changes", need{access.Administer, wholeCluster}, decisionClass, (*API).changeSnapshot, []string{fieldValidation}},

	{"GET /v1/clusters", need{access.View, someNamespaces}, readClass, (*API).listClusters, []string{"limit", "cursor"}},
	{"GET /v1/clusters/{cluster}", need{access.View, someNamespaces}, readClass, (*API).getCluster, nil},
	{"GET /v1/clusters/{cluster}/queue", need{access.View, someNamespaces}, readClass, (*API).getQueue, []string{"limit", "cursor", "snapshot", "now"}},
	{"GET /v1/clusters/{cluster}/pending", need{access.View, someNamespaces}, decisionClass, (*API).listPending, []string{"namespace", "limit", "suggest", "snapshot", "now"}},
	{"GET /v1/clusters/{cluster}/classes", need{access.View, wholeCluster}, readClass, (*API).surveyClasses, []string{"snapshot"}},
	{"POST /v1/clusters/{cluster}/garbage", need{access.Decide, wholeCluster}, decisionClass, (*API).listGarbage, nil},
	{"GET /v1/clusters/{cluster}/nodes", need{access.View, wholeCluster}, readClass, (*API).listNodes, []string{"group", "snapshot"}},
	{"GET /v1/clusters/{cluster}/pods/{namespace}/{name}", need{access.View, someNamespaces}, decisionClass, (*API).getStory, []string{"attempts", "suggest", "snapshot", "now"}},
	{"DELETE /v1/clusters/{cluster}", need{access.Administer, wholeCluster}, readClass, (*API).deleteCluster, nil},
	{"GET /v1/clusters/{cluster}/audit", need{access.View, wholeCluster}, replayClass, (*API).verifyAudit, []string{"after", "limit", "seal", "hash"}},

	{"GET /v1/audit/heads", need{access.View, wholeCluster}, readClass, (*API).listAuditHeads, []string{"cluster"}},

	{"GET /v1/clusters/{cluster}/capacity", need{access.View, wholeCluster}, decisionClass, (*API).getCapacity, []string{"pool", "snapshot"}},

	{"GET /v1/simulations", need{access.View, wholeCluster}, readClass, (*API).listSimulations, []string{"cluster", "limit", "cursor"}},
	{"GET /v1/simulations/{id}", need{access.View, wholeCluster}, readClass, (*API).getSimulation, nil},
	{"DELETE /v1/simulations/{id}", need{access.Decide, wholeCluster}, readClass, (*API).deleteSimulation, nil},
	{"POST /v1/simulations/{id}/cancel", need{access.Decide, wholeCluster}, readClass, (*API).cancelSimulation, nil},

	{"GET /v1/priorityclasses", need{access.View, wholeCluster}, readClass, (*API).listPriorityClasses, []string{"cluster"}},
	{"POST /v1/priorityclasses", need{access.Administer, wholeCluster}, decisionClass, (*API).createPriorityClass, []string{"cluster", fieldValidation}},
	{"GET /v1/priorityclasses/{name}", need{access.View, wholeCluster}, readClass, (*API).getPriorityClass, []string{"cluster"}},
	{"PUT /v1/priorityclasses/{name}", need{access.Administer, wholeCluster}, decisionClass, (*API).updatePriorityClass, []string{"cluster", fieldValidation}},
	{"DELETE /v1/priorityclasses/{name}", need{access.Administer, wholeCluster}, readClass, (*API).deletePriorityClass, []string{"cluster"}},

	{"POST /v1/pods/termination", need{access.Decide, someNamespaces}, decisionClass, (*API).previewTermination, []string{fieldValidation}},

	{"POST /v1/nodes/eviction-ranking", need{access.Decide, wholeCluster}, decisionClass, (*API).rankForEviction, []string{fieldValidation}},
	{"POST /v1/nodes/eviction", need{access.Decide, wholeCluster}, decisionClass, (*API).previewEvictions, []string{fieldValidation}},

	{"POST /v1/pods/admission", need{access.Decide, wholeCluster}, decisionClass, (*API).admitPod, []string{fieldValidation}},
	{"POST /v1/pods/lifecycle", need{access.Decide, someNamespaces}, decisionClass, (*API).podLifecycle, []string{fieldValidation}},

	{"POST /v1/decisions", need{access.Decide, someNamespaces}, decisionClass, (*API).decide, []string{fieldValidation}},

	{"POST /v1/previews", need{access.Decide, wholeCluster}, decisionClass, (*API).preview, []string{fieldValidation}},

	{"GET /v1/decisions", need{access.View, someNamespaces}, readClass, (*API).listDecisions, []string{"cluster", "namespace", "pod", "node", "outcome", "verb", "askedBy", "since", "until", "limit", "cursor", "after"}},
	{"GET /v1/decisions/{id}", need{access.View, someNamespaces}, readClass, (*API).getDecision, nil},
	{"POST /v1/decisions/{id}/replay", need{access.Decide, someNamespaces}, replayClass, (*API).replay, []string{fieldValidation}},

	{"GET /v1/queries", need{scope: callerAlone}, readClass, (*API).listQueries, nil},
	{"GET /v1/queries/{name}", need{access.View, wholeCluster}, queryClass, (*API).runQuery, []string{"cluster", "namespace", "pod", "node", "outcome", "verb", "resource", "since", "until", "limit", "format"}},

	{"POST /v1/replays", need{access.Decide, wholeCluster}, replayClass, (*API).startBatch, nil},
	{"GET /v1/replays", need{access.View, wholeCluster}, readClass, (*API).listBatches, []string{"cluster", "limit", "cursor"}},
	{"GET /v1/replays/{id}", need{access.View, wholeCluster}, readClass, (*API).getBatch, nil},
	{"DELETE /v1/replays/{id}", need{access.Decide, wholeCluster}, readClass, (*API).deleteBatch, nil},
	{"GET /v1/replays/{id}/differences", need{access.View, wholeCluster}, readClass, (*API).listBatchDifferences, []string{"limit", "cursor"}},
	{"POST /v1/replays/{id}/cancel", need{access.Decide, wholeCluster}, readClass, (*API).cancelBatch, nil},
}, scenarioEndpoints()...)

// scenarioEndpoints are the questions about what comes next.
func scenarioEndpoints() (all []endpoint) {
	for verb := range scenarioVerbs {
		path, params := "/v1/clusters/{cluster}/"+verb, []string{"snapshot", "now", fieldValidation}
		if verb == simulationVerb {
			path, params = "/v1/simulations", []string{fieldValidation}
		}
		all = append(all, endpoint{"POST " + path, need{access.Decide, wholeCluster}, scenarioClass, func(a *API, w http.ResponseWriter, r *http.Request) error {
			return a.askScenario(w, r, verb)
		}, params})
	}
	return all
}

// extenderEndpoints are for kube-scheduler, which knows neither tokens nor versions.
var extenderEndpoints = func() (all []endpoint) {
	decide := need{access.Decide, wholeCluster}
	for _, at := range []string{"", "/clusters/{cluster}"} {
		all = append(all, []endpoint{
			{"POST " + at + "/filter", decide, nil, (*API).filter, nil},
			{"POST " + at + "/prioritize", decide, nil, (*API).prioritize, nil},
			{"POST " + at + "/preempt", decide, nil, (*API).preempt, nil},
			{"POST " + at + "/bind", need{access.Bind, wholeCluster}, bindClass, (*API).bind, nil},
			{"POST " + at + "/shadow/filter", decide, nil, (*API).shadowFilter, nil},
			{"POST " + at + "/shadow/prioritize", decide, nil, (*API).shadowPrioritize, nil},
			{"POST " + at + "/shadow/preempt", decide, nil, (*API).shadowPreempt, nil},
			{"POST " + at + "/score-only/filter", decide, nil, (*API).shadowFilter, nil},
			{"POST " + at + "/score-only/prioritize", decide, nil, (*API).prioritize, nil},
			{"POST " + at + "/score-only/preempt", decide, nil, (*API).shadowPreempt, nil},
		}...)
	}
	return all
}()

// aroundEndpoints are on every listener.
var aroundEndpoints = []endpoint{
	{"GET /livez", need{scope: open}, nil, (*API).livez, nil},
	{"GET /readyz", need{scope: open}, nil, (*API).readyz, nil},
	{"GET /metrics", need{access.View, allClusters}, nil, (*API).scrapeMetrics, nil},
	{"GET /openapi.yaml", need{scope: open}, nil, (*API).openAPI, nil},
	{"GET /docs", need{scope: open}, nil, (*API).docsPage, nil},
	{"GET /docs/{file}", need{scope: open}, nil, (*API).docsFile, nil},
}

// mounted is an endpoint of a router.
type mounted struct {
	*endpoint
	a      *API
	style  style
	strict bool // other parameters of the query are refused
	class  *callClass
	about  about
}

// mount returns the function that adds endpoints to a router.
func (a *API) mount(list []endpoint, s style, strict bool) func(chi.Router) {
	return func(r chi.Router) {
		for i := range list {
			method, path, _ := strings.Cut(list[i].route, " ")
			m := &mounted{endpoint: &list[i], a: a, style: s, strict: strict, about: aboutOf(method, path)}
			if m.endpoint.class != nil {
				m.class = m.endpoint.class(a)
			}
			r.Method(method, path, m)
		}
	}
}

// ServeHTTP implements http.Handler: the caller and its right, its own limits, and then the call,
// before a byte of the body is read.
func (m *mounted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := m.a
	if m.need.scope != open {
		if err := a.authorize(r, m); err != nil {
			a.fail(w, r, m.style, err)
			return
		}
		use, err := a.callerLimits.enter(w.Header(), callerOf(r), time.Now())
		if err != nil {
			a.fail(w, r, m.style, a.shed(r, m.style, err))
			return
		}
		defer a.callerLimits.end(use)
	}
	began := time.Now()
	if err := m.answer(w, r); err != nil {
		a.fail(w, r, m.style, err)
	}
	if m.need.scope != open && (m.need.right == access.Administer || r.Method == http.MethodDelete) {
		a.log.LogAttrs(r.Context(), slog.LevelInfo, "changed", slog.String("method", r.Method), slog.String("route", routePattern(r)), slog.String("path", clipped(r.URL.Path, 300)),
			slog.String("cluster", m.about.cluster(r)), slog.Duration("took", time.Since(began)), slog.String("peer", access.Peer(r)), askedBy(r.Context()))
	}
}

// answer serves a call, in its turn where it has a class.
func (m *mounted) answer(w http.ResponseWriter, r *http.Request) error {
	if m.class != nil {
		lane := ""
		if m.class.byCluster {
			lane = byCluster(r)
		}
		on, end, err := m.a.admit(w, r, m.class, lane)
		if err != nil {
			return err
		}
		defer end()
		r = on
	}
	if m.strict {
		if err := only(r, m.query); err != nil {
			return err
		}
	}
	return m.serve(m.a, w, r)
}

func (a *API) extenderRoutes(r chi.Router) { a.mount(extenderEndpoints, extenderStyle, false)(r) }

func (a *API) restRoutes(r chi.Router) { a.mount(restEndpoints, rest, true)(r) }

func (a *API) aroundRoutes(r chi.Router) { a.mount(aroundEndpoints, rest, false)(r) }
