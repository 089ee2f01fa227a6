package decision

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/test/stepstest"
)

// TestOverlaysEndWithTheirContext: many nodes are not put over a view once the caller has gone.
func TestOverlaysEndWithTheirContext(t *testing.T) {
	v, err := revision.Standalone("default", func(func(object.Object) error) (map[string]int, error) { return nil, nil }, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	nodes := make([]*corev1.Node, 1000)
	for i := range nodes {
		nodes[i] = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%04d", i)}}
	}
	var s Scheduler
	look := func(at int) (looks int, err error) {
		ctx := stepstest.After(t.Context(), at)
		p := &Prepared{Question: Question{Nodes: nodes}, View: v, State: v.State, Pod: &corev1.Pod{}}
		err = s.replaceNodes(ctx, p)
		return ctx.Looks(), err
	}
	all, err := look(0)
	if err != nil || all < len(nodes)/20 {
		t.Fatalf("%d looks, %v", all, err)
	}
	s.Gone("default")
	if looks, err := look(all / 2); !errors.Is(err, context.Canceled) || looks > all/2+2 {
		t.Errorf("ended at look %d of %d: %d looks, %v", all/2, all, looks, err)
	}
}

// TestOverlaysAreFewAndReused has callers that send their nodes again and others that do not.
func TestOverlaysAreFewAndReused(t *testing.T) {
	node := func(name string) object.Object {
		o, err := object.Decode(fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Node","metadata":{"name":%q}}`, name), object.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	held := node("held")
	v, err := revision.Standalone("default", func(yield func(object.Object) error) (map[string]int, error) { return nil, yield(held) }, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var cache overlayCache
	same := []*corev1.Node{held.Value.(*corev1.Node), node("n1").Value.(*corev1.Node)}
	first, err := cache.get(t.Context(), v, same)
	if err != nil || len(first.differs) != 1 || first.state.Nodes().Count() != 2 {
		t.Fatalf("%+v, %v", first, err)
	}
	for i := range 3 * keepOverlays {
		if o, err := cache.get(t.Context(), v, same); err != nil || o != first {
			t.Fatalf("after %d others the nodes are overlaid anew, %v", i, err)
		}
		if first, err = cache.get(t.Context(), v, []*corev1.Node{node(fmt.Sprint("other", i)).Value.(*corev1.Node)}); err != nil {
			t.Fatal(err)
		}
		if n := len(cache.list); n > keepOverlays {
			t.Fatalf("%d overlays are held", n)
		}
		same = first.nodes
	}
}
