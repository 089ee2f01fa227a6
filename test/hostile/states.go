package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// unread asks and does not read the answer.
func (a *attack) unread(path string) {
	conn, err := from("127.0.0.2").Dial("tcp", a.Host)
	if err != nil {
		return
	}
	a.mu.Lock()
	a.conns = append(a.conns, conn)
	a.mu.Unlock()
	_, _ = io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
}

// random is text that does not compress, so that records keep its size.
func random(n, seed int) string {
	var b strings.Builder
	for x := uint64(seed)*2862933555777941757 + 3037000493; b.Len() < n; x = x*6364136223846793005 + 1442695040888963407 {
		fmt.Fprintf(&b, "%016x", x)
	}
	return b.String()[:n]
}

// labelValues are four lists of values of labels, a MiB in all.
func labelValues(seed int) (lists []string) {
	const each, n = 60, 4000 // a value has 63 bytes at most
	text := random(4*n*each, seed)
	for range 4 {
		var values []string
		for range n {
			values, text = append(values, `"`+text[:each]+`"`), text[each:]
		}
		lists = append(lists, strings.Join(values, ","))
	}
	return lists
}

// states fill what the server keeps, and ask for all of it.
var states = []vector{
	{"old revisions: 24 of 10,000 pods, all at once", func(a *attack) {
		for i := range 24 {
			a.upload("old", 100, 10_000, waitingPod(i))
		}
		a.times(24, func(i int) { a.send("GET", fmt.Sprintf("/v1/snapshots/old@%d/objects?limit=500", i+1), "") })
		a.times(24, func(i int) {
			a.send("GET", fmt.Sprintf("/v1/snapshots/old@%d/diff?to=old@%d&limit=1000", i+1, 24-i), "")
		})
	}},
	{"large objects: 8 clusters of 40 MiB", func(a *attack) {
		for c := range 8 {
			var all []string
			for i := range 40 {
				all = append(all, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p%d","namespace":"d"},"spec":{"containers":[{"name":"c"}],"schedulerName":"%s"}}`, i, random(1<<20, c*40+i)))
			}
			a.send("POST", fmt.Sprintf("/v1/snapshots?cluster=large%d", c), list(all))
		}
		a.times(16, func(i int) { a.send("GET", fmt.Sprintf("/v1/snapshots/large%d@latest/objects?limit=500", i%8), "") })
	}},
	{"large changes: 12 of 8 MiB, then each revision and the list", func(a *attack) {
		a.upload("steps", 5, 0)
		for i := range 12 {
			var all []string
			for k := range 8 {
				all = append(all, fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"m%d","annotations":{"a":"b"}},"spec":{"providerID":"x"},"status":{"images":[{"names":["%s"]}]}}`, k, random(1<<20, i*8+k)))
			}
			a.send("POST", "/v1/snapshots/steps@latest/changes", change("apply", strings.Join(all, ",")))
		}
		a.times(16, func(int) { a.send("GET", "/v1/snapshots?cluster=steps&limit=500", "") })
		a.times(12, func(i int) { a.send("GET", fmt.Sprintf("/v1/snapshots/steps@%d/objects", i+1), "") })
	}},
	{"batch replay: 60 records of a MiB", func(a *attack) {
		a.times(8, func(worker int) {
			for i := 0; i < 8 && time.Now().Before(a.until); i++ {
				a.send("POST", "/v1/decisions", `{"snapshot":"good@latest","pod":`+preferred(labelValues(worker*8+i))+`}`)
			}
		})
		a.times(8, func(int) { a.send("POST", "/v1/replays", `{"cluster":"good"}`) })
		a.stay(3 * time.Second)
		a.times(16, func(int) { a.send("GET", "/v1/replays?limit=500", "") })
	}},
	{"batch replay: 120 records of 20,000 volumes", func(a *attack) {
		volumes := items(19_900, `{"name":"a%d"}`)
		a.times(8, func(worker int) {
			for i := 0; i < 15 && time.Now().Before(a.until); i++ {
				a.send("POST", "/v1/decisions", `{"snapshot":"good@latest","pod":`+podWith("", fmt.Sprintf(`,"nodeSelector":{"kubernetes.io/hostname":"n%d","a":"%d"},"volumes":[%s]`, worker, i, volumes), "")+`}`)
			}
		})
		a.times(8, func(int) { a.send("POST", "/v1/replays", `{"cluster":"good"}`) })
		a.stay(5 * time.Second)
	}},
	{"replay, compare: full answers of 20,000 nodes", func(a *attack) {
		a.upload("wide2", 20_000, 0)
		id := a.decide(`{"snapshot":"wide2@latest","explain":"full","pod":` + onePod + `}`)
		a.times(16, func(i int) {
			a.send("POST", "/v1/decisions/"+id+"/replay", []string{`{}`, `{"pod":` + podWith("", `,"nodeSelector":{"a":"b"}`, "") + `}`}[i%2])
		})
		a.times(32, func(int) { a.send("GET", "/v1/decisions/"+id, "") })
	}},
	{"lists: decisions, 500 a page", func(a *attack) {
		a.times(16, func(int) {
			for range 40 {
				a.send("POST", "/v1/decisions", `{"snapshot":"good@latest","pod":{"metadata":{"name":"`+strings.Repeat("n", 250)+`","namespace":"d"},"spec":{"schedulerName":"x","containers":[{"name":"c","resources":{"limits":{"`+strings.Repeat("a", 50)+`.b/c":"1"}}}]}}}`)
			}
		})
		a.times(64, func(i int) {
			a.send("GET", []string{"/v1/decisions?limit=500", "/v1/decisions?cluster=good&after=0&limit=500"}[i%2], "")
		})
	}},
	{"followers: 300 at once", func(a *attack) {
		a.times(300, func(i int) {
			for after := 0; after < 5; after++ {
				a.send("GET", fmt.Sprintf("/v1/decisions?cluster=good&after=%d&limit=500", after*100), "")
			}
		})
	}},
	{"unread answers: 300 of 20 MiB", func(a *attack) {
		a.times(300, func(i int) { a.unread(fmt.Sprintf("/v1/snapshots/large%d@latest/objects?limit=500", i%8)) })
		a.stay(8 * time.Second)
	}},
	{"queue, pending, classes, garbage: 20,000 that wait", func(a *attack) {
		var all []string
		for i := range 20_000 {
			all = append(all, waitingPod(i))
		}
		a.upload("waits", 500, 0, all...)
		a.times(64, func(i int) {
			switch i % 6 {
			case 0:
				a.send("GET", "/v1/clusters/waits/queue?limit=500", "")
			case 1:
				a.send("GET", "/v1/clusters/waits/pending?limit=1000", "")
			case 2:
				a.send("GET", "/v1/clusters/waits/pending?limit=1000&suggest=false", "")
			case 3:
				a.send("GET", "/v1/clusters/waits/classes", "")
			case 4:
				a.send("POST", "/v1/clusters/waits/garbage", `{}`)
			default:
				a.send("GET", fmt.Sprintf("/v1/clusters/waits/pods/d/w%d", i), "")
			}
		})
	}},
	{"nominated: 5,000 pods", func(a *attack) {
		var all []string
		for i := range 5000 {
			all = append(all, strings.Replace(waitingPod(i), `"spec"`, fmt.Sprintf(`"status":{"nominatedNodeName":"n%d"},"spec"`, i%500), 1))
		}
		a.upload("chosen", 500, 0, all...)
		a.times(32, func(int) {
			a.send("POST", "/v1/decisions", `{"snapshot":"chosen@latest","dryRun":true,"explain":"full","pod":`+onePod+`}`)
		})
	}},
	{"300 clusters, one request each", func(a *attack) {
		a.times(8, func(worker int) {
			for i := 0; i < 40 && time.Now().Before(a.until); i++ {
				a.send("POST", fmt.Sprintf("/v1/snapshots?cluster=m%d-%d", worker, i), list(append(nodes(50, 20), boundPod(0, 0))))
				a.send("POST", fmt.Sprintf("/clusters/m%d-%d/filter", worker, i), goodCall)
			}
		})
		a.times(16, func(int) { a.send("GET", "/v1/clusters", "") })
	}},
	{"queries: texts of 15 KiB", func(a *attack) {
		a.times(200, func(i int) {
			a.send("GET", "/v1/"+[]string{"decisions?namespace=", "decisions?pod=", "snapshots/good@latest/objects?kind=Pod&name=", "clusters/good/pending?namespace="}[i%4]+strings.Repeat("x", 15_000), "")
		})
	}},
}
