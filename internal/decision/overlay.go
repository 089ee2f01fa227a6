package decision

import (
	"bytes"
	"context"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/steps"
)

// keepOverlays is how many overlaid states are kept. A kube-scheduler calls filter
// and prioritize with the same nodes, one pod after the other.
const keepOverlays = 4

// overlaySteps is what encoding, comparing and compiling a node takes, in steps of a Counter.
const overlaySteps = 200

// overlay is a view with some nodes replaced for a decision.
type overlay struct {
	view    *revision.View
	nodes   []*corev1.Node
	state   *state.State
	differs [][]byte                // canonical JSON of the nodes that are not as the view has them
	encoded map[*corev1.Node][]byte // of all nodes, by identity
}

// overlayCache keeps the last few overlays, newest first. Nodes are compared by
// identity, so a caller that passes the same objects again spares the work.
type overlayCache struct {
	mu   sync.Mutex
	list []*overlay
}

func (c *overlayCache) get(ctx context.Context, v *revision.View, nodes []*corev1.Node) (*overlay, error) {
	c.mu.Lock()
	var before *overlay
	for _, o := range c.list {
		if !slices.Equal(o.nodes, nodes) {
			continue
		}
		if o.view == v {
			c.mu.Unlock()
			return o, nil
		}
		before = o
		break
	}
	if before == nil && len(c.list) > 0 {
		before = c.list[0] // some of its nodes may be the same
	}
	c.mu.Unlock()
	o, err := makeOverlay(ctx, v, nodes, before)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append([]*overlay{o}, c.list[:min(len(c.list), keepOverlays-1)]...)
	return o, nil
}

// drop forgets the overlays of a cluster.
func (c *overlayCache) drop(cluster string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = slices.DeleteFunc(c.list, func(o *overlay) bool { return o.view.Cluster == cluster })
}

// Gone forgets what is in memory of a cluster that was deleted.
func (s *Scheduler) Gone(cluster string) { s.overlays.drop(cluster) }

func makeOverlay(ctx context.Context, v *revision.View, nodes []*corev1.Node, before *overlay) (*overlay, error) {
	o := &overlay{view: v, nodes: slices.Clone(nodes), state: v.State, encoded: make(map[*corev1.Node][]byte, len(nodes))}
	var e *state.Edit
	seen := make(map[string]struct{}, len(nodes))
	count := steps.Of(ctx)
	for _, n := range nodes {
		if err := count.Take(overlaySteps); err != nil {
			return nil, err //nolint:wrapcheck // the caller's context's own
		}
		if _, twice := seen[n.Name]; twice {
			return nil, Errorf(Invalid, "nodes", "node %s is there twice", n.Name)
		}
		seen[n.Name] = struct{}{}
		var js []byte
		if before != nil {
			js = before.encoded[n]
		}
		if js == nil {
			var err error
			if js, err = object.Encode(n); err != nil {
				return nil, Errorf(Invalid, "nodes", "%v", err)
			}
		}
		o.encoded[n] = js
		if held, ok := v.Object(object.Key{Kind: "Node", Name: n.Name}); ok && bytes.Equal(held, js) {
			continue
		}
		if e == nil {
			e = v.State.Overlay().Within(ctx)
		}
		if err := e.Put(n); err != nil {
			return nil, Errorf(Invalid, "nodes", "%v", err)
		}
		o.differs = append(o.differs, js)
	}
	if e != nil {
		var err error
		if o.state, err = e.Finish(); err != nil {
			return nil, err //nolint:wrapcheck // the caller's context's own
		}
	}
	return o, nil
}
