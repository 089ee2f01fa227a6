package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestBlockersAreBounded: ten names and 1 kB at most, what does not fit is counted, and what is
// written is a JSON list without NUL.
func TestBlockersAreBounded(t *testing.T) {
	list := func(n, size int) (out []Blocker) {
		for i := range n {
			out = append(out, Blocker{"NodeResourcesFit", "Pod", "shop", fmt.Sprintf("%0*d", size, i), "Deployment", "web"})
		}
		return out
	}
	for _, c := range []struct {
		what        string
		list        []Blocker
		more        int
		kept, moreN int
	}{
		{"two", list(2, 5), 0, 2, 0},
		{"more than are kept", list(12, 5), 3, 10, 5},
		{"long names", list(10, 253), 1, 3, 8},
		{"a name that is too long", list(1, 2000), 0, 0, 1},
		{"a name with NUL", []Blocker{{"p", "Pod", "a\x00b", `q"ü\`, "", ""}}, 0, 1, 0},
	} {
		text := EncodeBlockers(c.list, c.more)
		var got []any
		if err := json.Unmarshal([]byte(text), &got); err != nil || len(text) > maxBlockerBytes || strings.Contains(text, nul) {
			t.Errorf("%s: %d bytes, %v: %s", c.what, len(text), err, text)
			continue
		}
		if len(got) != c.kept+1 || got[0] != float64(c.moreN) {
			t.Errorf("%s: %s", c.what, text)
		}
		if err := validateEncoded("blockers", text); err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	if text := EncodeBlockers(nil, 0); text != "" {
		t.Errorf("of none: %s", text)
	}
	const want = `[0,["VolumeBinding","PersistentVolume","","pv"]]`
	if text := EncodeBlockers([]Blocker{{Plugin: "VolumeBinding", Kind: "PersistentVolume", Name: "pv"}}, 0); text != want {
		t.Errorf("%s, want %s", text, want)
	}
}
