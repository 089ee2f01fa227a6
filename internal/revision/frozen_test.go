package revision

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/klauspost/compress/zstd"

	"berth/internal/kube/object"
	"berth/test/enginetest"
)

// TestStoredRevisionsStay holds what is written of a revision to the bytes that earlier releases
// wrote: a whole state, its digest, and each form of a change. Compression is not part of it.
func TestStoredRevisionsStay(t *testing.T) {
	v, err := collect(t.Context(), largeObjects(t, enginetest.Size{Nodes: 30, Pods: 300, Apps: 9}))
	if err != nil {
		t.Fatal(err)
	}
	packed, err := encodeCheckpoint(t.Context(), v.inv)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	whole, err := z.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(whole)
	if got, want := hex.EncodeToString(sum[:]), "3774492363a71ba7e30c3a2599bc4c8d74725d3387394ccc06012e23bbcc6c00"; got != want {
		t.Errorf("a checkpoint of %d bytes has the sum %s, want %s", len(whole), got, want)
	}
	if got, want := v.inv.digest(), "sha256:03eb7008cfa758ddb6af87715fa4e2751de53a442a222fe0194fa1f6fc4c1271"; got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
	pod := object.Key{Kind: "Pod", Namespace: "d", Name: "<p>"}
	for want, c := range map[string]*change{
		`{"apply":[{"a":"<&>"}]}`: {Apply: []json.RawMessage{[]byte(`{"a":"<&>"}`)}},
		`{"apply":[{"a":1},{"a":2}],"delete":[{"kind":"Pod","namespace":"d","name":"<p>"}]}`: {
			Apply: []json.RawMessage{[]byte(`{"a":1}`), []byte(`{"a":2}`)}, Delete: []object.Key{pod},
		},
		`{"delete":[{"kind":"Pod","namespace":"d","name":"<p>"}]}`: {Delete: []object.Key{pod}},
		`{"bind":{"namespace":"d","name":"<p>","node":"n-1"}}`:     {Bind: &boundTo{Namespace: "d", Name: "<p>", Node: "n-1"}},
	} {
		got, err := encodeChange(c)
		if err != nil || string(got) != want {
			t.Errorf("change %s, %v, want %s", got, err, want)
		}
	}
}
