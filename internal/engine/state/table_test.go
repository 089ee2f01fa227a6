package state

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestObjectTable holds every version of a table to the map that it stands for,
// after others were made from it.
func TestObjectTable(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	var tables []objectTable[*int]
	var held []map[[2]string]int
	now, want := objectTable[*int]{}, map[[2]string]int{}
	for edit := range uint64(60) {
		for range rng.IntN(200) {
			key := [2]string{fmt.Sprint("ns", rng.IntN(3)), fmt.Sprint("o", rng.IntN(2000))}
			if rng.IntN(3) == 0 {
				now.remove(edit+1, key[0], key[1])
				delete(want, key)
				continue
			}
			n := rng.Int()
			now.put(edit+1, key[0], key[1], &n)
			want[key] = n
		}
		tables, held = append(tables, now), append(held, maps.Clone(want))
	}
	for i := range tables {
		keys := slices.SortedFunc(maps.Keys(held[i]), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
		all := tables[i].all()
		if len(all) != len(keys) || tables[i].n != len(keys) {
			t.Fatalf("version %d lists %d and counts %d, want %d", i, len(all), tables[i].n, len(keys))
		}
		for k, key := range keys {
			got := tables[i].get(key[0], key[1])
			if got == nil || *got != held[i][key] || all[k] != got {
				t.Fatalf("version %d: %v is %v, want %d", i, key, got, held[i][key])
			}
		}
		if got := tables[i].get("ns0", "absent"); got != nil {
			t.Fatalf("found %v", *got)
		}
	}
}

// TestKeysOfOneHash finds each of several keys with the same hash, and removes each.
func TestKeysOfOneHash(t *testing.T) {
	t.Parallel()
	var list *slot[named[int]]
	names := []string{"c", "a", "b"}
	for i, name := range names {
		if list.find(7, "ns", name) != nil {
			t.Fatalf("%s is there before it was put", name)
		}
		list = &slot[named[int]]{7, named[int]{"ns", name, i}, list}
	}
	for i, name := range names {
		had := list.find(7, "ns", name)
		if had == nil || had.entry.object != i {
			t.Fatalf("%s is %v", name, had)
		}
		rest := list.without(had)
		for k, other := range names {
			if found := rest.find(7, "ns", other) != nil; found != (k != i) {
				t.Fatalf("without %s, %s is there: %t", name, other, found)
			}
		}
	}
	if list.find(7, "other", "a") != nil {
		t.Fatal("found a key of another namespace")
	}
}
