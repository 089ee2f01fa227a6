package scenario

import (
	"cmp"
	"errors"
	"slices"

	"berth/internal/podlife"
	"berth/internal/store"
	"berth/internal/world"
)

// draining is a drain of nodes, one after the other, as kubectl does it: an eviction that a budget
// refuses is tried again every five seconds. Tries that nothing happened before are left out, as
// they would be refused again. k8s.io/kubectl/pkg/cmd/drain/drain.go RunDrain goes on with the next
// node where one cannot be drained, and pkg/drain/drain.go evictPods never gives up by itself.
type draining struct {
	d     *disruption
	q     *DrainQuestion
	names []string
	// anyway goes on with the next node where kubectl would wait for good, as if stopped there.
	anyway bool

	nodes   []*DrainedNode
	todo    []world.PodName
	refused []PodReason // why, at the last try
	bounded []bounded   // by budget, at the last try
	client  *world.Client
	calls   []evictCall // that the client has yet to make
	wave    int         // of the present try
	last    int64       // when the last evicted pod is gone
	at      int64       // the next try, or the end
	planned bool        // at is known
	hangs   bool        // a pod of the node never goes
	over    bool
}

// begin cordons the nodes and drains the first one.
func (x *draining) begin() error {
	x.client = x.d.NewKubectl()
	for _, n := range x.names {
		if _, err := x.d.Node(n); err != nil {
			continue // removed meanwhile
		}
		if err := x.d.CordonNode(n, true); err != nil {
			return err
		}
	}
	return x.next()
}

// next drains the next node.
func (x *draining) next() error {
	if len(x.names) == len(x.nodes) {
		x.over = true
		return nil
	}
	d := x.d
	out := &DrainedNode{Name: x.names[len(x.nodes)], Outcome: NodeDrained, StartSeconds: d.Seconds()}
	x.nodes = append(x.nodes, out)
	d.Note(world.Moment{What: world.DrainBegins, Node: out.Name})
	todo, err := d.sort(out.Name, x.q, out)
	if err != nil {
		return err
	}
	if len(out.Refused) > 0 {
		out.Outcome = NodeRefused
		d.Note(world.Moment{What: world.DrainEnds, Node: out.Name, Why: out.whyNot()})
		return x.next()
	}
	if out.Ended, err = d.endedOn(out.Name); err != nil {
		return err
	}
	world.Shuffle(d.Options().Chance, todo, world.PodName.String)
	x.todo, x.last, x.hangs = todo, d.Seconds(), false
	return x.evict()
}

// node returns the node that is being drained.
func (x *draining) node() *DrainedNode { return x.nodes[len(x.nodes)-1] }

// evictCall is the eviction of a pod, and when kubectl's client makes it.
type evictCall struct {
	pod    world.PodName
	second int64
}

// evict evicts what budgets let go. kubectl evicts all pods at the same time, and its client makes
// one call after the other.
func (x *draining) evict() error {
	for _, n := range x.todo {
		x.calls = append(x.calls, evictCall{n, x.d.Call(x.client, 1)})
	}
	x.todo, x.refused, x.bounded = nil, nil, nil
	x.wave = x.node().Waves + 1
	return x.call()
}

// call evicts the pods whose calls are due.
func (x *draining) call() error {
	out := x.node()
	before := out.Evicted
	for len(x.calls) > 0 && x.calls[0].second <= x.d.Seconds() {
		n := x.calls[0].pod
		x.calls = x.calls[1:]
		if err := x.evictPod(out, n); err != nil {
			return err
		}
	}
	if out.Evicted > before {
		out.Waves = x.wave
	}
	if len(x.calls) > 0 {
		x.at, x.planned = x.calls[0].second, true
		return nil
	}
	for _, b := range x.bounded {
		x.d.Choice(world.ChosenEviction, "budget "+b.name, "pods", b.evicted, b.evicted+b.refused)
	}
	x.at, x.planned = x.last, len(x.todo) == 0
	return nil
}

// evictPod evicts one pod, or deletes it where budgets do not count.
func (x *draining) evictPod(out *DrainedNode, n world.PodName) error {
	d, q := x.d, x.q
	pod, err := d.Pod(n.Namespace, n.Name)
	if errors.Is(err, store.ErrNotFound) || err == nil && pod.Spec.NodeName != out.Name {
		return nil // gone meanwhile
	}
	if err != nil {
		return err
	}
	if rec := d.Leaving(n); rec != nil && q.GracePeriodSeconds == nil { // an eviction adds nothing
		if rec.GoneAfterSeconds == nil {
			x.stays(n)
			return nil
		}
		x.last = max(x.last, *rec.GoneAfterSeconds)
		return nil
	}
	evicts := q.RespectBudgets == nil || *q.RespectBudgets
	v := podlife.EvictionVerdict{Allowed: true}
	if evicts {
		v = d.JudgeEviction(pod)
	}
	x.bounds(n.Namespace, &v)
	if !v.Allowed {
		why := PodReason{n.Namespace, n.Name, cmp.Or(v.Cause, v.Message), v.Remedy}
		if v.Temporary() {
			x.todo, x.refused = append(x.todo, n), append(x.refused, why)
		} else {
			out.Blocked = append(out.Blocked, why)
		}
		return nil
	}
	rec := &world.Left{Cause: world.CauseEviction, Wave: x.wave, Rule: &v.Rule}
	if !evicts {
		rec.Cause, rec.Rule = world.CauseDeletion, nil
	}
	out.Evicted++
	gone, err := d.Evict(pod, rec, q.GracePeriodSeconds)
	if err != nil {
		return err
	}
	if gone < 0 {
		x.stays(n)
	}
	x.last = max(x.last, gone)
	return nil
}

// bounded is how many pods of the node a budget lets go at one try, and how many it refuses.
type bounded struct {
	name             string
	evicted, refused int
}

// bounds counts a pod for the budget that judges it: kubectl evicts all pods of a node at the same
// time, so that which of them it lets go is chance (pkg/drain/drain.go evictPods).
func (x *draining) bounds(namespace string, v *podlife.EvictionVerdict) {
	if len(v.Budgets) != 1 || !v.UsesAllowance && !v.Temporary() {
		return
	}
	name := namespace + "/" + v.Budgets[0]
	i := slices.IndexFunc(x.bounded, func(b bounded) bool { return b.name == name })
	if i < 0 {
		i, x.bounded = len(x.bounded), append(x.bounded, bounded{name: name})
	}
	if v.Allowed {
		x.bounded[i].evicted++
	} else {
		x.bounded[i].refused++
	}
}

// stays notes a pod that nothing ends.
func (x *draining) stays(n world.PodName) {
	x.hangs = true
	x.node().Blocked = append(x.node().Blocked, PodReason{n.Namespace, n.Name, "it stays Terminating: the kubelet of its node does not answer, and nothing else removes it while the Node object exists", nil})
}

// plan has the refused pods tried again once something has happened, in steps of five seconds from
// when the drain of the node began.
func (x *draining) plan(happens int64) {
	if len(x.todo) > 0 && !x.planned { // never amid calls
		since := max(happens, x.d.Seconds()+1) - x.node().StartSeconds
		x.at, x.planned = x.node().StartSeconds+(since+retrySeconds-1)/retrySeconds*retrySeconds, true
	}
}

// act does what is due.
func (x *draining) act() error {
	x.planned = false
	switch {
	case len(x.calls) > 0:
		return x.call()
	case len(x.todo) > 0:
		return x.evict()
	}
	return x.drained()
}

// drained ends the drain of a node: its pods are gone, but for those that block it.
func (x *draining) drained() error {
	d, out := x.d, x.node()
	out.Seconds = d.Seconds() - out.StartSeconds
	var err error
	if len(out.Blocked) > 0 {
		out.Outcome = NodeBlocked
		x.over = x.hangs && !x.anyway
	} else if out.Removed = x.q.removes(); out.Removed {
		err = d.remove(out.Name)
	}
	d.Note(world.Moment{What: world.DrainEnds, Node: out.Name, Why: out.whyNot()})
	if err != nil || x.over {
		return err
	}
	return x.next()
}

// goOn has the next thing happen. Where nothing does, the pods that are left are never let go: it
// does not wait for pods that are tried again by time alone.
func (x *draining) goOn() error {
	if at, ok := x.d.nextDue(); ok {
		return x.d.Advance(at)
	}
	out := x.node()
	out.Blocked, x.todo = append(out.Blocked, x.refused...), nil
	if err := x.drained(); err != nil {
		return err
	}
	return x.d.World.Advance(x.d.Seconds()) // the scheduler sees what the next node's drain evicted
}

// end marks a drain that was on its way when the run ended.
func (x *draining) end() {
	if x.over || len(x.nodes) == 0 {
		return
	}
	out := x.node()
	out.Outcome, out.Seconds = NodeBlocked, x.d.Seconds()-out.StartSeconds
	out.Blocked = append(out.Blocked, x.refused...)
}
