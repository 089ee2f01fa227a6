package suggest

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"berth/internal/engine"
	"berth/internal/engine/explain"
)

// maxElsewhere is how many nodes at other places are tried.
const maxElsewhere = 8

// fresh is put before the end of a key for a value that no node has and whose name is not known,
// such as new-zone.
const fresh = "new-"

// place is where a copy of a node is otherwise than the node, by topology keys.
type place []placeLabel

type placeLabel struct{ key, value string }

// newValue stands for a value of a key that no node has.
func newValue(key string) string { return fresh + key[strings.LastIndexByte(key, '/')+1:] }

// labels returns a node's labels as they are at the place.
func (p place) labels(of map[string]string) map[string]string {
	out := maps.Clone(of)
	if out == nil {
		out = map[string]string{}
	}
	for _, l := range p {
		if l.key == corev1.LabelTopologyZone {
			out = InZone(out, l.value)
		}
		out[l.key] = l.value
	}
	return out
}

// beside returns what of the place a node does not have.
func (p place) beside(labels map[string]string) place {
	return slices.DeleteFunc(slices.Clone(p), func(l placeLabel) bool { return labels[l.key] == l.value })
}

// words names the place behind a node.
func (p place) words() (out string) {
	for i, l := range p {
		if i > 0 {
			out += " and"
		}
		switch isNew := l.value == newValue(l.key); {
		case l.key == corev1.LabelTopologyZone && isNew:
			out += " in a zone that has none"
		case l.key == corev1.LabelTopologyZone:
			out += " in zone " + l.value
		case isNew:
			out += " with a value of " + l.key + " that no node has"
		default:
			out += " with " + l.key + "=" + l.value
		}
	}
	return out
}

// describe writes the place into a suggestion.
func (p place) describe(g *Suggestion) {
	for _, l := range p {
		if l.key == corev1.LabelTopologyZone {
			g.Zone = l.value
			continue
		}
		if g.Labels == nil {
			g.Labels = map[string]string{}
		}
		g.Labels[l.key] = l.value
	}
}

// Pool names the nodes that a suggestion adds as the flag --like does; empty where it adds none.
func (g *Suggestion) Pool() string {
	if g.Like == "" {
		return ""
	}
	out := g.Like
	if g.Zone != "" {
		out += ",zone=" + g.Zone
	}
	for _, key := range slices.Sorted(maps.Keys(g.Labels)) {
		out += ",label=" + key + "=" + g.Labels[key]
	}
	return out
}

// nodeElsewhere adds a copy of an existing node at another place: in one of the nodes' zones, where
// the pod's volumes are, or, where the pod is spread or kept apart by a key, at one without nodes.
// Of what a copy has beside its place nothing is new.
func (s *searcher) nodeElsewhere(alone *explain.Alone) {
	if s.q.Options.Candidates != nil || s.base.PreFilter != nil {
		return
	}
	places := s.places()
	needs, tries := nodeaffinity.GetRequiredNodeAffinity(s.q.Pod), 0
	like := s.kinds(func(row int) bool {
		n := s.base.Nodes().Node(row)
		could := slices.ContainsFunc(places[:min(len(places), maxElsewhere)], func(p place) bool {
			ok, err := needs.Match(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: p.labels(n.Labels)}})
			return ok && err == nil
		})
		return could && s.couldBeElsewhere(alone, row)
	})
	for _, there := range places {
		for _, n := range like {
			p, at := there.beside(n.Labels), *n
			if len(p) == 0 {
				continue
			}
			at.Labels = p.labels(n.Labels)
			if ok, err := needs.Match(&at); err != nil || !ok {
				continue
			}
			if tries++; tries > maxElsewhere || s.offerNodeLike(n, p) {
				return
			}
		}
	}
}

// couldBeElsewhere reports whether the causes against a node may be absent on an empty copy at
// another place.
func (s *searcher) couldBeElsewhere(alone *explain.Alone, row int) bool {
	return s.absentOnCopy(alone, row, "NodeName", "NodeDeclaredFeatures")
}

// places returns where a copy may be: where the pod's volumes are, else in the zones of the nodes,
// and at values of the other keys by which pods are spread or kept apart, each by name and in the
// end one that no node has.
func (s *searcher) places() []place {
	if out := s.volumePlaces(); len(out) > 0 {
		return out
	}
	var apart []string
	for _, d := range s.causes(1<<30, "topologySpread", "podAntiAffinity") {
		if d.TopologyKey != "" && d.TopologyKey != corev1.LabelHostname && !slices.Contains(apart, d.TopologyKey) {
			apart = append(apart, d.TopologyKey)
		}
	}
	keys := append([]string{corev1.LabelTopologyZone}, slices.DeleteFunc(slices.Sorted(slices.Values(apart)), func(key string) bool { return key == corev1.LabelTopologyZone })...)
	var out []place
	for _, key := range keys {
		values := slices.Sorted(slices.Values(s.base.Nodes().Column(key).Values))
		values = slices.DeleteFunc(values, func(value string) bool { return value == "" })
		if isNew := newValue(key); slices.Contains(apart, key) && !slices.Contains(values, isNew) {
			values = append(values, isNew)
		}
		for _, value := range values {
			out = append(out, place{{key, value}})
		}
	}
	return out
}

// volumePlaces returns where the pod's volumes that are out of reach can be used: by the terms of
// their node affinity, which VolumeBinding reads, and by their labels of zone and region, which
// VolumeZone reads. A volume on one node is nowhere else.
func (s *searcher) volumePlaces() (out []place) {
	add := func(p place) {
		if len(p) > 0 && !slices.ContainsFunc(out, func(o place) bool { return slices.Equal(o, p) }) {
			out = append(out, p)
		}
	}
	for _, d := range s.causes(1<<30, "volumeAffinity", "volumeZone") {
		pv := s.q.State.PersistentVolume(d.Volume)
		if pv == nil {
			continue
		}
		if a := pv.Spec.NodeAffinity; a != nil && a.Required != nil {
			for i := range a.Required.NodeSelectorTerms {
				for _, p := range termPlaces(&a.Required.NodeSelectorTerms[i]) {
					add(p)
				}
			}
		}
		var labeled place
		for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion} {
			if value := pv.Labels[key]; value != "" {
				labeled = append(labeled, placeLabel{key, value})
			}
		}
		add(labeled)
	}
	return out
}

// termPlaces returns the places that a term names: one for each value where it has one key, else
// the first value of each. A driver's own name for the zone is the zone. What the term says beside
// In is left to the try.
func termPlaces(term *corev1.NodeSelectorTerm) (out []place) {
	var in []corev1.NodeSelectorRequirement
	for _, e := range term.MatchExpressions {
		if strings.HasSuffix(e.Key, "/zone") {
			e.Key = corev1.LabelTopologyZone
		}
		known := slices.ContainsFunc(in, func(o corev1.NodeSelectorRequirement) bool { return o.Key == e.Key })
		if e.Operator == corev1.NodeSelectorOpIn && len(e.Values) > 0 && !known {
			in = append(in, e)
		}
	}
	switch {
	case len(term.MatchFields) > 0, slices.ContainsFunc(in, func(e corev1.NodeSelectorRequirement) bool { return e.Key == corev1.LabelHostname }):
	case len(in) == 1:
		for _, value := range in[0].Values {
			out = append(out, place{{in[0].Key, value}})
		}
	case len(in) > 1:
		var all place
		for _, e := range in {
			all = append(all, placeLabel{e.Key, e.Values[0]})
		}
		out = append(out, all)
	}
	return out
}

// askPools is the command that tries how many nodes like those of a suggestion the pod needs; empty
// for a pod that the cluster does not have.
func (s *searcher) askPools(g *Suggestion) string {
	p := s.q.Pod
	if s.q.State.Pod(p.Namespace, p.Name) == nil || s.base.Outcome == engine.Gated {
		return ""
	}
	return "berth pools " + p.Namespace + "/" + p.Name + " --like " + g.Pool()
}
