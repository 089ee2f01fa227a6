package state

import (
	"hash/maphash"
	"sort"
)

// podTable is a persistent map from namespace and name to pod: two levels of
// tables over small sorted buckets, so that a change copies a few kilobytes
// whatever the number of pods.
type podTable struct {
	root [64]*podBranch
	n    int
}

type podBranch struct {
	owner uint64
	kids  [64][]*Pod
}

// tableSeed differs between processes: with a known hash, callers could choose names that all fall
// into one bucket. No answer depends on the order of buckets.
var tableSeed = maphash.MakeSeed()

func podHash(ns, name string) uint32 {
	h := maphash.String(tableSeed, ns)*31 + maphash.String(tableSeed, name)
	return uint32(h ^ h>>32)
}

func podLess(p *Pod, ns, name string) bool {
	if p.Namespace != ns {
		return p.Namespace < ns
	}
	return p.Name < name
}

func findPod(bucket []*Pod, ns, name string) (int, bool) {
	i := sort.Search(len(bucket), func(i int) bool { return !podLess(bucket[i], ns, name) })
	return i, i < len(bucket) && bucket[i].Namespace == ns && bucket[i].Name == name
}

func (t *podTable) get(ns, name string) *Pod {
	h := podHash(ns, name)
	b := t.root[h&63]
	if b == nil {
		return nil
	}
	bucket := b.kids[h>>6&63]
	if i, ok := findPod(bucket, ns, name); ok {
		return bucket[i]
	}
	return nil
}

func (t *podTable) branch(id uint64, h uint32) *podBranch {
	b := t.root[h&63]
	switch {
	case b == nil:
		b = &podBranch{owner: id}
	case b.owner != id:
		fresh := *b
		fresh.owner = id
		b = &fresh
	default:
		return b
	}
	t.root[h&63] = b
	return b
}

func (t *podTable) put(id uint64, p *Pod) {
	h := podHash(p.Namespace, p.Name)
	b := t.branch(id, h)
	bucket := b.kids[h>>6&63]
	i, ok := findPod(bucket, p.Namespace, p.Name)
	fresh := make([]*Pod, 0, len(bucket)+1)
	fresh = append(append(fresh, bucket[:i]...), p)
	if ok {
		i++
	} else {
		t.n++
	}
	b.kids[h>>6&63] = append(fresh, bucket[i:]...)
}

func (t *podTable) remove(id uint64, ns, name string) {
	h := podHash(ns, name)
	b := t.branch(id, h)
	bucket := b.kids[h>>6&63]
	if i, ok := findPod(bucket, ns, name); ok {
		b.kids[h>>6&63] = append(append(make([]*Pod, 0, len(bucket)-1), bucket[:i]...), bucket[i+1:]...)
		t.n--
	}
}

// each visits all pods in no particular order.
func (t *podTable) each(f func(*Pod)) {
	for _, b := range t.root {
		if b == nil {
			continue
		}
		for _, bucket := range b.kids {
			for _, p := range bucket {
				f(p)
			}
		}
	}
}
