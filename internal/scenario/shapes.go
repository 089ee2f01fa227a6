package scenario

import (
	"cmp"
	"encoding/binary"
	"slices"

	"berth/internal/engine/state"
)

// maxShapes is how many shapes of pods a cluster is measured by, the most common first.
const maxShapes = 24

// podShape is what pods of one size request.
type podShape struct {
	request []int64
	pods    int
	example *state.Pod // the first of them by namespace and name, where it was looked for
}

// shapes groups the pods on nodes by what they request, those of daemons left out, since their
// number goes with that of nodes. rest is how many pods are of shapes behind the most common.
func (g *grid) shapes() (list []*podShape, rest int) {
	bySize := map[string]*podShape{}
	for _, c := range g.classes {
		if c == nil || c.pods == 0 {
			continue
		}
		key := make([]byte, 0, 8*len(c.request))
		for _, n := range c.request {
			key = binary.AppendVarint(key, n)
		}
		s := bySize[string(key)]
		if s == nil {
			s = &podShape{request: c.request, example: c.example}
			bySize[string(key)] = s
			list = append(list, s)
		}
		s.pods += c.pods
		if c.example != nil && podBefore(c.example, s.example) {
			s.example = c.example
		}
	}
	slices.SortFunc(list, func(a, b *podShape) int { return cmp.Or(b.pods-a.pods, slices.Compare(a.request, b.request)) })
	for _, s := range list[min(len(list), maxShapes):] {
		rest += s.pods
	}
	return list[:min(len(list), maxShapes)], rest
}
