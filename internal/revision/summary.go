package revision

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Summary describes what a state holds and what is odd about it.
type Summary struct {
	Objects map[string]int `json:"objects"`
	// Ignored counts what the upload held of kinds that are not kept; changes
	// leave it as it is.
	Ignored map[string]int `json:"ignored,omitempty"`
	// Holds are those whose pods the state has on their nodes, and that have not ended.
	Holds   *HoldSum `json:"holds,omitempty"`
	Hygiene Hygiene  `json:"hygiene"`
}

// HoldSum sums the holds of a state up.
type HoldSum struct {
	Held int `json:"held"`
	// Until is when the time of the first of them is over.
	Until time.Time `json:"until"`
}

// Hygiene describes what a snapshot lacks and what in it cannot be as a cluster has
// it, since decisions are as good as what they are made on.
type Hygiene struct {
	MissingKinds       []MissingKind `json:"missingKinds,omitempty"`
	PodsOnUnknownNodes PodList       `json:"podsOnUnknownNodes"`
	// PodsOfUnknownClasses have no priority and name a class that neither the
	// snapshot nor berth knows: they count as priority 0.
	PodsOfUnknownClasses PodList `json:"podsOfUnknownClasses,omitzero"`
	// PodsOfWrappingAmounts ask for amounts that do not fit 64 bits in their unit. They wrap, as
	// in kube-scheduler, and such a pod may count as less than nothing.
	PodsOfWrappingAmounts PodList `json:"podsOfWrappingAmounts,omitzero"`
	TerminalPods          int     `json:"terminalPods"`
	PendingPods           int     `json:"pendingPods"`
	// NodesWithoutCapacity counts nodes that take no pod, since they say of no pods,
	// or of neither cpu nor memory, that they have room for it.
	NodesWithoutCapacity int `json:"nodesWithoutCapacity,omitempty"`
	// NodesOvercommitted counts nodes whose pods ask for more cpu, memory or ephemeral storage than
	// the node has, or are more than it takes. A kubelet admits none of those that are too many.
	NodesOvercommitted int `json:"nodesOvercommitted,omitempty"`
	// NodesNotReady are so by their conditions, and NodesCordoned by hand or by a drain.
	NodesNotReady NodeList `json:"nodesNotReady,omitzero"`
	NodesCordoned NodeList `json:"nodesCordoned,omitzero"`
	// GlobalDefaults counts priority classes with globalDefault. An apiserver admits one.
	GlobalDefaults int `json:"globalDefaults,omitempty"`
	// BudgetsWithoutDisruptions counts budgets whose status allows no disruption, or
	// that have none.
	BudgetsWithoutDisruptions int      `json:"budgetsWithoutDisruptions,omitempty"`
	Notes                     []string `json:"notes,omitempty"`
}

// MissingKind is a kind of which the snapshot has no object, and what cannot be
// decided without.
type MissingKind struct {
	Kind        string `json:"kind"`
	Consequence string `json:"consequence,omitempty"`
}

// PodList counts pods and names the first of them.
type PodList struct {
	Count  int         `json:"count"`
	Sample []PodOnNode `json:"sample,omitempty"` // at most 20, by namespace and name
}

// NodeList counts nodes and names the first of them.
type NodeList struct {
	Count  int      `json:"count"`
	Sample []string `json:"sample,omitempty"` // at most 10, by name
}

// nodesNamed is how many nodes a NodeList names.
const nodesNamed = 10

func (l *NodeList) add(name string) {
	if l.Count++; len(l.Sample) < nodesNamed {
		l.Sample = append(l.Sample, name)
	}
}

// words names the nodes, and how many more there are.
func (l *NodeList) words() string {
	s := strings.Join(l.Sample, ", ")
	if more := l.Count - len(l.Sample); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// PodOnNode is a pod and what it names that is not there: a node or a class.
type PodOnNode struct {
	Namespace         string `json:"namespace"`
	Name              string `json:"name"`
	Node              string `json:"node,omitempty"`
	PriorityClassName string `json:"priorityClassName,omitempty"`
}

// sampleSize is how many pods a PodList names.
const sampleSize = 20

// Collect is the command that prints a snapshot with every kind that
// [MissingKind] warns of, and behind them those that only controllers and admission read. It has to
// work on clusters of any age, whose kubectl refuses the whole list for one kind that it does not
// know, so that devices' kinds (resource.k8s.io) are not among them.
const Collect = "kubectl get nodes,pods,ns,svc,rc,rs,sts,pdb,pc,pv,pvc,sc,csinodes,deploy,ds,jobs,cj,limits,quota,runtimeclasses -A -o json"

// consequences says, for each kind that decisions read, what its absence means.
// The order is the report's.
var consequences = []MissingKind{
	{"Node", "no pod can be placed: every decision says that no nodes are available"},
	{"Pod", "all nodes count as empty: resources, ports, affinity and spreading see no pods"},
	{"Namespace", "a namespaceSelector matches no namespace, unless it is empty ({}), which matches all"},
	{"Service", "default topology spreading cannot select by a pod's Services"},
	{"ReplicationController", "default topology spreading cannot select by a pod's ReplicationController"},
	{"ReplicaSet", "default topology spreading cannot select by a pod's ReplicaSet"},
	{"StatefulSet", "default topology spreading cannot select by a pod's StatefulSet"},
	{"PriorityClass", "a pod that names a class other than the two system classes is refused, and one that names none has priority 0"},
	{"PodDisruptionBudget", "every eviction counts as allowed"},
	{"PersistentVolumeClaim", "a pod that mounts a claim fits nowhere: its claim is not found"},
	{"PersistentVolume", "a pod whose claim is bound fits nowhere: its volume is not found"},
	{"StorageClass", "a claim that names a class and has no volume yet cannot wait for its pod, so the pod fits nowhere"},
	{"CSINode", "nodes take any number of volumes, and volumes of built-in plugins do not count as those of CSI drivers"},
}

// spreadKinds are those of which one is enough for default spreading.
var spreadKinds = []string{"Service", "ReplicationController", "ReplicaSet", "StatefulSet"}

const noSpreading = "no Service, ReplicationController, ReplicaSet or StatefulSet: default topology spreading cannot apply to any pod without constraints of its own"

// describe fills in what follows from the counts alone.
func (s *Summary) describe() {
	h := &s.Hygiene
	h.MissingKinds, h.Notes = nil, nil
	for _, m := range consequences {
		if s.Objects[m.Kind] == 0 {
			h.MissingKinds = append(h.MissingKinds, m)
		}
	}
	for _, n := range s.notes() {
		if n.count > n.from {
			h.Notes = append(h.Notes, n.text())
		}
	}
}

// hygieneNote is a cause of trouble: it is one where the count is above from.
type hygieneNote struct {
	count, from int
	format      string // of the count, or of the pods that it counts
}

func (n hygieneNote) text() string {
	switch {
	case strings.HasPrefix(n.format, "%s"):
		return fmt.Sprintf(n.format, pods(n.count))
	case strings.HasPrefix(n.format, "%d"):
		return fmt.Sprintf(n.format, n.count)
	}
	return n.format
}

// notes returns all causes in the order of the report, always the same ones.
func (s *Summary) notes() []hygieneNote {
	h := &s.Hygiene
	spread, ignored, unspread := 0, 0, 0
	for _, k := range spreadKinds {
		spread += s.Objects[k]
	}
	if spread == 0 {
		unspread = 1
	}
	for _, n := range s.Ignored {
		ignored += n
	}
	return []hygieneNote{
		{unspread, 0, noSpreading},
		{h.PodsOnUnknownNodes.Count, 0, "%s on nodes that the snapshot does not have: nothing that they hold is counted"},
		{h.PodsOfUnknownClasses.Count, 0, "%s of a priority class that is not known, without a priority of their own: they count as priority 0, and are refused when they are to be placed"},
		{h.PodsOfWrappingAmounts.Count, 0, "%s asking for amounts that do not fit 64 bits in their unit: they wrap, as in kube-scheduler, and what is said of their nodes is wrong"},
		{h.TerminalPods, 0, "%s ended (Succeeded or Failed): no room is counted for them"},
		{h.NodesNotReady.Count, 0, "%d node(s) are NotReady: " + h.NodesNotReady.words()},
		{h.NodesCordoned.Count, 0, "%d node(s) are cordoned: " + h.NodesCordoned.words()},
		{h.NodesWithoutCapacity, 0, "%d node(s) have no room for any pod: status.allocatable (or capacity) needs pods, and cpu or memory"},
		{h.NodesOvercommitted, 0, "%d node(s) hold pods that ask together for more than the node has: nothing else fits there, and a kubelet would have admitted fewer"},
		{h.GlobalDefaults, 1, "%d priority classes are the global default, of which an apiserver admits one: the one with the lowest value counts"},
		{h.BudgetsWithoutDisruptions, 0, "%d PodDisruptionBudget(s) allow no disruption; one without status counts so, since its controller fills in status.disruptionsAllowed"},
		{ignored, 0, "%d object(s) of kinds that no decision reads were left out"},
	}
}

// since leaves of the missing kinds and notes those that were no trouble before,
// or have grown.
func (s *Summary) since(before *Summary) Summary {
	out := *s
	h := &out.Hygiene
	h.MissingKinds, h.Notes = nil, nil
	for _, m := range s.Hygiene.MissingKinds {
		if before.Objects[m.Kind] > 0 {
			h.MissingKinds = append(h.MissingKinds, m)
		}
	}
	old := before.notes()
	for i, n := range s.notes() {
		if n.count > n.from && n.count > old[i].count {
			h.Notes = append(h.Notes, n.text())
		}
	}
	return out
}

func pods(n int) string {
	if n == 1 {
		return "1 pod is"
	}
	return fmt.Sprintf("%d pods are", n)
}

// encode writes the summary for the store, without what describe fills in.
func (s *Summary) encode() ([]byte, error) {
	short := *s
	short.Hygiene.MissingKinds, short.Hygiene.Notes = nil, nil
	js, err := json.Marshal(&short)
	if err != nil {
		return nil, fmt.Errorf("encode summary: %w", err)
	}
	return js, nil
}

// ParseSummary reads a stored revision's summary and completes it.
func ParseSummary(js []byte) (Summary, error) {
	var s Summary
	if len(js) > 0 {
		if err := json.Unmarshal(js, &s); err != nil {
			return s, fmt.Errorf("summary: %w (%w)", ErrCorrupt, err)
		}
	}
	s.describe()
	return s, nil
}
