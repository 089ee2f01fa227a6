package revision

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/kube/object"
)

// large is a cluster of 5,000 nodes and 50,000 pods.
func large(b *testing.B) []object.Object {
	list := make([]object.Object, 0, 55_000)
	for i := range 5000 {
		list = append(list, node(b, fmt.Sprintf("node-%05d", i), 64))
	}
	for i := range 50_000 {
		list = append(list, pod(b, fmt.Sprintf("pod-%05d", i), fmt.Sprintf("node-%05d", i%5000)))
	}
	return list
}

// BenchmarkGrow is a bind as a new revision without the store: objects, digest,
// summary, state and the stored change.
func BenchmarkGrow(b *testing.B) {
	h := open(b, b.TempDir(), Options{})
	head, err := collect(context.Background(), reader(large(b)...))
	if err != nil {
		b.Fatal(err)
	}
	head.Cluster = "prod"
	pods := make([]*corev1.Pod, 512)
	for i := range pods {
		pods[i] = pod(b, fmt.Sprintf("new-%d", i), "").Value.(*corev1.Pod)
	}
	b.ReportAllocs()
	stored := 0
	for i := 0; b.Loop(); i++ {
		x := difference{bind: &Bind{Pod: pods[i%len(pods)], Node: fmt.Sprintf("node-%05d", i%5000)}, cause: causeBind}
		_, r, err := h.grow(context.Background(), head, x)
		if err != nil {
			b.Fatal(err)
		}
		stored = len(r.Change) + len(r.Summary)
	}
	b.ReportMetric(float64(stored), "stored-B/op")
}

// bindCopy binds a copy of a pod, under a name of its own, to the next node of large.
func bindCopy(ctx context.Context, h *fixture, p *corev1.Pod) error {
	_, _, err := h.Update(ctx, "prod", 0, func(v *View) (*Step, error) {
		one := *p
		one.Name = fmt.Sprintf("new-%d", v.Revision)
		return &Step{Bind: &Bind{Pod: &one, Node: fmt.Sprintf("node-%05d", v.Revision%5000)}}, nil
	})
	return err
}

// BenchmarkUpdate is a bind with everything that it takes, over the embedded
// store, by 64 callers at a time.
func BenchmarkUpdate(b *testing.B) {
	h := open(b, b.TempDir(), Options{})
	if _, _, err := h.Upload(b.Context(), "prod", reader(large(b)...)); err != nil {
		b.Fatal(err)
	}
	p := pod(b, "new", "").Value.(*corev1.Pod)
	b.ReportAllocs()
	b.SetParallelism(32)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := bindCopy(b.Context(), h, p); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkCheckpoint writes and reads a whole state.
func BenchmarkCheckpoint(b *testing.B) {
	v, err := collect(context.Background(), reader(large(b)...))
	if err != nil {
		b.Fatal(err)
	}
	size := 0
	b.Run("encode", func(b *testing.B) {
		for b.Loop() {
			payload, err := encodeCheckpoint(context.Background(), v.inv)
			if err != nil {
				b.Fatal(err)
			}
			size = len(payload)
		}
		b.ReportMetric(float64(size), "stored-B")
	})
	payload, err := encodeCheckpoint(context.Background(), v.inv)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			if _, err := decodeCheckpoint(payload, nil, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkLoad reads a revision that is not in memory: the checkpoint, and the binds from there.
// A large cluster has up to ten times CheckpointEvery of them.
func BenchmarkLoad(b *testing.B) {
	h := open(b, b.TempDir(), Options{CheckpointEvery: 10_000})
	if _, _, err := h.Upload(b.Context(), "prod", reader(large(b)...)); err != nil {
		b.Fatal(err)
	}
	p := pod(b, "new", "").Value.(*corev1.Pod)
	for range 5000 {
		if err := bindCopy(b.Context(), h, p); err != nil {
			b.Fatal(err)
		}
	}
	for _, changes := range []int64{0, 500, 5000} {
		b.Run(fmt.Sprintf("%d_changes", changes), func(b *testing.B) {
			r, err := h.st.Revision(b.Context(), "prod", 1+changes)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := h.loadCheckpoint(b.Context(), newChain("prod"), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
