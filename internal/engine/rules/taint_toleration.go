package rules

import (
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// ReasonTaint is the reason of a tainted node. Upstream no longer names the taint; the details do.
const ReasonTaint = "node(s) had untolerated taint(s)"

// TaintToleration rejects nodes with NoSchedule and NoExecute taints that the pod does not
// tolerate, and prefers nodes with fewer PreferNoSchedule taints that it does not tolerate
// (plugins/tainttoleration).
type TaintToleration struct{}

var (
	_ engine.Filterer[engine.NoState] = TaintToleration{}
	_ engine.Scorer[engine.NoState]   = TaintToleration{}
	_ engine.Detailer[engine.NoState] = TaintToleration{}
	_ engine.Local                    = TaintToleration{}
)

// taintTolerationDescriptor is the rule's entry in the registry.
var taintTolerationDescriptor = Descriptor{
	Plugin: "TaintToleration", Phases: []string{phaseFilter, phaseScore}, Weight: 3,
	Also: []string{phasePreScore}, Needs: scoreNeeds,
	Judges: "NoSchedule and NoExecute taints that the pod does not tolerate. The score prefers nodes with fewer untolerated PreferNoSchedule taints.",
	Code:   codeUnresolvable, Reasons: []string{ReasonTaint}, Upstream: "tainttoleration/taint_toleration.go",
	Details: []*engine.DetailKind{{
		Name: "taint", Fields: "key, value, effect", Cause: func(d *engine.Detail) engine.Cause {
			return engine.Cause{Code: engine.CauseUntoleratedTaint, About: TaintWords(d)}
		},
		Words: func(d *engine.Detail, _ engine.AmountsFunc) string { return TaintWords(d) },
	}},
	in:    withPreFilter,
	build: always[engine.NoState](TaintToleration{}),
}

// Name is the plugin's name.
func (TaintToleration) Name() string { return "TaintToleration" }

// Locality returns NodesOnly: taints belong to nodes.
func (TaintToleration) Locality(_ *engine.Query) engine.Locality { return engine.NodesOnly }

// Filter judges each distinct list of taints once.
func (TaintToleration) Filter(q *engine.Query, _ engine.NoState, in state.Bits, rej *engine.Rejected) error {
	q.Work(len(q.Nodes.TaintSets()) * (1 + len(q.Pod.Spec.Tolerations)))
	out, any := q.Nodes.TaintedRows(q.Bits, func(taints []corev1.Taint) bool {
		return firstUntolerated(q.Pod.Spec.Tolerations, taints) != nil
	})
	if !any {
		return nil
	}
	out.And(in)
	rej.Add(ReasonTaint, engine.UnschedulableAndUnresolvable, out)
	return nil
}

// Details names the taints that the pod does not tolerate.
func (TaintToleration) Details(q *engine.Query, _ engine.NoState, row int) []engine.Detail {
	var out []engine.Detail
	taints := q.Nodes.Node(row).Taints
	for i := range taints {
		if t := &taints[i]; keepsOut(t) && !tolerates(q.Pod.Spec.Tolerations, t) {
			out = append(out, engine.Detail{Kind: "taint", Key: t.Key, Value: t.Value, Effect: string(t.Effect)})
		}
	}
	return out
}

// Score counts the PreferNoSchedule taints that the pod does not tolerate; fewer is better. Only
// tolerations of that effect, or of all effects, count.
func (TaintToleration) Score(q *engine.Query, _ engine.NoState, feasible state.Bits, out *engine.Scores) error {
	var tolerations []corev1.Toleration
	for _, t := range q.Pod.Spec.Tolerations {
		if t.Effect == "" || t.Effect == corev1.TaintEffectPreferNoSchedule {
			tolerations = append(tolerations, t)
		}
	}
	sets := q.Nodes.TaintSets()
	count := make([]int64, len(sets))
	any := false
	for i, taints := range sets {
		for k := range taints {
			if t := &taints[k]; t.Effect == corev1.TaintEffectPreferNoSchedule && !tolerates(tolerations, t) {
				count[i]++
				any = true
			}
		}
	}
	if !any {
		out.Uniform(0, engine.MaxScore)
		return nil
	}
	of := q.Nodes.TaintSetOf()
	for row := range feasible.All() {
		out.Raw[row] = count[of[row]]
	}
	engine.NormalizeByMax(feasible, out, true)
	return nil
}

// TaintWords writes the taint of a detail as kubectl does.
func TaintWords(d *engine.Detail) string {
	if d.Value == "" {
		return d.Key + ":" + d.Effect
	}
	return d.Key + "=" + d.Value + ":" + d.Effect
}
