package suggest

import (
	"slices"
	"strconv"

	"berth/internal/engine/rules"
	"berth/internal/words"

	"k8s.io/apimachinery/pkg/api/resource"
)

// quantity writes an amount in the unit in which details count the resource.
func quantity(name string, n int64) resource.Quantity {
	switch rules.UnitOf(name) {
	case "millicores":
		return *resource.NewMilliQuantity(n, resource.DecimalSI)
	case "bytes":
		return *resource.NewQuantity(n, resource.BinarySI)
	}
	return *resource.NewQuantity(n, resource.DecimalSI)
}

// units are the units of each kind of amount, the largest first.
var units = map[string][]struct {
	name string
	size int64
}{
	"millicores": {{"", 1000}, {"m", 1}},
	"bytes":      {{"Ei", 1 << 60}, {"Pi", 1 << 50}, {"Ti", 1 << 40}, {"Gi", 1 << 30}, {"Mi", 1 << 20}, {"Ki", 1 << 10}, {"", 1}},
	"count":      {{"", 1}},
}

// Amounts writes amounts of a resource in one unit, the largest of which all are whole numbers:
// 100m and 2000m rather than 100m and 2, since that 2 reads as millicores too.
func Amounts(of string, list ...int64) []string {
	out := make([]string, len(list))
	for _, u := range units[rules.UnitOf(of)] {
		if slices.ContainsFunc(list, func(n int64) bool { return n%u.size != 0 }) {
			continue
		}
		for i, n := range list {
			out[i] = strconv.FormatInt(n/u.size, 10) + u.name
		}
		break
	}
	return out
}

// Texts writes amounts of a resource as people do: cpu in one unit, bytes with at most one decimal.
func Texts(of string, list []int64) []string {
	if of != "memory" && of != "ephemeral-storage" {
		return Amounts(of, list...)
	}
	out := make([]string, len(list))
	for i, n := range list {
		out[i] = words.Size(n)
	}
	return out
}

// rounded is Amounts with bytes rounded up to whole mebibytes where all are at least one. The exact
// numbers are answered as well.
func rounded(of string, list ...int64) []string {
	if rules.UnitOf(of) == "bytes" && slices.Min(list) >= 1<<20 {
		for i, n := range list {
			list[i] = (n + 1<<20 - 1) >> 20 << 20
		}
	}
	return Amounts(of, list...)
}
