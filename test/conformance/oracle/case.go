// Package oracle asks kube-scheduler's own code for a verdict: given the
// objects of a cluster and one pending pod it builds the real scheduler over
// them and reports what each extension point says. Nothing in it judges; it
// feeds upstream's types and writes down their answers.
package oracle

import (
	"encoding/json"
	"fmt"
)

// Key names the pod that is to be decided.
type Key struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// Case is one trial. Objects are raw and not defaulted, as a person would post
// them; Config is a KubeSchedulerConfiguration or absent for the defaults. Odd
// are the mutators that changed it.
type Case struct {
	ID      string            `json:"id"`
	Seed    uint64            `json:"seed"`
	Pod     Key               `json:"pod"`
	Objects []json.RawMessage `json:"objects"`
	Config  json.RawMessage   `json:"config,omitempty"`
	Odd     []string          `json:"odd,omitempty"`
	Verdict *Verdict          `json:"verdict,omitempty"`
}

// List is the case's objects as one v1 List, the body of POST /v1/snapshots.
func (c *Case) List() ([]byte, error) {
	return json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": c.Objects})
}

// The outcomes of a verdict. Error stands for a scheduling cycle that failed,
// which upstream retries and never answers.
const (
	Scheduled     = "Scheduled"
	Unschedulable = "Unschedulable"
	Gated         = "Gated"
	Failed        = "Error"
)

// Verdict is upstream's answer with preemption left aside; what preemption
// would do stands in Preemption.
type Verdict struct {
	Outcome string `json:"outcome"`
	// Message is the event's text without what PostFilter plugins add to it.
	Message string `json:"message,omitempty"`
	// PostFilter is what they add, after a space; absent where preemption finds a
	// candidate, of which Preemption.Told tells.
	PostFilter string `json:"postFilter,omitempty"`
	// Nominated reports whether the pod's own nominated node was taken unscored: no
	// other node was looked at.
	Nominated bool     `json:"nominated,omitempty"`
	Nodes     int      `json:"nodes"`
	Feasible  []string `json:"feasible,omitempty"`
	// Best are the nodes upstream may choose from, by name.
	Best     []string  `json:"best,omitempty"`
	Failures []Failure `json:"failures,omitempty"`
	Scores   *Scores   `json:"scores,omitempty"`
	Gates    []string  `json:"gates,omitempty"`
	// Devices are what the pod's claims get on each of the best nodes, written
	// "claim request driver/pool/device".
	Devices map[string][]string `json:"devices,omitempty"`
	// Preemption is set for a pod that no node takes and whose priority allows it.
	Preemption *Preemption `json:"preemption,omitempty"`
}

// Failure is one status and the nodes that got it. Plugin is empty where
// upstream attaches none (nodes that PreFilter left out).
type Failure struct {
	Plugin  string   `json:"plugin,omitempty"`
	Code    string   `json:"code"`
	Reasons []string `json:"reasons"` // sorted
	Nodes   []string `json:"nodes"`   // sorted
}

// Scores are a table: columns are plugins, rows the feasible nodes. Plugins
// skipped at PreScore have no column. Weighted is normalized times weight.
type Scores struct {
	Plugins []string            `json:"plugins"`
	Weights []int64             `json:"weights"`
	Nodes   map[string]ScoreRow `json:"nodes"`
}

// ScoreRow is one node's scores, aligned with Scores.Plugins.
type ScoreRow struct {
	Raw        []int64 `json:"raw"`
	Normalized []int64 `json:"normalized"`
	Total      int64   `json:"total"`
}

// Preemption is DefaultPreemption's dry run over every candidate node.
type Preemption struct {
	Eligible   bool        `json:"eligible"`
	Reason     string      `json:"reason,omitempty"`
	Candidates []Candidate `json:"candidates,omitempty"` // sorted by node
	// Choices are the nodes that upstream may nominate.
	Choices []string `json:"choices,omitempty"`
	// Told is by choice what the message ends with, after a space; nothing where that is nothing.
	Told map[string]string `json:"told,omitempty"`
}

// Candidate is a node on which preemption helps. Victims are namespace/name,
// in upstream's order.
type Candidate struct {
	Node             string   `json:"node"`
	Victims          []string `json:"victims"`
	NumPDBViolations int64    `json:"numPDBViolations"`
}

// FindPod returns the raw object of the pod that is to be decided.
func (c *Case) FindPod() (json.RawMessage, error) {
	for _, raw := range c.Objects {
		var o struct {
			Kind     string
			Metadata Key
		}
		if err := json.Unmarshal(raw, &o); err != nil {
			return nil, err
		}
		if o.Metadata.Namespace == "" {
			o.Metadata.Namespace = "default"
		}
		if o.Kind == "Pod" && o.Metadata == c.Pod {
			return raw, nil
		}
	}
	return nil, fmt.Errorf("the case holds no pod %s/%s", c.Pod.Namespace, c.Pod.Name)
}
