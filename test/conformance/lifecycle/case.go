// Package lifecycle puts berth's POST /v1/pods/lifecycle on trial against the
// kubelet's, PodGC's, the node lifecycle controller's and kubectl's own code.
package lifecycle

import (
	"encoding/json"
	"time"

	v1 "k8s.io/api/core/v1"
)

// Node is what a case says of the pod's node.
type Node int

// A case's node is healthy, not Ready, or gone.
const (
	Healthy Node = iota
	Lost
	Gone
)

// Case is a question to both sides. Kubelet reports that the statuses are as a
// kubelet wrote them, so that the whole kubelet may be asked.
type Case struct {
	Pod     *v1.Pod
	Node    Node
	Now     time.Time
	Kubelet bool
	// Semantics is the release that berth answers as; empty: its default.
	Semantics string
}

// Body is the question as it is sent to berth.
func (c *Case) Body() ([]byte, error) {
	q := map[string]any{"pod": c.Pod, "now": c.Now.Format(time.RFC3339Nano)}
	if c.Semantics != "" {
		q["semantics"] = c.Semantics
	}
	switch c.Node {
	case Lost:
		status := []string{"False", "Unknown"}[len(c.Pod.Name)%2]
		q["node"] = map[string]any{"metadata": map[string]any{"name": c.Pod.Spec.NodeName}, "status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": status}}}}
	case Gone:
		q["node"] = nil
	}
	return json.Marshal(q)
}

// Verdict is an answer, as far as it is compared.
type Verdict struct {
	Phase, Status, Ready, Restarts string
	Reason, Message                string // of the phase
	Conditions                     []Condition
	Containers                     []Container
	// sandbox reports whether the case reports whether the pod has a sandbox. Where it
	// does not, what the oracle says of it is an assumption of this trial.
	sandbox bool
}

// Condition is one of a verdict's.
type Condition struct {
	Type, Status, Reason, Message string
	ObservedGeneration            int64
	LastTransitionTime            string
}

// Container is one of a verdict's. At is when a back-off ends.
type Container struct {
	Name, Kind, State, Reason, Action, At string
	RestartCount                          int32
}

func shown(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
