package handlers

import (
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"berth/internal/handlers/wire"
	"berth/internal/kubeobj"
)

// Limits are the bounds of what one server takes on. Each is a setting; a refusal names it by its
// name tag. The tags are read by the command line and by DefaultLimits, so that a limit is declared
// in one line.
type Limits struct {
	FilterMaxBytes  Bytes `name:"filter-max-bytes" default:"2MiB" help:"Body of /filter and /prioritize in NodeNames mode; what is larger counts as Nodes mode."`
	FilterMaxNames  int   `name:"filter-max-names" default:"15000" help:"Names in NodeNames."`
	FilterInFlight  int   `name:"filter-in-flight" default:"4" help:"Calls of /filter and /prioritize at once, per cluster; one that only waits for its record counts no more."`
	FilterTotal     int   `name:"filter-total" default:"64" help:"Calls of /filter and /prioritize at once, over all clusters."`
	FilterQueue     int   `name:"filter-queue" default:"32" help:"Calls of /filter and /prioritize that wait for their turn, per cluster."`
	NodesMaxBytes   Bytes `name:"nodes-max-bytes" default:"128MiB" help:"Body of /filter and /prioritize in Nodes mode; a fourteenth of the memory limit, if that is less and this is not set."`
	NodesMaxNodes   int   `name:"nodes-max-nodes" default:"5000" help:"Nodes in a body in Nodes mode."`
	NodesMaxTokens  int   `name:"nodes-max-tokens" default:"5000000" help:"JSON keys and values in a body of /filter or /prioritize."`
	NodesInFlight   int   `name:"nodes-in-flight" default:"1" help:"Calls in Nodes mode at once, per cluster."`
	NodesTotal      int   `name:"nodes-total" default:"4" help:"Calls in Nodes mode at once, over all clusters."`
	NodesQueue      int   `name:"nodes-queue" default:"4" help:"Calls in Nodes mode that wait for their turn, per cluster."`
	NodesCacheBytes Bytes `name:"nodes-cache-bytes" default:"256MiB" help:"Memory for nodes known from earlier calls in Nodes mode, over all clusters; a fourteenth of the memory limit, if that is less and this is not set."`

	ExtenderDeadline  time.Duration `name:"extender-deadline" default:"4s" help:"Time for an extender call; keep it below the httpTimeout of kube-scheduler's configuration (5s there)."`
	ExtenderQueueWait time.Duration `name:"extender-queue-wait" default:"1s" help:"How long an extender call waits for its turn."`
	BindMaxBytes      Bytes         `name:"bind-max-bytes" default:"16KiB" help:"Body of /bind."`
	BindInFlight      int           `name:"bind-in-flight" default:"32" help:"Calls of /bind at once, per cluster."`
	BindTotal         int           `name:"bind-total" default:"128" help:"Calls of /bind at once, over all clusters."`
	BindQueue         int           `name:"bind-queue" default:"64" help:"Calls of /bind that wait for their turn, per cluster."`

	SnapshotMaxBytes    Bytes         `name:"snapshot-max-bytes" default:"1GiB" help:"Body of a snapshot as sent."`
	SnapshotMaxInflated Bytes         `name:"snapshot-max-inflated" default:"4GiB" help:"Body of a snapshot once decompressed."`
	SnapshotMaxRatio    int           `name:"snapshot-max-ratio" default:"1000" help:"Decompressed to compressed size of a snapshot, judged from 1 MiB on."`
	SnapshotInFlight    int           `name:"snapshot-in-flight" default:"1" help:"Uploads at once, per cluster."`
	SnapshotTotal       int           `name:"snapshot-total" default:"2" help:"Uploads at once, over all clusters."`
	SnapshotQueue       int           `name:"snapshot-queue" default:"4" help:"Uploads that wait for their turn, over all clusters."`
	SnapshotDeadline    time.Duration `name:"snapshot-deadline" default:"10m" help:"Time for an upload."`
	MaxTokens           int           `name:"max-json-tokens" default:"200000000" help:"JSON values in a snapshot."`
	MaxObjects          int           `name:"max-objects" default:"500000" help:"Objects kept of a snapshot."`
	MaxNodes            int           `name:"max-nodes" default:"20000" help:"Nodes in a snapshot."`
	MaxPods             int           `name:"max-pods" default:"200000" help:"Pods in a snapshot."`
	MaxObjectBytes      Bytes         `name:"max-object-bytes" default:"4MiB" help:"One Kubernetes object as sent."`
	MaxAliases          int           `name:"max-yaml-aliases" default:"1000" help:"Aliases in a YAML document, which may be no larger with them written out."`
	MaxYAMLTokens       int           `name:"max-yaml-tokens" default:"100000" help:"Keys, values and lines of a YAML document, or of one item of a list as kubectl prints it; in any body."`
	MaxClusters         int           `name:"max-clusters" default:"10000" help:"Clusters that uploads may make."`
	MaxDepth            int           `name:"max-json-depth" default:"64" help:"Nesting of arrays and objects, in any body."`

	MaxNodeTerms   int `name:"max-node-affinity-terms" default:"64" help:"Node affinity terms of a pod."`
	MaxPodTerms    int `name:"max-pod-affinity-terms" default:"64" help:"Pod affinity and anti-affinity terms of a pod."`
	MaxExpressions int `name:"max-expressions" default:"64" help:"Requirements of one term or label selector."`
	MaxValues      int `name:"max-expression-values" default:"5000" help:"Values of one requirement: terms may list a cluster's nodes."`
	MaxConstraints int `name:"max-spread-constraints" default:"16" help:"Topology spread constraints of a pod."`
	MaxLabelKeys   int `name:"max-match-label-keys" default:"64" help:"matchLabelKeys or mismatchLabelKeys of one term or constraint."`
	MaxTolerations int `name:"max-tolerations" default:"256" help:"Tolerations of a pod."`
	MaxLabels      int `name:"max-labels" default:"1000" help:"Labels of one object, and of a pod's nodeSelector."`
	MaxTaints      int `name:"max-taints" default:"256" help:"Taints of a node."`
	MaxContainers  int `name:"max-containers" default:"512" help:"Containers of a pod, init containers included."`
	MaxResources   int `name:"max-resource-names" default:"256" help:"Resource names of one list of requests, limits or capacities."`
	MaxItems       int `name:"max-list-items" default:"20000" help:"Items of all lists of one object together."`
	MaxNameBytes   int `name:"max-name-bytes" default:"1024" help:"Bytes of names of a pod's volumes and claims, and of its topology keys, which the verdict on each node may quote."`

	ChangesMaxBytes  Bytes `name:"changes-max-bytes" default:"16MiB" help:"Body of a change to a snapshot."`
	ChangesMaxTokens int   `name:"changes-max-tokens" default:"2000000" help:"JSON keys and values in a change."`

	DecisionMaxBytes  Bytes         `name:"decision-max-bytes" default:"3MiB" help:"Body of a decision or replay."`
	DecisionMaxTokens int           `name:"decision-max-tokens" default:"300000" help:"JSON keys and values in a decision or replay."`
	DecisionInFlight  int           `name:"decision-in-flight" default:"16" help:"Decisions and changes at once; a decision that only waits for its record counts no more."`
	DecisionQueue     int           `name:"decision-queue" default:"512" help:"Decisions and changes that wait for their turn."`
	DecisionDeadline  time.Duration `name:"decision-deadline" default:"10s" help:"Time for a decision or change."`

	MaxSteps int `name:"max-decision-steps" default:"50000000" help:"Steps of work of one decision, a node or value judged by one rule each."`

	ReplayInFlight int           `name:"replay-in-flight" default:"2" help:"Replays at once."`
	ReplayQueue    int           `name:"replay-queue" default:"64" help:"Replays that wait for their turn."`
	ReplayJobs     int           `name:"replay-jobs" default:"16" help:"Batch replays that have not ended, over all replicas."`
	ReplayDeadline time.Duration `name:"replay-deadline" default:"5m" help:"Time for a replay."`

	ScenarioMaxBytes  Bytes         `name:"scenario-max-bytes" default:"16MiB" help:"Body of a question about what comes next: fit, simulations and so on."`
	ScenarioMaxTokens int           `name:"scenario-max-tokens" default:"2000000" help:"JSON keys and values in such a body."`
	ScenarioMaxPods   int           `name:"scenario-max-pods" default:"100000" help:"Pods that arrive in a scenario, and replicas that a fit counts."`
	ScenarioMaxSteps  int           `name:"scenario-max-decisions" default:"1000000" help:"Attempts of a scenario under one configuration."`
	ScenarioMaxNodes  int           `name:"scenario-max-nodes" default:"5000" help:"Nodes that a scenario adds."`
	ScenarioInFlight  int           `name:"scenario-in-flight" default:"2" help:"Scenarios at once."`
	ScenarioQueue     int           `name:"scenario-queue" default:"16" help:"Scenarios that wait for their turn."`
	ScenarioDeadline  time.Duration `name:"scenario-deadline" default:"2m" help:"Time for a scenario that is answered in its call."`

	ScenarioJobs        int           `name:"scenario-jobs" default:"16" help:"Jobs of scenarios that have not ended, over all replicas. A caller without one has a place beyond, up to twice as many."`
	ScenarioClusterJobs int           `name:"scenario-jobs-per-cluster" default:"4" help:"Those of one cluster."`
	ScenarioJobDeadline time.Duration `name:"scenario-job-deadline" default:"1h" help:"Time for a scenario that is a job."`
	ScenarioMaxResult   Bytes         `name:"scenario-max-result" default:"64MiB" help:"Answer of a job as it is stored, and each part that it keeps."`

	CapacityInterval time.Duration `name:"capacity-interval" default:"5m" help:"How often at most a cluster's capacity is measured for /metrics; 0: never."`

	ReadInFlight int           `name:"read-in-flight" default:"16" help:"Reads and deletes at once."`
	ReadQueue    int           `name:"read-queue" default:"64" help:"Reads and deletes that wait for their turn."`
	ReadDeadline time.Duration `name:"read-deadline" default:"30s" help:"Time for a read or delete."`

	QueryInFlight int           `name:"query-in-flight" default:"2" help:"Ready queries about the log at once."`
	QueryQueue    int           `name:"query-queue" default:"16" help:"Ready queries that wait for their turn."`
	QueryDeadline time.Duration `name:"query-deadline" default:"5s" help:"Time for a ready query, the wait for its turn included."`

	MaxPage int `name:"max-page" default:"500" help:"Items in one page of a list."`

	PriorityClassMaxBytes Bytes `name:"priority-class-max-bytes" default:"64KiB" help:"Body of a priority class."`

	MaxPriorityClasses    int `name:"max-priority-classes" default:"250" help:"Priority classes stored beside a cluster's snapshots."`
	MaxAllPriorityClasses int `name:"max-all-priority-classes" default:"20000" help:"Priority classes stored beside the snapshots of all clusters; a cluster that had some counts as one."`

	MemoryBudget Bytes         `name:"memory-budget" default:"0" help:"Memory that all requests may take together, as estimated; of which a ninth is for decisions, extender calls and reads alone; 0: nine sixteenths of the memory limit, or 2304MiB where there is none."`
	MinBodyRate  Bytes         `name:"min-body-rate" default:"8KiB" help:"Bytes a second that a body has to bring, on average over --body-grace."`
	BodyGrace    time.Duration `name:"body-grace" default:"5s" help:"How long a body may bring less than --min-body-rate; calls with a shorter deadline end by that."`

	MaxConnections     int   `name:"max-connections" default:"1000" help:"Connections in all. Beyond it idle ones are closed: of the address that has most, anonymous ones first."`
	MaxPeerConnections int   `name:"max-peer-connections" default:"500" help:"Connections of one client, by the name in its certificate or its address; those of loopback are not bounded by address."`
	CallerRate         int   `name:"caller-rate" default:"5000" help:"Calls a second of one caller, by its identity or, of an anonymous one, its address; 0: no bound. Anonymous callers of loopback have none."`
	CallerBurst        int   `name:"caller-burst" default:"10000" help:"Calls that a caller may make at once after a pause, before --caller-rate holds."`
	CallerInFlight     int   `name:"caller-in-flight" default:"512" help:"Calls of one caller at once, over all routes, those that wait included; 0: no bound."`
	CallerClusters     int   `name:"caller-clusters" default:"1000" help:"Clusters that uploads of one identity may make; 0: no bound but --max-clusters."`
	CallerSlots        int   `name:"caller-slots" default:"0" help:"Slots of one identity among those of decisions, reads, queries, replays and scenarios each; 0: as many as there are processors, 2 at least. It never has all."`
	MaxHeaderBytes     Bytes `name:"max-header-bytes" default:"16KiB" help:"Headers of a request."`
}

// DefaultLimits returns the limits that a server starts with unless told otherwise.
func DefaultLimits() Limits {
	var l Limits
	eachLimit(&l, func(tag reflect.StructTag, p any) {
		if err := setLimit(p, tag.Get("default")); err != nil {
			panic(fmt.Sprintf("default of %s: %v", tag.Get("name"), err)) // a bug: it has no input
		}
	})
	return l
}

// eachLimit calls f with each limit's tags and a pointer to its value.
func eachLimit(l *Limits, f func(tag reflect.StructTag, p any)) {
	v := reflect.ValueOf(l).Elem()
	for i := range v.NumField() {
		f(v.Type().Field(i).Tag, v.Field(i).Addr().Interface())
	}
}

func setLimit(p any, text string) (err error) {
	switch p := p.(type) {
	case *Bytes:
		return p.UnmarshalText([]byte(text))
	case *time.Duration:
		*p, err = time.ParseDuration(text)
	case *int:
		*p, err = strconv.Atoi(text)
	default:
		err = fmt.Errorf("no limit is a %T", p)
	}
	return err
}

// Validate checks each limit and the limits against each other. Its messages name the settings.
func (l *Limits) Validate() error {
	var errs []error
	v := reflect.ValueOf(l).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("name")
		mayBeZero := name == "max-yaml-aliases" || name == "nodes-cache-bytes" || name == "memory-budget" || name == "caller-rate" || name == "caller-in-flight" || name == "caller-slots" || name == "caller-clusters" || strings.HasSuffix(name, "-queue")
		if n := v.Field(i).Int(); n < 0 || n == 0 && !mayBeZero {
			errs = append(errs, fmt.Errorf("--%s must be above zero", name))
		}
	}
	below := func(low, high string, ok bool) {
		if !ok {
			errs = append(errs, fmt.Errorf("--%s must not be above --%s", low, high))
		}
	}
	below("filter-max-bytes", "nodes-max-bytes", l.FilterMaxBytes <= l.NodesMaxBytes)
	below("snapshot-max-bytes", "snapshot-max-inflated", l.SnapshotMaxBytes <= l.SnapshotMaxInflated)
	below("snapshot-in-flight", "snapshot-total", l.SnapshotInFlight <= l.SnapshotTotal)
	below("filter-in-flight", "filter-total", l.FilterInFlight <= l.FilterTotal)
	below("nodes-in-flight", "nodes-total", l.NodesInFlight <= l.NodesTotal)
	below("bind-in-flight", "bind-total", l.BindInFlight <= l.BindTotal)
	below("max-object-bytes", "changes-max-bytes", l.MaxObjectBytes <= l.ChangesMaxBytes)
	below("max-object-bytes", "snapshot-max-inflated", l.MaxObjectBytes <= l.SnapshotMaxInflated)
	below("max-nodes", "max-objects", l.MaxNodes <= l.MaxObjects)
	below("max-pods", "max-objects", l.MaxPods <= l.MaxObjects)
	below("extender-queue-wait", "extender-deadline", l.ExtenderQueueWait <= l.ExtenderDeadline)
	if l.SnapshotMaxRatio == 1 {
		errs = append(errs, errors.New("--snapshot-max-ratio must be above 1: a compressed body has to grow"))
	}
	return errors.Join(errs...)
}

// Fit lowers the limits that were not given, and that go by memory, to what a memory limit leaves
// room for. It returns the names of those that it set.
func (l *Limits) Fit(total int64, given func(name string) bool) (set []string) {
	share := Bytes(total/14) &^ (1<<20 - 1)
	for _, one := range []struct {
		name string
		at   *Bytes
		to   Bytes
	}{
		{"nodes-max-bytes", &l.NodesMaxBytes, max(l.FilterMaxBytes, min(l.NodesMaxBytes, share))},
		{"nodes-cache-bytes", &l.NodesCacheBytes, min(l.NodesCacheBytes, share)},
		{"memory-budget", &l.MemoryBudget, Bytes(total/16*9) &^ (1<<20 - 1)},
	} {
		if *one.at != one.to && !given(one.name) {
			*one.at, set = one.to, append(set, one.name)
		}
	}
	return set
}

// CheckMemory reports whether the bodies that the limits let in at once fit into memory, a decoded
// body counting four times. Snapshots are streamed, so only the object at hand counts of them. It
// is false comfort that each limit alone is sane: together they are what a flood of callers costs.
// budget is in bytes; 0 takes the runtime's own limit, and nothing is checked where there is none.
func (l *Limits) CheckMemory(budget int64) error {
	if budget <= 0 {
		budget = debug.SetMemoryLimit(-1)
	}
	if budget <= 0 || budget > 1<<50 {
		return nil
	}
	need := int64(0)
	for _, n := range []struct {
		bytes Bytes
		at    int
	}{
		{l.FilterMaxBytes, l.FilterInFlight},
		{l.NodesMaxBytes, l.NodesInFlight},
		{l.BindMaxBytes, l.BindInFlight},
		{l.MaxObjectBytes, l.SnapshotTotal},
		{l.DecisionMaxBytes, l.DecisionInFlight},
		{l.DecisionMaxBytes, l.ReplayInFlight},
	} {
		need += 4 * int64(n.bytes) * int64(n.at)
	}
	need = max(need, int64(l.MemoryBudget)) + int64(l.NodesCacheBytes)
	if need > budget {
		return fmt.Errorf("the limits admit bodies that need %s at once, but memory is limited to %s: lower --nodes-max-bytes, --nodes-in-flight, --nodes-cache-bytes, --decision-max-bytes or --decision-in-flight, or give more memory",
			Bytes(need), Bytes(budget))
	}
	return nil
}

func (l *Limits) objects() kubeobj.Limits {
	return kubeobj.Limits{
		MaxDepth: l.MaxDepth, MaxTokens: l.MaxTokens, MaxObjectBytes: int(l.MaxObjectBytes),
		MaxNodes: l.MaxNodes, MaxPods: l.MaxPods, MaxObjects: l.MaxObjects, MaxAliases: l.MaxAliases,
		MaxYAMLTokens: l.MaxYAMLTokens,
		Counts: kubeobj.Counts{
			NodeTerms: l.MaxNodeTerms, PodTerms: l.MaxPodTerms, Expressions: l.MaxExpressions, Values: l.MaxValues, Constraints: l.MaxConstraints,
			LabelKeys: l.MaxLabelKeys, Tolerations: l.MaxTolerations, Labels: l.MaxLabels, Taints: l.MaxTaints, Containers: l.MaxContainers, Resources: l.MaxResources, Items: l.MaxItems,
			Names: l.MaxNameBytes,
		},
	}
}

func (l *Limits) filter() wire.Limits {
	return wire.Limits{Bytes: int(l.NodesMaxBytes), Depth: l.MaxDepth, Tokens: l.NodesMaxTokens, Names: l.FilterMaxNames, Nodes: l.NodesMaxNodes}
}

// preempt bounds /preempt as /filter in Nodes mode; each node has no more victims than a snapshot
// has pods.
func (l *Limits) preempt() wire.Limits {
	return wire.Limits{Bytes: int(l.NodesMaxBytes), Depth: l.MaxDepth, Tokens: l.NodesMaxTokens, Nodes: l.NodesMaxNodes, VictimsPerNode: l.MaxPods, Victims: l.MaxPods}
}

func (l *Limits) bind() wire.Limits {
	lim := wire.BindLimits()
	lim.Bytes = int(l.BindMaxBytes)
	return lim
}

// wireLimits returns the settings behind the names that wire's limits have on the extender's paths.
var wireLimits = map[string]string{
	"bytes": "nodes-max-bytes", "depth": "max-json-depth", "tokens": "nodes-max-tokens", "names": "filter-max-names", "nodes": "nodes-max-nodes",
	"victims": "max-pods", "victimsPerNode": "max-pods",
}

// Bytes is a size; it reads and writes as 64KiB, 2MiB, 1GiB or a plain number of bytes.
type Bytes int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *Bytes) UnmarshalText(text []byte) error {
	s, shift := strings.TrimSpace(string(text)), 0
	for suffix, n := range map[string]int{"KiB": 10, "MiB": 20, "GiB": 30} {
		if rest, ok := strings.CutSuffix(s, suffix); ok {
			s, shift = strings.TrimSpace(rest), n
			break
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > 1<<62>>shift {
		return fmt.Errorf("%q is no size: want a number, or one with KiB, MiB or GiB", text)
	}
	*b = Bytes(n << shift)
	return nil
}

// MarshalText implements encoding.TextMarshaler.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// String implements fmt.Stringer.
func (b Bytes) String() string {
	for _, u := range []struct {
		name  string
		shift int
	}{{"GiB", 30}, {"MiB", 20}, {"KiB", 10}} {
		if b != 0 && b&(1<<u.shift-1) == 0 {
			return strconv.FormatInt(int64(b)>>u.shift, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(b), 10)
}
