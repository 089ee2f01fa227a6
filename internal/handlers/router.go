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

	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
)

// Router returns all routes there are. Paths are exact and nothing redirects: a redirect would turn
// kube-scheduler's POST into a GET.
func (a *API) Router() *chi.Mux { return a.routes(nil, a.forExtender, a.forREST, a.around) }

// routes returns the API's own routes, each with its right, and beside them those of pages.
func (a *API) routes(pages []func(chi.Router), parts ...func(chi.Router)) *chi.Mux {
	r := chi.NewRouter()
	r.Use(a.Observe, middleware.GetHead) // probes ask by HEAD
	r.NotFound(a.Adapt(admit.REST, func(w http.ResponseWriter, r *http.Request) error {
		if a.unknown != nil && len(pages) > 0 && strings.Contains(r.Header.Get("Accept"), "text/html") && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			a.unknown(w, r)
			return nil
		}
		if path, cut := strings.CutSuffix(r.URL.Path, "/"); cut && len(admit.MethodsAt(r, path)) > 0 {
			return exchange.NotFound("there is nothing at this path: did you mean " + path + ", without the slash at its end?")
		}
		return exchange.NotFound("there is nothing at this path; /docs lists what there is")
	}))
	r.MethodNotAllowed(a.Adapt(admit.REST, a.methodNotAllowed))
	for _, part := range parts {
		part(r)
	}
	r.Group(func(r chi.Router) {
		r.Use(a.Identified)
		for _, page := range pages {
			page(r)
		}
	})
	return r
}

func (a *API) forExtender(r chi.Router) {
	a.Mount(r, a.extender.Endpoints(), admit.ExtenderStyle, false)
}

func (a *API) forREST(r chi.Router) {
	a.Mount(r, a.rest.Endpoints(), admit.REST, true)
	a.Mount(r, a.events.Endpoints(), admit.REST, true)
}

func (a *API) around(r chi.Router) { a.Mount(r, a.endpoints(), admit.REST, false) }

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
		r.Get("/livez", a.Adapt(admit.REST, a.livez))
		r.Get("/readyz", a.Adapt(admit.REST, a.readyz))
		r.Get("/metrics", a.Adapt(admit.REST, a.scrapeMetrics))
	}}))
}

// Unknown has browsers that ask for an address that nothing is at answered by a page, which shows
// nothing but the address. It is called before the routes are made.
func (a *API) Unknown(page http.HandlerFunc) { a.unknown = page }

// InProcess returns the routes of the REST listener for parts of this process that call them as
// callers do. The caller is the one in the request's context (access.With).
func (a *API) InProcess() http.Handler { return a.routes(nil, a.forREST, a.around) }

func (a *API) traced(router http.Handler) http.Handler {
	if a.Tracer == nil { // observe takes up the caller's trace
		return router
	}
	return otelhttp.NewHandler(router, "http", otelhttp.WithTracerProvider(a.Tracer),
		otelhttp.WithMeterProvider(noop.NewMeterProvider()), otelhttp.WithPropagators(propagation.TraceContext{}))
}

func (a *API) methodNotAllowed(w http.ResponseWriter, r *http.Request) error {
	allowed := admit.AllowedMethods(r)
	for _, m := range allowed {
		w.Header().Add("Allow", m)
	}
	return &exchange.Error{Status: http.StatusMethodNotAllowed, Kind: "method", Detail: fmt.Sprintf("%.20s is not allowed here; allowed: %v", r.Method, allowed)}
}
