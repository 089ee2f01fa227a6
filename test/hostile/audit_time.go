package main

import (
	"fmt"
	"strings"
	"time"
)

func gt(n int) string {
	return nodeAffinity(`{"matchExpressions":[` + items(n, `{"key":"kubernetes.io/hostname","operator":"Gt","values":["1"]}`) + `]}`)
}

func exists(n int) string {
	return nodeAffinity(items(n, `{"matchExpressions":[{"key":"x%d","operator":"Exists"}]}`))
}

func constraint(more string) string {
	return podWith("", `,"topologySpreadConstraints":[`+more+`]`, "")
}

const spread = `{"maxSkew":1,"topologyKey":"kubernetes.io/hostname","whenUnsatisfiable":"ScheduleAnyway","labelSelector":{"matchLabels":{"a":"b"}}`

// auditTime are H2's requests, those that were fine among them.
var auditTime = []audited{
	{"H2", "25 MB, 200,000 pods on one node", "201 after 162 s, 190 CPU s", nil, func(a *attack) string {
		return a.answer("POST", "/v1/snapshots?cluster=one", list(append(nodes(1, 0), items(200_000, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p%d","namespace":"d"},"spec":{"nodeName":"n0","containers":[{"name":"c"}]}}`))))
	}},
	{"H2", "`config` with 60,000 unknown plugins", "no answer after 120 s", nodesOf("good", 5), func(a *attack) string {
		return a.decision("good", onePod, `,"config":{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","profiles":[{"plugins":{"filter":{"enabled":[`+items(60_000, `{"name":"P%d"}`)+`]}}}]}`)
	}},
	{"H2", "16,000 profiles of one name", "no answer, 11 CPU s", nodesOf("good", 5), func(a *attack) string {
		return a.decision("good", onePod, `,"config":{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","profiles":[`+items(16_000, `{"schedulerName":"s"}`)+`]}`)
	}},
	{"H2", "a term of 30,000 `hostname Gt 1`, 5,000 nodes", "no answer, 50.6 CPU s", nodesOf("good", 5000), func(a *attack) string { return a.decision("good", gt(30_000), "") }},
	{"H2", "6,000 of them by `/filter`, four at once", "no answers after 37 s, 67.8 CPU s", nodesOf("good", 5000), func(a *attack) string {
		return a.each(4, func(int) string {
			return a.answer("POST", "/clusters/good/filter", `{"Pod":`+gt(6000)+`,"NodeNames":["n0"]}`)
		})
	}},
	{"H2", "64 of them, which the limits let in", "", nodesOf("good", 5000), func(a *attack) string { return a.decision("good", gt(64), "") }},
	{"H2", "80,000 matchLabelKeys", "no answer, 29.7 CPU s", nodesOf("good", 6), func(a *attack) string {
		return a.decision("good", constraint(spread+`,"matchLabelKeys":[`+items(80_000, `"k%d"`)+`]}`), "")
	}},
	{"H2", "2,000 Exists terms, suggestions, 5,000 nodes", "7.3 s", nodesOf("good", 5000), func(a *attack) string { return a.decision("good", exists(2000), `,"suggest":true`) }},
	{"H2", "64 of them, which the limits let in", "", nodesOf("good", 5000), func(a *attack) string { return a.decision("good", exists(64), `,"suggest":true`) }},
	{"H2", "60,000 matchLabelKeys and mismatchLabelKeys", "11 s", nodesOf("good", 6), func(a *attack) string {
		term := `{"topologyKey":"kubernetes.io/hostname","labelSelector":{},"matchLabelKeys":[` + items(60_000, `"k%d"`) + `],"mismatchLabelKeys":[` + items(60_000, `"m%d"`) + `]}`
		return a.decision("good", podWith("", `,"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[`+term+`]}}`, ""), "")
	}},
	{"H2", "40,000 spread constraints, 5,000 nodes", "15 s, +780 MB", nodesOf("good", 5000), func(a *attack) string {
		return a.decision("good", constraint(items(20_000, spread+`}`)), "")
	}},
	{"H2, fine", "60,000 tolerations", "0.1 s", nodesOf("good", 5), func(a *attack) string {
		return a.decision("good", podWith("", `,"tolerations":[`+items(60_000, `{"key":"k%d","operator":"Exists"}`)+`]`, ""), "")
	}},
	{"H2, fine", "25,000 containers", "0.2 s", nodesOf("good", 5), func(a *attack) string {
		return a.decision("good", podWith("", `,"initContainers":[`+items(25_000, `{"name":"i%d","image":"i"}`)+`]`, ""), "")
	}},
	{"H2, fine", "70,000 resource names", "1.4 s", nodesOf("good", 5), func(a *attack) string {
		return a.decision("good", podWith("", `,"overhead":{`+items(70_000, `"a.b/r%d":"1"`)+`}`, ""), "")
	}},
	{"H2, fine", "70,000 node selectors", "0.4 s", nodesOf("good", 5), func(a *attack) string {
		return a.decision("good", podWith("", `,"nodeSelector":{`+items(70_000, `"k%d":"v"`)+`}`, ""), "")
	}},
	{"H2, fine", "100,000 node names", "0.06 s", nodesOf("good", 5), func(a *attack) string {
		return a.decision("good", onePod, `,"nodeNames":[`+items(100_000, `"n%d"`)+`]`)
	}},
	{"H2, fine", "200,000 victims", "0.5 s", nodesOf("good", 5000), func(a *attack) string {
		return a.answer("POST", "/clusters/good/preempt", `{"Pod":`+onePod+`,"NodeNameToMetaVictims":{`+items(4900, `"n%d":{"Pods":[`+strings.TrimSuffix(strings.Repeat(`{"UID":"u"},`, 40), ",")+`]}`)+`}}`)
	}},
	{"H2", "five callers that hang up after 0.3 s, 20,000 nodes", "the work goes on", nodesOf("wide", 20_000), func(a *attack) string {
		pod := podWith("", `,"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"kubernetes.io/hostname","labelSelector":{}}]}}`, "")
		return a.each(5, func(int) string {
			hasty := &attack{server: a.server, until: time.Now().Add(300 * time.Millisecond), statuses: map[int]int{}}
			return hasty.answer("POST", "/v1/decisions", fmt.Sprintf(`{"snapshot":"wide@latest","dryRun":true,"explain":"all","suggest":true,"pod":%s}`, pod))
		})
	}},
}
