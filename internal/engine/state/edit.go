package state

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/labels"

	"berth/internal/kube/object"
	"berth/internal/steps"
)

var lastEdit atomic.Uint64

// Edit collects changes to a state. It is for one goroutine; Done returns the next state and ends
// the edit.
type Edit struct {
	id uint64
	s  *State
	// Owned parts are copies that this edit may write; nodes likewise.
	nodes           bool
	namespacesOwned bool
	classesOwned    bool
	storageOwned    bool
	devicesOwned    bool
	attachedOwned   bool
	waitingOwned    map[string]bool // nodes whose lists in s.waiting are owned, once the map is
	objectsOwned    map[string]bool // namespaces
	budgetsOwned    map[string]bool // namespaces
	local           *LocalNames     // of an overlay; nil for the next state of a cluster

	within *steps.Counter // of Within; may be nil
	ended  error          // of its context: the state is incomplete

	inPlace bool
	rows    []int32 // in place: those whose pods changed

	templates map[*corev1.Pod]*Pod // of PutPod
}

// Edit starts the next state. The receiver stays as it is. It is small enough to be inlined, so
// that most edits are on their callers' stacks.
func (s *State) Edit() *Edit { return &Edit{id: lastEdit.Add(1), s: s.next()} }

// Overlay starts a state for one question. The names of its nodes' resources stay out of the
// tables, which it shares with the receiver forever.
func (s *State) Overlay() *Edit {
	e := s.Edit()
	l := NewLocalNames(s)
	e.local = &l
	return e
}

func (e *Edit) scalarIDs() scalarIDs {
	if e.local != nil {
		return e.local
	}
	return e.s.t
}

// Within ends the edit's long loops once ctx has ended. Finish then returns the error.
func (e *Edit) Within(ctx context.Context) *Edit {
	e.within = steps.Of(ctx)
	return e
}

// step counts the pods that a loop removes and adds, and reports whether the loop goes on.
func (e *Edit) step(pods int) bool {
	if e.ended == nil {
		e.ended = e.within.Take(pods)
	}
	return e.ended == nil
}

// Finish is Done for an edit within a context: with an error there is no state.
func (e *Edit) Finish() (*State, error) {
	s := e.Done()
	if e.ended != nil {
		return nil, e.ended
	}
	return s, nil
}

// Done returns the edited state.
func (e *Edit) Done() *State {
	if e.local != nil && len(e.local.names) > 0 {
		e.s.local = e.local
	}
	if e.nodes && e.ended == nil {
		e.ended = e.s.nodes.seal(e.within)
	}
	s := e.s
	e.s = nil
	return s
}

// Put adds or replaces an object. Kinds that no rule reads are accepted and ignored. An object that
// cannot be compiled is an error that names it.
func (e *Edit) Put(obj any) error {
	switch o := obj.(type) {
	case *corev1.Node:
		e.putNode(o)
	case *corev1.Pod:
		p, err := newPod(e.s.t, o)
		if err != nil {
			return err
		}
		p.Incoming = e.incoming(o)
		e.putPod(p)
	case *corev1.Namespace:
		e.namespaces()[o.Name] = nonNil(o.Labels)
	case *corev1.Service:
		e.objects(o.Namespace).services[o.Name] = o
	case *corev1.ReplicationController:
		e.objects(o.Namespace).controllers[o.Name] = &corev1.ReplicationController{
			ObjectMeta: o.ObjectMeta, Spec: corev1.ReplicationControllerSpec{Replicas: o.Spec.Replicas, Selector: o.Spec.Selector},
		}
	case *appsv1.ReplicaSet: // without its template, which takes more than all else
		e.objects(o.Namespace).replicaSets[o.Name] = &appsv1.ReplicaSet{
			ObjectMeta: o.ObjectMeta, Spec: appsv1.ReplicaSetSpec{Replicas: o.Spec.Replicas, Selector: o.Spec.Selector},
		}
	case *appsv1.StatefulSet:
		e.objects(o.Namespace).statefulSets[o.Name] = &appsv1.StatefulSet{
			ObjectMeta: o.ObjectMeta, Spec: appsv1.StatefulSetSpec{Replicas: o.Spec.Replicas, Selector: o.Spec.Selector},
		}
	case *policyv1.PodDisruptionBudget:
		e.budgetsOf(o.Namespace)[o.Name] = o
	case *schedulingv1.PriorityClass:
		e.priorityClasses()[o.Name] = o
	case nil:
		return fmt.Errorf("no object to put")
	default:
		if g, n, ok := object.GroupOf(obj); ok {
			e.objects(g.Namespace).groups[g.Name] = n
			return nil
		}
		e.putOther(obj)
	}
	return nil
}

func nonNil(m map[string]string) labels.Set {
	if m == nil {
		return labels.Set{}
	}
	return m
}

// Delete removes an object; a missing one is no error.
func (e *Edit) Delete(kind, namespace, name string) {
	switch kind {
	case "Node":
		e.removeNode(name)
	case "Pod":
		e.removePod(namespace, name)
	case "Namespace":
		delete(e.namespaces(), name)
	case "PriorityClass":
		delete(e.priorityClasses(), name)
	case "Service":
		delete(e.objects(namespace).services, name)
	case "ReplicationController":
		delete(e.objects(namespace).controllers, name)
	case "ReplicaSet":
		delete(e.objects(namespace).replicaSets, name)
	case "StatefulSet":
		delete(e.objects(namespace).statefulSets, name)
	case "PodDisruptionBudget":
		delete(e.budgetsOf(namespace), name)
	case object.PodGroupKind:
		delete(e.objects(namespace).groups, name)
	default:
		e.deleteOther(kind, namespace, name)
	}
}

// putOther stores an object that rules about volumes or devices read.
func (e *Edit) putOther(obj any) {
	if e.storage().put(e.id, obj) {
		_, volume := obj.(*corev1.PersistentVolume)
		_, pool := obj.(*storagev1.CSIStorageCapacity)
		e.storageChanged(volume, pool)
		return
	}
	if e.devices().put(e.id, obj) {
		e.s.devicesEdit = lastEdit.Add(1)
	}
}

func (e *Edit) deleteOther(kind, namespace, name string) {
	if e.storage().remove(e.id, kind, namespace, name) {
		e.storageChanged(kind == "PersistentVolume", kind == "CSIStorageCapacity")
		return
	}
	if e.devices().remove(e.id, kind, namespace, name) {
		e.s.devicesEdit = lastEdit.Add(1)
	}
}

// storageChanged drops what was derived from the tables.
func (e *Edit) storageChanged(volumes, pools bool) {
	e.s.storageEdit = lastEdit.Add(1)
	if volumes {
		e.s.storage.index = &volumeIndex{}
	}
	if pools {
		e.s.storage.pools = &poolIndex{}
	}
	e.forgetAttached()
}

// storage returns tables that belong to the edit.
func (e *Edit) storage() *storage {
	if !e.storageOwned {
		own := *e.s.storage
		e.s.storage, e.storageOwned = &own, true
	}
	return e.s.storage
}

func (e *Edit) devices() *devices {
	if !e.devicesOwned {
		own := *e.s.devices
		own.memo = &deviceMemo{}
		e.s.devices, e.devicesOwned = &own, true
	}
	return e.s.devices
}

func (e *Edit) namespaces() map[string]labels.Set {
	if !e.namespacesOwned {
		e.s.ns, e.s.nsEdit, e.namespacesOwned = maps.Clone(e.s.ns), lastEdit.Add(1), true
	}
	return e.s.ns
}

func (e *Edit) priorityClasses() map[string]*schedulingv1.PriorityClass {
	if !e.classesOwned {
		e.s.classes, e.classesOwned = maps.Clone(e.s.classes), true
		e.s.classed = lastEdit.Add(1)
	}
	return e.s.classes
}

func (e *Edit) objects(ns string) *namespaced {
	if len(e.objectsOwned) == 0 {
		e.s.objects, e.objectsOwned = maps.Clone(e.s.objects), map[string]bool{}
	}
	o := e.s.objects[ns]
	if e.objectsOwned[ns] {
		return o
	}
	fresh := &namespaced{
		services: map[string]*corev1.Service{}, controllers: map[string]*corev1.ReplicationController{},
		replicaSets: map[string]*appsv1.ReplicaSet{}, statefulSets: map[string]*appsv1.StatefulSet{},
		groups: map[string]int32{},
	}
	if o != nil {
		maps.Copy(fresh.services, o.services)
		maps.Copy(fresh.controllers, o.controllers)
		maps.Copy(fresh.replicaSets, o.replicaSets)
		maps.Copy(fresh.statefulSets, o.statefulSets)
		maps.Copy(fresh.groups, o.groups)
	}
	e.objectsOwned[ns] = true
	e.s.objects[ns] = fresh
	return fresh
}

// budgetsOf returns the budgets of a namespace to write. They are apart from the other objects
// since they change with each eviction, and no filter or score reads them.
func (e *Edit) budgetsOf(ns string) map[string]*policyv1.PodDisruptionBudget {
	e.s.budgets = &budgetSet{}
	if e.budgetsOwned == nil {
		e.s.budgetsOf, e.budgetsOwned = maps.Clone(e.s.budgetsOf), map[string]bool{}
	}
	if !e.budgetsOwned[ns] {
		own := maps.Clone(e.s.budgetsOf[ns])
		if own == nil {
			own = map[string]*policyv1.PodDisruptionBudget{}
		}
		e.s.budgetsOf[ns], e.budgetsOwned[ns] = own, true
	}
	return e.s.budgetsOf[ns]
}

func (e *Edit) nodeSet() *NodeSet {
	if !e.nodes {
		e.s.nodes, e.nodes = e.s.nodes.clone(), true
	}
	return e.s.nodes
}

func (e *Edit) putNode(in *corev1.Node) {
	set := e.nodeSet()
	_, had := set.byName[in.Name]
	row := set.put(compileNode(e.scalarIDs(), in))
	if e.s.use.block(int(row)>>blockBits) != nil {
		e.s.use.own(e.id, int(row)>>blockBits).weigh(e.s.nodes, int(row))
	}
	if had {
		return
	}
	e.forgetAttached() // rows have changed
	// Pods that were bound to it before it was known count from now on.
	if late := e.s.waiting[in.Name]; len(late) > 0 {
		late = slices.Clone(e.waitingPods(in.Name))
		delete(e.s.waiting, in.Name)
		for _, p := range late {
			if !e.step(2) {
				return
			}
			e.removePod(p.Namespace, p.Name)
			fresh := *p
			e.addPod(&fresh)
		}
	}
}

func (e *Edit) removeNode(name string) {
	row, ok := e.s.nodes.byName[name]
	if !ok {
		return
	}
	e.forgetAttached() // rows have changed
	pods := slices.Collect(e.s.PodsOn(int(row)).All())
	for _, p := range pods {
		if !e.step(1) {
			return
		}
		e.removePod(p.Namespace, p.Name)
	}
	e.nodeSet().remove(name)
	for _, p := range pods {
		if !e.step(1) {
			return
		}
		fresh := *p
		e.addPod(&fresh)
	}
}

// InPlace is a state that changes from one revision to the next without a copy. What was read of it
// is valid until the next change. It is for one goroutine.
type InPlace struct{ e *Edit }

// EditInPlace starts from a copy of the state, which stays as it is.
func (s *State) EditInPlace() *InPlace {
	e := s.Edit()
	e.inPlace, e.s.inPlace = true, true
	return &InPlace{e}
}

// Edit returns the edit to put changes into. It is valid as long as the InPlace is, and is not to
// be ended with Done.
func (p *InPlace) Edit() *Edit { return p.e }

// Next makes the edit so far a state to decide on; later edits clone whatever memos compare by
// identity. It reports whether anything changed that memos depend on, and in which rows pods
// changed, some rows more than once. The rows are valid until the next change.
func (p *InPlace) Next() (s *State, rows []int32, changed bool) {
	e := p.e
	if !e.dirty() {
		return e.s, nil, false
	}
	if e.nodes {
		e.ended = e.s.nodes.seal(e.within)
	}
	e.nodes, e.namespacesOwned, e.classesOwned, e.storageOwned, e.devicesOwned = false, false, false, false, false
	clear(e.objectsOwned)
	e.s.step++
	rows, e.rows = e.rows, e.rows[:0]
	return e.s, rows, true
}

// dirty reports whether something that memos depend on changed since Next.
func (e *Edit) dirty() bool {
	return len(e.rows) > 0 || e.nodes || e.namespacesOwned || e.classesOwned || e.storageOwned || e.devicesOwned || len(e.objectsOwned) > 0
}
