package record

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/revision"
)

const packedInput = `{"v":1,"pod":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-1","namespace":"shop","uid":"0bf2ba53-2b57-5d2b-8d4e-8d3f6a1d7f3c","labels":{"app":"web"}},"spec":{"containers":[{"name":"main","image":"registry.example/web:1","resources":{"requests":{"cpu":"500m","memory":"1Gi"}}}],"restartPolicy":"Always","schedulerName":"default-scheduler"},"status":{"phase":"Pending"}},"explain":"none"}`

// The input as releases have stored it: a frame of zstd, and the short form.
const (
	zstdInput = "28b52ffd4100018c009d0300540377656273686f7030626632626135332d326235372d356432622d386434652d3864336636613164376633637765622f7765623a317d1300ece60c7eb4019462014451c05d210208f9037485535964048c0501534582d9c280402ec0b17986f806506bc88b21172a281bb07c1ec613491908"
	s2Input   = "018c03b110150031107765622d318d32b1020c73686f70952e8c30626632626135332d326235372d356432622d386434652d38643366366131643766336311d71dc10877656232c40695053255040c6d61696e7d893e5604142f7765623a31867103521d04767403750d6225036e7b0108227d7dc1e91100146e6f6e65227d"
)

// TestStoredInputs reads inputs as releases have stored them: neither the dictionary nor the forms
// may change.
func TestStoredInputs(t *testing.T) {
	for name, stored := range map[string]string{
		"JSON": hex.EncodeToString([]byte(packedInput)),
		"zstd": zstdInput,
		"S2":   s2Input,
	} {
		payload, err := hex.DecodeString(stored)
		if err != nil {
			t.Fatal(err)
		}
		js, err := InputText(payload)
		if err != nil || string(js) != packedInput {
			t.Errorf("%s: %q, %v", name, js, err)
		}
	}
}

// TestPack: what is packed comes back, in little space, whatever its size.
func TestPack(t *testing.T) {
	long := strings.Replace(packedInput, `"none"`, `"`+strings.Repeat("none ", smallInput/5)+`"`, 1)
	for _, js := range []string{packedInput, long, `{}`, `{"v":1}`, packedInput[:smallInput%len(packedInput)]} {
		packed := pack([]byte(js))
		back, err := InputText(packed)
		if err != nil || string(back) != js || len(packed) > len(js) || len(js) > 300 && len(packed) > len(js)/2 {
			t.Errorf("%d bytes are packed to %d: %q, %v", len(js), len(packed), back, err)
		}
	}
	if packed := pack([]byte(packedInput)); packed[0] != shortForm {
		t.Errorf("a small input begins with %d", packed[0])
	}
	for _, damaged := range [][]byte{{shortForm}, {shortForm, 0xff, 0xff, 0xff, 0xff, 0x7f, 0}, pack([]byte(packedInput))[:40], {2, 3}} {
		if js, err := InputText(damaged); !errors.Is(err, revision.ErrCorrupt) {
			t.Errorf("%x: %q, %v", damaged, js, err)
		}
	}
}

// TestEncodeInput: an input is the JSON that encoding/json makes of it.
func TestEncodeInput(t *testing.T) {
	for _, in := range []*input{
		{Version: 1},
		{Version: 1, Bind: "n1", Effects: "sha256:0"},
		{Version: 1, Evaluated: Evaluated{PodJSON: json.RawMessage(`{"a":"<&>"}`)}},
		{Version: 1, Evaluated: Evaluated{PodJSON: json.RawMessage(`{}`), Explain: "none", NoPreemption: true, Only: &candidates{Names: []string{"a<b"}}, Nodes: []json.RawMessage{[]byte(`{"b":1}`)}}},
		{Version: 1, Evaluated: Evaluated{Explain: "full"}},
		{Version: 1, Evaluated: Evaluated{PodJSON: json.RawMessage(`{}`), Explain: "full"}},
		{Version: 1, Evaluated: Evaluated{PodJSON: json.RawMessage(`{}`), NoPreemption: true}},
		{Version: 1, Evaluated: Evaluated{PodJSON: json.RawMessage(`{}`), ScoreAlways: true}},
		{Version: 1, Evaluated: Evaluated{PodJSON: json.RawMessage(`{}`), Suggest: true}},
		{Version: 1, Evaluated: Evaluated{PodJSON: json.RawMessage(`{}`), Victims: &[]engine.NodeVictims{}}},
		{Version: 1, Evaluated: Evaluated{PodJSON: json.RawMessage(`{}`), Class: &decision.StoredClass{}}},
		{Version: 1, Evaluated: Evaluated{PodJSON: json.RawMessage(`{}`), Excluded: []decision.Excluded{{}}}},
		{Version: 1, Evaluated: Evaluated{PodJSON: json.RawMessage(`{}`)}, Effects: "sha256:0"},
	} {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(in); err != nil {
			t.Fatal(err)
		}
		packed, err := in.encode()
		if err != nil {
			t.Fatal(err)
		}
		if js, err := InputText(packed); err != nil || string(js)+"\n" != want.String() {
			t.Errorf("%s, want %s (%v)", js, want.String(), err)
		}
	}
}

// TestStoredInputsStay holds inputs to the names that records of earlier releases have.
func TestStoredInputsStay(t *testing.T) {
	for want, in := range map[string]*input{
		`{"v":1,"bind":"n1","along":"sha256:0"}`: {Version: 1, Bind: "n1", Effects: "sha256:0"},
		`{"v":1,"pod":{"a":"<&>"},"only":{"names":["a<b"]},"nodes":[{"b":1}],"explain":"full","noPreemption":true,"scoreAlways":true,"suggest":true}`: {
			Version: 1, Evaluated: Evaluated{
				PodJSON: json.RawMessage(`{"a":"<&>"}`), Explain: "full", NoPreemption: true, ScoreAlways: true, Suggest: true,
				Only: &candidates{Names: []string{"a<b"}}, Nodes: []json.RawMessage{[]byte(`{"b":1}`)},
			},
		},
		`{"v":1,"pod":{},"victims":[],"class":{"name":"","value":0},"gone":[{"namespace":"","name":"","uid":""}]}`: {
			Version: 1, Evaluated: Evaluated{PodJSON: json.RawMessage(`{}`), Victims: &[]engine.NodeVictims{}, Class: &decision.StoredClass{}, Excluded: []decision.Excluded{{}}},
		},
		`{"v":1,"result":{"node":"","outcome":""}}`: {Version: 1, Result: &BindResult{}},
	} {
		packed, err := in.encode()
		if err != nil {
			t.Fatal(err)
		}
		if js, err := InputText(packed); err != nil || string(js) != want {
			t.Errorf("%s, want %s (%v)", js, want, err)
		}
	}
}

// BenchmarkPack packs and reads a usual input, beside zstd with the same dictionary.
func BenchmarkPack(b *testing.B) {
	z, _ := coders()
	for name, f := range map[string]func([]byte) []byte{
		"pack": pack, "zstd": func(js []byte) []byte { return z.EncodeAll(js, nil) },
	} {
		packed := f([]byte(packedInput))
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f([]byte(packedInput))
			}
			b.ReportMetric(float64(len(packed)), "bytes")
		})
		b.Run(fmt.Sprint(name, "_read"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := InputText(packed); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
