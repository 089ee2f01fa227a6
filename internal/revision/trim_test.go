package revision

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/kube/object"
)

func (h *fixture) countChains() (n int) {
	for range h.allChains() {
		n++
	}
	return n
}

func (h *fixture) heldClusters() (held, objects int) {
	h.work.Wait()
	for l := range h.allChains() {
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

// A cluster that is deleted leaves nothing behind, whatever it was called.
func TestDeletedClustersLeaveNoChain(t *testing.T) {
	h := open(t, t.TempDir(), Options{})
	for i := range 20 {
		name := fmt.Sprintf("c%d", i)
		if _, _, err := h.Upload(t.Context(), name, reader(sample(t)...)); err != nil {
			t.Fatal(err)
		}
		if _, err := h.View(t.Context(), name, 1); err != nil {
			t.Fatal(err)
		}
		if err := h.DeleteCluster(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		if _, err := h.View(t.Context(), name, 0); err == nil {
			t.Fatal("it is still there")
		}
	}
	h.work.Wait()
	if n := h.countChains(); n != 0 {
		t.Errorf("%d chains are left", n)
	}
	if _, created, err := h.Upload(t.Context(), "c0", reader(sample(t)...)); err != nil || !created {
		t.Error(created, err)
	}
}

// Pods of one shape that come and go, each with a claim of its own, outgrow the tables as pods of
// many shapes do.
func TestTablesOfClaimsAreMadeAnew(t *testing.T) {
	h := open(t, t.TempDir(), Options{CheckpointEvery: 1}) // ten changes of so many objects
	if _, _, err := h.Upload(t.Context(), "prod", reader(sample(t)...)); err != nil {
		t.Fatal(err)
	}
	for round := range 25 {
		var list []object.Object
		for i := range 100 {
			o := pod(t, fmt.Sprintf("p%d", i), "n1")
			p := o.Value.(*corev1.Pod).DeepCopy()
			p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: fmt.Sprintf("claim-%d-%d", round, i)},
			}}}
			o, err := object.Of(p)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, o)
		}
		if _, err := h.Change(t.Context(), "prod", 0, list, nil); err != nil {
			t.Fatal(err)
		}
		h.work.Wait()
	}
	v, err := h.View(t.Context(), "prod", 0)
	if err != nil {
		t.Fatal(err)
	}
	if n := v.State.Tables().Entries(); n > 2200 {
		t.Errorf("the tables hold %d entries for %d pods", n, v.State.PodCount())
	}
}
