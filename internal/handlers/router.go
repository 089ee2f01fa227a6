package handlers

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
)

// Router returns all routes there are. Paths are exact and nothing redirects: a redirect would turn
// kube-scheduler's POST into a GET.
func (a *API) Router() *chi.Mux { return a.routes(nil, a.extenderRoutes, a.restRoutes, a.aroundRoutes) }

// routes returns the API's own routes, each with its right, and beside them those of pages.
func (a *API) routes(pages []func(chi.Router), parts ...func(chi.Router)) *chi.Mux {
	r := chi.NewRouter()
	r.Use(a.observe, a.guard, middleware.GetHead) // probes ask by HEAD
	r.NotFound(a.adapt(rest, func(_ http.ResponseWriter, r *http.Request) error {
		if path, cut := strings.CutSuffix(r.URL.Path, "/"); cut && len(methodsAt(r, path)) > 0 {
			return notFound("there is nothing at this path: did you mean " + path + ", without the slash at its end?")
		}
		return notFound("there is nothing at this path; /docs lists what there is")
	}))
	r.MethodNotAllowed(a.adapt(rest, a.methodNotAllowed))
	r.Group(func(r chi.Router) {
		r.Use(a.authorized)
		for _, part := range parts {
			part(r)
		}
	})
	r.Group(func(r chi.Router) {
		r.Use(a.identified)
		for _, page := range pages {
			page(r)
		}
	})
	return r
}

// extenderRoutes are for kube-scheduler, which knows neither tokens nor versions.
func (a *API) extenderRoutes(r chi.Router) {
	for _, at := range []string{"", "/clusters/{cluster}"} {
		r.Post(at+"/filter", a.adapt(extenderStyle, a.filter))
		r.Post(at+"/prioritize", a.adapt(extenderStyle, a.prioritize))
		r.Post(at+"/preempt", a.adapt(extenderStyle, a.preempt))
		r.Post(at+"/bind", a.admitted(a.bindCalls, a.bind))
		r.Post(at+"/shadow/filter", a.adapt(extenderStyle, a.shadowFilter))
		r.Post(at+"/shadow/prioritize", a.adapt(extenderStyle, a.shadowPrioritize))
		r.Post(at+"/shadow/preempt", a.adapt(extenderStyle, a.shadowPreempt))
		r.Post(at+"/score-only/filter", a.adapt(extenderStyle, a.shadowFilter))
		r.Post(at+"/score-only/prioritize", a.adapt(extenderStyle, a.prioritize))
		r.Post(at+"/score-only/preempt", a.adapt(extenderStyle, a.shadowPreempt))
	}
}

func (a *API) restRoutes(r chi.Router) {
	a.accessRoutes(r)
	r.Post("/v1/snapshots", a.admitted(a.snapshotCalls, only(a.uploadSnapshot, "cluster", fieldValidation, "allow-empty")))
	r.Get("/v1/snapshots", a.admitted(a.readCalls, only(a.listSnapshots, "cluster", "limit", "cursor")))
	r.Get("/v1/snapshots/{id}", a.admitted(a.readCalls, only(a.getSnapshot)))
	r.Delete("/v1/snapshots/{id}", a.admitted(a.readCalls, only(a.deleteSnapshot)))
	r.Get("/v1/snapshots/{id}/objects", a.admitted(a.readCalls, only(a.listObjects, "kind", "namespace", "name", "limit", "cursor")))
	r.Get("/v1/snapshots/{id}/diff", a.admitted(a.decisionCalls, only(a.diffSnapshots, "to", "limit")))
	r.Post("/v1/snapshots/{id}/changes", a.admitted(a.decisionCalls, only(a.changeSnapshot, fieldValidation)))

	r.Get("/v1/clusters", a.admitted(a.readCalls, only(a.listClusters, "limit", "cursor")))
	r.Get("/v1/clusters/{cluster}", a.admitted(a.readCalls, only(a.getCluster)))
	r.Get("/v1/clusters/{cluster}/queue", a.admitted(a.readCalls, only(a.getQueue, "limit", "cursor", "snapshot", "now")))
	r.Get("/v1/clusters/{cluster}/pending", a.admitted(a.decisionCalls, only(a.listPending, "namespace", "limit", "suggest", "snapshot", "now")))
	r.Get("/v1/clusters/{cluster}/classes", a.admitted(a.readCalls, only(a.surveyClasses, "snapshot")))
	r.Post("/v1/clusters/{cluster}/garbage", a.admitted(a.decisionCalls, only(a.listGarbage)))
	r.Get("/v1/clusters/{cluster}/nodes", a.admitted(a.readCalls, only(a.listNodes, "group", "snapshot")))
	r.Get("/v1/clusters/{cluster}/pods/{namespace}/{name}", a.admitted(a.decisionCalls, only(a.getStory, "attempts", "suggest", "snapshot", "now")))
	r.Delete("/v1/clusters/{cluster}", a.admitted(a.readCalls, only(a.deleteCluster)))

	r.Get("/v1/clusters/{cluster}/audit", a.admitted(a.replayCalls, only(a.verifyAudit, "after", "limit", "seal", "hash")))
	r.Get("/v1/audit/heads", a.admitted(a.readCalls, only(a.listAuditHeads, "cluster")))

	a.scenarioRoutes(r)

	r.Get("/v1/priorityclasses", a.admitted(a.readCalls, only(a.listPriorityClasses, "cluster")))
	r.Post("/v1/priorityclasses", a.admitted(a.decisionCalls, only(a.createPriorityClass, "cluster", fieldValidation)))
	r.Get("/v1/priorityclasses/{name}", a.admitted(a.readCalls, only(a.getPriorityClass, "cluster")))
	r.Put("/v1/priorityclasses/{name}", a.admitted(a.decisionCalls, only(a.updatePriorityClass, "cluster", fieldValidation)))
	r.Delete("/v1/priorityclasses/{name}", a.admitted(a.readCalls, only(a.deletePriorityClass, "cluster")))

	r.Post("/v1/pods/termination", a.admitted(a.decisionCalls, only(a.previewTermination, fieldValidation)))
	r.Post("/v1/nodes/eviction-ranking", a.admitted(a.decisionCalls, only(a.rankForEviction, fieldValidation)))
	r.Post("/v1/nodes/eviction", a.admitted(a.decisionCalls, only(a.previewEvictions, fieldValidation)))
	r.Post("/v1/pods/admission", a.admitted(a.decisionCalls, only(a.admitPod, fieldValidation)))
	r.Post("/v1/pods/lifecycle", a.admitted(a.decisionCalls, only(a.podLifecycle, fieldValidation)))

	r.Post("/v1/decisions", a.admitted(a.decisionCalls, only(a.decide, fieldValidation)))
	r.Post("/v1/previews", a.admitted(a.decisionCalls, only(a.preview, fieldValidation)))
	r.Get("/v1/decisions", a.admitted(a.readCalls, only(a.listDecisions, "cluster", "namespace", "pod", "node", "outcome", "verb", "askedBy", "since", "until", "limit", "cursor", "after")))
	r.Get("/v1/decisions/{id}", a.admitted(a.readCalls, only(a.getDecision)))
	r.Post("/v1/decisions/{id}/replay", a.admitted(a.replayCalls, only(a.replay, fieldValidation)))

	r.Get("/v1/queries", a.admitted(a.readCalls, only(a.listQueries)))
	r.Get("/v1/queries/{name}", a.admitted(a.queryCalls, only(a.runQuery, "cluster", "namespace", "pod", "node", "outcome", "verb", "resource", "since", "until", "limit", "format")))

	r.Post("/v1/replays", a.admitted(a.replayCalls, only(a.startBatch)))
	r.Get("/v1/replays", a.admitted(a.readCalls, only(a.listBatches, "cluster", "limit", "cursor")))
	r.Get("/v1/replays/{id}", a.admitted(a.readCalls, only(a.getBatch)))
	r.Delete("/v1/replays/{id}", a.admitted(a.readCalls, only(a.deleteBatch)))
	r.Get("/v1/replays/{id}/differences", a.admitted(a.readCalls, only(a.listBatchDifferences, "limit", "cursor")))
	r.Post("/v1/replays/{id}/cancel", a.admitted(a.readCalls, only(a.cancelBatch)))
}

// aroundRoutes are on every listener.
func (a *API) aroundRoutes(r chi.Router) {
	r.Get("/livez", a.adapt(rest, a.livez))
	r.Get("/readyz", a.adapt(rest, a.readyz))
	r.Get("/metrics", a.adapt(rest, a.scrapeMetrics))
	r.Get("/openapi.yaml", a.adapt(rest, a.openAPI))
	r.Get("/docs", a.adapt(rest, a.docsPage))
	r.Get("/docs/{file}", a.adapt(rest, a.docsFile))
}

// Handler returns the router with tracing around it, and routes more beside the API's. The caller's
// W3C trace context is taken up whether or not spans are sent anywhere, so that logs name the
// caller's trace.
func (a *API) Handler(more ...func(chi.Router)) http.Handler {
	return a.traced(a.routes(more, a.extenderRoutes, a.restRoutes, a.aroundRoutes))
}

// ExtenderHandler is Handler with kube-scheduler's calls alone, for a listener of their own.
func (a *API) ExtenderHandler() http.Handler {
	return a.traced(a.routes(nil, a.extenderRoutes, a.aroundRoutes))
}

// RestHandler is Handler without them.
func (a *API) RestHandler(more ...func(chi.Router)) http.Handler {
	return a.traced(a.routes(more, a.restRoutes, a.aroundRoutes))
}

// MetricsHandler is for a listener of its own, whose callers need no identity.
func (a *API) MetricsHandler() http.Handler {
	return a.traced(a.routes([]func(chi.Router){func(r chi.Router) {
		r.Get("/livez", a.adapt(rest, a.livez))
		r.Get("/readyz", a.adapt(rest, a.readyz))
		r.Get("/metrics", a.adapt(rest, a.scrapeMetrics))
	}}))
}

// InProcess returns the routes of the REST listener for parts of this process that call them as
// callers do. The caller is the one in the request's context (access.With).
func (a *API) InProcess() http.Handler { return a.routes(nil, a.restRoutes, a.aroundRoutes) }

func (a *API) traced(router http.Handler) http.Handler {
	if a.tracer == nil {
		return traceContext(router)
	}
	return otelhttp.NewHandler(router, "http", otelhttp.WithTracerProvider(a.tracer),
		otelhttp.WithMeterProvider(noop.NewMeterProvider()), otelhttp.WithPropagators(propagation.TraceContext{}))
}

// traceContext takes up the caller's trace context, where there are no spans of ours.
func traceContext(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Traceparent") != "" {
			r = r.WithContext(propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header)))
		}
		next.ServeHTTP(w, r)
	})
}

func (a *API) methodNotAllowed(w http.ResponseWriter, r *http.Request) error {
	allowed := allowedMethods(r)
	for _, m := range allowed {
		w.Header().Add("Allow", m)
	}
	return &Error{Status: http.StatusMethodNotAllowed, Kind: "method", Detail: fmt.Sprintf("%.20s is not allowed here; allowed: %v", r.Method, allowed)}
}

// allowedMethods returns the methods that the path has.
func allowedMethods(r *http.Request) []string {
	path := r.URL.RawPath
	if path == "" {
		path = r.URL.Path
	}
	return methodsAt(r, path)
}

// methodsAt calls the router itself for the methods that a path has.
func methodsAt(r *http.Request, path string) (allowed []string) {
	c := chi.RouteContext(r.Context())
	if c == nil || c.Routes == nil {
		return nil
	}
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
		if c.Routes.Match(chi.NewRouteContext(), m, path) {
			allowed = append(allowed, m)
			if m == http.MethodGet {
				allowed = append(allowed, http.MethodHead)
			}
		}
	}
	return allowed
}
