// Package gen makes random cases: small clusters and one pending pod, drawn so
// that rules meet one another and verdicts are mixed. The same seed and
// options give the same case, byte for byte.
package gen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"berth/test/conformance/oracle"
)

// Options bound the size of a case.
type Options struct {
	MaxNodes int // at least 2
	MaxPods  int
	Storage  int    // cases with volumes, in a hundred
	Config   string // one of Configs; empty for the default
	Devices  int    // cases with devices, in a hundred
	Wide     int    // of these, cases that widen draws on, in a hundred

	Releases int // cases with what releases judge differently, in a hundred

	Named bool // these may name the node of the pod that waits

	Shapes bool // configurations may have a shape for VolumeBinding, which needs StorageCapacityScoring

	Lookalikes int // cases with free texts that could be mistaken for others, in a hundred

	Odd []string // of Mutators: some of these change each case; none of them leaves it as it is
}

// maker draws one case. The features on at once are drawn first, so that a
// case has a few rules at work and not a little of everything: otherwise
// nearly no pod would fit anywhere.
type maker struct {
	*rand.Rand
	opts   Options
	nodes  []*v1.Node
	objs   []runtime.Object
	on     map[string]bool
	serial int
	// later are the fields that not every release's types have, by their object; raws are objects
	// of kinds that they lack.
	later map[any]func(tree)
	raws  []json.RawMessage
}

// features and how likely each is, in percent.
var features = []struct {
	name    string
	percent int
}{
	{"taints", 45},
	{"nodeAffinity", 40},
	{"selector", 25},
	{"ports", 30},
	{"tight", 45},
	{"scalar", 25},
	{"spread", 45},
	{"podAffinity", 45},
	{"existingAffinity", 40},
	{"services", 35},
	{"images", 40},
	{"nominated", 30},
	{"selfNominated", 8},
	{"gates", 4},
	{"declared", 12},
	{"resize", 20},
	{"podLevel", 20},
	{"inits", 30},
	{"oddNodes", 20},
	{"terminal", 35},
	{"priorities", 60},
	{"overhead", 12},
	{"matchFields", 8},
	{"nodeless", 1},
	{"manyNodes", 20},
	{"keys", 30},
	{"bestEffort", 15},
}

// Case draws the case of a seed. Its objects are in their raw form.
func Case(seed uint64, opts Options) (*oracle.Case, error) {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 0x6265727468)), opts: opts, on: map[string]bool{}, later: map[any]func(tree){}}
	for _, f := range features {
		m.on[f.name] = m.chance(f.percent)
	}
	if m.on["spread"] && m.chance(60) {
		// Skew shows only on nodes that nothing else has refused.
		for _, f := range []string{"nodeAffinity", "selector", "tight", "keys", "scalar"} {
			m.on[f] = false
		}
	}
	m.makeNodes()
	m.makeNamespaces()
	m.makeClasses()
	m.makeOwners()
	m.makeExisting()
	pod := m.incoming()
	m.objs = append(m.objs, pod)
	m.crowd(seed, pod)
	m.storage(seed, pod)
	m.volumeLimits(seed, pod)
	m.devices(seed, pod)
	m.widen(seed, pod)
	m.lookalikes(seed, pod)
	m.releases(seed, pod)
	c := &oracle.Case{ID: fmt.Sprintf("s%d", seed), Seed: seed, Pod: oracle.Key{Namespace: "default", Name: "incoming"}}
	if pod.Namespace != "" {
		c.Pod.Namespace = pod.Namespace
	}
	if err := m.configure(c, pod); err != nil {
		return nil, err
	}
	var rewrites []func(tree)
	if len(opts.Odd) > 0 {
		var err error
		if rewrites, err = m.odd(c, pod); err != nil {
			return nil, err
		}
	}
	for _, o := range m.objs {
		more := rewrites
		if m.later[o] != nil {
			more = append([]func(tree){m.later[o]}, rewrites...)
		}
		raw, err := Compact(o, more...)
		if err != nil {
			return nil, err
		}
		c.Objects = append(c.Objects, raw)
	}
	c.Objects = append(c.Objects, m.raws...)
	return c, nil
}

// write changes the text of an object, for fields that not every release's types have.
func (m *maker) write(object any, change func(tree)) {
	before := m.later[object]
	m.later[object] = func(o tree) {
		if before != nil {
			before(o)
		}
		change(o)
	}
}

// status has a field of an object's status in its text; nil leaves it out.
func (m *maker) status(object any, name string, value any) {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err) // amounts and names, which have a text
	}
	m.write(object, func(o tree) {
		status, _ := o["status"].(tree)
		if status == nil {
			status = tree{}
			o["status"] = status
		}
		delete(status, name)
		if plain := decodeAny(raw); plain != nil {
			status[name] = plain
		}
	})
}

// Compact marshals an object without what Go's types write for unset fields.
// Empty selectors and terms stay: empty and absent differ in meaning there.
// Each of the rewrites then changes what is left.
func Compact(o any, rewrites ...func(tree)) (json.RawMessage, error) {
	raw, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	object, ok := decodeAny(raw).(tree)
	if !ok {
		return nil, fmt.Errorf("%T is no object", o)
	}
	prune(object)
	for _, rewrite := range rewrites {
		rewrite(object)
	}
	return json.Marshal(object)
}

// decodeAny reads a text that was written by json, with numbers as they stand there.
func decodeAny(raw []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	return v
}

// droppable are the keys whose empty object says nothing.
var droppable = map[string]bool{"status": true, "resources": true, "loadBalancer": true, "strategy": true, "nodeInfo": true, "daemonEndpoints": true, "lastState": true, "state": true}

func prune(v any) {
	switch t := v.(type) {
	case map[string]any:
		for k, e := range t {
			prune(e)
			empty, isMap := e.(map[string]any)
			kubelet := k == "kubeletEndpoint" || k == "nodeInfo"
			if e == nil || kubelet || isMap && len(empty) == 0 && droppable[k] {
				delete(t, k)
			}
		}
	case []any:
		for _, e := range t {
			prune(e)
		}
	}
}

func (m *maker) chance(percent int) bool { return m.IntN(100) < percent }

// between draws from lo to hi, both included.
func (m *maker) between(lo, hi int) int { return lo + m.IntN(hi-lo+1) }

func pick[T any](m *maker, from ...T) T { return from[m.IntN(len(from))] }

func (m *maker) meta(namespace, name string, labels map[string]string) metav1.ObjectMeta {
	m.serial++
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels, UID: types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", m.serial))}
}

// The small vocabularies make objects meet.
var (
	apps       = []string{"web", "web", "web", "db", "cache"}
	tiers      = []string{"a", "b"}
	versions   = []string{"1", "2"}
	namespaces = []string{"default", "default", "default", "team", "ops"}
	scalars    = []string{"example.com/gpu", "example.com/fpga"}
)

func (m *maker) labels() map[string]string {
	l := map[string]string{"app": pick(m, apps...)}
	if m.chance(60) {
		l["tier"] = pick(m, tiers...)
	}
	if m.chance(50) {
		l["version"] = pick(m, versions...)
	}
	if m.chance(5) {
		return nil
	}
	return l
}

// selector draws a label selector over the same vocabulary, at times empty,
// nil or with expressions.
func (m *maker) selector() *metav1.LabelSelector {
	switch n := m.IntN(100); {
	case n < 5:
		return nil
	case n < 12:
		return &metav1.LabelSelector{}
	case n < 60:
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": pick(m, apps...)}}
	case n < 75:
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": pick(m, apps...), "tier": pick(m, tiers...)}}
	}
	op := pick(m, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist)
	e := metav1.LabelSelectorRequirement{Key: pick(m, "app", "tier", "version"), Operator: op}
	if op == metav1.LabelSelectorOpIn || op == metav1.LabelSelectorOpNotIn {
		e.Values = []string{pick(m, apps...), pick(m, tiers...), pick(m, versions...)}
	}
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{e}}
}

// topologyKey prefers those that nodes have.
func (m *maker) topologyKey() string {
	return pick(m, v1.LabelTopologyZone, v1.LabelTopologyZone, v1.LabelHostname, v1.LabelHostname, v1.LabelTopologyRegion, "rack")
}

// spreadKey rarely names a key that some node lacks, since a hard constraint
// then fails that node before any skew is computed.
func (m *maker) spreadKey() string {
	if m.chance(12) {
		return m.topologyKey()
	}
	return pick(m, v1.LabelTopologyZone, v1.LabelTopologyZone, v1.LabelHostname, v1.LabelTopologyRegion)
}
