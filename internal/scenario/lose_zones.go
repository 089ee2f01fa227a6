package scenario

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/podlife"
)

// LossRates are the settings of the node lifecycle controller that decide when a lost node is
// tainted (cmd/kube-controller-manager/app/options).
type LossRates struct {
	// GraceSeconds is from the last sign of life until the node counts as not ready
	// (--node-monitor-grace-period).
	GraceSeconds int64 `json:"graceSeconds"`
	// NodeSeconds is between two nodes of a zone that are tainted (--node-eviction-rate), and
	// PartialSeconds that in a zone of which a share of UnhealthyPercent is lost
	// (--secondary-node-eviction-rate, --unhealthy-zone-threshold), unless it has LargeZone nodes
	// or fewer (--large-cluster-size-threshold), where none is tainted any more.
	NodeSeconds      int64 `json:"nodeSeconds"`
	PartialSeconds   int64 `json:"partialSeconds"`
	UnhealthyPercent int   `json:"unhealthyPercent"`
	LargeZone        int   `json:"largeZone"`
} // @name LossRates

// defaultLossRates are upstream's.
var defaultLossRates = LossRates{GraceSeconds: 50, NodeSeconds: 10, PartialSeconds: 100, UnhealthyPercent: 55, LargeZone: 50}

// LostZone is how the control plane sees a zone once nodes of it are lost.
type LostZone struct {
	Zone  string `json:"zone"`
	Nodes int    `json:"nodes"`
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

// zoneOf is the key of a node's zone (k8s.io/component-helpers/node/topology GetZoneKey).
func zoneOf(labels map[string]string) string {
	region, zone := labels[corev1.LabelTopologyRegion], labels[corev1.LabelTopologyZone]
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
	nodes := l.d.f.State().Nodes()
	for row := range nodes.Alive().All() {
		n := nodes.Node(row)
		key := zoneOf(n.Labels)
		z := all[key]
		if z == nil {
			z = &LostZone{Zone: key}
			all[key] = z
		}
		z.Nodes++
		node, err := l.d.f.Node(n.Name)
		if err != nil {
			return err
		}
		if l.lost[n.Name] {
			l.nodes[key] = append(l.nodes[key], &LostNode{Name: n.Name, Zone: key, NotReadyAfterSeconds: l.rates.GraceSeconds, RemovedAfterSeconds: l.removed})
			l.zones[key] = z
		}
		if l.lost[n.Name] || podlife.NodeStateOf(node) != podlife.NodeHealthy {
			z.NotReady++
		}
	}
	full := 0
	for _, z := range all {
		l.judge(z)
		if z.State == zoneFull {
			full++
		}
	}
	for _, z := range l.zones {
		if full == len(all) {
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
	switch {
	case z.NotReady == z.Nodes:
		z.State, z.every = zoneFull, r.NodeSeconds
		z.Rule = podlife.Rule{ID: "zone/full", Text: fmt.Sprintf("None of the %d nodes is ready; one is tainted every %d s.", z.Nodes, r.NodeSeconds)}
	case z.NotReady > 2 && share >= float32(r.UnhealthyPercent)/100 && z.Nodes > r.LargeZone:
		z.State, z.every = zonePartial, r.PartialSeconds
		z.Rule = podlife.Rule{ID: "zone/partial", Text: fmt.Sprintf("%d of %d nodes are not ready, %d percent or more; one is tainted every %d s.", z.NotReady, z.Nodes, r.UnhealthyPercent, r.PartialSeconds)}
	case z.NotReady > 2 && share >= float32(r.UnhealthyPercent)/100:
		z.State = zonePartial
		z.Rule = podlife.Rule{ID: "zone/partial-small", Text: fmt.Sprintf("%d of %d nodes are not ready, %d percent or more, and the zone has no more than %d nodes; none is tainted.", z.NotReady, z.Nodes, r.UnhealthyPercent, r.LargeZone)}
	default:
		z.State, z.every = zoneNormal, r.NodeSeconds
		z.Rule = podlife.Rule{ID: "zone/normal", Text: fmt.Sprintf("%d of %d nodes are not ready; one is tainted every %d s.", z.NotReady, z.Nodes, r.NodeSeconds)}
	}
}
