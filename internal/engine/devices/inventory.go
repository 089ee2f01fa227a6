package devices

import (
	"slices"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"berth/internal/engine/state"
)

// ID names a device in the cluster.
type ID struct{ Driver, Pool, Device string }

// String writes it with slashes.
func (id ID) String() string { return id.Driver + "/" + id.Pool + "/" + id.Device }

// Inventory indexes the claims, slices and classes of a state. It is made once for all decisions on
// the same objects and is safe for concurrent use: what it works out later is cached and invisible.
type Inventory struct {
	as      Behaviour
	classes map[string]*resourcev1.DeviceClass
	local   map[string][]*slice // by node, in order of the slices' names
	shared  []*slice            // those that name no node, or concern others as well
	pools   map[poolID][]*slice // all of a pool, whatever their generation
	rules   []*resourcev1.DeviceTaintRule

	ids     map[ID]int32
	names   []ID
	count   int // devices in slices, of which some may share an ID
	held    held
	nodes   atomic.Pointer[nodePools]
	verdict verdicts
}

// slice is a ResourceSlice with its devices numbered.
type slice struct {
	*resourcev1.ResourceSlice
	devices []device
	hidden  bool // it counts for nothing but its generation
}

// device is one entry of a slice. Entries of several slices may have one name. They are one device
// to allocate, but each is selected by itself.
type device struct {
	*resourcev1.Device
	id    int32 // of its ID
	place int32 // among all entries
	plain bool  // none of its capacity can be shared
	multi bool  // it may be allocated several times, by capacity
	// taints are those that keep claims away.
	taints []resourcev1.DeviceTaint
	slice  *slice
}

func yes(b *bool) bool { return b != nil && *b }

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// NewInventory indexes a state's objects under a behaviour.
func NewInventory(s *state.State, as Behaviour) *Inventory {
	inv := &Inventory{
		as: as, classes: map[string]*resourcev1.DeviceClass{}, local: map[string][]*slice{}, pools: map[poolID][]*slice{}, ids: map[ID]int32{},
	}
	for _, c := range s.DeviceClasses() {
		inv.classes[c.Name] = c
	}
	if as.taints && as.rules {
		inv.rules = s.DeviceTaintRules()
	}
	for _, rs := range s.ResourceSlices() {
		inv.add(rs)
	}
	for _, c := range s.ResourceClaims() {
		inv.hold(c)
	}
	return inv
}

func (inv *Inventory) add(rs *resourcev1.ResourceSlice) {
	sl := &slice{ResourceSlice: rs, devices: make([]device, len(rs.Spec.Devices))}
	for i := range rs.Spec.Devices {
		d := &rs.Spec.Devices[i]
		multi := inv.as.shares && yes(d.AllowMultipleAllocations)
		sl.devices[i] = device{Device: d, id: inv.id(ID{rs.Spec.Driver, rs.Spec.Pool.Name, d.Name}), place: int32(inv.count), plain: !multi, multi: multi, slice: sl}
		if inv.as.taints {
			sl.devices[i].taints = inv.taintsOf(rs, d)
		}
		for _, c := range d.Capacity {
			special := c.RequestPolicy != nil || inv.as.badAmountsFail && c.Value.Sign() < 0
			sl.devices[i].plain = sl.devices[i].plain && !(inv.as.shares && special)
		}
		inv.count++
	}
	p := poolID{rs.Spec.Driver, rs.Spec.Pool.Name}
	inv.pools[p] = append(inv.pools[p], sl)
	sl.hidden = inv.as.groupsAreHidden && grouped(rs)
	node, counters := text(rs.Spec.NodeName), len(rs.Spec.SharedCounters) > 0
	switch {
	case sl.hidden:
	case !inv.as.partitions && (rs.Spec.PerDeviceNodeSelection != nil || counters && !inv.as.countingSlicesGive):
		// It counts for whether its pool is complete, and for nothing else.
	case node != "" && (!counters || inv.as.countersStayLocal || inv.as.countingSlicesGive):
		inv.local[node] = append(inv.local[node], sl)
	default:
		inv.shared = append(inv.shared, sl)
	}
}

// grouped reports whether a device of the slice may share counters with those of some groups alone.
func grouped(rs *resourcev1.ResourceSlice) bool {
	return slices.ContainsFunc(rs.Spec.Devices, func(d resourcev1.Device) bool {
		return slices.ContainsFunc(d.ConsumesCounters, func(c resourcev1.DeviceCounterConsumption) bool {
			return len(c.CompatibilityGroups) > 0
		})
	})
}

// taintsOf returns the taints of a device: its own, and those of rules that select it
// (dynamic-resource-allocation/resourceslice/tracker applyPatches).
func (inv *Inventory) taintsOf(rs *resourcev1.ResourceSlice, d *resourcev1.Device) []resourcev1.DeviceTaint {
	taints := slices.Clip(d.Taints)
	for _, r := range inv.rules {
		if Selects(r, rs, d) {
			taints = append(taints, r.Spec.Taint)
		}
	}
	return taints
}

// Selects reports whether a rule taints a device of a slice. One without a selector taints none.
func Selects(r *resourcev1.DeviceTaintRule, rs *resourcev1.ResourceSlice, d *resourcev1.Device) bool {
	is := func(wanted *string, name string) bool { return wanted == nil || *wanted == name }
	s := r.Spec.DeviceSelector
	return s != nil && is(s.Driver, rs.Spec.Driver) && is(s.Pool, rs.Spec.Pool.Name) && is(s.Device, d.Name)
}

// id numbers a device.
func (inv *Inventory) id(name ID) int32 {
	if i, ok := inv.ids[name]; ok {
		return i
	}
	i := int32(len(inv.names))
	inv.ids[name] = i
	inv.names = append(inv.names, name)
	return i
}

// Class finds a device class; nil without.
func (inv *Inventory) Class(name string) *resourcev1.DeviceClass { return inv.classes[name] }

// nodeAt is a node as the package reads it: a row of the engine's columns.
type nodeAt struct {
	set  *nodePools
	row  int
	name string
}

// reaches reports whether something published for a named node, for all nodes or for a selector
// reaches this node. A selector that does not parse is an error (structured/internal/incubating
// NodeMatches).
func (n *nodeAt) reaches(name string, all bool, sel *corev1.NodeSelector) (bool, error) {
	switch {
	case name != "":
		return name == n.name, nil
	case all:
		return true, nil
	case sel != nil:
		rows, err := n.set.rowsOf(sel)
		if err != nil {
			return false, err
		}
		return rows.Has(n.row), nil
	}
	return false, nil
}
