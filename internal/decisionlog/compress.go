package decisionlog

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"berth/internal/cluster"
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

// pack compresses an input, where that makes it shorter.
func pack(js []byte) []byte {
	e, _ := coders()
	if z := e.EncodeAll(js, make([]byte, 0, len(js)/2+64)); len(z) < len(js) {
		return z
	}
	return js
}

// InputText returns a record's input, as store.Decision has it, as the JSON that it
// is: it undoes pack, and reads inputs from before there was a dictionary, too.
func InputText(payload []byte) ([]byte, error) {
	if len(payload) > 0 && payload[0] == '{' {
		return payload, nil
	}
	_, d := coders()
	js, err := d.DecodeAll(payload, nil)
	if err != nil {
		return nil, fmt.Errorf("decompress: %w (%w)", cluster.ErrCorrupt, err)
	}
	return js, nil
}
