package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	onePod   = `{"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"containers":[{"name":"c"}]}}`
	goodCall = `{"Pod":` + onePod + `,"Nodes":null,"NodeNames":["n0","n1"]}`
)

// attack is one run of a vector.
type attack struct {
	*server
	until time.Time

	mu       sync.Mutex
	statuses map[int]int // guarded by mu; 0: no answer
	conns    []net.Conn  // guarded by mu; held to the end
}

// String lists the statuses and how often each came.
func (a *attack) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var list []string
	for _, status := range slices.Sorted(maps.Keys(a.statuses)) {
		name := fmt.Sprint(status)
		if status == 0 {
			name = "none"
		}
		list = append(list, fmt.Sprintf("%s x%d", name, a.statuses[status]))
	}
	if list == nil {
		return "held"
	}
	return strings.Join(list, ", ")
}

func (a *attack) send(method, path, body string, headers ...string) {
	status := 0
	if req, err := http.NewRequest(method, a.url+path, strings.NewReader(body)); err == nil {
		req.Header.Set("Content-Type", "application/json")
		for i := 0; i+1 < len(headers); i += 2 {
			req.Header.Set(headers[i], headers[i+1])
		}
		if res, err := (&http.Client{Timeout: time.Until(a.until)}).Do(req); err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
			status = res.StatusCode
		}
	}
	a.mu.Lock()
	a.statuses[status]++
	a.mu.Unlock()
}

// times sends a request several times at once.
func (a *attack) times(n int, send func(i int)) {
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { send(i) })
	}
	group.Wait()
}

// unfinished sends the head of a request and so many bytes of its body, and keeps the connection.
func (a *attack) unfinished(path string, announced, sent int, head string) {
	// Another caller than those who send whole requests: slots of decisions are shared by address.
	from := net.Dialer{Timeout: 2 * time.Second, LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	conn, err := from.Dial("tcp", a.host)
	if err != nil {
		return
	}
	a.mu.Lock()
	a.conns = append(a.conns, conn)
	a.mu.Unlock()
	_ = conn.SetWriteDeadline(a.until)
	if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, announced, head); err != nil {
		return
	}
	chunk := bytes.Repeat([]byte("x"), 64<<10)
	for sent > 0 {
		n, err := conn.Write(chunk[:min(sent, len(chunk))])
		if err != nil {
			return
		}
		sent -= n
	}
}

// stay waits while what was sent is held.
func (a *attack) stay(d time.Duration) {
	time.Sleep(min(d, time.Until(a.until)))
}

func list(items []string) string {
	return `{"apiVersion":"v1","kind":"List","items":[` + strings.Join(items, ",") + `]}`
}

func nodes(n, labels int) (items []string) {
	var more strings.Builder
	for i := range labels {
		fmt.Fprintf(&more, `,"example.com/label-%d":"v%d"`, i, i)
	}
	for i := range n {
		items = append(items, fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n%d","labels":{"kubernetes.io/hostname":"n%d"%s}},"status":{"allocatable":{"cpu":"8","memory":"32Gi","pods":"110"}}}`, i, i, more.String()))
	}
	return items
}

func (s *server) prepare() error {
	a := &attack{server: s, until: time.Now().Add(time.Minute), statuses: map[int]int{}}
	a.send("POST", "/v1/snapshots?cluster=good", list(nodes(5, 0)))
	if a.statuses[http.StatusCreated] != 1 || s.good() != http.StatusOK {
		return fmt.Errorf("the good caller's cluster was not taken: %s", a)
	}
	return nil
}

func config(profiles int) string {
	var names []string
	for i := range profiles {
		names = append(names, fmt.Sprintf(`{"schedulerName":"s%d"}`, i))
	}
	return `{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","profiles":[` + strings.Join(names, ",") + `]}`
}

func zip(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.String()
}

var vectors = []struct {
	name string
	run  func(a *attack)
}{
	{"C2 a: 60 MiB of flow YAML, gzip", func(a *attack) {
		body := zip("items : [\n" + strings.Repeat("x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,\n", 60<<20/33))
		a.times(2, func(i int) {
			a.send("POST", fmt.Sprintf("/v1/snapshots?cluster=y%d", i), body, "Content-Type", "application/yaml", "Content-Encoding", "gzip")
		})
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
			if conn, err := net.DialTimeout("tcp", a.host, time.Second); err == nil {
				a.mu.Lock()
				a.conns = append(a.conns, conn)
				a.mu.Unlock()
			}
		}
		a.stay(3 * time.Second)
	}},
	{"M2: 1,100 connections kept alive", func(a *attack) {
		for range 1100 {
			conn, err := net.DialTimeout("tcp", a.host, time.Second)
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
