package record

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestKeptPacks: a packed form that was kept is what packing anew returns, whatever else is packed
// at the same time.
func TestKeptPacks(t *testing.T) {
	var kept keptPacks
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 3 * keptInputs {
				js := []byte(strings.Replace(packedInput, "web-1", fmt.Sprint("web-", i/3), 1))
				want := packAnew(js)
				if got := kept.pack(js); !bytes.Equal(got, want) {
					t.Errorf("%d: %x, want %x", i, got, want)
				}
				clear(js) // the caller's buffer is used again
			}
		})
	}
	all.Wait()
	js, fresh := []byte(packedInput), new(keptPacks)
	first, second, third := fresh.pack(js), fresh.pack(js), fresh.pack(js)
	if &first[0] == &second[0] || &second[0] != &third[0] {
		t.Error("an input that came twice is not kept, or one that came once is")
	}
}

// BenchmarkKeptPacks packs one input many times, and inputs that each come once, by 64 callers
// with stacks of their own.
func BenchmarkKeptPacks(b *testing.B) {
	var count atomic.Uint32
	run := func(name string, same bool, pack func([]byte) []byte) {
		b.Run(name, func(b *testing.B) {
			b.SetParallelism(32)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				js := []byte(packedInput)
				uid := bytes.Index(js, []byte("0bf2ba53"))
				for pb.Next() {
					if !same {
						copy(js[uid:], fmt.Sprintf("%08x", count.Add(1)))
					}
					pack(js)
				}
			})
		})
	}
	var kept keptPacks
	run("twice", true, kept.pack)
	run("twice_anew", true, packAnew)
	run("once", false, kept.pack)
	run("once_anew", false, packAnew)
}
