package revision

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand"
	"testing"

	"berth/internal/kube/object"
	"berth/internal/memory"
)

// TestCheckpointTakesBeforeItReads: what a state's objects take is taken before they are read,
// large ones too, and nothing is read beyond what was given.
func TestCheckpointTakesBeforeItReads(t *testing.T) {
	for name, size := range map[string]int{"small": 100, "large": 1 << 20} {
		d := new(inventory).draft()
		for i := range 20 {
			text := make([]byte, size)
			rand.New(rand.NewSource(int64(i))).Read(text)
			js := fmt.Appendf(nil, "%q", fmt.Sprintf("%x", text))
			d.put(newEntry(object.Key{Kind: "Pod", Namespace: "d", Name: fmt.Sprint(i)}, js))
		}
		inv := d.inventory()
		payload, err := encodeCheckpoint(context.Background(), inv)
		if err != nil {
			t.Fatal(err)
		}
		taken := 0
		if _, err := decodeCheckpoint(payload, nil, func(n int) error { taken += n; return nil }); err != nil {
			t.Fatal(err)
		}
		if need := objectBytes * inv.weight(); taken < need || taken > need+checkpointStep {
			t.Errorf("%s: %d bytes are taken for a state of %d", name, taken, need)
		}
		refused := errors.New("refused")
		if _, err := decodeCheckpoint(payload, nil, func(int) error { return refused }); !errors.Is(err, refused) {
			t.Errorf("%s: %v", name, err)
		}
		budget := memory.New(int64(len(payload)))
		claim := budget.Claim()
		_, err = encodeCheckpoint(memory.With(t.Context(), claim), inv)
		claim.End()
		if !memory.Refused(err) {
			t.Errorf("%s: a checkpoint is made without the memory for it: %v", name, err)
		}
	}
}

// TestWindowOfCheckpoint: a reader of the checkpoint of a small state makes no room for a
// large one.
func TestWindowOfCheckpoint(t *testing.T) {
	d := new(inventory).draft()
	for i := range 50 {
		d.put(newEntry(object.Key{Kind: "Pod", Namespace: "d", Name: fmt.Sprint(i)}, bytes.Repeat([]byte("1"), 10_000)))
	}
	payload, err := encodeCheckpoint(t.Context(), d.inventory())
	if err != nil {
		t.Fatal(err)
	}
	got := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			if _, err := decodeCheckpoint(payload, nil, nil); err != nil {
				b.Fatal(err)
			}
		}
	}).AllocedBytesPerOp()
	if got > 6<<20 {
		t.Errorf("reading 500 kB takes %d bytes", got)
	}
}

// TestRecentViewsShare: views before large changes are not kept, since they share little with the
// newest.
func TestRecentViewsShare(t *testing.T) {
	have := stored{durable: &View{Revision: 1}}
	for n := range 5 {
		have, _ = have.add(&View{Revision: int64(n) + 2, changed: 3 << 20}, 8)
	}
	if n := len(have.recent); n != 2 {
		t.Errorf("%d views that differ by 3 MiB each are kept", n)
	}
	for n := range 20 {
		have, _ = have.add(&View{Revision: int64(n) + 7, changed: 100}, 8)
	}
	if n := len(have.recent); n != 8 {
		t.Errorf("%d views that differ by 100 bytes each are kept", n)
	}
}

// TestViewTakesItsSums: a view that a request holds takes what its objects do, and what the sums do
// by which other releases count its pods.
func TestViewTakesItsSums(t *testing.T) {
	h := open(t, t.TempDir(), Options{})
	v := upload(t, h, decoded(t, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"allocatable":{"cpu":"4"}}}`),
		decoded(t, `{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"d","name":"resized"},"spec":{"nodeName":"n","containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]},
			"status":{"phase":"Running","allocatedResources":{"cpu":"2"},"resources":{"requests":{"cpu":"2"}}}}`))
	sums, objects := v.State.ViewsBytes(), objectBytes*int64(v.inv.weight())
	budget := memory.New(1 << 30)
	claim := budget.Claim()
	var held holds
	if err := held.hold(memory.With(t.Context(), claim), v); err != nil {
		t.Fatal(err)
	}
	if sums == 0 || budget.Used() != objects+sums {
		t.Errorf("%d bytes are taken for objects of %d and sums of %d", budget.Used(), objects, sums)
	}
	list := viewCache{keep: 2, heavy: 2*v.inv.weight() + 1}
	for _, cluster := range []string{"a", "b"} {
		list.put(&View{Cluster: cluster, Revision: 1, inv: v.inv, State: v.State})
	}
	if len(list.list) != 1 {
		t.Error("views are kept as if they had no sums")
	}
	if claim.End(); budget.Used() != 0 {
		t.Errorf("%d bytes stay taken", budget.Used())
	}
}
