//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// platform is a caller that is no Kubernetes: it places many pods at once, holds them, and sends a
// call again until it is answered, each time under the same Idempotency-Key.
type platform struct {
	*client
	keys   int
	late   []*asked // holds that are to be committed once their time is over
	placed []*asked // to be deleted some day
}

// asked is a placement that was sent.
type asked struct {
	cluster string
	pods    []string
	atomic  bool
	// What it was answered; nothing where id is empty.
	replica, id, bound string
	committed          bool
	nodes              map[string]string // of the pods that found one
	hold               bool
	expires            time.Time
}

// ending is what was said of a hold by a call that was to end it.
type ending struct {
	replica, id, how string // how: commit or release
	state, ended     string // the hold's state, and the revision that ended it if that was said
	began            time.Time
	expires          time.Time
}

// meeting is where two callers race for the last room: one takes the next replica.
type meeting struct {
	cluster string
	replica int
}

// once makes one call, or a few that belong together.
func (p *platform) once() {
	cluster := clusterNames[p.random.IntN(len(clusterNames))]
	if len(p.late) > 0 && time.Since(p.late[0].expires) > 50*time.Millisecond {
		p.end(p.late[0], "commit", p.replica())
		p.late = p.late[1:]
	}
	if len(p.placed) > 8 {
		p.clear()
	}
	switch n := p.random.IntN(100); {
	case n < 15:
		p.decideOnce(cluster)
	case n < 30:
		p.changeOnce(cluster)
	case n < 45:
		p.gang(cluster)
	case n < 60:
		p.race(cluster)
	default:
		p.holdAndEnd(cluster)
	}
}

func (p *platform) replica() int { return p.random.IntN(len(p.w.place.replicas)) }

// other is another replica, where there is one.
func (p *platform) other(i int) int { return (i + 1) % len(p.w.place.replicas) }

// keyed is a call that is sent under one key.
type keyed struct {
	path, key string
	body      []byte
}

// final reports whether a call was answered for good: another try has to get the same answer.
func (r result) final() bool {
	return r.status != 0 && r.status < http.StatusInternalServerError && r.status != http.StatusTooManyRequests
}

func (p *platform) post(i int, within time.Duration, k keyed) result {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	var body any
	if k.body != nil {
		body = k.body
	}
	return p.send(ctx, i, classWrite, http.MethodPost, k.path, k.key, body)
}

// patience is how long a try waits for its answer. The claim of a server that died lapses after
// 15 s.
const patience = 12 * time.Second

// answered sends a call under one key until it is answered, first to replica i. Now and then the
// first answer is lost, or two replicas are called at once. Then it looks what the key does.
func (p *platform) answered(i int, path string, body any) (result, bool) {
	k := p.keyed(path, body)
	var first result
	switch p.random.IntN(4) {
	case 0:
		_ = p.post(i, time.Duration(1+p.random.IntN(25))*time.Millisecond, k)
	case 1:
		twin := make(chan result, 1)
		go func(i int) { twin <- p.post(i, patience, k) }(p.other(i))
		first = p.post(i, patience, k)
		other := <-twin
		if first.final() && other.final() {
			p.same(k, first, other, first.replayed() || other.replayed())
		} else if other.final() {
			first = other
		}
	}
	first = p.untilFinal(i, k, first, 12)
	if !first.final() {
		return first, false
	}
	if strings.Contains(string(first.body), "problem:written") || first.status >= http.StatusBadRequest && first.status != http.StatusConflict {
		p.wrong("%s at %s under key %s: status %d: %s", path, first.replica, k.key, first.status, first.body)
		return first, false
	}
	p.again(k, first)
	return first, true
}

func (p *platform) keyed(path string, body any) keyed {
	p.keys++
	k := keyed{path: path, key: fmt.Sprintf("key-%d-%d", p.n, p.keys)}
	if body != nil {
		k.body, _ = json.Marshal(body) // maps and texts
	}
	return k
}

// untilFinal sends a call until it has an answer for good, so many times at most.
func (p *platform) untilFinal(i int, k keyed, have result, tries int) result {
	for try := 0; !have.final() && try < tries; try++ {
		if try > 0 {
			pause(context.Background(), min(100*time.Millisecond<<try, 2*time.Second))
			i = p.replica()
		}
		if have = p.post(i, patience, k); have.replayed() && !have.final() {
			p.wrong("%s under key %s: %s repeats %d %s", k.path, k.key, have.replica, have.status, have.body)
		}
	}
	return have
}

func (r result) replayed() bool { return r.head.Get("Idempotency-Replayed") == "true" }

// same wants two answers under one key to be the same, and one of them to be a repetition.
func (p *platform) same(k keyed, a, b result, replayed bool) {
	if a.status != b.status || !bytes.Equal(a.body, b.body) || a.head.Get("Location") != b.head.Get("Location") || !replayed {
		p.wrong("%s under key %s: %s answered %d %s, and %s %d %s, repeated: %v", k.path, k.key, a.replica, a.status, a.body, b.replica, b.status, b.body, replayed)
	}
}

// again sends an answered call once more, or another one under its key.
func (p *platform) again(k keyed, first result) {
	i, other, what := p.replica(), k, ""
	switch n := p.random.IntN(4); {
	case n == 0 && !strings.HasSuffix(k.path, "/release"):
		if other.path, what = strings.Replace(k.path, "/commit", "/release", 1), "another path"; other.path == k.path {
			other.path = k.path + "?fieldValidation=Ignore"
		}
	case n == 1:
		other.body, what = append(bytes.Clone(k.body), ' '), "a longer body"
	case n == 2 && k.body != nil:
		other.body, what = bytes.Clone(k.body), "another body"
		other.body[len(k.body)-1] = ' '
	}
	res := p.untilFinal(i, other, result{}, 4)
	p.book.repeated++
	switch {
	case !res.final():
	case what == "":
		p.same(k, first, res, res.replayed())
	case res.status != http.StatusUnprocessableEntity || !strings.Contains(string(res.body), "key-reused"):
		p.wrong("%s under key %s with %s: %s answered %d %s, want 422", k.path, k.key, what, res.replica, res.status, res.body)
	}
}

// decideOnce decides about a pod and binds it, once.
func (p *platform) decideOnce(cluster string) {
	name := p.name()
	p.book.sent[sentKey{"decide", cluster, name}]++
	res, ok := p.answered(p.replica(), "/v1/decisions", object{"snapshot": cluster + "@latest", "pod": podOf(name, p.calls, 1), "bind": true, "explain": "none"})
	var d struct{ ID, Digest, Outcome, Node, Snapshot, BoundSnapshot string }
	if !ok {
		return
	}
	if res.status != http.StatusCreated || json.Unmarshal(res.body, &d) != nil || d.BoundSnapshot == "" {
		p.wrong("no proper decision from %s: %d %s", res.replica, res.status, res.body)
		return
	}
	p.book.answers = append(p.book.answers, answer{
		replica: res.replica, verb: "decide", cluster: cluster, pod: name, id: d.ID, digest: d.Digest, outcome: d.Outcome,
		node: d.Node, snapshot: d.Snapshot, bound: d.BoundSnapshot, feasible: -1, at: time.Now(),
	})
	p.placed = append(p.placed, &asked{cluster: cluster, pods: []string{name}})
}

// changeOnce changes a node, once.
func (p *platform) changeOnce(cluster string) {
	mark := p.name()
	p.book.marks = append(p.book.marks, sentKey{"change", cluster, mark})
	body := object{"patch": []any{object{"kind": "Node", "name": nodeName(p.random.IntN(nodesPerCluster)), "type": "merge", "patch": object{"metadata": object{"labels": object{"mark": mark}}}}}}
	res, ok := p.answered(p.replica(), "/v1/snapshots/"+cluster+"@latest/changes", body)
	if !ok {
		return
	}
	s := state{replica: res.replica, cluster: cluster, made: true, holds: "mark/" + mark}
	if res.status != http.StatusCreated {
		p.wrong("a change at %s: %d %s", res.replica, res.status, res.body)
	} else if p.fileState(&s, res) {
		p.book.states = append(p.book.states, s)
	}
}

// clear deletes pods of the oldest placement; those that are gone already are no error.
func (p *platform) clear() {
	one := p.placed[0]
	p.placed = p.placed[1:]
	p.ask(classWrite, http.MethodPost, "/v1/snapshots/"+one.cluster+"@latest/changes", object{"delete": podsNamed(one.pods)})
}

func podsNamed(names []string) (list []any) {
	for _, name := range names {
		list = append(list, object{"kind": "Pod", "namespace": "default", "name": name})
	}
	return list
}
