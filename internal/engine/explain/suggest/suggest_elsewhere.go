package suggest

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"berth/internal/engine"
	"berth/internal/engine/explain"
)

const (
	// maxElsewhere is how many nodes in other zones are tried.
	maxElsewhere = 8
	// newZone stands for a zone that no node is in, whose name is not known.
	newZone = "new-zone"
)

// nodeElsewhere adds a copy of an existing node in another zone: one of the nodes', one that the
// pod's volumes are in, or, where the pod is spread over zones or kept apart by them, one without
// nodes. Of what a copy has beside its zone nothing is new.
func (s *searcher) nodeElsewhere(alone *explain.Alone) {
	if s.q.Options.Candidates != nil || s.base.PreFilter != nil {
		return
	}
	like := s.kinds(func(row int) bool { return s.couldBeElsewhere(alone, row) })
	needs, tries := nodeaffinity.GetRequiredNodeAffinity(s.q.Pod), 0
	for _, zone := range s.zones() {
		for _, n := range like {
			at := *n
			if at.Labels = InZone(n.Labels, zone); n.Labels[corev1.LabelTopologyZone] == zone {
				continue
			}
			if ok, err := needs.Match(&at); err != nil || !ok {
				continue
			}
			if tries++; tries > maxElsewhere || s.offerNodeLike(n, zone) {
				return
			}
		}
	}
}

// couldBeElsewhere reports whether the causes against a node may be absent on an empty copy in
// another zone.
func (s *searcher) couldBeElsewhere(alone *explain.Alone, row int) bool {
	return s.absentOnCopy(alone, row, "NodeName", "NodeDeclaredFeatures")
}

// zones returns the zones that a copy may be in: those of the pod's volumes, else those of the
// nodes by name, and in the end one that has none.
func (s *searcher) zones() []string {
	var out []string
	add := func(zone string) {
		if zone != "" && !slices.Contains(out, zone) {
			out = append(out, zone)
		}
	}
	in := func(terms []corev1.NodeSelectorTerm) {
		for i := range terms {
			for _, e := range terms[i].MatchExpressions {
				if strings.HasSuffix(e.Key, "/zone") && e.Operator == corev1.NodeSelectorOpIn {
					for _, zone := range e.Values {
						add(zone)
					}
				}
			}
		}
	}
	for _, d := range s.causes(1<<30, "volumeAffinity", "volumeZone") {
		if pv := s.q.State.PersistentVolume(d.Volume); pv != nil {
			if a := pv.Spec.NodeAffinity; a != nil && a.Required != nil {
				in(a.Required.NodeSelectorTerms)
			}
			add(pv.Labels[corev1.LabelTopologyZone])
		}
	}
	if len(out) > 0 {
		return out
	}
	out = slices.Sorted(slices.Values(s.base.Nodes().Column(corev1.LabelTopologyZone).Values))
	out = slices.DeleteFunc(out, func(zone string) bool { return zone == "" })
	apart := slices.ContainsFunc(s.causes(1<<30, "topologySpread", "podAntiAffinity"), func(d *seen) bool { return d.TopologyKey == corev1.LabelTopologyZone })
	if apart && !slices.Contains(out, newZone) {
		out = append(out, newZone)
	}
	return out
}

// askPools is the command that tries how many such nodes the pod needs; empty for a pod that the
// cluster does not have.
func (s *searcher) askPools(like, zone string) string {
	p := s.q.Pod
	if s.q.State.Pod(p.Namespace, p.Name) == nil || s.base.Outcome == engine.Gated {
		return ""
	}
	if zone != "" {
		like += ",zone=" + zone
	}
	return "berth pools " + p.Namespace + "/" + p.Name + " --like " + like
}
