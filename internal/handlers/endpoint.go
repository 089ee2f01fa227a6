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
	class *callClass
	serve handlerFunc
	query []string
}

// routed declares an endpoint.
func routed(route string, right access.Right, about scope, class *callClass, serve handlerFunc, query ...string) endpoint {
	return endpoint{route, need{right: right, scope: about}, class, serve, query}
}

// mounted is an endpoint of a router.
type mounted struct {
	*endpoint
	a      *admission
	style  style
	strict bool // other parameters of the query are refused
	about  about
}

// mount adds endpoints to a router, whose errors are told in a style. strict ones refuse parameters
// of the query that they do not have.
func (a *admission) mount(r chi.Router, list []endpoint, s style, strict bool) {
	for i := range list {
		method, path, _ := strings.Cut(list[i].route, " ")
		r.Method(method, path, &mounted{endpoint: &list[i], a: a, style: s, strict: strict, about: aboutOf(method, path)})
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
	return m.serve(w, r)
}
