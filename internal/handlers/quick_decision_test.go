package handlers

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

var wideBounds = jsonBounds{100, 1 << 20, "max-json-depth", "decision-max-tokens"}

// usualRequests are read without the strict decoder, the others by it.
var (
	usualRequests = []string{
		`{}`,
		`{"snapshot":"prod@latest","explain":"none","pod":{"kind":"Pod", "metadata":{"name":"ü\u0041"}}}`,
		`{"pod":{},"bind":true,"profile":"a","suggest":true,"dryRun":true}`,
	}
	otherRequests = []string{
		``, `null`, `[]`, `{"pod":{}}}`, `{"pod":{}} `, ` {"pod":{}}`, `{"pod": {}}`, `{"pod":{}`, `{"pod":{"a":tru}}`,
		`{"pod":{},"pod":{}}`, `{"bind":true,"bind":true}`, `{"bind":false}`, `{"bind":null}`, `{"snapshot":null}`,
		`{"snapshot":"a","snapshot":"b"}`, `{"snapshot":"a\u0041"}`, `{"snapshot":"ü"}`, "{\"snapshot\":\"\xff\"}", `{"snapshot":1}`,
		`{"pod":[]}`, `{"pod":null}`, `{"Pod":{}}`, `{"unknown":1}`, `{"podRef":{"name":"a"}}`, `{"preempt":false}`, `{"bind":"true"}`,
	}
)

func TestQuickDecision(t *testing.T) {
	for _, body := range usualRequests {
		if _, ok := quickDecision([]byte(body), wideBounds); !ok {
			t.Errorf("%s is left to the strict decoder", body)
		}
	}
	for _, body := range otherRequests {
		if req, ok := quickDecision([]byte(body), wideBounds); ok {
			t.Errorf("%s is read as %+v", body, req)
		}
	}
	if _, ok := quickDecision([]byte(`{"pod":{"a":[[1]]}}`), jsonBounds{depth: 3, tokens: 100}); ok {
		t.Error("a body that nests too deeply is read")
	}
}

// FuzzQuickDecision compares with the strict decoder.
func FuzzQuickDecision(f *testing.F) {
	for _, body := range append(usualRequests, otherRequests...) {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, ok := quickDecision(body, wideBounds)
		if !ok {
			return
		}
		var want DecisionRequest
		if err := decodeStrict(body, &want, wideBounds); err != nil {
			t.Fatalf("%q is read, and refused by the strict decoder: %v", body, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-strict +quick):\n%s", body, diff)
		}
	})
}

func BenchmarkDecodeDecision(b *testing.B) {
	body := []byte(`{"snapshot":"prod@latest","explain":"none","dryRun":true,"pod":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default","labels":{"app":"a"}},"spec":{"containers":[{"name":"main","image":"registry.example/app:1","resources":{"requests":{"cpu":"500m","memory":"1Gi"}}}],"tolerations":[{"key":"batch","operator":"Exists"}]}}}`)
	b.Run("quick", func(b *testing.B) {
		for b.Loop() {
			if _, ok := quickDecision(body, wideBounds); !ok {
				b.Fatal("not read")
			}
		}
	})
	b.Run("strict", func(b *testing.B) {
		for b.Loop() {
			var req DecisionRequest
			if err := decodeStrict(body, &req, wideBounds); err != nil {
				b.Fatal(err)
			}
		}
	})
}
