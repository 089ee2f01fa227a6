package main

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// begin has what happens from now on be noted.
func (s *sightings) begin(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.start = at
}

// expected are the moments that berth says will be.
func (f *future) expected() (list []sighting) {
	base := map[string]bool{} // pods that are told of without having been created
	for _, m := range f.said.Clock.Timeline {
		_, name, _ := strings.Cut(m.Pod, "/")
		if m.What == "created" {
			base[m.Pod] = true
		}
		if !slices.Contains(compared, m.What) {
			continue
		}
		whom, node := "", m.Node
		switch {
		case m.Pod != "":
			whom = f.seen.whom(!base[m.Pod], name, m.Owner)
		case m.Owner != "":
			whom = m.Owner
		}
		if m.What == "created" {
			node = ""
		}
		list = append(list, sighting{m.What, whom, f.class(node, f.workload(m.Owner)), float64(m.AfterSeconds)})
	}
	return list
}

// compare holds what was seen to what berth said: every moment of the one is one of the other, of
// the same pod or workload on the same node, and at the same time but for the tolerance.
func (f *future) compare() (same int, lines []string) {
	type key struct{ what, whom, node string }
	said, seen := map[key][]float64{}, map[key][]float64{}
	for _, m := range f.expected() {
		k := key{m.what, m.whom, m.node}
		said[k] = append(said[k], m.at)
	}
	f.seen.mu.Lock()
	defer f.seen.mu.Unlock()
	for _, m := range f.seen.list {
		k := key{m.what, m.whom, m.node}
		seen[k] = append(seen[k], m.at)
	}
	all := maps.Clone(said)
	maps.Copy(all, seen)
	for _, k := range slices.SortedFunc(maps.Keys(all), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.whom, b.whom), cmp.Compare(a.what, b.what), cmp.Compare(a.node, b.node))
	}) {
		a, b := said[k], seen[k]
		slices.Sort(a)
		slices.Sort(b)
		ok := len(a) == len(b)
		for i := 0; ok && i < len(a); i++ {
			ok = math.Abs(a[i]-b[i]) <= f.Tolerance
		}
		if ok {
			same += len(a)
			continue
		}
		lines = append(lines, fmt.Sprintf("%s %s %s: said at %v, was at %s", k.whom, k.what, k.node, a, times(b)))
	}
	return same, lines
}

func times(list []float64) string {
	var out []string
	for _, t := range list {
		out = append(out, fmt.Sprintf("%.1f", t))
	}
	return "[" + strings.Join(out, " ") + "]"
}

// tell writes both timelines down, side by side.
func (f *future) tell() string {
	var b strings.Builder
	for _, m := range f.expected() {
		fmt.Fprintf(&b, "said %6.1f %-15s %-40s %s\n", m.at, m.what, m.whom, m.node)
	}
	f.seen.mu.Lock()
	defer f.seen.mu.Unlock()
	for _, m := range f.seen.list {
		fmt.Fprintf(&b, "seen %6.1f %-15s %-40s %s\n", m.at, m.what, m.whom, m.node)
	}
	return b.String()
}

// place says of what workload a pod is, where, and how it is.
func (f *future) place(name, owner, node string, ready, terminating, over bool) string {
	what := f.workload(owner)
	if strings.HasPrefix(owner, "StatefulSet/") || owner == "" {
		what = name
	}
	how := "not ready"
	switch {
	case terminating:
		how = "terminating"
	case over:
		how = "ended"
	case ready:
		how = "ready"
	}
	return fmt.Sprintf("%s on %s %s", what, cmp.Or(f.class(node, f.workload(owner)), "no node"), how)
}

// there counts the pods that are there at the end, by workload and node.
func (f *future) there(ctx context.Context) (map[string]int, error) {
	out := map[string]int{}
	pods, err := f.p.client.CoreV1().Pods("").List(ctx, listAll)
	if err != nil {
		return nil, err
	}
	for _, p := range pods.Items {
		over := p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded
		out[f.place(p.Name, ownerOf(&p), p.Spec.NodeName, isReady(&p), p.DeletionTimestamp != nil, over)]++
	}
	return out, nil
}

// saidThere counts the pods that berth says are there at the end.
func (f *future) saidThere(ctx context.Context, id string) (map[string]int, error) {
	out := map[string]int{}
	for cursor := ""; ; {
		var page struct {
			Pods []struct {
				Name, Owner, Node, Phase string
				Ready, Terminating       bool
			}
			Cursor string
		}
		q := url.Values{"time": {fmt.Sprint(f.said.Clock.Seconds)}, "limit": {"100"}}
		if cursor != "" {
			q.Set("cursor", cursor)
		}
		if err := f.berth.call(ctx, http.MethodGet, "/v1/simulations/"+id+"/at?"+q.Encode(), nil, &page); err != nil {
			return nil, err
		}
		for _, p := range page.Pods {
			out[f.place(p.Name, p.Owner, p.Node, p.Ready, p.Terminating, p.Phase == "Failed" || p.Phase == "Succeeded")]++
		}
		if cursor = page.Cursor; cursor == "" {
			return out, nil
		}
	}
}

func differ(said, there map[string]int) (lines []string) {
	all := maps.Clone(said)
	maps.Copy(all, there)
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if said[k] != there[k] {
			lines = append(lines, fmt.Sprintf("at the end %s: said %d, are %d", k, said[k], there[k]))
		}
	}
	return lines
}

//go:embed future/explained.txt
var explainedText string

// explained are the differences that have a reason: a row, a pattern of a line, and the function of
// upstream that makes it so.
type explained struct {
	mu   sync.Mutex
	list []*explanation
}

type explanation struct {
	text, row string
	of        *regexp.Regexp
	used      bool
}

// mostExplained is how many differences may have a reason.
const mostExplained = 10

func explanations() (*explained, error) {
	x := &explained{}
	for line := range strings.Lines(explainedText) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		part := strings.Split(line, " | ")
		if len(part) != 3 {
			return nil, fmt.Errorf("future/explained.txt: want row | pattern | upstream's function: %s", line)
		}
		of, err := regexp.Compile("^(" + part[1] + ")$")
		if err != nil {
			return nil, fmt.Errorf("future/explained.txt: %w", err)
		}
		x.list = append(x.list, &explanation{text: line, row: part[0], of: of})
	}
	if len(x.list) > mostExplained {
		return nil, fmt.Errorf("future/explained.txt has %d lines: want at most %d", len(x.list), mostExplained)
	}
	return x, nil
}

// explain returns the lines of a row that have no reason.
func (x *explained) explain(row string, lines []string) (left []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, l := range lines {
		i := slices.IndexFunc(x.list, func(e *explanation) bool { return e.row == row && e.of.MatchString(l) })
		if i < 0 {
			left = append(left, l)
			continue
		}
		x.list[i].used = true
	}
	return left
}

// unused returns what explained no difference, as a race went the other way.
func (x *explained) unused() (list []string) {
	for _, e := range x.list {
		if !e.used {
			list = append(list, e.text)
		}
	}
	return list
}
