package suggest_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain/suggest"
	"berth/internal/engine/rules"
	"berth/test/enginetest"
)

// grouped returns the groups of a pod under the default rules.
func grouped(t *testing.T, pod *corev1.Pod, objects ...any) []suggest.Group {
	t.Helper()
	c := ready(t, &enginetest.Case{Objects: objects, Pod: pod, Spec: rules.DefaultSpec()})
	r, err := engine.Decide(c.state, pod, c.profile, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	groups, _ := suggest.Groups(r, 3)
	return groups
}

// TestResourceThatNoNodeLists: DynamicResources rejects a node that does not list an extended
// resource of the pod where a class provides another one. There is no amount to name.
func TestResourceThatNoNodeLists(t *testing.T) {
	gpu := "example.com/gpu"
	class := enginetest.DeviceClass("gpu")
	class.Spec.ExtendedResourceName = &gpu
	pod := enginetest.Pod("p", enginetest.Requests(gpu, "1", "example.com/other", "1"))
	groups := grouped(t, pod, class, enginetest.Node("n"))
	if len(groups) != 1 || len(groups[0].AlsoFailing) != 1 || groups[0].AlsoFailing[0].Reason != engine.CauseInsufficientExtended {
		t.Errorf("%+v", groups)
	}
}

// TestDiskInUse: the disk becomes free when the pod that has it ends.
func TestDiskInUse(t *testing.T) {
	disk := func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}}}}
	}
	groups := grouped(t, enginetest.Pod("p", disk), enginetest.Node("n"), enginetest.Pod("owner", enginetest.On("n"), disk))
	if len(groups) != 1 || groups[0].Reason != engine.CauseVolumeInUse || groups[0].Action != suggest.Wait {
		t.Errorf("%+v", groups)
	}
}

// TestNearestIsOneThatNothingElseRejects: the node that is named is not one where the pod would
// still not fit with the objects gone that are in the way. n1 is short of less, and out of reach of
// the volume.
func TestNearestIsOneThatNothingElseRejects(t *testing.T) {
	east := enginetest.ReachableFrom(corev1.LabelTopologyZone, "east")
	objects := []any{
		enginetest.Volume("vol", "", "1Gi", east, enginetest.ReservedFor("data")), enginetest.Claim("data", "", "1Gi", enginetest.BoundTo("vol")),
		enginetest.Node("n1", enginetest.Zone("west"), enginetest.Allocatable("cpu", "4")), enginetest.Node("n2", enginetest.Zone("east"), enginetest.Allocatable("cpu", "4")),
		enginetest.Pod("far", enginetest.On("n1"), enginetest.Requests("cpu", "1")), enginetest.Pod("near", enginetest.On("n2"), enginetest.Requests("cpu", "3")),
	}
	pod := enginetest.Pod("p", enginetest.Requests("cpu", "3500m"), enginetest.Mounts("data"))
	c := ready(t, &enginetest.Case{Objects: objects, Pod: pod, Spec: rules.DefaultSpec()})
	r, err := engine.Decide(c.state, pod, c.profile, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	groups, _ := suggest.NamedGroups(r, 3)
	if len(groups) != 1 || groups[0].Nodes != 2 || groups[0].Nearest == nil {
		t.Fatalf("%+v", groups)
	}
	if near := groups[0].Nearest; near.Node != "n2" || len(near.Detail.Blockers) != 1 || near.Detail.Blockers[0].Name != "near" {
		t.Errorf("%+v", near)
	}
}
