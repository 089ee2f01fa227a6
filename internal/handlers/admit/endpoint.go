package admit

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"berth/internal/access"
	"berth/internal/handlers/exchange"
	"berth/internal/handlers/keyed"
)

// Endpoint is a route, declared once: what it needs of its caller, the class that bounds its calls
// (nil: it bounds them itself), what answers it, and the parameters of its query. The annotations
// of the handler describe it, and a test compares them with this.
type Endpoint struct {
	Route string // method and path
	Need  exchange.Need
	class *CallClass
	serve handlerFunc
	Query []string
	// Keyed is how the answers of calls with an Idempotency-Key are kept.
	Keyed keyed.Kind
}

// Routed declares an endpoint.
func Routed(route string, right access.Right, about exchange.Scope, class *CallClass, serve handlerFunc, query ...string) Endpoint {
	return Endpoint{route, exchange.Need{Right: right, Scope: about}, class, serve, query, keyed.None}
}

// Writes declares that calls write, and that their answers are kept by the key of a call.
func (e Endpoint) Writes() Endpoint {
	e.Keyed = keyed.Kept
	return e
}

// WritesSecret is Writes of an endpoint whose answers have a secret.
func (e Endpoint) WritesSecret() Endpoint {
	e.Keyed = keyed.Secret
	return e
}

// mounted is an endpoint of a router.
type mounted struct {
	*Endpoint
	a      *Admission
	style  style
	strict bool // other parameters of the query are refused
	about  about
}

// Mount adds endpoints to a router, whose errors are told in a style. strict ones refuse parameters
// of the query that they do not have.
func (a *Admission) Mount(r chi.Router, list []Endpoint, s style, strict bool) {
	for i := range list {
		method, path, _ := strings.Cut(list[i].Route, " ")
		r.Method(method, path, &mounted{Endpoint: &list[i], a: a, style: s, strict: strict, about: aboutOf(method, path)})
	}
}

// ServeHTTP implements http.Handler: the caller and its right, its own limits, and then the call,
// before a byte of the body is read.
func (m *mounted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := m.a
	if m.Need.Scope != exchange.Open {
		if err := a.authorize(r, m); err != nil {
			a.fail(w, r, m.style, err)
			return
		}
		use, err := a.callerLimits.enter(w.Header(), exchange.CallerOf(r), time.Now())
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
	if m.Need.Scope != exchange.Open && (m.Need.Right == access.Administer || r.Method == http.MethodDelete) {
		a.Log.LogAttrs(r.Context(), slog.LevelInfo, "changed", slog.String("method", r.Method), slog.String("route", exchange.RoutePattern(r)), slog.String("path", exchange.Clipped(r.URL.Path, 300)),
			slog.String("cluster", m.about.cluster(r)), slog.Duration("took", time.Since(began)), slog.String("peer", access.Peer(r)), askedBy(r.Context()))
	}
}

// answer serves a call, in its turn where it has a class.
func (m *mounted) answer(w http.ResponseWriter, r *http.Request) error {
	if m.class != nil {
		lane := ""
		if m.class.byCluster {
			lane = exchange.ByCluster(r)
		}
		on, end, err := m.a.Admit(w, r, m.class, lane)
		if err != nil {
			return err
		}
		defer end()
		r = on
	}
	if m.strict {
		if err := only(r, m.Query); err != nil {
			return err
		}
	}
	if m.Keyed == keyed.None {
		return m.serve(w, r)
	}
	return m.a.keyed.Serve(w, r, m.Keyed, keyed.Handler(m.serve), func(w http.ResponseWriter, r *http.Request, err error) { m.a.fail(w, r, m.style, err) })
}
