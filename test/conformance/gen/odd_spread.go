package gen

import (
	"fmt"
	"maps"
	"math"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var spreadMutators = []mutator{
	{"spread", (*odd).oddSpread},
	{"owners", (*odd).owners},
	{"hostnames", (*odd).hostnames},
	{"emptyLabels", (*odd).emptyLabels},
}

// oddSpread draws up to six constraints at once, over keys that few nodes have, with skews and
// minimums of domains at the end of 31 bits, and with every mix of policies and match label keys.
func (o *odd) oddSpread() {
	policy := func() *v1.NodeInclusionPolicy {
		return pick(o.maker, nil, new(v1.NodeInclusionPolicyHonor), new(v1.NodeInclusionPolicyIgnore))
	}
	o.incoming.Spec.TopologySpreadConstraints = nil
	seen := map[string]bool{}
	for range o.between(1, 6) {
		c := v1.TopologySpreadConstraint{
			MaxSkew: int32(pick(o.maker, 1, 1, 2, 5, math.MaxInt32)), TopologyKey: o.oddKey(),
			WhenUnsatisfiable: pick(o.maker, v1.DoNotSchedule, v1.ScheduleAnyway), LabelSelector: o.labelSelector(),
			NodeAffinityPolicy: policy(), NodeTaintsPolicy: policy(),
		}
		if id := c.TopologyKey + string(c.WhenUnsatisfiable); seen[id] {
			continue
		} else {
			seen[id] = true
		}
		if c.WhenUnsatisfiable == v1.DoNotSchedule && o.chance(50) {
			c.MinDomains = new(int32(pick(o.maker, 1, 2, 3, 7, math.MaxInt32)))
		}
		if c.LabelSelector != nil && o.chance(50) {
			for _, k := range freeKeys(c.LabelSelector) {
				if o.chance(50) {
					c.MatchLabelKeys = append(c.MatchLabelKeys, k)
				}
			}
		}
		o.incoming.Spec.TopologySpreadConstraints = append(o.incoming.Spec.TopologySpreadConstraints, c)
	}
}

// owners adds services that each select the pod by fewer labels, and an owner that does not count
// in front of a controller of an old API: default constraints select what all of them agree on.
func (o *odd) owners() {
	for i := range o.IntN(5) {
		s := &v1.Service{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: o.meta(o.incoming.Namespace, fmt.Sprintf("odd%d", i), nil)}
		s.Spec.Selector = map[string]string{}
		for _, k := range slices.Sorted(maps.Keys(o.incoming.Labels)) {
			if o.chance(60) {
				s.Spec.Selector[k] = o.incoming.Labels[k]
			}
		}
		s.Spec.Ports = []v1.ServicePort{{Port: 80}}
		o.objs = append(o.objs, s)
	}
	o.incoming.Spec.TopologySpreadConstraints = nil
	if o.chance(50) {
		o.incoming.OwnerReferences = []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "ConfigMap", Name: "x", UID: "x"},
			{
				APIVersion: pick(o.maker, "apps/v1", "apps/v1beta1", "extensions/v1beta1"), Kind: pick(o.maker, "ReplicaSet", "StatefulSet", "Deployment"),
				Name: pick(o.maker, "rs", "ss"), UID: "y", Controller: new(true),
			},
		}
	}
}

// hostnames lets several nodes share a hostname, or have an empty one or another than their name:
// it is a label like any other where pods are counted by it, though upstream counts nodes apart.
func (o *odd) hostnames() {
	for _, n := range o.nodes {
		switch o.IntN(4) {
		case 0:
			n.Labels[v1.LabelHostname] = pick(o.maker, "shared", "twin")
		case 1:
			n.Labels[v1.LabelHostname] = ""
		case 2:
			n.Labels[v1.LabelHostname] = "h-" + n.Name
		}
	}
}

// emptyLabels draws labels of nodes and pods without a value, which make a domain and match
// selectors, where an absent label does neither.
func (o *odd) emptyLabels() {
	for _, n := range o.nodes {
		for _, k := range []string{v1.LabelTopologyZone, v1.LabelTopologyRegion, "disk", "rack", "gen"} {
			if o.chance(25) {
				n.Labels[k] = ""
			}
		}
	}
	o.pods(30, func(p *v1.Pod) {
		if p.Labels == nil {
			p.Labels = map[string]string{}
		}
		p.Labels[pick(o.maker, "app", "tier", "version")] = ""
	})
}
