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
func (a *API) Router() *chi.Mux { return a.routes(nil, a.forExtender, a.forREST, a.around) }

// routes returns the API's own routes, each with its right, and beside them those of pages.
func (a *API) routes(pages []func(chi.Router), parts ...func(chi.Router)) *chi.Mux {
	r := chi.NewRouter()
	r.Use(a.observe, middleware.GetHead) // probes ask by HEAD
	r.NotFound(a.adapt(rest, func(_ http.ResponseWriter, r *http.Request) error {
		if path, cut := strings.CutSuffix(r.URL.Path, "/"); cut && len(methodsAt(r, path)) > 0 {
			return notFound("there is nothing at this path: did you mean " + path + ", without the slash at its end?")
		}
		return notFound("there is nothing at this path; /docs lists what there is")
	}))
	r.MethodNotAllowed(a.adapt(rest, a.methodNotAllowed))
	for _, part := range parts {
		part(r)
	}
	r.Group(func(r chi.Router) {
		r.Use(a.identified)
		for _, page := range pages {
			page(r)
		}
	})
	return r
}

func (a *API) forExtender(r chi.Router) { a.mount(r, a.extender.endpoints(), extenderStyle, false) }

func (a *API) forREST(r chi.Router) { a.mount(r, a.rest.endpoints(), rest, true) }

func (a *API) around(r chi.Router) { a.mount(r, a.endpoints(), rest, false) }

// Handler returns the router with tracing around it, and routes more beside the API's. The caller's
// W3C trace context is taken up whether or not spans are sent anywhere, so that logs name the
// caller's trace.
func (a *API) Handler(more ...func(chi.Router)) http.Handler {
	return a.traced(a.routes(more, a.forExtender, a.forREST, a.around))
}

// ExtenderHandler is Handler with kube-scheduler's calls alone, for a listener of their own.
func (a *API) ExtenderHandler() http.Handler {
	return a.traced(a.routes(nil, a.forExtender, a.around))
}

// RestHandler is Handler without them.
func (a *API) RestHandler(more ...func(chi.Router)) http.Handler {
	return a.traced(a.routes(more, a.forREST, a.around))
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
func (a *API) InProcess() http.Handler { return a.routes(nil, a.forREST, a.around) }

func (a *API) traced(router http.Handler) http.Handler {
	if a.tracer == nil { // observe takes up the caller's trace
		return router
	}
	return otelhttp.NewHandler(router, "http", otelhttp.WithTracerProvider(a.tracer),
		otelhttp.WithMeterProvider(noop.NewMeterProvider()), otelhttp.WithPropagators(propagation.TraceContext{}))
}

func (a *API) methodNotAllowed(w http.ResponseWriter, r *http.Request) error {
	allowed := allowedMethods(r)
	for _, m := range allowed {
		w.Header().Add("Allow", m)
	}
	return &Error{Status: http.StatusMethodNotAllowed, Kind: "method", Detail: fmt.Sprintf("%.20s is not allowed here; allowed: %v", r.Method, allowed)}
}
