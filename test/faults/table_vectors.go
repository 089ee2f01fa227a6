package main

import "strings"

// engineRoom is where the golden vectors and their test are.
const engineRoom = "internal/engine"

// vectorFaults are faults of one line that the golden vectors alone have to find,
// in the order of the plugins of the default profile, then of what they have in
// common. Add one for every new rule.
var vectorFaults = []edit{
	{"internal/engine/rules/node_unschedulable.go", `Effect: corev1.TaintEffectNoSchedule}`, `Effect: corev1.TaintEffectNoExecute}`},
	{"internal/engine/rules/tolerations.go", `return taint.Effect == corev1.TaintEffectNoSchedule || taint.Effect == corev1.TaintEffectNoExecute`, `return taint.Effect == corev1.TaintEffectNoSchedule`},
	{"internal/engine/rules/taint_toleration.go", `rej.Add(ReasonTaint, engine.UnschedulableAndUnresolvable, out)`, `rej.Add(ReasonTaint, engine.Unschedulable, out)`},
	{"internal/engine/rules/taint_toleration.go", `if t.Effect == "" || t.Effect == corev1.TaintEffectPreferNoSchedule {`, `if t.Effect == corev1.TaintEffectPreferNoSchedule {`},
	{"internal/engine/rules/taint_toleration.go", `engine.NormalizeByMax(feasible, out, true)`, `engine.NormalizeByMax(q.Nodes.Alive(), out, true)`},
	{"internal/engine/rules/node_affinity.go", `if f.Key != "metadata.name" || f.Operator != corev1.NodeSelectorOpIn {`, `if f.Key != "metadata.name" {`},
	{"internal/engine/rules/node_affinity.go", `if required == nil && a.enforced() == nil && q.Pod.Spec.NodeSelector == nil {`, `if required == nil && q.Pod.Spec.NodeSelector == nil {`},
	{"internal/engine/rules/node_affinity.go", `rej.Add(ReasonAffinity, engine.UnschedulableAndUnresolvable, out)`, `rej.Add(ReasonAffinity, engine.Unschedulable, out)`},
	{"internal/engine/rules/node_affinity.go", `out.Raw[row] += int64(t.Weight)`, `out.Raw[row]++`},
	{"internal/engine/state/nodeselector.go", `corev1.NodeSelectorOpLt:           selection.LessThan,`, `corev1.NodeSelectorOpLt:           selection.GreaterThan,`},
	{"internal/engine/rules/node_ports.go", `return ports, engine.PreFilterResult{Skip: len(ports) == 0}`, `return ports, engine.PreFilterResult{Skip: len(ports) <= 1}`},
	{"internal/engine/state/tables.go", `(p.IP == o.IP || p.IP == anyIP || o.IP == anyIP)`, `(p.IP == o.IP || p.IP == anyIP)`},
	{"internal/engine/rules/node_resources_fit.go", `if int64(u.Pods) < c.Pods && cpu`, `if int64(u.Pods) <= c.Pods && cpu`},
	{"internal/engine/rules/node_resources_fit.go", `shortMemory && memory > c.Memory || shortDisk && disk > c.Ephemeral {`, `shortMemory && memory > c.Memory {`},
	{"internal/engine/rules/node_resources_fit.go", `if s.N > have-held[k] {`, `if s.N > have {`},
	{"internal/engine/rules/node_resources_fit.go", `slices.Contains(f.Ignored, name) || slices.Contains(f.IgnoredGroups, group)`, `slices.Contains(f.Ignored, name) && group != ""`},
	{"internal/engine/rules/resource_scoring.go", `return (capacity - requested) * engine.MaxScore / capacity`, `return engine.MaxScore - requested*engine.MaxScore/capacity`},
	{"internal/engine/rules/resource_scoring.go", `return min(requested, capacity) * engine.MaxScore / capacity`, `return engine.MaxScore - least(requested, capacity)`},
	{"internal/engine/rules/resource_scoring.go", `if ratio && n <= 0 {`, `if ratio && n < 0 {`},
	{"internal/engine/rules/resource_scoring.go", `sum += n * a.weight`, `sum += n`},
	{"internal/engine/rules/node_resources_balanced_allocation.go", `return engine.MaxScore/2 + (engine.MaxScore/2+after-before)/2`, `return (engine.MaxScore + after - before) / 2`},
	{"internal/engine/rules/node_resources_balanced_allocation.go", `std = math.Sqrt(sum / float64(n))`, `std = math.Sqrt(sum / float64(n-1))`},
	{"internal/engine/rules/image_locality.go", `spread := float64(len(rows)) / float64(q.Nodes.Count())`, `spread := float64(len(rows)) / float64(feasible.Count())`},
	{"internal/engine/rules/image_locality.go", `counted := len(spec.InitContainers) + len(spec.Containers)`, `counted := len(spec.Containers)`},
	{"internal/engine/rules/volume_restrictions.go", `slices.Contains(c.Spec.AccessModes, corev1.ReadWriteOncePod) && `, `len(c.Spec.AccessModes) > 0 && `},
	{"internal/engine/rules/volume_restrictions.go", `rej.Add(ReasonDiskConflict, engine.Unschedulable, taken)`, `rej.Add(ReasonDiskConflict, engine.UnschedulableAndUnresolvable, taken)`},
	{"internal/engine/rules/node_volume_limits.go", `int64(a.Held(d.driver, int32(row))+more) > limits[row]`, `int64(a.Held(d.driver, int32(row))+more) >= limits[row]`},
	{"internal/engine/rules/volume_binding_match.go", `return capacity.Cmp(size) >= 0`, `return capacity.Cmp(size) > 0`},
	{"internal/engine/rules/volume_binding_work.go", `return limit != nil && limit.Value() >= bytes`, `return limit != nil && limit.Value() > 0`},
	{"internal/engine/rules/volume_zone.go", `rej.Add(ReasonVolumeZone, engine.UnschedulableAndUnresolvable, out)`, `rej.Add(ReasonVolumeZone, engine.Unschedulable, out)`},
	{"internal/engine/state/volumeindex.go", `return a.size.Cmp(b.size)`, `return b.size.Cmp(a.size)`},
	{"internal/engine/rules/dynamic_resources.go", `rej.Add(reason, engine.UnschedulableAndUnresolvable, by[reason])`, `rej.Add(reason, engine.Unschedulable, by[reason])`},
	{"internal/engine/rules/dynamic_resources.go", `total += int64(resourcev1.FirstAvailableDeviceRequestMaxSize - k)`, `total += int64(resourcev1.FirstAvailableDeviceRequestMaxSize)`},
	{"internal/engine/rules/dynamic_resources_state.go", `(!s.reaches(i, row) || s.rule.overdue(q, c) ||`, `(!s.reaches(i, row) && s.rule.overdue(q, c) ||`},
	{"internal/engine/rules/dynamic_resources_state.go", `if failed || ready || c.Status`, `if failed || !ready || c.Status`},
	{"internal/engine/devices/capacity.go", `if want.Cmp(*r.Min) < 0 {`, `if want.Cmp(*r.Min) > 0 {`},
	{"internal/engine/devices/constraints.go", `if !qualified || domain != d.slice.Spec.Driver {`, `if !qualified || domain == d.slice.Spec.Driver {`},
	{"internal/engine/devices/constraints.go", `if len(a.requests) == 0 || slices.Contains(a.requests, r.base()) {`, `if slices.Contains(a.requests, r.base()) {`},
	{"internal/engine/devices/counters.go", `if t.Effect != resourcev1.DeviceTaintEffectNoSchedule && t.Effect != resourcev1.DeviceTaintEffectNoExecute {`, `if t.Effect != resourcev1.DeviceTaintEffectNoSchedule {`},
	{"internal/engine/devices/extended.go", `if n > most {`, `if n < most {`},
	{"internal/engine/devices/held.go", `if yes(r.AdminAccess) {`, `if !yes(r.AdminAccess) {`},
	{"internal/engine/devices/pools.go", `case len(have) == 0 || sl.Spec.Pool.Generation > have[0].Spec.Pool.Generation:`, `case len(have) == 0 || sl.Spec.Pool.Generation < have[0].Spec.Pool.Generation:`},
	{"internal/engine/devices/pools.go", `return append(plain, conditional...), nil`, `return append(conditional, plain...), nil`},
	{"internal/engine/rules/pod_topology_spread.go", `if c.self {`, `if !c.self {`},
	{"internal/engine/rules/pod_topology_spread.go", `if n.domains >= int(c.minDomains) && met >= n.domains && n.domains > 0 {`, `if met >= n.domains && n.domains > 0 {`},
	{"internal/engine/rules/pod_topology_spread.go", `over[v] = c.skew(int32(v)) > c.MaxSkew`, `over[v] = c.skew(int32(v)) >= c.MaxSkew`},
	{"internal/engine/rules/pod_topology_spread_constraint.go", `minDomains: 1, honorAffinity: true,`, `minDomains: 1, honorAffinity: false,`},
	{"internal/engine/rules/pod_topology_spread_constraint.go", `out.AndNot(tainted)`, `out.And(tainted)`},
	{"internal/engine/rules/pod_topology_spread_score.go", `out.weight = math.Log(float64(size + 2))`, `out.weight = math.Log(float64(size + 1))`},
	{"internal/engine/rules/pod_topology_spread_score.go", `return len(q.Pod.Spec.TopologySpreadConstraints) > 0 || !p.System`, `return len(q.Pod.Spec.TopologySpreadConstraints) > 0`},
	{"internal/engine/rules/inter_pod_affinity.go", `alone := !s.anyNear && s.first`, `alone := !s.anyNear`},
	{"internal/engine/rules/inter_pod_affinity.go", `rej.Add(ReasonExistingAntiAffinity, engine.Unschedulable, out)`, `rej.Add(ReasonExistingAntiAffinity, engine.UnschedulableAndUnresolvable, out)`},
	{"internal/engine/rules/inter_pod_affinity.go", `if !selectsAll(s.required[1:], shape.Namespace, shape.Labels) {`, `if false {`},
	{"internal/engine/rules/inter_pod_affinity_score.go", `return -int64(t.Weight), true`, `return int64(t.Weight), true`},
	{"internal/engine/rules/inter_pod_affinity_score.go", `return int64(a.HardWeight), a.HardWeight > 0`, `return 1, a.HardWeight > 0`},
	{"internal/engine/rules/inter_pod_affinity_score.go", `if a.IgnoreExisting && !own {`, `if a.IgnoreExisting {`},
	{"internal/engine/rules/node_declared_features.go", `if !slices.Contains(have, n) {`, `if !slices.Contains(have[:min(1, len(have))], n) {`},
	{"internal/engine/decide.go", `p.Gates && len(gates) > 0 {`, `len(gates) > 0 {`},
	{"internal/engine/nominated.go", `q.State.PriorityOf(p) < q.Priority() {`, `q.State.PriorityOf(p) <= q.Priority() {`},
	{"internal/engine/profile.go", `return scheduler == p.Name || slices.Contains(p.Siblings, scheduler)`, `return scheduler == p.Name`},
	{"internal/engine/preempt/search.go", `p.Terminating && p.EvictedByScheduler &&`, `p.Terminating &&`},
	{"internal/engine/preempt/search.go", `s.potential.AndNot(r.Rejected[i].Unresolvable)`, `_ = r.Rejected[i].Unresolvable`},
	{"internal/engine/state/ranking.go", `func(i int) bool { return k.Of[i].Priority < priority })`, `func(i int) bool { return k.Of[i].Priority <= priority })`},
	{"internal/engine/state/ranking.go", `return cmp.Compare(b.priority, a.priority)`, `return cmp.Compare(a.priority, b.priority)`},
	{"internal/engine/preempt/allowances.go", `uint64(uint32(a.left[i]) >> 31)`, `uint64(uint32(a.left[i]-1) >> 31)`},
	{"internal/engine/preempt/choice.go", `return cmp.Compare(c.violations, o.violations)`, `return cmp.Compare(o.violations, c.violations)`},
	{"internal/engine/preempt/choice.go", `return cmp.Compare(o.earliest, c.earliest)`, `return cmp.Compare(c.earliest, o.earliest)`},
	{"internal/engine/state/resources.go", `if cpu || memory {`, `if cpu && memory {`},
}

func vectorRows() []row {
	out := make([]row, 0, len(vectorFaults))
	for _, e := range vectorFaults {
		name := strings.TrimPrefix(e.File, engineRoom+"/") + ": " + e.New
		// The file of vectors that is most likely to find it first, then all.
		out = append(out, row{name: name, words: e.File + e.Old + e.New, edits: []edit{e}, runs: []run{vectorRun(likely(e.File)), vectorRun("*")}})
	}
	return out
}

func vectorRun(files string) run {
	return run{
		pkg: "./" + engineRoom, test: "TestVectors", env: "BERTH_VECTORS=" + vectorFiles(files),
		failure: "--- FAIL: TestVectors/", // that no vectors were found is no verdict
	}
}

func vectorFiles(name string) string { return "testdata/vectors/" + name + ".json.gz" }

// likely is the file of vectors that is made for a rule.
func likely(file string) string {
	if release, ok := strings.CutPrefix(file, "internal/semantics/v1_"); ok {
		return "v1." + strings.TrimSuffix(release, ".go")
	}
	for _, subject := range []struct{ word, vectors string }{
		{"preempt", "preempt"},
		{"volume", "volumes"},
		{"dynamic", "devices"},
		{"devices/", "devices"},
	} {
		if strings.Contains(file, subject.word) {
			return subject.vectors
		}
	}
	return "basic"
}
