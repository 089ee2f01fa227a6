package scenario

import (
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/state"
)

// pools are the labels by which providers name a node's pool, and the instance type where there is
// none of them.
var pools = []string{
	"karpenter.sh/nodepool", "eks.amazonaws.com/nodegroup", "cloud.google.com/gke-nodepool", "kubernetes.azure.com/agentpool",
	"agentpool", "doks.digitalocean.com/node-pool", corev1.LabelInstanceTypeStable,
}

// LabelOf returns the label that a word stands for: zone, region, node (or host) and pool, which is
// the first label of a provider that a node has. Every other word is a label itself.
func LabelOf(nodes *state.NodeSet, word string) string {
	switch word {
	case "zone":
		return corev1.LabelTopologyZone
	case "region":
		return corev1.LabelTopologyRegion
	case "node", "host", "hostname":
		return corev1.LabelHostname
	case "pool":
		for _, key := range pools {
			for row := range nodes.Alive().All() {
				if nodes.Node(row).Labels[key] != "" {
					return key
				}
			}
		}
		return corev1.LabelInstanceTypeStable
	}
	return word
}
