package extender

import "encoding/json"

// The bodies of the extender protocol as the API's description has them. Package wire reads and
// writes them without these types; a test compares their fields with
// k8s.io/kube-scheduler/extender/v1.

// ExtenderArgs is the request of /filter and /prioritize.
type ExtenderArgs struct {
	// Pod is the v1.Pod to place.
	Pod json.RawMessage `json:"Pod" swaggertype:"object" validate:"required"`
	// Nodes is the v1.NodeList to choose from, in Nodes mode.
	Nodes json.RawMessage `json:"Nodes" swaggertype:"object" extensions:"x-nullable"`
	// NodeNames are the names to choose from, in NodeNames mode.
	NodeNames *[]string `json:"NodeNames" extensions:"x-nullable"`
} // @name ExtenderArgs

// ExtenderFilterResult is the answer of /filter, in the form asked.
type ExtenderFilterResult struct {
	// Nodes are the v1.NodeList of those that fit, in Nodes mode.
	Nodes json.RawMessage `json:"Nodes" swaggertype:"object" extensions:"x-nullable"`
	// NodeNames are those that fit, in NodeNames mode.
	NodeNames *[]string `json:"NodeNames" extensions:"x-nullable"`
	// FailedNodes don't fit, but evicting pods may change that: node to reason.
	FailedNodes map[string]string `json:"FailedNodes" extensions:"x-nullable"`
	// FailedAndUnresolvableNodes don't fit whatever is evicted: node to reason.
	FailedAndUnresolvableNodes map[string]string `json:"FailedAndUnresolvableNodes" extensions:"x-nullable"`
	// Error is the reason why the whole call failed.
	Error string `json:"Error"`
} // @name ExtenderFilterResult

// HostPriority is a node's score.
type HostPriority struct {
	Host  string `json:"Host"`
	Score int64  `json:"Score" minimum:"0" maximum:"10"`
} // @name HostPriority

// ExtenderPreemptionArgs is the request of /preempt, in one of two forms.
type ExtenderPreemptionArgs struct {
	// Pod is the v1.Pod that preempts.
	Pod json.RawMessage `json:"Pod" swaggertype:"object" validate:"required"`
	// NodeNameToVictims are the pods to evict by node, whole (nodeCacheCapable: false).
	NodeNameToVictims map[string]*ExtenderVictims `json:"NodeNameToVictims" extensions:"x-nullable"`
	// NodeNameToMetaVictims are the pods to evict by node, by UID (nodeCacheCapable: true).
	NodeNameToMetaVictims map[string]*ExtenderMetaVictims `json:"NodeNameToMetaVictims" extensions:"x-nullable"`
} // @name ExtenderPreemptionArgs

// ExtenderPreemptionResult is the answer of /preempt, by UID whatever form was asked in.
type ExtenderPreemptionResult struct {
	// NodeNameToMetaVictims are the nodes on which preemption helps.
	NodeNameToMetaVictims map[string]*ExtenderMetaVictims `json:"NodeNameToMetaVictims" validate:"required"`
} // @name ExtenderPreemptionResult

// ExtenderVictims are the pods to evict from a node.
type ExtenderVictims struct {
	// Pods are v1.Pods, highest priority first.
	Pods             []json.RawMessage `json:"Pods" swaggertype:"array,object" extensions:"x-nullable"`
	NumPDBViolations int64             `json:"NumPDBViolations"`
} // @name ExtenderVictims

// ExtenderMetaVictims are the pods to evict from a node, by UID.
type ExtenderMetaVictims struct {
	// Pods are in order of priority, highest first.
	Pods             []*ExtenderMetaPod `json:"Pods" extensions:"x-nullable"`
	NumPDBViolations int64              `json:"NumPDBViolations"`
} // @name ExtenderMetaVictims

// ExtenderMetaPod is a pod's UID.
type ExtenderMetaPod struct {
	UID string `json:"UID"`
} // @name ExtenderMetaPod

// ExtenderBindingArgs is the request of /bind.
type ExtenderBindingArgs struct {
	PodName      string `json:"PodName"`
	PodNamespace string `json:"PodNamespace"`
	PodUID       string `json:"PodUID"`
	Node         string `json:"Node"`
} // @name ExtenderBindingArgs

// ExtenderBindingResult is the answer of /bind.
type ExtenderBindingResult struct {
	// Error is the reason why the pod is not bound; empty if it is.
	Error string `json:"Error"`
} // @name ExtenderBindingResult
