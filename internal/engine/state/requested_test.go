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

// TestRequested compares the column with a plain list, from few chunks to many, and the columns
// that edits came from with what they were.
func TestRequested(t *testing.T) {
	const rows = 40 * ChunkSize
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 0))
		var column *Requested
		var want [rows]int64
		check := func(column *Requested, want *[rows]int64) {
			t.Helper()
			for row := range want {
				if column.At(row) != want[row] {
					t.Fatalf("seed %d: row %d: %d, want %d", seed, row, column.At(row), want[row])
				}
			}
		}
		for edit := range uint64(20) {
			before, had := column, want
			for range 3 {
				row, n := random.IntN(rows), random.Int64N(10)-3
				column = column.add(edit+1, row, n)
				want[row] += n
			}
			check(column, &want)
			check(before, &had)
		}
		if column.chunks != nil || column.At(rows*10) != 0 {
			t.Fatalf("seed %d: still a list of %d chunks, or an amount on no row", seed, len(column.chunks))
		}
	}
}

// TestRareResources: extended resources that one node each has, and one pod each requests, take
// memory for that node and that pod alone.
func TestRareResources(t *testing.T) {
	bytesOf := func(n int) uint64 {
		nodes, pods := make([]*corev1.Node, n), make([]*corev1.Pod, n)
		for i := range n {
			own := corev1.ResourceList{corev1.ResourceName(fmt.Sprintf("example.com/r%d", i)): resource.MustParse("1")}
			nodes[i] = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%05d", i)}, Status: corev1.NodeStatus{Allocatable: own}}
			pods[i] = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("p%05d", i), Namespace: "shop"}, Spec: corev1.PodSpec{
				NodeName: nodes[i].Name, Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: own}}},
			}}
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		e := NewState().Edit()
		for i := range n {
			if err := e.Put(nodes[i]); err != nil {
				t.Fatal(err)
			}
			if err := e.Put(pods[i]); err != nil {
				t.Fatal(err)
			}
		}
		s := e.Done()
		next := s.Edit()
		if err := next.Put(nodes[0]); err != nil { // a change of a node copies its columns
			t.Fatal(err)
		}
		s = next.Done()
		runtime.ReadMemStats(&after)
		id, _ := s.ScalarID("example.com/r7")
		if have, _ := s.Nodes().Offers(id, 7); have != 1 || s.Nodes().ScalarColumn(id)[7] != 1 || s.Requested(id).At(7) != 1 || s.Requested(id).At(8) != 0 {
			t.Fatal("the amounts are not what the objects say")
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := bytesOf(400), bytesOf(4000); many > 15*few {
		t.Errorf("%d KiB for 400 resources, %d KiB for 4,000", few>>10, many>>10)
	}
}
