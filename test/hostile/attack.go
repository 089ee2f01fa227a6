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
	conn, err := from("127.0.0.2").Dial("tcp", a.Host)
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
	s.recorded = a.decide(`{"snapshot":"good@latest","pod":` + onePod + `}`)
	if kind, well := s.well(); !well {
		return fmt.Errorf("the good caller's cluster was not taken (%s), or it has no answer: %s", a, kind)
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

// decide puts a decision on record and returns its id.
func (a *attack) decide(body string) string {
	res, err := http.Post(a.url+"/v1/decisions", "application/json", strings.NewReader(body))
	if err != nil {
		return "none"
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.Header.Get("Berth-Decision-Id")
}
