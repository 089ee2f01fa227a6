package oracle

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// TestDistinctAttributeIsForgotten pins what kube-scheduler's search for devices does
// with distinctAttribute: when it takes back the second device of a request, it also
// forgets the value of the first, so that r gets two blue devices on n1. On n2 no
// other device follows the one that is taken back, and the claim is refused.
func TestDistinctAttributeIsForgotten(t *testing.T) {
	device := func(name, color string) string {
		return `{"name":"` + name + `","attributes":{"color":{"string":"` + color + `"}}}`
	}
	slice := func(node string, devices ...string) string {
		return `{"kind":"ResourceSlice","apiVersion":"resource.k8s.io/v1","metadata":{"name":"` + node + `"},"spec":{"driver":"gpu.example.com","nodeName":"` + node + `","pool":{"name":"` + node + `","generation":1,"resourceSliceCount":1},"devices":[` + strings.Join(devices, ",") + `]}}`
	}
	c := &Case{Pod: Key{"default", "p"}}
	for _, o := range []string{
		n1, n2,
		slice("n1", device("d0", "blue"), device("d1", "red"), device("d2", "blue")),
		slice("n2", device("d0", "blue"), device("d1", "blue"), device("d2", "red")),
		`{"kind":"DeviceClass","apiVersion":"resource.k8s.io/v1","metadata":{"name":"any"},"spec":{}}`,
		`{"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1","metadata":{"name":"c","namespace":"default"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"any","allocationMode":"ExactCount","count":2}},{"name":"b","exactly":{"deviceClassName":"any","allocationMode":"ExactCount","count":1,"selectors":[{"cel":{"expression":"device.attributes[\"gpu.example.com\"].color == \"red\""}}]}}],"constraints":[{"distinctAttribute":"gpu.example.com/color"}]}}}`,
		p(`"resourceClaims":[{"name":"c","resourceClaimName":"c"}]`, ""),
	} {
		c.Objects = append(c.Objects, json.RawMessage(o))
	}
	if bad, err := Invalid(c); err != nil || len(bad) > 0 {
		t.Fatalf("invalid case: %v %v", bad, err)
	}
	got, err := Alone(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if l := got["n1"]; len(l) != 0 {
		t.Errorf("n1: %v", l)
	}
	if l := got["n2"]; len(l) != 1 || l[0].Plugin != "DynamicResources" {
		t.Errorf("n2: %v", l)
	}
}
