package handlers

import (
	"net/http"
	"strings"
	"testing"

	"berth/internal/decision"
	"berth/test/accesstest"
)

// TestNoNameOfAnotherNamespace calls every route as callers of namespace shop: no bytes of an
// answer hold a name of namespace vault. Callers of the whole cluster see that there are some.
func TestNoNameOfAnotherNamespace(t *testing.T) {
	g := startGuarded(t)
	g.upload("prod", accesstest.TwoTeams(false))
	ask := func(namespace, name string) decision.Answer {
		return g.decide(`{"snapshot":"prod@1","explain":"full","suggest":true,"podRef":{"namespace":"` + namespace + `","name":"` + name + `"}}`)
	}
	theirs, own := ask("vault", "vault-waits"), ask("shop", "big")
	g.upload("prod", accesstest.TwoTeams(true))
	var batch, job struct{ ID string }
	g.want(http.StatusCreated, &batch, "POST", "/v1/replays", `{"cluster":"prod"}`)
	g.want(http.StatusAccepted, &job, "POST", "/v1/simulations", `{"base":"prod@latest","wait":"0s","arrivals":{"pods":[{"pod":`+pod("asked", "1", "")+`}]}}`)

	const prod = "/v1/clusters/prod/"
	// shown tell a caller of shop of its own pods, and a caller of the whole cluster of vault's.
	shown := []string{
		"/v1/decisions?cluster=prod", "/v1/decisions?cluster=prod&after=0", "/v1/decisions", "/v1/decisions/" + own.ID,
		prod + "pending", prod + "pending?snapshot=prod@1", prod + "queue", prod + "queue?snapshot=prod@1", prod + "pods/shop/big", prod + "pods/shop/big?snapshot=prod@1", prod + "pods/shop/small?snapshot=prod@1",
		"/v1/snapshots/prod@1/objects", "/v1/snapshots/prod@1/objects?kind=Pod", "/v1/snapshots/prod@1/diff?to=prod@2",
	}
	type call struct{ method, path, body string }
	calls := []call{{"POST", "/v1/decisions/" + own.ID + "/replay", `{"snapshot":"prod@2"}`}, {"POST", "/v1/decisions", `{"snapshot":"prod@1","dryRun":true,"explain":"groups","suggest":true,"podRef":{"namespace":"shop","name":"big"}}`}}
	for _, path := range append([]string{
		"/v1/decisions?cluster=prod&namespace=vault", prod + "pending?namespace=vault", prod + "pods/vault/vault-low", prod + "pods/shop/small", "/v1/snapshots/prod@1/objects?kind=PodDisruptionBudget",
		"/v1/snapshots/prod@1/objects?kind=Node", "/v1/replays", "/v1/replays?cluster=prod", "/v1/simulations", "/v1/simulations/" + job.ID,
	}, shown...) {
		calls = append(calls, call{"GET", path, ""})
	}
	for route := range needs {
		for _, id := range []string{own.ID, theirs.ID} {
			method, path, body := callsOf(route, id, batch.ID)
			calls = append(calls, call{method, path, body})
		}
	}
	root := bearing(g.token("root", "admin", "*", "*"))
	for _, role := range []string{"viewer", "admin"} {
		who := bearing(g.token(role, role, "prod", "shop"))
		for _, c := range calls {
			w := g.as(who, c.method, c.path, c.body)
			// What a caller asked for by name is repeated.
			text := strings.NewReplacer("/pods/vault/vault-low", "", `namespace \"vault\" of`, "").Replace(w.Body.String())
			if strings.Contains(text, accesstest.Hidden) {
				t.Errorf("%s %s as %s: %d %s", c.method, c.path, role, w.Code, text)
			}
		}
		for _, path := range shown {
			mine, all := g.as(who, "GET", path, ""), g.as(root, "GET", path, "")
			if mine.Code != http.StatusOK || !strings.Contains(mine.Body.String(), "shop") || !strings.Contains(all.Body.String(), accesstest.Hidden) {
				t.Errorf("%s as %s: %d %s\nas root: %s", path, role, mine.Code, mine.Body, all.Body)
			}
		}
	}
}
