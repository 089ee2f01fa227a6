package main

import (
	"strings"
	"testing"
)

func TestSameAnswer(t *testing.T) {
	const a = `{"id":"1","createdAt":"t1","durationMicros":7,"node":"n1","scores":[1, 2]}`
	for name, c := range map[string]struct{ b, want string }{
		"the same":             {a, ""},
		"its own id and times": {`{"durationMicros":9,"createdAt":"t2","id":"2","node":"n1","scores":[1, 2]}`, ""},
		"another node":         {`{"id":"1","node":"n2","scores":[1, 2]}`, "field node"},
		"a field is missing":   {`{"id":"1","node":"n1"}`, "field scores"},
		"a field more":         {`{"id":"1","node":"n1","scores":[1, 2],"extra":true}`, "field extra"},
		"other bytes":          {`{"id":"1","node":"n1","scores":[1,2]}`, "field scores"},
		"no JSON":              {`{`, "decode"},
	} {
		err := sameAnswer([]byte(a), []byte(c.b))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
