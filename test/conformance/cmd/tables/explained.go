package main

import (
	"fmt"
	"slices"

	"berth/test/conformance/tables/play"
)

// explanation excuses one scenario that berth and upstream's plugin differ in,
// by the plugin's name and the scenario's. Why was read in upstream's code.
type explanation struct{ plugin, scenario, why string }

// ungated: VolumeBinding scores only behind a gate that is off by default.
const ungated = "needs StorageCapacityScoring, an alpha gate that is off by default; kube-scheduler itself refuses the argument `shape` without it"

// explained are all that is excused. A row that differs no longer, or that no
// scenario has, fails the run: take it out.
var explained = []explanation{
	{"VolumeBinding", "TestVolumeBinding/local_volumes_with_close_capacity_are_preferred", ungated},
	{"VolumeBinding", "TestVolumeBinding/local_volumes_with_close_capacity_are_preferred_(multiple_pvcs)", ungated},
	{"VolumeBinding", "TestVolumeBinding/zonal_volumes_with_close_capacity_are_preferred", ungated},
	{"VolumeBinding", "TestVolumeBinding/zonal_volumes_with_close_capacity_are_preferred_(custom_shape)", ungated},
	{"VolumeBinding", "TestVolumeBinding/storage_capacity_score", ungated},
	{"VolumeBinding", "TestVolumeBinding/storage_capacity_score_with_static_binds", ungated},
	{"VolumeBinding", "TestVolumeBinding/dynamic_provisioning_with_multiple_PVCs_of_the_same_StorageClass", ungated},
	{"VolumeBinding", "TestVolumeBinding/prefer_node_with_least_allocatable", ungated},
	{"VolumeBinding", "TestVolumeBinding/prefer_node_with_maximum_allocatable", ungated},
	{"DynamicResources", "TestPlugin/canceled/filter/worker", "the test cancels the call's context before it makes it; a request that is given up has no answer"},
}

// excuses is the table at work: which of its rows are still to be met.
type excuses struct{ left []explanation }

func newExcuses(list []explanation, plugins []string) *excuses {
	e := &excuses{}
	for _, x := range list {
		if slices.Contains(plugins, x.plugin) {
			e.left = append(e.left, x)
		}
	}
	return e
}

// of returns the reason for which a scenario that differs is excused, "" for none,
// and ticks the row off.
func (e *excuses) of(r *play.Result) string {
	i := slices.IndexFunc(e.left, func(x explanation) bool { return x.plugin == r.Plugin && x.scenario == r.Name })
	if r.Outcome != play.Differs || i < 0 {
		return ""
	}
	why := e.left[i].why
	e.left = slices.Delete(e.left, i, i+1)
	return why
}

// stale complains of the rows that excused nothing.
func (e *excuses) stale() (out []string) {
	for _, x := range e.left {
		out = append(out, fmt.Sprintf("%s %s is explained, but no such scenario differs any more", x.plugin, x.scenario))
	}
	return out
}
