package handlers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const (
	urgent = `{"metadata":{"name":"job","namespace":"shop","uid":"j1"},"spec":{"priorityClassName":"urgent","schedulingGates":[{"name":"example.com/q"}],"nodeSelector":{"kubernetes.io/hostname":"a2"},"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"3"}}}]}}`
	large  = `{"metadata":{"name":"big","namespace":"shop"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"4"}}}]}}`
	half   = `{"metadata":{"name":"w","namespace":"shop"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"500m"}}}]}}`
	batch  = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"batch-1","namespace":"shop","labels":{"app":"batch"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"batch-5f","uid":"batch-5f","controller":true}]},` +
		`"spec":{"priorityClassName":"batch","terminationGracePeriodSeconds":60NODE,"containers":[{"name":"batch","image":"registry.example/batch:1","resources":{"requests":{"cpu":"2"}}}]}}`
)

// TestWholeStories puts what readers of the whole story of a pod asked, and could not, each in one
// call, to the cluster of the examples' stories.
func TestWholeStories(t *testing.T) {
	h := start(t, nil)
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", "stories", "cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	objects, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	h.upload("x", string(objects))
	for _, c := range []struct {
		what, method, path, body string
		status                   int
		wants                    []string // in this order
	}{
		{
			"a pod is gated, ungated, waits, preempts, is bound, runs, is deleted and gone, and when", "POST", "/v1/simulations",
			`{"base":"x@1","clock":true,"events":[{"create":{"pod":` + urgent + `}},{"at":"10s","ungate":{"namespace":"shop","name":"job"}},{"at":"10m","delete":{"namespace":"shop","name":"job"}}]}`, 200,
			[]string{`"what":"created","pod":"shop/job"`, `"afterSeconds":10,"what":"ungated","pod":"shop/job"`, `"what":"nominated","pod":"shop/job","node":"a2"`, `"what":"leaves","pod":"shop/batch-1"`, `"afterSeconds":70,"what":"gone","pod":"shop/batch-1"`, `"what":"bound","pod":"shop/job","node":"a2"`, `"afterSeconds":80,"what":"ready","pod":"shop/job"`, `"afterSeconds":600,"what":"leaves","pod":"shop/job"`, `"afterSeconds":630,"what":"gone","pod":"shop/job"`},
		},
		{
			"the story as of an older revision and another time", "GET", "/v1/clusters/x/pods/shop/report?snapshot=x@1&now=2026-11-22T10:00:00Z", "", 200,
			[]string{`"state":"gated"`, `"snapshot":"x@1"`, `"at":"2026-11-22T10:00:00Z"`},
		},
		{"the queue as of an older revision", "GET", "/v1/clusters/x/queue?snapshot=x@1", "", 200, []string{`"snapshot":"x@1"`, `"gated":[{"namespace":"shop","name":"report"`}},
		{"a decision at another time", "POST", "/v1/decisions", `{"snapshot":"x@1","dryRun":true,"now":"2026-11-22T10:00:00Z","podRef":{"namespace":"shop","name":"report"}}`, 200, []string{`"outcome":"Gated"`}},
		{"the manifest of a bound pod again, which leaves it bound", "POST", "/v1/snapshots/x@latest/changes", `{"apply":[` + strings.Replace(batch, "NODE", "", 1) + `]}`, 200, []string{`"id":"x@1"`}},
		{"a bound pod is bound a second time", "POST", "/v1/decisions", `{"snapshot":"x@latest","bind":true,"podRef":{"namespace":"shop","name":"batch-1"}}`, 409, []string{`"conflict":{"node":"a2"`}},
		{"a bound pod is moved", "POST", "/v1/snapshots/x@latest/changes", `{"apply":[` + strings.Replace(batch, "NODE", `,"nodeName":"b2"`, 1) + `]}`, 409, []string{"a pod is bound once in its life"}},
		{
			"an update, one pod after the other, over zones", "POST", "/v1/clusters/x/rollouts", `{"deployment":{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop"},"spec":{"replicas":4,"selector":{"matchLabels":{"app":"web"}},"strategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"web"}}}],"containers":[{"name":"web","image":"registry.example/web:2","resources":{"requests":{"cpu":"1"}}}]}}}}}`, 200,
			[]string{`"outcome":"complete"`},
		},
		{"replicas of a template", "POST", "/v1/simulations", `{"base":"x@1","arrivals":{"workloads":[{"pod":` + half + `,"count":3}]},"keep":"moves"}`, 200, []string{`"placed":3`}},
		{"several pods together", "POST", "/v1/simulations", `{"base":"x@1","arrivals":{"pods":[{"pod":` + half + `},{"pod":` + large + `}]},"keep":"moves"}`, 200, []string{`"placed":1`, `"pending":1`}},
		{"the queue, run", "POST", "/v1/simulations", `{"base":"x@1","arrivals":{"pending":true},"keep":"moves"}`, 200, []string{`"gated":1`}},
		{"how many more replicas fit", "POST", "/v1/clusters/x/fit", `{"pod":` + half + `}`, 200, []string{`"count":12`, `"message":"0/4 nodes are available: 4 Insufficient cpu."`}},
		{"a decision on this state with a node more", "POST", "/v1/decisions", `{"snapshot":"x@1","dryRun":true,"with":{"addNodes":[{"like":"b2"}]},"pod":` + large + `}`, 200, []string{`"outcome":"Scheduled"`, `"node":"b2-`}},
		{"a decision on this state with a pod less", "POST", "/v1/decisions", `{"snapshot":"x@1","dryRun":true,"with":{"delete":[{"kind":"Pod","namespace":"shop","name":"web-7d4b9-4"}]},"pod":` + large + `}`, 200, []string{`"outcome":"Scheduled"`, `"node":"b2"`}},
		{"an edit that cannot be", "POST", "/v1/decisions", `{"snapshot":"x@1","dryRun":true,"with":{"delete":[{"kind":"Pod","namespace":"shop","name":"nobody"}]},"pod":` + large + `}`, 404, []string{`"field":"with.delete[0]`}},
		{"an edit of what is recorded", "POST", "/v1/decisions", `{"snapshot":"x@1","with":{"addNodes":[{"like":"b2"}]},"pod":` + large + `}`, 400, []string{"want dryRun beside it"}},
		{"a drain: which pods go, and where to", "POST", "/v1/clusters/x/drains", `{"nodes":["a1"]}`, 200, []string{`"outcome":"drained"`, `"name":"db-0"`, `"node":"b2"`}},
		{"one pod evicted: where would it go", "POST", "/v1/simulations", `{"base":"x@1","clock":true,"events":[{"evict":{"namespace":"shop","name":"web-7d4b9-1"}}]}`, 200, []string{`"what":"leaves","pod":"shop/web-7d4b9-1"`, `"replacement":{"name":"web-7d4b9-1-2"`}},
		{"a cordon, and a pod deleted", "POST", "/v1/simulations", `{"base":"x@1","clock":true,"events":[{"cordon":{"nodes":["a1"]}},{"delete":{"namespace":"shop","name":"web-7d4b9-1"}}]}`, 200, []string{`"what":"bound","pod":"shop/web-7d4b9-1-2"`}},
		{"a node that does not report: when do its pods go", "POST", "/v1/clusters/x/losses", `{"nodes":["b2"]}`, 200, []string{`"taintedAfterSeconds":50`, `"leavesAfterSeconds":350`, `"node":"b1"`}},
		{"what admission adds", "POST", "/v1/pods/admission", `{"operation":"CREATE","pod":` + strings.Replace(half, `"name":"c"`, `"name":"c","image":"i"`, 1) + `}`, 200, []string{`"node.kubernetes.io/not-ready"`, `"tolerationSeconds":300`}},
		{"would a new node help", "POST", "/v1/decisions", `{"snapshot":"x@1","dryRun":true,"suggest":true,"pod":` + large + `}`, 200, []string{`"suggestions"`, `node like`}},
		{"how many nodes of a kind", "POST", "/v1/clusters/x/pools", `{"pools":[{"like":"b2"}],"for":{"workloads":[{"count":3,"pod":` + large + `}]}}`, 200, []string{`"nodes":3`}},
	} {
		t.Run(c.what, func(t *testing.T) {
			got := string(h.want(c.status, nil, c.method, c.path, c.body).body)
			rest := got
			for _, want := range c.wants {
				at := strings.Index(rest, want)
				if at < 0 {
					t.Fatalf("no %s, or not in this order, in\n%s", want, got)
				}
				rest = rest[at:]
			}
		})
	}
}
