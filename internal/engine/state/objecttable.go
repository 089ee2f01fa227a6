package state

import (
	"cmp"
	"slices"
	"strings"
)

// objectTable is a persistent map from namespace and name to an object that rules read unchanged.
// Like podTable it copies a few kilobytes at a change, whatever its size, so that a cluster may
// have as many volumes and claims as pods.
type objectTable[T any] struct {
	root [32]*objectBranch[T]
	n    int
}

type objectBranch[T any] struct {
	owner uint64
	kids  [32][]named[T]
}

type named[T any] struct {
	namespace, name string
	object          T
}

func byNamespacedName[T any](e named[T], key [2]string) int {
	return cmp.Or(strings.Compare(e.namespace, key[0]), strings.Compare(e.name, key[1]))
}

// get finds an object; the zero value where there is none.
func (t *objectTable[T]) get(namespace, name string) (none T) {
	h := podHash(namespace, name)
	b := t.root[h&31]
	if b == nil {
		return none
	}
	bucket := b.kids[h>>5&31]
	if i, ok := slices.BinarySearchFunc(bucket, [2]string{namespace, name}, byNamespacedName[T]); ok {
		return bucket[i].object
	}
	return none
}

// bucket returns the bucket of a key in a branch that belongs to the edit.
func (t *objectTable[T]) bucket(edit uint64, namespace, name string) *[]named[T] {
	h := podHash(namespace, name)
	b := t.root[h&31]
	switch {
	case b == nil:
		b = &objectBranch[T]{owner: edit}
	case b.owner != edit:
		fresh := *b
		fresh.owner = edit
		b = &fresh
	}
	t.root[h&31] = b
	return &b.kids[h>>5&31]
}

func (t *objectTable[T]) put(edit uint64, namespace, name string, object T) {
	bucket := t.bucket(edit, namespace, name)
	i, had := slices.BinarySearchFunc(*bucket, [2]string{namespace, name}, byNamespacedName[T])
	fresh := slices.Clone(*bucket) // readers of older states hold the old one
	if had {
		fresh[i].object = object
	} else {
		fresh = slices.Insert(fresh, i, named[T]{namespace, name, object})
		t.n++
	}
	*bucket = fresh
}

func (t *objectTable[T]) remove(edit uint64, namespace, name string) {
	bucket := t.bucket(edit, namespace, name)
	if i, had := slices.BinarySearchFunc(*bucket, [2]string{namespace, name}, byNamespacedName[T]); had {
		*bucket = slices.Delete(slices.Clone(*bucket), i, i+1)
		t.n--
	}
}

// all lists the objects by namespace and name.
func (t *objectTable[T]) all() []T {
	if t.n == 0 {
		return nil
	}
	list := make([]named[T], 0, t.n)
	for _, b := range t.root {
		if b == nil {
			continue
		}
		for _, bucket := range b.kids {
			list = append(list, bucket...)
		}
	}
	slices.SortFunc(list, func(a, b named[T]) int { return byNamespacedName(a, [2]string{b.namespace, b.name}) })
	out := make([]T, len(list))
	for i, e := range list {
		out[i] = e.object
	}
	return out
}
