package limits

import "time"

// Fixed are the bounds that are the same for every server, with the reason for their values. A
// refusal names one by its name tag, as it names a limit that is set. They are no flags: no
// document ever gave a reason to tune one, and one that is set too high opens the server to what it
// bounds. A program that makes an API may set them, tests above all.
type Fixed struct {
	// Extender calls in NodeNames mode: a kube-scheduler decides one pod at a time, so that four at
	// once serve as many of them, with three times the 5,000 nodes that Kubernetes supports. What
	// waits does so for less than its own deadline.
	FilterMaxBytes    Bytes         `name:"filter-max-bytes" default:"2MiB"`
	FilterMaxNames    int           `name:"filter-max-names" default:"15000"`
	FilterInFlight    int           `name:"filter-in-flight" default:"4"`
	FilterTotal       int           `name:"filter-total" default:"64"`
	FilterQueue       int           `name:"filter-queue" default:"32"`
	ExtenderQueueWait time.Duration `name:"extender-queue-wait" default:"1s"`

	// In Nodes mode a body has 5,000 whole nodes of up to 25 KiB, which take as much memory as
	// all else: one at a time of a cluster. Bodies and the cache are less where the memory limit
	// leaves less room (Fit).
	NodesMaxBytes   Bytes `name:"nodes-max-bytes" default:"128MiB"`
	NodesMaxNodes   int   `name:"nodes-max-nodes" default:"5000"`
	NodesMaxTokens  int   `name:"nodes-max-tokens" default:"5000000"`
	NodesInFlight   int   `name:"nodes-in-flight" default:"1"`
	NodesTotal      int   `name:"nodes-total" default:"4"`
	NodesQueue      int   `name:"nodes-queue" default:"4"`
	NodesCacheBytes Bytes `name:"nodes-cache-bytes" default:"256MiB"`

	// A binding has a few hundred bytes. kube-scheduler binds pods concurrently.
	BindMaxBytes Bytes `name:"bind-max-bytes" default:"16KiB"`
	BindInFlight int   `name:"bind-in-flight" default:"32"`
	BindTotal    int   `name:"bind-total" default:"128"`
	BindQueue    int   `name:"bind-queue" default:"64"`

	// Snapshots are streamed: what is kept of one is bounded by objects, and what a small body
	// inflates to by the ratio. Each holds its cluster while it lasts.
	SnapshotMaxBytes    Bytes         `name:"snapshot-max-bytes" default:"1GiB"`
	SnapshotMaxInflated Bytes         `name:"snapshot-max-inflated" default:"4GiB"`
	SnapshotMaxRatio    int           `name:"snapshot-max-ratio" default:"1000"`
	SnapshotInFlight    int           `name:"snapshot-in-flight" default:"1"`
	SnapshotTotal       int           `name:"snapshot-total" default:"2"`
	SnapshotQueue       int           `name:"snapshot-queue" default:"4"`
	SnapshotDeadline    time.Duration `name:"snapshot-deadline" default:"10m"`
	MaxTokens           int           `name:"max-json-tokens" default:"200000000"`
	MaxObjects          int           `name:"max-objects" default:"500000"`
	MaxObjectBytes      Bytes         `name:"max-object-bytes" default:"4MiB"`
	MaxAliases          int           `name:"max-yaml-aliases" default:"1000"`
	MaxYAMLTokens       int           `name:"max-yaml-tokens" default:"100000"`
	MaxDepth            int           `name:"max-json-depth" default:"64"`

	// Objects that etcd takes, of 1.5 MiB, stay far below. Verdicts on each node quote or repeat
	// what is bounded here, so that it is a factor of what a decision costs.
	MaxNodeTerms   int `name:"max-node-affinity-terms" default:"64"`
	MaxPodTerms    int `name:"max-pod-affinity-terms" default:"64"`
	MaxExpressions int `name:"max-expressions" default:"64"`
	MaxValues      int `name:"max-expression-values" default:"5000"`
	MaxConstraints int `name:"max-spread-constraints" default:"16"`
	MaxLabelKeys   int `name:"max-match-label-keys" default:"64"`
	MaxTolerations int `name:"max-tolerations" default:"256"`
	MaxLabels      int `name:"max-labels" default:"1000"`
	MaxTaints      int `name:"max-taints" default:"256"`
	MaxContainers  int `name:"max-containers" default:"512"`
	MaxResources   int `name:"max-resource-names" default:"256"`
	MaxItems       int `name:"max-list-items" default:"20000"`
	MaxNameBytes   int `name:"max-name-bytes" default:"1024"`

	// Bodies of one object or a few, with room for the largest object that etcd takes.
	ChangesMaxBytes       Bytes `name:"changes-max-bytes" default:"16MiB"`
	ChangesMaxTokens      int   `name:"changes-max-tokens" default:"2000000"`
	DecisionMaxBytes      Bytes `name:"decision-max-bytes" default:"3MiB"`
	DecisionMaxTokens     int   `name:"decision-max-tokens" default:"300000"`
	PriorityClassMaxBytes Bytes `name:"priority-class-max-bytes" default:"64KiB"`

	// A placement holds its cluster while its pods are decided, 20 to 100 us each, which a body of
	// a change has room for. Each pod that is to be removed takes the placement once more.
	PlacementMaxPods     int `name:"placement-max-pods" default:"10000"`
	PlacementMaxRemovals int `name:"placement-max-removals" default:"1000"`

	MaxPriorityClasses    int `name:"max-priority-classes" default:"250"`
	MaxAllPriorityClasses int `name:"max-all-priority-classes" default:"20000"`

	// A decision takes one processor. What is let in at once keeps processors busy while records
	// are written; a longer queue would only answer after the deadline. The steps bound one
	// decision at seconds.
	DecisionInFlight int `name:"decision-in-flight" default:"16"`
	DecisionQueue    int `name:"decision-queue" default:"512"`
	MaxSteps         int `name:"max-decision-steps" default:"50000000"`

	// Replays, scenarios and queries are long, and leave processors to decisions.
	ReplayInFlight      int           `name:"replay-in-flight" default:"2"`
	ReplayQueue         int           `name:"replay-queue" default:"64"`
	ReplayDeadline      time.Duration `name:"replay-deadline" default:"5m"`
	ReplayJobs          int           `name:"replay-jobs" default:"16"`
	ScenarioMaxBytes    Bytes         `name:"scenario-max-bytes" default:"16MiB"`
	ScenarioMaxTokens   int           `name:"scenario-max-tokens" default:"2000000"`
	ScenarioMaxPods     int           `name:"scenario-max-pods" default:"100000"`
	ScenarioMaxSteps    int           `name:"scenario-max-decisions" default:"1000000"`
	ScenarioMaxNodes    int           `name:"scenario-max-nodes" default:"5000"`
	ScenarioInFlight    int           `name:"scenario-in-flight" default:"2"`
	ScenarioQueue       int           `name:"scenario-queue" default:"16"`
	ScenarioClusterJobs int           `name:"scenario-jobs-per-cluster" default:"4"`
	ScenarioDeadline    time.Duration `name:"scenario-deadline" default:"2m"` // in its call
	ScenarioJobDeadline time.Duration `name:"scenario-job-deadline" default:"1h"`
	ScenarioMaxResult   Bytes         `name:"scenario-max-result" default:"64MiB"`

	// Reads leave processors to decisions, ready queries connections of the database to all else. A
	// page of a list is read by people.
	ReadInFlight  int           `name:"read-in-flight" default:"16"`
	ReadQueue     int           `name:"read-queue" default:"64"`
	ReadDeadline  time.Duration `name:"read-deadline" default:"30s"`
	QueryInFlight int           `name:"query-in-flight" default:"2"`
	QueryQueue    int           `name:"query-queue" default:"16"`
	QueryDeadline time.Duration `name:"query-deadline" default:"5s"`
	MaxPage       int           `name:"max-page" default:"500"`

	// A body that comes slower holds its slot and its memory for minutes. A burst is two seconds of
	// --caller-rate; half of --max-connections stays for other clients; headers are as large as
	// what common proxies pass on.
	MinBodyRate        Bytes         `name:"min-body-rate" default:"8KiB"`
	BodyGrace          time.Duration `name:"body-grace" default:"5s"`
	CallerBurst        int           `name:"caller-burst" default:"10000"`
	MaxPeerConnections int           `name:"max-peer-connections" default:"500"`
	MaxHeaderBytes     Bytes         `name:"max-header-bytes" default:"16KiB"`

	// A whole state is written after so many changes, after up to ten times as many in a large
	// cluster: a revision that is loaded applies no more of them.
	CheckpointEvery int `name:"checkpoint-every" default:"500"`

	// What a list of waiting pods and a difference show at once, and how many configurations a
	// scenario compares. These never were flags, and no refusal names them as limits.
	PendingPage, DiffPage, ScenarioProfiles int
}
