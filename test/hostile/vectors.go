package main

import (
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// review are the requests of the audit that this suite comes from.
var review = []vector{
	{"C2 a: 60 MiB of flow YAML, gzip", func(a *attack) {
		body := zip("items : [\n" + strings.Repeat("x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,\n", 60<<20/33))
		a.times(2, func(i int) {
			a.send("POST", fmt.Sprintf("/v1/snapshots?cluster=y%d", i), body, "Content-Type", "application/yaml", "Content-Encoding", "gzip")
		})
	}},
	{"aliases of aliases, and UTF-16", func(a *attack) {
		bomb := "kind: Node\na0: &a0 [" + strings.Repeat("1,", 900) + "]\n"
		for i := range 9 {
			bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d,", i), 100))
		}
		long := "kind: Node\na: &a " + strings.Repeat("x", 3<<20) + "\nb: [" + strings.Repeat("*a,", 900) + "]\n"
		wide := []byte("\xff\xfe" + strings.Repeat("\x00\xd8", 20<<20)) // halves of characters
		sorted := `{"apiVersion":"v1","items":[` + strings.Repeat(`{"metadata":{"name":"x"}},`, 2_000_000) + `{}],"kind":"NodeList"}`
		for i, body := range [][]byte{[]byte(bomb), []byte(long), wide, []byte(sorted)} {
			a.times(4, func(n int) {
				a.send("POST", fmt.Sprintf("/v1/snapshots?cluster=file%d-%d", i, n), zip(string(body)), "Content-Type", "application/yaml", "Content-Encoding", "gzip")
			})
		}
	}},
	{"C2 b: 24,000 profiles", func(a *attack) {
		body := `{"snapshot":"good@latest","dryRun":true,"pod":` + onePod + `,"config":` + config(24_000) + `}`
		a.times(8, func(int) { a.send("POST", "/v1/decisions", body) })
	}},
	{"C2 b': 18,000 profiles in a batch", func(a *attack) {
		body := `{"cluster":"good","config":` + config(18_000) + `}`
		a.times(2, func(int) { a.send("POST", "/v1/replays", body) })
	}},
	{"C2 c: 38 unfinished bodies, made-up clusters", func(a *attack) {
		a.times(38, func(i int) { a.unfinished(fmt.Sprintf("/clusters/x%d/shadow/filter", i), 60<<20, 60<<20-1, "") })
	}},
	{"C2 c: 38 unfinished bodies, one cluster", func(a *attack) {
		a.times(38, func(int) { a.unfinished("/clusters/good/shadow/filter", 60<<20, 60<<20-1, "") })
	}},
	{"C2 c': 160 announcements of 60 MiB", func(a *attack) {
		a.times(160, func(i int) { a.unfinished(fmt.Sprintf("/clusters/x%d/filter", i), 60<<20, 1, "") })
		a.stay(5 * time.Second)
	}},
	{"C2 d: 200,000 kinds that are not kept, then changes", func(a *attack) {
		var items []string
		for i := range 200_000 {
			items = append(items, fmt.Sprintf(`{"kind":"K%d","apiVersion":"x/v1"}`, i))
		}
		a.send("POST", "/v1/snapshots?cluster=u", list(append(items, nodes(1, 0)...)))
		for i := range 20 {
			a.send("POST", "/v1/snapshots/u@latest/changes", fmt.Sprintf(`{"apply":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"m%d"}}]}`, i))
		}
		a.times(4, func(int) { a.send("GET", "/v1/snapshots?cluster=u", "") })
	}},
	{"C2 e: 100 decisions with long NotIn", func(a *attack) {
		a.times(4, func(worker int) {
			for i := range 25 {
				var values []string
				for k := range 130_000 {
					values = append(values, fmt.Sprintf(`"%d-%d-%d"`, worker, i, k))
				}
				a.send("POST", "/v1/decisions", `{"snapshot":"good@latest","dryRun":true,"pod":{"metadata":{"name":"p","namespace":"d"},"spec":{"containers":[{"name":"c"}],"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"x","operator":"NotIn","values":[`+strings.Join(values, ",")+`]}]}]}}}}}}`)
			}
		})
	}},
	{"whole nodes: 2,000 with 450 labels", func(a *attack) {
		body := `{"Pod":` + onePod + `,"Nodes":{"items":[` + strings.Join(nodes(2000, 450), ",") + `]}}`
		a.times(4, func(int) { a.send("POST", "/clusters/good/filter", body) })
	}},
	{"uploads: 8 clusters of 20,000 pods", func(a *attack) {
		items := nodes(1000, 0)
		for i := range 20_000 {
			items = append(items, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p%d","namespace":"d","uid":"u%d","labels":{"app":"a"}},"spec":{"nodeName":"n%d","containers":[{"name":"c","resources":{"requests":{"cpu":"10m"}}}]}}`, i, i, i%1000))
		}
		body := list(items)
		a.times(2, func(worker int) {
			for i := range 4 {
				a.send("POST", fmt.Sprintf("/v1/snapshots?cluster=big%d-%d", worker, i), body)
			}
		})
	}},
	{"pages of large objects", func(a *attack) {
		var items []string
		for i := range 40 {
			items = append(items, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p%d","namespace":"d"},"spec":{"containers":[{"name":"c"}],"schedulerName":"%s"}}`, i, strings.Repeat("x", 1<<20)))
		}
		a.send("POST", "/v1/snapshots?cluster=pages", list(items))
		a.times(16, func(int) { a.send("GET", "/v1/snapshots/pages@latest/objects?limit=500", "") })
	}},
	{"M2: two uploads of one byte, then a good one", func(a *attack) {
		a.times(2, func(i int) { a.unfinished(fmt.Sprintf("/v1/snapshots?cluster=s%d", i), 1<<20, 0, "{") })
		a.stay(300 * time.Millisecond)
		a.send("POST", "/v1/snapshots?cluster=after", list(nodes(1, 0)))
	}},
	{"M2: 300 slow bodies for decisions, then a good one", func(a *attack) {
		a.times(300, func(int) { a.unfinished("/v1/decisions", 1<<20, 0, "{") })
		a.stay(300 * time.Millisecond)
		a.send("POST", "/v1/decisions", `{"snapshot":"good@latest","dryRun":true,"pod":`+onePod+`}`)
	}},
	{"M2: 1,100 connections that say nothing", func(a *attack) {
		for range 1100 {
			if conn, err := net.DialTimeout("tcp", a.Host, time.Second); err == nil {
				a.mu.Lock()
				a.conns = append(a.conns, conn)
				a.mu.Unlock()
			}
		}
		a.stay(3 * time.Second)
	}},
	{"M2: 1,100 connections kept alive", func(a *attack) {
		for range 1100 {
			conn, err := net.DialTimeout("tcp", a.Host, time.Second)
			if err != nil {
				continue
			}
			a.mu.Lock()
			a.conns = append(a.conns, conn)
			a.mu.Unlock()
			_, _ = io.WriteString(conn, "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
		}
		a.stay(3 * time.Second)
	}},
}
