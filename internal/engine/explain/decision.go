package explain

import (
	"fmt"
	"slices"

	"berth/internal/engine"
	"berth/internal/engine/explain/digest"
	"berth/internal/engine/preempt"
	"berth/internal/engine/state"
)

// bestListed is how many feasible nodes ExplainFailures lists.
const bestListed = 10

// Decision writes a result at a level.
func Decision(r *engine.Result, level engine.Explain) *engine.Decision {
	every, names := level == engine.ExplainAll, level == engine.ExplainGroups
	switch level {
	case engine.ExplainAll:
		level = engine.ExplainFull
	case engine.ExplainGroups:
		level = engine.ExplainNone
	}
	d := ofKind(r, level)
	if names || level == engine.ExplainFull {
		nameSpread(r, d)
	}
	if r.Outcome == engine.Scheduled {
		d.Best = best(r)
	}
	if level != engine.ExplainNone && listsNodes(r) {
		writeNodes(r, d, level, namesOf(r, every))
	}
	if every {
		addAlsoFailing(r, d)
	}
	writeChoice(r, d)
	return d
}

// nameSpread names the pods in the table of spreading.
func nameSpread(r *engine.Result, d *engine.Decision) {
	for _, rule := range r.Query.Profile.Rules {
		if rule.NamePods != nil && len(d.Spread) > 0 {
			rule.NamePods(r.Query, d.Spread)
		}
	}
}

// writeChoice adds what depends on which of equal nodes was chosen, but for the list of nodes.
func writeChoice(r *engine.Result, d *engine.Decision) {
	d.Node, d.Devices, d.Digest = r.Node(), r.Devices(), digest.Of(r)
	if r.Outcome == engine.Scheduled {
		d.Volumes = r.Volumes()
	}
	if why := ofGroup(r.Query); why != "" {
		d.NotEvaluated = append(slices.Clip(d.NotEvaluated), engine.NotEvaluated{Plugin: "GangScheduling", Reason: why})
	}
}

// ofGroup returns which part of the rule of a pod's group was not judged, where pods are scheduled
// in groups, and how many of the group are there; "" for a pod in none. kube-scheduler holds a pod
// back until its group is there with as many pods as it wants, and places these together or not at
// all (plugins/gangscheduling PreEnqueue, Permit; pkg/scheduler/schedule_one_podgroup.go).
func ofGroup(q *engine.Query) string {
	group := q.Pod.Spec.SchedulingGroup
	if group == nil || group.PodGroupName == nil || !q.Profile.Semantics.GenericWorkload {
		return ""
	}
	g := q.State.Group(q.Pod.Namespace, *group.PodGroupName, q.Pod.Name)
	if !g.Has {
		g.Pods++
	}
	name := fmt.Sprintf("the pod was judged alone, its group %.64s not: ", *group.PodGroupName)
	switch {
	case !g.Known:
		return name + "there is no PodGroup of the name, for which kube-scheduler waits"
	case g.MinCount == 0:
		return fmt.Sprintf("%s%d there, %d with a node; it has no quorum, and its pods are placed in one cycle", name, g.Pods, g.Placed)
	}
	more := "its pods are placed together or not at all"
	if g.Pods < int(g.MinCount) {
		more = "kube-scheduler waits for the rest"
	}
	return fmt.Sprintf("%s%d of %d there, %d of %d with a node; %s", name, g.Pods, g.MinCount, g.Placed, g.MinCount, more)
}

// listsNodes reports whether nodes are listed at all.
func listsNodes(r *engine.Result) bool {
	return r.Outcome != engine.Gated && r.Query.Options.Victims == nil
}

// ofKind writes what does not depend on which of equal nodes was chosen, but for lists of nodes.
func ofKind(r *engine.Result, level engine.Explain) *engine.Decision {
	q := r.Query
	d := &engine.Decision{
		Outcome: r.Outcome, NominatedNode: r.NominatedNode(), Message: Message(r), Profile: q.Profile.Name,
		Priority: q.Priority(), Gates: r.Gates, Counts: engine.Counts{Nodes: r.Considered(), Feasible: r.Feasible.Count()},
		Failures: Failures(r), NotEvaluated: notEvaluated(q),
	}
	if r.Outcome == engine.Scheduled {
		if second, ok := r.Second(); ok {
			margin := r.Top - second
			d.Margin = &margin
		}
	}
	if r.Outcome != engine.Gated {
		for _, rule := range q.Profile.Rules {
			if rule.Spread != nil {
				d.Spread = rule.Spread(q)
			}
		}
	}
	d.Preemption = preempt.Explain(r, level)
	return d
}

// best lists the nodes that share the best total, by name. After a choice without scoring it is the
// chosen one.
func best(r *engine.Result) []string {
	if r.Row < 0 {
		return nil
	}
	if !r.Scored {
		return []string{r.Node()}
	}
	out := make([]string, 0, r.Best.Count())
	for row := range r.Nodes().ByName(r.Best) {
		out = append(out, r.Nodes().Node(row).Name)
	}
	return out
}

// notEvaluated lists what could not be judged.
func notEvaluated(q *engine.Query) []engine.NotEvaluated {
	var out []engine.NotEvaluated
	for _, rule := range q.Profile.Rules {
		if rule.NotEvaluated == nil {
			continue
		}
		if reason, yes := rule.NotEvaluated(q); yes {
			out = append(out, engine.NotEvaluated{Plugin: rule.Name, Reason: reason})
		}
	}
	return out
}

// writeNodes adds the verdicts on the nodes that a level lists.
func writeNodes(r *engine.Result, d *engine.Decision, level engine.Explain, names *naming) {
	listed := r.Query.Candidates
	if level == engine.ExplainFailures {
		best := r.BestRows(bestListed)
		listed = listedOfKind(r, best)
		if last := lastListed(r, best); last >= 0 {
			listed.Set(last)
		}
	} else if r.Nominated {
		listed = r.Feasible
	}
	n := listed.Count()
	if d.NodesOmitted = r.Considered() - n; n == 0 {
		return
	}
	d.Nodes = make([]engine.NodeVerdict, 0, n)
	names.room = make([]engine.PluginScore, min(n, r.Feasible.Count())*len(r.Scores))
	for row := range r.Nodes().ByName(listed) {
		d.Nodes = append(d.Nodes, names.verdict(r, row))
	}
}

// listedOfKind returns the nodes that ExplainFailures lists whichever of equal ones was chosen: of
// the best rows of a result, and the rejected ones. Where the nominated node was taken at once, the
// others were never judged.
func listedOfKind(r *engine.Result, best []int32) state.Bits {
	listed := r.Query.Bits()
	if !r.Nominated {
		listed.Or(r.Query.Candidates)
		listed.AndNot(r.Feasible)
	}
	for _, row := range best[:min(len(best), bestListed-1)] {
		listed.Set(int(row))
	}
	return listed
}

// lastListed returns the row that ExplainFailures lists beside them, -1 for none: the chosen one,
// which among equals may come late by name and is the best all the same.
func lastListed(r *engine.Result, best []int32) int {
	switch {
	case len(best) < bestListed:
		return -1
	case r.Row < 0 || slices.Contains(best[:bestListed-1], int32(r.Row)):
		return int(best[bestListed-1])
	}
	return r.Row
}
