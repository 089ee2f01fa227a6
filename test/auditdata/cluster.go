package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync/atomic"
)

// cluster is one of the load's, and what its state holds; one goroutine each.
type cluster struct {
	*server
	name      string
	nodes     int
	customers int // the value of its class customer-facing
	r         *rand.Rand
	share     int64         // of all decisions, in percent
	made      int64         // decisions
	names     *atomic.Int64 // of pods
	bound     []*pod
	waiting   []*pod
	cordoned  int // of its nodes
	refused   int
}

// full is how many pods a node a cluster keeps: about what its nodes have room for.
const full = 7

// fill puts pods on the nodes, as if they had been there before berth was.
func (c *cluster) fill() {
	for n := range (full - 1) * c.nodes {
		p := c.fresh()
		p.node = node(c.name, n%c.nodes, c.nodes, false)["metadata"].(object)["name"].(string)
		c.bound = append(c.bound, p)
	}
}

// most is how many tries a pod has before it is given up.
const most = 8

func (c *cluster) path(end string) string { return "/clusters/" + c.name + "/" + end }

// upload replaces the state by what the books have of it.
func (c *cluster) upload() error {
	items := standing(c.customers)
	for n := range c.nodes {
		items = append(items, node(c.name, n, c.nodes, n == c.cordoned))
	}
	for _, p := range c.bound {
		items = append(items, p.placed())
	}
	_, err := c.send("sre", http.MethodPost, "/v1/snapshots?cluster="+c.name, object{"apiVersion": "v1", "kind": "List", "items": items}, nil)
	return err
}

// placed is the pod as it stands on its node.
func (p *pod) placed() object {
	spec := object{"nodeName": p.node}
	for k, v := range p.object["spec"].(object) {
		if k != "schedulingGates" {
			spec[k] = v
		}
	}
	return object{"apiVersion": "v1", "kind": "Pod", "metadata": p.object["metadata"], "spec": spec}
}

func (c *cluster) change(by string, body object) error {
	_, err := c.send(by, http.MethodPost, "/v1/snapshots/"+c.name+"@latest/changes", body, nil)
	return err
}

func deletion(p *pod) object {
	return object{"kind": "Pod", "namespace": p.namespace, "name": p.name}
}

// turn lets one thing happen, and then a pod leave where the cluster is full.
func (c *cluster) turn() error {
	n := c.r.IntN(100)
	var err error
	switch {
	case n < 10 && len(c.waiting) > 0:
		p := c.waiting[0]
		c.waiting = c.waiting[1:]
		err = c.try(p)
	case n < 40:
		err = c.try(c.fresh())
	case n < 78:
		err = c.extend(c.fresh())
	case n < 88:
		err = c.question()
	case n < 93:
		err = c.shadow()
	case n < 94:
		c.cordoned = c.r.IntN(c.nodes)
		err = c.change("sre", object{"replace": []object{node(c.name, c.cordoned, c.nodes, true)}})
	case n < 97:
		err = c.denied()
	case c.name == "prod":
		_, err = c.send("dashboard", http.MethodGet, "/v1/decisions?cluster=prod&limit=5", nil, nil)
	}
	if len(c.bound) > full*c.nodes && err == nil {
		i := c.r.IntN(len(c.bound))
		gone := c.bound[i]
		c.bound = slices.Delete(c.bound, i, i+1)
		err = c.change("controller", object{"delete": []object{deletion(gone)}})
	}
	return err
}

func (c *cluster) fresh() *pod { return newPod(c.r, c.names.Add(1)) }

// answered is what the load reads of an answer.
type answered struct {
	Outcome, Node, NominatedNode string
	Preemption                   struct {
		Victims []struct{ Namespace, Name, UID string }
	}
}

// try places a pod over REST. Its victims leave, and come back under their names.
func (c *cluster) try(p *pod) error {
	var a answered
	c.made++
	p.tries++
	if _, err := c.send("controller", http.MethodPost, "/v1/decisions", object{"snapshot": c.name + "@latest", "pod": p.object, "bind": true}, &a); err != nil {
		return err
	}
	switch {
	case a.Outcome == "Scheduled":
		p.node = a.Node
		c.bound = append(c.bound, p)
	case p.tries >= most:
		return c.change("controller", object{"delete": []object{deletion(p)}})
	case a.Outcome == "Preempting":
		c.waiting = append([]*pod{p}, c.waiting...)
		for _, v := range a.Preemption.Victims {
			if err := c.evict(v.UID); err != nil {
				return err
			}
		}
	default:
		c.waiting = append(c.waiting, p)
	}
	return nil
}

// evict takes a victim out of the state; the one that its owner makes in its place waits.
func (c *cluster) evict(uid string) error {
	i := slices.IndexFunc(c.bound, func(p *pod) bool { return p.uid == uid })
	if i < 0 {
		return nil
	}
	gone := c.bound[i]
	c.bound = slices.Delete(c.bound, i, i+1)
	again := *gone
	again.uid = fmt.Sprintf("%08x%s8000-%012x", c.r.Uint32(), uidMark, c.names.Add(1))
	again.node, again.tries = "", 0
	meta := object{}
	for k, v := range gone.object["metadata"].(object) {
		meta[k] = v
	}
	meta["uid"] = again.uid
	again.object = object{"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": gone.object["spec"]}
	c.waiting = append(c.waiting, &again)
	return c.change("controller", object{"delete": []object{deletion(gone)}})
}

// denied is a call that its caller may not make, or about a cluster that it may not know of.
func (c *cluster) denied() error {
	by, path := "planner", "/v1/snapshots/"+c.name+"@latest/changes"
	if c.r.IntN(2) == 0 {
		by, path = "scheduler-prod", "/v1/snapshots/batch@latest/changes"
	}
	if status, err := c.send(by, http.MethodPost, path, object{"delete": []object{}}, nil); status != http.StatusForbidden && status != http.StatusNotFound {
		return fmt.Errorf("%s of %s: %d instead of a refusal: %w", path, by, status, err)
	}
	c.refused++
	return nil
}
