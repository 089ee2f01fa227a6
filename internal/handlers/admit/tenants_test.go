package admit

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/access"
	"berth/internal/handlers/exchange"
	"berth/internal/handlers/limits"
)

// TestTenantsTakeTurns: of four tenants one sends twenty times what the others do, all of it before
// they begin. In every class of calls the others are served before that one has had more turns than
// they; make tenancy measures the same in time.
func TestTenantsTakeTurns(t *testing.T) {
	const each = 2
	l := limits.Default()
	for _, n := range []*int{&l.FilterInFlight, &l.NodesInFlight, &l.BindInFlight, &l.SnapshotInFlight, &l.DecisionInFlight, &l.ReplayInFlight, &l.ScenarioInFlight, &l.ReadInFlight, &l.QueryInFlight} {
		*n = 1
	}
	for _, n := range []*int{&l.FilterQueue, &l.NodesQueue, &l.BindQueue, &l.SnapshotQueue, &l.DecisionQueue, &l.ReplayQueue, &l.ScenarioQueue, &l.ReadQueue, &l.QueryQueue} {
		*n = 25 * each
	}
	l.FilterTotal, l.NodesTotal, l.BindTotal, l.SnapshotTotal = 1, 1, 1, 1
	l.ExtenderQueueWait, l.ExtenderDeadline, l.QueryDeadline, l.DecisionDeadline = time.Minute, time.Minute, time.Minute, time.Minute
	a, err := New(&Options{Limits: l})
	if err != nil {
		t.Fatal(err)
	}
	a.PassCalls.gate.queue = 25 * each // its places are as many as its slots
	for name, c := range map[string]*CallClass{
		"filter": a.FilterCalls, "nodes": a.NodesCalls, "bind": a.BindCalls, "shadow pass": a.PassCalls, "snapshot": a.SnapshotCalls,
		"decision": a.DecisionCalls, "replay": a.ReplayCalls, "scenario": a.ScenarioCalls, "read": a.ReadCalls, "query": a.QueryCalls,
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var order []string
			let := make(chan struct{})
			serve := func(w http.ResponseWriter, r *http.Request) error {
				mu.Lock()
				order = append(order, access.From(r.Context()).Name)
				mu.Unlock()
				<-let
				w.WriteHeader(http.StatusNoContent)
				return nil
			}
			handler := a.Observe(&mounted{Endpoint: &Endpoint{Need: exchange.Need{Scope: exchange.Open}, serve: serve, class: c}, a: a})
			var group sync.WaitGroup
			waiting := func(n int) {
				waitUntil(t, func() bool { c.gate.mu.Lock(); defer c.gate.mu.Unlock(); return c.gate.waiting == n })
			}
			send := func(tenant string, n int) {
				who := &access.Identity{Kind: access.KindToken, Name: tenant, Grants: access.All}
				for range n {
					group.Go(func() {
						w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/", http.NoBody)
						if handler.ServeHTTP(w, r.WithContext(access.With(r.Context(), who, "", ""))); w.Code != http.StatusNoContent {
							t.Errorf("%s: %d %s", tenant, w.Code, w.Body)
						}
					})
				}
			}
			send("noisy", 20*each)
			waiting(20*each - 1)
			for i, tenant := range []string{"a", "b", "c"} {
				send(tenant, each)
				waiting(20*each - 1 + (i+1)*each)
			}
			close(let)
			group.Wait()
			// The noisy tenant's first turn was before the others came; then it has one each round.
			if begun := strings.Join(order[:1+4*each], " "); strings.Count(begun, "noisy") != 1+each {
				t.Errorf("the order was %s", begun)
			}
		})
	}
}
