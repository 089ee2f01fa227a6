package main

import (
	"fmt"
	"strings"
	"time"
)

// auditMemory are C1 and C2.
var auditMemory = []audited{
	{"C1", "a preferred term that spells another pod's required one, then that pod", "201 Unschedulable, and on record", func(a *attack) {
		all := nodes(3, 0)
		all[1] = strings.Replace(all[1], `"labels":{`, `"labels":{"disk":"ssd","topology.kubernetes.io/zone":"z",`, 1)
		a.send("POST", "/v1/snapshots?cluster=demo", list(all))
	}, func(a *attack) string {
		evil := podWith("", `,"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":{"matchExpressions":[{"key":"disk","operator":"In","values":["ssd\u0000topology.kubernetes.io/zone\u0001Exists"]}]}}]}}`, "")
		victim := nodeAffinity(`{"matchExpressions":[{"key":"disk","operator":"In","values":["ssd"]},{"key":"topology.kubernetes.io/zone","operator":"Exists"}]}`)
		return a.decision("demo", evil, "") + ", then " + a.decision("demo", victim, "")
	}},
	{"C2 a", "60 MiB of flow YAML in gzip", "killed after 18.6 s (4 GiB)", nil, func(a *attack) string {
		return a.answer("POST", "/v1/snapshots?cluster=y", zip("items : [\n"+strings.Repeat("x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,\n", 60<<20/33)), "Content-Type", "application/yaml", "Content-Encoding", "gzip")
	}},
	{"C2 b", "24,000 profiles in a decision", "killed after 22.7 s (4 GiB)", nodesOf("good", 5), func(a *attack) string {
		return a.decision("good", onePod, `,"config":`+config(24_000))
	}},
	{"C2 b'", "18,000 profiles in a batch replay", "201, 2.8 GB, and again after a restart", nodesOf("good", 5), func(a *attack) string {
		return a.answer("POST", "/v1/replays", `{"cluster":"good","config":`+config(18_000)+`}`)
	}},
	{"C2 c", "38 bodies of 110 MiB to made-up clusters, `/shadow/filter`, the last byte held back", "killed after 4 s (4 GiB)", nil, func(a *attack) string {
		a.times(38, func(i int) { a.unfinished(fmt.Sprintf("/clusters/x%d/shadow/filter", i), 110<<20, 110<<20-1, "") })
		return "refused before they are read"
	}},
	{"C2 c'", "160 announcements of 128 MiB with one byte", "4.6 GB", nil, func(a *attack) string {
		a.times(160, func(i int) { a.unfinished(fmt.Sprintf("/clusters/x%d/filter", i), 128<<20, 1, "") })
		a.stay(time.Second)
		return "nothing is allocated for them"
	}},
	{"C2 d", "500,000 kinds that are not kept, 60 changes, then the list four times", "no answer, 4.7 GB for one list", func(a *attack) {
		a.send("POST", "/v1/snapshots?cluster=u", list(append(strings.Split(items(500_000, `{"kind":"K%d","apiVersion":"x/v1"}`), ","), nodes(1, 0)...)))
		for i := range 60 {
			a.send("POST", "/v1/snapshots/u@latest/changes", change("apply", fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"m%d"}}`, i)))
		}
	}, func(a *attack) string {
		return a.each(4, func(int) string { return a.answer("GET", "/v1/snapshots?cluster=u", "") })
	}},
	{"C2 e", "400 decisions with a NotIn of 130,000 values each", "461 MB stay", nodesOf("good", 6), func(a *attack) string {
		return a.each(4, func(worker int) (last string) {
			for i := range 100 {
				last = a.decision("good", nodeAffinity(`{"matchExpressions":[{"key":"x","operator":"NotIn","values":[`+items(130_000, fmt.Sprintf(`"%d-%d-%%d"`, worker, i))+`]}]}`), "")
			}
			return "100 times " + last
		})
	}},
	{"C2", "5,000 whole nodes with 450 labels each, 30 MB", "729 MB", nodesOf("good", 5), func(a *attack) string {
		return a.answer("POST", "/clusters/good/filter", strings.ReplaceAll(`{"Pod":`+onePod+`,"Nodes":{"items":[`+strings.Join(nodes(5000, 450), ",")+`]}}`, "example.com/label-", "l"))
	}},
}
