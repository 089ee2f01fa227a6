package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// evil are the headers of a page of another origin, and rebound those of a name that was bound to
// loopback.
var (
	evil    = []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site", "Content-Type", "text/plain"}
	rebound = []string{"Host", "evil.example:8080"}
)

// amount is a pod that requests so much of the processor.
func amount(cpu string) string {
	return `{"metadata":{"name":"p","namespace":"d"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"` + cpu + `"}}}]}}`
}

// fresh asks from an address that has no other connections.
func fresh(a *attack, method, path, body string) string {
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DialContext: from("127.0.0.9").DialContext, DisableKeepAlives: true}}
	req, err := http.NewRequest(method, a.url+path, strings.NewReader(body))
	if err != nil {
		return err.Error()
	}
	req.Header.Set("Content-Type", "application/json")
	began := time.Now()
	res, err := client.Do(req)
	if err != nil {
		return "no answer"
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.Copy(io.Discard, res.Body)
	return fmt.Sprintf("%d after %.1f s", res.StatusCode, time.Since(began).Seconds())
}

// length asks and returns the status and how long the answer is.
func length(a *attack, path, body string) string {
	res, err := http.Post(a.url+path, "application/json", strings.NewReader(body))
	if err != nil {
		return "no answer"
	}
	defer func() { _ = res.Body.Close() }()
	n, _ := io.Copy(io.Discard, res.Body)
	return fmt.Sprintf("%d, %d bytes, nosniff: %t", res.StatusCode, n, res.Header.Get("X-Content-Type-Options") == "nosniff")
}

// auditRest are H1, M1, M2 and the lows.
var auditRest = []audited{
	{"H1", "another origin uploads, changes, decides, filters, binds", "201, 201, 201, 200, 200", nodesOf("demo", 3), func(a *attack) string {
		return strings.Join([]string{
			a.answer("POST", "/v1/snapshots?cluster=demo", `{"apiVersion":"v1","kind":"List","items":[]}`, evil...),
			a.answer("POST", "/v1/snapshots/demo@latest/changes", `{"delete":[{"kind":"Node","name":"n0"}]}`, evil...),
			a.answer("POST", "/v1/decisions", `{"snapshot":"demo@latest","pod":`+onePod+`}`, evil...),
			a.answer("POST", "/clusters/demo/filter", goodCall, evil...),
			a.answer("POST", "/clusters/demo/bind", `{"PodName":"p","PodNamespace":"d","PodUID":"u","Node":"n0"}`, evil...),
		}, ", ")
	}},
	{"H1", "a name bound to loopback reads, deletes", "200, 204", nodesOf("demo", 3), func(a *attack) string {
		return a.answer("GET", "/v1/clusters", "", rebound...) + ", " + a.answer("DELETE", "/v1/clusters/demo", "", rebound...)
	}},
	{"M1", "a bind of cpu 18446744073709501616m, of 1e30", "201 Scheduled, room for more", nodesOf("demo", 3), func(a *attack) string {
		bind := func(cpu string) string {
			return a.answer("POST", "/v1/decisions", `{"snapshot":"demo@latest","bind":true,"nodeNames":["n0"],"pod":`+amount(cpu)+`}`)
		}
		return bind("18446744073709501616m") + ", " + bind("1e30")
	}},
	{"M2", "1,000 connections kept alive, then a new one", "110 to 120 s", nodesOf("good", 3), func(a *attack) string {
		for range 1000 {
			if conn, err := net.DialTimeout("tcp", a.Host, time.Second); err == nil {
				a.conns = append(a.conns, conn)
				_, _ = io.WriteString(conn, "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
			}
		}
		return fresh(a, "GET", "/livez", "")
	}},
	{"M2", "1,000 connections that say nothing, then a new one", "over 4 s", nodesOf("good", 3), func(a *attack) string {
		for range 1000 {
			if conn, err := net.DialTimeout("tcp", a.Host, time.Second); err == nil {
				a.conns = append(a.conns, conn)
			}
		}
		return fresh(a, "GET", "/livez", "")
	}},
	{"M2", "two uploads of one byte, then a good one", "429 after 600 s", nil, func(a *attack) string {
		a.times(2, func(i int) { a.unfinished(fmt.Sprintf("/v1/snapshots?cluster=s%d", i), 1<<20, 0, "{") })
		return fresh(a, "POST", "/v1/snapshots?cluster=good", list(nodes(1, 0)))
	}},
	{"M2", "480 slow bodies for decisions, then a decision", "429", nodesOf("good", 3), func(a *attack) string {
		a.times(480, func(int) { a.unfinished("/v1/decisions", 1<<20, 0, "{") })
		a.stay(300 * time.Millisecond)
		return fresh(a, "POST", "/v1/decisions", `{"snapshot":"good@latest","dryRun":true,"pod":`+onePod+`}`)
	}},
	{"M2", "40 slow bodies for `/filter`, then that", "503 for 8 s", nodesOf("good", 3), func(a *attack) string {
		a.times(40, func(int) { a.unfinished("/clusters/good/filter", 1<<20, 0, "{") })
		a.stay(300 * time.Millisecond)
		for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
			if got := fresh(a, "POST", "/clusters/good/filter", goodCall); !strings.HasPrefix(got, "503") {
				return fmt.Sprintf("503 for %.1f s, then %.3s", time.Since(began).Seconds(), got)
			}
		}
	}},
	{"L1", "a NUL in a UID: decision, upload; in a filter of a list", "500, 201, 500", nodesOf("good", 3), func(a *attack) string {
		pod := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"d","uid":"\u0000"},"spec":{"containers":[{"name":"c"}]}}`
		return strings.Join([]string{
			a.answer("POST", "/v1/decisions", `{"snapshot":"good@latest","pod":`+pod+`}`), a.answer("POST", "/v1/snapshots?cluster=nul", list([]string{pod})), a.answer("GET", "/v1/decisions?namespace=%00", ""),
		}, ", ")
	}},
	{"L2", "a pod name of 2 MB", "6 MB", nodesOf("good", 3), func(a *attack) string {
		return length(a, "/v1/decisions", `{"snapshot":"good@latest","pod":{"metadata":{"name":"`+strings.Repeat("n", 2<<20)+`"},"spec":{"containers":[{"name":"c"}]}}}`)
	}},
	{"L2", "40,000 bad tolerations", "29.5 MB", nodesOf("good", 3), func(a *attack) string {
		return length(a, "/v1/decisions", `{"snapshot":"good@latest","pod":`+podWith("", `,"tolerations":[`+items(40_000, `{"operator":"x%d"}`)+`]`, "")+`}`)
	}},
	{"L2", "30,000 containers to `/v1/pods/termination`", "17 MB", nil, func(a *attack) string {
		return length(a, "/v1/pods/termination", `{"cause":"delete","pod":`+podWith("", `,"initContainers":[`+items(30_000, `{"name":"i%d"}`)+`]`, "")+`}`)
	}},
	{"L2", "a UID of 1 MB", "stored", nodesOf("good", 3), func(a *attack) string {
		return length(a, "/v1/decisions", `{"snapshot":"good@latest","pod":{"metadata":{"name":"n","uid":"`+strings.Repeat("u", 1<<20)+`"},"spec":{"containers":[{"name":"c"}]}}}`)
	}},
	{"L3", "`until=0001-01-01T00:00:00Z`", "all decisions", func(a *attack) {
		a.upload("good", 3, 0)
		a.decide(`{"snapshot":"good@latest","pod":` + onePod + `}`)
	}, func(a *attack) string {
		res, err := http.Get(a.url + "/v1/decisions?until=0001-01-01T00:00:00Z")
		if err != nil {
			return "no answer"
		}
		defer func() { _ = res.Body.Close() }()
		body, _ := io.ReadAll(res.Body)
		return fmt.Sprintf("%d, none: %t", res.StatusCode, strings.Contains(string(body), `"items":[]`))
	}},
	{"L4", "`Content-Type: image/png`", "201", nodesOf("good", 3), func(a *attack) string {
		return a.answer("POST", "/v1/decisions", `{"snapshot":"good@latest","pod":`+onePod+`}`, "Content-Type", "image/png")
	}},
	{"L4", "a JSON answer", "no `nosniff`", nodesOf("good", 3), func(a *attack) string {
		return length(a, "/v1/decisions", `{"snapshot":"good@latest","pod":`+onePod+`}`)
	}},
}
