package lifecycle

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"berth/test/conformance/progress"
)

// Result is what a trial found. Seen counts the cases by what upstream says, so
// that what never occurred can be told.
type Result struct {
	Cases, Kubelet int
	Differences    []string // one text a case, minimised, at most Show
	Differ         int
	Seen           map[string]map[string]int
	Took           time.Duration
}

// Run tries n cases from a seed on, with so many workers. berth answers as a release, or by its
// default where that is empty.
func Run(server, semantics string, n int, seed uint64, workers, show int) (*Result, error) {
	r := &Result{Cases: n, Seen: map[string]map[string]int{}}
	client := &Client{Base: server, HTTP: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers}, Timeout: time.Minute}}
	begin := time.Now()
	var mu sync.Mutex
	var group sync.WaitGroup
	var failure error
	meter := progress.Of(n, "pods")
	for w := range workers {
		oracle, err := NewOracle()
		if err != nil {
			return nil, err
		}
		group.Go(func() {
			for i := w; i < n; i += workers {
				c := Generate(seed+uint64(i), time.Now(), oracle.Write)
				c.Semantics = semantics
				want, got, err := both(oracle, client, c)
				mu.Lock()
				if failure != nil {
					mu.Unlock()
					return
				}
				if err != nil {
					body, _ := c.Body()
					failure = fmt.Errorf("seed %d: %w\n%s", seed+uint64(i), err, body)
				} else {
					r.count(c, want)
					meter.Step(r.Differ)
				}
				mu.Unlock()
				if err != nil || Compare(want, got) == "" {
					continue
				}
				text := explain(oracle, client, c)
				mu.Lock()
				if r.Differ++; len(r.Differences) < show {
					r.Differences = append(r.Differences, fmt.Sprintf("seed %d:\n%s", seed+uint64(i), text))
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	r.Took = time.Since(begin)
	return r, failure
}

func both(o *Oracle, client *Client, c *Case) (want, got Verdict, err error) {
	if want, err = o.Judge(c); err == nil {
		got, err = client.Judge(c)
	}
	return want, got, err
}

// explain makes a case small and describes how it differs.
func explain(o *Oracle, client *Client, c *Case) string {
	c = Minimise(c, func(c *Case) bool {
		want, got, err := both(o, client, c)
		return err == nil && Compare(want, got) != ""
	})
	want, got, err := both(o, client, c)
	body, _ := c.Body()
	return fmt.Sprintf("%s\n%s%v", body, Compare(want, got), []any{err})
}

func (r *Result) count(c *Case, v Verdict) {
	add := func(what, value string) {
		if r.Seen[what] == nil {
			r.Seen[what] = map[string]int{}
		}
		r.Seen[what][value]++
	}
	if c.Kubelet {
		r.Kubelet++
	}
	add("phase", v.Phase)
	status := v.Status
	if before, _, found := strings.Cut(status, "/"); found {
		status = before + "/n"
	}
	add("status", status)
	for _, condition := range v.Conditions {
		if condition.Reason != "Because" {
			add("condition", condition.Type+"="+condition.Status+" "+condition.Reason)
		}
	}
	for _, container := range v.Containers {
		add("next", container.Kind+" "+container.Action)
	}
}

// Summary is a page of figures.
func (r *Result) Summary() string {
	var b strings.Builder
	for _, what := range slices.Sorted(maps.Keys(r.Seen)) {
		var list []string
		for _, value := range slices.Sorted(maps.Keys(r.Seen[what])) {
			list = append(list, fmt.Sprintf("%s %d", value, r.Seen[what][value]))
		}
		fmt.Fprintf(&b, "%s: %s\n", what, strings.Join(list, ", "))
	}
	fmt.Fprintf(&b, "lifecycle: %d pods (%d written by a kubelet) in %s, %.0f a second, %d differences\n", r.Cases, r.Kubelet, r.Took.Round(time.Millisecond), float64(r.Cases)/r.Took.Seconds(), r.Differ)
	return b.String()
}
