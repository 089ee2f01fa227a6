package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// jobs returns the ids of the jobs that there are.
func (a *attack) jobs() (ids []string) {
	res, err := http.Get(a.url + "/v1/simulations?limit=100")
	if err != nil {
		return nil
	}
	defer func() { _ = res.Body.Close() }()
	var page struct{ Items []struct{ ID string } }
	_ = json.NewDecoder(res.Body).Decode(&page) // a refusal has none
	for _, j := range page.Items {
		ids = append(ids, j.ID)
	}
	return ids
}

// scenarios ask what comes next, with as much as it takes, in calls and as jobs.
var scenarios = []vector{
	{"scenarios: 5,000 nodes of 20,000 pods, every verb", func(a *attack) {
		a.upload("next", 5000, 20_000, waitingPod(0))
		deployment := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","namespace":"d"},"spec":{"replicas":90000,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1m"}}}]}}}}`
		bodies := []string{
			`fit {"max":100000,"placements":true,"by":"node","pod":` + amount("1m"),
			`drains {"find":5000,"force":true`,
			`losses {"nodes":[` + items(4900, `"n%d"`) + `]`,
			`pools {"for":{"workloads":[{"count":90000,"pod":` + amount("1") + `}]},"pools":[{"like":"n0","max":4000},{"like":"n1","max":900}]`,
			`rollouts {"deployment":` + deployment,
			`rollouts {"statefulSet":` + strings.Replace(deployment, "Deployment", "StatefulSet", 1),
			`rollouts {"daemonSet":` + strings.NewReplacer("Deployment", "DaemonSet", `"replicas":90000,`, "").Replace(deployment),
			`fit {"pod":` + amount("1m") + `,"edits":{"addNodes":[{"like":"n0","count":5000}]}`,
		}
		a.times(30, func(i int) {
			verb, body, _ := strings.Cut(bodies[i%len(bodies)], " ")
			a.send("POST", "/v1/clusters/next/"+verb, body+[]string{"}", `,"wait":"1s"}`, `,"wait":"0s"}`}[i/len(bodies)%3])
		})
		a.times(8, func(int) { a.send("GET", "/v1/clusters/next/capacity?pool=app", "") })
	}},
	{"simulations: 100,000 arrivals, four configurations, every decision kept, as jobs", func(a *attack) {
		for _, id := range a.jobs() { // or there would be too many
			a.send("DELETE", "/v1/simulations/"+id, "")
		}
		body := `{"base":"next@latest","keep":"decisions","profiles":[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"}],"arrivals":{"placed":true,"workloads":[{"count":70000,"pod":` + amount("1m") + `}]},"wait":"%s"}`
		a.times(16, func(i int) { a.send("POST", "/v1/simulations", fmt.Sprintf(body, []string{"0s", "1s"}[i%2])) })
		for time.Now().Before(a.until) {
			a.stay(time.Second)
			ids := a.jobs()
			a.times(4*len(ids), func(i int) { a.send("GET", "/v1/simulations/"+ids[i%len(ids)], "") })
		}
	}},
	{"simulations: 16 MiB of pods as a job, ended at once", func(a *attack) {
		body := `{"base":"next@latest","wait":"0s","arrivals":{"pods":[` + items(60_000, `{"at":"1s","pod":{"metadata":{"name":"q%d","namespace":"d"},"spec":{"containers":[{"name":"c"}]}}}`) + `]}}`
		a.times(8, func(i int) {
			a.send("POST", "/v1/simulations", body)
			for _, id := range a.jobs() {
				a.send([]string{"POST", "DELETE"}[i%2], "/v1/simulations/"+id+[]string{"/cancel", ""}[i%2], "")
			}
		})
	}},
}
