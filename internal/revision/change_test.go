package revision

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
)

// The change that one object makes is what encoding/json would write, and one of usual size is
// stored as it is: reading it again takes no decompression.
func TestChangeOfOneObject(t *testing.T) {
	for _, size := range []int{1, 600, 5000} {
		js := fmt.Appendf(nil, `{"kind":"Pod","text":"<a> & %s"}`, bytes.Repeat([]byte("x"), size))
		c := change{Apply: []json.RawMessage{js}}
		got, err := encodeChange(&c)
		if err != nil {
			t.Fatal(err)
		}
		if packed := bytes.HasPrefix(got, zstdMagic); packed != (size > 1000) {
			t.Errorf("%d bytes: packed is %v", size, packed)
		}
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(&c); err != nil {
			t.Fatal(err)
		}
		plain, err := Unpack(got)
		if err != nil || string(plain)+"\n" != want.String() {
			t.Errorf("%s (%v), want %s", plain, err, want.String())
		}
		read, err := decodeChange(got)
		if err != nil || len(read.Apply) != 1 || !bytes.Equal(read.Apply[0], js) {
			t.Errorf("read as %+v, %v", read, err)
		}
	}
}
