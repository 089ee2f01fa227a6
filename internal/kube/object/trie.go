package object

import (
	"fmt"
	"maps"
	"slices"
)

// keep is one level of the allow-list: the keys that are kept of an object (or
// of each object of an array) and what is kept of their values.
type keep map[string]keep

var (
	// all keeps a value whole: scalars, lists of scalars and maps of strings.
	all keep
	// presence keeps an object but nothing in it: that it is there is the fact.
	presence = keep{}
)

// trie is a keep ready for look-up: each key has a bit, so that a key given
// twice is seen.
type trie struct {
	whole bool
	keys  map[string]*branch
}

type branch struct {
	bit  uint64
	node *trie
}

func compile(k keep) *trie {
	if k == nil {
		return &trie{whole: true}
	}
	t := &trie{keys: make(map[string]*branch, len(k))}
	for i, key := range slices.Sorted(maps.Keys(k)) {
		if i > 63 {
			panic(fmt.Sprintf("allow-list level with over 64 keys, at %q", key))
		}
		t.keys[key] = &branch{bit: 1 << i, node: compile(k[key])}
	}
	return t
}
