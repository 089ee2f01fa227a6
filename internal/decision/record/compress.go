package record

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"berth/internal/revision"
)

// dictionary1 is text as inputs have it, which are too short and too much alike
// to be compressed each for itself. It never changes: a record names it by its
// number, and a better one gets the next number beside it.
//
//go:embed dictionary1.txt
var dictionary1 string

const dictionary = 1

// coders returns the encoder and decoder that know the dictionary. Both may be
// used by any number of goroutines at once.
var coders = sync.OnceValues(func() (*zstd.Encoder, *zstd.Decoder) {
	text := []byte(strings.TrimSuffix(dictionary1, "\n"))
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false), zstd.WithWindowSize(1<<20),
		zstd.WithLowerEncoderMem(true), zstd.WithEncoderConcurrency(2), zstd.WithEncoderDictRaw(dictionary, text))
	if err != nil {
		panic(fmt.Sprintf("zstd encoder options: %v", err)) // options are constant
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(1<<30), zstd.WithDecoderDictRaw(dictionary, text))
	if err != nil {
		panic(fmt.Sprintf("zstd decoder options: %v", err))
	}
	return e, d
})

// Inputs of up to smallInput bytes are a byte shortForm and a block of S2, which takes an eighth of
// zstd's time for them; those of records from before that, and larger ones, are a frame of zstd.
const (
	smallInput = 8 << 10
	shortForm  = 1 // no frame of zstd and no JSON begins so
)

// shortCoder is S2 with the dictionary.
var shortCoder = sync.OnceValue(func() *s2.Dict {
	return s2.NewDict([]byte("\x00" + strings.TrimSuffix(dictionary1, "\n"))) // no first repeat
})

// buffers are for inputs on their way.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// pack compresses an input, where that makes it shorter. The result shares nothing with it, and is
// not to be changed: it may be given again.
func pack(js []byte) []byte {
	if len(js) <= keptInput {
		return packedBefore.pack(js)
	}
	return packAnew(js)
}

func packAnew(js []byte) []byte {
	if len(js) <= smallInput {
		buf := buffers.Get().(*bytes.Buffer)
		defer buffers.Put(buf)
		buf.Reset()
		buf.Grow(1 + s2.MaxEncodedLen(len(js)))
		room := append(buf.AvailableBuffer(), shortForm)
		z := shortCoder().Encode(room[1:cap(room)], js)
		if len(z)+1 >= len(js) {
			return bytes.Clone(js)
		}
		return bytes.Clone(room[:1+len(z)])
	}
	e, _ := coders()
	if z := e.EncodeAll(js, make([]byte, 0, len(js)/2+64)); len(z) < len(js) {
		return z
	}
	return bytes.Clone(js)
}

// InputText returns a record's input, as store.Decision has it, as the JSON that it
// is: it undoes pack, and reads inputs from before there was a dictionary, too.
func InputText(payload []byte) ([]byte, error) {
	if len(payload) > 0 && payload[0] == '{' {
		return payload, nil
	}
	if len(payload) > 0 && payload[0] == shortForm {
		if n, err := s2.DecodedLen(payload[1:]); err != nil || n > smallInput {
			return nil, fmt.Errorf("decompress: %d bytes: %w (%w)", n, revision.ErrCorrupt, err)
		}
		js, err := shortCoder().Decode(nil, payload[1:])
		if err != nil {
			return nil, fmt.Errorf("decompress: %w (%w)", revision.ErrCorrupt, err)
		}
		return js, nil
	}
	_, d := coders()
	js, err := d.DecodeAll(payload, nil)
	if err != nil {
		return nil, fmt.Errorf("decompress: %w (%w)", revision.ErrCorrupt, err)
	}
	return js, nil
}
