package naive

import (
	corev1 "k8s.io/api/core/v1"
	dracel "k8s.io/dynamic-resource-allocation/cel"

	"berth/internal/engine"
	"berth/internal/engine/rules"
)

// Alone runs every plugin of a profile on each node as if no other were enabled. It returns the
// failures and the errors by node, in the profile's order of filters.
func Alone(c *Cluster, pod *corev1.Pod, spec rules.Spec) (failing map[string][]engine.RuleFailure, broken map[string][]engine.NotEvaluated) {
	failing, broken = map[string][]engine.RuleFailure{}, map[string][]engine.NotEvaluated{}
	for _, name := range spec.Filter {
		y := &cycle{Cluster: c, pod: pod, spec: &spec, given: map[string]int64{}, gifts: map[string][]engine.AllottedDevice{}, compiled: map[string]*dracel.CompilationResult{}}
		var whole status
		if contains(spec.PreFilter, name) {
			whole = y.turnedDownBy(name)
		}
		var f filter
		if len(whole.reasons) == 0 { // else there is nothing to filter by
			f = y.filter(name)
		}
		for _, n := range c.nodes {
			st := whole
			if f != nil {
				st = judgeBy(n, []filter{f}, y.extra(n))
			}
			switch {
			case len(st.reasons) == 0:
			case st.code == engine.Error:
				broken[n.Name] = append(broken[n.Name], engine.NotEvaluated{Plugin: name, Reason: st.reasons[0]})
			default:
				failing[n.Name] = append(failing[n.Name], engine.RuleFailure{Plugin: name, Code: st.code.String(), Reasons: st.reasons})
			}
		}
	}
	return failing, broken
}
