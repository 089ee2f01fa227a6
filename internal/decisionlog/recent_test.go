package decisionlog

import (
	"fmt"
	"testing"
)

// TestRecentForgetsTheOldest: a pod that was noted is found while fewer than
// maxRecent others are, and no more than two generations are kept.
func TestRecentForgetsTheOldest(t *testing.T) {
	var r recent[int]
	for i := range 3 * maxRecent {
		r.note(podUID{"c", fmt.Sprint(i)}, i)
		if old := max(0, i-maxRecent+1); true {
			if v, ok := r.get(podUID{"c", fmt.Sprint(old)}); !ok || v != old {
				t.Fatalf("after %d, %d is %d, %v", i, old, v, ok)
			}
		}
	}
	if n := len(r.last) + len(r.past); n > 2*maxRecent {
		t.Errorf("%d are kept", n)
	}
	if _, ok := r.get(podUID{"c", "0"}); ok {
		t.Error("the first is kept")
	}
}
