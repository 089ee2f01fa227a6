package admit

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"berth/internal/handlers/exchange"
	"berth/internal/handlers/keyed"
)

// CheckOrigin reports what is wrong with an origin that is to be let in: it is written as browsers
// send it.
func CheckOrigin(origin string) error {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Scheme+"://"+u.Host != origin || strings.ToLower(origin) != origin || strings.Contains(origin, "*") ||
		u.Port() == "443" && u.Scheme == "https" || u.Port() == "80" && u.Scheme == "http" {
		if strings.ContainsAny(origin, "@?#") {
			origin = origin[:strings.Index(origin, ":")+1] + "…" // it may hold a password
		}
		return fmt.Errorf("%q is no origin: want scheme and host as a browser sends them, such as https://ui.example or http://localhost:3000", origin)
	}
	return nil
}

// answeredHeaders are what pages of other origins may read of an answer, beside what they always
// may.
const answeredHeaders = "Location, Retry-After, RateLimit, RateLimit-Policy, Warning, " + exchange.RequestIDHeader + ", " + exchange.DecisionIDHeader + ", " + exchange.TruncatedHeader + ", " + keyed.ReplayedHeader

// shares reports whether a request comes from a page of an origin that the settings name, to the
// API by script. It writes the headers that let the page read the answer. Cookies and client
// certificates of the browser are no part of it: there is no Access-Control-Allow-Credentials.
func (a *Admission) shares(w http.ResponseWriter, r *http.Request) bool {
	if len(a.origins) == 0 || !strings.HasPrefix(r.URL.Path, "/v1/") {
		return false
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	from, mode := r.Header.Values("Origin"), r.Header.Get("Sec-Fetch-Mode")
	if len(from) != 1 || !slices.Contains(a.origins, from[0]) || mode != "" && mode != "cors" { // a form is sent without asking
		return false
	}
	h.Set("Access-Control-Allow-Origin", from[0])
	h.Set("Access-Control-Expose-Headers", answeredHeaders)
	return true
}

// preflight answers what a browser requests before a page of another origin may send a request. It
// reports whether the request is one, of a path that there is. It needs no identity: browsers send
// none with it.
func preflight(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	methods := AllowedMethods(r)
	if len(methods) == 0 {
		return false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", strings.Join(methods, ", "))
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, traceparent, "+exchange.RequestIDHeader)
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// AllowedMethods returns the methods that the path has.
func AllowedMethods(r *http.Request) []string {
	path := r.URL.RawPath
	if path == "" {
		path = r.URL.Path
	}
	return MethodsAt(r, path)
}

// MethodsAt calls the router itself for the methods that a path has.
func MethodsAt(r *http.Request, path string) (allowed []string) {
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
