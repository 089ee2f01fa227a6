package state

const (
	leafBits = ChunkBits
	leafSize = ChunkSize
)

// vec is a persistent vector: states share all leaves that an edit did not touch. A leaf belongs to
// the edit that made it, and only that edit may write it in place.
type vec[T any] struct {
	leaves []*leaf[T]
	owner  uint64 // the edit that may write the leaves slice
}

type leaf[T any] struct {
	owner uint64
	v     [leafSize]T
}

// at reads index i; beyond the end it is the zero value.
func (v *vec[T]) at(i int) (zero T) {
	if l := i >> leafBits; l < len(v.leaves) && v.leaves[l] != nil {
		return v.leaves[l].v[i&(leafSize-1)]
	}
	return zero
}

// ref returns a pointer for reading; nil beyond the end.
func (v *vec[T]) ref(i int) *T {
	if l := i >> leafBits; l < len(v.leaves) && v.leaves[l] != nil {
		return &v.leaves[l].v[i&(leafSize-1)]
	}
	return nil
}

// edit returns a pointer that the edit with this id may write through.
func (v *vec[T]) edit(id uint64, i int) *T {
	l := i >> leafBits
	if v.owner != id {
		grown := make([]*leaf[T], max(len(v.leaves), l+1))
		copy(grown, v.leaves)
		v.leaves, v.owner = grown, id
	} else if l >= len(v.leaves) {
		v.leaves = append(v.leaves, make([]*leaf[T], l+1-len(v.leaves))...)
	}
	lf := v.leaves[l]
	switch {
	case lf == nil:
		lf = &leaf[T]{owner: id}
		v.leaves[l] = lf
	case lf.owner != id:
		fresh := *lf
		fresh.owner = id
		lf = &fresh
		v.leaves[l] = lf
	}
	return &lf.v[i&(leafSize-1)]
}
