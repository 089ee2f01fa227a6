package record

import (
	"sync"
	"sync/atomic"

	"berth/internal/engine"
	"berth/internal/engine/explain/digest"
)

// digests hashes answers beside the decisions, and compares the digests with the recorded ones.
// Which of them differ is not known then, only that some do.
type digests struct {
	open   *encodings      // takes the next answer; nil: to be taken from free
	free   chan *encodings // those that are not hashed now
	going  sync.WaitGroup
	differ atomic.Bool
}

// encodings are answers in a row, which are hashed together.
type encodings struct {
	b    []byte
	ends []int
	want []string // the recorded digests
}

// encodingsBytes is from how many bytes on answers are hashed, and encodingsAtOnce how many rows of
// them there are: the decisions wait where the hashes are behind.
const encodingsBytes, encodingsAtOnce = 128 << 10, 4

func newDigests() *digests {
	d := &digests{free: make(chan *encodings, encodingsAtOnce)}
	for range encodingsAtOnce {
		d.free <- new(encodings)
	}
	return d
}

// add encodes a result, which may be released then.
func (d *digests) add(form digest.Form, r *engine.Result, recorded string) {
	if d.open == nil {
		d.open = <-d.free
	}
	e := d.open
	if e.b == nil {
		e.b = make([]byte, 0, encodingsBytes+encodingsBytes/8)
	}
	e.b = form.Append(e.b, r)
	e.ends, e.want = append(e.ends, len(e.b)), append(e.want, recorded)
	if len(e.b) >= encodingsBytes {
		d.hash()
	}
}

// hash lets what was added be hashed.
func (d *digests) hash() {
	e := d.open
	if e == nil {
		return
	}
	d.open = nil
	d.going.Go(func() {
		from := 0
		for i, end := range e.ends {
			if text := digest.Sum(e.b[from:end]); string(text[:]) != e.want[i] {
				d.differ.Store(true)
			}
			from = end
		}
		clear(e.want)
		e.b, e.ends, e.want = e.b[:0], e.ends[:0], e.want[:0]
		d.free <- e
	})
}

// agree waits for all hashes and reports whether each was as recorded.
func (d *digests) agree() bool {
	d.hash()
	d.going.Wait()
	return !d.differ.Load()
}
