package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
)

// everyEndpoint lists the endpoints of all listeners.
func everyEndpoint() []admit.Endpoint {
	a, err := New(admit.Options{})
	if err != nil {
		panic(err)
	}
	return slices.Concat(a.rest.Endpoints(), a.events.Endpoints(), a.extender.Endpoints(), a.endpoints())
}

// needs are the rights of all routes.
var needs = func() map[string]exchange.Need {
	table := map[string]exchange.Need{}
	for _, e := range everyEndpoint() {
		table[e.Route] = e.Need
	}
	return table
}()

// TestReadyTellsStrangersNothing: what is not ready names clusters.
func TestReadyTellsStrangersNothing(t *testing.T) {
	g := startGuarded(t)
	g.api.checks = []admit.Check{{Name: "follow secret", Probe: func(context.Context) error { return errors.New("secret is behind") }}}
	all, some := bearing(g.token("all", "viewer", "*", "*")), bearing(g.token("some", "viewer", "prod", "*"))
	for what, c := range map[string]struct {
		who  identity
		want bool
	}{"none": {func(*http.Request) {}, false}, "one cluster": {some, false}, "all clusters": {all, true}} {
		w := g.as(c.who, "GET", "/readyz?verbose", "")
		if w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "secret") != c.want {
			t.Errorf("%s: %d %s", what, w.Code, w.Body)
		}
	}
}

// TestEachRouteHasARight holds the table of rights to the router, in both directions.
func TestEachRouteHasARight(t *testing.T) {
	a, err := New(admit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	routes := map[string]bool{}
	err = chi.Walk(a.Router(), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		routes[method+" "+route] = true
		n, ok := needs[method+" "+route]
		if !ok {
			t.Errorf("%s %s has no right in the table", method, route)
		}
		if n.Right == 0 && n.Scope != exchange.Open && n.Scope != exchange.CallerAlone {
			t.Errorf("%s %s needs no right", method, route)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for route := range needs {
		if !routes[route] {
			t.Errorf("%s has a right, and is no route", route)
		}
	}
}

// TestQueriesAboutAccess are for admins of all clusters: an admin of one learns nothing of tokens.
func TestQueriesAboutAccess(t *testing.T) {
	g := startGuarded(t)
	g.upload("prod", small())
	const path = "/v1/queries/token-rights?cluster=prod"
	for i, c := range []struct{ role, cluster, namespace string }{{"viewer", "*", "*"}, {"admin", "prod", "*"}, {"admin", "*", "shop"}} {
		who := bearing(g.token(fmt.Sprint("token-of-", i), c.role, c.cluster, c.namespace))
		if w := g.as(who, "GET", path, ""); w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "token-of-") {
			t.Errorf("%+v: %d %s", c, w.Code, w.Body)
		}
	}
	if w := g.as(bearing(g.token("all", "admin", "*", "*")), "GET", path, ""); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"all"`) {
		t.Errorf("an admin of all clusters: %d %s", w.Code, w.Body)
	}
}
