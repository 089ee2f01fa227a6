package handlers

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"berth/test/stepstest"
)

// longCall is a call whose work grows with what its caller sends or has stored.
type longCall struct {
	name, method, path, body string
	looks                    int // at its context, at least
}

const (
	longNodes = 500
	longPods  = 2000 // on nodes, and a fifth as many that wait
)

// longState is a cluster in which calls take long: pods of many shapes with terms of their own,
// budgets, and pods that wait for nodes that do not come.
func longState() string {
	var list []string
	for i := range longNodes {
		list = append(list, node(fmt.Sprintf("n%04d", i), "4", "zone", fmt.Sprint(i%7), "rank", fmt.Sprint(i)))
	}
	for i := range longPods {
		more := fmt.Sprintf(`,"nodeName":"n%04d","priority":%d`, i%longNodes, i%50)
		if i%4 == 0 {
			more += fmt.Sprintf(`,"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"a%d"}}}]}}`, i)
		}
		list = append(list, labelled(pod(fmt.Sprintf("p%05d", i), "100m", more), i))
	}
	for i := range longPods / 5 {
		list = append(list, labelled(pod(fmt.Sprintf("w%05d", i), "64", fmt.Sprintf(`,"priority":%d`, 100+i)), i))
	}
	for i := range 50 {
		list = append(list, fmt.Sprintf(`{"kind":"PodDisruptionBudget","apiVersion":"policy/v1","metadata":{"name":"b%d","namespace":"shop"},"spec":{"selector":{"matchLabels":{"app":"a%d"}}},"status":{"disruptionsAllowed":0}}`, i, i))
	}
	for i := range 500 {
		list = append(list, global("scheduling.k8s.io/v1", "PriorityClass", fmt.Sprintf("c%d", i), fmt.Sprintf(`"value":%d`, i)))
	}
	return listOf(list...)
}

func labelled(pod string, i int) string {
	return strings.Replace(pod, `"metadata":{`, fmt.Sprintf(`"metadata":{"labels":{"app":"a%d","n":"%d"},`, i, i), 1)
}

// longCalls are the calls over two revisions of longState. Recorded is the id of a decision.
func longCalls(recorded string) []longCall {
	var nodes, names, victims []string
	for i := range longNodes {
		name := fmt.Sprintf("n%04d", i)
		names = append(names, `"`+name+`"`)
		nodes = append(nodes, node(name, "4"))
		victims = append(victims, fmt.Sprintf(`%q:{"Pods":[{"UID":"uid-p%05d"}]}`, name, i))
	}
	var used, profiles, apply []string
	for i := range longPods {
		used = append(used, fmt.Sprintf(`{"pod":%s,"usage":{"memory":"%dMi"}}`, pod(fmt.Sprintf("p%05d", i), "1", ""), i))
	}
	for i := range 32 {
		profiles = append(profiles, fmt.Sprintf(`{"schedulerName":"s%d"}`, i))
	}
	for i := range 2000 {
		apply = append(apply, labelled(pod(fmt.Sprintf("new%d", i), "1", ""), i))
	}
	greedy := pod("greedy", "3900m", `,"priority":1000`)
	hard := laborious()
	config := `"config":{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","profiles":[` + strings.Join(profiles, ",") + `]}`
	return []longCall{
		{"decision", "POST", "/v1/decisions", `{"pod":` + hard + `}`, 200},
		{"dry run with suggestions", "POST", "/v1/decisions", `{"dryRun":true,"suggest":true,"pod":` + hard + `}`, 200},
		{"all rules", "POST", "/v1/decisions", `{"dryRun":true,"explain":"all","pod":` + hard + `}`, 200},
		{"groups", "POST", "/v1/decisions", `{"dryRun":true,"explain":"groups","pod":` + hard + `}`, 200},
		{"preemption", "POST", "/v1/decisions", `{"dryRun":true,"explain":"full","pod":` + greedy + `}`, 3},
		{"32 profiles", "POST", "/v1/decisions", `{"dryRun":true,` + config + `,"pod":` + greedy + `}`, 3},
		{"replay", "POST", "/v1/decisions/" + recorded + "/replay", `{}`, 200},
		{"replay of another pod", "POST", "/v1/decisions/" + recorded + "/replay", `{"pod":` + hard + `}`, 200},
		{"pending", "GET", "/v1/clusters/default/pending?suggest=true", "", 400},
		{"story", "GET", "/v1/clusters/default/pods/shop/w00001?suggest=true", "", 5},
		{"queue", "GET", "/v1/clusters/default/queue", "", 2},
		{"classes in use", "GET", "/v1/clusters/default/classes", "", 5},
		{"priority classes", "GET", "/v1/priorityclasses", "", 5},
		{"diff", "GET", "/v1/snapshots/default@1/diff?to=default@2&limit=500", "", 50},
		{"garbage", "POST", "/v1/clusters/default/garbage", `{"now":"2026-01-31T12:00:00Z"}`, 20},
		{"capacity", "GET", "/v1/clusters/default/capacity", "", 5},
		{"drain", "POST", "/v1/clusters/default/drains", `{"selector":"zone","force":true}`, 200},
		{"loss", "POST", "/v1/clusters/default/losses", `{"selector":"zone"}`, 200},
		{"simulation", "POST", "/v1/simulations", `{"base":"default@latest","arrivals":{"placed":true},"keep":"moves"}`, 200},
		{"eviction ranking", "POST", "/v1/nodes/eviction-ranking", `{"signal":"memory","pods":[` + strings.Join(used, ",") + `]}`, 100},
		{"eviction", "POST", "/v1/nodes/eviction", `{"signals":{"memory.available":{"available":"1Mi","capacity":"8Gi"}},"pods":[` + strings.Join(used, ",") + `]}`, 100},
		{"filter by names", "POST", "/filter", `{"Pod":` + hard + `,"NodeNames":[` + strings.Join(names, ",") + `]}`, 200},
		{"prioritize by names", "POST", "/prioritize", `{"Pod":` + greedy + `,"NodeNames":[` + strings.Join(names, ",") + `]}`, 2},
		{"filter by nodes", "POST", "/filter", `{"Pod":` + hard + `,"Nodes":` + listOf(nodes...) + `}`, 200},
		{"preempt", "POST", "/preempt", `{"Pod":` + greedy + `,"NodeNameToMetaVictims":{` + strings.Join(victims, ",") + `}}`, 2},
		{"changes", "POST", "/v1/snapshots/default@latest/changes", `{"apply":[` + strings.Join(apply, ",") + `]}`, 200},
		{"upload", "POST", "/v1/snapshots?cluster=other", longState(), 200},
	}
}

func (h *harness) longStates() (recorded string) {
	h.upload("default", longState())
	h.upload("default", strings.ReplaceAll(longState(), `"cpu":"64"`, `"cpu":"65"`))
	var d struct {
		ID string `json:"id"`
	}
	h.want(http.StatusCreated, &d, "POST", "/v1/decisions", `{"pod":`+laborious()+`}`)
	return d.ID
}

// late is a context that ends by its deadline at a look.
type late struct{ *stepstest.Context }

func (l late) Err() error {
	if l.Context.Err() != nil {
		return context.DeadlineExceeded
	}
	return nil
}

// within answers a call under a context of the test's in place of its deadline.
func (h *harness) within(c *longCall, of func(parent context.Context) context.Context) *httptest.ResponseRecorder {
	h.api.WithDeadline = func(parent context.Context, _ time.Time) (context.Context, context.CancelFunc) {
		return of(parent), func() {}
	}
	defer func() { h.api.WithDeadline = context.WithDeadline }()
	r := httptest.NewRequest(c.method, "http://127.0.0.1"+c.path, strings.NewReader(c.body))
	r.Header.Set("Content-Type", "application/json")
	a := httptest.NewRecorder()
	h.api.Handler().ServeHTTP(a, r)
	return a
}

// answerAt answers a call whose deadline is over at a look at its context; 0: never. Nothing is in
// memory of the calls before.
func (h *harness) answerAt(c *longCall, look int) (a *httptest.ResponseRecorder, looks int) {
	h.m.Relieve()
	var seen *stepstest.Context
	a = h.within(c, func(parent context.Context) context.Context {
		seen = stepstest.After(parent, look)
		return late{seen}
	})
	return a, seen.Looks()
}

// Each call that its caller can make long ends with its deadline, wherever it is by then, and says
// so.
func TestLongCallsEndWithTheirDeadline(t *testing.T) {
	h := start(t, nil)
	for _, c := range longCalls(h.longStates()) {
		t.Run(c.name, func(t *testing.T) {
			h.answerAt(&c, 0) // what is left in memory makes the next time shorter
			a, looks := h.answerAt(&c, 0)
			if a.Code >= 300 || looks < c.looks {
				t.Errorf("%d after %d looks, want %d: %.300s", a.Code, looks, c.looks, a.Body)
			}
			for part := range 4 {
				at := 1 + looks*part/8
				a, n := h.answerAt(&c, at)
				extender := !strings.HasPrefix(c.path, "/v1/")
				if a.Code != http.StatusServiceUnavailable || !extender && (a.Header().Get("Retry-After") == "" || !strings.Contains(a.Body.String(), "urn:berth:problem:deadline")) {
					t.Errorf("ended at look %d of %d: %d %.300s", at, looks, a.Code, a.Body)
				}
				if n > at+20 {
					t.Errorf("ended at look %d, but looked at %d times", at, n)
				}
			}
		})
	}
}

// hungUp is a context whose look at waits until its parent has ended.
type hungUp struct {
	*stepstest.Context
	at    int
	there func() // is called at that look
}

func (c *hungUp) Err() error {
	_ = c.Context.Err()
	if c.Looks() == c.at {
		c.there()
		<-c.Context.Context.Done()
	}
	return c.Context.Context.Err()
}

// Done is the parent's: stepstest's own never ends here.
func (c *hungUp) Done() <-chan struct{} { return c.Context.Context.Done() }

// Who hangs up frees the processor: a call whose client has gone looks at its context a few times
// more at most.
func TestWhoHangsUpFreesTheProcessor(t *testing.T) {
	h := start(t, nil)
	h.upload("default", longState())
	var apply []string
	for i := range 2000 {
		apply = append(apply, labelled(pod(fmt.Sprintf("new%d", i), "1", ""), i))
	}
	changes := `{"apply":[` + strings.Join(apply, ",") + `]}`
	calls := []longCall{ // no upload: its body is read meanwhile, which fails once the client has gone
		{"decision", "POST", "/v1/decisions", `{"dryRun":true,"pod":` + laborious() + `}`, 0},
		{"suggestions", "POST", "/v1/decisions", `{"dryRun":true,"suggest":true,"pod":` + laborious() + `}`, 0},
		{"pending", "GET", "/v1/clusters/default/pending", "", 0},
		{"changes", "POST", "/v1/snapshots/default@latest/changes", changes, 0},
	}
	for _, c := range calls {
		t.Run(c.name, func(t *testing.T) {
			ctx, hangUp := context.WithCancel(t.Context())
			defer hangUp()
			seen := make(chan *hungUp, 1)
			h.api.WithDeadline = func(parent context.Context, _ time.Time) (context.Context, context.CancelFunc) {
				c := &hungUp{Context: stepstest.After(parent, 0), at: 30, there: hangUp}
				seen <- c
				return c, func() {}
			}
			done := make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer close(done)
				h.api.Handler().ServeHTTP(w, r)
			}))
			defer server.Close()
			r, err := http.NewRequestWithContext(ctx, c.method, server.URL+c.path, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			if a, err := h.client.Do(r); err == nil {
				a.Body.Close()
				t.Fatalf("answered with %d before the client hung up", a.StatusCode)
			}
			<-done
			if n := (<-seen).Looks(); n < 30 || n > 50 {
				t.Errorf("looked at %d times, hung up at look 30", n)
			}
		})
	}
}
