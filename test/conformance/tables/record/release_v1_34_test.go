//go:build v1_34

package record

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/util/assumecache"
)

// TestAssumed: volumes that a cache alone has heard of are part of what a plugin sees.
func TestAssumed(t *testing.T) {
	c := assumecache.NewAssumeCache(klog.Background(), nil, "v1.PersistentVolume", "", nil)
	assumecache.AddTestObject(c, &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv"}})
	w := newWorld()
	if !w.known(c) || len(w.objects) != 1 || w.objects["*v1.PersistentVolume /pv"] == nil {
		t.Errorf("%v", w.objects)
	}
	if w.known(&v1.PersistentVolume{}) {
		t.Error("a volume is taken for a cache")
	}
}
