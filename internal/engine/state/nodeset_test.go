package state

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestRetainted: a set of nodes that were tainted, cordoned, relabelled, removed and added one by
// one is as if it were derived anew.
func TestRetainted(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 9))
		node := func(i int) *corev1.Node {
			n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i), Labels: map[string]string{"zone": "a"}}}
			if r.IntN(6) == 0 {
				n.Labels["zone"] = "b"
			}
			if r.IntN(8) == 0 {
				n.Status.Images = []corev1.ContainerImage{{Names: []string{"img"}, SizeBytes: 5}}
			}
			for k := range r.IntN(3) {
				n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: fmt.Sprint("k", k), Value: fmt.Sprint(r.IntN(2)), Effect: corev1.TaintEffectNoSchedule})
			}
			n.Spec.Unschedulable = r.IntN(3) == 0
			return n
		}
		s, now := NewState(), map[string]*corev1.Node{}
		edit := func(f func(e *Edit)) {
			e := s.Edit()
			f(e)
			s = e.Done()
		}
		for range 40 {
			edit(func(e *Edit) {
				for range 1 + r.IntN(3) {
					n := node(r.IntN(9))
					if r.IntN(9) == 0 {
						e.Delete("Node", "", n.Name)
						delete(now, n.Name)
						continue
					}
					if err := e.Put(n); err != nil {
						t.Fatal(err)
					}
					now[n.Name] = n
				}
			})
			s.Nodes().Column("zone")
			got, anew := s.nodes, s.nodes.clone()
			anew.anew = true
			if err := anew.seal(nil); err != nil {
				t.Fatal(err)
			}
			if got.n != len(now) {
				t.Fatalf("seed %d: %d nodes, want %d", seed, got.n, len(now))
			}
			for what, of := range map[string]func(*NodeSet) any{
				"order": func(s *NodeSet) any { return s.order }, "taints": func(s *NodeSet) any { return s.taints },
				"taint sets": func(s *NodeSet) any { return s.taintSet }, "cordoned": func(s *NodeSet) any { return s.cordoned },
				"hashes": func(s *NodeSet) any { return s.hashes }, "digest": func(s *NodeSet) any { return s.digest },
				"zones":  func(s *NodeSet) any { return s.Column("zone").Rows },
				"images": func(s *NodeSet) any { rows, _ := s.Image("docker.io/library/img:latest"); return rows },
			} {
				if d := cmp.Diff(of(anew), of(got)); d != "" {
					t.Fatalf("seed %d: %s (-anew +kept):\n%s", seed, what, d)
				}
			}
		}
	}
}
