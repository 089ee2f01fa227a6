package devices

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"berth/internal/engine/state"
)

// poolID names a pool. Pools of different drivers may share a name.
type poolID struct{ driver, name string }

func (p poolID) String() string { return p.driver + "/" + p.name }

// pool is what one node sees of a pool: the slices that concern it, in order of their names.
// Nothing is allocated from pools that are incomplete or invalid.
type pool struct {
	poolID
	counts     string // the account of its counters
	incomplete bool
	invalid    string // why; empty for a valid one
	slices     []*slice
	others     []*slice // of the same generation, for other nodes
	counters   map[string]map[string]resourcev1.Counter

	balanceOnce sync.Once
	balance     balance
}

// nodePools caches what each node of a set sees.
type nodePools struct {
	set  *state.NodeSet
	rows []atomic.Pointer[view]

	mu       sync.Mutex
	selected map[*corev1.NodeSelector]selection
}

type view struct {
	pools []*pool
	err   error
}

type selection struct {
	rows state.Bits
	err  error
}

// forNodes returns the cache for a set of nodes. Another set replaces the one in use, which costs
// time and changes no result.
func (inv *Inventory) forNodes(set *state.NodeSet) *nodePools {
	if np := inv.nodes.Load(); np != nil && np.set == set {
		return np
	}
	np := &nodePools{set: set, rows: make([]atomic.Pointer[view], set.Len()), selected: map[*corev1.NodeSelector]selection{}}
	inv.nodes.Store(np)
	return np
}

// rowsOf returns the nodes that a selector selects. A term that does not parse is an error, as
// upstream; an empty one selects no node.
func (np *nodePools) rowsOf(sel *corev1.NodeSelector) (state.Bits, error) {
	np.mu.Lock()
	defer np.mu.Unlock()
	if s, ok := np.selected[sel]; ok {
		return s.rows, s.err
	}
	s := selection{}
	for i := range sel.NodeSelectorTerms {
		if _, ok := np.set.TermRows(&sel.NodeSelectorTerms[i]); !ok {
			s.err = fmt.Errorf("failed to parse node selector: term %d", i)
		}
	}
	if s.err == nil {
		s.rows = np.set.NodeSelectorRows(sel)
	}
	np.selected[sel] = s
	return s.rows, s.err
}

// see returns what a row sees, worked out once.
func (inv *Inventory) see(np *nodePools, row int) ([]*pool, error) {
	if v := np.rows[row].Load(); v != nil {
		return v.pools, v.err
	}
	n := &nodeAt{set: np, row: row, name: np.set.Node(row).Name}
	v := &view{}
	v.pools, v.err = inv.gather(n)
	np.rows[row].Store(v)
	return v.pools, v.err
}

// gather finds the pools that a node reaches, by driver and name. Pools with devices that need
// binding conditions follow the others, so that these are allocated last
// (structured/internal/incubating GatherPools).
func (inv *Inventory) gather(n *nodeAt) ([]*pool, error) {
	found := map[poolID][]*slice{}
	for _, sl := range slices.Concat(inv.local[n.name], inv.shared) {
		ours, err := inv.concerns(sl, n)
		if err != nil {
			return nil, err
		}
		if !ours {
			continue
		}
		id := poolID{sl.Spec.Driver, sl.Spec.Pool.Name}
		have := found[id]
		switch {
		case len(have) == 0 || sl.Spec.Pool.Generation > have[0].Spec.Pool.Generation:
			found[id] = []*slice{sl}
		case sl.Spec.Pool.Generation == have[0].Spec.Pool.Generation:
			found[id] = append(have, sl)
		}
	}
	var plain, conditional []*pool
	for id, of := range found {
		p := inv.assemble(id, of)
		switch {
		case p == nil:
		case !inv.as.plain && p.conditional():
			conditional = append(conditional, p)
		default:
			plain = append(plain, p)
		}
	}
	for _, list := range [][]*pool{plain, conditional} {
		slices.SortFunc(list, func(a, b *pool) int {
			return cmp.Or(cmp.Compare(a.driver, b.driver), cmp.Compare(a.name, b.name))
		})
	}
	return append(plain, conditional...), nil
}

// concerns reports whether a slice matters to the node. Counters may matter to all nodes, since
// what one node consumes is missing on another.
func (inv *Inventory) concerns(sl *slice, n *nodeAt) (bool, error) {
	spec := &sl.Spec
	name, all := text(spec.NodeName), yes(spec.AllNodes)
	switch {
	case len(spec.SharedCounters) > 0 && !inv.as.countersStayLocal && !inv.as.countingSlicesGive:
		return true, nil
	case name != "" || all || spec.NodeSelector != nil:
		ok, err := n.reaches(name, all, spec.NodeSelector)
		if err != nil {
			return false, fmt.Errorf("gather pool information: failed to perform node selection for slice %s: %w", sl.Name, err)
		}
		return ok, nil
	case yes(spec.PerDeviceNodeSelection):
		for i := range sl.devices {
			d := &sl.devices[i]
			ok, err := n.reaches(text(d.NodeName), yes(d.AllNodes), d.NodeSelector)
			if err != nil {
				return false, fmt.Errorf("gather pool information: failed to perform node selection for device %s in slice %s: %w", d.Name, sl.Name, err)
			}
			if ok {
				return true, nil
			}
		}
	}
	return false, nil
}

// assemble makes a pool from the slices that concern a node, all of the newest generation among
// them. It returns nil where a newer generation exists that has nothing for the node. A pool is
// complete once as many slices of the generation exist as each of them states, whatever nodes they
// are for; where pools are what nodes reach, only those of the node count, and devices of
// incomplete pools are allocated one by one.
func (inv *Inventory) assemble(id poolID, of []*slice) *pool {
	p := &pool{poolID: id, counts: id.name}
	if inv.as.countersByDriver {
		p.counts = id.String()
	}
	want, generation := of[0].Spec.Pool.ResourceSliceCount, of[0].Spec.Pool.Generation
	if inv.as.poolsByNode {
		p.incomplete = int64(len(of)) != want
	} else if int64(len(of)) != want {
		var all []*slice
		for _, sl := range inv.pools[id] {
			if sl.Spec.Pool.Generation > generation {
				return nil
			}
			if sl.Spec.Pool.Generation == generation && !sl.hidden {
				all = append(all, sl)
			}
		}
		if int64(len(all)) != want {
			p.incomplete = true
			return p
		}
		for _, sl := range all {
			if !slices.Contains(of, sl) {
				p.others = append(p.others, sl)
			}
		}
	}
	slices.SortFunc(of, func(a, b *slice) int {
		if inv.as.sharesRepeat && a.conditional() != b.conditional() {
			if a.conditional() {
				return 1
			}
			return -1
		}
		return cmp.Compare(a.Name, b.Name)
	})
	if p.invalid = inv.check(p, of); p.invalid != "" {
		return &pool{poolID: id, incomplete: p.incomplete, invalid: p.invalid}
	}
	return p
}

// check separates slices with counters from those with devices. It returns what is wrong with them,
// or nothing.
func (inv *Inventory) check(p *pool, of []*slice) string {
	names := map[string]bool{}
	p.counters = map[string]map[string]resourcev1.Counter{}
	var sets []resourcev1.CounterSet
	for _, sl := range of {
		if len(sl.Spec.SharedCounters) > 0 {
			sets = append(sets, sl.Spec.SharedCounters...)
			if !inv.as.countingSlicesGive {
				continue
			}
		}
		p.slices = append(p.slices, sl)
		for i := range sl.devices {
			name := sl.devices[i].Name
			if names[name] {
				return "duplicate device name " + name
			}
			names[name] = true
		}
	}
	if !inv.as.partitions {
		return ""
	}
	if inv.as.countersStayLocal {
		for _, sl := range p.others {
			sets = append(sets, sl.Spec.SharedCounters...)
		}
	}
	for _, set := range sets {
		if p.counters[set.Name] != nil {
			return "duplicate counter set name " + set.Name
		}
		p.counters[set.Name] = set.Counters
		if set.Counters == nil {
			p.counters[set.Name] = map[string]resourcev1.Counter{}
		}
	}
	for _, sl := range slices.Concat(of, p.others) {
		for i := range sl.devices {
			if why := p.consumes(&sl.devices[i]); why != "" {
				return why
			}
		}
	}
	return ""
}

// consumes returns what is wrong with the counters that a device uses; empty where all exist.
func (p *pool) consumes(d *device) string {
	for _, c := range d.ConsumesCounters {
		set, ok := p.counters[c.CounterSet]
		if !ok {
			return fmt.Sprintf("counter set %s not found", c.CounterSet)
		}
		missing := ""
		for name := range c.Counters {
			if _, ok := set[name]; !ok && (missing == "" || name < missing) {
				missing = name
			}
		}
		if missing != "" {
			return fmt.Sprintf("counter %s not found in counter set %s", missing, c.CounterSet)
		}
	}
	return ""
}

// conditional reports whether some device has binding conditions.
func (p *pool) conditional() bool {
	return slices.ContainsFunc(p.slices, (*slice).conditional)
}

// conditional reports whether some device of the slice has binding conditions.
func (sl *slice) conditional() bool {
	return slices.ContainsFunc(sl.devices, func(d device) bool { return d.BindingConditions != nil })
}
