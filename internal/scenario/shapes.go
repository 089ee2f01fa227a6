package scenario

import (
	"cmp"
	"encoding/binary"
	"slices"

	"berth/internal/engine/state"
	"berth/internal/steps"
)

// maxShapes is how many shapes of pods a cluster is measured by, the most common first.
const maxShapes = 24

// podShape is what pods of one size request.
type podShape struct {
	request []int64
	pods    int
	example podName // the first of them by namespace and name
}

// shapes groups the pods that use resources by what they request, those of daemons left out, since
// their number goes with that of nodes. rest is how many pods are of shapes behind the most common.
func (g *grid) shapes(count *steps.Counter, st *state.State, daemon func(*state.Pod) bool) (list []*podShape, rest int, err error) {
	byClass := map[*state.Class]*podShape{}
	bySize := map[string]*podShape{}
	st.EachPod(func(p *state.Pod) {
		if err == nil {
			err = count.Take(1)
		}
		if err != nil || p.Row < 0 || p.Terminal || daemon(p) {
			return
		}
		s := byClass[p.Class]
		if s == nil {
			v := g.vectorOf(p.Class)
			key := make([]byte, 0, 8*len(v))
			for _, n := range v {
				key = binary.AppendVarint(key, n)
			}
			if s = bySize[string(key)]; s == nil {
				s = &podShape{request: v}
				bySize[string(key)] = s
			}
			byClass[p.Class] = s
		}
		s.pods++
		if n := (podName{p.Namespace, p.Name}); s.pods == 1 || n.less(s.example) {
			s.example = n
		}
	})
	for _, s := range bySize {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *podShape) int { return cmp.Or(b.pods-a.pods, slices.Compare(a.request, b.request)) })
	for _, s := range list[min(len(list), maxShapes):] {
		rest += s.pods
	}
	return list[:min(len(list), maxShapes)], rest, err
}

func (n podName) less(o podName) bool {
	return cmp.Or(cmp.Compare(n.namespace, o.namespace), cmp.Compare(n.name, o.name)) < 0
}
