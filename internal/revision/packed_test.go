package revision

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"berth/internal/kube/object"
	"berth/test/enginetest"
)

// largeObjects reads the objects of a large cluster, one at a time.
func largeObjects(tb testing.TB, size enginetest.Size) object.Reader {
	return func(yield func(object.Object) error) (map[string]int, error) {
		list := enginetest.Large(size)
		for i, o := range list {
			list[i] = nil
			js, err := object.Encode(o)
			if err != nil {
				tb.Fatal(err)
			}
			obj, err := object.Decode(js, object.Limits{})
			if err != nil {
				tb.Fatal(err)
			}
			if err := yield(obj); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
}

// Packed objects are the same bytes as whole ones, in a tenth of the memory, and so they are after
// changes, binds and deletions of their bases.
func TestPackedObjects(t *testing.T) {
	v, err := collect(t.Context(), largeObjects(t, enginetest.Size{Nodes: 100, Pods: 2000, Apps: 20}))
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	plain := new(inventory).draft()
	plain.whole = true
	var keys []object.Key
	for e := range v.inv.all() {
		plain.put(newEntry(e.key, e.json()))
		keys = append(keys, e.key)
	}
	packed := v.inv.draft()
	for i := range 3000 {
		k := keys[r.IntN(len(keys))]
		switch have := plain.inv.get(k); {
		case have == nil:
		case i%3 == 0:
			plain.remove(k)
			packed.remove(k)
		default:
			js := bytes.Replace(have.json(), []byte(`"node-`), fmt.Appendf(nil, `"node-%d-`, i), 1+i%2)
			plain.put(newEntry(k, js))
			packed.put(newEntry(k, js))
		}
	}
	want, err := plain.done(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := packed.done(nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.digest() != want.digest() || got.bytes != want.bytes || got.n != want.n {
		t.Errorf("%d objects of %d bytes with %s, want %d of %d with %s", got.n, got.bytes, got.digest(), want.n, want.bytes, want.digest())
	}
	kept, seen := 0, map[*entry]bool{}
	for e := range got.all() {
		if e.base != nil && e.base.base != nil {
			t.Fatalf("%v has a base that has one", e.key)
		}
		for e := e; e != nil && !seen[e]; e = e.base {
			seen[e] = true
			kept += len(e.text)
		}
		if js := want.get(e.key).json(); !bytes.Equal(e.json(), js) || e.size() != len(js) {
			t.Fatalf("%v is %s (%d bytes), want %s", e.key, e.json(), e.size(), js)
		}
	}
	if kept > want.bytes/5 {
		t.Errorf("%d bytes are kept of %d", kept, want.bytes)
	}
}

// TestAll reads packed objects into one buffer.
func TestAll(t *testing.T) {
	v, err := collect(t.Context(), largeObjects(t, enginetest.Size{Nodes: 10, Pods: 200, Apps: 5}))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for k, js := range v.All() {
		if want, _ := v.Object(k); !bytes.Equal(js, want) {
			t.Fatalf("%v is %s, want %s", k, js, want)
		}
		n++
	}
	if n != v.inv.n {
		t.Errorf("%d of %d objects", n, v.inv.n)
	}
	allocs := testing.AllocsPerRun(5, func() {
		for range v.All() {
		}
	})
	if allocs > 10 {
		t.Errorf("%.0f allocations for %d objects", allocs, n)
	}
}

// A small object does not keep a large one in memory.
func TestLargeBases(t *testing.T) {
	d := new(inventory).draft()
	put := func(name string, bytes int) *entry {
		k := object.Key{Kind: "Pod", Namespace: "d", Name: name}
		d.put(newEntry(k, fmt.Appendf(nil, `{"kind":"Pod","name":%q,"text":"%s"}`, name, text(bytes))))
		return d.inv.get(k)
	}
	for _, tt := range []struct {
		name  string
		bytes int
		base  string
	}{
		{"a-1", 3000, ""},
		{"a-2", 3000, "a-1"},
		{"a-3", 500, ""}, // the base is too large for it
		{"a-4", 500, "a-3"},
		{"b-1", maxBase + 1, ""},
		{"b-2", maxBase + 1, ""}, // nothing as large is a base
		{"c-1", 50, ""},
		{"c-2", 50, ""}, // too small to be worth it
	} {
		e, base := put(tt.name, tt.bytes), ""
		if e.base != nil {
			base = e.base.key.Name
		}
		if base != tt.base {
			t.Errorf("%s is packed against %q, want %q", tt.name, base, tt.base)
		}
	}
	for i := range 2*maxBases/maxBase + 2 {
		put(fmt.Sprintf("own%d-x", i), maxBase-100)
	}
	if n := d.inv.bases.bytes; n > maxBases || len(d.inv.bases.byKey) == 0 {
		t.Errorf("bases hold %d bytes, and at most %d are allowed", n, maxBases)
	}
}

// text returns text without repeats.
func text(n int) []byte {
	r, out := rand.New(rand.NewPCG(3, 4)), make([]byte, n)
	for i := range out {
		out[i] = 'a' + byte(r.IntN(26))
	}
	return out
}

func FuzzDelta(f *testing.F) {
	f.Add([]byte(`{"name":"app-1","node":"node-17"}`), []byte(`{"name":"app-22","node":"node-3"}`))
	f.Add([]byte(""), []byte("abcdefgh"))
	f.Add([]byte("abcdefghabcdefgh"), []byte("abcdefghabcdefghabcdefgh"))
	f.Add(text(5000), append(text(4000), text(3000)...))
	f.Fuzz(func(t *testing.T, base, js []byte) {
		base = base[:min(len(base), maxBase)]
		delta := new(packBuffer).appendDelta(nil, base, js)
		if got := applyDelta(nil, delta, base); !bytes.Equal(got, js) {
			t.Errorf("the delta %q of %q is read as %q, want %q", delta, base, got, js)
		}
	})
}

// BenchmarkObject reads an object that is packed.
func BenchmarkObject(b *testing.B) {
	v, err := collect(b.Context(), largeObjects(b, enginetest.Size{Nodes: 10, Pods: 100, Apps: 1}))
	if err != nil {
		b.Fatal(err)
	}
	k := object.Key{Kind: "Pod", Namespace: "team-00", Name: "app-000-000099"}
	e := v.inv.get(k)
	whole := newEntry(k, e.json())
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			e.json()
		}
	})
	b.Run("pack", func(b *testing.B) {
		for b.Loop() {
			whole.against(e.base)
		}
	})
}

// BenchmarkResident is what a large cluster takes in memory, in MB: everything, and the objects'
// JSON if it were not packed.
func BenchmarkResident(b *testing.B) {
	for b.Loop() {
		v, err := collect(context.Background(), largeObjects(b, enginetest.FullSize))
		if err != nil {
			b.Fatal(err)
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/1e6, "heap-MB")
		b.ReportMetric(float64(v.inv.bytes)/1e6, "json-MB")
		runtime.KeepAlive(v)
	}
}
