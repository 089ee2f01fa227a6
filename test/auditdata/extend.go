package main

import (
	"fmt"
	"net/http"
)

// nodeNames are all nodes of the cluster, as kube-scheduler sends them.
func (c *cluster) nodeNames() []string {
	names := make([]string, c.nodes)
	for n := range names {
		names[n] = node(c.name, n, c.nodes, false)["metadata"].(object)["name"].(string)
	}
	return names
}

// extend is a cycle of kube-scheduler about a pod that a controller made: filter, then prioritize
// and bind, or preempt.
func (c *cluster) extend(p *pod) error {
	by := "scheduler"
	if c.name == "prod" {
		by = "scheduler-prod"
	}
	if err := c.change("controller", object{"replace": []object{p.object}}); err != nil {
		return err
	}
	var passed struct {
		NodeNames   *[]string
		FailedNodes map[string]string
	}
	c.made++
	if _, err := c.send(by, http.MethodPost, c.path("filter"), object{"Pod": p.object, "NodeNames": c.nodeNames()}, &passed); err != nil {
		return err
	}
	if passed.NodeNames == nil || len(*passed.NodeNames) == 0 {
		p.tries++
		c.waiting = append(c.waiting, p)
		return c.preempt(by, p)
	}
	var scores []struct {
		Host  string
		Score int64
	}
	c.made++
	if _, err := c.send(by, http.MethodPost, c.path("prioritize"), object{"Pod": p.object, "NodeNames": *passed.NodeNames}, &scores); err != nil {
		return err
	}
	best := 0
	for i := range scores {
		if scores[i].Score > scores[best].Score {
			best = i
		}
	}
	p.node = scores[best].Host
	var bound struct{ Error string }
	c.made++
	body := object{"PodName": p.name, "PodNamespace": p.namespace, "PodUID": p.uid, "Node": p.node}
	if _, err := c.send(by, http.MethodPost, c.path("bind"), body, &bound); err != nil || bound.Error != "" {
		return fmt.Errorf("bind: %w %s", err, bound.Error)
	}
	c.bound = append(c.bound, p)
	return nil
}

// preempt asks about some nodes with a pod that might leave each.
func (c *cluster) preempt(by string, p *pod) error {
	nodes := map[string]object{}
	for _, b := range c.bound {
		if b.class != "customer-facing" && b.class != "rush" && len(nodes) < 5 {
			nodes[b.node] = object{"Pods": []object{{"UID": b.uid}}}
		}
	}
	if p.class != "customer-facing" && p.class != "rush" || len(nodes) == 0 {
		return nil
	}
	c.made++
	_, err := c.send(by, http.MethodPost, c.path("preempt"), object{"Pod": p.object, "NodeNameToMetaVictims": nodes}, nil)
	return err
}

// question asks what would be, by people who bind nothing.
func (c *cluster) question() error {
	by := "planner"
	if c.r.IntN(4) == 0 {
		by = anonymous
	}
	c.made++
	_, err := c.send(by, http.MethodPost, "/v1/decisions", object{"snapshot": c.name + "@latest", "pod": c.fresh().object}, nil)
	return err
}

// shadow is a call of a scheduler that is watched.
func (c *cluster) shadow() error {
	c.made++
	_, err := c.send("scheduler", http.MethodPost, c.path("shadow/filter"), object{"Pod": c.fresh().object, "NodeNames": c.nodeNames()[:c.nodes/2]}, nil)
	return err
}
