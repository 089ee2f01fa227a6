package revision

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"iter"
	"slices"
	"sync/atomic"

	"berth/internal/kube/object"
	"berth/internal/steps"
)

// fan is the width of both levels of the inventory. 4,096 buckets hold about 40
// objects each in a large cluster, so that a change copies and hashes a few
// kilobytes. The digest of a state depends on it.
const fan = 64

// entry is one object. Entries are never written after they are made.
type entry struct {
	key  object.Key
	text []byte            // the object's canonical JSON, or what differs from base's
	base *entry            // one without a base; nil: text is whole
	sum  [sha256.Size]byte // over key and JSON
}

func newEntry(k object.Key, js []byte) *entry {
	e := &entry{key: k, text: js}
	h := sha256.New()
	buf := make([]byte, 0, 256)
	for _, s := range [...]string{k.Kind, k.Namespace, k.Name} {
		buf = binary.AppendUvarint(buf, uint64(len(s)))
		buf = append(buf, s...)
	}
	h.Write(buf)
	h.Write(js)
	h.Sum(e.sum[:0])
	return e
}

// inventory is a persistent map from key to object with a digest over all of
// it. Copies share what did not change; an inventory is written only by the
// draft that made it.
type inventory struct {
	groups [fan]*group
	n      int
	bytes  int // of the objects' JSON
	bases  *bases
}

// weight is about what a state with these objects takes, in objects of usual size: objectBytes.
func (v *inventory) weight() int { return weightOf(v.n, v.bytes) }

// weightOf is the weight of n objects whose JSON has so many bytes in all.
func weightOf(n, bytes int) int { return max(n, (n<<10+3*bytes)/objectBytes) }

// objectBytes is what an object of usual size takes in a state.
const objectBytes = 2 << 10

// Bytes is about what the view's state takes in memory, as each release of Kubernetes counts pods.
func (v *View) Bytes() int64 { return objectBytes*int64(v.inv.weight()) + v.State.ViewsBytes() }

// weight is Bytes in objects of usual size.
func (v *View) weight() int { return int(v.Bytes() / objectBytes) }

type group struct {
	owner   uint64
	buckets [fan]bucket
	sum     [sha256.Size]byte
	n       int
}

type bucket struct {
	entries []*entry // by key
	sum     [sha256.Size]byte
}

// place returns where a key is kept: group and bucket.
func place(k object.Key) (int, int) {
	h := uint32(2166136261)
	for _, s := range [...]string{k.Kind, k.Namespace, k.Name} {
		for i := 0; i < len(s); i++ {
			h = (h ^ uint32(s[i])) * 16777619
		}
		h = (h ^ '/') * 16777619
	}
	h ^= h >> 15
	h *= 0x2c1b3c6d
	h ^= h >> 12
	return int(h % fan), int(h / fan % fan)
}

func find(list []*entry, k object.Key) (int, bool) {
	return slices.BinarySearchFunc(list, k, func(e *entry, k object.Key) int { return e.key.Compare(k) })
}

func (v *inventory) get(k object.Key) *entry {
	g, b := place(k)
	if v.groups[g] == nil {
		return nil
	}
	list := v.groups[g].buckets[b].entries
	if i, ok := find(list, k); ok {
		return list[i]
	}
	return nil
}

// all returns all objects in no order that means anything.
func (v *inventory) all() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for _, g := range v.groups {
			if g == nil {
				continue
			}
			for i := range g.buckets {
				for _, e := range g.buckets[i].entries {
					if !yield(e) {
						return
					}
				}
			}
		}
	}
}

// sorted lists all objects by kind, namespace and name.
func (v *inventory) sorted(count *steps.Counter) ([]*entry, error) {
	out := make([]*entry, 0, v.n)
	for e := range v.all() {
		if err := count.Take(1); err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, sortEntries(count, out)
}

func sortEntries(count *steps.Counter, list []*entry) error {
	return steps.Sort(count, list, func(a, b *entry) int { return a.key.Compare(b.key) }) //nolint:wrapcheck // the caller's context's own
}

// digest is a Merkle tree's root over the content: it does not depend on the
// order in which objects came.
func (v *inventory) digest() string {
	h := sha256.New()
	h.Write([]byte("berth-state-1"))
	for i, g := range v.groups {
		if g != nil && g.n > 0 {
			h.Write([]byte{byte(i)})
			h.Write(g.sum[:])
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// diff visits the objects that differ between two inventories: before is nil
// for one that only to has, after for one that only from has. What both share
// is not looked at.
func diff(count *steps.Counter, from, to *inventory, f func(before, after *entry)) error {
	for i := range from.groups {
		a, b := from.groups[i], to.groups[i]
		if a == b {
			continue
		}
		for k := range fan {
			var x, y []*entry
			if a != nil {
				x = a.buckets[k].entries
			}
			if b != nil {
				y = b.buckets[k].entries
			}
			if err := count.Take(1 + len(x) + len(y)); err != nil {
				return err
			}
			diffBuckets(x, y, f)
		}
	}
	return nil
}

func diffBuckets(x, y []*entry, f func(before, after *entry)) {
	if len(x) == len(y) && (len(x) == 0 || &x[0] == &y[0]) {
		return
	}
	for len(x) > 0 || len(y) > 0 {
		c := 0
		switch {
		case len(x) == 0:
			c = 1
		case len(y) == 0:
			c = -1
		default:
			c = x[0].key.Compare(y[0].key)
		}
		switch {
		case c < 0:
			f(x[0], nil)
			x = x[1:]
		case c > 0:
			f(nil, y[0])
			y = y[1:]
		default:
			if x[0] != y[0] && x[0].sum != y[0].sum {
				f(x[0], y[0])
			}
			x, y = x[1:], y[1:]
		}
	}
}

var lastDraft atomic.Uint64

// draft makes the next inventory. It is for one goroutine.
type draft struct {
	id    uint64
	inv   *inventory
	dirty [fan]uint64 // of each group, its buckets that changed, as bits
	whole bool        // objects are not packed, for drafts that are not kept
}

func (v *inventory) draft() *draft {
	next := *v
	if next.bases == nil {
		next.bases = new(bases)
	}
	return &draft{id: lastDraft.Add(1), inv: &next}
}

func (d *draft) bucket(k object.Key) (*group, *bucket) {
	g, b := place(k)
	at := d.inv.groups[g]
	switch {
	case at == nil:
		at = &group{owner: d.id}
		d.inv.groups[g] = at
	case at.owner != d.id:
		fresh := *at
		fresh.owner = d.id
		at = &fresh
		d.inv.groups[g] = at
	}
	if d.dirty[g]>>b&1 == 0 {
		d.dirty[g] |= 1 << b
		entries := at.buckets[b].entries // most changes put one more
		at.buckets[b].entries = append(make([]*entry, 0, len(entries)+1), entries...)
	}
	return at, &at.buckets[b]
}

// put adds or replaces an object and returns the one before.
func (d *draft) put(e *entry) (before *entry) {
	g, b := d.bucket(e.key)
	i, ok := find(b.entries, e.key)
	if ok {
		before = b.entries[i]
	}
	if !d.whole {
		e = d.inv.bases.pack(e, before)
	}
	if ok {
		b.entries[i] = e
		d.inv.bytes += e.size() - before.size()
		return before
	}
	b.entries = slices.Insert(b.entries, i, e)
	g.n++
	d.inv.n++
	d.inv.bytes += e.size()
	return nil
}

// remove takes an object out and gives it; nil where there was none.
func (d *draft) remove(k object.Key) *entry {
	if d.inv.get(k) == nil {
		return nil
	}
	g, b := d.bucket(k)
	i, _ := find(b.entries, k)
	before := b.entries[i]
	b.entries = slices.Delete(b.entries, i, i+1)
	g.n--
	d.inv.n--
	d.inv.bytes -= before.size()
	return before
}

// done works out the digests of what changed and ends the draft.
func (d *draft) done(count *steps.Counter) (*inventory, error) {
	h := sha256.New()
	for i, bits := range d.dirty {
		if bits == 0 {
			continue
		}
		g := d.inv.groups[i]
		for k := range fan {
			if bits>>k&1 == 0 {
				continue
			}
			if err := count.Take(1 + len(g.buckets[k].entries)); err != nil {
				return nil, err
			}
			h.Reset()
			for _, e := range g.buckets[k].entries {
				h.Write(e.sum[:])
			}
			h.Sum(g.buckets[k].sum[:0])
		}
		h.Reset()
		for k := range g.buckets {
			if len(g.buckets[k].entries) > 0 {
				h.Write([]byte{byte(k)})
				h.Write(g.buckets[k].sum[:])
			}
		}
		h.Sum(g.sum[:0])
	}
	inv := d.inv
	d.inv = nil
	return inv, nil
}
