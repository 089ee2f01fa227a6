//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// place places pods under a key; how has bind or hold, and what else the request says. It returns
// nil where no answer came.
func (p *platform) placeAll(i int, cluster string, pods []object, how object) *asked {
	one := &asked{cluster: cluster, nodes: map[string]string{}}
	one.atomic, _ = how["atomic"].(bool)
	for _, pod := range pods {
		name := pod["metadata"].(object)["name"].(string)
		one.pods = append(one.pods, name)
		p.book.sent[sentKey{"decide", cluster, name}]++
	}
	p.book.asked = append(p.book.asked, one)
	how["snapshot"], how["pods"] = cluster+"@latest", pods
	res, ok := p.answered(i, "/v1/placements", how)
	if !ok {
		return nil
	}
	var out struct {
		ID, BoundSnapshot string
		Committed         bool
		Results           []struct{ Name, Outcome, Node, Decision string }
		Hold              *struct {
			ID      string
			Expires time.Time
		}
	}
	if err := json.Unmarshal(res.body, &out); err != nil || res.status >= 300 || len(out.Results) != len(pods) {
		p.wrong("no proper placement from %s: %d %s", res.replica, res.status, res.body)
		return nil
	}
	one.replica, one.id, one.bound, one.committed = res.replica, out.ID, out.BoundSnapshot, out.Committed
	if one.hold = out.Hold != nil; one.hold {
		one.expires = out.Hold.Expires
	}
	for _, r := range out.Results {
		if r.Decision != "" {
			p.book.answers = append(p.book.answers, answer{replica: res.replica, verb: "decide", cluster: cluster, pod: r.Name, id: r.Decision, feasible: -1, at: time.Now()})
		}
		if r.Outcome == "Scheduled" {
			one.nodes[r.Name] = r.Node
		}
	}
	return one
}

// pods are n pods whose names begin alike, each with this much of a processor.
func (p *platform) pods(n, milli int) (list []object) {
	for i := range n {
		list = append(list, podOf(fmt.Sprintf("%s-%d", p.name(), i), 1, milli))
	}
	return list
}

// gang places pods of which all fit or, now and then, one does not, and so none is to be placed.
func (p *platform) gang(cluster string) {
	pods := p.pods(2+p.random.IntN(3), 1)
	fits := p.random.IntN(3) > 0
	if !fits {
		pods[len(pods)-1] = podOf(p.name()+"-huge", 1, 64_000)
	}
	one := p.placeAll(p.replica(), cluster, pods, object{"bind": true, "atomic": true, "order": "given"})
	if one != nil && one.committed != fits {
		p.wrong("%s answered that placement %s of %v is committed: %v", one.replica, one.id, one.pods, one.committed)
	}
	if one != nil && fits {
		p.placed = append(p.placed, one)
	}
}

// race wants the last room of a cluster, at the same time as another caller at another replica.
func (p *platform) race(cluster string) {
	i := p.replica()
	meet := meeting{cluster, p.other(i)}
	select {
	case m := <-p.w.meet:
		cluster, i = m.cluster, m.replica
	case p.w.meet <- meet:
	case <-time.After(200 * time.Millisecond):
	}
	pods := p.pods(1+p.random.IntN(2), 1) // of two one may get it
	for _, pod := range pods {
		pod["spec"].(object)["containers"].([]any)[0].(object)["resources"] = object{"requests": object{slot: "1"}, "limits": object{slot: "1"}}
	}
	how := object{"bind": true, "minCount": 1}
	if p.random.IntN(2) == 0 {
		how = object{"hold": "1s", "minCount": 1}
	}
	one := p.placeAll(i, cluster, pods, how)
	if one == nil || !one.committed {
		return
	}
	p.book.slots++
	if one.hold {
		p.end(one, "release", p.replica())
		return
	}
	p.placed = append([]*asked{one}, p.placed...)
	p.clear()
}

// holdAndEnd holds pods, and ends the hold in one way or two, or lets it end by itself.
func (p *platform) holdAndEnd(cluster string) {
	pods := p.pods(1+p.random.IntN(3), 1)
	if p.random.IntN(4) == 0 && !p.change(cluster, "latest", object{"apply": []any{pods[0]}}, "") { // it waits before
		return
	}
	one := p.placeAll(p.replica(), cluster, pods, object{"hold": fmt.Sprintf("%dms", 1000+p.random.IntN(1500))})
	if one == nil {
		return
	}
	if !one.hold || len(one.nodes) != len(pods) {
		p.wrong("%s answered no hold of all of %v", one.replica, one.pods)
		return
	}
	if p.random.IntN(4) == 0 { // another pod takes the name of one
		name := one.pods[len(pods)-1]
		anew := podOf(name, 1, 1)
		anew["metadata"].(object)["uid"] = "anew-" + name
		if p.change(cluster, "latest", object{"delete": podsNamed([]string{name})}, "") {
			p.change(cluster, "latest", object{"apply": []any{anew}}, "Pod/"+name)
		}
	}
	i := p.replica()
	switch p.random.IntN(6) {
	case 0: // it is over by itself
	case 1:
		p.end(one, "commit", i)
	case 2:
		p.end(one, "release", i)
		p.end(one, "release", p.other(i))
	case 3:
		p.endBoth(one, i)
	case 4:
		p.late = append(p.late, one)
	case 5:
		pause(context.Background(), time.Until(one.expires.Add(-time.Duration(p.random.IntN(30))*time.Millisecond)))
		p.end(one, "commit", i)
	}
	p.placed = append(p.placed, one)
}

// endBoth commits and releases a hold at once: one of the two counts.
func (p *platform) endBoth(one *asked, i int) {
	release, commit := p.endingOf(one, "release"), p.endingOf(one, "commit")
	twin := make(chan result, 1)
	go func() { twin <- p.post(i, patience, release) }()
	res := p.post(p.other(i), patience, commit)
	p.said(one, "commit", res)
	p.said(one, "release", <-twin)
}

// end ends a hold, under a key or by calls that may be repeated without.
func (p *platform) end(one *asked, how string, i int) {
	k := p.endingOf(one, how)
	if p.random.IntN(2) == 0 {
		if res, ok := p.answered(i, k.path, nil); ok {
			p.said(one, how, res)
		}
		return
	}
	p.said(one, how, p.untilFinal(i, k, result{}, 12))
}

func (p *platform) endingOf(one *asked, how string) keyed {
	return keyed{path: "/v1/holds/" + one.id + "/" + how}
}

// said files what was answered to the end of a hold.
func (p *platform) said(one *asked, how string, res result) {
	var out struct {
		State, EndedSnapshot string
		Conflict             struct{ State string }
	}
	e := ending{replica: res.replica, id: one.id, how: how, began: res.began, expires: one.expires}
	err := json.Unmarshal(res.body, &out)
	switch {
	case !res.final():
		return
	case err == nil && res.status == http.StatusOK && (out.State == stateCommitted || how == "release" && out.State != ""):
		e.state, e.ended = out.State, out.EndedSnapshot
	case err == nil && res.status == http.StatusConflict && out.Conflict.State != "" && (how == "commit") != (out.Conflict.State == stateCommitted):
		e.state = out.Conflict.State
	default:
		p.wrong("%s of hold %s at %s: %d %s", how, one.id, res.replica, res.status, res.body)
		return
	}
	p.book.ends = append(p.book.ends, e)
}
