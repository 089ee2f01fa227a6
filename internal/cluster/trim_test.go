package cluster

import (
	"fmt"
	"testing"
)

func (h *fixture) heldClusters() (held, objects int) {
	h.work.Wait()
	for _, l := range h.chains {
		if v := l.held(0); v != nil {
			held++
			objects += v.inv.n
		}
	}
	return held, objects
}

// Uploads let go of other clusters' states as loads do, by number and by objects.
func TestUploadsLetGoOfOtherStates(t *testing.T) {
	for _, o := range []Options{{KeepViews: 3}, {KeepViews: 100, KeepObjects: 3 * len(sample(t))}} {
		h := open(t, t.TempDir(), o)
		for i := range 12 {
			if _, _, err := h.Upload(t.Context(), fmt.Sprintf("c%d", i), reader(sample(t)...)); err != nil {
				t.Fatal(err)
			}
			h.work.Wait() // a state is kept for as long as it is being written
		}
		if held, objects := h.heldClusters(); held == 0 || held > 3 {
			t.Errorf("%+v: %d states with %d objects are held", o, held, objects)
		}
		for i := range 12 {
			if v, err := h.View(t.Context(), fmt.Sprintf("c%d", i), 0); err != nil || v.Revision != 1 {
				t.Fatal(v, err)
			}
		}
	}
}
