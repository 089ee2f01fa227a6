package gen

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"berth/test/conformance/oracle"
)

// odd changes a drawn case to what people rarely write and the API allows: amounts at the ends of
// their ranges, the same value in another spelling, labels without a value, plugins in another
// order. Everything else of the case stays, so that odd things meet ordinary ones.
type odd struct {
	*maker
	incoming *v1.Pod
	existing []*v1.Pod
	profiles []profile    // of the configuration; none: there is none
	rewrites []func(tree) // of the text of each object
}

// mutator is one kind of oddness, which -odd and the summary of a run name.
type mutator struct {
	name  string
	apply func(*odd)
}

var (
	objectMutators = slices.Concat(amountMutators, resizeMutators, affinityMutators, spreadMutators, podMutators, textMutators)
	mutators       = slices.Concat(objectMutators, configMutators)
)

// Mutators returns the names that Options.Odd may hold.
func Mutators() []string {
	var names []string
	for _, m := range mutators {
		names = append(names, m.name)
	}
	return names
}

// odd applies one to five of the mutators that the options name, and writes into the case which. It
// draws from numbers of its own. A case with devices keeps its configuration: kube-scheduler
// v1.36.3 crashes where it scores by an extended resource that a device class stands behind, and
// cannot reserve devices where the plugin is off.
func (m *maker) odd(c *oracle.Case, incoming *v1.Pod) ([]func(tree), error) {
	g := *m
	g.Rand = rand.New(rand.NewPCG(c.Seed, 0x6f6464))
	o := &odd{maker: &g, incoming: incoming}
	from := mutators
	for _, object := range m.objs {
		switch object := object.(type) {
		case *v1.Pod:
			if object != incoming {
				o.existing = append(o.existing, object)
			}
		case *resourcev1.DeviceClass, *resourcev1.ResourceSlice:
			from = objectMutators
		}
	}
	from = slices.DeleteFunc(slices.Clone(from), func(m mutator) bool { return !slices.Contains(g.opts.Odd, m.name) })
	var config configuration
	if len(c.Config) > 0 {
		if err := json.Unmarshal(c.Config, &config); err != nil {
			return nil, fmt.Errorf("read the configuration: %w", err)
		}
		o.profiles = config.Profiles
	}
	if o.chance(50) { // most refusals of ordinary cases would hide what is odd
		unbind(incoming)
	}
	for _, i := range o.Perm(len(from))[:min(o.between(1, 5), len(from))] {
		from[i].apply(o)
		c.Odd = append(c.Odd, from[i].name)
	}
	slices.Sort(c.Odd)
	m.objs = g.objs
	var err error
	if len(o.profiles) > 0 {
		c.Config, err = o.configuration()
	}
	return o.rewrites, err
}

// pods calls f for the incoming pod in most cases, and for percent of the others.
func (o *odd) pods(percent int, f func(*v1.Pod)) {
	if o.chance(80) {
		f(o.incoming)
	}
	for _, p := range o.existing {
		if o.chance(percent) {
			f(p)
		}
	}
}

// nodeName returns the name of a node, in so many of a hundred cases of one that is not there.
func (o *odd) nodeName(strangers int) string {
	if len(o.nodes) == 0 || o.chance(strangers) {
		return "nobody"
	}
	return pick(o.maker, o.nodes...).Name
}

// containersOf returns all containers of a pod, so that they can be changed.
func containersOf(p *v1.Pod) []*v1.Container {
	var out []*v1.Container
	for i := range p.Spec.Containers {
		out = append(out, &p.Spec.Containers[i])
	}
	for i := range p.Spec.InitContainers {
		out = append(out, &p.Spec.InitContainers[i])
	}
	return out
}
