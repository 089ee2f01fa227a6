// Package limits is the bounds of what one server takes on: those that an operator tunes, and the
// fixed ones.
package limits

import (
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"berth/internal/handlers/extender/wire"
	"berth/internal/kube/object"
)

// Limits are the bounds of what one server takes on: those that an operator tunes, each a setting,
// and the fixed ones. A refusal names a limit by its name tag. The tags are read by the command
// line and by DefaultLimits, so that a limit is declared in one line.
type Limits struct {
	ExtenderDeadline time.Duration `name:"extender-deadline" default:"4s" help:"Time for an extender call; keep it below the httpTimeout of kube-scheduler's configuration (5s there)."`
	DecisionDeadline time.Duration `name:"decision-deadline" default:"10s" help:"Time for a decision or change."`
	MemoryBudget     Bytes         `name:"memory-budget" default:"0" help:"Memory that all requests may take together, as estimated; of which a ninth is for decisions, extender calls and reads alone; 0: nine sixteenths of the memory limit, or 2304MiB where there is none."`
	MaxConnections   int           `name:"max-connections" default:"1000" help:"Connections in all. Beyond it idle ones are closed: of the address that has most, anonymous ones first."`
	MaxClusters      int           `name:"max-clusters" default:"10000" help:"Clusters that uploads may make."`
	MaxNodes         int           `name:"max-nodes" default:"20000" help:"Nodes in a snapshot."`
	MaxPods          int           `name:"max-pods" default:"200000" help:"Pods in a snapshot."`
	CallerRate       int           `name:"caller-rate" default:"5000" help:"Calls a second of one caller, by its identity or, of an anonymous one, its address; 0: no bound. Anonymous callers of loopback have none."`
	CallerInFlight   int           `name:"caller-in-flight" default:"512" help:"Calls of one caller at once, over all routes, those that wait included; 0: no bound."`
	CallerClusters   int           `name:"caller-clusters" default:"1000" help:"Clusters that uploads of one identity may make; 0: no bound but --max-clusters."`
	CallerSlots      int           `name:"caller-slots" default:"0" help:"Slots of one identity among those of decisions, reads, queries, replays and scenarios each; 0: as many as there are processors, 2 at least. It never has all."`
	ScenarioJobs     int           `name:"scenario-jobs" default:"16" help:"Jobs of scenarios that have not ended, over all replicas; four of one cluster. A caller without one has a place beyond, up to twice as many."`
	CapacityInterval time.Duration `name:"capacity-interval" default:"5m" help:"How often at most a cluster's capacity is measured for /metrics; 0: never."`

	Fixed `kong:"-"`
}

// Default returns the limits that a server starts with unless told otherwise.
func Default() Limits {
	l := Limits{Fixed: Fixed{PendingPage: 1000, DiffPage: 1000, ScenarioProfiles: 4}}
	Each(&l, func(tag reflect.StructTag, p any) {
		if err := setLimit(p, tag.Get("default")); err != nil {
			panic(fmt.Sprintf("default of %s: %v", tag.Get("name"), err)) // a bug: it has no input
		}
	})
	return l
}

// Each calls f with each limit's tags and a pointer to its value.
func Each(l *Limits, f func(tag reflect.StructTag, p any)) {
	for _, v := range []reflect.Value{reflect.ValueOf(l).Elem(), reflect.ValueOf(&l.Fixed).Elem()} {
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("name") != "" {
				f(v.Type().Field(i).Tag, v.Field(i).Addr().Interface())
			}
		}
	}
}

// Unbounded returns limits that refuse nothing, for a process whose only caller may end it.
func Unbounded() Limits {
	l := Limits{Fixed: Fixed{PendingPage: 1 << 30, DiffPage: 1 << 30, ScenarioProfiles: 1 << 30}}
	Each(&l, func(_ reflect.StructTag, p any) {
		switch p := p.(type) {
		case *Bytes:
			*p = 1 << 30
		case *time.Duration:
			*p = 1000 * time.Hour
		case *int:
			*p = 1 << 30
		}
	})
	l.MemoryBudget = 1 << 62 // more than any two limits together
	return l
}

// FixedValues returns the fixed limits' values by name.
func FixedValues() map[string]string {
	out := map[string]string{}
	for f := range reflect.TypeFor[Fixed]().Fields() {
		if name := f.Tag.Get("name"); name != "" {
			out[name] = f.Tag.Get("default")
		}
	}
	return out
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
	Each(l, func(tag reflect.StructTag, p any) {
		name := tag.Get("name")
		mayBeZero := name == "max-yaml-aliases" || name == "nodes-cache-bytes" || name == "memory-budget" || name == "caller-rate" || name == "caller-in-flight" || name == "caller-slots" || name == "caller-clusters" || strings.HasSuffix(name, "-queue")
		if n := reflect.ValueOf(p).Elem().Int(); n < 0 || n == 0 && !mayBeZero {
			errs = append(errs, fmt.Errorf("--%s must be above zero", name))
		}
	})
	for _, n := range []struct {
		name string
		at   int
	}{{"max-nodes", l.MaxNodes}, {"max-pods", l.MaxPods}} {
		if n.at > l.MaxObjects {
			errs = append(errs, fmt.Errorf("--%s must not be above %d: a snapshot has no more objects", n.name, l.MaxObjects))
		}
	}
	if l.ExtenderDeadline < l.ExtenderQueueWait {
		errs = append(errs, fmt.Errorf("--extender-deadline must not be below %s, for which a call waits for its turn", l.ExtenderQueueWait))
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
		return fmt.Errorf("the limits admit bodies that need %s at once, but memory is limited to %s: give more memory, or lower --memory-budget where it is set",
			Bytes(need), Bytes(budget))
	}
	return nil
}

// Objects bounds Kubernetes objects.
func (l *Limits) Objects() object.Limits {
	return object.Limits{
		MaxDepth: l.MaxDepth, MaxTokens: l.MaxTokens, MaxObjectBytes: int(l.MaxObjectBytes),
		MaxNodes: l.MaxNodes, MaxPods: l.MaxPods, MaxObjects: l.MaxObjects, MaxAliases: l.MaxAliases,
		MaxYAMLTokens: l.MaxYAMLTokens,
		Counts: object.Counts{
			NodeTerms: l.MaxNodeTerms, PodTerms: l.MaxPodTerms, Expressions: l.MaxExpressions, Values: l.MaxValues, Constraints: l.MaxConstraints,
			LabelKeys: l.MaxLabelKeys, Tolerations: l.MaxTolerations, Labels: l.MaxLabels, Taints: l.MaxTaints, Containers: l.MaxContainers, Resources: l.MaxResources, Items: l.MaxItems,
			Names: l.MaxNameBytes,
		},
	}
}

// Filter bounds the bodies of /filter and /prioritize.
func (l *Limits) Filter() wire.Limits {
	return wire.Limits{Bytes: int(l.NodesMaxBytes), Depth: l.MaxDepth, Tokens: l.NodesMaxTokens, Names: l.FilterMaxNames, Nodes: l.NodesMaxNodes}
}

// Preempt bounds /preempt as /filter in Nodes mode; each node has no more victims than a snapshot
// has pods.
func (l *Limits) Preempt() wire.Limits {
	return wire.Limits{Bytes: int(l.NodesMaxBytes), Depth: l.MaxDepth, Tokens: l.NodesMaxTokens, Nodes: l.NodesMaxNodes, VictimsPerNode: l.MaxPods, Victims: l.MaxPods}
}

// Bind bounds the body of /bind.
func (l *Limits) Bind() wire.Limits {
	lim := wire.BindLimits()
	lim.Bytes = int(l.BindMaxBytes)
	return lim
}

// WireNames returns the settings behind the names that wire's limits have on the extender's paths.
var WireNames = map[string]string{
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

// WriteMargin is what a connection's own time-outs leave beyond a class's deadline, so that a late
// answer is still ours.
const WriteMargin = 5 * time.Second

// Timeouts returns the time-outs of a server for connections that no class speaks for yet.
func (l *Limits) Timeouts() (readHeader, read, write, idle time.Duration) {
	longest := max(l.ExtenderDeadline, l.DecisionDeadline, l.ReadDeadline)
	return 5 * time.Second, longest + WriteMargin, longest + WriteMargin, 120 * time.Second
}
