package record

import (
	"fmt"
	"testing"
)

// TestRecentIsBounded shows that a pod is found until maxRecent others were noted after it, and
// that a pod without a UID is not noted.
func TestRecentIsBounded(t *testing.T) {
	r := newRecent[int](maxRecent)
	r.note(podUID{cluster: "c"}, 1)
	for i := range 2 * maxRecent {
		r.note(podUID{"c", fmt.Sprint(i)}, i)
		oldest := max(0, i-maxRecent+1)
		if v, ok := r.Peek(podUID{"c", fmt.Sprint(oldest)}); !ok || v != oldest {
			t.Fatalf("after %d, %d is %d, %v", i, oldest, v, ok)
		}
	}
	if n := r.Len(); n != maxRecent {
		t.Errorf("%d are kept", n)
	}
}
