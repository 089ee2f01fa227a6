package rest

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
)

// TestLongListsAreStreamed: byte for byte what json.Marshal makes of them, without a copy of the
// whole.
func TestLongListsAreStreamed(t *testing.T) {
	for _, text := range []string{"plain", "<a&b>", "\u2028", "é\u2028\u2029>", "x\u2029"} {
		// As objects are kept: without escapes for HTML.
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(map[string]string{"a": strings.Repeat(text, streamed/len(text)/2)}); err != nil {
			t.Fatal(err)
		}
		item := bytes.TrimSpace(buf.Bytes())
		for _, list := range []ObjectList{{Items: []json.RawMessage{item, item, item}, Cursor: "next<"}, {Items: []json.RawMessage{item, item, item}}} {
			want, err := json.Marshal(list)
			if err != nil {
				t.Fatal(err)
			}
			w := httptest.NewRecorder()
			if err := writeObjects(t.Context(), w, &list); err != nil {
				t.Fatal(err)
			}
			if got := w.Body.Bytes(); !bytes.Equal(got, append(want, '\n')) {
				t.Errorf("%s: %d bytes are not the %d of json.Marshal", text, len(got), len(want))
			}
		}
	}
	item := json.RawMessage(`"` + strings.Repeat("x", 8<<20) + `"`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := writeObjects(t.Context(), discard{httptest.NewRecorder()}, &ObjectList{Items: []json.RawMessage{item, item}}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes are allocated for a list of 16 MiB", n)
	}
}

// discard is a writer that keeps nothing.
type discard struct{ *httptest.ResponseRecorder }

func (discard) Write(p []byte) (int, error) { return len(p), nil }
