package state

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// Tables interns what many pods share: shapes, classes, affinity terms, resources and ports. They
// only grow, and all states that descend from one another share them. Ids are never reused, so an
// older state has no postings for ids that came later. They are safe for concurrent use.
type Tables struct {
	mu sync.RWMutex

	shapes       []*Shape
	shapeIDs     map[string]int32
	shapesByPair map[pair][]int32
	shapesByNS   map[string][]int32

	classes map[string]*Class
	columns ClassColumns
	// counted is columns.of by other Countings. scalarsVary reports that some class differs in its
	// extended resources by one of them.
	counted     [Countings - 1][]classColumn
	scalarsVary bool

	amountIDs map[Amount]int32

	terms      []*Term
	termIDs    map[string]int32
	termPairs  map[pair][]int32
	termsLoose []int32

	scalars   map[string]int32
	scalarIDs []string

	ports     []Port
	portIDs   map[Port]int32
	portsByNo map[portNo][]int32

	incomings map[string]*Incoming

	volumeTables

	ranks rankCache
}

// pair is a label.
type pair struct{ key, value string }

// Shape is what selectors see of a pod. Topology spread and inter-pod affinity treat pods of one
// shape the same.
type Shape struct {
	ID          int32
	Namespace   string
	Labels      labels.Set
	Terminating bool
}

// Port is a host port as pods claim it. IP "0.0.0.0" stands for all.
type Port struct {
	IP, Protocol string
	Number       int32
}

// Conflicts reports whether pods with the two ports cannot share a node
// (k8s.io/kube-scheduler/framework HostPortInfo.CheckConflict).
func (p *Port) Conflicts(o *Port) bool {
	return p.Protocol == o.Protocol && p.Number == o.Number && (p.IP == o.IP || p.IP == anyIP || o.IP == anyIP)
}

type portNo struct {
	protocol string
	number   int32
}

func newTables() *Tables {
	return &Tables{
		shapeIDs:     map[string]int32{},
		shapesByPair: map[pair][]int32{},
		shapesByNS:   map[string][]int32{},
		classes:      map[string]*Class{},
		amountIDs:    map[Amount]int32{},
		termIDs:      map[string]int32{},
		termPairs:    map[pair][]int32{},
		scalars:      map[string]int32{},
		portIDs:      map[Port]int32{},
		portsByNo:    map[portNo][]int32{},
		incomings:    map[string]*Incoming{},
		volumeTables: newVolumeTables(),
	}
}

// Size returns the number of interned shapes, which shows when a lineage has outgrown what it still
// uses.
func (t *Tables) Size() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.shapes)
}

// Entries returns the number of all that is interned.
func (t *Tables) Entries() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.shapes) + len(t.classes) + len(t.terms) + len(t.scalars) + len(t.ports) +
		len(t.incomings) + len(t.disks) + len(t.claimIDs) + len(t.volumeIDs) + len(t.driverIDs)
}

// Interned returns how many entries of the tables the state itself needs, at most.
func (s *State) Interned() int {
	n := len(s.nodes.offered) + s.storage.attachments.n
	shapes, classes, incomings := map[int32]struct{}{}, map[int32]struct{}{}, map[*Incoming]struct{}{}
	s.pending.each(func(p *Pod) { incomings[p.Incoming] = struct{}{} })
	s.EachPod(func(p *Pod) {
		shapes[p.Class.Shape.ID] = struct{}{}
		if _, known := classes[p.Class.ID]; !known {
			classes[p.Class.ID] = struct{}{}
			n += len(p.Class.Terms) + len(p.Class.Ports) + len(p.Class.Request.Scalars)
		}
		if v := p.Volumes; v != nil {
			n += len(v.disks) + len(v.claims) + len(v.mounts)
		}
	})
	return n + len(shapes) + len(classes) + len(incomings)
}

// Classes returns the number of interned classes.
func (t *Tables) Classes() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.classes)
}

// ClassColumns holds what dry runs read of classes, by their ids. Many classes request the same, so
// that the amounts are in a table of their own, which stays in the processor's cache.
type ClassColumns struct {
	of      []classColumn
	amounts []Amount
}

type classColumn struct{ shape, amount int32 }

// Shape returns the id of a class's shape.
func (c *ClassColumns) Shape(class int32) int32 { return c.of[class].shape }

// Amount returns what pods of a class request. Not to be written.
func (c *ClassColumns) Amount(class int32) *Amount { return &c.amounts[c.of[class].amount] }

// ClassColumns returns the columns of all classes interned so far, as the state counts them.
func (s *State) ClassColumns() ClassColumns {
	s.t.mu.RLock()
	defer s.t.mu.RUnlock()
	c := s.t.columns
	if s.counting != 0 {
		c.of = s.t.counted[s.counting-1]
	}
	return c
}

// varyingScalars returns how many extended resources may depend on the Counting: all or none.
func (t *Tables) varyingScalars() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if !t.scalarsVary {
		return 0
	}
	return len(t.scalars)
}

// addClass interns a class and sets its id. It runs under the writer's lock.
func (t *Tables) addClass(key string, c *Class) {
	column := func(n *Counted) classColumn {
		a, known := t.amountIDs[n.Request.Amount]
		if !known {
			a = int32(len(t.columns.amounts))
			t.amountIDs[n.Request.Amount] = a
			t.columns.amounts = append(t.columns.amounts, n.Request.Amount)
		}
		return classColumn{c.Shape.ID, a}
	}
	c.ID = int32(len(t.classes))
	t.classes[key] = c
	own := column(&c.Counted)
	t.columns.of = append(t.columns.of, own)
	for i := range t.counted {
		if c.others == nil {
			t.counted[i] = append(t.counted[i], own)
			continue
		}
		o := &c.others[i]
		t.counted[i] = append(t.counted[i], column(o))
		t.scalarsVary = t.scalarsVary || !slices.Equal(o.Request.Scalars, c.Request.Scalars)
	}
}

// internedText is interned for a key that becomes a text on first use alone.
func internedText(t *Tables, ids map[string]int32, key memoKey, add func() int32) int32 {
	t.mu.RLock()
	id, ok := ids[string(key)]
	t.mu.RUnlock()
	if ok {
		return id
	}
	return interned(t, ids, string(key), add)
}

// interned returns the id of a key, made by add on first use. Most keys are known, so the first
// lookup is under the readers' lock; add runs under the writer's.
func interned[K comparable](t *Tables, ids map[K]int32, key K, add func() int32) int32 {
	t.mu.RLock()
	id, ok := ids[key]
	t.mu.RUnlock()
	if ok {
		return id
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if id, ok := ids[key]; ok {
		return id
	}
	id = add()
	ids[key] = id
	return id
}

func (t *Tables) scalar(name string) int32 {
	return interned(t, t.scalars, name, func() int32 {
		t.scalarIDs = append(t.scalarIDs, name)
		return int32(len(t.scalarIDs) - 1)
	})
}

func (t *Tables) scalarName(id int32) string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.scalarIDs[id]
}

// lookupScalar returns the id of a resource that was interned.
func (t *Tables) lookupScalar(name string) (int32, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	id, ok := t.scalars[name]
	return id, ok
}

// shapeKey appends the key of a shape.
func shapeKey(k memoKey, ns string, set map[string]string, terminating bool) memoKey {
	var room [16]string
	names := room[:0]
	for name := range set {
		names = append(names, name)
	}
	slices.Sort(names)
	k = k.text(ns).flag(terminating).number(len(set))
	for _, label := range names {
		k = k.text(label).text(set[label])
	}
	return k
}

// Shape interns a shape.
func (t *Tables) Shape(ns string, set map[string]string, terminating bool) *Shape {
	var room [256]byte
	id := internedText(t, t.shapeIDs, shapeKey(room[:0], ns, set, terminating), func() int32 {
		s := &Shape{ID: int32(len(t.shapes)), Namespace: ns, Labels: set, Terminating: terminating}
		t.shapes = append(t.shapes, s)
		for k, v := range set {
			t.shapesByPair[pair{k, v}] = append(t.shapesByPair[pair{k, v}], s.ID)
		}
		t.shapesByNS[ns] = append(t.shapesByNS[ns], s.ID)
		return s.ID
	})
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.shapes[id]
}

// checkEvery is the number of entries between two checks of a caller's context.
const checkEvery = 1024

// ShapesSelected appends the shapes that a resolved term selects. check is called from time to
// time, and may panic to end the search.
func (t *Tables) ShapesSelected(dst []*Shape, x *Term, check func()) []*Shape {
	if !x.NamespaceSelector.Empty() && len(x.Namespaces) == 1 {
		return t.matchShapes(dst, x.Selector, x.Namespaces[0], nil, check)
	}
	return t.matchShapes(dst, x.Selector, "", func(ns string) bool {
		return x.NamespaceSelector.Empty() || x.names(ns)
	}, check)
}

// ShapesIn appends the shapes of one namespace that a selector matches.
func (t *Tables) ShapesIn(dst []*Shape, ns string, sel labels.Selector, check func()) []*Shape {
	return t.matchShapes(dst, sel, ns, nil, check)
}

// matchShapes appends the shapes that inNamespace admits and sel matches. A selector with an
// equality reads only the shapes that have the label. One without reads the namespace's (ns, where
// only one can match) or all.
func (t *Tables) matchShapes(dst []*Shape, sel labels.Selector, ns string, inNamespace func(string) bool, check func()) []*Shape {
	reqs, selectable := sel.Requirements()
	if !selectable {
		return dst
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	pick := func(ids []int32) {
		for i, id := range ids {
			if i%checkEvery == checkEvery-1 {
				check()
			}
			s := t.shapes[id]
			if ns != "" {
				if s.Namespace != ns {
					continue
				}
			} else if !inNamespace(s.Namespace) {
				continue
			}
			if sel.Matches(s.Labels) {
				dst = append(dst, s)
			}
		}
	}
	if key, values, ok := equality(reqs); ok {
		for _, v := range values {
			pick(t.shapesByPair[pair{key, v}])
		}
		return dst
	}
	if ns != "" {
		pick(t.shapesByNS[ns])
		return dst
	}
	for name, ids := range t.shapesByNS {
		if inNamespace(name) {
			pick(ids)
		}
	}
	return dst
}

// equality finds a requirement that fixes a label to one of a few values.
func equality(reqs labels.Requirements) (key string, values []string, ok bool) {
	for _, r := range reqs {
		switch r.Operator() {
		case selection.In, selection.Equals, selection.DoubleEquals:
			// Each value once, so that no shape is met twice.
			return r.Key(), r.Values().UnsortedList(), true
		default:
		}
	}
	return "", nil, false
}

func (t *Tables) port(p Port) int32 {
	return interned(t, t.portIDs, p, func() int32 {
		id, no := int32(len(t.ports)), portNo{p.Protocol, p.Number}
		t.ports = append(t.ports, p)
		t.portsByNo[no] = append(t.portsByNo[no], id)
		return id
	})
}

// conflicting appends the ids of the known ports that p cannot share a node
// with: same protocol and number, and the same address or one of them any
// (pkg/scheduler/framework HostPortInfo.CheckConflict).
func (t *Tables) conflicting(dst []int32, p Port) []int32 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, id := range t.portsByNo[portNo{p.Protocol, p.Number}] {
		if t.ports[id].Conflicts(&p) {
			dst = append(dst, id)
		}
	}
	return dst
}
