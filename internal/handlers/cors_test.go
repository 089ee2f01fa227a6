package handlers

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"berth/internal/access"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
)

const uiOrigin = "https://ui.example"

// eachRoute sends a request to every route there is, as change makes it, to a loopback address.
func eachRoute(t *testing.T, a *API, change func(*http.Request), see func(route string, w *httptest.ResponseRecorder)) {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	local := s.Listener.Addr()
	s.Close()
	handler, n := a.Handler(), 0
	err := chi.Walk(a.Router(), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		path := strings.NewReplacer("{cluster}", "prod", "{id}", "prod@1", "{name}", "web", "{namespace}", "shop", "{file}", "x").Replace(route)
		r := httptest.NewRequest(method, path, strings.NewReader("{}"))
		r.Host = local.String()
		r.Header.Set("Content-Type", "application/json")
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, local))
		change(r)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		see(method+" "+route, w)
		n++
		return nil
	})
	if err != nil || n < 70 {
		t.Fatalf("%d routes: %v", n, err)
	}
}

// TestNoCookies: no answer sets a cookie, and a token in one proves nothing.
func TestNoCookies(t *testing.T) {
	g := startGuarded(t)
	token := g.token("me", "admin", "*", "*")
	eachRoute(t, g.api, func(r *http.Request) {
		*r = *r.WithContext(access.Require(r.Context()))
		for _, name := range []string{"Authorization", "token", "berth", "session"} {
			r.AddCookie(&http.Cookie{Name: name, Value: token}) //nolint:gosec // a client's
		}
	}, func(route string, w *httptest.ResponseRecorder) {
		if n := needs[route]; n.Scope != exchange.Open && w.Code != http.StatusUnauthorized {
			t.Errorf("%s with a token in a cookie: %d %s", route, w.Code, w.Body)
		}
		if got := w.Header().Values("Set-Cookie"); len(got) > 0 {
			t.Errorf("%s sets %v", route, got)
		}
	})
	cookies := regexp.MustCompile(`\.Cookies?\(|\.CookiesNamed\(|http\.SetCookie|"(Set-)?Cookie"`)
	for _, dir := range []string{".", "admit", "exchange", "extender", "rest", "web", "../access", "../ops/admin", "../../cmd/server"} {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatal(dir, err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if found := cookies.Find(text); found != nil && !strings.HasSuffix(f, "_test.go") {
				t.Errorf("%s reads or writes cookies: %s", f, found)
			}
		}
	}
}

// TestEveryRouteChecksHostAndOrigin: what a page of another site can have a browser send reaches no
// route: under a name of its own (DNS rebinding), and, but for reads, from its own origin.
func TestEveryRouteChecksHostAndOrigin(t *testing.T) {
	h := start(t, func(o *admit.Options) { o.Origins = []string{uiOrigin} })
	for name, c := range map[string]struct {
		reads  bool // also of GET
		status int
		change func(*http.Request)
	}{
		"a rebound name":      {true, 421, func(r *http.Request) { r.Host = "evil.example:8080" }},
		"one like loopback's": {true, 421, func(r *http.Request) { r.Host = "127.0.0.1.evil.example" }},
		"an opaque origin":    {false, 403, func(r *http.Request) { r.Header.Set("Origin", "null") }},
		"another origin":      {false, 403, func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }},
		"one like the named":  {false, 403, func(r *http.Request) { r.Header.Set("Origin", uiOrigin+".evil.example") }},
		"another site":        {false, 403, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }},
		"a form of the named": {false, 403, func(r *http.Request) {
			r.Header.Set("Origin", uiOrigin)
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Mode", "navigate")
		}},
		"a rebound name with the named origin": {true, 421, func(r *http.Request) {
			r.Host = "evil.example"
			r.Header.Set("Origin", uiOrigin)
		}},
	} {
		eachRoute(t, h.api, c.change, func(route string, w *httptest.ResponseRecorder) {
			if (c.reads || !strings.HasPrefix(route, "GET ")) && w.Code != c.status {
				t.Errorf("%s, %s: %d %s", name, route, w.Code, w.Body)
			}
			if got := w.Header().Get("Access-Control-Allow-Origin"); got != "" {
				t.Errorf("%s, %s: read by %s", name, route, got)
			}
		})
	}
}

// TestCORS: pages of an origin that is named may call the API by script, and no others.
func TestCORS(t *testing.T) {
	h := start(t, func(o *admit.Options) { o.Origins = []string{uiOrigin, "http://localhost:3000"} })
	do := func(method, path string, headers ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, strings.NewReader("{}"))
		r = r.WithContext(access.Require(r.Context()))
		for i := 0; i < len(headers); i += 2 {
			r.Header.Add(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		h.api.Handler().ServeHTTP(w, r)
		if strings.HasPrefix(path, "/v1/") != (w.Header().Get("Vary") == "Origin") {
			t.Errorf("%s: Vary %q", path, w.Header().Get("Vary"))
		}
		if got := w.Header().Get("Access-Control-Allow-Credentials"); got != "" {
			t.Errorf("credentials: %s", got)
		}
		return w
	}
	const asks = "Access-Control-Request-Method"
	w := do("OPTIONS", "/v1/decisions", "Origin", uiOrigin, asks, "POST", "Sec-Fetch-Mode", "cors", "Sec-Fetch-Site", "cross-site")
	if got := w.Header(); w.Code != 204 || got.Get("Access-Control-Allow-Origin") != uiOrigin || got.Get("Access-Control-Allow-Methods") != "GET, HEAD, POST" ||
		!strings.Contains(got.Get("Access-Control-Allow-Headers"), "Authorization") || w.Body.Len() > 0 {
		t.Errorf("preflight: %d %v %s", w.Code, got, w.Body)
	}
	// It needs an identity, as all others do, and the page may read the refusal.
	w = do("POST", "/v1/decisions", "Origin", uiOrigin, "Sec-Fetch-Mode", "cors", "Sec-Fetch-Site", "cross-site", "Content-Type", "application/json")
	if w.Code != 401 || w.Header().Get("Access-Control-Allow-Origin") != uiOrigin || w.Header().Get("Access-Control-Expose-Headers") == "" {
		t.Errorf("a call: %d %v %s", w.Code, w.Header(), w.Body)
	}
	for what, got := range map[string]*httptest.ResponseRecorder{
		"another origin":   do("OPTIONS", "/v1/decisions", "Origin", "https://evil.example", asks, "POST"),
		"its subdomain":    do("OPTIONS", "/v1/decisions", "Origin", "https://x.ui.example", asks, "POST"),
		"two origins":      do("OPTIONS", "/v1/decisions", "Origin", uiOrigin, "Origin", "https://evil.example", asks, "POST"),
		"no origin":        do("OPTIONS", "/v1/decisions", asks, "POST"),
		"kube-scheduler's": do("OPTIONS", "/filter", "Origin", uiOrigin, asks, "POST"),
	} {
		if got.Code != 405 || got.Header().Get("Access-Control-Allow-Origin") != "" || got.Header().Get("Access-Control-Allow-Methods") != "" {
			t.Errorf("%s: %d %v", what, got.Code, got.Header())
		}
	}
	if w := do("OPTIONS", "/v1/nothing", "Origin", uiOrigin, asks, "POST"); w.Code != 404 {
		t.Errorf("a path that is not there: %d", w.Code)
	}
	none := start(t, nil)
	r, w := httptest.NewRequest("OPTIONS", "/v1/decisions", nil), httptest.NewRecorder()
	r.Header.Set("Origin", uiOrigin)
	r.Header.Set(asks, "POST")
	if none.api.Handler().ServeHTTP(w, r); w.Code != 405 || w.Header().Get("Access-Control-Allow-Origin")+w.Header().Get("Vary") != "" {
		t.Errorf("without origins: %d %v", w.Code, w.Header())
	}
}

func TestCheckOrigin(t *testing.T) {
	for _, good := range []string{"https://ui.example", "http://localhost:3000", "http://[::1]:8080"} {
		if err := admit.CheckOrigin(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"*", "null", "", "ui.example", "https://ui.example/", "https://UI.example", "https://*.example", "https://ui.example:443", "http://ui.example:80", "ftp://x", "https://a@b", "https://x?y"} {
		if admit.CheckOrigin(bad) == nil {
			t.Errorf("%q is let pass", bad)
		}
	}
}
