package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// choice is a pod that kube-scheduler placed, and the revision on which berth's
// shadow judged it before.
type choice struct {
	life
	revision int64
	question json.RawMessage // the pod as it was before it was placed
	later    int             // revisions after it until the node was among the best; 0: on that one, -1: on none
}

// comparison puts every choice of kube-scheduler's to berth's decide: on the
// revision that the shadow judged on, and where the node is not among the best
// there, on the revisions after it. What settles it is the state that
// kube-scheduler had itself, which knows of a pod as soon as it has chosen: its
// nodes, and all pods that it had placed before, in their order. On that state
// every pod has to agree, whatever berth had heard of at the time.
type comparison struct {
	e       *env
	s       *server
	choices []*choice
	exact   int // agree on the state that kube-scheduler had
	largest int // most best nodes that a pod had
	// log gives kube-scheduler's best nodes for the pods for which it wrote scores
	// down; logged counts those, sets those of them for which berth's are the same.
	log          map[string][]string
	logged, sets int
	began        time.Time
}

// compare does all of it for pods that are bound.
func (e *env) compare(ctx context.Context, s *server, b *books, list []life, log map[string][]string) (*comparison, error) {
	c := &comparison{e: e, s: s, log: log, began: time.Now()}
	if err := c.gather(b.records, list); err != nil {
		return nil, err
	}
	if err := parallel(len(c.choices), func(i int) error { return c.recorded(ctx, c.choices[i]) }); err != nil {
		return nil, err
	}
	if err := c.follow(ctx); err != nil {
		return nil, err
	}
	return c, c.repeat(ctx)
}

// gather finds the record of each pod's filter. Records of one scheduler are in
// the order in which it took the pods: it asks about one after the other.
func (c *comparison) gather(records []row, list []life) (err error) {
	byUID := map[string]life{}
	for _, l := range list {
		byUID[string(l.uid)] = l
	}
	last := map[string]int{}
	for i, r := range records {
		if r.Verb == "filter" && r.Mode == "shadow" {
			last[r.Pod.UID] = i // one that was tried again was placed the last time
		}
	}
	for i, r := range records {
		l, ours := byUID[r.Pod.UID]
		if at, asked := last[r.Pod.UID]; !ours || !asked || at != i {
			continue
		}
		if !c.e.check(len(l.nodes) == 1, "pod %s was on nodes %v: want one", l.name, l.nodes) {
			continue
		}
		ch := &choice{life: l}
		if ch.revision, err = strconv.ParseInt(strings.TrimPrefix(r.Snapshot, followed+"@"), 10, 64); err != nil {
			return err
		}
		pod := l.first.DeepCopy()
		pod.APIVersion, pod.Kind, pod.Spec.NodeName = "v1", "Pod", ""
		if ch.question, err = json.Marshal(pod); err != nil {
			return err
		}
		c.choices = append(c.choices, ch)
	}
	c.e.check(len(c.choices) == len(list), "of %d pods, berth's shadow has %d on record", len(list), len(c.choices))
	return nil
}

// recorded asks on the revision of the record.
func (c *comparison) recorded(ctx context.Context, ch *choice) error {
	d, err := c.s.best(ctx, fmt.Sprintf("%s@%d", followed, ch.revision), ch.question)
	if err != nil {
		return err
	}
	if !slices.Contains(d.Best, ch.nodes[0]) {
		ch.later = -1
	}
	return nil
}

// follow looks for the first later revision on which a pod agrees, up to the one
// that was the newest when the pod was bound.
func (c *comparison) follow(ctx context.Context) error {
	var behind []*choice
	for _, ch := range c.choices {
		if ch.later < 0 {
			behind = append(behind, ch)
		}
	}
	if len(behind) == 0 {
		return nil
	}
	made, err := c.s.revisions(ctx)
	if err != nil {
		return err
	}
	return parallel(len(behind), func(i int) error {
		ch := behind[i]
		for n := 1; ; n++ {
			at, ok := made[ch.revision+int64(n)]
			if !ok || at.After(ch.bound) {
				return nil
			}
			d, err := c.s.best(ctx, fmt.Sprintf("%s@%d", followed, ch.revision+int64(n)), ch.question)
			if err != nil {
				return err
			}
			if slices.Contains(d.Best, ch.nodes[0]) {
				ch.later = n
				return nil
			}
		}
	})
}

// repeat runs the trial again: before each pod berth decides on a state with exactly the pods that
// kube-scheduler had placed.
func (c *comparison) repeat(ctx context.Context) error {
	const cluster = "again"
	nodes, err := c.e.client.CoreV1().Nodes().List(ctx, listAll)
	if err != nil {
		return err
	}
	var items []any
	for i := range nodes.Items {
		nodes.Items[i].APIVersion, nodes.Items[i].Kind = "v1", "Node"
		items = append(items, &nodes.Items[i])
	}
	var at struct{ ID string }
	if err := c.s.call(ctx, http.MethodPost, "/v1/snapshots?allow-empty=true&cluster="+cluster, map[string]any{"apiVersion": "v1", "kind": "List", "items": items}, &at); err != nil {
		return err
	}
	for _, ch := range c.choices {
		d, err := c.s.best(ctx, at.ID, ch.question)
		if err != nil {
			return err
		}
		c.largest = max(c.largest, len(d.Best))
		if c.e.check(slices.Contains(d.Best, ch.nodes[0]), "%s is on %s; berth's best on the same state are %v (%s)", ch.name, ch.nodes[0], d.Best, d.Snapshot) {
			c.exact++
		}
		if theirs, ok := c.log[ch.namespace+"/"+ch.name]; ok {
			c.logged++
			if c.e.check(slices.Equal(theirs, d.Best), "%s: kube-scheduler's best nodes are %v, berth's %v (%s)", ch.name, theirs, d.Best, d.Snapshot) {
				c.sets++
			}
		}
		placed := ch.last.DeepCopy()
		placed.APIVersion, placed.Kind, placed.Spec.NodeName = "v1", "Pod", ch.nodes[0]
		if err := c.s.call(ctx, http.MethodPost, "/v1/snapshots/"+at.ID+"/changes", map[string]any{"apply": []any{placed}}, &at); err != nil {
			return err
		}
	}
	return nil
}

// tell prints the figures. It fails unless so many pods were compared, and so many
// of them by kube-scheduler's scores.
func (c *comparison) tell(pods, logged int) {
	none := 0
	var later []int
	for _, ch := range c.choices {
		if ch.later > 0 {
			later = append(later, ch.later)
		} else if ch.later < 0 {
			none++
		}
	}
	slices.Sort(later)
	n := len(c.choices)
	c.e.figure("%d pods: %d agree on the revision of the record, %d on a later one%s, %d on none", n, n-len(later)-none, len(later), reach(later), none)
	c.e.figure("on the state that kube-scheduler had %d of %d agree, unexplained %d; the best were up to %d nodes", c.exact, n, n-c.exact, c.largest)
	c.e.figure("%d of %d sets of best nodes are the same, node for node, by the scores in kube-scheduler's log; compared in %.0f s", c.sets, c.logged, time.Since(c.began).Seconds())
	c.e.check(n == pods && c.logged == logged, "%d pods were compared, %d by kube-scheduler's scores; want %d and %d", n, c.logged, pods, logged)
}

// reach words how far a sorted list reaches.
func reach(list []int) string {
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf(" (1 to %d revisions on, half of them at most %d)", list[len(list)-1], list[len(list)/2])
}

// best asks berth what it would choose.
func (s *server) best(ctx context.Context, snapshot string, pod json.RawMessage) (d decision, err error) {
	err = s.call(ctx, http.MethodPost, "/v1/decisions", map[string]any{"snapshot": snapshot, "pod": pod, "dryRun": true, "explain": "none"}, &d)
	if err == nil && len(d.Best) == 0 && d.Node != "" {
		d.Best = []string{d.Node} // one node was left, and nothing to be compared
	}
	return d, err
}

// revisions gives when each revision of the followed cluster was made.
func (s *server) revisions(ctx context.Context) (map[int64]time.Time, error) {
	made := map[int64]time.Time{}
	for q := (url.Values{"cluster": {followed}, "limit": {"500"}}); ; {
		var page struct {
			Items []struct {
				Revision  int64
				CreatedAt time.Time
			}
			Cursor string
		}
		if err := s.call(ctx, http.MethodGet, "/v1/snapshots?"+q.Encode(), nil, &page); err != nil {
			return nil, err
		}
		for _, r := range page.Items {
			made[r.Revision] = r.CreatedAt
		}
		if page.Cursor == "" {
			return made, nil
		}
		q.Set("cursor", page.Cursor)
	}
}
