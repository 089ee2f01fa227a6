package object

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// What a real apiserver printed must be read whole, in JSON and as YAML, to
// the same canonical bytes.
func TestReadSharedData(t *testing.T) {
	for name, want := range map[string]map[string]int{
		"spread.json": {"Node": 20, "Pod": 63},
		"rich.json":   {},
	} {
		t.Run(name, func(t *testing.T) {
			path := sharedFile(t, "data/apiserver/"+name)
			if path == "" {
				return
			}
			body, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			objs := mustRead(t, string(body), JSON)
			counts := map[string]int{}
			for _, o := range objs {
				counts[o.Kind]++
			}
			for kind, n := range want {
				if counts[kind] != n {
					t.Errorf("%s: %d, want %d", kind, counts[kind], n)
				}
			}
			if counts["Node"] == 0 || counts["Pod"] == 0 {
				t.Errorf("counts = %v", counts)
			}
			asYAML, err := yaml.JSONToYAML(body)
			if err != nil {
				t.Fatal(err)
			}
			again := mustRead(t, string(asYAML), YAML)
			if len(again) != len(objs) {
				t.Fatalf("YAML yields %d objects, JSON %d", len(again), len(objs))
			}
			for i := range objs {
				if !bytes.Equal(objs[i].JSON, again[i].JSON) {
					t.Errorf("%v (-json +yaml):\n%s", objs[i].Key, cmp.Diff(string(objs[i].JSON), string(again[i].JSON)))
				}
			}
			if strings.Contains(string(asYAML), "kube-api-access") && bytes.Contains(objs[len(objs)-1].JSON, []byte("kube-api-access")) {
				t.Error("projected volumes survive")
			}
			checkFixedPoint(t, objs)
		})
	}
}

// checkFixedPoint reads each object's canonical bytes again.
func checkFixedPoint(t *testing.T, objs []Object) {
	t.Helper()
	for _, o := range objs {
		again, err := Decode(o.JSON, Limits{MaxObjectBytes: 64 << 20})
		if err != nil {
			t.Fatalf("read %v again: %v\n%s", o.Key, err, o.JSON)
		}
		if !bytes.Equal(o.JSON, again.JSON) {
			t.Errorf("%v isn't a fixed point:\n%s\n%s", o.Key, o.JSON, again.JSON)
		}
		trusted, err := FromCanonical(o.Kind, o.JSON)
		if err != nil {
			t.Fatalf("FromCanonical %v: %v", o.Key, err)
		}
		js, err := Encode(trusted.Value)
		if err != nil || !bytes.Equal(js, o.JSON) {
			t.Errorf("Encode(FromCanonical(%v)) differs: %v\n%s\n%s", o.Key, err, o.JSON, js)
		}
	}
}
