package exchange

import "testing"

// TestCountingIsNoDecoder holds the count to what it is there for: it never takes a body for larger
// than it is.
func TestCountingIsNoDecoder(t *testing.T) {
	b := JSONBounds{depth: 3, tokens: 6, depthSetting: "d", tokenSetting: "t"}
	for body, limit := range map[string]string{
		`{"a":[{"b":1}]}`: "", `{"a":[[{}]]}`: "d", `{"a":"[[[[[["}`: "", `{"a":"\"[[[[{{{{"}`: "", `[1,2,3,4,5]`: "", `[1,2,3,4,5,6]`: "t",
		`[-1.5e10, true ,null,"x"]`: "", `[[],[],[],[],[],[]]`: "t", ``: "", `"`: "", `{"a`: "", `"\`: "",
	} {
		err := b.check([]byte(body))
		if (err == nil) != (limit == "") || err != nil && Translate(err).Limit != limit {
			t.Errorf("%s: %v, want %q", body, err, limit)
		}
	}
}
