package record

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
)

// Call is one call of a plugin's method: what it was given and what it said.
type Call struct {
	Plugin string `json:"plugin"`
	Method string `json:"method"`
	// Args are the plugin's arguments in the configuration's own form. Made is how the plugin was
	// made: "New" or, put together field by field, "literal".
	Args json.RawMessage `json:"args,omitempty"`
	Made string          `json:"made"`
	// Gates are the feature gates that the test set otherwise than by default.
	Gates []string `json:"gates,omitempty"`
	// Profile are the plugins of the framework that the plugin was in, by
	// extension point, where there was one.
	Profile map[string][]string `json:"profile,omitempty"`

	Pod     json.RawMessage   `json:"pod,omitempty"`
	Objects []json.RawMessage `json:"objects,omitempty"` // without the pod
	Node    string            `json:"node,omitempty"`    // Filter, Score
	Nodes   []string          `json:"nodes,omitempty"`   // PreScore, NormalizeScore

	Code    string   `json:"code"`
	Plug    string   `json:"statusPlugin,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
	// Said is what a method says beside its status.
	Score      int64            `json:"score,omitempty"`
	Scores     map[string]int64 `json:"scores,omitempty"` // normalised
	Names      []string         `json:"names,omitempty"`  // PreFilter's; nil for all nodes
	Victims    []string         `json:"victims,omitempty"`
	Violations int              `json:"violations,omitempty"`
	Eligible   bool             `json:"eligible,omitempty"`
	Text       string           `json:"text,omitempty"`
	Nominated  string           `json:"nominated,omitempty"`
	// Lost describes what could not be written down.
	Lost []string `json:"lost,omitempty"`

	world *world
	args  []any
	// nested is set for an inner call within another, which says the same.
	nested bool
}

// inner are methods that no framework calls but a plugin's own: what they say is
// the plugin's word at that point.
var inner = map[string]struct{ plugin, method string }{"FindPodVolumes": {"VolumeBinding", "Filter"}}

// open is how many calls have begun and not ended.
var open atomic.Int64

// Begin notes a call before it is made, since methods may change what they are
// given.
func Begin(plugin any, method string, args ...any) *Call {
	c := &Call{Method: method, args: args, world: newWorld(), Made: "literal"}
	if n, ok := plugin.(anyPlugin); ok {
		c.Plugin = n.Name()
	}
	within := open.Add(1) > 1
	if i, ok := inner[method]; ok {
		c.Plugin, c.Method, c.nested = i.plugin, i.method, within
	}
	c.from(plugin)
	c.world.reach(reflect.ValueOf(plugin), 0)
	for _, a := range args {
		switch a := a.(type) {
		case context.Context, fwk.CycleState:
		case *v1.Pod:
			c.Pod = c.world.encode(a)
		case *v1.Node:
			c.world.put(a, true)
			c.Node = a.Name
		case fwk.NodeInfo:
			c.world.node(a)
			if a.Node() != nil {
				c.Node = a.Node().Name
			}
		case []fwk.NodeInfo:
			for _, n := range a {
				if n.Node() == nil {
					continue
				}
				c.Nodes = append(c.Nodes, n.Node().Name)
				c.world.missing(n)
			}
		case nodeScoreList:
			for _, s := range a {
				c.Nodes = append(c.Nodes, s.Name)
			}
		case []*policyv1.PodDisruptionBudget:
			for _, b := range a {
				c.world.add(b)
			}
		}
	}
	c.Objects = c.world.list()
	c.Lost, c.Profile = c.world.lost, c.world.profile
	return c
}

// End notes what the method said.
func (c *Call) End(results ...any) {
	open.Add(-1)
	if c.nested {
		return
	}
	for _, r := range results {
		switch r := r.(type) {
		case *fwk.Status:
			if c.Code = r.Code().String(); r != nil {
				c.Plug, c.Reasons = r.Plugin(), r.Reasons()
			}
		case *preFilterResult:
			if r != nil && r.NodeNames != nil {
				c.Names = append([]string{}, r.NodeNames.UnsortedList()...)
			}
		case *postFilterResult:
			if r != nil && r.NominatingInfo != nil {
				c.Nominated = r.NominatingInfo.NominatedNodeName
			}
		case int64:
			c.Score = r
		case int:
			c.Violations = r
		case bool:
			c.Eligible = r
		case string:
			c.Text = r
		case []*v1.Pod:
			for _, p := range r {
				c.Victims = append(c.Victims, namespaced(p))
			}
		case error:
			c.Code, c.Reasons = fwk.Error.String(), []string{r.Error()}
		default:
			c.conflicts(reflect.ValueOf(r))
		}
	}
	for _, a := range c.args {
		if list, ok := a.(nodeScoreList); ok {
			c.Scores = map[string]int64{}
			for _, s := range list {
				c.Scores[s.Name] = s.Score
			}
		}
	}
	c.args, c.world = nil, nil
	if s := current(); s != nil {
		mu.Lock()
		s.Calls = append(s.Calls, c)
		mu.Unlock()
	}
}

// conflicts notes the reasons of an inner method, a list of texts, as the
// plugin would: with none the node passes.
func (c *Call) conflicts(v reflect.Value) {
	if v.Kind() != reflect.Slice || v.Type().Elem().Kind() != reflect.String || c.Code == fwk.Error.String() {
		return
	}
	c.Code = fwk.Success.String()
	for i := range v.Len() {
		c.Code = fwk.UnschedulableAndUnresolvable.String()
		c.Reasons = append(c.Reasons, v.Index(i).String())
	}
}

func namespaced(p *v1.Pod) string { return p.Namespace + "/" + p.Name }

// made is how a plugin was made by its package's New.
type made struct {
	args  runtime.Object
	gates []string
}

var plugins = map[any]made{}

// Made notes what a plugin's New was given.
func Made(plugin any, args ...any) {
	if v := reflect.ValueOf(plugin); !v.IsValid() || v.Kind() != reflect.Pointer || v.IsNil() {
		return
	}
	m := made{}
	for _, a := range args {
		switch a := a.(type) {
		case runtime.Object:
			m.args = a
		default:
			if v := reflect.ValueOf(a); v.IsValid() && v.Type().Name() == "Features" {
				m.gates = differing(v)
			}
		}
	}
	mu.Lock()
	plugins[plugin] = m
	mu.Unlock()
}

// from fills in how the plugin was made.
func (c *Call) from(plugin any) {
	mu.Lock()
	m, ok := plugins[plugin]
	mu.Unlock()
	if !ok {
		return
	}
	c.Made, c.Gates = "New", m.gates
	if m.args == nil || reflect.ValueOf(m.args).IsNil() {
		return
	}
	raw, err := encodeArgs(m.args)
	if err != nil {
		c.world.lost = append(c.world.lost, fmt.Sprintf("arguments: %v", err))
		return
	}
	c.Args = raw
}
