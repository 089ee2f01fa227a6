package state

import (
	"iter"
	"slices"
	"sort"
)

// partMax is up to how many pods a part of a list has, which is what one more pod copies.
const partMax = 128

// PodList is a list of pods in order of namespace and name; nil is an empty one. It is never
// written: an edit makes another one, which shares all parts but the one that changed. A node may
// have tens of thousands of pods.
type PodList struct {
	n     int
	owner uint64 // the edit that may write parts
	parts []podPart
}

// podPart is a part of a list, not empty.
type podPart struct {
	owner uint64 // the edit that may write pods
	pods  []*Pod
}

// Len returns the number of pods.
func (l *PodList) Len() int {
	if l == nil {
		return 0
	}
	return l.n
}

// All visits the pods in order.
func (l *PodList) All() iter.Seq[*Pod] {
	return func(yield func(*Pod) bool) {
		if l == nil {
			return
		}
		for i := range l.parts {
			for _, p := range l.parts[i].pods {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// slice returns the pods in one slice. Not to be written.
func (l *PodList) slice() []*Pod {
	if l.Len() == 0 {
		return nil
	}
	if len(l.parts) == 1 {
		return l.parts[0].pods
	}
	return slices.AppendSeq(make([]*Pod, 0, l.n), l.All())
}

// own returns a list that the edit may write, with one part at least. It is another one each time:
// its identity shows that the list has changed.
func (l *PodList) own(edit uint64) *PodList {
	if l == nil {
		return &PodList{owner: edit, parts: []podPart{{owner: edit}}}
	}
	own := *l
	if own.owner != edit {
		own.owner, own.parts = edit, append(make([]podPart, 0, len(l.parts)+1), l.parts...)
	}
	return &own
}

// part returns a part that the edit may write.
func (l *PodList) part(i int) *podPart {
	part := &l.parts[i]
	if part.owner != l.owner {
		part.owner, part.pods = l.owner, append(make([]*Pod, 0, len(part.pods)+1), part.pods...)
	}
	return part
}

// find returns the part of a pod and the pod's place in it, or where it would be.
func (l *PodList) find(p *Pod) (i, k int, ok bool) {
	i = sort.Search(len(l.parts)-1, func(i int) bool {
		pods := l.parts[i].pods
		return compareKey(pods[len(pods)-1], p.Namespace, p.Name) >= 0
	})
	k, ok = find(l.parts[i].pods, p.Namespace, p.Name)
	return i, k, ok
}

// with returns the list with one more pod.
func (l *PodList) with(edit uint64, p *Pod) *PodList {
	own := l.own(edit)
	i, k, _ := own.find(p)
	part := own.part(i)
	part.pods = slices.Insert(part.pods, k, p)
	own.n++
	if n := len(part.pods); n > partMax {
		rest := podPart{edit, slices.Clone(part.pods[n/2:])}
		clear(part.pods[n/2:])
		part.pods = part.pods[:n/2]
		own.parts = slices.Insert(own.parts, i+1, rest)
	}
	return own
}

// without returns the list without a pod.
func (l *PodList) without(edit uint64, p *Pod) *PodList {
	if l == nil {
		return nil
	}
	own := l.own(edit)
	i, k, ok := own.find(p)
	if !ok {
		return l
	}
	if own.n--; own.n == 0 {
		return nil
	}
	if len(own.parts[i].pods) == 1 {
		own.parts = slices.Delete(own.parts, i, i+1)
		return own
	}
	part := own.part(i)
	part.pods = slices.Delete(part.pods, k, k+1)
	return own
}
