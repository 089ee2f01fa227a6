package revision

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"berth/internal/jsonscan"
	"berth/internal/kube/object"
	"berth/internal/memory"
	"berth/internal/steps"
)

// checkpointMagic heads a checkpoint's content and carries its version.
const checkpointMagic = "berth-checkpoint-1\n"

// largeCheckpoint is the size from which on what coding a checkpoint takes beside its content is
// counted.
const largeCheckpoint = 1 << 20

// codingBytes is what zstd's encoder or decoder takes of a large checkpoint, its window included.
const codingBytes = 32 << 20

// maxStored bounds one stored string or object, so that a damaged length
// cannot ask for all the memory.
const maxStored = 64 << 20

// encodeCheckpoint writes a whole state: zstd over the header, the number of
// objects, and each object as kind, namespace, name and canonical JSON, each
// with its length, in order of the keys.
func encodeCheckpoint(ctx context.Context, inv *inventory) ([]byte, error) {
	out := &pieces{ctx: ctx}
	// No larger a window than there is content: a reader of the checkpoint makes room for all of
	// it.
	window := min(max(1<<bits.Len(uint(inv.bytes)), zstd.MinWindowSize), 8<<20)
	if inv.bytes > largeCheckpoint {
		if err := memory.Take(ctx, codingBytes); err != nil {
			return nil, err
		}
	}
	z, err := zstd.NewWriter(out, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window))
	if err != nil {
		return nil, fmt.Errorf("encode checkpoint: %w", err)
	}
	buf := append(make([]byte, 0, 64<<10), checkpointMagic...)
	buf = binary.AppendUvarint(buf, uint64(inv.n))
	text := func(s string) {
		buf = binary.AppendUvarint(buf, uint64(len(s)))
		buf = append(buf, s...)
	}
	var read []byte // the object at hand, if it is packed
	count := steps.Of(ctx)
	list, err := inv.sorted(count)
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		if err := count.Take(e.size()); err != nil {
			return nil, err
		}
		text(e.key.Kind)
		text(e.key.Namespace)
		text(e.key.Name)
		buf = binary.AppendUvarint(buf, uint64(e.size()))
		if e.base == nil {
			buf = append(buf, e.text...)
		} else {
			read = e.read(read)
			buf = append(buf, read...)
		}
		if len(buf) > 32<<10 {
			if _, err := z.Write(buf); err != nil {
				return nil, fmt.Errorf("encode checkpoint: %w", err)
			}
			buf = buf[:0]
		}
	}
	if _, err := z.Write(buf); err != nil {
		return nil, fmt.Errorf("encode checkpoint: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("encode checkpoint: %w", err)
	}
	return slices.Concat(out.list...), nil
}

// pieces collects bytes. What it keeps is not copied while it grows, and is taken from the budget
// twice: it is put together in the end.
type pieces struct {
	ctx  context.Context
	list [][]byte
}

func (w *pieces) Write(p []byte) (int, error) {
	if err := memory.Take(w.ctx, 2*int64(len(p))); err != nil {
		return 0, err
	}
	w.list = append(w.list, bytes.Clone(p))
	return len(p), nil
}

// checkpointStep is how many bytes of memory are taken at a time for a checkpoint, at least.
const checkpointStep = 1 << 20

// room takes the memory of objects before they are read.
type room struct {
	take        func(bytes int) error // may be nil
	need, taken int
}

func (r *room) object(bytes int) error {
	if r.need += max(objectBytes, 1<<10+3*bytes); r.take == nil || r.need <= r.taken {
		return nil
	}
	more := max(checkpointStep, r.need-r.taken)
	r.taken += more
	return r.take(more)
}

// decodeCheckpoint reads a state back. Objects equal to those of share are taken from there, so
// that revisions of one cluster hold their common objects once. take reserves memory before the
// objects that need it are read; it may be nil.
func decodeCheckpoint(payload []byte, share *inventory, take func(bytes int) error) (*inventory, error) {
	z, err := zstd.NewReader(bytes.NewReader(payload), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	defer z.Close()
	r := bufio.NewReaderSize(z, 64<<10)
	head := make([]byte, len(checkpointMagic))
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, fmt.Errorf("checkpoint's header: %w", err)
	}
	if string(head) != checkpointMagic {
		return nil, fmt.Errorf("checkpoint of an unknown form %q", head)
	}
	n, err := binary.ReadUvarint(r)
	if err != nil {
		return nil, fmt.Errorf("checkpoint's count: %w", err)
	}
	kinds := map[string]string{}
	first, space := new(inventory), room{take: take}
	if share != nil {
		first.bases = share.bases
	}
	d := first.draft()
	for i := range n {
		e, err := readEntry(r, kinds, &space)
		if err != nil {
			return nil, fmt.Errorf("checkpoint's object %d: %w", i, err)
		}
		if share != nil {
			if have := share.get(e.key); have != nil && have.sum == e.sum {
				e = have
			}
		}
		if d.put(e) != nil {
			return nil, fmt.Errorf("checkpoint's object %d: %v is there twice", i, e.key)
		}
	}
	if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
		return nil, errors.New("checkpoint goes on after its end")
	}
	return d.done(nil)
}

func readEntry(r *bufio.Reader, kinds map[string]string, space *room) (*entry, error) {
	var parts [4][]byte
	for i := range parts {
		n, err := binary.ReadUvarint(r)
		if err != nil {
			return nil, err
		}
		if n > maxStored {
			return nil, fmt.Errorf("a length of %d bytes", n)
		}
		if i == len(parts)-1 {
			if err := space.object(int(n)); err != nil {
				return nil, err
			}
		}
		parts[i] = make([]byte, n)
		if _, err := io.ReadFull(r, parts[i]); err != nil {
			return nil, err
		}
	}
	kind, ok := kinds[string(parts[0])]
	if !ok {
		kind = string(parts[0])
		kinds[kind] = kind
	}
	return newEntry(object.Key{Kind: kind, Namespace: string(parts[1]), Name: string(parts[2])}, parts[3]), nil
}

// change is a revision's difference to its parent, as it is stored.
type change struct {
	Apply  []json.RawMessage `json:"apply,omitempty"`
	Delete []object.Key      `json:"delete,omitempty"`
	Bind   *boundTo          `json:"bind,omitempty"`
}

// boundTo is a change by which the parent's pod of that name got a node and nothing else of it
// changed.
type boundTo struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Node      string `json:"node"`
}

// smallest is the size from which on a change is worth compressing. A pod that comes with its bind
// is below: zstd would halve its 700 bytes, and take as long as a decision, and half of that in
// each replay.
const smallest = 1 << 10

var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// coders are shared: EncodeAll and DecodeAll may be called at the same time.
var coders = sync.OnceValues(func() (*zstd.Encoder, *zstd.Decoder) {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(2), zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(fmt.Sprintf("zstd encoder options: %v", err)) // options are constant
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(1<<30))
	if err != nil {
		panic(fmt.Sprintf("zstd decoder options: %v", err))
	}
	return e, d
})

// Pack compresses a stored payload where that makes it shorter. The payload
// must not begin with zstd's magic number, as JSON never does.
func Pack(js []byte) []byte {
	if len(js) < smallest {
		return js
	}
	enc, _ := coders()
	if z := enc.EncodeAll(js, make([]byte, 0, len(js)/2)); len(z) < len(js) {
		return z
	}
	return js
}

// Unpack undoes Pack.
func Unpack(payload []byte) ([]byte, error) {
	if !bytes.HasPrefix(payload, zstdMagic) {
		return payload, nil
	}
	_, dec := coders()
	js, err := dec.DecodeAll(payload, nil)
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	return js, nil
}

func encodeChange(c *change) ([]byte, error) {
	if len(c.Apply) == 1 && len(c.Delete) == 0 && c.Bind == nil { // canonical JSON goes in as it is
		return Pack(slices.Concat([]byte(applyHead), c.Apply[0], []byte(applyTail))), nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // the objects inside are canonical and must stay so
	if err := enc.Encode(c); err != nil {
		return nil, fmt.Errorf("encode change: %w", err)
	}
	return Pack(bytes.TrimSuffix(buf.Bytes(), []byte("\n"))), nil
}

func decodeChange(payload []byte) (*change, error) {
	js, err := Unpack(payload)
	if err != nil {
		return nil, fmt.Errorf("change: %w", err)
	}
	if c := quickChange(js); c != nil {
		return c, nil
	}
	c := &change{}
	if err := json.Unmarshal(js, c); err != nil {
		return nil, fmt.Errorf("change: %w", err)
	}
	return c, nil
}

const (
	applyHead  = `{"apply":[`
	applyTail  = "]}"
	deleteHead = `{"delete":[`
)

// quickChange reads the change that only applies objects, or only deletes some,
// which most are, as encodeChange writes it; nil where it is another.
func quickChange(js []byte) *change {
	if bytes.HasPrefix(js, []byte(deleteHead)) {
		return quickDeletes(js)
	}
	if !bytes.HasPrefix(js, []byte(applyHead)) {
		return nil
	}
	c := &change{}
	for at := len(applyHead); at < len(js) && js[at] == '{'; at++ {
		end := jsonscan.ValueEnd(js, at)
		if end < 0 {
			return nil
		}
		c.Apply = append(c.Apply, js[at:end:end])
		if at = end; string(js[at:]) == applyTail {
			return c
		}
		if at >= len(js) || js[at] != ',' {
			return nil
		}
	}
	return nil
}

func quickDeletes(js []byte) *change {
	c := &change{}
	for at := len(deleteHead); at < len(js) && js[at] == '{'; at++ {
		var k object.Key
		end := jsonscan.Members(js, at, func(key []byte, value int) bool {
			to := jsonscan.ValueEnd(js, value)
			if to < 0 || js[value] != '"' || bytes.IndexByte(js[value:to], '\\') >= 0 {
				return false
			}
			text := js[value+1 : to-1]
			switch string(key) {
			case "kind":
				if k.Kind = "Pod"; string(text) != "Pod" {
					k.Kind = string(text)
				}
			case "namespace":
				k.Namespace = string(text)
			case "name":
				k.Name = string(text)
			default:
				return false
			}
			return true
		})
		if end < 0 {
			return nil
		}
		c.Delete = append(c.Delete, k)
		if at = end; string(js[at:]) == "]}" {
			return c
		}
		if at >= len(js) || js[at] != ',' {
			return nil
		}
	}
	return nil
}
