package incremental

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestLargePodsAreNotHeldForTheirKind: a key is small where a pod has thousands of volumes, and
// what is held with it is the pod.
func TestLargePodsAreNotHeldForTheirKind(t *testing.T) {
	d := NewDecider(0)
	priority := int32(0)
	ask := func(volumes int) {
		of := &corev1.Pod{Spec: corev1.PodSpec{Priority: &priority}}
		for i := range volumes {
			of.Spec.Volumes = append(of.Spec.Volumes, corev1.Volume{Name: fmt.Sprintf("v%d", i)})
		}
		pod := *of
		if _, ok := d.kind(new(encoder), &pod, of); !ok {
			t.Fatal("no key")
		}
	}
	ask(20_000)
	if len(d.likes) != 0 {
		t.Error("a large pod is held")
	}
	held := 0
	for range 1000 {
		ask(200)
		held = max(held, len(d.likes))
	}
	if held < 20 || held > 100 {
		t.Errorf("%d pods of 200 volumes are held", held)
	}
}
