package main

import (
	"fmt"
	"strings"
	"time"
)

// upload makes a cluster of nodes and bound pods, with more objects.
func (a *attack) upload(cluster string, nodeCount, podCount int, more ...string) {
	all := nodes(nodeCount, 0)
	for i := range podCount {
		all = append(all, boundPod(i, i%nodeCount))
	}
	a.send("POST", "/v1/snapshots?cluster="+cluster, list(append(all, more...)))
}

func boundPod(i, node int) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p%d","namespace":"d","uid":"u%d","labels":{"app":"a%d"}},"spec":{"nodeName":"n%d","priority":0,"containers":[{"name":"c","resources":{"requests":{"cpu":"10m"}}}]}}`, i, i, i%50, node)
}

// waitingPod fits nowhere.
func waitingPod(i int) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"w%d","namespace":"d","uid":"w%d"},"spec":{"priority":10,"containers":[{"name":"c","resources":{"requests":{"cpu":"%dm"}}}]}}`, i, i, 9000+i)
}

func change(kind, list string) string { return `{"` + kind + `":[` + list + `]}` }

// verbs ask everything that there is to ask, with as much as it takes.
var verbs = []vector{
	{"filter, prioritize: 100 clusters that are there, 2 MiB each", func(a *attack) {
		for i := range 100 { // one after the other: uploads have two slots
			a.send("POST", fmt.Sprintf("/v1/snapshots?cluster=f%d-%d", i%20, i/20), list(nodes(2, 0)))
		}
		pod := podWith(`,"annotations":{"a":"`+strings.Repeat("x", 1<<20)+`"}`, "", "")
		body := `{"Pod":` + pod + `,"Nodes":null,"NodeNames":[` + items(14_000, `"n%d"`) + `]}`
		a.times(200, func(i int) {
			a.send("POST", fmt.Sprintf("/clusters/f%d-%d/%s", i%20, i/20%5, []string{"filter", "prioritize"}[i%2]), body)
		})
	}},
	{"score-only: 100 clusters that are there, all nodes whole", func(a *attack) {
		body := `{"Pod":` + onePod + `,"Nodes":{"items":[` + strings.Join(nodes(1000, 300), ",") + `]}}`
		a.times(40, func(i int) {
			a.send("POST", fmt.Sprintf("/clusters/f%d-%d/score-only/prioritize", i%20, i/20%5), body)
		})
	}},
	{"preempt: 200,000 victims", func(a *attack) {
		victims := items(4900, `"n%d":{"Pods":[`+items(40, `{"UID":"11111111-2222-3333-4444-555555555555"}`)+`]}`)
		body := `{"Pod":` + onePod + `,"NodeNameToMetaVictims":{` + victims + `}}`
		whole := `{"Pod":` + onePod + `,"NodeNameToVictims":{` + strings.ReplaceAll(victims, `"UID":"11111111-2222-3333-4444-555555555555"`, `"metadata":{"uid":"1","labels":{"a":"b"}},"spec":{"priority":1}`) + `}}`
		a.times(16, func(i int) {
			a.send("POST", fmt.Sprintf("/clusters/f%d-0/%spreempt", i, []string{"", "shadow/"}[i%2]), []string{body, whole}[i/2%2])
		})
	}},
	{"bind: 2,000 at once", func(a *attack) {
		a.times(2000, func(i int) {
			a.send("POST", fmt.Sprintf("/clusters/f%d-0/bind", i%20), fmt.Sprintf(`{"PodName":"b%d","PodNamespace":"d","PodUID":"%s","Node":"n0"}`, i, strings.Repeat("u", 15_000)))
		})
	}},
	{"explain all: 20,000 nodes, 16 at once", func(a *attack) {
		a.upload("wide", 20_000, 0)
		pod := podWith("", `,"nodeSelector":{"a":"b"},"tolerations":[],"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"kubernetes.io/hostname","labelSelector":{}}]}}`, "")
		a.times(32, func(i int) {
			a.send("POST", "/v1/decisions", `{"snapshot":"wide@latest","dryRun":true,"explain":"`+[]string{"all", "full", "groups", "failures"}[i%4]+`","pod":`+[]string{pod, onePod}[i/4%2]+`}`)
		})
	}},
	{"zones: each node its own, 16 constraints", func(a *attack) {
		all := nodes(10_000, 0)
		for i := range all {
			all[i] = strings.Replace(all[i], `"labels":{`, fmt.Sprintf(`"labels":{"topology.kubernetes.io/zone":"z%d",`, i), 1)
		}
		a.send("POST", "/v1/snapshots?cluster=zones", list(all))
		pod := podWith(`,"labels":{"app":"a"}`, `,"topologySpreadConstraints":[`+items(16, `{"maxSkew":1%d,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"ScheduleAnyway","labelSelector":{"matchLabels":{"app":"a"}}}`)+`]`, "")
		a.times(32, func(int) {
			a.send("POST", "/v1/decisions", `{"snapshot":"zones@latest","dryRun":true,"explain":"full","pod":`+pod+`}`)
		})
	}},
	{"suggest: pods that fit nowhere, 5,000 nodes", func(a *attack) {
		a.upload("tight", 5000, 20_000, waitingPod(0))
		pod := podWith("", `,"priority":100,"nodeSelector":{"a":"b"},"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[`+items(60, `{"matchExpressions":[{"key":"x%d","operator":"Exists"}]}`)+`]}}}`, "")
		a.times(32, func(int) {
			a.send("POST", "/v1/decisions", `{"snapshot":"tight@latest","dryRun":true,"suggest":true,"explain":"groups","pod":`+pod+`}`)
		})
	}},
	{"preemption: 5,000 nodes of 20,000 pods", func(a *attack) {
		pod := `{"metadata":{"name":"p","namespace":"d"},"spec":{"priority":1000,"containers":[{"name":"c","resources":{"requests":{"cpu":"7990m"}}}]}}`
		a.times(32, func(int) {
			a.send("POST", "/v1/decisions", `{"snapshot":"tight@latest","dryRun":true,"explain":"full","pod":`+pod+`}`)
		})
	}},
	{"changes: 16 MiB of pods, 16 at once", func(a *attack) {
		a.upload("moved", 5, 0)
		body := change("apply", items(36_000, strings.ReplaceAll(boundPod(77777, 0), "77777", "%d")))
		a.times(16, func(i int) {
			a.send("POST", "/v1/snapshots/moved@latest/changes", strings.Replace(body, `"apply"`, []string{`"apply"`, `"replace"`}[i%2], 1))
		})
	}},
	{"changes: one pod of two million volumes", func(a *attack) {
		body := change("apply", `{"apiVersion":"v1","kind":"Pod",`+podWith("", `,"volumes":[`+items(1_300_000, `{}`)+`]`, "")[1:])
		patch := change("patch", `{"kind":"Node","name":"n0","type":"merge","patch":{"metadata":{"labels":{`+items(900_000, `"k%d":""`)+`}}}}`)
		a.times(16, func(i int) {
			a.send("POST", "/v1/snapshots/moved@latest/changes", []string{body, patch}[i%2])
		})
	}},
	{"changes: 200,000 deletions", func(a *attack) {
		body := change("delete", items(200_000, `{"kind":"Pod","namespace":"d","name":"p%d"}`))
		a.times(16, func(int) { a.send("POST", "/v1/snapshots/moved@latest/changes", body) })
	}},
	{"lifecycle, termination: 512 containers", func(a *attack) {
		pod := podWith("", `,"initContainers":[`+items(500, `{"name":"i%d","image":"i"}`)+`]`, `"containerStatuses":[`+items(500, `{"name":"i%d"}`)+`]`)
		a.times(32, func(i int) {
			a.send("POST", []string{"/v1/pods/lifecycle", "/v1/pods/termination?fieldValidation=Warn"}[i%2],
				[]string{`{"pod":` + pod + `,"events":[` + items(60_000, `{}`) + `]}`, `{"cause":"delete","pod":` + pod + `,"then":[` + items(60_000, `{}`) + `]}`}[i%2])
		})
	}},
	{"eviction, ranking: 20,000 pods", func(a *attack) {
		candidates := items(14_000, `{"pod":{"metadata":{"name":"p%d"},"spec":{"containers":[{"name":"c"}]}},"usage":{"memory":"1Gi"}}`)
		a.times(32, func(i int) {
			a.send("POST", []string{"/v1/nodes/eviction-ranking", "/v1/nodes/eviction"}[i%2],
				[]string{`{"signal":"memory","pods":[` + candidates + `]}`, `{"signals":{"memory.available":{"available":"1Mi","capacity":"8Gi"}},"pods":[` + candidates + `]}`}[i%2])
		})
	}},
	{"profiles: 16 with all that they hold", func(a *attack) {
		args := items(250, `{"name":"ImageLocality"}`)
		all := items(16, `{"schedulerName":"s%d","plugins":{"filter":{"disabled":[`+args+`]},"score":{"disabled":[`+args+`]}}}`)
		a.times(32, func(i int) {
			a.send("POST", "/v1/decisions", `{"snapshot":"good@latest","dryRun":true,"pod":`+onePod+`,"config":{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","profiles":[`+all+`]}}`)
		})
	}},
	{"priority classes: 3,000 of 60 KiB", func(a *attack) {
		text := strings.Repeat("d", 60<<10)
		a.times(8, func(worker int) {
			for i := 0; i < 375 && time.Now().Before(a.until); i++ {
				a.send("POST", "/v1/priorityclasses", fmt.Sprintf(`{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"c%d-%d"},"value":1,"description":"%s"}`, worker, i, text))
			}
		})
		a.times(16, func(int) { a.send("GET", "/v1/priorityclasses", "") })
	}},
}
