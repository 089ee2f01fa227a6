package gen

import (
	"fmt"
	"math/rand/v2"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The drivers, and what their devices say of themselves.
var (
	drivers = []string{"gpu.example.com", "gpu.example.com", "nic.example.com"}
	models  = []string{"a100", "a100", "t4"}
)

// published is a device as claims may be given it.
type published struct {
	driver, pool, device string
	node                 string // the one that it is local to
	multi                bool
	counted              bool
}

// devices adds drivers, classes and claims to a part of the cases, and returns the
// incoming pod some of them. It draws from numbers of its own, like crowd.
func (m *maker) devices(seed uint64, incoming *v1.Pod) {
	d := &deviceMaker{maker: *m}
	d.Rand = rand.New(rand.NewPCG(seed, 0x646576696365))
	if !d.chance(m.opts.Devices) {
		return
	}
	if d.chance(70) {
		unbind(incoming)
		incoming.Spec.Affinity, incoming.Spec.TopologySpreadConstraints = nil, nil
		incoming.Spec.SchedulingGates = nil
	}
	if d.chance(65) { // nothing but devices is short
		for _, n := range d.nodes {
			for _, list := range []v1.ResourceList{n.Status.Allocatable, n.Status.Capacity} {
				if list != nil {
					list[v1.ResourcePods] = resource.MustParse("110")
				}
			}
		}
	}
	if d.chance(75) {
		for i := range incoming.Spec.Containers {
			incoming.Spec.Containers[i].Resources = v1.ResourceRequirements{}
		}
	}
	for _, f := range []struct {
		name    string
		percent int
	}{{"shared", 45}, {"perDevice", 25}, {"counters", 25}, {"capacity", 30}, {"taint", 25}, {"binding", 20}, {"broken", 15}, {"extended", 30}, {"errors", 6}, {"constraints", 40}, {"choices", 40}, {"admin", 20}, {"all", 20}} {
		d.on[f.name] = d.chance(f.percent)
	}
	d.classes()
	d.slices()
	d.claims(incoming)
	if d.on["extended"] {
		d.extended(incoming)
	}
	m.objs, m.serial = d.objs, d.serial
}

type deviceMaker struct {
	maker
	there   []published
	taken   map[published]bool
	slicing int
}

// expressions are selectors that devices may have. The last two fail for some
// devices, or for all.
func (m *deviceMaker) expression() string {
	if m.on["errors"] && m.chance(20) {
		return pick(&m.maker, `device.attributes["gpu.example.com"].model == "t4"`, `device.attributes["gpu.example.com"].serial == "x"`, `device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("x"))`)
	}
	return pick(&m.maker,
		`device.driver == "gpu.example.com"`, `device.driver == "gpu.example.com"`, `device.driver != "nic.example.com"`,
		`device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].model == "a100"`,
		`"model" in device.attributes["gpu.example.com"] && device.attributes["gpu.example.com"].model.startsWith("t")`,
		`device.driver == "gpu.example.com" && device.capacity["gpu.example.com"].memory.compareTo(quantity("20Gi")) >= 0`,
		`device.driver != "gpu.example.com" || device.attributes["gpu.example.com"].index < 2`,
		`device.driver != "gpu.example.com" || device.attributes["gpu.example.com"].version.isGreaterThan(semver("1.5.0"))`,
		`cel.bind(a, device.attributes[device.driver], a.?fast.orValue(false))`,
		`device.attributes["shared.example.com"].?numa.orValue(0) == 0`, `true`,
		`!device.allowMultipleAllocations`,
	)
}

func (m *deviceMaker) selectors(percent int) (out []resourcev1.DeviceSelector) {
	for m.chance(percent) {
		out = append(out, resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: m.expression()}})
		percent /= 3
	}
	return out
}

func (m *deviceMaker) classes() {
	for i, name := range []string{"gpu", "nic", "any", "picky"} {
		c := &resourcev1.DeviceClass{TypeMeta: metav1.TypeMeta{APIVersion: "resource.k8s.io/v1", Kind: "DeviceClass"}, ObjectMeta: m.meta("", name, nil)}
		c.CreationTimestamp = metav1.NewTime(epoch.Add(time.Duration(i) * time.Hour))
		switch name {
		case "gpu", "nic":
			c.Spec.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: fmt.Sprintf("device.driver == %q", name+".example.com")}}}
		case "picky":
			c.Spec.Selectors = m.selectors(90)
		}
		if m.on["extended"] && m.chance(50) {
			n := pick(&m.maker, scalars...)
			c.Spec.ExtendedResourceName = &n
		}
		m.objs = append(m.objs, c)
	}
}

// slices publishes pools of nodes, and some that several nodes reach.
func (m *deviceMaker) slices() {
	for _, n := range m.nodes {
		if !m.chance(85) {
			continue
		}
		for i, driver := range drivers {
			// The first two are one driver, which publishes a pool once.
			if i == 0 || i == 2 && m.chance(50) {
				continue
			}
			node := n.Name
			m.pool(driver, driver[:3]+"-"+node, node, func(s *resourcev1.ResourceSliceSpec) { s.NodeName = &node })
			if m.chance(60) {
				break
			}
		}
	}
	if m.on["shared"] {
		for i := range m.between(1, 2) {
			all := true
			zone := &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{{
				Key: v1.LabelTopologyZone, Operator: pick(&m.maker, v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn), Values: []string{pick(&m.maker, "z1", "z2", "zone-a", "zone-b", "a", "b")},
			}}}}}
			everywhere := m.chance(50)
			m.pool(pick(&m.maker, drivers...), fmt.Sprintf("shared%d", i), "", func(s *resourcev1.ResourceSliceSpec) {
				if everywhere {
					s.AllNodes = &all
				} else {
					s.NodeSelector = zone
				}
			})
		}
	}
	if m.on["perDevice"] && len(m.nodes) > 0 {
		yes := true
		m.pool(pick(&m.maker, drivers...), "each", "", func(s *resourcev1.ResourceSliceSpec) {
			s.PerDeviceNodeSelection = &yes
			for i := range s.Devices {
				switch d := &s.Devices[i]; m.IntN(3) {
				case 0:
					d.AllNodes = &yes
				case 1:
					d.NodeName = &m.nodes[m.IntN(len(m.nodes))].Name
				default:
					d.NodeSelector = &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchFields: []v1.NodeSelectorRequirement{{
						Key: "metadata.name", Operator: v1.NodeSelectorOpNotIn, Values: []string{m.nodes[m.IntN(len(m.nodes))].Name},
					}}}}}
				}
			}
		})
	}
}

// pool publishes one pool in one or two slices, some of them out of date, not
// all there, or with a name twice.
func (m *deviceMaker) pool(driver, name, node string, where func(*resourcev1.ResourceSliceSpec)) {
	n := pick(&m.maker, 1, 1, 2)
	generation := int64(m.between(1, 2))
	counters := m.on["counters"] && m.chance(40)
	count := int64(n)
	if counters {
		count++
	}
	if m.on["broken"] && m.chance(12) {
		count++ // one is still to come
	}
	next := 0
	for range n {
		s := m.slice(driver, name, generation, count)
		for range m.between(1, 4) {
			s.Spec.Devices = append(s.Spec.Devices, m.device(driver, next, counters))
			next++
		}
		if m.on["broken"] && m.chance(8) && next > 1 {
			s.Spec.Devices[0].Name = "d0"
		}
		where(&s.Spec)
		for i := range s.Spec.Devices {
			d := &s.Spec.Devices[i]
			m.there = append(m.there, published{driver, name, d.Name, node, d.AllowMultipleAllocations != nil, len(d.ConsumesCounters) > 0})
		}
		m.objs = append(m.objs, s)
	}
	if counters {
		s := m.slice(driver, name, generation, count)
		s.Spec.SharedCounters = []resourcev1.CounterSet{{Name: "set", Counters: map[string]resourcev1.Counter{
			"slices": {Value: *resource.NewQuantity(int64(m.between(2, 8)), resource.DecimalSI)},
			"memory": {Value: resource.MustParse(pick(&m.maker, "20Gi", "40Gi", "80Gi"))},
		}}}
		where(&s.Spec)
		m.objs = append(m.objs, s)
	}
	if m.on["broken"] && m.chance(15) { // of another generation
		s := m.slice(driver, name, generation+int64(pick(&m.maker, -1, 1)), 1)
		s.Spec.Devices = append(s.Spec.Devices, m.device(driver, next, false))
		where(&s.Spec)
		if m.chance(40) && s.Spec.NodeName != nil {
			other := m.nodes[m.IntN(len(m.nodes))].Name
			s.Spec.NodeName = &other
		}
		m.objs = append(m.objs, s)
	}
}

func (m *deviceMaker) slice(driver, pool string, generation, count int64) *resourcev1.ResourceSlice {
	m.slicing++
	return &resourcev1.ResourceSlice{
		TypeMeta:   metav1.TypeMeta{APIVersion: "resource.k8s.io/v1", Kind: "ResourceSlice"},
		ObjectMeta: m.meta("", fmt.Sprintf("slice-%03d-%d", m.IntN(1000), m.slicing), nil),
		Spec:       resourcev1.ResourceSliceSpec{Driver: driver, Pool: resourcev1.ResourcePool{Name: pool, Generation: generation, ResourceSliceCount: count}},
	}
}

func (m *deviceMaker) device(driver string, i int, counters bool) resourcev1.Device {
	d := resourcev1.Device{Name: fmt.Sprintf("d%d", i), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}}
	model, index, fast, version := pick(&m.maker, models...), int64(i), m.chance(50), pick(&m.maker, "1.2.0", "2.0.0")
	numa := int64(m.between(0, 1))
	d.Attributes["model"] = resourcev1.DeviceAttribute{StringValue: &model}
	d.Attributes["index"] = resourcev1.DeviceAttribute{IntValue: &index}
	d.Attributes["version"] = resourcev1.DeviceAttribute{VersionValue: &version}
	if m.chance(70) {
		d.Attributes["fast"] = resourcev1.DeviceAttribute{BoolValue: &fast}
	}
	if m.chance(85) {
		d.Attributes["shared.example.com/numa"] = resourcev1.DeviceAttribute{IntValue: &numa}
	}
	memory := resourcev1.DeviceCapacity{Value: resource.MustParse(pick(&m.maker, "16Gi", "40Gi"))}
	if m.on["capacity"] && m.chance(50) {
		yes := true
		d.AllowMultipleAllocations = &yes
		switch m.IntN(3) {
		case 0:
			least, step, most, def := resource.MustParse("1Gi"), resource.MustParse("2Gi"), resource.MustParse("15Gi"), resource.MustParse("5Gi")
			memory.RequestPolicy = &resourcev1.CapacityRequestPolicy{Default: &def, ValidRange: &resourcev1.CapacityRequestPolicyRange{Min: &least, Step: &step, Max: &most}}
		case 1:
			def := resource.MustParse("4Gi")
			memory.RequestPolicy = &resourcev1.CapacityRequestPolicy{Default: &def, ValidValues: []resource.Quantity{resource.MustParse("4Gi"), resource.MustParse("8Gi"), resource.MustParse("16Gi")}}
		}
	}
	d.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": memory}
	if counters && m.chance(80) {
		d.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "set", Counters: map[string]resourcev1.Counter{
			"slices": {Value: *resource.NewQuantity(int64(m.between(1, 3)), resource.DecimalSI)},
		}}}
		if m.chance(50) {
			d.ConsumesCounters[0].Counters["memory"] = resourcev1.Counter{Value: memory.Value}
		}
	}
	if m.on["taint"] && m.chance(30) {
		d.Taints = []resourcev1.DeviceTaint{{Key: pick(&m.maker, "example.com/sick", "example.com/slow"), Value: pick(&m.maker, "", "very"), Effect: pick(&m.maker, resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNoExecute, "None")}}
	}
	if m.on["binding"] && m.chance(25) {
		d.BindingConditions, d.BindingFailureConditions = []string{"example.com/attached"}, []string{"example.com/failed"}
		if m.chance(40) {
			yes := true
			d.BindsToNode = &yes
		}
	}
	return d
}
