package state

import (
	"fmt"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestPutPodIsPut puts pods of templates by both ways: one of them twice, some with claims named
// after the pod, and one template that was compiled for a pod on another node.
func TestPutPodIsPut(t *testing.T) {
	plain := corev1.Pod{}
	plain.Namespace, plain.Labels = "d", map[string]string{"app": "a"}
	plain.Spec.Containers = []corev1.Container{{Ports: []corev1.ContainerPort{{HostPort: 80}}}}
	claims := plain
	claims.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}}
	nodes := NewState().Edit()
	for _, name := range []string{"n0", "n1"} {
		node := &corev1.Node{}
		node.Name = name
		if err := nodes.Put(node); err != nil {
			t.Fatal(err)
		}
	}
	base := nodes.Done()
	whole, split := base.Edit(), base.Edit()
	for i := range 12 {
		template := &plain
		if i%3 == 0 {
			template = &claims
		}
		pod := *template
		pod.Name, pod.UID, pod.Spec.NodeName = fmt.Sprintf("p%d", i%10), types.UID(fmt.Sprintf("u%d", i)), fmt.Sprintf("n%d", i%2)
		if i%5 == 4 {
			pod.Spec.NodeName = ""
		}
		if err := whole.Put(&pod); err != nil {
			t.Fatal(err)
		}
		if err := split.PutPod(template, pod.Name, string(pod.UID), pod.Spec.NodeName); err != nil {
			t.Fatal(err)
		}
	}
	want, got := whole.Done(), split.Done()
	if got.PodCount() != 10 || got.PodCount() != want.PodCount() {
		t.Fatalf("%d pods, want %d", got.PodCount(), want.PodCount())
	}
	want.EachPod(func(p *Pod) {
		if q := got.Pod(p.Namespace, p.Name); !reflect.DeepEqual(p, q) {
			t.Errorf("%+v, want %+v", q, p)
		}
	})
	for row := range 2 {
		if a, b := want.PodsOn(row).slice(), got.PodsOn(row).slice(); !reflect.DeepEqual(a, b) || want.Use(row) != got.Use(row) {
			t.Errorf("row %d: %v, %+v, want %v, %+v", row, b, got.Use(row), a, want.Use(row))
		}
	}
}
