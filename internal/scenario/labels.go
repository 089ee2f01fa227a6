package scenario

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/state"
)

// pools are the labels by which providers name a node's pool, and the instance type where there is
// none of them.
var pools = []string{
	"karpenter.sh/nodepool", "eks.amazonaws.com/nodegroup", "cloud.google.com/gke-nodepool", "kubernetes.azure.com/agentpool",
	"agentpool", "doks.digitalocean.com/node-pool", corev1.LabelInstanceTypeStable,
}

// racks are labels by which people name a node's rack.
var racks = []string{
	"topology.kubernetes.io/rack", "topology.rook.io/rack", "failure-domain.beta.kubernetes.io/rack", "rack",
}

// labelOf returns the label that a word stands for: zone, region, node (or host), pool, which is
// the first label of a provider that a node has, and rack, which is the pool where no node has a
// rack. Every other word is a label itself.
func labelOf(nodes *state.NodeSet, word string) string {
	switch word {
	case "zone":
		return corev1.LabelTopologyZone
	case "region":
		return corev1.LabelTopologyRegion
	case "node", "host", "hostname":
		return corev1.LabelHostname
	case "rack":
		if key := firstLabel(nodes, racks); key != "" {
			return key
		}
		return labelOf(nodes, "pool")
	case "pool":
		return cmp.Or(firstLabel(nodes, pools), corev1.LabelInstanceTypeStable)
	}
	return word
}

// firstLabel returns the first of the labels that a node has; empty if none has one.
func firstLabel(nodes *state.NodeSet, keys []string) string {
	for _, key := range keys {
		for row := range nodes.Alive().All() {
			if nodes.Node(row).Labels[key] != "" {
				return key
			}
		}
	}
	return ""
}
