package handlers

import (
	"net/http"
	"testing"

	"github.com/go-chi/chi/v5"
)

// TestEachRouteHasARight holds the table of rights to the router, in both directions.
func TestEachRouteHasARight(t *testing.T) {
	a, err := New(Options{})
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
		if n.right == 0 && n.scope != open && n.scope != callerAlone {
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
