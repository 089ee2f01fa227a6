package handlers

import (
	"encoding/json"
	goflag "flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var updateFrozen = goflag.Bool("update", false, "write testdata/frozen.txt again")

// frozenCalls are a request of each kind, in order: the later ones need what the earlier ones made.
// {POD} is a pod that fits, {BIG} one that has to preempt, {LAST} the id in the answer before.
var frozenCalls = []string{
	`GET /v1/snapshots/shop@latest`,
	`GET /v1/snapshots/shop@latest/objects?kind=Node&limit=3`,
	`GET /v1/clusters`,
	`GET /v1/clusters/shop`,
	`POST /v1/decisions {"snapshot":"shop@1","dryRun":true,"explain":"full","now":"2026-11-21T10:00:00Z","pod":{POD}}`,
	`POST /v1/decisions {"snapshot":"shop@1","dryRun":true,"explain":"groups","now":"2026-11-21T10:00:00Z","pod":{BIG}}`,
	`POST /v1/decisions {"snapshot":"shop@1","dryRun":true,"explain":"full","suggest":true,"now":"2026-11-21T10:00:00Z","podRef":{"namespace":"shop","name":"huge"}}`,
	`POST /v1/decisions {"snapshot":"shop@1","explain":"none","now":"2026-11-21T10:00:00Z","podRef":{"namespace":"shop","name":"web-4"}}`,
	`GET /v1/decisions/{LAST}`,
	`POST /v1/decisions/{LAST}/replay {}`,
	`GET /v1/decisions?cluster=shop`,
	`POST /v1/decisions {"snapshot":"shop@latest","bind":true,"explain":"none","now":"2026-11-21T10:00:00Z","podRef":{"namespace":"shop","name":"small"}}`,
	`POST /v1/decisions {"snapshot":"shop@latest","bind":true,"podRef":{"namespace":"shop","name":"small"}}`,
	`POST /v1/decisions {"snapshot":"shop@latest","pod":{"spec":{"containers":[{"resources":{"requests":{"cpu":"x"}}}]}}}`,
	`POST /v1/decisions {"snapsot":"shop@latest"}`,
	`POST /clusters/shop/filter {"Pod":{POD},"NodeNames":["n-a1","n-a3","n-b2","n-c2","ghost"]}`,
	`POST /clusters/shop/prioritize {"Pod":{POD},"NodeNames":["n-a1","n-c2","n-x1"]}`,
	`POST /clusters/shop/preempt {"Pod":{BIG},"NodeNameToMetaVictims":{"n-c1":{"Pods":[]}}}`,
	`POST /clusters/shop/shadow/filter {"Pod":{POD},"NodeNames":["n-a1","n-a3"]}`,
	`POST /clusters/shop/bind {"PodName":"web-4","PodNamespace":"shop","PodUID":"none","Node":"n-c2"}`,
	`POST /clusters/nowhere/filter {"Pod":{POD},"NodeNames":["n-a1"]}`,
	`GET /v1/clusters/shop/queue?now=2026-11-21T10:00:02Z`,
	`GET /v1/clusters/shop/pending?now=2026-11-21T10:00:02Z`,
	`GET /v1/clusters/shop/pods/shop/web-4?now=2026-11-21T10:00:02Z`,
	`GET /v1/clusters/shop/capacity`,
	`GET /v1/clusters/shop/classes`,
	`GET /v1/clusters/shop/nodes`,
	`GET /v1/clusters/shop/nodes/n-a1`,
	`POST /v1/clusters/shop/fit {"max":100,"pod":{POD}}`,
	`POST /v1/clusters/shop/drains {"nodes":["n-a1"]}`,
	`POST /v1/clusters/shop/losses {"nodes":["n-c1"]}`,
	`POST /v1/clusters/shop/losses {"each":"zone"}`,
	`POST /v1/clusters/shop/drains {"each":"node","force":true}`,
	`POST /v1/clusters/shop/pools {"for":{"workloads":[{"count":9,"pod":{BIG}}]},"pools":[{"like":"n-c1","max":9,"cost":1}]}`,
	`POST /v1/clusters/shop/garbage {"terminatedPodThreshold":1}`,
	`POST /v1/simulations {"base":"shop@1","arrivals":{"pending":true},"edits":{"removeNodes":{"names":["n-a1"]}},"keep":"decisions"}`,
	`POST /v1/pods/admission {"operation":"CREATE","now":"2026-11-21T10:00:00Z","pod":{POD}}`,
	`POST /v1/pods/lifecycle {"now":"2026-11-21T10:00:00Z","snapshot":"shop@1","podRef":{"namespace":"shop","name":"batch-1"}}`,
	`POST /v1/pods/termination {"now":"2026-11-21T10:00:00Z","cause":"delete","snapshot":"shop@1","podRef":{"namespace":"shop","name":"batch-1"}}`,
	`POST /v1/nodes/eviction-ranking {"signal":"memory","pods":[{"pod":{POD},"usage":{"memory":"900Mi"}},{"pod":{BIG},"usage":{"memory":"2Gi"}}]}`,
	`POST /v1/snapshots/shop@latest/changes {"patch":[{"kind":"Node","name":"n-a1","type":"merge","patch":{"spec":{"unschedulable":true}}}]}`,
	`GET /v1/snapshots/shop@1/diff?to=shop@latest`,
	`GET /v1/snapshots?cluster=shop`,
	`DELETE /v1/snapshots/shop@latest`,
	`GET /v1/priorityclasses`,
	`GET /v1/whoami`,
	`GET /v1/snapshots/none`,
	`PUT /v1/decisions {}`,
}

// What differs from run to run: ids, the time of the run, and what is made of them.
var (
	ids     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	moments = regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"`)
	varying = regexp.MustCompile(`"(durationMicros|cursor)":("[^"]*"|\d+)`)
)

// TestFrozenAnswers holds the bytes of answers, digests included, to those of
// testdata/frozen.txt: a change of the code that is none of what is answered leaves them as they
// are. go test ./internal/handlers -run FrozenAnswers -update writes them again.
func TestFrozenAnswers(t *testing.T) {
	h := start(t, nil)
	fixture, err := os.ReadFile(filepath.Join("..", "cli", "testdata", "cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	fixed := string(fixture) // times that stay
	h.want(201, nil, "POST", "/v1/snapshots?cluster=shop", fixed, "Content-Type", "application/yaml")
	of := strings.NewReplacer("{POD}", pod("new", "1", ""), "{BIG}", pod("new", "4", `,"priority":2000`))
	numbers, last := map[string]int{}, ""
	var got strings.Builder
	for _, call := range frozenCalls {
		fields := strings.SplitN(strings.ReplaceAll(of.Replace(call), "{LAST}", last), " ", 3)
		body := ""
		if len(fields) == 3 {
			body = fields[2]
		}
		a := h.do(fields[0], fields[1], body)
		var id struct{ ID string }
		if err := json.Unmarshal(a.body, &id); err == nil && ids.MatchString(id.ID) {
			last = id.ID
		}
		text := ids.ReplaceAllStringFunc(string(a.body), func(s string) string {
			if _, ok := numbers[s]; !ok {
				numbers[s] = len(numbers) + 1
			}
			return fmt.Sprint("ID-", numbers[s])
		})
		text = moments.ReplaceAllStringFunc(text, func(s string) string {
			if strings.Contains(fixed+strings.Join(frozenCalls, ""), s[1:11]) {
				return s
			}
			return `"NOW"`
		})
		text = varying.ReplaceAllString(text, `"$1":"…"`)
		fmt.Fprintf(&got, "%s\n%d %s\n\n", call, a.StatusCode, strings.TrimSpace(strings.ReplaceAll(text, `},{`, "},\n{")))
	}
	const file = "testdata/frozen.txt"
	if *updateFrozen {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got.String()); d != "" {
		t.Errorf("answers changed; if they are to, run this test with -update (-frozen +now):\n%s", d)
	}
}
