package object

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	kjson "sigs.k8s.io/json"
)

func TestUnknownFields(t *testing.T) {
	for _, c := range []struct{ doc, want string }{
		{`{"spec":{"nodeSelectr":{"a":"b"}}}`, "spec.nodeSelectr: unknown field: did you mean nodeSelector?"},
		{`{"spec":{"tolerationss":[]}}`, "spec.tolerationss: unknown field: did you mean tolerations?"},
		{`{"spec":{"topologySpreadConstraint":[]}}`, "spec.topologySpreadConstraint: unknown field: did you mean topologySpreadConstraints?"},
		{`{"spec":{"schedulingGate":[]}}`, "spec.schedulingGate: unknown field: did you mean schedulingGates?"},
		{`{"spec":{"containers":[{"name":"a"},{"requests":{"cpu":"1"}}]}}`, "spec.containers[1].requests: unknown field: did you mean resources.requests?"},
		{`{"spec":{"containers":[{"tolerations":[]}]}}`, "spec.containers[0].tolerations: unknown field: did you mean spec.tolerations?"},
		{`{"nodeSelector":{}}`, "nodeSelector: unknown field: did you mean spec.nodeSelector?"},
		{`{"metadata":{"nodeName":"n1"}}`, "metadata.nodeName: unknown field: did you mean spec.nodeName?"},
		{`{"spec":{"nodeselector":{}}}`, "spec.nodeselector: unknown field: did you mean nodeSelector?"},
		{`{"spec":{"zzz":{"nodeSelectr":1}}}`, "spec.zzz: unknown field"},
		{`{"spec":{"nodeName":"a","nodeName":"b"}}`, "spec.nodeName: duplicate field"},
		{`{"metadata":{"labels":{"a":"1","a":"2"}}}`, "metadata.labels.a: duplicate field"},
		{`{"metadata":{"labels":{"a/b":"1","a/b":"2"}}}`, `metadata.labels["a/b"]: duplicate field`},
		{`{"spec":{"volumes":[{"name":"v","emptyDir":{"medum":"Memory"}}]}}`, "spec.volumes[0].emptyDir.medum: unknown field: did you mean medium?"},
		{`{"metadata":{"managedFields":[{"fieldsV1":{"f:spec":{"x":1}}}]},"spec":{"nodeSelector":{"anything":"goes"}},"status":{"phase":"Running"}}`, ""},
		{`{"spec":"a string","metadata":[1,2]}`, ""}, // for the decoder
		// What an earlier release had is known, and no other field is taken for it.
		{`{"spec":{"workloadRef":{"name":"w"}},"status":{"nodeAllocatableResourceClaimStatuses":[{"resourceClaimName":"c","resources":{"cpu":"1"}}]}}`, ""},
		{`{"spec":{"workloadRef":{},"workloadRef":{}}}`, "spec.workloadRef: duplicate field"},
		{`{"spec":{"workloadReff":{}}}`, "spec.workloadReff: unknown field"},
		{` { "\u0073pec" : { "nodeNam\u0065" : null , "x" : [ { } , 1.5e3 , true ] } } `, "spec.x: unknown field"},
	} {
		list, total := UnknownFields([]byte(c.doc), &corev1.Pod{})
		var got []string
		for _, u := range list {
			got = append(got, u.Path+": "+u.Message())
		}
		if text := strings.Join(got, "; "); text != c.want || total != len(list) {
			t.Errorf("%s:\n got %s (%d)\nwant %s", c.doc, text, total, c.want)
		}
	}
}

// A body full of unknown fields is counted, and only the first are worded.
func TestUnknownFieldsAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, `,"field%d":%d`, i, i)
	}
	list, total := UnknownFields([]byte("{"+b.String()[1:]+"}"), &corev1.Pod{})
	if len(list) != maxUnknown || total != 5000 {
		t.Errorf("%d listed of %d", len(list), total)
	}
}

// Every kept kind's own type is read to its end: an object with all of its fields
// has no unknown one.
func TestSchemasOfAllKinds(t *testing.T) {
	for name, k := range kinds {
		js, err := json.Marshal(k.alloc())
		if err != nil {
			t.Fatal(err)
		}
		if list, _ := UnknownFields(js, k.alloc()); len(list) > 0 {
			t.Errorf("%s: %v", name, list)
		}
		if s := fieldsOf(k.goType); !slices.Contains(s.names, "metadata") || !slices.Contains(s.names, "apiVersion") {
			t.Errorf("%s has %v", name, s.names)
		}
	}
}

// FuzzUnknownFields holds the walk to the strict decoder that apiservers use: both
// find something, or neither does, whatever the body is.
func FuzzUnknownFields(f *testing.F) {
	for _, doc := range []string{
		`{"spec":{"nodeSelectr":{"a":"b"},"containers":[{"name":"a","requests":{}}]}}`,
		`{"metadata":{"labels":{"a":"1","a":"2"}},"spec":{"nodeName":"a","nodeName":"b"}}`,
		`{"spec":{"volumes":[{"emptyDir":{"sizeLimit":"1Gi"}}],"affinity":null},"status":{"x":[[],{}]}}`,
		`{"metadata":{"labels":{"1":"","2":"","3":"","4":"","5":"","6":"","7":"","8":"","9":"","9":""}}}`,
		"{\"spec\" :\t{ } , \"\\u0073pec\":{\"x\\\"y\\\\\":\"\\\"\"}}",
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if checkObject(doc, Limits{}) != nil {
			return
		}
		list, total := UnknownFields(doc, &corev1.Pod{})
		strict, err := kjson.UnmarshalStrict(doc, &corev1.Pod{})
		if err != nil {
			return // another shape than the type's: there the decoder stops
		}
		if (len(strict) > 0) != (total > 0) {
			t.Fatalf("%q: found %v, the strict decoder %v", doc, list, strict)
		}
	})
}
