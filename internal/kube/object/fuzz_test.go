package object

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

var fuzzLimits = Limits{MaxDepth: 32, MaxTokens: 20_000, MaxObjectBytes: 1 << 20, MaxAliases: 2}

var fuzzSeeds = []string{
	`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"0.1"}}}]}}]}`,
	`{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":"n","labels":{"a":"b"}},"status":{"capacity":{"cpu":"4","memory":"1.5Gi"}}}]}`,
	`[{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b"},"status":{"disruptedPods":{"x":"2026-01-01T00:00:00Z"}}}]`,
	`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"app":"a"}},"spec":{"hostNetwork":true,"containers":[{"name":"c","ports":[{"containerPort":80}]}],"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule","labelSelector":{},"matchLabelKeys":["app"]}]}}`,
	`{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"s"},"provisioner":"x"} {"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"}}`,
}

// checkAccepted holds what every accepted object promises.
func checkAccepted(t *testing.T, objs []Object) {
	t.Helper()
	checkFixedPoint(t, objs)
}

// checkError holds that a refusal is one of ours.
func checkError(t *testing.T, err error) {
	t.Helper()
	var limit *LimitError
	var syntax *SyntaxError
	var invalid *InvalidError
	if err != nil && !errors.As(err, &limit) && !errors.As(err, &syntax) && !errors.As(err, &invalid) {
		t.Fatalf("an error of no known type: %T %v", err, err)
	}
	if err != nil && err.Error() == "" {
		t.Fatal("an error without a text")
	}
}

func FuzzReadJSON(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		objs, _, err := readAll(body, JSON, fuzzLimits)
		checkError(t, err)
		checkAccepted(t, objs)
	})
}

func FuzzReadYAML(f *testing.F) {
	f.Add("apiVersion: v1\nkind: Node\nmetadata:\n  name: n\nstatus:\n  capacity:\n    cpu: 4\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n")
	f.Add("apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata:\n    name: n\n- apiVersion: v1\n  kind: Node\n  metadata:\n    name: m\nkind: List\nmetadata:\n  resourceVersion: \"\"\n")
	f.Add("a: &a [1]\nb: *a\n")
	f.Fuzz(func(t *testing.T, body string) {
		objs, _, err := readAll(body, YAML, fuzzLimits)
		checkError(t, err)
		checkAccepted(t, objs)
	})
}

func FuzzDecodePod(f *testing.F) {
	f.Add(`{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}],"nodeSelector":{"a":"b"}}}`)
	f.Add(`{"metadata":{"name":"p","uid":"u"},"spec":{"overhead":{"cpu":"1e3"},"resources":{"limits":{"memory":"1G"}},"containers":[{"name":"c"}],"volumes":[{"name":"v","ephemeral":{"volumeClaimTemplate":{"spec":{}}}}]},"status":{"startTime":"2026-01-01T00:00:00Z"}}`)
	f.Fuzz(func(t *testing.T, body string) {
		p, err := DecodePod([]byte(body), fuzzLimits)
		checkError(t, err)
		if err != nil {
			return
		}
		js, err := Encode(p)
		if err != nil {
			t.Fatal(err)
		}
		checkAccepted(t, []Object{{Key: Key{Kind: "Pod", Namespace: p.Namespace, Name: p.Name}, Value: p, JSON: js}})
	})
}

// FromCanonical trusts what it gets, but it must fail on anything else without
// a panic, and hand back the very bytes.
func FuzzFromCanonical(f *testing.F) {
	for _, s := range fuzzSeeds[:4] {
		objs, _, err := readAll(s, JSON, Limits{})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(objs[0].Kind, objs[0].JSON)
	}
	f.Fuzz(func(t *testing.T, kindName string, js []byte) {
		o, err := FromCanonical(kindName, js)
		if err != nil {
			return
		}
		if string(o.JSON) != string(js) {
			t.Fatal("FromCanonical changed the bytes")
		}
		if p, ok := o.Value.(*corev1.Pod); ok && strings.Contains(string(js), p.Name) && o.Key.Name != p.Name {
			t.Fatalf("key %v isn't the pod's", o.Key)
		}
	})
}
