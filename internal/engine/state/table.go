package state

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
)

// keyed is what a table can hold.
type keyed interface {
	key() (namespace, name string)
}

// table is a persistent map by namespace and name: two levels of tables over small buckets, sorted
// by hash, so that a change copies a few kilobytes whatever the number of entries. Older states
// keep theirs.
type table[E keyed] struct {
	root *root[E] // nil where nothing was ever put
	n    int
}

type root[E keyed] struct {
	owner    uint64 // the edit that may write it
	branches [64]*branch[E]
}

type branch[E keyed] struct {
	owner uint64 // the edit that may write it
	kids  [64]*bucket[E]
}

// bucket has the entries whose hashes begin alike, in order of their hashes. It does not change: a
// branch that is copied copies a pointer for each.
type bucket[E keyed] struct{ slots []slot[E] }

// all returns the slots of a bucket, which may be nil.
func (b *bucket[E]) all() []slot[E] {
	if b == nil {
		return nil
	}
	return b.slots
}

// slot is an entry with the hash of its key, so that a look-up reads the text of no other entry.
type slot[E keyed] struct {
	hash  uint32
	entry E
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

// place returns where a key is in a bucket, or where it would be.
func place[E keyed](bucket []slot[E], hash uint32, namespace, name string) (int, bool) {
	i, _ := slices.BinarySearchFunc(bucket, hash, func(s slot[E], hash uint32) int { return cmp.Compare(s.hash, hash) })
	for ; i < len(bucket) && bucket[i].hash == hash; i++ {
		if compareKey(bucket[i].entry, namespace, name) == 0 {
			return i, true
		}
	}
	return i, false
}

// get finds an entry; the zero value where there is none.
func (t *table[E]) get(namespace, name string) (none E) {
	if t.n == 0 {
		return none
	}
	h := hashOf(namespace, name)
	b := t.root.branches[h&63]
	if b == nil {
		return none
	}
	slots := b.kids[h>>6&63].all()
	if i, ok := place(slots, h, namespace, name); ok {
		return slots[i].entry
	}
	return none
}

// bucket returns the place of a hash's bucket in a branch that belongs to the edit.
func (t *table[E]) bucket(edit uint64, h uint32) **bucket[E] {
	switch r := t.root; {
	case r == nil:
		t.root = &root[E]{owner: edit}
	case r.owner != edit:
		fresh := *r
		fresh.owner = edit
		t.root = &fresh
	}
	b := t.root.branches[h&63]
	switch {
	case b == nil:
		b = &branch[E]{owner: edit}
	case b.owner != edit:
		fresh := *b
		fresh.owner = edit
		b = &fresh
	}
	t.root.branches[h&63] = b
	return &b.kids[h>>6&63]
}

// put adds an entry, and returns the one that it replaces; the zero value where there was none.
func (t *table[E]) put(edit uint64, e E) (before E) {
	namespace, name := e.key()
	h := hashOf(namespace, name)
	at := t.bucket(edit, h)
	slots := (*at).all()
	i, had := place(slots, h, namespace, name)
	rest := slots[i:]
	if had {
		before, rest = rest[0].entry, rest[1:]
	} else {
		t.n++
	}
	fresh := make([]slot[E], 0, i+1+len(rest))
	*at = &bucket[E]{append(append(append(fresh, slots[:i]...), slot[E]{h, e}), rest...)}
	return before
}

func (t *table[E]) remove(edit uint64, namespace, name string) {
	h := hashOf(namespace, name)
	at := t.bucket(edit, h)
	slots := (*at).all()
	if i, had := place(slots, h, namespace, name); had {
		*at = &bucket[E]{slices.Concat(slots[:i], slots[i+1:])}
		t.n--
	}
}

// each visits all entries in no particular order.
func (t *table[E]) each(f func(E)) {
	if t.root == nil {
		return
	}
	for _, b := range t.root.branches {
		if b == nil {
			continue
		}
		for _, kid := range b.kids {
			for _, s := range kid.all() {
				f(s.entry)
			}
		}
	}
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
