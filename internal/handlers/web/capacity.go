package web

import (
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"

	"berth/internal/scenario"
	"berth/internal/words"
)

// capacityView is how full the cluster is.
type capacityView struct {
	scenario.Capacity
	Summary string
	Rows    []resourceRow
	Sizes   []shapeRow
}

type resourceRow struct {
	scenario.ResourceCapacity
	Bar template.HTML
	// Allocatable and the others are written with units.
	AllocatableText, RequestedText, FreeText, StrandedText string
	Percent                                                int
}

type shapeRow struct {
	scenario.ShapeCapacity
	Text string
}

func capacityData(v *visit) string {
	return v.ofCluster([]string{"capacity"}, "pool", "snapshot")
}

func loadCapacity(v *visit) (string, any, error) {
	if v.cluster == "" {
		return "Capacity", nil, nil
	}
	c := &scenario.Capacity{}
	if err := v.get(capacityData(v), c); err != nil {
		return "", nil, err
	}
	return "Capacity of " + c.Snapshot, capacityOf(c), nil
}

func capacityOf(c *scenario.Capacity) *capacityView {
	view := &capacityView{Capacity: *c}
	for _, r := range view.Resources {
		row := resourceRow{ResourceCapacity: r, Bar: bar(percent(r.Requested, r.Allocatable), 100, "warn"), Percent: percent(r.Requested, r.Allocatable)}
		text := amounts(r.Resource, []int64{r.Allocatable, r.Requested, r.Free, r.Stranded})
		row.AllocatableText, row.RequestedText, row.FreeText, row.StrandedText = text[0], text[1], text[2], text[3]
		view.Rows = append(view.Rows, row)
	}
	for _, s := range view.Shapes {
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(s.Requests)) {
			parts = append(parts, name+" "+amounts(name, []int64{s.Requests[name]})[0])
		}
		view.Sizes = append(view.Sizes, shapeRow{s, strings.Join(parts, ", ")})
	}
	n := view.Nodes
	view.Summary = fmt.Sprintf("%s of %s in use; by resources alone %s would hold their pods.", words.Count(n.InUse), words.Plural(n.Total, "node"), words.Count(n.Bound))
	return view
}

// percent is a part of a whole, rounded down; a resource that no node has is not used.
func percent(part, whole int64) int {
	if whole <= 0 {
		return 0
	}
	return int(float64(part) / float64(whole) * 100)
}
