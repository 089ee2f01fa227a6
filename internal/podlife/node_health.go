package podlife

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/words"
)

// The states of nodes, as in kubectl's column STATUS.
const (
	NodeIsReady  = "Ready"
	NodeNotReady = "NotReady"
)

// NodeHealth is how a node stands, by its own conditions.
type NodeHealth struct {
	// State is Ready or NotReady; absent where the node says nothing of itself.
	State string `json:"state,omitempty" enums:"Ready,NotReady" example:"NotReady"`
	// Since is when the state began; absent where the condition does not say.
	Since *time.Time `json:"since,omitempty"`
	// Conditions are those that are true of the node and should not be.
	Conditions []string `json:"conditions,omitempty" example:"MemoryPressure"`
	// Deleting reports that the node is being deleted.
	Deleting bool `json:"deleting,omitempty"`
}

// HealthOf reads a node's health.
func HealthOf(node *corev1.Node) NodeHealth {
	out := NodeHealth{Deleting: node.DeletionTimestamp != nil}
	ready := readyCondition(node)
	switch {
	case NodeStateOf(node) == NodeLost:
		out.State = NodeNotReady
	case ready != nil:
		out.State = NodeIsReady
	}
	if ready != nil && !ready.LastTransitionTime.IsZero() {
		at := ready.LastTransitionTime.UTC()
		out.Since = &at
	}
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type != corev1.NodeReady && c.Status == corev1.ConditionTrue && trouble(c.Type) {
			out.Conditions = append(out.Conditions, string(c.Type))
		}
	}
	return out
}

// trouble reports whether a condition is bad news where it is True.
func trouble(t corev1.NodeConditionType) bool {
	switch t {
	case corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure, corev1.NodeNetworkUnavailable:
		return true
	}
	return false
}

// Words returns what is wrong with a node, such as "NotReady since 00:58:00, cordoned"; empty for
// nothing.
func (h *NodeHealth) Words(cordoned bool, now time.Time) string {
	var list []string
	if h.State == NodeNotReady {
		s := NodeNotReady
		if h.Since != nil {
			s += " since " + words.Clock(*h.Since, now)
		}
		list = append(list, s)
	}
	if cordoned {
		list = append(list, "cordoned")
	}
	list = append(list, h.Conditions...)
	if h.Deleting {
		list = append(list, "being deleted")
	}
	return strings.Join(list, ", ")
}
