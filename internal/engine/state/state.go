package state

import (
	"math"
	"slices"
	"sort"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// State is a cluster at one revision, compiled for decisions: columns and counts instead of
// objects. It is immutable and safe for concurrent use; Edit makes the next one, which shares
// everything that did not change.
type State struct {
	t      *Tables
	local  *LocalNames // of an overlay; nil otherwise
	nodes  *NodeSet
	use    blocks[useBlock]
	scalar vec[*Requested] // by scalar id
	onNode vec[*PodList]   // by row
	floor  int32           // no pod on a node has a lower priority, nor had one in an earlier state
	// varied is where pods are that count as something else by another Counting, and views are the
	// states for these.
	varied *Postings
	views  *views
	shapes vec[*Postings]
	terms  vec[*Postings]
	ports  vec[*Postings]
	disks  vec[*Postings]
	claims vec[*Postings]

	pods      table[*Pod]
	waiting   map[string][]*Pod // bound to nodes that the state does not have, by node name
	pending   table[*Pod]       // neither bound nor terminal
	nominated *PodList          // of the pending ones, those with a nominated node

	ns      map[string]labels.Set
	nsEdit  uint64 // the edit that last changed ns
	step    uint64 // the step of the walk that last changed this state in place
	inPlace bool   // a walk changes this state in place
	// counting is what pods count as in use and scalar.
	counting Counting
	objects  map[string]*namespaced
	classes  map[string]*schedulingv1.PriorityClass
	classed  uint64     // the edit that last changed classes
	budgets  *budgetSet // replaced when a budget changes
	// The budgets by namespace and name.
	budgetsOf map[string]map[string]*policyv1.PodDisruptionBudget

	// What rules about volumes and devices read. The numbers identify the version of each table.
	storage     *storage
	storageEdit uint64
	attached    *attachedSet // replaced when the storage changes, the nodes, or a pod with volumes
	devices     *devices
	devicesEdit uint64
}

// namespaced holds the objects of one namespace that decisions read.
type namespaced struct {
	services     map[string]*corev1.Service
	controllers  map[string]*corev1.ReplicationController
	replicaSets  map[string]*appsv1.ReplicaSet
	statefulSets map[string]*appsv1.StatefulSet
	groups       map[string]int32 // how many pods of a PodGroup are scheduled together; 0: any number
}

// NewState returns the state of an empty cluster.
func NewState() *State {
	return &State{
		t: newTables(), nodes: emptyNodeSet(), views: &views{}, floor: math.MaxInt32,
		waiting: map[string][]*Pod{}, ns: map[string]labels.Set{},
		objects: map[string]*namespaced{}, classes: map[string]*schedulingv1.PriorityClass{},
		budgets: &budgetSet{}, budgetsOf: map[string]map[string]*policyv1.PodDisruptionBudget{}, storage: &storage{index: &volumeIndex{}, pools: &poolIndex{}}, devices: &devices{memo: &deviceMemo{}}, attached: &attachedSet{},
	}
}

// Nodes returns the node columns.
func (s *State) Nodes() *NodeSet { return s.nodes }

// Tables returns the interned shapes and terms.
func (s *State) Tables() *Tables { return s.t }

// Pod finds a pod; nil where the state has none of that name.
func (s *State) Pod(namespace, name string) *Pod { return s.pods.get(namespace, name) }

// PodCount returns the number of pods, terminal ones included.
func (s *State) PodCount() int { return s.pods.n }

// PodsOn lists the pods that occupy a row.
func (s *State) PodsOn(row int) *PodList { return s.onNode.at(row) }

// Group is a PodGroup, and its pods that have not ended.
type Group struct {
	// Known reports whether the state has the PodGroup. MinCount is how many of its pods are
	// scheduled together; 0 where it does not say.
	Known    bool
	MinCount int32
	// Pods are those that are there, Placed of them have a node. Has reports whether the one that
	// was asked about is among them.
	Pods, Placed int
	Has          bool
}

// Group counts the pods of a PodGroup (pkg/scheduler/framework PodGroupState AllPodsCount,
// ScheduledPodsCount). It goes over all pods.
func (s *State) Group(namespace, name, pod string) (g Group) {
	if o := s.objects[namespace]; o != nil {
		g.MinCount, g.Known = o.groups[name]
	}
	s.EachPod(func(p *Pod) {
		if p.Class.Group != name || p.Namespace != namespace || p.Terminal {
			return
		}
		g.Pods++
		g.Has = g.Has || p.Name == pod
		if p.NodeName != "" {
			g.Placed++
		}
	})
	return g
}

// EachPod visits all pods in no particular order.
func (s *State) EachPod(f func(*Pod)) { s.pods.each(f) }

// EachTerminating calls f for every pod of a node that is being deleted, by shape and node.
func (s *State) EachTerminating(f func(*Pod)) {
	s.t.mu.RLock()
	shapes := slices.Clip(s.t.shapes)
	s.t.mu.RUnlock()
	for _, sh := range shapes {
		if !sh.Terminating {
			continue
		}
		s.ShapePostings(sh.ID).Each(func(row, _ int32) {
			for p := range s.PodsOn(int(row)).All() {
				if p.Class.Shape == sh {
					f(p)
				}
			}
		})
	}
}

// Pending lists the pods that wait for a node, by namespace and name.
func (s *State) Pending() []*Pod {
	out := make([]*Pod, 0, s.pending.n)
	s.pending.each(func(p *Pod) { out = append(out, p) })
	slices.SortFunc(out, func(a, b *Pod) int { return compareKey(a, b.Namespace, b.Name) })
	return out
}

// InPlace reports whether an InPlace changes the state, or what it shares with one.
func (s *State) InPlace() bool { return s.inPlace }

// NominatedPods lists the pending pods with a nominated node.
func (s *State) NominatedPods() *PodList { return s.nominated }

// Requested returns how much of an extended resource is requested; nil for nothing.
func (s *State) Requested(id int32) *Requested {
	if id < 0 {
		return nil
	}
	return s.scalar.at(int(id))
}

// ScalarID returns the id of a resource by name; ok is false where neither a node nor a pod ever
// named it.
func (s *State) ScalarID(name string) (int32, bool) {
	l := NewLocalNames(s)
	return l.lookupScalar(name)
}

// ShapePostings returns where pods of a shape are.
func (s *State) ShapePostings(id int32) *Postings { return s.shapes.at(int(id)) }

// TermPostings returns where pods with an interned term are.
func (s *State) TermPostings(id int32) *Postings { return s.terms.at(int(id)) }

// Port returns an interned port.
func (s *State) Port(id int32) Port {
	s.t.mu.RLock()
	defer s.t.mu.RUnlock()
	return s.t.ports[id]
}

// PortConflicts appends the interned ports that p cannot share a node with.
func (s *State) PortConflicts(dst []int32, p Port) []int32 { return s.t.conflicting(dst, p) }

// PortPostings returns where an interned port is used.
func (s *State) PortPostings(id int32) *Postings { return s.ports.at(int(id)) }

// NamespaceLabels returns a namespace's labels; nil where the state has no such namespace, which
// reads as no labels.
func (s *State) NamespaceLabels(ns string) labels.Set { return s.ns[ns] }

// NamespaceCount returns the number of namespaces that have an object.
func (s *State) NamespaceCount() int { return len(s.ns) }

// namespacesMatching lists the namespaces whose labels match. check is called from time to time.
func (s *State) namespacesMatching(sel labels.Selector, check func()) []string {
	var out []string
	n := 0
	for name, set := range s.ns {
		if n++; n%checkEvery == 0 {
			check()
		}
		if sel.Matches(set) {
			out = append(out, name)
		}
	}
	sort.Strings(out)
	return out
}

// EachService visits a namespace's services in no particular order.
func (s *State) EachService(ns string, f func(*corev1.Service)) {
	if o := s.objects[ns]; o != nil {
		for _, v := range o.services {
			f(v)
		}
	}
}

// ReplicationController finds one; nil without.
func (s *State) ReplicationController(ns, name string) *corev1.ReplicationController {
	if o := s.objects[ns]; o != nil {
		return o.controllers[name]
	}
	return nil
}

// ReplicaSet finds one; nil without.
func (s *State) ReplicaSet(ns, name string) *appsv1.ReplicaSet {
	if o := s.objects[ns]; o != nil {
		return o.replicaSets[name]
	}
	return nil
}

// StatefulSet finds one; nil without.
func (s *State) StatefulSet(ns, name string) *appsv1.StatefulSet {
	if o := s.objects[ns]; o != nil {
		return o.statefulSets[name]
	}
	return nil
}

// PriorityClass finds one of the snapshot's classes; nil without.
func (s *State) PriorityClass(name string) *schedulingv1.PriorityClass { return s.classes[name] }

// EachBudget visits the disruption budgets in no particular order.
func (s *State) EachBudget(f func(*policyv1.PodDisruptionBudget)) {
	for _, budgets := range s.budgetsOf {
		for _, b := range budgets {
			f(b)
		}
	}
}

// GlobalDefaultClass returns the snapshot's default class: of several, which an apiserver would not
// admit, the one with the lowest value (plugin/pkg/admission/priority getDefaultPriority).
func (s *State) GlobalDefaultClass() *schedulingv1.PriorityClass {
	var best *schedulingv1.PriorityClass
	for _, c := range s.classes {
		if c.GlobalDefault && (best == nil || c.Value < best.Value || c.Value == best.Value && c.Name < best.Name) {
			best = c
		}
	}
	return best
}
