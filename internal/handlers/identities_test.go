package handlers

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"berth/internal/access"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/store"
	"berth/test/accesstest"
)

// guardedHarness is a harness whose calls of as need an identity.
type guardedHarness struct {
	*harness
	callers *access.Authenticator
}

func startGuarded(t *testing.T, change ...func(*admit.Options)) *guardedHarness {
	t.Helper()
	g := &guardedHarness{callers: &access.Authenticator{}}
	g.harness = start(t, func(o *admit.Options) {
		st := o.Capacities.(store.Store)
		var err error
		if g.callers.Tokens, err = access.OpenTokens(t.Context(), st, o.Log); err != nil {
			t.Fatal(err)
		}
		o.Callers, o.AccessLog = g.callers, st
		for _, c := range change {
			c(o)
		}
	})
	return g
}

// token makes a token of a role in a cluster and a namespace.
func (g *guardedHarness) token(name, role, cluster, namespace string, more ...access.Grant) string {
	g.Helper()
	grants := append(access.Grants{{Role: role, Clusters: []string{cluster}, Namespaces: []string{namespace}}}, more...)
	_, secret, err := g.callers.Tokens.Create(g.Context(), name, grants, time.Time{}, time.Now())
	if err != nil {
		g.Fatal(err)
	}
	return secret
}

// identity changes a request to one of a caller.
type identity func(*http.Request)

func bearing(token string) identity {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
}

// certified shows a certificate; verified is whether a CA of the listener signed it.
func certified(name string, verified bool) identity {
	return func(r *http.Request) {
		cert := &x509.Certificate{Subject: pkix.Name{CommonName: name}}
		r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{cert}}
		if verified {
			r.TLS.VerifiedChains = [][]*x509.Certificate{{cert}}
		}
	}
}

// as sends a request to a listener that requires identities.
func (g *guardedHarness) as(who identity, method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1"+path, strings.NewReader(body))
	r = r.WithContext(access.Require(context.Background()))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	who(r)
	w := httptest.NewRecorder()
	g.api.Handler().ServeHTTP(w, r)
	return w
}

// stateless routes answer from the request alone, and so to each caller with the right in some
// cluster.
var stateless = []string{"POST /v1/pods/termination", "POST /v1/nodes/eviction-ranking", "POST /v1/nodes/eviction", "POST /v1/pods/lifecycle", "POST /v1/previews"}

// callsOf returns a request of a route about cluster prod.
func callsOf(route, decision, job string) (method, path, body string) {
	method, path, _ = strings.Cut(route, " ")
	id := decision
	switch {
	case strings.HasPrefix(path, "/v1/snapshots"):
		id = "prod@1"
	case strings.HasPrefix(path, "/v1/replays"), strings.HasPrefix(path, "/v1/simulations"):
		id = job
	case strings.HasPrefix(path, "/v1/tokens"):
		id = "root"
	}
	path = strings.NewReplacer("{cluster}", "prod", "{id}", id, "{namespace}", "shop", "{name}", "web", "{digest}", "sha256:"+strings.Repeat("0", 64)).Replace(path)
	about := pod("asked", "1", "")
	switch route {
	case "POST /v1/decisions":
		body = `{"snapshot":"prod@latest","bind":true,"pod":` + about + `}`
	case "POST /v1/placements":
		body = `{"snapshot":"prod@latest","bind":true,"pods":[` + about + `]}`
	case "POST /v1/decisions/{id}/replay":
		body = `{}`
	case "POST /v1/pods/admission":
		body = `{"cluster":"prod","operation":"CREATE","pod":` + about + `}`
	case "POST /v1/replays":
		body = `{"cluster":"prod"}`
	case "POST /v1/simulations":
		body = `{"base":"prod@latest","wait":"0s","arrivals":{"pods":[{"pod":` + about + `}]}}`
	case "POST /v1/tokens":
		body = `{"name":"stolen","grants":[{"role":"admin","clusters":["*"],"namespaces":["*"]}]}`
	case "POST /v1/snapshots/{id}/changes":
		path, body = strings.Replace(path, "@1", "@latest", 1), `{"apply":[`+about+`]}`
	case "POST /v1/snapshots":
		path, body = path+"?cluster=prod", small()
	case "POST /v1/clusters/{cluster}/fork":
		path, body = "/v1/clusters/stolen/fork", `{"from":"prod@1"}`
	case "GET /v1/queries/{name}":
		path = "/v1/queries/unschedulable-pods?cluster=prod"
	case "GET /v1/views/{view}":
		path = "/v1/views/decision_log?cluster=prod"
	case "GET /v1/snapshots/{id}/diff":
		path += "?to=prod@1"
	case "POST /v1/priorityclasses", "PUT /v1/priorityclasses/{name}":
		path, body = path+"?cluster=prod", `{"metadata":{"name":"web"},"value":7}`
	default:
		if method == "POST" {
			body = `{"Pod":` + about + `,"NodeNames":["n1"],"PodName":"web","PodNamespace":"shop","PodUID":"uid-web","Node":"n1"}`
		}
		if strings.HasPrefix(path, "/v1/priorityclasses") || path == "/v1/snapshots" {
			path += "?cluster=prod"
		}
	}
	return method, path, body
}

// TestIdentities calls every route with each bad identity: none is let through, and nothing
// of the cluster is in an answer or changes.
func TestIdentities(t *testing.T) {
	g := startGuarded(t)
	g.upload("prod", small())
	g.upload("lab", small())
	d := g.decide(`{"snapshot":"prod@latest","pod":` + pod("known", "1", "") + `}`)
	var job struct{ ID string }
	g.want(201, &job, "POST", "/v1/replays", `{"cluster":"prod"}`)
	root := bearing(g.token("root", "admin", "*", "*"))

	expired := func() string {
		grants := access.Grants{{Role: "admin", Clusters: []string{"*"}, Namespaces: []string{"*"}}}
		_, secret, err := g.callers.Tokens.Create(t.Context(), "expired", grants, time.Now().Add(-time.Hour), time.Now().Add(-2*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		return secret
	}()
	revoked := g.token("revoked", "admin", "*", "*")
	if _, err := g.callers.Tokens.Revoke(t.Context(), "revoked", time.Now()); err != nil {
		t.Fatal(err)
	}
	rotated := g.token("rotated", "admin", "*", "*")
	if _, _, err := g.callers.Tokens.Rotate(t.Context(), "rotated", 0, time.Now()); err != nil {
		t.Fatal(err)
	}
	good := g.token("typo", "admin", "*", "*")
	mistyped := good[:len(good)-1] + string('a'+(good[len(good)-1]-'a'+1)%26)
	issuer := accesstest.NewIssuer(t)
	g.callers.Verifiers = []access.Verifier{access.NewOIDC(issuer.Options())}
	jwt := func(claims map[string]any) identity {
		return bearing(issuer.Sign(t, issuer.Key, jose.ES256, "k1", claims))
	}
	none := "eyJhbGciOiJub25lIn0." + strings.Split(issuer.Sign(t, issuer.Key, jose.ES256, "k1", nil), ".")[1] + "."
	viewer := bearing(g.token("viewer", "viewer", "prod", "*"))
	identities := map[string]struct {
		who     identity
		partial bool // it may something
	}{
		"none":             {func(*http.Request) {}, false},
		"expired":          {bearing(expired), false},
		"other cluster":    {bearing(g.token("lab", "admin", "lab*", "*")), true},
		"other namespace":  {bearing(g.token("other", "admin", "prod", "other")), true},
		"revoked":          {bearing(revoked), false},
		"rotated out":      {bearing(rotated), false},
		"mistyped":         {bearing(mistyped), false},
		"never made":       {bearing(access.NewToken()), false},
		"of another CA":    {certified("kube-scheduler", false), false},
		"basic":            {func(r *http.Request) { r.SetBasicAuth("root", "root") }, false},
		"two headers":      {func(r *http.Request) { r.Header["Authorization"] = []string{"Bearer " + good, "Bearer x"} }, false},
		"wrong audience":   {jwt(map[string]any{"aud": "other"}), false},
		"other issuer":     {jwt(map[string]any{"iss": "https://other.example"}), false},
		"expired JWT":      {jwt(map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}), false},
		"alg none":         {bearing(none), false},
		"no grants":        {jwt(nil), true},
		"a viewer's write": {viewer, true},
	}
	before := g.as(root, "GET", "/v1/clusters/prod", "").Body.String()
	count := 0
	for route, n := range needs {
		if n.Scope == exchange.Open {
			continue
		}
		method, path, body := callsOf(route, d.ID, job.ID)
		for name, i := range identities {
			if i.partial && (n.Scope == exchange.CallerAlone || slices.Contains(stateless, route) && name != "no grants") || name == "a viewer's write" && n.Right == access.View && n.Scope != exchange.AllClusters {
				continue
			}
			count++
			w := g.as(i.who, method, path, body)
			text := w.Body.String()
			switch {
			case !i.partial && w.Code != http.StatusUnauthorized:
				t.Errorf("%s, %s: %d %s", route, name, w.Code, text)
			case w.Code == http.StatusUnauthorized && w.Header().Get("WWW-Authenticate") == "":
				t.Errorf("%s, %s: no WWW-Authenticate", route, name)
			case w.Code == http.StatusOK && method == "GET" && name == "other namespace" && !slices.ContainsFunc([]string{"web", "busy", "known", "asked"}, func(pod string) bool { return strings.Contains(text, `"`+pod+`"`) }):
				// It may know of its cluster, and of no pod of another namespace.
			case w.Code == http.StatusOK && method == "GET" && !strings.Contains(text, "prod") && !strings.Contains(text, "asked"): // a list of what it may see
			case w.Code == http.StatusUnauthorized, w.Code == http.StatusForbidden, w.Code == http.StatusNotFound:
			default:
				t.Errorf("%s, %s: %d %s", route, name, w.Code, text)
			}
		}
	}
	if count < 1000 {
		t.Errorf("%d calls only", count)
	}
	if after := g.as(root, "GET", "/v1/clusters/prod", "").Body.String(); after != before || !strings.Contains(after, `"decisions":1`) {
		t.Errorf("cluster prod was %s and is %s", before, after)
	}
	if text := g.as(root, "GET", "/v1/tokens", "").Body.String(); strings.Contains(text, "stolen") {
		t.Errorf("a token was made: %s", text)
	}
	t.Logf("%d calls", count)
}

// TestNoHintOfWhatIsThere guesses names and ids of three clusters: what may not be seen is
// answered as what is not there.
func TestNoHintOfWhatIsThere(t *testing.T) {
	g := startGuarded(t)
	type made struct{ decision, replay string }
	in := map[string]made{}
	for _, name := range []string{"prod", "lab", "dev"} {
		g.upload(name, small())
		d := g.decide(`{"snapshot":"` + name + `@latest","pod":` + pod("known", "1", "") + `}`)
		var job struct{ ID string }
		g.want(201, &job, "POST", "/v1/replays", `{"cluster":"`+name+`"}`)
		in[name] = made{d.ID, job.ID}
	}
	const none = "01938f3e-0000-7000-8000-000000000000"
	for _, scope := range []string{"prod", "lab", "dev"} {
		who := bearing(g.token("viewer-"+scope, "decider", scope, "*"))
		for name, ids := range in {
			for _, path := range []string{
				"GET /v1/decisions/" + ids.decision, "POST /v1/decisions/" + ids.decision + "/replay",
				"GET /v1/replays/" + ids.replay, "POST /v1/replays/" + ids.replay + "/cancel", "GET /v1/replays/" + ids.replay + "/differences",
				"GET /v1/clusters/" + name, "GET /v1/clusters/" + name + "/queue", "GET /v1/snapshots/" + name + "@1", "GET /v1/decisions?cluster=" + name, "GET /v1/replays?cluster=" + name,
				"POST /v1/clusters/" + name + "/drains", "POST /clusters/" + name + "/filter", "DELETE /v1/replays/" + ids.replay,
			} {
				method, at, _ := strings.Cut(path, " ")
				if scope == name {
					if method == "DELETE" {
						continue
					}
					if w := g.as(who, method, at, ""); w.Code == http.StatusUnauthorized || w.Code == http.StatusForbidden || w.Code == http.StatusNotFound {
						t.Errorf("%s in %s: %d %s", path, scope, w.Code, w.Body)
					}
					continue
				}
				absent := strings.NewReplacer(ids.decision, none, ids.replay, none, name, "nosuch").Replace(at)
				got, want := g.as(who, method, at, ""), g.as(who, method, absent, "")
				plain := func(w *httptest.ResponseRecorder) string {
					text := strings.NewReplacer(ids.decision, none, ids.replay, none, name, "nosuch").Replace(w.Body.String())
					before, _, _ := strings.Cut(text, `"requestId"`)
					return before
				}
				if got.Code != http.StatusNotFound || got.Code != want.Code || plain(got) != plain(want) {
					t.Errorf("%s by %s: %d %s\nabsent: %d %s", path, scope, got.Code, got.Body, want.Code, want.Body)
				}
			}
		}
		if text := g.as(who, "GET", "/v1/decisions", "").Body.String(); strings.Count(text, `"id"`) != 1 || !strings.Contains(text, in[scope].decision) {
			t.Errorf("all decisions for %s: %s", scope, text)
		}
	}
}
