package record

import (
	"errors"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type texts []string

type binder struct{}

// TestInner: an inner method's call stands for its plugin's, node and reasons
// with it; within another call it is no call of its own.
func TestInner(t *testing.T) {
	s := &Scenario{Name: "x"}
	mu.Lock()
	stack = append(stack, s)
	mu.Unlock()
	defer func() {
		mu.Lock()
		stack = nil
		mu.Unlock()
	}()
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	find := func() *Call { return Begin(&binder{}, "FindPodVolumes", &v1.Pod{}, node) }

	find().End((*int)(nil), texts{"conflict", "space"}, error(nil))
	find().End((*int)(nil), texts(nil), error(nil))
	find().End((*int)(nil), texts(nil), errors.New("lost"))
	outer := Begin(&binder{}, "Filter", &v1.Pod{})
	find().End((*int)(nil), texts{"conflict"}, error(nil))
	outer.End()

	var got []string
	for _, c := range s.Calls {
		got = append(got, c.Plugin+" "+c.Method+" "+c.Node+" "+c.Code)
	}
	want := []string{"VolumeBinding Filter n UnschedulableAndUnresolvable", "VolumeBinding Filter n Success", "VolumeBinding Filter n Error", " Filter  "}
	if !slices.Equal(got, want) {
		t.Fatalf("recorded %q, want %q", got, want)
	}
	if !slices.Equal(s.Calls[0].Reasons, []string{"conflict", "space"}) || len(s.Calls[0].Objects) != 1 || !slices.Equal(s.Calls[2].Reasons, []string{"lost"}) {
		t.Errorf("recorded %+v and %+v", s.Calls[0], s.Calls[2])
	}
}
