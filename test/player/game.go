// Package player plays a scenario with a clock by hand: it keeps the objects of a cluster itself,
// does what kubelets and controllers do in its own simple way, and has the server decide about one
// pod after the other. What it writes down has to equal the timeline that the server answers for
// the same scenario. It knows the server by its API alone.
package player

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// pod is a pod with what its kubelet, its controller and the queue know of it.
type pod struct {
	*corev1.Pod
	took, runs int64  // until it is ready, and until it has succeeded from then; 0: it does not end
	unreadied  bool   // it lost its readiness with its node
	counts     int    // which count for a taint of its node runs; 0: none
	since      int64  // that count began
	endsAt     int64  // its kubelet ends it
	ends       int    // how often its end was begun or put off
	preempted  int    // how often those before it in its place were preempted
	why        string // it leaves

	order, seen int
	failed      bool
	by          []string // the plugins that rejected it
	flush       int64    // when it is tried again by time alone
	told        string
}

func (p *pod) full() string { return p.Namespace + "/" + p.Name }

func (p *pod) owner() (kind, name string) {
	if o := metav1.GetControllerOfNoCopy(p); o != nil {
		return o.Kind, o.Name
	}
	return "", ""
}

func (p *pod) over() bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

func (p *pod) waits() bool { return p.Spec.NodeName == "" && !p.over() }

func (p *pod) ready() *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c
		}
	}
	return nil
}

func (p *pod) isReady() bool { c := p.ready(); return c != nil && c.Status == corev1.ConditionTrue }

// well reports whether a pod counts for budgets and for the next one of its StatefulSet.
func (p *pod) well() bool { return p.isReady() && p.DeletionTimestamp == nil && !p.over() }

// timer is something that is to happen at a second: in a second by rank, then by key.
type timer struct {
	at   int64
	rank int
	key  string
	do   func()
}

// Ranks of what happens in one second.
const (
	byScenario = iota
	byNode
	byKubelet
	byController
	byDrain // once all else has come to rest
)

// game is a cluster that goes on.
type game struct {
	client            *Client
	cluster, snapshot string
	begin             time.Time
	now               int64
	due               []timer
	moments           []Moment
	tries             int

	nodes   map[string]*node
	pods    map[string]*pod
	used    map[string]bool // names that pods had which came since the start
	sets    map[string]*set
	likes   map[string]*pod // of ReplicaSets that were scaled
	jobs    map[string]*job
	budgets []*policyv1.PodDisruptionBudget
	changed bool
	heard   []heard
	orders  int
	counts  int
	start   int64

	zones     map[string]*zone
	zonesDue  bool
	allLost   bool
	unreadied []string
}

func newGame(c *Client, k *Case) *game {
	g := &game{
		client: c, cluster: k.Name + "-player", begin: k.Begin, changed: true, start: 10,
		nodes: map[string]*node{}, pods: map[string]*pod{}, used: map[string]bool{}, sets: map[string]*set{}, likes: map[string]*pod{}, jobs: map[string]*job{}, zones: map[string]*zone{},
	}
	for _, o := range k.Objects {
		switch o := o.(type) {
		case *corev1.Node:
			g.nodes[o.Name] = &node{Node: o.DeepCopy()}
		case *policyv1.PodDisruptionBudget:
			g.budgets = append(g.budgets, o.DeepCopy())
		case *corev1.Pod:
			p := &pod{Pod: o.DeepCopy(), took: g.start}
			p.UID = uidOf(p.Name)
			if c := p.ready(); p.isReady() && p.Status.StartTime != nil {
				p.took = int64(c.LastTransitionTime.Sub(p.Status.StartTime.Time) / time.Second)
			}
			g.pods[o.Name] = p
		case *appsv1.StatefulSet:
			g.sets[o.Name] = &set{StatefulSet: o.DeepCopy(), wants: int(*o.Spec.Replicas)}
		case *batchv1.Job:
			g.jobs[o.Name] = &job{Job: o.DeepCopy()}
		}
	}
	var waiting []*pod
	for _, p := range g.pods {
		if p.waits() {
			waiting = append(waiting, p)
		}
	}
	slices.SortFunc(waiting, func(a, b *pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	})
	for _, p := range waiting {
		g.orders++
		p.order = g.orders
	}
	for _, p := range g.pods { // those that are being deleted end
		if p.DeletionTimestamp != nil {
			g.ends(p, int64(p.DeletionTimestamp.Sub(g.begin)/time.Second))
		}
	}
	return g
}

func (g *game) time() time.Time { return g.begin.Add(time.Duration(g.now) * time.Second) }

func (g *game) tell(m Moment, p *pod) {
	m.AfterSeconds = g.now
	if p != nil {
		m.Pod = p.full()
		if kind, name := p.owner(); kind != "" {
			m.Owner = kind + "/" + name
		}
	}
	g.moments = append(g.moments, m)
}

func (g *game) at(second int64, rank int, key string, do func()) {
	g.due = append(g.due, timer{second, rank, key, do})
}

// play has all happen until a second.
func (g *game) play(until int64) error {
	if err := g.schedule(); err != nil {
		return err
	}
	for {
		first := -1
		for i, t := range g.due {
			if first < 0 || cmp.Or(cmp.Compare(t.at, g.due[first].at), cmp.Compare(t.rank, g.due[first].rank), strings.Compare(t.key, g.due[first].key)) < 0 {
				first = i
			}
		}
		if first < 0 || g.due[first].at > g.now || g.due[first].rank == byDrain {
			if err := g.schedule(); err != nil {
				return err
			}
			if g.drainsGoOn() {
				continue
			}
			if first = g.soonest(); first < 0 || g.due[first].at > until {
				return nil
			}
			g.now = max(g.now, g.due[first].at)
			continue
		}
		t := g.due[first]
		g.due = slices.Delete(g.due, first, first+1)
		t.do()
	}
}

// drainsGoOn has drains go on that are due, unless something else is.
func (g *game) drainsGoOn() (went bool) {
	var due []timer
	for _, t := range g.due {
		switch {
		case t.at > g.now:
		case t.rank != byDrain:
			return false
		default:
			due = append(due, t)
		}
	}
	slices.SortFunc(due, func(a, b timer) int { return strings.Compare(a.key, b.key) })
	g.due = slices.DeleteFunc(g.due, func(t timer) bool { return t.at <= g.now })
	for _, t := range due {
		t.do()
	}
	return len(due) > 0
}

func (g *game) soonest() (first int) {
	first = -1
	for i, t := range g.due {
		if first < 0 || t.at < g.due[first].at {
			first = i
		}
	}
	return first
}

// objects are those of the cluster as they are now.
func (g *game) objects() (list []any) {
	for _, n := range sorted(g.nodes) {
		list = append(list, n.Node)
	}
	for _, p := range sorted(g.pods) {
		list = append(list, p.Pod)
	}
	for _, b := range g.budgets {
		list = append(list, b)
	}
	for _, s := range sorted(g.sets) {
		list = append(list, s.StatefulSet)
	}
	for _, j := range sorted(g.jobs) {
		list = append(list, j.Job)
	}
	return list
}

func sorted[V any](m map[string]V) (list []V) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		list = append(list, m[k])
	}
	return list
}

// count works the statuses of budgets out (pkg/controller/disruption/disruption.go trySync).
func (g *game) count() {
	for _, b := range g.budgets {
		s := &b.Status
		s.CurrentHealthy = 0
		for _, p := range g.pods {
			if selects(b, p) && p.well() {
				s.CurrentHealthy++
			}
		}
		s.DisruptionsAllowed = max(0, s.CurrentHealthy-s.DesiredHealthy)
	}
}

func selects(b *policyv1.PodDisruptionBudget, p *pod) bool {
	of, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	return err == nil && of.Matches(labels.Set(p.Labels))
}

// uidOf is the UID that a pod without one has on the server.
func uidOf(name string) types.UID {
	return types.UID(uuid.NewSHA1(uuid.NewSHA1(uuid.NameSpaceDNS, []byte("berth.objects")), []byte("Pod/default/"+name)).String())
}

// create has a pod come.
func (g *game) create(p *pod) {
	p.Namespace, p.UID, p.ResourceVersion = metav1.NamespaceDefault, uidOf(p.Name), ""
	p.CreationTimestamp = metav1.NewTime(g.time())
	g.orders++
	p.order, p.seen, p.failed = g.orders, len(g.heard), false
	g.pods[p.Name], g.used[p.Name], g.changed = p, true, true
	g.tell(Moment{What: "created"}, p)
}

// anew returns a pod of the same template under another name.
func anew(of *pod, name string) *pod {
	p := &pod{Pod: of.DeepCopy(), took: of.took}
	p.Name, p.Spec.NodeName, p.Status = name, "", corev1.PodStatus{Phase: corev1.PodPending}
	p.DeletionTimestamp, p.DeletionGracePeriodSeconds = nil, nil
	return p
}

// free is the first name behind another one with a number that no pod has or had.
func (g *game) free(name string) string {
	for i := 2; ; i++ {
		if n := fmt.Sprintf("%s-%d", name, i); g.pods[n] == nil && !g.used[n] {
			return n
		}
	}
}
