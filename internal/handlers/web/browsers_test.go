package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
)

// TestPagesCheckHostAndOrigin: a page of another site reaches no page under a name of its own, and
// sends nothing from its own origin. No page sets a cookie.
func TestPagesCheckHostAndOrigin(t *testing.T) {
	base, routes := serve(t), chi.NewRouter()
	(&Site{writable: true}).Routes(routes)
	n := 0
	err := chi.Walk(routes, func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		path := strings.NewReplacer("{cluster}", "sample", "{id}", "x", "{name}", "web", "{namespace}", "default", "{file}", "style.css").Replace(route)
		for what, change := range map[string]func(*http.Request){
			"as it is":       func(*http.Request) {},
			"a rebound name": func(r *http.Request) { r.Host = "evil.example:8080" },
			"another origin": func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
			"no origin":      func(r *http.Request) { r.Header.Set("Origin", "null") },
			"another site":   func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		} {
			req, err := http.NewRequestWithContext(t.Context(), method, base+path, nil)
			if err != nil {
				return err
			}
			req.AddCookie(&http.Cookie{Name: "session", Value: "x"})
			change(req)
			res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
			if err != nil {
				return err
			}
			_ = res.Body.Close()
			want := 0
			switch {
			case what == "a rebound name":
				want = http.StatusMisdirectedRequest
			case what != "as it is" && method != http.MethodGet:
				want = http.StatusForbidden
			}
			if want != 0 && res.StatusCode != want || res.Header.Get("Access-Control-Allow-Origin") != "" || len(res.Cookies()) > 0 {
				t.Errorf("%s %s, %s: %d, %v", method, path, what, res.StatusCode, res.Header)
			}
			n++
		}
		return nil
	})
	if err != nil || n < 50 {
		t.Errorf("%d requests: %v", n, err)
	}
}
