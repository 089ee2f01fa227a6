package decision

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/cluster"
	"berth/internal/objects"
)

// TestOverlaysAreFewAndReused has callers that send their nodes again and others that do not.
func TestOverlaysAreFewAndReused(t *testing.T) {
	node := func(name string) objects.Object {
		o, err := objects.Decode(fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Node","metadata":{"name":%q}}`, name), objects.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	held := node("held")
	v, err := cluster.Standalone("default", func(yield func(objects.Object) error) (map[string]int, error) { return nil, yield(held) }, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var cache overlayCache
	same := []*corev1.Node{held.Value.(*corev1.Node), node("n1").Value.(*corev1.Node)}
	first, err := cache.get(v, same)
	if err != nil || len(first.differs) != 1 || first.state.Nodes().Count() != 2 {
		t.Fatalf("%+v, %v", first, err)
	}
	for i := range 3 * keepOverlays {
		if o, err := cache.get(v, same); err != nil || o != first {
			t.Fatalf("after %d others the nodes are overlaid anew, %v", i, err)
		}
		if first, err = cache.get(v, []*corev1.Node{node(fmt.Sprint("other", i)).Value.(*corev1.Node)}); err != nil {
			t.Fatal(err)
		}
		if n := len(cache.list); n > keepOverlays {
			t.Fatalf("%d overlays are held", n)
		}
		same = first.nodes
	}
}
