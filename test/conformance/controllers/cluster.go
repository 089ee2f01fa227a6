package controllers

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/controller"
)

// cluster is what upstream's controllers act in: pods that a scheduler binds at once, and kubelets
// that start and end them by the clock. What happens at one second happens one after the other, as
// in berth's world: what is due by the names of pods, each followed by the controllers.
type cluster struct {
	k       *Case
	now     int64
	pods    map[string]*corev1.Pod
	due     []due
	lines   []string
	control func() error // a controller's sync, until it is quiet
	// ends is called for a pod whose grace period is over; it reports whether the object goes.
	ends func(p *corev1.Pod) bool
	// gates says when a bound pod may start at the earliest; below 0: not known yet; nil: at once.
	gates func(p *corev1.Pod) int64
	// on is the node that a pod is bound to, empty for none; nil: the first one.
	on func(p *corev1.Pod) string
	// ready is called when a pod has become ready; may be nil.
	ready func()
	// begins is called when a pod's deletion begins; may be nil.
	begins func(p *corev1.Pod)
	start  map[string]int64 // how long pods take to start, where it is not the case's
	made   map[string]bool  // the names of pods that were made
	count  int
}

type due struct {
	at    int64
	first bool // an event of the scenario
	key   string
	do    func() error
}

// before orders what is due: by time, a scenario's events first, and by key.
func (d *due) before(other *due) bool {
	if d.at == other.at && d.first != other.first {
		return d.first
	}
	return cmp.Or(cmp.Compare(d.at, other.at), cmp.Compare(d.key, other.key)) < 0
}

func newCluster(k *Case) *cluster {
	c := &cluster{k: k, pods: map[string]*corev1.Pod{}, start: map[string]int64{}, made: map[string]bool{}, ends: func(*corev1.Pod) bool { return true }}
	for _, p := range of[corev1.Pod](k) {
		c.pods[p.Name] = p.DeepCopy()
		if r := readyOf(p); r != nil && r.Status == corev1.ConditionTrue && p.Status.StartTime != nil {
			c.start[p.Name] = int64(r.LastTransitionTime.Sub(p.Status.StartTime.Time) / time.Second)
		}
		if p.DeletionTimestamp != nil {
			c.endAt(int64(p.DeletionTimestamp.Sub(Begin)/time.Second), p.Name, p.UID)
		}
	}
	return c
}

func (c *cluster) instant() time.Time { return Begin.Add(time.Duration(c.now) * time.Second) }

func (c *cluster) at(second int64, key string, do func() error) {
	c.due = append(c.due, due{second, false, key, do})
}

// tell writes down what happens to a pod.
func (c *cluster) tell(what string, p *corev1.Pod) {
	c.lines = append(c.lines, fmt.Sprintf("%d %s %s", c.now, what, p.Name))
}

// create has a controller make a pod, which the scheduler binds to the first node.
func (c *cluster) create(p *corev1.Pod) {
	c.made[p.Name] = true
	c.count++
	p.Namespace, p.UID, p.CreationTimestamp = "default", types.UID(fmt.Sprintf("made-%d", c.count)), metav1.NewTime(c.instant())
	p.Status = corev1.PodStatus{Phase: corev1.PodPending}
	c.pods[p.Name] = p
	c.tell("created", p)
}

// createLike has a controller make a pod like another one. Its name is berth's choice, as
// upstream's is chance.
func (c *cluster) createLike(of *corev1.Pod) *corev1.Pod {
	p := of.DeepCopy()
	p.DeletionTimestamp, p.DeletionGracePeriodSeconds, p.Spec.NodeName, p.Finalizers = nil, nil, "", nil
	for i := 2; ; i++ {
		if p.Name = fmt.Sprintf("%s-%d", of.Name, i); c.pods[p.Name] == nil && !c.made[p.Name] {
			break
		}
	}
	if took, known := c.start[of.Name]; known {
		c.start[p.Name] = took
	}
	c.create(p)
	return p
}

// active returns the pods that a controller counts, by name.
func (c *cluster) active(owner types.UID) (list []*corev1.Pod) {
	for _, name := range slices.Sorted(maps.Keys(c.pods)) {
		if ref := metav1.GetControllerOf(c.pods[name]); ref != nil && ref.UID == owner && controller.IsPodActive(c.pods[name]) {
			list = append(list, c.pods[name])
		}
	}
	return list
}

// bind binds the pods that wait.
func (c *cluster) bind() {
	nodes := of[corev1.Node](c.k)
	for _, name := range slices.Sorted(maps.Keys(c.pods)) {
		p := c.pods[name]
		if p.Spec.NodeName != "" || p.DeletionTimestamp != nil || c.on == nil && p.Spec.NodeSelector != nil || over(p) {
			continue
		}
		node := nodes[0].Name
		if c.on != nil {
			if node = c.on(p); node == "" {
				continue
			}
		}
		p = p.DeepCopy()
		p.Spec.NodeName = node
		c.pods[name] = p
		took, known := c.start[name]
		if !known {
			took = c.k.Start
		}
		c.startsIn(took, name, p.UID)
	}
}

// startsIn has a pod be ready some seconds after it may start.
func (c *cluster) startsIn(took int64, name string, uid types.UID) {
	from := c.now
	if c.gates != nil {
		switch at := c.gates(c.pods[name]); {
		case at < 0: // it is looked at again each second
			c.at(c.now+1, "~gates", func() error {
				if c.pods[name] != nil {
					c.startsIn(took, name, uid)
				}
				return nil
			})
			return
		default:
			from = max(from, at)
		}
	}
	c.at(from+took, name, func() error { return c.starts(name, uid) })
}

// starts makes a pod ready.
func (c *cluster) starts(name string, uid types.UID) error {
	p := c.pods[name]
	if p == nil || p.UID != uid || p.DeletionTimestamp != nil {
		return nil
	}
	p = p.DeepCopy()
	now := metav1.NewTime(c.instant())
	p.Status.Phase = corev1.PodRunning
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: now}}
	c.pods[name] = p
	c.tell("ready", p)
	if c.ready != nil {
		c.ready()
	}
	return c.control()
}

// remove begins a pod's deletion.
func (c *cluster) remove(name string) error {
	p := c.pods[name]
	if p == nil || p.DeletionTimestamp != nil {
		return nil
	}
	c.tell("leaves", p)
	grace := *p.Spec.TerminationGracePeriodSeconds
	if p.Spec.NodeName == "" || over(p) { // registry/core/pod/strategy.go CheckGracefulDelete
		grace = 0
	}
	p = p.DeepCopy()
	at := metav1.NewTime(c.instant().Add(time.Duration(grace) * time.Second))
	p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &at, &grace
	c.pods[name] = p
	if c.begins != nil {
		c.begins(p)
	}
	if grace == 0 {
		return c.end(name, p.UID)
	}
	c.endAt(c.now+grace, name, p.UID)
	return c.control()
}

func (c *cluster) endAt(second int64, name string, uid types.UID) {
	c.at(second, name, func() error { return c.end(name, uid) })
}

// end ends a pod whose grace period is over.
func (c *cluster) end(name string, uid types.UID) error {
	p := c.pods[name]
	if p == nil || p.UID != uid {
		return nil
	}
	if c.ends(p) {
		c.tell("gone", p)
		delete(c.pods, name)
	}
	return c.control()
}

// happens has the scenario's events be due.
func (c *cluster) happens(do func(e *Event) error) {
	for i := range c.k.Events {
		e := &c.k.Events[i]
		c.due = append(c.due, due{e.second, true, fmt.Sprintf("%06d", i), func() error { return do(e) }})
	}
}

// run has all happen until the case's end, and returns what did.
func (c *cluster) run() ([]string, error) {
	c.bind()
	for rounds := 0; ; rounds++ {
		if len(c.due) == 0 || !slices.ContainsFunc(c.due, func(d due) bool { return d.at <= c.now }) {
			c.bind() // after all else of the second
		}
		if len(c.due) == 0 {
			break
		}
		if rounds > 100_000 {
			return nil, fmt.Errorf("%s, seed %d: no end", c.k.Part, c.k.Seed)
		}
		i := 0
		for j := range c.due {
			if c.due[j].before(&c.due[i]) {
				i = j
			}
		}
		next := c.due[i]
		if next.at > c.k.Until {
			break
		}
		c.due = slices.Delete(c.due, i, i+1)
		if c.now = max(c.now, next.at); c.now < 0 {
			c.now = 0
		}
		if err := next.do(); err != nil {
			return nil, err
		}
	}
	return sortedLines(c.lines), nil
}

// sortedLines puts lines in order, each second's by what they say: that is free.
func sortedLines(list []string) []string {
	second := func(l string) (n int64) {
		_, _ = fmt.Sscan(l, &n)
		return n
	}
	slices.SortStableFunc(list, func(a, b string) int {
		return cmp.Or(cmp.Compare(second(a), second(b)), cmp.Compare(a, b))
	})
	return list
}

// lifeOf are the moments of pods that both sides write down.
func lifeOf(a *Answer) (list []string) {
	for _, m := range a.Timeline {
		switch m.What {
		case "created", "ready", "leaves", "gone":
			list = append(list, fmt.Sprintf("%d %s %s", m.AfterSeconds, m.What, strings.TrimPrefix(m.Pod, "default/")))
		}
	}
	return sortedLines(list)
}

func over(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

func readyOf(p *corev1.Pod) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == corev1.PodReady {
			return &p.Status.Conditions[i]
		}
	}
	return nil
}
