package handlers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/handlers/rest"
)

// storageAndDevices is two nodes, one of which has two devices and two volumes,
// and claims for three pods of each kind.
func storageAndDevices() string {
	list := []string{
		node("n1", "8"), node("n2", "8"),
		`{"kind":"DeviceClass","apiVersion":"resource.k8s.io/v1","metadata":{"name":"gpu"}}`,
		`{"kind":"ResourceSlice","apiVersion":"resource.k8s.io/v1","metadata":{"name":"s"},"spec":{"driver":"gpu.example.com","nodeName":"n2","pool":{"name":"n2","generation":1,"resourceSliceCount":1},"devices":[{"name":"d0"},{"name":"d1"}]}}`,
		`{"kind":"StorageClass","apiVersion":"storage.k8s.io/v1","metadata":{"name":"local"},"provisioner":"kubernetes.io/no-provisioner","volumeBindingMode":"WaitForFirstConsumer"}`,
	}
	for i, size := range []string{"1Gi", "2Gi"} {
		list = append(list, fmt.Sprintf(`{"kind":"PersistentVolume","apiVersion":"v1","metadata":{"name":"pv%d"},"spec":{"capacity":{"storage":%q},"accessModes":["ReadWriteOnce"],"storageClassName":"local","local":{"path":"/disk"},"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"kubernetes.io/hostname","operator":"In","values":["n2"]}]}]}}},"status":{"phase":"Available"}}`, i, size))
	}
	for i := range 3 {
		list = append(list,
			fmt.Sprintf(`{"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1","metadata":{"name":"c%d","namespace":"shop"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"gpu"}}]}}}`, i),
			fmt.Sprintf(`{"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"v%d","namespace":"shop"},"spec":{"storageClassName":"local","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`, i),
			pod(fmt.Sprintf("p%d", i), "1", fmt.Sprintf(`,"resourceClaims":[{"name":"x","resourceClaimName":"c%d"}],"volumes":[{"name":"x","persistentVolumeClaim":{"claimName":"v%d"}}]`, i, i)),
		)
	}
	return listOf(list...)
}

func effectsOf(i int) *decision.BoundEffects {
	return &decision.BoundEffects{
		ResourceClaims: []decision.BoundClaim{{Name: fmt.Sprintf("c%d", i), Devices: []decision.BoundDevice{{Request: "r", Driver: "gpu.example.com", Pool: "n2", Device: fmt.Sprintf("d%d", i)}}}},
		VolumeClaims:   []decision.BoundVolumeClaim{{Claim: fmt.Sprintf("v%d", i), Volume: fmt.Sprintf("pv%d", i)}},
	}
}

// TestBindCarriesEffects: over HTTP, decisions that bind one after the other and
// kube-scheduler's bind of a cluster that is not followed each give what the one
// before left, say so, and are replayed as they were.
func TestBindCarriesEffects(t *testing.T) {
	h := start(t, nil)
	h.upload("default", storageAndDevices())
	ask := func(i int) (a decision.Answer) {
		h.want(201, &a, "POST", "/v1/decisions", fmt.Sprintf(`{"snapshot":"default@latest","podRef":{"namespace":"shop","name":"p%d"},"bind":true,"preempt":false}`, i))
		return a
	}
	first := ask(0)
	if d := cmp.Diff(effectsOf(0), first.BoundEffects); d != "" || first.Node != "n2" || first.BoundSnapshot != "default@2" {
		t.Errorf("first on %s in %s (-want +got):\n%s", first.Node, first.BoundSnapshot, d)
	}
	var rec record.Recorded
	if h.want(200, &rec, "GET", "/v1/decisions/"+first.ID, ""); !rec.DigestAgrees || !cmp.Equal(rec.BoundEffects, first.BoundEffects) {
		t.Errorf("read again: %v %+v", rec.DigestAgrees, rec.BoundEffects)
	}
	h.want(200, nil, "POST", "/bind", `{"PodName":"p1","PodNamespace":"shop","PodUID":"uid-p1","Node":"n2"}`)
	var list rest.DecisionList
	h.want(200, &list, "GET", "/v1/decisions?verb=bind&pod=p1", "")
	rec = record.Recorded{}
	if h.want(200, &rec, "GET", "/v1/decisions/"+list.Items[0].ID, ""); !rec.DigestAgrees || !cmp.Equal(rec.BoundEffects, effectsOf(1)) {
		t.Errorf("bound by /bind: %v %+v", rec.DigestAgrees, rec.BoundEffects)
	}
	third := ask(2)
	if third.Outcome != "Unschedulable" || third.BoundEffects != nil || !strings.HasPrefix(third.Message, "0/2 nodes are available: 2 ") {
		t.Errorf("third: %s %q %+v", third.Outcome, third.Message, third.BoundEffects)
	}
	for _, id := range []string{first.ID, list.Items[0].ID, third.ID} {
		var r record.Replay
		if h.want(200, &r, "POST", "/v1/decisions/"+id+"/replay", "{}"); !r.Identical {
			t.Errorf("%s replayed: %+v", id, r.Differences)
		}
	}
	var volumes struct {
		Items []struct {
			Spec struct{ ClaimRef struct{ Name string } }
		}
	}
	h.want(200, &volumes, "GET", "/v1/snapshots/default@latest/objects?kind=PersistentVolume", "")
	if v := volumes.Items; len(v) != 2 || v[0].Spec.ClaimRef.Name != "v0" || v[1].Spec.ClaimRef.Name != "v1" {
		t.Errorf("the volumes are of %+v", v)
	}
}
