package suggest_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain/suggest"
	"berth/internal/engine/rules"
	"berth/test/enginetest"
)

// late stands for a rule about volumes: the pod's claim has to be there, of a
// class that the rule likes.
type late struct{ class string }

func (late) Name() string { return "LateBinding" }

func (l late) PreFilter(q *engine.Query) (engine.NoState, engine.PreFilterResult) {
	c := q.State.PersistentVolumeClaim(q.Pod.Namespace, "data")
	switch {
	case c == nil:
		return engine.NoState{}, engine.PreFilterResult{Code: engine.UnschedulableAndUnresolvable, Reason: fmt.Sprintf("persistentvolumeclaim %q not found", "data")}
	case c.Spec.StorageClassName == nil || *c.Spec.StorageClassName != l.class || c.Status.Phase != corev1.ClaimPending:
		return engine.NoState{}, engine.PreFilterResult{Code: engine.UnschedulableAndUnresolvable, Reason: "it is another"}
	}
	return engine.NoState{}, engine.PreFilterResult{}
}

// TestAMissingClaimIsCreated: of the classes only that is offered with which the
// pod fits, and the object in the patch is the one that was tried.
func TestAMissingClaimIsCreated(t *testing.T) {
	later, now := storagev1.VolumeBindingWaitForFirstConsumer, storagev1.VolumeBindingImmediate
	s, err := enginetest.State(enginetest.Node("n1"), enginetest.Node("n2", enginetest.Cordoned()),
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "disliked"}, VolumeBindingMode: &later},
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "early"}, VolumeBindingMode: &now},
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "fast"}, VolumeBindingMode: &later})
	if err != nil {
		t.Fatal(err)
	}
	p, err := rules.Build(rules.DefaultSpec())
	if err != nil {
		t.Fatal(err)
	}
	profile := *p
	profile.Rules = append(slices.Clone(p.Rules), engine.Adapt[engine.NoState](late{"fast"}))
	profile.PreFilter = append(append([]int(nil), p.PreFilter...), len(p.Rules))
	pod := enginetest.Pod("p")
	r, err := engine.Decide(s, pod, &profile, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	groups, _ := suggest.Groups(r, 3)
	if len(groups) != 1 || groups[0].Reason != engine.CauseClaimMissing || groups[0].Detail != "data" || groups[0].Action != suggest.ChangePod || groups[0].Nodes != 2 {
		t.Errorf("groups %+v", groups)
	}
	list := suggest.Suggest(suggest.Question{State: s, Pod: pod, Profile: &profile, Object: func(string, string, string) []byte { return nil }}, r)
	if len(list) != 1 || list[0].Change != "create the claim data, of the storage class fast" || list[0].Fits != 1 || list[0].Nodes[0] != "n1" || list[0].Cures[0].Reason != engine.CauseClaimMissing {
		t.Fatalf("%+v", list)
	}
	js, err := json.Marshal(list[0].Edit.Patch[0].Value)
	if err != nil {
		t.Fatal(err)
	}
	c := &corev1.PersistentVolumeClaim{}
	if err := json.Unmarshal(js, c); err != nil {
		t.Fatal(err)
	}
	e := s.Edit()
	if err := e.Put(c); err != nil {
		t.Fatal(err)
	}
	after, err := engine.Decide(e.Done(), pod, &profile, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer after.Release()
	if after.Outcome != engine.Scheduled || after.Node() != "n1" {
		t.Errorf("with the claim: %s on %s", after.Outcome, after.Node())
	}
}
