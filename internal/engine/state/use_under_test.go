package state

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// amounts of a pod or its status, and now and then of a resource that cannot be resized.
func drawAmounts(r *rand.Rand) corev1.ResourceList {
	out := corev1.ResourceList{
		corev1.ResourceCPU: *resource.NewMilliQuantity(int64(1+r.IntN(8))*250, resource.DecimalSI), corev1.ResourceMemory: *resource.NewQuantity(int64(1+r.IntN(8))<<28, resource.BinarySI),
	}
	if r.IntN(4) == 0 {
		out["example.com/gpu"] = *resource.NewQuantity(int64(r.IntN(3)), resource.DecimalSI)
	}
	return out
}

func drawPod(r *rand.Rand, name, node string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: corev1.PodSpec{NodeName: node}}
	p.Spec.Containers = []corev1.Container{{Name: "a", Resources: corev1.ResourceRequirements{Requests: drawAmounts(r)}}}
	if r.IntN(2) == 0 {
		return p
	}
	p.Spec.Overhead = drawAmounts(r)
	p.Status.AllocatedResources = drawAmounts(r)
	p.Status.Resources = &corev1.ResourceRequirements{Requests: drawAmounts(r)}
	if r.IntN(3) == 0 {
		p.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("5")}}
	}
	return p
}

// recounted is the sums of a state by the objects that are in it.
func recounted(t *testing.T, s *State, c Counting) (of []Use, gpus []int64) {
	t.Helper()
	id, _ := s.ScalarID("example.com/gpu")
	of, gpus = make([]Use, s.nodes.Len()), make([]int64, s.nodes.Len())
	for row := range of {
		for p := range s.PodsOn(row).All() {
			n := &p.Class.Counted
			if c != 0 && p.Class.others != nil {
				n = &p.Class.others[c-1]
			}
			of[row].add(n, 1)
			of[row].Pods++
			for _, sc := range n.Request.Scalars {
				if sc.ID == id {
					gpus[row] += sc.N
				}
			}
		}
	}
	return of, gpus
}

// TestUnder: however states follow one another, and whichever of them were looked at by another
// Counting, its sums are those of the pods, and the state itself stays as it is.
func TestUnder(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 11))
		e := NewState().Edit()
		node := func(i int) string { return fmt.Sprintf("n%02d", i) }
		putNode := func(e *Edit, i int) {
			n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node(i)}, Status: corev1.NodeStatus{Allocatable: drawAmounts(r)}}
			if err := e.Put(n); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 40 {
			putNode(e, i)
		}
		states := []*State{e.Done()}
		walk := states[0].EditInPlace()
		check := func(s *State) {
			t.Helper()
			for c := range Countings {
				v := s.Under(c)
				if v.Under(c) != v || s.Under(c) != v && !s.InPlace() {
					t.Fatal("a view is made twice")
				}
				want, gpus := recounted(t, s, c)
				id, known := s.ScalarID("example.com/gpu")
				for row := range want {
					if got := v.Use(row); got != want[row] {
						t.Fatalf("seed %d, counting %d, row %d: %+v, want %+v", seed, c, row, got, want[row])
					}
					if known && v.Requested(id).At(row) != gpus[row] {
						t.Fatalf("seed %d, counting %d, row %d: %d GPUs, want %d", seed, c, row, v.Requested(id).At(row), gpus[row])
					}
					ranked, columns := v.Ranking(row, 0), v.ClassColumns()
					if got := ranked.SumFrom(0, &columns); got != want[row].Amount {
						t.Fatalf("seed %d, counting %d, row %d: ranked pods request %+v, want %+v", seed, c, row, got, want[row].Amount)
					}
					left := v.LeastLeft(row)
					if n := s.nodes.rows[row]; n != nil && s.use.block(row>>blockBits) != nil && left.CPU > s.nodes.capacity[row].CPU-want[row].CPU {
						t.Fatalf("seed %d, counting %d, row %d: more than is left is said to be left", seed, c, row)
					}
				}
			}
		}
		change := func(e *Edit, r *rand.Rand) {
			switch r.IntN(8) {
			case 0:
				putNode(e, r.IntN(44))
			case 1:
				e.Delete("Node", "", node(r.IntN(44)))
			case 2, 3:
				e.Delete("Pod", "default", fmt.Sprint("p", r.IntN(60)))
			default:
				if err := e.Put(drawPod(r, fmt.Sprint("p", r.IntN(60)), node(r.IntN(44)))); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range 60 {
			by := r.Uint64()
			e := states[len(states)-1].Edit()
			if r.IntN(8) == 0 { // of another counting, as a question's overlay is
				e = states[len(states)-1].Under(Counting(1 + r.IntN(int(Countings)-1))).Edit()
				change(e, rand.New(rand.NewPCG(by, 1)))
				over := e.Done()
				want, _ := recounted(t, over, over.counting)
				for row := range want {
					if got := over.Use(row); got != want[row] {
						t.Fatalf("seed %d, edit of a view, row %d: %+v, want %+v", seed, row, got, want[row])
					}
				}
				e = states[len(states)-1].Edit()
			}
			change(e, rand.New(rand.NewPCG(by, 1)))
			change(walk.Edit(), rand.New(rand.NewPCG(by, 1)))
			states = append(states, e.Done())
			if r.IntN(3) > 0 {
				check(states[len(states)-1])
			}
			if r.IntN(3) > 0 {
				s, _, _ := walk.Next()
				check(s)
			}
		}
		for _, s := range states {
			check(s)
		}
	}
}

// TestViewBytes: the states of all Countings, and those of the next state, allocate no more than is
// estimated before, and what is estimated is not many times more. Nothing is where all pods count
// alike.
func TestViewBytes(t *testing.T) {
	const nodes = 2000
	for _, tt := range []struct {
		name   string
		every  int // node has a pod that counts otherwise; 0: none
		gpus   bool
		within int64 // times what is allocated
	}{
		{"all alike", 0, false, 0},
		{"one", nodes, false, 4},
		{"few", 100, false, 4},
		{"many", 1, false, 4},
		{"one with resources", nodes, true, 4},
		{"many with resources", 1, true, 4},
	} {
		e := NewState().Edit()
		for i := range nodes {
			name := fmt.Sprintf("n%04d", i)
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8")}}}
			p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: corev1.PodSpec{NodeName: name}}
			p.Spec.Containers = []corev1.Container{{Name: "a", Resources: corev1.ResourceRequirements{Requests: node.Status.Allocatable}}}
			if tt.every > 0 && i%tt.every == 0 {
				held := corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(int64(9+i%5), resource.DecimalSI)}
				if tt.gpus {
					held["example.com/gpu"] = resource.MustParse("1")
				}
				p.Status.AllocatedResources, p.Status.Resources = held, &corev1.ResourceRequirements{Requests: held}
			}
			if err := e.Put(node); err != nil {
				t.Fatal(err)
			}
			if err := e.Put(p); err != nil {
				t.Fatal(err)
			}
		}
		s := e.Done()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 2 {
			for c := range Countings {
				s.Under(c)
			}
			s = s.Edit().Done()
		}
		runtime.ReadMemStats(&after)
		took, bound := int64(after.TotalAlloc-before.TotalAlloc), s.ViewsBytes()
		t.Logf("%-20s %9d of %9d", tt.name, took, bound)
		if tt.every > 0 && took > bound || bound > tt.within*took {
			t.Errorf("%s: %d bytes are allocated, %d are estimated", tt.name, took, bound)
		}
	}
}
