package scenario

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/podlife"
)

// LossRates are the settings of the node lifecycle controller that decide when a lost node is
// tainted (cmd/kube-controller-manager/app/options); upstream's where absent.
type LossRates struct {
	// GraceSeconds is from the last sign of life until the node counts as not ready
	// (--node-monitor-grace-period).
	GraceSeconds *int64 `json:"graceSeconds,omitempty" default:"50"`
	// NodeSeconds is between two nodes of a zone that are tainted (--node-eviction-rate), and
	// PartialSeconds that in a zone of which a share of UnhealthyPercent is lost
	// (--secondary-node-eviction-rate, --unhealthy-zone-threshold), unless it has LargeZone nodes
	// or fewer (--large-cluster-size-threshold), where none is tainted any more. With 0 none is.
	NodeSeconds      *int64 `json:"nodeSeconds,omitempty" default:"10"`
	PartialSeconds   *int64 `json:"partialSeconds,omitempty" default:"100"`
	UnhealthyPercent *int64 `json:"unhealthyPercent,omitempty" default:"55"`
	LargeZone        *int64 `json:"largeZone,omitempty" default:"50"`
} // @name LossRates

// lossRates are LossRates with upstream's values where none are given.
type lossRates struct{ grace, node, partial, percent, large int64 }

func (r *LossRates) resolve() (lossRates, error) {
	out := lossRates{grace: 50, node: 10, partial: 100, percent: 55, large: 50}
	if r == nil {
		return out, nil
	}
	for _, x := range []struct {
		field string
		to    *int64
		given *int64
		most  int64
	}{
		{"graceSeconds", &out.grace, r.GraceSeconds, mostSeconds},
		{"nodeSeconds", &out.node, r.NodeSeconds, mostSeconds},
		{"partialSeconds", &out.partial, r.PartialSeconds, mostSeconds},
		{"unhealthyPercent", &out.percent, r.UnhealthyPercent, 100},
		{"largeZone", &out.large, r.LargeZone, math.MaxInt32},
	} {
		if err := checkNumber("rates."+x.field, x.given, x.most); err != nil {
			return out, err
		}
		if x.given != nil {
			*x.to = *x.given
		}
	}
	return out, nil
}

// LostZone is how the control plane sees a zone once nodes of it are lost.
type LostZone struct {
	Zone string `json:"zone"`
	// Nodes counts its nodes, without those that have the label
	// node.kubernetes.io/exclude-disruption: they do not count for its state.
	Nodes int `json:"nodes"`
	// NotReady counts the lost nodes and those that were not ready before.
	NotReady int `json:"notReady"`
	// State decides how fast nodes are tainted: Normal, PartialDisruption or FullDisruption.
	State string       `json:"state" enums:"Normal,PartialDisruption,FullDisruption"`
	Rule  podlife.Rule `json:"rule"`
	every int64        // seconds between two nodes; 0: none is tainted
} // @name LostZone

// States of a zone (pkg/controller/nodelifecycle).
const (
	zoneNormal  = "Normal"
	zonePartial = "PartialDisruption"
	zoneFull    = "FullDisruption"
)

// excludedLabel keeps a node out of its zone's state (node_lifecycle_controller.go
// labelNodeDisruptionExclusion).
const excludedLabel = "node.kubernetes.io/exclude-disruption"

// zoneOf is the key of a node's zone (k8s.io/component-helpers/node/topology GetZoneKey).
func zoneOf(labels map[string]string) string {
	label := func(old, key string) string {
		if v, ok := labels[old]; ok {
			return v
		}
		return labels[key]
	}
	region, zone := label(corev1.LabelFailureDomainBetaRegion, corev1.LabelTopologyRegion), label(corev1.LabelFailureDomainBetaZone, corev1.LabelTopologyZone)
	if region == "" {
		return zone
	}
	return region + ":" + zone
}

// readZones works out the state of each zone that loses nodes (node_lifecycle_controller.go
// ComputeZoneState, setLimiterInZone, handleDisruption).
func (l *loss) readZones() error {
	l.zones, l.nodes = map[string]*LostZone{}, map[string][]*LostNode{}
	all := map[string]*LostZone{}
	nodes := l.d.State().Nodes()
	for row := range nodes.Alive().All() {
		n := nodes.Node(row)
		key := zoneOf(n.Labels)
		z := all[key]
		if z == nil {
			z = &LostZone{Zone: key}
			all[key] = z
		}
		node, err := l.d.Node(n.Name)
		if err != nil {
			return err
		}
		if l.lost[n.Name] {
			lost := &LostNode{Name: n.Name, Zone: key, NotReadyAfterSeconds: l.rates.grace, RemovedAfterSeconds: l.removed}
			for _, t := range node.Spec.Taints {
				if t.Key != corev1.TaintNodeUnreachable {
					continue
				}
				if lost.NotReadyAfterSeconds = 0; t.Effect == corev1.TaintEffectNoExecute {
					lost.TaintedAfterSeconds = new(int64)
				}
			}
			l.nodes[key] = append(l.nodes[key], lost)
			l.zones[key] = z
			l.pods += l.d.State().PodsOn(row).Len()
		}
		if _, excluded := n.Labels[excludedLabel]; excluded {
			continue
		}
		z.Nodes++
		if l.lost[n.Name] || podlife.NodeStateOf(node) != podlife.NodeHealthy {
			z.NotReady++
		}
	}
	full := 0
	for key, z := range all {
		l.judge(z)
		switch {
		case z.Nodes == 0:
			delete(all, key)
		case z.State == zoneFull:
			full++
		}
	}
	for _, z := range l.zones {
		if full > 0 && full == len(all) {
			z.every = 0
			z.Rule = podlife.Rule{ID: "zone/all-lost", Text: "All zones are fully disrupted, so that the control plane blames itself: it takes the taints off and evicts nothing."}
		}
		l.out.Zones = append(l.out.Zones, z)
	}
	slices.SortFunc(l.out.Zones, func(a, b *LostZone) int { return cmp.Compare(a.Zone, b.Zone) })
	return nil
}

// judge works out a zone's state and rate.
func (l *loss) judge(z *LostZone) {
	r := l.rates
	share := float32(z.NotReady) / float32(z.Nodes)
	partial := z.NotReady > 2 && share >= float32(r.percent)/100
	switch {
	case z.NotReady == z.Nodes && z.Nodes > 0:
		z.State, z.every = zoneFull, r.node
		z.Rule = podlife.Rule{ID: "zone/full", Text: fmt.Sprintf("None of the %d nodes is ready; %s.", z.Nodes, tainted(r.node))}
	case partial && int64(z.Nodes) > r.large:
		z.State, z.every = zonePartial, r.partial
		z.Rule = podlife.Rule{ID: "zone/partial", Text: fmt.Sprintf("%d of %d nodes are not ready, %d percent or more; %s.", z.NotReady, z.Nodes, r.percent, tainted(r.partial))}
	case partial:
		z.State = zonePartial
		z.Rule = podlife.Rule{ID: "zone/partial-small", Text: fmt.Sprintf("%d of %d nodes are not ready, %d percent or more, and the zone has no more than %d nodes; none is tainted.", z.NotReady, z.Nodes, r.percent, r.large)}
	default:
		z.State, z.every = zoneNormal, r.node
		z.Rule = podlife.Rule{ID: "zone/normal", Text: fmt.Sprintf("%d of %d nodes are not ready; %s.", z.NotReady, z.Nodes, tainted(r.node))}
	}
}

// tainted tells a rate.
func tainted(every int64) string {
	if every == 0 {
		return "none is tainted"
	}
	return fmt.Sprintf("one is tainted every %d s", every)
}
