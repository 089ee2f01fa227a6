package gen

import (
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

var amountMutators = []mutator{
	{"requests", (*odd).requests},
	{"allocatable", (*odd).allocatable},
	{"overflow", (*odd).overflow},
	{"capacity", (*odd).capacity},
	{"extended", (*odd).extended},
	{"extendedNames", (*odd).extendedNames},
	{"overhead", (*odd).overhead},
	{"containers", (*odd).manyContainers},
	{"nearlyFull", (*odd).nearlyFull},
}

// Amounts of cpu and bytes: below the unit that is counted, in every suffix, with fractions that
// round up, and beside the ends of 63 bits.
var (
	cpuAmounts = []string{
		"0", "1m", "0.5", "100u", "1n", "0.0005", "1500m", "1e-1", "2", "1e1", "1k", "0.1", "250.5m",
		"9223372036854775807m", "9Pi", "1.5", "3", "999999n",
	}
	byteAmounts = []string{
		"0", "1", "1k", "1Ki", "1.5Gi", "0.1Gi", "100e6", "1G", "1E", "7Ei", "8Ei", "9223372036854775807", "1m", "1500m",
		"128974848", "129e6", "129M", "123Mi", "0.3", "1P",
	}
)

// extendedScalars are extended resources and huge pages, of other domains and sizes than elsewhere.
var extendedScalars = []v1.ResourceName{"example.com/gpu", "a.b/c", "vendor.io/x_y.z-1", "hugepages-1Gi", "hugepages-64Ki", "hugepages-2Mi"}

func (o *odd) amount(from ...string) resource.Quantity {
	return resource.MustParse(pick(o.maker, from...))
}

// made returns a list of resources that can be written to.
func made(l *v1.ResourceList) v1.ResourceList {
	if *l == nil {
		*l = v1.ResourceList{}
	}
	return *l
}

// request sets what a container requests, without a limit that it could be above.
func request(c *v1.Container, name v1.ResourceName, q resource.Quantity) {
	made(&c.Resources.Requests)[name] = q
	delete(c.Resources.Limits, name)
}

// offers returns for each node the list that the scheduler reads: allocatable, or capacity from
// which the apiserver defaults it.
func (o *odd) offers() []v1.ResourceList {
	var out []v1.ResourceList
	for _, n := range o.nodes {
		if n.Status.Allocatable != nil {
			out = append(out, n.Status.Allocatable)
		} else if n.Status.Capacity != nil {
			out = append(out, n.Status.Capacity)
		}
	}
	return out
}

// requests draws amounts that are rounded, or whose sums do not fit 63 bits: upstream rounds each
// container's up, before it adds them.
func (o *odd) requests() {
	o.pods(30, func(p *v1.Pod) {
		for _, c := range containersOf(p) {
			if o.chance(50) {
				request(c, v1.ResourceCPU, o.amount(cpuAmounts...))
			}
			if o.chance(50) {
				request(c, v1.ResourceMemory, o.amount(byteAmounts...))
			}
			if o.chance(15) {
				request(c, v1.ResourceEphemeralStorage, o.amount(byteAmounts...))
			}
		}
	})
}

// allocatable draws the same amounts for nodes: a node of 0 or of 1 byte divides by what it has,
// and one with more pods than 31 bits hold takes them all.
func (o *odd) allocatable() {
	for _, l := range o.offers() {
		if o.chance(40) {
			l[v1.ResourceCPU] = o.amount(cpuAmounts...)
		}
		if o.chance(40) {
			l[v1.ResourceMemory] = o.amount(byteAmounts...)
		}
		if o.chance(20) {
			l[v1.ResourceEphemeralStorage] = o.amount(byteAmounts...)
		}
		if o.chance(20) {
			l[v1.ResourcePods] = o.amount("0", "1", "110", "2147483648", "1k", "9223372036854775807")
		}
	}
}

// overflow draws amounts beyond 63 bits, which upstream cuts off, and whose sums wrap around. Those
// of extended resources stay below: see the README.
func (o *odd) overflow() {
	big := []string{"9223372036854775808", "8Ei", "100E", "1e19", "1e30"}
	names := []v1.ResourceName{v1.ResourceMemory, v1.ResourceCPU, v1.ResourceEphemeralStorage}
	for _, l := range o.offers() {
		if o.chance(40) {
			l[pick(o.maker, names...)] = o.amount(big...)
		}
	}
	o.pods(20, func(p *v1.Pod) {
		for _, c := range containersOf(p) {
			if o.chance(30) {
				request(c, pick(o.maker, names...), o.amount(big...))
			}
		}
	})
}

// capacity makes nodes that can allocate less than they have, in that a resource is missing from
// what is allocatable: it is none then, not what capacity names.
func (o *odd) capacity() {
	for _, n := range o.nodes {
		switch {
		case n.Status.Allocatable == nil && n.Status.Capacity != nil && o.chance(60):
			n.Status.Allocatable = v1.ResourceList{}
			for _, k := range slices.Sorted(maps.Keys(n.Status.Capacity)) {
				if o.chance(70) {
					n.Status.Allocatable[k] = n.Status.Capacity[k]
				}
			}
		case n.Status.Allocatable != nil:
			n.Status.Capacity = v1.ResourceList{
				v1.ResourceCPU: resource.MustParse("64"), v1.ResourceMemory: resource.MustParse("64Gi"),
				v1.ResourcePods: resource.MustParse("500"), "example.com/gpu": resource.MustParse("8"),
			}
			if o.chance(50) {
				delete(n.Status.Allocatable, pick(o.maker, v1.ResourceCPU, v1.ResourceMemory, v1.ResourcePods, v1.ResourceEphemeralStorage))
			}
		}
	}
}

// extended draws scalar resources of 0, huge pages of several sizes at once, and requests that are
// given as a limit alone.
func (o *odd) extended() {
	huge := map[v1.ResourceName][]string{"hugepages-1Gi": {"1Gi"}, "hugepages-64Ki": {"128Ki"}, "hugepages-2Mi": {"2Mi", "64Mi"}}
	for _, l := range o.offers() {
		for _, name := range extendedScalars {
			switch {
			case !o.chance(50):
			case huge[name] != nil:
				l[name] = o.amount("0", "1Gi", "2Gi", "64Mi", "1.5Gi")
			default:
				l[name] = o.amount("0", "1", "3", "5k", "1e3")
			}
		}
	}
	o.pods(40, func(p *v1.Pod) {
		for _, c := range containersOf(p) {
			for _, name := range extendedScalars {
				if !o.chance(25) {
					continue
				}
				q := o.amount("0", "1", "2", "1k")
				if pages := huge[name]; pages != nil {
					q = o.amount(pages...)
					if _, ok := c.Resources.Requests[v1.ResourceCPU]; !ok { // which huge pages need
						request(c, v1.ResourceCPU, resource.MustParse("10m"))
					}
				}
				delete(c.Resources.Requests, name)
				made(&c.Resources.Limits)[name] = q
				if o.chance(50) {
					made(&c.Resources.Requests)[name] = q
				}
			}
		}
	})
}

// extendedNames draws resources whose names look like others: in capitals, with digits in front, or
// with a word that other names begin with. Reasons list them, and ignored groups match by prefix.
func (o *odd) extendedNames() {
	names := []v1.ResourceName{"example.com/limits.x", "example.org/a", "0a.io/b", "example.com/GPU", "a.b/c"}
	for _, l := range o.offers() {
		for _, name := range names {
			if o.chance(50) {
				l[name] = o.amount("0", "1", "4")
			}
		}
	}
	o.pods(40, func(p *v1.Pod) {
		for _, c := range containersOf(p) {
			name := pick(o.maker, names...)
			delete(c.Resources.Requests, name)
			made(&c.Resources.Limits)[name] = o.amount("0", "1", "2")
		}
	})
}

// overhead draws what a runtime takes of resources that few runtimes name; it counts once for a
// pod, in filters and in scores.
func (o *odd) overhead() {
	o.pods(40, func(p *v1.Pod) {
		p.Spec.RuntimeClassName = new("kata")
		p.Spec.Overhead = v1.ResourceList{v1.ResourceCPU: o.amount("0.5", "100u", "1")}
		for _, name := range []v1.ResourceName{v1.ResourceMemory, v1.ResourceEphemeralStorage, "example.com/gpu", "hugepages-2Mi"} {
			if o.chance(35) {
				p.Spec.Overhead[name] = o.amount("2Mi", "10Mi")
			}
		}
	})
}

// manyContainers adds up to 25 containers that request next to nothing. Each without a request
// counts as a little in scores, and each fraction is rounded on its own.
func (o *odd) manyContainers() {
	o.pods(20, func(p *v1.Pod) {
		for i := range o.between(1, 25) {
			c := v1.Container{Name: fmt.Sprintf("x%d", i), Image: pick(o.maker, "tool", "other:v9", images[0])}
			if o.chance(40) {
				request(&c, v1.ResourceCPU, o.amount("1m", "0", "3m", "0.0001"))
			}
			if o.chance(40) {
				request(&c, v1.ResourceMemory, o.amount("1Mi", "0", "1"))
			}
			if !o.chance(25) {
				p.Spec.Containers = append(p.Spec.Containers, c)
				continue
			}
			if o.chance(50) {
				c.RestartPolicy = new(v1.ContainerRestartPolicyAlways)
			}
			p.Spec.InitContainers = append(p.Spec.InitContainers, c)
		}
	})
}

// nearlyFull makes pods that fit into what is left, or miss it by one unit or a part of one.
func (o *odd) nearlyFull() {
	for _, l := range o.offers() {
		l[v1.ResourceCPU] = o.amount("1", "999m", "1001m", "1000500u")
		l[v1.ResourceMemory] = o.amount("1Gi", "1073741825", "1073741823")
	}
	o.pods(60, func(p *v1.Pod) {
		for _, c := range containersOf(p) {
			c.Resources = v1.ResourceRequirements{Requests: v1.ResourceList{
				v1.ResourceCPU:    o.amount("1", "500m", "0.5", "499.5m", "0", "500500u"),
				v1.ResourceMemory: o.amount("512Mi", "536870912", "536870911500m", "1Gi", "1"),
			}}
		}
		p.Spec.Resources, p.Spec.Overhead, p.Spec.RuntimeClassName = nil, nil, nil
	})
}
