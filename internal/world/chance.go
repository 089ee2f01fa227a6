package world

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
)

// Choice is a choice that Kubernetes leaves to chance.
type Choice struct {
	// AfterSeconds is when, from the start.
	AfterSeconds int64 `json:"afterSeconds"`
	// What is chosen: the node of a pod; the node of a preemption's victims; the pods that a
	// controller deletes; the nodes on which a DaemonSet is updated; the pods that a budget lets a
	// drain evict; or the node that is tainted.
	What string `json:"what" enums:"node,victims,scaleDown,update,eviction,taint"`
	// For is what the choice is made for.
	For string `json:"for" example:"ReplicaSet shop/web-7d4b9"`
	// Chosen of so many equal ones are taken.
	Chosen int `json:"chosen"`
	Of     int `json:"of"`
	// Text is the choice in words.
	Text string `json:"text" example:"7 of 12 equal pods of ReplicaSet shop/web-7d4b9: which is chance"`
} // @name ChanceChoice

// What is chosen.
const (
	ChosenNode      = "node"
	ChosenVictims   = "victims"
	ChosenScaleDown = "scaleDown"
	ChosenUpdate    = "update"
	ChosenEviction  = "eviction"
	ChosenTaint     = "taint"
)

// mostNamed is how many choices are named.
const mostNamed = 10

// Draws choose where Kubernetes leaves a choice to chance, and count those choices: nodes that are
// equal, the order of maps, UIDs that no snapshot has yet. A salt stands for one outcome of all of
// them, so that runs with other salts show what chance may change; nothing is drawn. Nil chooses as
// a salt of 0 does, and counts none.
type Draws struct {
	salt  uint64
	count int
	named []Choice
}

// NewDraws returns the draws of a salt. With 0 all is in the order that runs without draws have.
func NewDraws(salt int) *Draws { return &Draws{salt: uint64(salt)} }

// Salted reports whether the choices are others than those of a run without draws.
func (d *Draws) Salted() bool { return d != nil && d.salt != 0 }

// Hash scrambles a text, by the salt.
func (d *Draws) Hash(text string) uint64 {
	h := fnv.New64a()
	if d != nil {
		_, _ = h.Write(strconv.AppendUint(nil, d.salt, 10)) // a hash takes all
	}
	_, _ = h.Write([]byte("/" + text))
	x := h.Sum64() // the last letters move the high bits too little
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// UID stands for a UID that no snapshot has yet: a random one.
func (d *Draws) UID(uid string) string {
	if !d.Salted() {
		return uid
	}
	return fmt.Sprintf("%016x", d.Hash(uid))
}

// Chooser is what chooses among equal nodes for a pod, instead of what does without draws.
func (d *Draws) Chooser(plain string) string {
	if !d.Salted() {
		return plain
	}
	return strconv.FormatUint(d.salt, 10) + "/" + plain
}

// Shuffle puts a list in the order of a walk over a map. Without a salt it stays as it is.
func Shuffle[E any](d *Draws, list []E, name func(E) string) {
	if d.Salted() {
		slices.SortStableFunc(list, func(a, b E) int { return cmp.Compare(d.Hash(name(a)), d.Hash(name(b))) })
	}
}

// Counts reports whether choices are counted.
func (d *Draws) Counts() bool { return d != nil }

// Note counts a choice of some among several equal ones, and returns what takes that back. Where
// all or none are taken it is no choice, and nil is returned. Kind is what they are, in the plural.
func (d *Draws) Note(second int64, what, of, kind string, chosen, among int) (back func()) {
	if d == nil || chosen <= 0 || chosen >= among {
		return nil
	}
	count, named := d.count, len(d.named)
	d.count++
	if named < mostNamed {
		d.named = append(d.named, Choice{
			second, what, of, chosen, among, fmt.Sprintf("%d of %d equal %s for %s: which is chance", chosen, among, kind, of),
		})
	}
	return func() { d.count, d.named = count, d.named[:named] }
}

// Counted returns how many choices there were, and the first of them.
func (d *Draws) Counted() (count int, named []Choice) {
	if d == nil {
		return 0, nil
	}
	return d.count, d.named
}
