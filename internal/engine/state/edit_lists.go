package state

import "berth/internal/steps"

// longList is the length from which an edit collects the changes of a list of pods and applies them
// at once. Below it each change copies the list, which is faster for the few pods of a node.
const longList = 256

// nominatedList stands for State.nominated where other keys are rows.
const nominatedList = -1

// listChange is what an edit has still to apply to one list of pods.
type listChange struct {
	add  []*Pod
	gone map[*Pod]struct{}
}

// podList returns the list of a row's pods, or of nominated ones.
func (e *Edit) podList(key int) []*Pod {
	if key == nominatedList {
		return e.s.nominated
	}
	return e.s.PodsOn(key)
}

// setPodList replaces a list. The one before is not written: other states have it.
func (e *Edit) setPodList(key int, list []*Pod) {
	if key == nominatedList {
		e.s.nominated = list
		return
	}
	*e.s.onNode.edit(e.id, key) = &list
}

// insertPod inserts a pod into a list in order of namespace and name.
func (e *Edit) insertPod(key int, p *Pod) {
	list := e.podList(key)
	if c := e.change(key, list); c != nil {
		if _, gone := c.gone[p]; gone {
			delete(c.gone, p)
			return
		}
		c.add = append(c.add, p)
		return
	}
	i, _ := find(list, p.Namespace, p.Name)
	fresh := make([]*Pod, 0, len(list)+1)
	e.setPodList(key, append(append(append(fresh, list[:i]...), p), list[i:]...))
}

// dropPod removes a pod from a list.
func (e *Edit) dropPod(key int, p *Pod) {
	list := e.podList(key)
	if c := e.change(key, list); c != nil {
		c.gone[p] = struct{}{}
		return
	}
	if i, ok := find(list, p.Namespace, p.Name); ok {
		e.setPodList(key, append(append(make([]*Pod, 0, len(list)-1), list[:i]...), list[i+1:]...))
	}
}

// change returns the collected changes of a list; nil where its changes are applied one by one.
func (e *Edit) change(key int, list []*Pod) *listChange {
	c := e.lists[key]
	if c == nil && len(list) >= longList {
		if e.lists == nil {
			e.lists = map[int]*listChange{}
		}
		c = &listChange{gone: map[*Pod]struct{}{}}
		e.lists[key] = c
	}
	return c
}

// applyLists applies all collected changes. It must run before the lists are read.
func (e *Edit) applyLists() {
	for key := range e.lists {
		e.applyList(key)
	}
}

func (e *Edit) applyList(key int) {
	c := e.lists[key]
	if c == nil {
		return
	}
	delete(e.lists, key)
	list := e.podList(key)
	fresh := make([]*Pod, 0, len(list)+len(c.add))
	for _, from := range [][]*Pod{list, c.add} {
		for _, p := range from {
			if !e.step() {
				return
			}
			if _, gone := c.gone[p]; !gone {
				fresh = append(fresh, p)
			}
		}
	}
	err := steps.Sort(e.within, fresh, func(a, b *Pod) int { return compareKey(a, b.Namespace, b.Name) })
	if e.ended == nil {
		e.ended = err
	}
	e.setPodList(key, fresh)
}
