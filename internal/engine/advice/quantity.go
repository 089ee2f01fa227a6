package advice

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// quantity writes an amount as the detail of a resource counts it.
func quantity(name string, n int64) resource.Quantity {
	switch unitOf(name) {
	case "millicores":
		return *resource.NewMilliQuantity(n, resource.DecimalSI)
	case "bytes":
		return *resource.NewQuantity(n, resource.BinarySI)
	}
	return *resource.NewQuantity(n, resource.DecimalSI)
}
