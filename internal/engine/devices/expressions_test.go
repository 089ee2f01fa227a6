package devices

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

// TestExpressionsAreThoseOfTheirRelease: what selectors answer, their errors word for word and what
// they cost is what the library of each release made of them (test/conformance/cmd/selectors).
func TestExpressionsAreThoseOfTheirRelease(t *testing.T) {
	for release, lists := range map[string]bool{"v1.36": false, "v1.37": true} {
		raw, err := os.ReadFile("testdata/selectors-" + release + ".json")
		if err != nil {
			t.Fatal(err)
		}
		type answer struct {
			Matches bool   `json:"matches"`
			Error   string `json:"error"`
			Cost    uint64 `json:"cost"`
		}
		type asked struct {
			Expression, Refused string
			On                  []answer
		}
		var file struct {
			Devices []resourcev1.Device
			Cases   []asked
		}
		if err := json.Unmarshal(raw, &file); err != nil {
			t.Fatal(err)
		}
		if len(file.Cases) < 300 {
			t.Fatalf("%d expressions of %s", len(file.Cases), release)
		}
		e := NewExpressions(lists)
		for _, c := range file.Cases {
			got := asked{Expression: c.Expression}
			compiled := e.compile(c.Expression)
			if compiled.Error != nil {
				got.Refused = compiled.Error.Error()
			}
			for i := range file.Devices {
				if compiled.Error != nil {
					break
				}
				d := &file.Devices[i]
				ok, details, err := compiled.DeviceMatches(context.Background(), dracel.Device{
					Driver: "gpu.example.com", AllowMultipleAllocations: d.AllowMultipleAllocations,
					Attributes: e.attributes(d.Attributes), Capacity: d.Capacity,
				})
				a := answer{Matches: ok}
				if err != nil {
					a.Error = err.Error()
				}
				if details != nil && details.ActualCost() != nil {
					a.Cost = *details.ActualCost()
				}
				got.On = append(got.On, a)
			}
			if d := cmp.Diff(c, got); d != "" {
				t.Errorf("%s (-want +got):\n%s", release, d)
			}
		}
	}
}
