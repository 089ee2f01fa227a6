package decisionlog

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestKeptPacks: what is given again is what packing it anew gives, whoever asks beside.
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
	js, again := []byte(packedInput), new(keptPacks)
	first, second, third := again.pack(js), again.pack(js), again.pack(js)
	if &first[0] == &second[0] || &second[0] != &third[0] {
		t.Error("an input that came twice is not given again, or one that came once is kept")
	}
}

// BenchmarkKeptPacks packs one input again and again, and inputs that each come once, by 64 callers
// with stacks of their own.
func BenchmarkKeptPacks(b *testing.B) {
	var count atomic.Uint32
	run := func(name string, again bool, pack func([]byte) []byte) {
		b.Run(name, func(b *testing.B) {
			b.SetParallelism(32)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				js := []byte(packedInput)
				uid := bytes.Index(js, []byte("0bf2ba53"))
				for pb.Next() {
					if !again {
						copy(js[uid:], fmt.Sprintf("%08x", count.Add(1)))
					}
					pack(js)
				}
			})
		})
	}
	var kept keptPacks
	run("again", true, kept.pack)
	run("again_anew", true, packAnew)
	run("once", false, kept.pack)
	run("once_anew", false, packAnew)
}
