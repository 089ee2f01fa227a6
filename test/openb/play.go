package main

import (
	"container/heap"
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// player runs the trace: what runs, and who waits after it had to go.
type player struct {
	servers    []*client
	cluster    string
	r          *report
	priorities bool
	rounds     int
	running    map[string]task
	ends       endings // of running; and of some who had to go, which are passed over
	waiting    waiting
	asked      int
	config     string            // to decide under; empty: the server's
	nodes      map[string]string // that tasks got; nil: not kept
	// before is called before a task comes; nil: nothing is
	before func(ctx context.Context, task int) error
}

func newPlayer(servers []*client, cluster string, r *report) *player {
	return &player{servers: servers, cluster: cluster, r: r, running: map[string]task{}}
}

// play decides the tasks one after the other, taking out before each what has
// ended by then. Evicted pods are tried again whenever another pod leaves.
func (p *player) play(ctx context.Context, tasks []task) error {
	bar := newProgress("decided", len(tasks))
	every := max(len(tasks)/20, 1)
	for i, t := range tasks {
		if p.before != nil {
			if err := p.before(ctx, i); err != nil {
				return err
			}
		}
		left, err := p.end(ctx, t.created)
		if err != nil {
			return err
		}
		if left {
			if err := p.again(ctx); err != nil {
				return err
			}
		}
		p.r.of(t).tasks++
		evicted := p.r.evictions
		d, err := p.place(ctx, t)
		if err != nil {
			return err
		}
		if d.Outcome == "Scheduled" {
			p.r.scheduled++
			p.r.of(t).scheduled++
		} else {
			p.r.unschedulable(d)
		}
		if p.r.evictions > evicted {
			if err := p.again(ctx); err != nil {
				return err
			}
		}
		if (i+1)%every == 0 || i == len(tasks)-1 {
			p.r.samples = append(p.r.samples, sample{t.created, len(p.running), p.r.held})
		}
		bar.at(i + 1)
	}
	for _, e := range p.waiting {
		p.r.of(e.task).waiting++
	}
	return nil
}

// end takes out the tasks that have ended by a time, and reports whether any had a
// node.
func (p *player) end(ctx context.Context, by int64) (left bool, err error) {
	var gone []string
	for p.ends.Len() > 0 && p.ends[0].deleted <= by {
		t := heap.Pop(&p.ends).(task)
		if _, runs := p.running[t.name]; !runs {
			continue
		}
		delete(p.running, t.name)
		p.r.held.add(t, -1)
		gone = append(gone, t.name)
	}
	for _, t := range p.waiting.leave(by) {
		p.r.of(t).ended++
	}
	return len(gone) > 0, p.remove(ctx, gone)
}

func (p *player) remove(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	for _, c := range p.servers {
		if err := c.remove(ctx, p.cluster, names); err != nil {
			return err
		}
	}
	return nil
}

// again tries those who had to go, each once, in the order of a queue. Who has
// to go for one of them stands behind it, and is tried in the same run.
func (p *player) again(ctx context.Context) error {
	var later []evicted
	for p.waiting.Len() > 0 {
		e := p.waiting.next()
		e.tries++
		d, err := p.place(ctx, e.task)
		switch {
		case err != nil:
			return err
		case d.Outcome == "Scheduled":
			p.r.of(e.task).back++
		case e.tries >= p.rounds:
			p.r.of(e.task).givenUp++
		default:
			later = append(later, e)
		}
	}
	for _, e := range later {
		p.waiting.add(e)
	}
	return nil
}

// place requests a node and acts for the platform where the pod preempts: it deletes the victims
// and requests a node for the nominated pod again. It returns the last answer.
func (p *player) place(ctx context.Context, t task) (*decision, error) {
	question := object{"snapshot": p.cluster + "@latest", "bind": true, "preempt": p.priorities}
	if p.config != "" {
		question["config"] = json.RawMessage(p.config)
	}
	if p.priorities {
		question["pod"] = t.pod(t.class().name)
	} else {
		question["pod"] = t.pod("")
	}
	d, err := p.decide(ctx, t, question)
	if err != nil {
		return nil, err
	}
	if d.Outcome == "Preempting" {
		p.r.of(t).preempting++
		if err := p.evict(ctx, d); err != nil {
			return nil, err
		}
		node := d.Nominated
		delete(question, "pod")
		question["podRef"] = object{"namespace": "openb", "name": t.name}
		if d, err = p.decide(ctx, t, question); err != nil {
			return nil, err
		}
		if d.Outcome != "Scheduled" || d.Node != node {
			return nil, fmt.Errorf("task %s, decision %s: the way to %s was made free, and it is %s on %q", t.name, d.ID, node, d.Outcome, d.Node)
		}
	}
	if d.Outcome == "Scheduled" {
		p.running[t.name] = t
		if p.nodes != nil {
			p.nodes[t.name] = d.Node
		}
		p.r.held.add(t, 1)
		heap.Push(&p.ends, t)
	}
	return d, nil
}

// evict deletes the victims of a decision and has them wait.
func (p *player) evict(ctx context.Context, d *decision) error {
	var names []string
	for _, v := range d.Preemption.Victims {
		t, ok := p.running[v.Name]
		if !ok {
			return fmt.Errorf("decision %s: victim %s does not run", d.ID, v.Name)
		}
		delete(p.running, t.name)
		p.r.held.add(t, -1)
		p.r.of(t).victims++
		p.r.evictions++
		p.waiting.add(evicted{task: t})
		names = append(names, t.name)
	}
	return p.remove(ctx, names)
}

// fullEvery is every how many decisions the whole explanation is requested and
// compared; the others are compared by their digest, which is over all of it.
const fullEvery = 50

// decide asks all servers for a decision and wants the same from all.
func (p *player) decide(ctx context.Context, t task, question object) (first *decision, err error) {
	question["explain"] = "none"
	if len(p.servers) > 1 && p.asked%fullEvery == 0 {
		question["explain"] = "full"
	}
	p.asked++
	p.r.decisions++
	var wanted []byte
	for i, c := range p.servers {
		start := time.Now()
		d, raw, err := c.decide(ctx, question)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			p.r.spent += time.Since(start)
			first, wanted = d, raw
			continue
		}
		if err := sameAnswer(wanted, raw); err != nil {
			return nil, fmt.Errorf("task %s, decisions %s and %s: %w", t.name, first.ID, d.ID, err)
		}
	}
	return first, nil
}
