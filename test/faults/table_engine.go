package main

// engineFaults are faults of the engine, its rules, preemption and devices.
var engineFaults = []fault{
	{"idle-score-left-out", "a plugin whose PreScore is off and which scores nothing is left out of the scores", "./internal/engine/rules", "TestScoresWithoutPreScore", []edit{
		{"internal/engine/score.go", `case s.skip && w.NoPreScore:`, `case false:`},
	}},
	{"nominated-outside", "a pod gets the node that it is nominated to, though nobody asked about that node", "./internal/engine", "TestCandidatesAreJudgedAsAmongAll", []edit{
		{"internal/engine/decide.go", `if row := q.Nodes.Row(nn); row >= 0 && q.Candidates.Has(row) {`, `if row := q.Nodes.Row(nn); row >= 0 {`},
	}},
	{"row-forgotten", "a Decider overlooks the last row that changed", "./internal/engine/recall", "TestDeciderAnswersAsDecideDoes", []edit{
		{"internal/engine/state/trail.go", `return append(rows, t.rows[place-t.from:]...), true`, `rows = append(rows, t.rows[place-t.from:]...)
	return rows[:max(0, len(rows)-1)], true`},
	}},
	{"answer-of-an-old-state", "a Decider answers as before a change that it did not look at", "./internal/engine/recall", "TestDeciderGivesResultsAgain", []edit{
		{"internal/engine/recall/keep.go", `if q.State == s.Under(m.key.profile.Counting) && o.Candidates`, `if o.Candidates`},
		{"internal/engine/recall/recall.go", `d.freeKept()`, ``},
	}},
	{"answer-of-another-node", "the explanation is of the node that an equal pod got", "./internal/engine/recall", "TestDeciderGivesResultsAgain", []edit{
		{"internal/engine/again.go", `if r.Row != row {`, `if row != r.Row && r.Row < 0 {`},
	}},
	{"sums-keep-a-score", "a score that is made anew counts twice, as it was before", "./internal/engine/recall", "TestRulesMayBeOfAnyMake", []edit{
		{"internal/engine/recall/memo_score.go", `m.summed = m.summed && s.summed() == was`, `_ = was`},
	}},
	{"reason-undigested", "the digest says which nodes a plugin failed, but not why", "./internal/engine", "TestDigestTellsAnswersApart", []edit{
		{"internal/engine/explain/digest/digest.go", `range byText(rej.Reasons) {`, `range byText(rej.Reasons)[:0] {`},
	}},
	{"one-form", "old records have the digest of a form that came later", "./internal/decision/record", "TestRecordsHaveTheDigestOfTheirTime", []edit{
		{"internal/engine/explain/digest/digest.go", `return Form2, true`, `return Form3, true`},
	}},
	{"upgrade-weightier-first", "words that differ are blamed on what has other pods evicted, too", "./internal/report", "TestUpgradeNamesEachRow", []edit{
		{"internal/upgrade/causes.go", ` && !slices.ContainsFunc(changes, left.Kind.of)`, ``},
	}},
	{"upgrade-nothing-differs", "a plugin that scores nothing makes a decision another one", "./internal/upgrade", "TestSame", []edit{
		{"internal/upgrade/compare.go", `d.Nodes[n].Scores = slices.DeleteFunc(slices.Clone(d.Nodes[n].Scores), nothing)`, `d.Nodes[n].Scores = slices.Clone(d.Nodes[n].Scores)`},
	}},
	{"upgrade-gone-kept", "an object in a version that goes is not named", "./internal/report", "TestUpgradeGoes", []edit{
		{"internal/upgrade/apis.go", `case i < 0 && names == nil:`, `case i < 0:
			return false
		case i < 0 && names == nil:`},
	}},
	{"upgrade-settings-silent", "a setting that the other release refuses is not named", "./internal/report", "TestUpgradeRefusesSettings", []edit{
		{"internal/report/upgrade.go", `out.Settings = ask.Refused`, `out.Settings = nil`},
	}},
	{"upgrade-words-fail", "another text of an error counts as a pod that fails", "./internal/upgrade", "TestCompare", []edit{
		{"internal/upgrade/compare.go", `case before.Err == nil || after.Err == nil:`, `case b != a:`},
	}},
	{"storage-pool-per-claim", "each claim of a class finds the whole pool again", "./internal/engine/rules", "TestVolumeBindingScores", []edit{
		{"internal/engine/rules/volume_binding_score.go", `u.capacity = pool.Capacity.Value()`, `u.capacity += pool.Capacity.Value()`},
	}},
	{"storage-pools-beside-volumes", "pools are scored where the pod gets an existing volume", "./internal/engine/rules", "TestVolumeBindingScores", []edit{
		{"internal/engine/rules/volume_binding_score.go", `existing(&uses, matched, row); len(uses) == 0 {`, `existing(&uses, matched, row); true {`},
	}},
	{"storage-fullest-first", "by default the fullest storage scores most", "./internal/engine/rules", "TestVolumeBindingScores", []edit{
		{"internal/engine/rules/volume_binding_args.go", `[]ShapePoint{{0, 10}, {100, 0}}`, `[]ShapePoint{{0, 0}, {100, 10}}`},
	}},
	{"storage-shape-without-gate", "a shape for volumes is taken where nothing is scored by it", "./internal/config", "TestErrors", []edit{
		{"internal/engine/rules/volume_binding_args.go", `case !in.under.StorageCapacityScoring && a.Shape != nil:`, `case a.Shape != nil && false:`},
	}},
	{"storage-driver-unasked", "a node is refused for a driver that does not ask for it", "./internal/engine/rules", "TestMissingDrivers", []edit{
		{"internal/engine/rules/node_volume_limits.go", `ptr.Deref(d.Spec.PreventPodSchedulingIfMissing, false)`, `ptr.Deref(d.Spec.PreventPodSchedulingIfMissing, true)`},
	}},
	{"storage-every-driver", "the gate wants only drivers that ask for it in every release", "./internal/engine/rules", "TestMissingDrivers", []edit{
		{"internal/engine/rules/node_volume_limits.go", `case r.EveryDriverRequired:`, `case false:`},
	}},
	{"storage-portworx-moved", "claims of Portworx count on a node that does not say that it moved", "./internal/engine/rules", "TestPortworxCountsWhereItMoved", []edit{
		{"internal/engine/state/csivolume.go", `return m == MovedAll`, `return m != MovedNone`},
	}},
	{"storage-portworx-pods", "pods that are there hold volumes of Portworx on every node", "./internal/engine/rules", "TestPortworxCountsWhereItMoved", []edit{
		{"internal/engine/state/attached.go", `p, a.Moved(int(p.Row)))`, `p, MovedAll)`},
	}},
	{"volumes-stay-attached", "a node is full of volumes of pods that are gone", "./internal/engine/recall", "TestAttachmentsFollowPods", []edit{
		{"internal/engine/state/attached.go", `if !a.limited.Has(int(p.Row)) {`, `if !a.limited.Has(int(p.Row)) || n < 0 {`},
	}},
	{"queue-by-age", "an important pod waits behind an older one", "./internal/engine", "TestQueueOrder", []edit{
		{"internal/engine/state/queue.go", `c := cmp.Compare(b.Priority, a.Priority); c != 0 {`, `c := cmp.Compare(b.Priority, a.Priority); c != 0 && false {`},
	}},
	{"all-that-registers-wakes", "a hint's answer is not read: each event of its kind wakes a pod", "./internal/engine", "TestWakes", []edit{
		{"internal/engine/wakes.go", `(w.Pod == nil || h.Queue == nil || h.Queue(w, e))`, `(w.Pod != nil || h.Queue == nil || h.Queue(w, e))`},
	}},
	{"bound-and-woken", "what woke a pod is kept after its bind", "./internal/revision", "TestWokenPods", []edit{
		{"internal/revision/woken.go", `x := &wakes{gone: head.woken.left(changed, v.State)}`, `x := &wakes{}`},
	}},
	{"nothing-woke-then", "a revision that does not have what it woke woke nothing", "./internal/revision", "TestUnknownWakes", []edit{
		{"internal/revision/woken.go", `return unknownAt(r.Number) // of an older release, or damaged`, `return w`},
	}},
	{"volume-index-outlives-its-tables", "volumes that came or went since the first look are not seen", "./internal/engine", "TestVolumesComeAndGo", []edit{
		{"internal/engine/state/edit.go", `if volumes {`, `if volumes && false {`},
	}},
	{"stale-inventory", "what was worked out from claims and slices outlives their change", "./internal/engine/rules", "TestDevicesFollowTheState", []edit{
		{"internal/engine/state/edit.go", `own.memo = &deviceMemo{}`, ``},
	}},

	{"node-name-among-filters", "other nodes than the named one come to the filters where NodeName has a PreFilter", "./internal/engine/rules", "TestNodeName", []edit{
		{"internal/engine/rules/node_name.go", `if !r.NodePreFilters {`, `if r != nil {`},
	}},
	{"node-name-everywhere", "NodeName has a PreFilter in all releases", "./internal/engine/rules", "TestDescriptorsFitTheirRules", []edit{
		{"internal/engine/rules/node_name.go", `if !r.NodePreFilters {`, `if r == nil {`},
	}},
	{"phases-of-one-release", "profiles of all releases run the same plugins", "./internal/engine/rules", "TestProfilesOfReleases", []edit{
		{"internal/engine/rules/descriptor.go", `if d.in != nil {`, `if d.in != nil && false {`},
	}},
	{"order-of-one-release", "NodeName stands behind NodeUnschedulable in all releases", "./internal/engine/rules", "TestProfilesOfReleases", []edit{
		{"internal/semantics/semantics.go", `return slices.Insert(list, slices.Index(list, other), name)`, `return slices.Insert(list, slices.Index(list, other)+1, name)`},
	}},
	{"features-of-all-releases", "pods need features that the release does not know", "./internal/engine/rules", "TestNodeDeclaredFeatures", []edit{
		{"internal/engine/rules/node_declared_features.go", `return !slices.Contains(r.Features, f.Name())`, `return len(r.Features) == 0`},
	}},
	{"feature-unnamed", "the rejection never names the feature that a node lacks", "./internal/engine/rules", "TestNodeDeclaredFeatures", []edit{
		{"internal/engine/rules/node_declared_features.go", `n.named = r.FeaturesNamed`, ``},
	}},
	{"gate-unread", "nodes need features though the gate is off", "./internal/engine/rules", "TestNodeDeclaredFeatures", []edit{
		{"internal/engine/rules/node_declared_features.go", `	if !r.NodeDeclaredFeatures {
		return n, nil
	}
`, ``},
	}},
	{"optional-by-default", "a plugin whose gate is off is in the default profile", "./internal/engine/rules", "TestProfilesOfReleases", []edit{
		{"internal/engine/rules/registry.go", `if !d.Optional {`, `if d.Plugin != "" {`},
	}},
	{"points-of-the-newest", "a configuration may use extension points that the release does not have", "./internal/config", "TestOfReleases", []edit{
		{"internal/config/decode.go", `there && !slices.Contains(r.Points, p.name)`, `there && len(r.Points) == 0`},
	}},
	{"gates-of-other-plugins", "plugins whose gate is off are in the default profile", "./internal/config", "TestIgnoredIsTold", []edit{
		{"internal/config/upstream.go", `optional: o.Gate != "" && !r.On(o.Gate)`, `optional: o.Gate == "never"`},
	}},
	{"ratio-of-any-type", "every release takes requestedToCapacityRatio with other types", "./internal/config", "TestOfReleases", []edit{
		{"internal/engine/rules/node_resources_fit_args.go", `case in.under.RatioOfItsType:`, `case in.under == nil:`},
	}},
	{"binding-timeout-without-gate", "bindingTimeout is taken where its gate is off", "./internal/config", "TestOfReleases", []edit{
		{"internal/engine/rules/dynamic_resources_args.go", `case t != nil && !in.under.DRADeviceBindingConditions:`, `case t != nil && in.under == nil:`},
	}},
	{"binding-timeout-of-every-release", "bindingTimeout is a field of arguments in releases that do not have it", "./internal/config", "TestOfReleases", []edit{
		{"internal/config/args.go", `&& r.release.NoBindingTimeout {`, `&& r.release == nil {`},
	}},
	{"preempt-equals", "a pod evicts its equals", "./internal/engine/preempt", "TestNobodyOfEqualOrHigherPriorityGoes", []edit{
		{"internal/engine/state/ranking.go", `return k.Of[i].Priority < priority })`, `return k.Of[i].Priority <= priority })`},
	}},
	{"evict-everybody", "the choice among nodes counts pods that could have stayed", "./internal/engine/preempt", "TestTheChoiceIsByTheVictimsThatAreNamed", []edit{
		{"internal/engine/preempt/quick.go", `return s.pods >= 1 && p.CPU <= s.CPU`, `return false && s.pods >= 1 && p.CPU <= s.CPU`},
	}},
	{"forget-budgets", "an eviction that a budget forbids counts as allowed", "./internal/engine/preempt", "TestBudgetsAreBestEffort", []edit{
		{"internal/engine/preempt/dry_run.go", `if len(a.list) == 0 {`, `if len(a.list) >= 0 {`},
	}},
	{"drop-unknown-victims", "a pod that kube-scheduler would evict is forgotten", "./internal/handlers", "TestPreemptByUID", []edit{
		{"internal/engine/preempt/named.go", `for _, n := range foreign {`, `for _, n := range foreign[:0] {`},
	}},
	{"undigested-victims", "two answers with other victims have one digest", "./internal/engine", "TestDigestTellsAnswersApart", []edit{
		{"internal/engine/preempt/digest.go", `e := s.detail(s.Row())`, `return b
	e := s.detail(s.Row())`},
	}},

	{"device-twice", "two claims of a pod are given one device", "./internal/engine/rules", "TestDynamicResources", []edit{
		{"internal/engine/devices/offers.go", `return s.listed[i].users > 0`, `return s.listed[i].users > 0 && false`},
	}},
	{"devices-not-again", "the search for devices does not go back once it has taken a wrong one", "./internal/engine/rules", "TestDynamicResources", []edit{
		{"internal/engine/devices/place.go", `if err != nil || out == tooMany {`, `if err != nil || out == tooMany || true {`},
	}},
	{"devices-alternatives-apart", "alternatives of a request keep their own devices where v1.35 mixes them up", "./internal/engine/devices", "TestReleases", []edit{
		{"internal/engine/devices/request.go", `if as == nil || !s.inv.as.mixesAlternatives || r.parent == "" {`, `if true {`},
	}},
	{"devices-second-of-all", "the second of all devices is for its own alternative where v1.35 forgets which it was", "./internal/engine/devices", "TestReleases", []edit{
		{"internal/engine/devices/place.go", `if s.inv.as.mixesAlternatives {`, `if s.inv.as.mixesAlternatives && false {`},
	}},
	{"devices-counters-back", "what was tried in vain gives counters back where v1.35 does not", "./internal/engine/devices", "TestReleases", []edit{
		{"internal/engine/devices/take.go", `s.giveUp(claim, r, i, k, counted && !kept)`, `s.giveUp(claim, r, i, k, counted)`},
	}},
	{"devices-one-share", "a request gets one share of a device where v1.35 gives it several", "./internal/engine/devices", "TestReleases", []edit{
		{"internal/engine/devices/place.go", `after = k
`, `after = k + 1
`},
	}},
	{"devices-namesakes", "pools of one name share counters under every release", "./internal/engine/devices", "TestReleases", []edit{
		{"internal/engine/devices/pools.go", `p.counts = id.String()`, `p.counts = id.name`},
	}},
	{"devices-distinct-last", "values differ only from the last under every release", "./internal/engine/devices", "TestReleases", []edit{
		{"internal/engine/devices/constraints.go", `k.last = append(k.last, v)`, `k.last = append(k.last[:0], v)`},
	}},
	{"devices-all-but-full", "a request for all devices passes over full ones under every release", "./internal/engine/devices", "TestReleases", []edit{
		{"internal/engine/devices/request.go", `if s.inv.as.allCountsFull && s.whole(r, i) ||`, `if s.inv.as.allCountsFull && s.capacityFor(r, i) ||`},
	}},
	{"devices-less-than-nothing", "a negative amount of capacity is taken under every release", "./internal/engine/devices", "TestReleases", []edit{
		{"internal/engine/devices/capacity.go", `err == nil && part.Sign() < 0`, `err == nil && part.Sign() < 0 && false`},
	}},
	{"devices-share-unused", "a share without amounts has consumed no counters under every release", "./internal/engine/devices", "TestReleases", []edit{
		{"internal/engine/devices/capacity.go", `return before || s.inv.as.sharesUseCounters && s.inv.held.parts[id]`, `return before`},
	}},
	{"devices-counters-everywhere", "counters of other nodes concern a node under every release", "./internal/engine/devices", "TestReleases", []edit{
		{"internal/engine/devices/inventory.go", `case node != "" && (!counters || inv.as.countersStayLocal || inv.as.countingSlicesGive):`, `case node != "" && !counters:`},
	}},
	{"devices-short-errors", "errors of selectors name no device under every release", "./internal/engine/devices", "TestReleases", []edit{
		{"internal/engine/devices/selectors.go", `case err != nil && inv.as.deviceErrorsSayMore:`, `case err != nil && false:`},
	}},
	{"devices-taints-always", "taints count although the gate is off", "./internal/engine/devices", "TestReleases", []edit{
		{"internal/engine/devices/inventory.go", `if inv.as.taints {`, `if true {`},
	}},
	{"ranking-of-one-counting", "what all pods of a node request is summed up as v1.36 counts", "./internal/engine/state", "TestUnder", []edit{
		{"internal/engine/state/ranking.go", `if from == 0 && !k.varies {`, `if from == 0 {`},
	}},
	{"first-allocation-always", "a claim that a pod names twice has its first allocation under every release", "./internal/engine/rules", "TestAClaimByTwoNames", []edit{
		{"internal/engine/rules/dynamic_resources_explain.go", `first; d.lastStands && i`, `first; false && i`},
	}},
	{"claims-wake-always", "the end of an allocated claim wakes pods under every release", "./internal/engine", "TestDeletedClaimsWake", []edit{
		{"internal/engine/rules/dynamic_resources_hint.go", `if d.deletionWakes {`, `if true {`},
	}},
	{"classes-wake-always", "a new device class wakes pods for its amounts although the gate is off", "./internal/engine", "TestNewClassesWake", []edit{
		{"internal/engine/rules/node_resources_fit_hint.go", `if f.extended {`, `if true {`},
	}},
	{"taint-rules-always", "DeviceTaintRules count although the gate is off", "./internal/engine/devices", "TestReleases", []edit{
		{"internal/engine/devices/inventory.go", `if as.taints && as.rules {`, `if as.taints {`},
	}},
	{"taint-rules-everywhere", "a DeviceTaintRule without a selector taints every device", "./internal/engine/devices", "TestReleases", []edit{
		{"internal/engine/devices/inventory.go", `return s != nil && is(`, `return s == nil || is(`},
	}},
	{"taint-rules-silent", "a DeviceTaintRule that goes wakes no pod", "./internal/engine", "TestTaintRulesWake", []edit{
		{"internal/engine/rules/dynamic_resources_hint.go", `Kind: "DeviceTaintRule", Action: engine.Add | engine.Update | engine.Delete,`, `Kind: "DeviceTaintRule", Action: engine.Add | engine.Update,`},
	}},
	{"groups-seen", "slices with compatibility groups count under every release", "./internal/engine/devices", "TestReleases", []edit{
		{"internal/engine/devices/inventory.go", `sl.hidden = inv.as.groupsAreHidden && grouped(rs)`, `sl.hidden = false && grouped(rs)`},
	}},
	{"groups-complete", "slices with compatibility groups make their pool complete", "./internal/engine/devices", "TestReleases", []edit{
		{"internal/engine/devices/pools.go", `== generation && !sl.hidden {`, `== generation {`},
	}},
	{"derived-ignored", "derived attributes are ignored under every release", "./internal/engine/devices", "TestReleases", []edit{
		{"internal/engine/devices/request.go", `if r.derived && s.inv.as.derivedAttributesFail {`, `if r.derived && false {`},
	}},
	{"skips-anywhere", "claims that skip operations are good for every node", "./internal/engine/rules", "TestDynamicResourcesOfReleases", []edit{
		{"internal/engine/rules/dynamic_resources_state.go", `return d.skipping && slices.ContainsFunc(results,`, `return false && slices.ContainsFunc(results,`},
	}},
	{"devices-partitions-always", "partitions are allocated although the gate is off", "./internal/engine/devices", "TestReleases", []edit{
		{"internal/engine/devices/take.go", `if consumes && !s.inv.as.partitions {`, `if false {`},
	}},
	{"devices-shares-always", "capacity is shared although the gate is off", "./internal/engine/devices", "TestReleases", []edit{
		{"internal/engine/devices/inventory.go", `multi := inv.as.shares && yes`, `multi := yes`},
	}},
	{"devices-conditions-always", "devices with binding conditions are allocated although the gate is off", "./internal/engine/devices", "TestReleases", []edit{
		{"internal/engine/devices/request.go", `if !s.inv.as.conditions && len(d.BindingConditions) > 0 {`, `if false {`},
	}},
	{"devices-distinct-always", "distinctAttribute is known although upstream's plain allocator does not know it", "./internal/engine/devices", "TestReleases", []edit{
		{"internal/engine/devices/constraints.go", `case k.DistinctAttribute != nil && !as.plain:`, `case k.DistinctAttribute != nil:`},
	}},
	{"claims-own-score", "a claim beside one that is allocated has a score under v1.35", "./internal/engine/rules", "TestDynamicResourcesOfReleases", []edit{
		{"internal/engine/rules/dynamic_resources.go", `if d.inPlace && v.given != nil`, `if false && v.given != nil`},
	}},
	{"devices-capacity-named", "an alternative that wants capacity is named under v1.34", "./internal/engine/devices", "TestReleases", []edit{
		{"internal/engine/devices/request.go", `if r.parent != "" && !as.alpha {`, `if r.parent != "" {`},
	}},
	{"devices-plain-for-alpha", "v1.34 takes the allocator for gates that are on", "./internal/engine/devices", "TestReleases", []edit{
		{"internal/engine/devices/behaviour.go", `!r.DRADeviceBindingConditions && !r.AlphaAllocator`, `!r.DRADeviceBindingConditions`},
	}},
	{"devices-distinct-values", "distinctAttribute compares values under v1.34", "./internal/engine/devices", "TestReleases", []edit{
		{"internal/engine/devices/constraints.go", `if ok, known := equal(v, other); !known || ok && !k.any {`, `if ok, known := equal(v, other); !known || ok {`},
	}},
	{"devices-invalid-passed", "invalid pools are passed over under v1.34", "./internal/engine/devices", "TestReleases", []edit{
		{"internal/engine/devices/offers.go", `return false, s.invalid()`, `return false, nil`},
	}},
	{"devices-invalid-late", "v1.34 comes to an invalid pool after all others", "./internal/engine/devices", "TestReleases", []edit{
		{"internal/engine/devices/offers.go", `case at.pool == len(s.pools) || s.inv.as.invalidPoolsFail && s.pools[at.pool].invalid != "":`, `case at.pool == len(s.pools):`},
	}},
	{"devices-whole-pools", "pools are complete by all of their slices under v1.34", "./internal/engine/devices", "TestReleases", []edit{
		{"internal/engine/devices/pools.go", `if inv.as.poolsByNode {`, `if false {`},
	}},
	{"devices-no-counting-slices", "slices with counters give nothing under v1.34", "./internal/engine/devices", "TestReleases", []edit{
		{"internal/engine/devices/pools.go", `if !inv.as.countingSlicesGive {`, `if true {`},
	}},
	{"devices-tolerations-kept", "allocations have tolerations under v1.34", "./internal/engine/devices", "TestTolerationsOfAllocations", []edit{
		{"internal/engine/devices/allocation.go", `if !d.as.tolerationsForgotten {`, `if true {`},
	}},
	{"claims-score-always", "nodes score by claims under v1.34", "./internal/engine/rules", "TestProfilesOfReleases", []edit{
		{"internal/engine/rules/dynamic_resources.go", `d.Weight = 0`, `d.Phases = append(d.Phases, phaseScore)`},
	}},
	{"gate-beyond-knowledge", "v1.34 takes gates that decisions know at its defaults alone", "./internal/semantics", "TestGates", []edit{
		{"internal/semantics/gates.go", `slices.Contains(r.Fixed, name) && f.Bool() != on`, `slices.Contains(r.Fixed, name) && f.Bool() != on && false`},
	}},
	{"slow-devices-fail", "a search for devices without end fails the pod under v1.35", "./internal/engine/rules", "TestDynamicResourcesOfReleases", []edit{
		{"internal/engine/rules/dynamic_resources_state.go", `case s.rule.slowReject && errors.Is(err, devices.ErrGaveUp):`, `case false:`},
	}},
	{"still-not-schedulable", "a claim that is not given back is spoken of under v1.37", "./internal/engine/rules", "TestDynamicResourcesOfReleases", []edit{
		{"internal/engine/rules/dynamic_resources.go", `if !done && d.silent {`, `if s == nil && d.silent {`},
	}},
	{"late-devices-always", "devices that are late count although the gate is off", "./internal/engine/rules", "TestDynamicResourcesOfReleases", []edit{
		{"internal/engine/rules/dynamic_resources_state.go", `if !d.conditions {`, `if false {`},
	}},
	{"extended-always", "extended resources come from devices although the gate is off", "./internal/engine/rules", "TestDynamicResourcesOfReleases", []edit{
		{"internal/engine/rules/dynamic_resources_state.go", `if !d.extended {`, `if false {`},
	}},
	{"fit-leaves-to-devices", "nodes without a resource are left to devices although the gate is off", "./internal/engine/rules", "TestDynamicResourcesOfReleases", []edit{
		{"internal/engine/rules/node_resources_fit.go", `return f.extended && q`, `return q`},
	}},
	{"devices-cut-short", "a search for devices that was stopped answers that there are none", "./internal/engine/devices", "TestAStoppedSearchIsNoAnswer", []edit{
		{"internal/engine/devices/search.go", `*budget -= before - s.left`, `*budget -= before - s.left
	if errors.Is(err, ErrStopped) {
		return nil, nil
	}`},
	}},
	{"alike-too-soon", "devices count as alike that constraints tell apart", "./internal/engine/devices", "TestNothingIsMissedByLeavingOut", []edit{
		{"internal/engine/devices/alike.go", `for k := range s.constraints[c] {`, `for k := range s.constraints[c][:0] {`},
	}},
	{"stop-remembered", "what a selector failed with because the caller was gone is remembered", "./internal/engine/devices", "TestAStoppedSearchIsNoAnswer", []edit{
		{"internal/engine/devices/selectors.go", `if ended := ctx.Err(); err != nil && ended != nil {`, `if ended := ctx.Err(); err != nil && ended != nil && false {`},
	}},
	{"devices-left-free", "a bind reserves its pod's claims and leaves out which devices they got", "./internal/decision/bind", "TestBindWritesDevices", []edit{
		{"internal/engine/rules/dynamic_resources_bind.go", `made.Status.Allocation = given.Allocation(`, `_ = given.Allocation(`},
	}},

	{"exclusion-means-all", "a selector of namespaces that only excludes selects all of them in every release", "./internal/engine/rules", "TestInterPodAffinityFilter", []edit{
		{"internal/engine/rules/registry.go", `ExclusionMeansAll: r.ExclusionMeansAll,`, `ExclusionMeansAll: true,`},
	}},
	{"not-schedulable-all-the-same", "a silent release says that claims are still not schedulable", "./internal/engine/rules", "TestDeallocationIsAnnounced", []edit{
		{"internal/engine/rules/dynamic_resources.go", `if !done && d.silent {`, `if s == nil && d.silent {`},
	}},
	{"claim-not-owned", "the text about another pod's claim is the same in every release", "./internal/engine/rules", "TestClaimOfAnotherPod", []edit{
		{"internal/engine/rules/dynamic_resources_state.go", `fmt.Sprintf(d.notOwned, `, `fmt.Sprintf("ResourceClaim %s/%s was not created for Pod %s/%s (Pod is not owner)", `},
	}},
	{"budgets-all", "a victim takes from every budget in every release", "./internal/engine/preempt", "TestBudgetsBehindAViolatedOne", []edit{
		{"internal/engine/preempt/allowances.go", `violates != 0 && a.ways.FirstViolatedOnly {`, `violates != 0 && false {`},
	}},
	{"placement-untold", "the message of a pod that evicts others tells no placement in any release", "./internal/engine/preempt", "TestAPreemptorIsToldWhere", []edit{
		{"internal/engine/preempt/text.go", `case s.ways.TellsPlacement:`, `case s.ways.TellsPlacement && s.best < 0:`},
	}},
	{"told-beside-others", "the message of a pod that evicts others has the texts of plugins that found nothing", "./internal/engine/preempt", "TestAPreemptorIsToldWhere", []edit{
		{"internal/engine/postfilter.go", `append(r.PostFilter.texts[:0], res.Text)`, `append(r.PostFilter.texts, res.Text)`},
	}},
	{"gated-nominations", "a nominated pod that its gates hold back keeps no room in any release", "./internal/engine/rules", "TestSchedulingGates", []edit{
		{"internal/engine/nominated.go", `q.Profile.GatedNominationsCount ||`, ``},
	}},
	{"wakes-by-all", "pods hear of one that goes by all of their terms in every release", "./internal/engine", "TestWakesByRelease", []edit{
		{"internal/engine/rules/inter_pod_affinity_hint.go", `w.excluded = selectedByAny`, `w.excluded = selectedByAll`},
	}},
	{"wakes-by-both", "terms of a pod that goes wake others in every release", "./internal/engine", "TestWakesByRelease", []edit{
		{"internal/engine/rules/inter_pod_affinity_hint.go", `r.AffinityWakes != semantics.WakesByOwn`, `r.AffinityWakes != 0`},
	}},
	{"nominations-wake", "nominations that go wake others in every release", "./internal/engine", "TestWakesByRelease", []edit{
		{"internal/engine/rules/hints.go", `if r.NominationsWake {`, `if r != nil {`},
	}},
	{"taints-wake", "changes of taints wake who hears of new nodes in every release", "./internal/engine", "TestWakesByRelease", []edit{
		{"internal/engine/rules/registry.go", `if r.NewNodesMeanTaints {`, `if r != nil {`},
	}},

	{"groups-unsaid", "an answer about a pod of a group does not say that it is about the pod alone", "./internal/engine/explain", "TestGroups", []edit{
		{"internal/engine/explain/decision.go", `!q.Profile.Semantics.GenericWorkload {`, `group != nil {`},
	}},
	{"groups-always-said", "it says so where the gate is off, too", "./internal/engine/explain", "TestGroups", []edit{
		{"internal/engine/explain/decision.go", ` || !q.Profile.Semantics.GenericWorkload {`, ` {`},
	}},
	{"quorum-of-other-namespaces", "groups of one name in several namespaces count together", "./internal/engine/explain", "TestGroups", []edit{
		{"internal/engine/state/state.go", `p.Class.Group != name || p.Namespace != namespace || p.Terminal`, `p.Class.Group != name || p.Terminal`},
	}},
	{"quorum-of-ended-pods", "pods of a group that have ended count", "./internal/engine/explain", "TestGroups", []edit{
		{"internal/engine/state/state.go", `p.Namespace != namespace || p.Terminal`, `p.Namespace != namespace`},
	}},
	{"group-shared-by-class", "pods that differ in their group alone are taken for one kind", "./internal/engine/explain", "TestGroups", []edit{
		{"internal/engine/state/pod.go", `key = append(key, c.Group...)`, ``},
		{"internal/engine/state/pod.go", `num(-3) // likewise`, ``},
	}},
	{"admission-of-every-pod", "what another release may admit otherwise is said of pods that it does not concern", "./internal/semantics", "TestAdmissionOfOthers", []edit{
		{"internal/semantics/admission.go", `func(path string) bool { return !has(path) }`, `func(path string) bool { return false }`},
	}},
	{"admission-of-the-newest", "it is said of the release as which a pod is judged", "./internal/semantics", "TestAdmissionOfOthers", []edit{
		{"internal/semantics/admission.go", `l.minor != r.Minor() || l.verb != verb`, `l.minor == "" || l.verb != verb`},
	}},
	{"flags-unread", "a scheduler's release is taken without its gates", "./internal/semantics", "TestOfFlags", []edit{
		{"internal/semantics/gates.go", `list = append(list, name+"="+strings.ToLower(value))`, ``},
	}},
	{"emulation-unread", "a scheduler that emulates a release is taken for its own", "./internal/semantics", "TestOfFlags", []edit{
		{"internal/semantics/gates.go", `if emulates != "" {`, `if emulates != "" && false {`},
	}},

	{"volume-taken-twice", "two claims of a pod are matched to one volume", "./internal/engine/rules", "TestVolumeBindingMatches", []edit{
		{"internal/engine/rules/volume_binding_match.go", `if m.at(row) == pv {`, `if m.at(row) == pv && false {`},
	}},
	{"volume-left-free", "a bind binds claims, and leaves their volumes to others as well", "./internal/decision/bind", "TestBindWritesVolumes", []edit{
		{"internal/engine/rules/volume_binding_bind.go", `metav1.SetMetaDataAnnotation(&pv.ObjectMeta, annByController, "yes")`, ``},
		{"internal/engine/rules/volume_binding_bind.go", `pv.Spec.ClaimRef = &corev1.ObjectReference{`, `_ = &corev1.ObjectReference{`},
		{"internal/engine/rules/volume_binding_bind.go", `pv.Status.Phase = corev1.VolumeBound`, ``},
	}},

	{"suggest-siblings", "a remedy deletes a pod of the waiting pod's own controller", "./internal/engine/explain/suggest", "TestWhatPeopleDo", []edit{
		{"internal/engine/explain/suggest/suggest_waits.go", `return ok && o == own`, `return ok && o == own && false`},
	}},
	{"suggest-typos-on-nodes", "a label that no node has is written onto one", "./internal/engine/explain/suggest", "TestLabelsThatStateFactsStay", []edit{
		{"internal/engine/explain/suggest/suggest_nodes.go", `|| s.q.State.Nodes().Column(key).Lookup(value) < 0 {`, `{`},
	}},
	{"narrowed-forgets-what-is-wanted", "nodes that a pod does not want are among those that lack something", "./internal/report", "TestNoNode", []edit{
		{"internal/engine/explain/suggest/narrow.go", `both.And(n.left)`, ``},
	}},
	{"suggest-untried", "a change is offered that does not help", "./internal/engine/explain/suggest", "TestSuggestionsHold", []edit{
		{"internal/engine/explain/suggest/try.go", `if r.Outcome != engine.Scheduled || r.Feasible.Empty() {`, `if e == placing {
		return &verdict{state.Nodes().Alive().Clone(), r.Nodes()}
	}
	if r.Outcome != engine.Scheduled || r.Feasible.Empty() {`},
	}},
	{"tolerate-the-dead", "a pod is sent to a node that does not answer", "./internal/engine/explain/suggest", "TestWhatIsWrongWithANodeIsNotTolerated", []edit{
		{"internal/engine/explain/suggest/suggest_recovery.go", `return slices.Contains(ailments, key)`, `return slices.Contains(ailments, key) && false`},
	}},
	{"group-twice", "the groups' counts do not add up to the nodes", "./internal/engine/explain/suggest", "TestGroupsAddUp", []edit{
		{"internal/engine/explain/suggest/collect.go", `if b.also == nil {`, `c.openGroup(k).nodes++
		if b.also == nil {`},
	}},
}
