package state

// BlockSize is how many rows or ids a block has, which is what a change copies.
const (
	blockBits = 4
	BlockSize = 1 << blockBits
)

// blocks is a persistent vector of blocks: states share all that an edit did not touch. A block
// belongs to the edit that made it, and only that edit may write it in place.
type blocks[B any] struct {
	groups []*group[B]
	owner  uint64 // the edit that may write the groups slice
}

// group is so many blocks next to each other that a change copies few pointers, however many
// blocks there are.
type group[B any] struct {
	owner uint64 // the edit that may write it
	owned uint16 // the blocks that belong to that edit too
	at    [1 << groupBits]*B
}

const groupBits = 4

// block returns a block for reading; nil where nothing was ever written.
func (v *blocks[B]) block(i int) *B {
	if g := i >> groupBits; uint(g) < uint(len(v.groups)) && v.groups[g] != nil {
		return v.groups[g].at[i&(1<<groupBits-1)]
	}
	return nil
}

// group returns the group of a block, which the edit with this id may write.
func (v *blocks[B]) group(id uint64, i int) *group[B] {
	at := i >> groupBits
	if v.owner != id {
		grown := make([]*group[B], max(len(v.groups), at+1))
		copy(grown, v.groups)
		v.groups, v.owner = grown, id
	} else if at >= len(v.groups) {
		v.groups = append(v.groups, make([]*group[B], at+1-len(v.groups))...)
	}
	g := v.groups[at]
	switch {
	case g == nil:
		g = &group[B]{owner: id}
		v.groups[at] = g
	case g.owner != id:
		g = &group[B]{owner: id, at: g.at}
		v.groups[at] = g
	}
	return g
}

// own returns a block that the edit with this id may write.
func (v *blocks[B]) own(id uint64, i int) *B {
	g := v.group(id, i)
	k := i & (1<<groupBits - 1)
	if g.owned>>k&1 == 0 {
		fresh := new(B)
		if g.at[k] != nil {
			*fresh = *g.at[k]
		}
		g.at[k], g.owned = fresh, g.owned|1<<k
	}
	return g.at[k]
}

// share makes a block of another vector one of this one.
func (v *blocks[B]) share(id uint64, i int, b *B) {
	v.group(id, i).at[i&(1<<groupBits-1)] = b
}

// vec is a persistent vector of items, in blocks of 16.
type vec[T any] struct{ blocks[[BlockSize]T] }

// at reads item i; beyond the end it is the zero value.
func (v *vec[T]) at(i int) (zero T) {
	if b := v.block(i >> blockBits); b != nil {
		return b[i&(BlockSize-1)]
	}
	return zero
}

// edit returns a pointer that the edit with this id may write through.
func (v *vec[T]) edit(id uint64, i int) *T {
	return &v.own(id, i>>blockBits)[i&(BlockSize-1)]
}
