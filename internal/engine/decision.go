package engine

// Version is the engine's own version. It changes whenever an answer could change, so that a replay
// can name the engine of the recorded answer.
const Version = "v0.3.0"

// Code is a rule's verdict about one node. The names are those of
// kube-scheduler's framework (k8s.io/kube-scheduler/framework Code).
type Code uint8

// The verdicts. Success is never written out for a node: a node without a
// failing plugin is feasible.
const (
	Success Code = iota
	// Unschedulable: removing pods might help, so preemption may try the node.
	Unschedulable
	// UnschedulableAndUnresolvable: no preemption can help.
	UnschedulableAndUnresolvable
	// Error: the rule could not judge, which fails the whole decision.
	Error
)

// String returns upstream's spelling.
func (c Code) String() string {
	switch c {
	case Success:
		return "Success"
	case Unschedulable:
		return "Unschedulable"
	case UnschedulableAndUnresolvable:
		return "UnschedulableAndUnresolvable"
	default:
		return "Error"
	}
}

// Outcome is the result of a decision.
type Outcome string

// The outcomes.
const (
	Scheduled       Outcome = "Scheduled"
	UnschedulableOK Outcome = "Unschedulable" // an answer, not an error: no node is feasible
	Gated           Outcome = "Gated"
	Preempting      Outcome = "Preempting"
)

// Explain is how much of a decision is written.
type Explain string

// The levels of explanation.
const (
	// ExplainFailures lists the nodes that failed and the best ten.
	ExplainFailures Explain = "failures"
	// ExplainFull lists every node with its scores.
	ExplainFull Explain = "full"
	// ExplainNone lists no node.
	ExplainNone Explain = "none"
	// ExplainGroups lists no node either: the caller groups them.
	ExplainGroups Explain = "groups"
	// ExplainAll is ExplainFull with every rule that rejects a node, where
	// kube-scheduler stops at the first.
	ExplainAll Explain = "all"
)

// Decision is a complete, explained answer. It marshals to the decision part
// of the API's answer; ids and times of record are added by the audit.
type Decision struct {
	Outcome       Outcome            `json:"outcome"`
	Node          string             `json:"node,omitempty"`
	NominatedNode string             `json:"nominatedNode,omitempty"`
	Message       string             `json:"message"`
	Priority      int32              `json:"priority"`
	Profile       string             `json:"profile"`
	Gates         []string           `json:"gates,omitempty"`
	Nodes         []NodeVerdict      `json:"nodes,omitempty"`
	NodesOmitted  int                `json:"nodesOmitted,omitempty"`
	Counts        Counts             `json:"counts"`
	Failures      []FailureCount     `json:"failures,omitempty"`
	Best          []string           `json:"best,omitempty"`
	Margin        *int64             `json:"margin,omitempty"`
	Spread        []SpreadConstraint `json:"topologySpread,omitempty"`
	Preemption    *Preemption        `json:"preemption,omitempty"`
	Volumes       []VolumeBinding    `json:"volumes,omitempty"`
	Devices       []AllottedDevice   `json:"devices,omitempty"`
	NotEvaluated  []NotEvaluated     `json:"notEvaluated,omitempty"`
	Digest        string             `json:"digest"`
}

// Counts are numbers of nodes.
type Counts struct {
	Nodes    int `json:"nodes"`    // nodes considered
	Feasible int `json:"feasible"` // nodes that passed every filter
}

// FailureCount is how many nodes a plugin rejected first with a reason. One node counts once per
// reason, so the sum may exceed the number of nodes.
type FailureCount struct {
	Plugin string `json:"plugin"`
	Code   string `json:"code"`
	Reason string `json:"reason"`
	Nodes  int    `json:"nodes"`
}

// NodeVerdict is the verdict on one node: feasible with its scores, or the first plugin in
// upstream's order that failed it.
type NodeVerdict struct {
	Name     string        `json:"name"`
	Feasible bool          `json:"feasible"`
	Score    *int64        `json:"score,omitempty"` // weighted total; absent where no scoring took place
	Scores   []PluginScore `json:"scores,omitempty"`
	Plugin   string        `json:"plugin,omitempty"`
	Code     string        `json:"code,omitempty"`
	// Stage is where Plugin rejects the node.
	Stage   Stage    `json:"stage,omitempty" enums:"PreFilter,PreFilterNarrowing,Filter" swaggertype:"string"`
	Reasons []string `json:"reasons,omitempty"`
	Details []Detail `json:"details,omitempty"`
	// AlsoFailing are the other filters that reject the node when each is run on its
	// own, in the profile's order. They are worked out for ExplainAll, and are part of
	// no digest.
	AlsoFailing []RuleFailure `json:"alsoFailing,omitempty"`
	// NotJudged are filters that fail with an error on the node and that kube-scheduler did not
	// reach, since another filter rejects it before.
	NotJudged []NotEvaluated `json:"notJudged,omitempty"`
}

// Stage is a point of kube-scheduler's cycle at which a node is rejected.
type Stage string

// The stages: a PreFilter rejects the pod on every node, or leaves nodes out; a Filter rejects one
// node. Extenders are not asked.
const (
	StagePreFilter Stage = "PreFilter"
	StageNarrowing Stage = "PreFilterNarrowing"
	StageFilter    Stage = "Filter"
)

// RuleFailure is what one filter returns about a node that it rejects.
type RuleFailure struct {
	Plugin  string   `json:"plugin"`
	Code    string   `json:"code"`
	Reasons []string `json:"reasons"`
	Details []Detail `json:"details,omitempty"`
}

// PluginScore is one plugin's score of one node. Weighted is Normalized × Weight; the node's total
// is the sum of the weighted scores.
type PluginScore struct {
	Plugin     string `json:"plugin"`
	Raw        int64  `json:"raw"`
	Normalized int64  `json:"normalized"`
	Weight     int64  `json:"weight"`
	Weighted   int64  `json:"weighted"`
	// Parts are what constraints and terms add to the raw score, which is the sum of their points,
	// rounded. They are worked out for ExplainAll, for the best nodes and the one that the question
	// names, and are part of no digest.
	Parts []ScorePart `json:"parts,omitempty"`
}

// ScorePart is what one constraint or term adds to a plugin's raw score of a node.
type ScorePart struct {
	By PartKind `json:"by" enums:"topologySpread,nodeAffinity,addedAffinity,podAffinity,podAntiAffinity,othersPodAffinity,othersPodAntiAffinity,more" swaggertype:"string"`
	// TopologyKey is that of a constraint, or of a term about pods.
	TopologyKey string `json:"topologyKey,omitempty"`
	// Term is the selector in words; of more: how many others there are.
	Term string `json:"term,omitempty"`
	// Count is the number of pods in the node's domain that count; of node affinity 1 where the
	// node matches.
	Count int64 `json:"count"`
	// Weight is that of the term, negative for anti-affinity; of a constraint: ln(domains + 2).
	Weight float64 `json:"weight"`
	// Base is maxSkew - 1 of a constraint.
	Base int64 `json:"base,omitempty"`
	// Points are Count × Weight + Base.
	Points float64 `json:"points"`
}

// PartKind is what a part of a score comes from.
type PartKind string

// The kinds. Others' terms are those of pods that are there and select the pod.
const (
	PartSpread          PartKind = "topologySpread"
	PartNodeAffinity    PartKind = "nodeAffinity"
	PartAddedAffinity   PartKind = "addedAffinity"
	PartAffinity        PartKind = "podAffinity"
	PartAntiAffinity    PartKind = "podAntiAffinity"
	PartOthersAffinity  PartKind = "othersPodAffinity"
	PartOthersAntiAffin PartKind = "othersPodAntiAffinity"
	PartMore            PartKind = "more"
)

// AllottedDevice is a device that the pod would get on the chosen node, with its claim and request:
// request/alternative where the request left a choice. The claim named <extended-resources>,
// kube-scheduler's name for it in memory, stands for extended resources that device classes
// provide.
type AllottedDevice struct {
	Claim   string `json:"claim"`
	Request string `json:"request"`
	Driver  string `json:"driver"`
	Pool    string `json:"pool"`
	Device  string `json:"device"`
}

// Detail is the structured cause of a node's failure. Which fields are set depends on Kind: each
// rule's descriptor lists its kinds (DetailKind), and rules/plugins.md their fields. The kind more
// has as its name how many details are left out. A term is cut off behind 1,024 bytes.
type Detail struct {
	Kind        string `json:"kind"`
	Key         string `json:"key,omitempty"`
	Value       string `json:"value,omitempty"`
	Effect      string `json:"effect,omitempty"`
	Name        string `json:"name,omitempty"`
	Requested   *int64 `json:"requested,omitempty"`
	Available   *int64 `json:"available,omitempty"`
	Capacity    *int64 `json:"capacity,omitempty"`
	TopologyKey string `json:"topologyKey,omitempty"`
	Domain      string `json:"domain,omitempty"`
	Matching    *int64 `json:"matching,omitempty"`
	Skew        *int64 `json:"skew,omitempty"`
	MaxSkew     *int64 `json:"maxSkew,omitempty"`
	Protocol    string `json:"protocol,omitempty"`
	HostIP      string `json:"hostIP,omitempty"`
	Port        int32  `json:"port,omitempty"`
	Term        string `json:"term,omitempty"`
	Claim       string `json:"claim,omitempty"`
	Request     string `json:"request,omitempty"`
	Volume      string `json:"volume,omitempty"`
	// Blockers are the objects that cause it, at most MaxBlockers; BlockersOmitted counts the rest.
	Blockers        []Blocker `json:"blockers,omitempty"`
	BlockersOmitted int       `json:"blockersOmitted,omitempty"`
}

// VolumeBinding is what one of the pod's waiting claims gets on the chosen node: an existing
// volume, or a new one of a storage class.
type VolumeBinding struct {
	Claim     string `json:"claim"`
	Volume    string `json:"volume,omitempty"`
	Provision string `json:"provision,omitempty"`
}

// SpreadConstraint is one row of the spread table: a constraint and its
// domains in order of value.
type SpreadConstraint struct {
	TopologyKey       string         `json:"topologyKey"`
	WhenUnsatisfiable string         `json:"whenUnsatisfiable"`
	MaxSkew           int32          `json:"maxSkew"`
	MinDomains        *int32         `json:"minDomains,omitempty"`
	LabelSelector     string         `json:"labelSelector"`
	Source            string         `json:"source"` // pod, or defaultConstraints (System or List)
	SelfMatch         bool           `json:"selfMatch"`
	GlobalMinimum     *int           `json:"globalMinimum,omitempty"` // hard constraints only
	Domains           []SpreadDomain `json:"domains"`
	DomainsOmitted    int            `json:"domainsOmitted,omitempty"`
}

// SpreadDomain is one topology value. SkewIfPlaced is what the filter compares with
// maxSkew: the domain's pods with this one, less the global minimum before it is placed.
// SkewAfter is the domain's skew once the pod is there, when the minimum may have risen.
// Eligible is false where no node of the domain counts.
type SpreadDomain struct {
	Value        string `json:"value"`
	Nodes        int    `json:"nodes"`
	Matching     int    `json:"matching"`
	SkewIfPlaced int    `json:"skewIfPlaced"`
	SkewAfter    int    `json:"skewAfter"`
	Eligible     bool   `json:"eligible"`
	Why          string `json:"why,omitempty"` // why the domain is not eligible
	// HoldsPod is set where the pod is bound there already. It was taken out to decide where it
	// would go, and is not among matching.
	HoldsPod bool `json:"holdsPod,omitempty"`
	// Pods are those that count, LeftOut those that the selector matches and that do not, each with
	// why: at most ten of each, by name. The last counts those beyond.
	Pods           []SpreadPod `json:"pods,omitempty"`
	LeftOut        []SpreadPod `json:"leftOut,omitempty"`
	LeftOutOmitted int         `json:"leftOutOmitted,omitempty"`
}

// SpreadPod is a pod of a domain, of the namespace of the pod in question.
type SpreadPod struct {
	Name string `json:"name"`
	Node string `json:"node"`
	Why  string `json:"why,omitempty"`
}

// NotEvaluated names a plugin that the engine cannot judge with this snapshot or in this version,
// and why. Its verdict is left out, never guessed.
type NotEvaluated struct {
	Plugin string `json:"plugin"`
	Reason string `json:"reason"`
}
