package state

import (
	"hash/maphash"
	"slices"
	"strings"
)

// keyed is what a table can hold.
type keyed interface {
	key() (namespace, name string)
}

// table is a persistent map by namespace and name: four levels of nodes over short lists, by bits
// of a hash, so that a change copies 600 bytes for up to a million entries. Older states keep
// theirs.
type table[E keyed] struct {
	root *fork[fork[fork[fork[slot[E]]]]] // nil where nothing was ever put
	n    int
}

// fork is a node of a table.
type fork[K any] struct {
	owner uint64 // the edit that may write it
	kids  [1 << forkBits]*K
}

const forkBits = 4

// kid returns the child of a node, which may be nil, by the bits of a hash from a level on.
func (f *fork[K]) kid(h uint32, level int) *K {
	if f == nil {
		return nil
	}
	return f.kids[h>>(level*forkBits)&(1<<forkBits-1)]
}

// own replaces a node by one that the edit may write, and returns the place of its child.
func own[K any](at **fork[K], edit uint64, h uint32, level int) **K {
	switch f := *at; {
	case f == nil:
		*at = &fork[K]{owner: edit}
	case f.owner != edit:
		*at = &fork[K]{owner: edit, kids: f.kids}
	}
	return &(*at).kids[h>>(level*forkBits)&(1<<forkBits-1)]
}

// slot is an entry with the hash of its key, so that a look-up reads the text of no other entry. It
// does not change.
type slot[E keyed] struct {
	hash  uint32
	entry E
	next  *slot[E] // whose hash begins alike
}

// tableSeed differs between processes: with a known hash, callers could choose names that all fall
// into one bucket. No answer depends on the order of buckets.
var tableSeed = maphash.MakeSeed()

func hashOf(namespace, name string) uint32 {
	h := maphash.String(tableSeed, namespace)*31 + maphash.String(tableSeed, name)
	return uint32(h ^ h>>32)
}

// compareKey orders entries by namespace and name.
func compareKey[E keyed](e E, namespace, name string) int {
	ns, n := e.key()
	if ns != namespace { // not cmp.Or, which would compare the names as well
		return strings.Compare(ns, namespace)
	}
	return strings.Compare(n, name)
}

// find returns where a key is in a sorted list, or where it would be.
func find[E keyed](list []E, namespace, name string) (int, bool) {
	return slices.BinarySearchFunc(list, name, func(e E, name string) int { return compareKey(e, namespace, name) })
}

// find returns the slot of a key; nil without.
func (s *slot[E]) find(hash uint32, namespace, name string) *slot[E] {
	for ; s != nil; s = s.next {
		if s.hash == hash && compareKey(s.entry, namespace, name) == 0 {
			return s
		}
	}
	return nil
}

// without returns the list without one of its slots.
func (s *slot[E]) without(gone *slot[E]) *slot[E] {
	if s == gone {
		return s.next
	}
	return &slot[E]{s.hash, s.entry, s.next.without(gone)}
}

// get finds an entry; the zero value where there is none.
func (t *table[E]) get(namespace, name string) (none E) {
	h := hashOf(namespace, name)
	if s := t.root.kid(h, 0).kid(h, 1).kid(h, 2).kid(h, 3).find(h, namespace, name); s != nil {
		return s.entry
	}
	return none
}

// list returns the place of a hash's list in nodes that belong to the edit.
func (t *table[E]) list(edit uint64, h uint32) **slot[E] {
	return own(own(own(own(&t.root, edit, h, 0), edit, h, 1), edit, h, 2), edit, h, 3)
}

// put adds an entry, and returns the one that it replaces; the zero value where there was none.
func (t *table[E]) put(edit uint64, e E) (before E) {
	namespace, name := e.key()
	h := hashOf(namespace, name)
	at := t.list(edit, h)
	if had := (*at).find(h, namespace, name); had != nil {
		before, *at = had.entry, (*at).without(had)
	} else {
		t.n++
	}
	*at = &slot[E]{h, e, *at}
	return before
}

func (t *table[E]) remove(edit uint64, namespace, name string) {
	h := hashOf(namespace, name)
	at := t.list(edit, h)
	if had := (*at).find(h, namespace, name); had != nil {
		*at = (*at).without(had)
		t.n--
	}
}

// each visits all entries in no particular order. It allocates nothing: each revision goes through
// the pods that wait.
func (t *table[E]) each(f func(E)) {
	for _, a := range t.root.all() {
		for _, b := range a.all() {
			for _, c := range b.all() {
				for _, s := range c.all() {
					for ; s != nil; s = s.next {
						f(s.entry)
					}
				}
			}
		}
	}
}

// all returns the children of a node, which may be nil, as they may.
func (f *fork[K]) all() []*K {
	if f == nil {
		return nil
	}
	return f.kids[:]
}

// objectTable is a table of objects that rules read unchanged.
type objectTable[T any] struct{ table[named[T]] }

type named[T any] struct {
	namespace, name string
	object          T
}

func (e named[T]) key() (namespace, name string) { return e.namespace, e.name }

func (t *objectTable[T]) get(namespace, name string) T { return t.table.get(namespace, name).object }

func (t *objectTable[T]) put(edit uint64, namespace, name string, object T) {
	t.table.put(edit, named[T]{namespace, name, object})
}

// all lists the objects by namespace and name.
func (t *objectTable[T]) all() []T {
	if t.n == 0 {
		return nil
	}
	list := make([]named[T], 0, t.n)
	t.each(func(e named[T]) { list = append(list, e) })
	slices.SortFunc(list, func(a, b named[T]) int { return compareKey(a, b.namespace, b.name) })
	out := make([]T, len(list))
	for i, e := range list {
		out[i] = e.object
	}
	return out
}
