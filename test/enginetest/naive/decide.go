package naive

import (
	"fmt"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	dracel "k8s.io/dynamic-resource-allocation/cel"

	"berth/internal/engine"
	"berth/internal/engine/rules"
)

// cycle is one decision.
type cycle struct {
	*Cluster
	pod        *corev1.Pod
	spec       *rules.Spec
	options    engine.Options
	candidates []*node
	trail      []move                             // what a dry run did to the node being judged, in order
	given      map[string]int64                   // by node: what DynamicResources thinks of what its claims get there
	gifts      map[string][]engine.AllottedDevice // by node: what they get
	compiled   map[string]*dracel.CompilationResult
	last       map[[2]int]map[string]string // by claim and constraint, then by request: the value of a distinctAttribute
}

// status is a plugin's verdict on a node; no reasons means that it passes.
type status struct {
	plugin  string
	code    engine.Code
	reasons []string
}

// filter judges one node, as if the extra pods were on it as well.
type filter func(n *node, extra []*corev1.Pod) status

// Decide answers a question: every field of the decision except the node picked among equals and
// its devices, the details, the ledger and the digest. Of preemption it returns the candidates with
// their victims, and in Best those that may be chosen.
func Decide(c *Cluster, pod *corev1.Pod, spec rules.Spec, o engine.Options) (*engine.Decision, error) {
	y := &cycle{Cluster: c, pod: pod, spec: &spec, options: o, given: map[string]int64{}, gifts: map[string][]engine.AllottedDevice{}, compiled: map[string]*dracel.CompilationResult{}}
	d := &engine.Decision{Outcome: engine.UnschedulableOK, Profile: spec.SchedulerName, Priority: priority(pod)}
	y.candidates = c.nodes
	if o.Candidates != nil {
		y.candidates = nil
		for _, n := range c.nodes {
			if contains(o.Candidates, n.Name) {
				y.candidates = append(y.candidates, n)
			}
		}
	}
	d.Counts.Nodes = len(y.candidates)
	defer func() { y.postFilter(d) }()
	if len(pod.Spec.SchedulingGates) > 0 && contains(spec.PreEnqueue, "SchedulingGates") {
		d.Outcome = engine.Gated
		d.Message = "Scheduling is blocked due to non-empty scheduling gates"
		for _, g := range pod.Spec.SchedulingGates {
			d.Gates = append(d.Gates, g.Name)
		}
		return d, nil
	}
	if _, why := y.claims(); why != "" && contains(spec.PreEnqueue, "DynamicResources") {
		d.Outcome, d.Message = engine.Gated, why
		return d, nil
	}
	if len(y.candidates) == 0 {
		d.Message = "no nodes available to schedule pods"
		return d, nil
	}
	return d, y.run(d)
}

// run goes from PreFilter to the scores.
func (y *cycle) run(d *engine.Decision) error {
	if st := y.turnedDown(); st.code == engine.Error {
		return fmt.Errorf("%s: %s", st.plugin, st.reasons[0])
	} else if len(st.reasons) > 0 {
		y.rejectAll(d, st)
		return nil
	}
	if st := y.turnedDownBy("DynamicResources"); len(st.reasons) > 0 && contains(y.spec.PreFilter, st.plugin) {
		y.rejectAll(d, st)
		return nil
	}
	filters := y.filters()
	failed := map[string]status{}
	var narrowed map[string]bool // nil: to all nodes
	if contains(y.spec.PreFilter, "NodeAffinity") {
		narrowed = namedNodes(y.pod)
	}
	blamed := []string{"NodeAffinity"}
	if nn := y.candidate(y.pod.Status.NominatedNodeName); nn != nil {
		st := y.judge(nn, filters)
		if len(st.reasons) == 0 {
			d.Outcome, d.Node, d.Best = engine.Scheduled, nn.Name, []string{nn.Name}
			d.Nodes = []engine.NodeVerdict{{Name: nn.Name, Feasible: true}}
			d.NodesOmitted = len(y.candidates) - 1
			d.Counts.Feasible = 1
			d.Devices = y.gifts[nn.Name]
			return nil
		}
		if st.code == engine.Error {
			return fmt.Errorf("%s: %s", st.plugin, st.reasons[0])
		}
		failed[nn.Name] = st
		if !contains(blamed, st.plugin) {
			blamed = append(blamed, st.plugin)
		}
	}
	sort.Strings(blamed)
	var feasible []*node
	for _, n := range y.candidates {
		if narrowed != nil && !narrowed[n.Name] {
			if _, known := failed[n.Name]; !known {
				failed[n.Name] = status{"NodeAffinity", engine.UnschedulableAndUnresolvable, []string{fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", blamed)}}
			}
			continue
		}
		if st := y.judge(n, filters); st.code == engine.Error {
			return fmt.Errorf("%s: %s", st.plugin, st.reasons[0])
		} else if len(st.reasons) > 0 {
			failed[n.Name] = st
			continue
		}
		feasible = append(feasible, n)
	}
	scores, err := y.score(feasible)
	if err != nil {
		return err
	}
	y.write(d, failed, feasible, scores)
	return nil
}

// rejectAll writes down a verdict on the pod.
func (y *cycle) rejectAll(d *engine.Decision, st status) {
	for _, n := range y.candidates {
		d.Nodes = append(d.Nodes, st.verdict(n))
	}
	d.Failures = countFailures(d.Nodes)
	d.Message = fmt.Sprintf("0/%d nodes are available: %s.", len(y.candidates), st.reasons[0])
}

func (y *cycle) candidate(name string) *node {
	for _, n := range y.candidates {
		if n.Name == name {
			return n
		}
	}
	return nil
}

// judge runs the filters with the pods nominated to the node, then without.
func (y *cycle) judge(n *node, filters []filter) status {
	return judgeBy(n, filters, y.extra(n))
}

// extra returns the nominated pods that count on a node.
func (y *cycle) extra(n *node) (extra []*corev1.Pod) {
	for _, p := range y.nominated {
		ours := p.Spec.SchedulerName == y.spec.SchedulerName || contains(y.spec.Siblings, p.Spec.SchedulerName)
		if p.Status.NominatedNodeName == n.Name && priority(p) >= priority(y.pod) && p.UID != y.pod.UID && ours && (len(p.Spec.SchedulingGates) == 0 || contains(y.spec.Ungated, p.Spec.SchedulerName)) {
			extra = append(extra, p)
		}
	}
	return extra
}

func judgeBy(n *node, filters []filter, extra []*corev1.Pod) status {
	passes := [][]*corev1.Pod{nil}
	if len(extra) > 0 {
		passes = [][]*corev1.Pod{extra, nil}
	}
	for _, with := range passes {
		for _, f := range filters {
			if st := f(n, with); len(st.reasons) > 0 {
				return st
			}
		}
	}
	return status{}
}

// write puts the answer together.
func (y *cycle) write(d *engine.Decision, failed map[string]status, feasible []*node, scores map[string][]engine.PluginScore) {
	totals := map[string]int64{}
	var top int64
	for i, n := range feasible {
		for _, s := range scores[n.Name] {
			totals[n.Name] += s.Weighted
		}
		if i == 0 || totals[n.Name] > top {
			top = totals[n.Name]
		}
	}
	var second *int64
	for _, n := range y.candidates {
		if st, out := failed[n.Name]; out {
			d.Nodes = append(d.Nodes, st.verdict(n))
			continue
		}
		v := engine.NodeVerdict{Name: n.Name, Feasible: true}
		total := totals[n.Name]
		if scores != nil {
			v.Score, v.Scores = &total, scores[n.Name]
		}
		if total == top {
			d.Best = append(d.Best, n.Name)
		} else if second == nil || total > *second {
			second = &total
		}
		d.Nodes = append(d.Nodes, v)
	}
	d.Counts.Feasible = len(feasible)
	d.Failures = countFailures(d.Nodes)
	if len(feasible) == 0 {
		d.Message = y.message(failed)
		return
	}
	d.Outcome = engine.Scheduled
	if len(d.Best) == 1 {
		d.Devices = y.gifts[d.Best[0]]
	}
	if second != nil {
		m := top - *second
		d.Margin = &m
	}
}

func (st status) verdict(n *node) engine.NodeVerdict {
	return engine.NodeVerdict{Name: n.Name, Plugin: st.plugin, Code: st.code.String(), Reasons: st.reasons}
}

func countFailures(nodes []engine.NodeVerdict) []engine.FailureCount {
	var out []engine.FailureCount
	for _, v := range nodes {
	next:
		for _, r := range v.Reasons {
			for i := range out {
				if f := &out[i]; f.Plugin == v.Plugin && f.Code == v.Code && f.Reason == r {
					f.Nodes++
					continue next
				}
			}
			out = append(out, engine.FailureCount{Plugin: v.Plugin, Code: v.Code, Reason: r, Nodes: 1})
		}
	}
	return out
}

func (y *cycle) message(failed map[string]status) string {
	counts := map[string]int{}
	for _, st := range failed {
		for _, r := range st.reasons {
			counts[r]++
		}
	}
	var parts []string
	for r, n := range counts {
		parts = append(parts, fmt.Sprintf("%d %s", n, r))
	}
	sort.Strings(parts)
	return fmt.Sprintf("0/%d nodes are available: %s.", len(y.candidates), strings.Join(parts, ", "))
}

func priority(p *corev1.Pod) int32 {
	if p.Spec.Priority == nil {
		return 0
	}
	return *p.Spec.Priority
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
