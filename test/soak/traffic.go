package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// callers is how many requests are made at once.
const callers = 8

// keptRefusals is how many refusals are kept to be shown.
const keptRefusals = 5

// traffic asks a server about clusters that come and go.
type traffic struct {
	url      string
	o        options
	client   *http.Client
	words    atomic.Int64 // of fresh names
	requests atomic.Int64

	mu       sync.Mutex
	clusters []member       // guarded by mu
	statuses map[int]int    // guarded by mu
	failed   map[string]int // guarded by mu: 5xx and calls without an answer
	refused  map[string]int // guarded by mu: 4xx, by the kind of request
}

// member is one of the clusters; it has another name each time that it is made.
type member struct {
	name  string // "": it is not there
	after int64  // the place in its log that was read last
	id    string // of its last decision
	last  time.Time
}

func newTraffic(url string, o options) *traffic {
	return &traffic{
		url: url, o: o, clusters: make([]member, o.clusters), statuses: map[int]int{}, failed: map[string]int{}, refused: map[string]int{},
		client: &http.Client{Timeout: 3 * time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: callers}},
	}
}

// run makes requests at the rate until the context ends.
func (t *traffic) run(ctx context.Context) {
	slots := make(chan struct{})
	var group sync.WaitGroup
	for n := range callers {
		r := rand.New(rand.NewPCG(t.o.seed, uint64(n)))
		group.Go(func() {
			for range slots {
				t.next(r)
			}
		})
	}
	tick := time.NewTicker(time.Second / time.Duration(t.o.rate))
	defer tick.Stop()
	for i := 0; ctx.Err() == nil; i++ {
		select {
		case <-ctx.Done():
		case <-tick.C:
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
			}
		}
	}
	close(slots)
	group.Wait()
}

// kinds of requests, each as often as its weight says.
var kinds = []struct {
	weight int
	ask    func(t *traffic, r *rand.Rand, i int, m member)
}{
	{8, (*traffic).upload},
	{12, (*traffic).change},
	{22, (*traffic).dryRun},
	{14, (*traffic).bind},
	{5, (*traffic).underConfig},
	{14, (*traffic).filterNames},
	{3, (*traffic).filterNodes},
	{2, (*traffic).filterUnknown},
	{8, (*traffic).follow},
	{8, (*traffic).read},
	{3, (*traffic).scenario},
	{2, (*traffic).remove},
}

// next makes one request about a cluster, an upload where it is not there.
func (t *traffic) next(r *rand.Rand) {
	i := r.IntN(len(t.clusters))
	t.mu.Lock()
	m := t.clusters[i]
	t.mu.Unlock()
	if m.name == "" {
		t.upload(r, i, m)
		return
	}
	total := 0
	for _, k := range kinds {
		total += k.weight
	}
	at := r.IntN(total)
	for _, k := range kinds {
		if at -= k.weight; at < 0 {
			k.ask(t, r, i, m)
			return
		}
	}
}

// word is a name that was never used before.
func (t *traffic) word(of string) string { return fmt.Sprintf("%s-%d", of, t.words.Add(1)) }

// count returns the clusters that are there, the requests so far and how many failed.
func (t *traffic) count() (clusters int, requests int64, failed int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range t.clusters {
		if m.name != "" {
			clusters++
		}
	}
	for _, n := range t.failed {
		failed += n
	}
	return clusters, t.requests.Load(), failed
}

// errors lists what failed, and complains where most requests were refused: those would load
// nothing.
func (t *traffic) errors() (list []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	good := 0
	for status, n := range t.statuses {
		if status >= 200 && status < 300 {
			good += n
		}
	}
	fmt.Printf("answers by status: %v; refused, for example: %v\n", t.statuses, t.refused)
	if all := int(t.requests.Load()); good < all*8/10 {
		list = append(list, fmt.Sprintf("only %d of %d requests were taken, such as %v", good, all, t.refused))
	}
	for what, n := range t.failed {
		list = append(list, fmt.Sprintf("%s, %d times", what, n))
	}
	slices.Sort(list)
	return list
}

// send makes a request and gives its answer; in is JSON to be, nil without a body. What a caller
// may be told for what it asks, such as 404 for a cluster that another one deleted, is an answer
// like any other.
func (t *traffic) send(method, path string, in any) (status int, answer []byte) {
	var body io.Reader
	if in != nil {
		js, err := json.Marshal(in)
		if err != nil {
			panic(err) // of our own values
		}
		body = bytes.NewReader(js)
	}
	req, err := http.NewRequest(method, t.url+path, body)
	if err != nil {
		panic(err)
	}
	req.Header.Set("Content-Type", "application/json")
	t.requests.Add(1)
	res, err := t.client.Do(req)
	if err == nil {
		status = res.StatusCode
		answer, err = io.ReadAll(res.Body)
		_ = res.Body.Close()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.statuses[status]++
	route, _, _ := strings.Cut(path, "?")
	if err != nil || status >= 500 {
		t.failed[fmt.Sprintf("%s %s: %d %v %.200s", method, route, status, err, answer)]++
	} else if status >= 400 && len(t.refused) < keptRefusals {
		t.refused[fmt.Sprintf("%s %s: %d %.300s", method, route, status, answer)]++
	}
	return status, answer
}

// set changes what is known of a cluster, if it is still the one that was asked about.
func (t *traffic) set(i int, of member, f func(m *member)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.clusters[i].name == of.name {
		f(&t.clusters[i])
	}
}
