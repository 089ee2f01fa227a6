//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// decide asks where a pod goes, now and then with a bind. A bind without an
// answer is requested again, as a client would that wants to know.
func (c *client) decide(cluster string, bind bool) {
	name := c.name()
	pod := podOf(name, c.calls, 1+c.random.IntN(3))
	if c.random.IntN(20) == 0 {
		pod = podOf(name, c.calls, 64_000) // fits nowhere
	}
	body := object{"snapshot": cluster + "@latest", "pod": pod, "bind": bind, "explain": []string{"none", "failures", "full"}[c.random.IntN(3)]}
	class := classDecide
	if bind {
		class = classWrite
	}
	for range 3 {
		c.book.sent[sentKey{"decide", cluster, name}]++
		if c.retries {
			c.book.sent[sentKey{"decide", cluster, name}]++
		}
		res := c.ask(class, http.MethodPost, "/v1/decisions", body)
		switch {
		case res.status == http.StatusCreated:
			c.fileDecision(cluster, name, pod, bind, res)
			return
		case res.status == http.StatusConflict && bind:
			if node := boundTo(res.body); node != "" {
				c.book.claims = append(c.book.claims, claim{res.replica, cluster, name, node, "a refusal"})
				return
			}
		case !bind:
			return
		}
	}
}

// boundTo reads from a refusal to which node a pod is bound already.
func boundTo(body []byte) string {
	_, after, ok := strings.Cut(string(body), "is bound to node ")
	if !ok {
		return ""
	}
	node, _, _ := strings.Cut(after, " ")
	return node
}

func (c *client) fileDecision(cluster, name string, pod object, bind bool, res result) {
	var d struct {
		ID, Digest, Outcome, Node, Snapshot, BoundSnapshot string
	}
	if err := json.Unmarshal(res.body, &d); err != nil || d.ID == "" || d.Digest == "" {
		c.wrong("no proper decision from %s: %v %s", res.replica, err, res.body)
		return
	}
	if bind && d.Outcome == "Scheduled" && d.BoundSnapshot == "" {
		c.wrong("decision %s from %s was to bind, and names no revision", d.ID, res.replica)
	}
	c.book.answers = append(c.book.answers, answer{
		replica: res.replica, verb: "decide", cluster: cluster, pod: name, id: d.ID, digest: d.Digest, outcome: d.Outcome,
		node: d.Node, snapshot: d.Snapshot, bound: d.BoundSnapshot, feasible: -1, at: time.Now(),
	})
	c.seen(cluster, revisionOf(d.Snapshot), "decision "+d.ID, res)
	if d.BoundSnapshot != "" {
		c.made(cluster, revisionOf(d.BoundSnapshot), "decision "+d.ID, res)
		c.bound = append(c.bound, pendingPod{cluster, name, d.Node, pod})
	}
}

// extend asks as kube-scheduler does.
func (c *client) extend(cluster, verb string) {
	name := c.name()
	args := object{"Pod": podOf(name, c.calls, 1+c.random.IntN(3))}
	var names []string
	part := 1 + c.random.IntN(3) // all, every second, every third
	for i := 0; i < nodesPerCluster; i += part {
		names = append(names, nodeName(i))
	}
	if c.random.IntN(8) == 0 {
		items := make([]object, 0, 4)
		for i := range 4 {
			items = append(items, nodeOf(i, "sent"))
		}
		args["Nodes"] = object{"items": items}
	} else {
		args["NodeNames"] = names
	}
	c.book.sent[sentKey{verb, cluster, name}]++
	if c.retries {
		c.book.sent[sentKey{verb, cluster, name}]++
	}
	res := c.ask(classExtender, http.MethodPost, "/clusters/"+cluster+"/"+verb, args)
	if res.status != http.StatusOK {
		return
	}
	a := answer{replica: res.replica, verb: verb, cluster: cluster, pod: name, id: res.head.Get("Berth-Decision-Id"), feasible: -1, at: time.Now()}
	if verb == "filter" {
		var out struct {
			NodeNames *[]string
			Nodes     *struct{ Items []json.RawMessage }
			Error     string
		}
		if err := json.Unmarshal(res.body, &out); err != nil || out.Error != "" {
			c.wrong("filter at %s: %v %s", res.replica, err, res.body)
			return
		}
		switch {
		case out.NodeNames != nil:
			a.feasible = len(*out.NodeNames)
		case out.Nodes != nil:
			a.feasible = len(out.Nodes.Items)
		}
	}
	if a.id == "" {
		c.wrong("%s at %s was answered without an id: %s", verb, res.replica, res.body)
		return
	}
	c.book.answers = append(c.book.answers, a)
}

// place puts a pod into a cluster, to be bound later.
func (c *client) place(cluster string) {
	name := c.name()
	pod := podOf(name, c.calls, 1)
	if c.change(cluster, "latest", object{"apply": []any{pod}}, "Pod/"+name) {
		c.waiting = append(c.waiting, pendingPod{cluster: cluster, name: name, manifest: pod})
	}
}

// bind binds a pod as kube-scheduler does: again after no answer, again after
// success (which must stay one), and to another node (which must be refused).
func (c *client) bind() {
	if len(c.waiting) == 0 {
		return
	}
	p := c.waiting[0]
	c.waiting = c.waiting[1:]
	p.node = nodeName(c.random.IntN(nodesPerCluster))
	done := false
	for range 4 {
		if done = c.bindOnce(p, p.node) == "bound"; done {
			break
		}
	}
	if !done {
		return
	}
	c.book.claims = append(c.book.claims, claim{"", p.cluster, p.name, p.node, "an answered bind"})
	if c.random.IntN(3) == 0 && c.bindOnce(p, p.node) == "refused" {
		c.wrong("a second bind of %s/%s to %s was refused", p.cluster, p.name, p.node)
	}
	if other := nodeName(c.random.IntN(nodesPerCluster)); other != p.node && c.random.IntN(3) == 0 && c.bindOnce(p, other) == "bound" {
		c.wrong("pod %s/%s is bound to %s, and %s was answered too", p.cluster, p.name, p.node, other)
	}
	c.bound = append(c.bound, p)
}

// bindOnce returns "bound", "refused" or, where the outcome is unknown, "".
func (c *client) bindOnce(p pendingPod, node string) string {
	c.book.sent[sentKey{"bind", p.cluster, p.name}]++
	if c.retries {
		c.book.sent[sentKey{"bind", p.cluster, p.name}]++
	}
	res := c.ask(classWrite, http.MethodPost, "/clusters/"+p.cluster+"/bind",
		object{"PodName": p.name, "PodNamespace": "default", "PodUID": "uid-" + p.name, "Node": node})
	var out struct{ Error *string }
	switch {
	case res.status != http.StatusOK:
		return ""
	case json.Unmarshal(res.body, &out) != nil || out.Error == nil:
		c.wrong("bind at %s: %s", res.replica, res.body)
		return ""
	case *out.Error == "":
		return "bound"
	case strings.Contains(*out.Error, "ask again") || strings.Contains(*out.Error, "is not in"):
		return "" // a lost race, or an upload took the pod away
	}
	return "refused"
}

// change writes a change and files the revision that it made.
func (c *client) change(cluster, parent string, body object, holds string) bool {
	res := c.ask(classWrite, http.MethodPost, "/v1/snapshots/"+cluster+"@"+parent+"/changes", body)
	if res.status != http.StatusCreated {
		return false
	}
	s := state{replica: res.replica, cluster: cluster, made: true, holds: holds}
	if !c.fileState(&s, res) {
		return false
	}
	if n, err := strconv.ParseInt(parent, 10, 64); err == nil {
		s.parent = n
	}
	c.book.states = append(c.book.states, s)
	c.made(cluster, s.revision, "a change", res)
	return true
}

// fileState reads which revision an answer is about.
func (c *client) fileState(s *state, res result) bool {
	var out struct {
		ID, Digest string
	}
	if err := json.Unmarshal(res.body, &out); err != nil || out.Digest == "" || revisionOf(out.ID) == 0 {
		c.wrong("no proper snapshot from %s: %v %s", res.replica, err, res.body)
		return false
	}
	s.revision, s.digest = revisionOf(out.ID), out.Digest
	return true
}

func (c *client) changeNode(cluster string) {
	mark := c.name()
	i := c.random.IntN(nodesPerCluster)
	body := object{"apply": []any{nodeOf(i, mark)}}
	if c.random.IntN(2) == 0 {
		body = object{"patch": []any{object{"kind": "Node", "name": nodeName(i), "type": "merge", "patch": object{"metadata": object{"labels": object{"mark": mark}}}}}}
	}
	c.change(cluster, "latest", body, "mark/"+mark)
}

// changeNewest reads the newest revision and changes exactly that one: it works,
// or another client was first.
func (c *client) changeNewest(cluster string) {
	if s := c.readNewest(cluster); s.revision > 0 {
		mark := c.name()
		c.change(cluster, strconv.FormatInt(s.revision, 10), object{"apply": []any{nodeOf(c.random.IntN(nodesPerCluster), mark)}}, "mark/"+mark)
	}
}

// applyAgain applies the manifest of a pod that was bound, with another label. The
// pod stays on its node, unless an upload took it away.
func (c *client) applyAgain() {
	if len(c.bound) == 0 {
		return
	}
	p := c.bound[c.random.IntN(len(c.bound))]
	pod := maps.Clone(p.manifest)
	meta := maps.Clone(pod["metadata"].(object))
	meta["labels"] = object{"app": meta["labels"].(object)["app"], "mark": c.name()}
	pod["metadata"] = meta
	c.change(p.cluster, "latest", object{"apply": []any{pod}}, "Pod/"+p.name)
}

// remove deletes a pod that was bound, and once more, which changes nothing.
func (c *client) remove() {
	if len(c.bound) < 5 {
		return
	}
	p := c.bound[0]
	c.bound = c.bound[1:]
	gone := object{"delete": []any{object{"kind": "Pod", "namespace": "default", "name": p.name}}}
	if !c.change(p.cluster, "latest", gone, "") {
		return
	}
	if again := c.change(p.cluster, "latest", gone, ""); again {
		c.wrong("pod %s/%s was deleted twice", p.cluster, p.name)
	}
}

// reset replaces a cluster's whole state.
func (c *client) reset(cluster string) {
	mark := c.name()
	res := c.ask(classWrite, http.MethodPost, "/v1/snapshots?cluster="+cluster, wholeState(mark))
	if res.status != http.StatusCreated {
		return
	}
	s := state{replica: res.replica, cluster: cluster, made: true}
	if c.fileState(&s, res) {
		c.book.states = append(c.book.states, s)
		c.made(cluster, s.revision, "an upload", res)
	}
}

// readNewest looks at a cluster as it is stored.
func (c *client) readNewest(cluster string) state {
	res := c.ask(classRead, http.MethodGet, "/v1/snapshots/"+cluster+"@latest", nil)
	if res.status != http.StatusOK {
		return state{}
	}
	s := state{replica: res.replica, cluster: cluster}
	if !c.fileState(&s, res) {
		return state{}
	}
	c.book.states = append(c.book.states, s)
	c.forward(res.replica+" stores "+cluster, s.revision, "a look")
	return s
}

// seen checks a revision that was decided on as the newest: a replica never goes
// back, not behind what it wrote itself either, and is a second behind others at
// most.
func (c *client) seen(cluster string, revision int64, by string, res result) {
	c.forward(res.replica+" decides on "+cluster, revision, by)
	c.w.decidedOn(res.replica, cluster, revision)
	if res.phase == calm {
		behind := c.w.lag(cluster, revision, res.began)
		c.book.lags = append(c.book.lags, behind)
		if behind > staleness {
			c.book.stale = append(c.book.stale, fmt.Sprintf("%s %s decided on %s@%d, and a newer one was known %s before (a second is promised)",
				res.began.Format("15:04:05.000"), res.replica, cluster, revision, behind.Round(time.Millisecond)))
		}
	}
}

// made notes a revision that a replica was told to make.
func (c *client) made(cluster string, revision int64, by string, res result) {
	c.w.note(cluster, revision, time.Now())
	c.forward(res.replica+" decides on "+cluster, revision, by)
}

// forward wants revisions of one line to grow.
func (c *client) forward(line string, revision int64, by string) {
	if have := c.newestBy[line]; revision < have.revision {
		c.wrong("%s@%d by %s, after @%d by %s: it went back", line, revision, by, have.revision, have.by)
		return
	}
	c.newestBy[line] = shown{revision, by}
}

// readDecision reads back what was answered before. While a record is on its
// way, only the replica that has it may know it.
func (c *client) readDecision() {
	if len(c.book.answers) == 0 {
		return
	}
	a := c.book.answers[c.random.IntN(len(c.book.answers))]
	res := c.ask(classRead, http.MethodGet, "/v1/decisions/"+a.id, nil)
	if res.status != http.StatusOK {
		return
	}
	var out struct {
		ID, Digest, Outcome, Node string
		DigestAgrees              bool
	}
	if err := json.Unmarshal(res.body, &out); err != nil || out.ID != a.id || !out.DigestAgrees ||
		a.digest != "" && (out.Digest != a.digest || out.Outcome != a.outcome || out.Node != a.node) {
		c.wrong("decision %s reads otherwise at %s: %v %s", a.id, res.replica, err, res.body)
	}
}

// replayDecision replays what was answered before, at any server, while it serves: with
// what it keeps in memory from the calls of others.
func (c *client) replayDecision() {
	if len(c.book.answers) == 0 {
		return
	}
	a := c.book.answers[max(0, len(c.book.answers)-1-c.random.IntN(20))]
	res := c.ask(classRead, http.MethodPost, "/v1/decisions/"+a.id+"/replay", object{})
	if res.status != http.StatusOK {
		return
	}
	c.book.replays++
	var out struct{ Identical bool }
	if err := json.Unmarshal(res.body, &out); err != nil || !out.Identical {
		c.wrong("decision %s replays otherwise at %s: %v %s", a.id, res.replica, err, res.body)
	}
}

// readOther reads lists, for company.
func (c *client) readOther(cluster string) {
	paths := []string{"/v1/clusters", "/v1/decisions?limit=20&cluster=" + cluster, "/v1/snapshots?limit=20&cluster=" + cluster, "/v1/priorityclasses?cluster=" + cluster}
	c.ask(classRead, http.MethodGet, paths[c.random.IntN(len(paths))], nil)
}

// revisionOf reads the 7 in cluster@7; 0 where there is none.
func revisionOf(id string) int64 {
	_, number, _ := strings.Cut(id, "@")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func idOf(cluster string, revision int64) string { return fmt.Sprintf("%s@%d", cluster, revision) }
