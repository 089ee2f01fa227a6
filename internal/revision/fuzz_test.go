package revision

import (
	"context"
	"testing"
)

// FuzzCheckpoint reads any bytes as a checkpoint: an error, or a state that
// reads the same when written again.
func FuzzCheckpoint(f *testing.F) {
	empty, err := encodeCheckpoint(context.Background(), new(inventory))
	if err != nil {
		f.Fatal(err)
	}
	d := new(inventory).draft()
	d.put(newEntry(podKey("a"), []byte(`{"kind":"Pod"}`)))
	one, err := encodeCheckpoint(context.Background(), d.inventory())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(empty)
	f.Add(one)
	f.Add([]byte("junk"))
	f.Fuzz(func(t *testing.T, payload []byte) {
		inv, err := decodeCheckpoint(payload, nil, nil)
		if err != nil {
			return
		}
		again, err := encodeCheckpoint(context.Background(), inv)
		if err != nil {
			t.Fatal(err)
		}
		back, err := decodeCheckpoint(again, nil, nil)
		if err != nil || back.digest() != inv.digest() {
			t.Fatalf("%v", err)
		}
	})
}

// FuzzChange applies any bytes as a change: it ends without a panic, and what
// is left has a digest.
func FuzzChange(f *testing.F) {
	for _, c := range []string{"{}", `{"delete":[{"kind":"Pod","namespace":"d","name":"a"}]}`, `{"bind":{"namespace":"d","name":"a","node":"n"}}`, `{"apply":[{"kind":"Node","metadata":{"name":"n"}}]}`} {
		f.Add([]byte(c))
	}
	js := []byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"d"},"spec":{"containers":null}}`)
	f.Fuzz(func(t *testing.T, payload []byte) {
		d := new(inventory).draft()
		d.put(newEntry(podKey("a"), js))
		d = d.inventory().draft()
		if err := d.apply(payload); err == nil && d.inventory().digest() == "" {
			t.Fatal("no digest")
		}
	})
}
