package state

import (
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Bind puts a pending pod (or one that the state does not know) on a node.
func (e *Edit) Bind(pod *corev1.Pod, node string) error {
	p, err := newPod(e.s.t, pod)
	if err != nil {
		return err
	}
	p.NodeName, p.Nominated = node, ""
	e.putPod(p)
	return nil
}

// waitingPods returns a node's pods of s.waiting, to be changed in place: copying for every pod
// would be quadratic.
func (e *Edit) waitingPods(node string) []*Pod {
	if e.waitingOwned == nil {
		e.s.waiting, e.waitingOwned = maps.Clone(e.s.waiting), map[string]bool{}
	}
	if !e.waitingOwned[node] {
		e.s.waiting[node], e.waitingOwned[node] = slices.Clone(e.s.waiting[node]), true
	}
	return e.s.waiting[node]
}

// putPod adds or replaces a compiled pod.
func (e *Edit) putPod(p *Pod) {
	if before := e.s.pods.put(e.id, p); before != nil {
		e.leave(before)
	}
	e.place(p)
}

// addPod adds a compiled pod that the state does not have.
func (e *Edit) addPod(p *Pod) {
	e.s.pods.put(e.id, p)
	e.place(p)
}

// place adds a compiled pod to its node, or to those that wait; Row is set here.
func (e *Edit) place(p *Pod) {
	p.Row = -1
	if p.NodeName != "" {
		if r, ok := e.s.nodes.byName[p.NodeName]; ok {
			p.Row = r
		}
	}
	switch {
	case p.occupies():
		e.count(p, 1)
		on := e.s.onNode.edit(e.id, int(p.Row))
		*on = (*on).with(e.id, p)
		if e.s.floor = min(e.s.floor, p.Priority); !p.hasPriority { // it follows its class
			e.s.floor = math.MinInt32
		}
	case p.Terminal:
	case p.NodeName != "":
		list := append(e.waitingPods(p.NodeName), p)
		e.s.waiting[p.NodeName] = list
	default:
		e.s.pending.put(e.id, p)
		if p.Nominated != "" {
			e.s.nominated = e.s.nominated.with(e.id, p)
		}
	}
}

func (e *Edit) removePod(ns, name string) {
	p := e.s.pods.get(ns, name)
	if p == nil {
		return
	}
	e.s.pods.remove(e.id, ns, name)
	e.leave(p)
}

// leave takes a pod from where place put it.
func (e *Edit) leave(p *Pod) {
	switch {
	case p.occupies():
		e.count(p, -1)
		on := e.s.onNode.edit(e.id, int(p.Row))
		*on = (*on).without(e.id, p)
	case p.Terminal:
	case p.NodeName != "":
		rest := e.waitingPods(p.NodeName)
		switch i := slices.Index(rest, p); {
		case i == 0: // where all of them go in order: shifting the others would be quadratic
			rest[0], rest = nil, rest[1:]
		case i > 0:
			rest = slices.Delete(rest, i, i+1)
		}
		e.s.waiting[p.NodeName] = rest
		if len(rest) == 0 {
			delete(e.s.waiting, p.NodeName)
		}
	default:
		e.s.pending.remove(e.id, p.Namespace, p.Name)
		if p.Nominated != "" {
			e.s.nominated = e.s.nominated.without(e.id, p)
		}
	}
}

// count adds a pod's class to its node's columns (sign 1), or removes it (-1).
func (e *Edit) count(p *Pod, sign int64) {
	c, row := p.Class, int(p.Row)
	if e.inPlace {
		e.rows = append(e.rows, p.Row)
	}
	b := e.s.use.own(e.id, row>>blockBits)
	u := &b.of[row&(BlockSize-1)]
	n := e.s.Counts(c)
	u.add(n, sign)
	u.Pods += int32(sign)
	b.weigh(e.s.nodes, row)
	for _, sc := range n.Request.Scalars {
		at := e.s.scalar.edit(e.id, int(sc.ID))
		*at = (*at).add(e.id, row, sign*sc.N)
	}
	inPlace := uint64(0)
	if e.inPlace {
		inPlace = e.id
	}
	bump := func(v *vec[*Postings], id int32) {
		at := v.edit(e.id, int(id))
		*at = (*at).add(inPlace, p.Row, int32(sign))
	}
	if c.others != nil {
		e.s.varied = e.s.varied.add(inPlace, p.Row, int32(sign))
	}
	bump(&e.s.shapes, c.Shape.ID)
	for _, id := range c.Terms {
		bump(&e.s.terms, id)
	}
	for _, id := range c.Ports {
		bump(&e.s.ports, id)
	}
	if p.Volumes == nil {
		return
	}
	for _, id := range p.Volumes.disks {
		bump(&e.s.disks, id)
	}
	for _, id := range p.Volumes.claims {
		bump(&e.s.claims, id)
	}
	for _, a := range e.ownAttached() {
		if a != nil {
			a.count(e.id, e.s, p, int32(sign))
		}
	}
}

// WithPods returns the state with more pods on a row, and those pods as it holds them. It shares
// all but the row with the state, which stays as it is.
func (s *State) WithPods(pods []*Pod, row int32) (over *State, added []*Pod) {
	e := s.Overlay()
	added = make([]*Pod, 0, len(pods))
	for _, p := range pods {
		e.removePod(p.Namespace, p.Name)
		there := *p
		there.NodeName = s.nodes.rows[row].Name
		if there.Class.Shape.Terminating {
			// Added pods count for topology spread even if they are terminating.
			c := *there.Class
			c.Shape = s.t.Shape(p.Namespace, c.Shape.Labels, false)
			there.Class = &c
		}
		e.addPod(&there)
		added = append(added, &there)
	}
	return e.Done(), added
}
