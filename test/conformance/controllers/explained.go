package controllers

import (
	corev1 "k8s.io/api/core/v1"
)

// explanation is a known difference of a part: upstream's function, and what berth does instead on
// purpose. It covers a case where it says so.
type explanation struct {
	part, name, upstream, why string
	covers                    func(k *Case, lines []string) bool
}

// explanations are all known differences: at most ten of a part.
var explanations = []explanation{
	{
		"statefulset", "no pod is there", "stateful_set_utils.go newVersionedStatefulSetPod",
		"berth makes a pod like the set's others, with what admission gave them; without one it refuses to scale",
		func(k *Case, _ []string) bool { return len(of[corev1.Pod](k)) == 0 },
	},
}

// Explain names the explanation that covers the difference of a case; empty where none does.
func Explain(p *Part, k *Case, lines []string) string {
	for _, e := range explanations {
		if e.part == p.Name && e.covers(k, lines) {
			return e.name
		}
	}
	return ""
}
