package gen

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

var textMutators = []mutator{
	{"spellings", (*odd).spellings},
	{"nulls", (*odd).nulls},
}

// spellings writes amounts as numbers of JSON and as texts that mean the same: with an exponent, a
// sign, leading zeros, a fraction of 0, or in thousandths. Who compares or hashes the text sees
// another object than upstream.
func (o *odd) spellings() {
	o.rewrites = append(o.rewrites, func(object tree) { o.respell(object) })
}

// respell changes the lists of resources below a value.
func (o *odd) respell(v any) {
	switch t := v.(type) {
	case tree:
		for _, k := range slices.Sorted(maps.Keys(t)) {
			list, ok := t[k].(tree)
			switch k {
			case "requests", "limits", "allocatable", "capacity", "overhead", "allocatedResources":
				if ok {
					o.respellList(list)
				}
			default:
				o.respell(t[k])
			}
		}
	case []any:
		for _, e := range t {
			o.respell(e)
		}
	}
}

func (o *odd) respellList(list tree) {
	for _, k := range slices.Sorted(maps.Keys(list)) {
		text, ok := list[k].(string)
		if !ok || o.chance(50) {
			continue
		}
		q, err := resource.ParseQuantity(text)
		if err != nil {
			continue
		}
		n, whole := q.AsInt64()
		device := strings.Contains(k, "/") // or may be one: see the README
		switch kind := o.IntN(7); {
		case kind == 0:
			list[k] = "+" + text
		case kind == 1 && k == "cpu":
			list[k] = json.Number(fmt.Sprintf("%g", q.AsApproximateFloat64()))
		case kind == 1 || !whole || n >= 1<<52: // a number of JSON would not be exact
		case kind == 2:
			list[k] = json.Number(fmt.Sprint(n))
		case device:
			list[k] = fmt.Sprintf(pick(o.maker, "%de0", "00%d"), n)
		case kind == 6 && n < 1<<40:
			list[k] = fmt.Sprintf("%d000m", n)
		default:
			list[k] = fmt.Sprintf(pick(o.maker, "%de0", "%d.0", "00%d"), n)
		}
	}
}

// nulls writes null, an empty list or an empty object for fields of pods that are absent, and
// metadata that no plugin reads: both mean nothing, and must not make another pod of it.
func (o *odd) nulls() {
	o.rewrites = append(o.rewrites, func(object tree) {
		spec, ok := object["spec"].(tree)
		if !ok || object["kind"] != "Pod" {
			return
		}
		for _, group := range []struct {
			empty  any
			fields []string
		}{
			{tree{}, []string{"affinity", "nodeSelector", "overhead", "resources"}},
			{[]any{}, []string{"tolerations", "topologySpreadConstraints", "volumes", "initContainers", "schedulingGates", "resourceClaims"}},
			{nil, []string{"priority", "priorityClassName", "schedulerName", "nodeName", "hostNetwork"}},
		} {
			for _, k := range group.fields {
				if _, there := spec[k]; !there && o.chance(33) {
					spec[k] = pick(o.maker, nil, group.empty)
				}
			}
		}
		if meta := object["metadata"].(tree); o.chance(33) {
			meta["annotations"], meta["managedFields"] = tree{"x": "y"}, []any{}
			for _, k := range []string{"labels", "ownerReferences"} {
				if _, there := meta[k]; !there {
					meta[k] = nil
				}
			}
		}
	})
}
