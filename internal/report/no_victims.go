package report

import (
	"fmt"
	"slices"
	"strings"

	"berth/internal/engine"
)

// waitedFor is how many pods a sentence about earlier victims names.
const waitedFor = 3

// NoVictims returns in a sentence why no pods are evicted for one that fits nowhere. That no
// eviction would do is another thing than that kube-scheduler makes none.
func NoVictims(p *engine.Preemption) string {
	switch {
	case p == nil:
	case len(p.WaitsFor) > 0:
		var names []string
		for _, r := range p.WaitsFor[:min(len(p.WaitsFor), waitedFor)] {
			names = append(names, r.Namespace+"/"+r.Name)
		}
		if more := len(p.WaitsFor) - waitedFor; more > 0 {
			names = append(names, fmt.Sprintf("%d more", more))
		}
		return "kube-scheduler evicts no other pods for it before those are gone that it had evicted already: " + strings.Join(names, ", ") + "."
	case p.Reason != "":
		return "kube-scheduler evicts no pods for it: " + strings.TrimSuffix(p.Reason, ".") + "."
	case slices.ContainsFunc(p.NotCandidates, func(n engine.NotCandidate) bool { return n.Plugin == "DynamicResources" }):
		return "No eviction by kube-scheduler helps: a device counts as taken until its claim is given up, which is after its pod is gone."
	}
	return "Evicting pods does not help."
}
