package world

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"berth/internal/engine/state"
	"berth/internal/kube/object"
)

// daemonSets is the controller of the DaemonSets that the base has, or a scenario brings
// (pkg/controller/daemon/daemon_controller.go). A DaemonSet stays as the base has it until a node
// needs a pod of it or may not keep one, one of its pods leaves, or its template changes.
type daemonSets struct {
	w       *World
	read    bool
	all     []*daemonSet // by namespace and name
	at      map[PodName]*daemonPlace
	changed map[string]bool         // the nodes to be looked at
	ended   map[string][]*state.Pod // of the base, by node; nil: not read yet, or none
}

// daemonSpec is what a DaemonSet wants. It is not changed.
type daemonSpec struct {
	key      ownerKey
	raw      []byte
	set      *appsv1.DaemonSetSpec
	pod      *corev1.Pod // of its template, pinned to no node
	affinity nodeaffinity.RequiredNodeAffinity
}

// daemonSet is a DaemonSet with its pods by nodes.
type daemonSet struct {
	*daemonSpec
	like   *corev1.Pod // what its pods are like; nil: not known
	places map[string]*daemonPlace
	order  []string // the nodes of places, by name; nil: it is as the base has it
	busy   bool     // its controller is at work
	// due is when it acts, next when it acts later at the latest; below 0: it does not.
	due, next time.Duration
	// misplaced is on how many nodes it had pods at the last sync that should have none.
	misplaced int
	hash      string  // of the template of the update
	update    *Update // nil: there was none
	updates   int
}

// daemonPlace is a node of a DaemonSet.
type daemonPlace struct {
	of   *daemonSet
	node string
	// run reports whether a pod should come to the node, stay whether one that is there may stay.
	run, stay bool
	there     bool // the node is there
	pods      []*corev1.Pod
	lost      *lostPod // whose successor the next pod is; nil: of none
	// failed is when a failed pod was deleted there of late, after which backoff counts.
	failed, backoff time.Duration
	// gaveUp reports that its pods were preempted too often to be followed any further.
	gaveUp bool
}

// The back-off of failed pods (cmd/kube-controller-manager/app/apps.go newDaemonSetController).
const (
	daemonBackoff     = time.Second
	mostDaemonBackoff = 15 * time.Minute
)

// sets returns the DaemonSets.
func (c *daemonSets) sets() ([]*daemonSet, error) {
	if c.read {
		return c.all, nil
	}
	specs := []*daemonSpec(nil)
	if c.w.of != nil {
		specs = c.w.of.daemons
	}
	if specs == nil {
		for key, raw := range c.w.base.In("", "DaemonSet") {
			if err := c.w.steps.Take(readSteps); err != nil {
				return nil, err
			}
			s, err := daemonSpecOf(key, raw)
			if err != nil {
				return nil, err
			}
			specs = append(specs, s)
		}
		if c.w.of != nil {
			c.w.of.daemons = specs
		}
	}
	c.read = true
	for _, s := range specs {
		c.add(s)
	}
	return c.all, nil
}

func (c *daemonSets) add(s *daemonSpec) *daemonSet {
	d := &daemonSet{daemonSpec: s, due: -1, next: -1}
	c.all = append(c.all, d)
	slices.SortFunc(c.all, func(a, b *daemonSet) int {
		return cmp.Or(cmp.Compare(a.key.namespace, b.key.namespace), cmp.Compare(a.key.Name, b.key.Name))
	})
	return d
}

// daemonSpecOf reads a DaemonSet as it is stored.
func daemonSpecOf(key object.Key, raw []byte) (*daemonSpec, error) {
	o, err := object.FromCanonical(key.Kind, raw)
	if err != nil {
		return nil, fmt.Errorf("read DaemonSet %s/%s: %w", key.Namespace, key.Name, err)
	}
	made, err := object.PodOf(raw, object.Limits{})
	if err != nil {
		return nil, fmt.Errorf("read DaemonSet %s/%s: %w", key.Namespace, key.Name, err)
	}
	pod := &corev1.Pod{}
	if err := json.Unmarshal(made.Pod, pod); err != nil {
		return nil, fmt.Errorf("read DaemonSet %s/%s: %w", key.Namespace, key.Name, err)
	}
	k := ownerKey{key.Namespace, state.Owner{Kind: key.Kind, Name: key.Name}}
	return &daemonSpec{k, raw, &o.Value.(*appsv1.DaemonSet).Spec, pod, nodeaffinity.GetRequiredNodeAffinity(pod)}, nil
}

// should reports whether a pod of the DaemonSet should come to a node, and whether one that is
// there may stay (NodeShouldRunDaemonPod).
func (s *daemonSpec) should(n *state.Node) (run, stay bool) {
	if on := s.set.Template.Spec.NodeName; on != "" && on != n.Name {
		return false, false
	}
	if ok, err := s.affinity.Match(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels}}); err != nil || !ok {
		return false, false
	}
	run, stay = true, true
	for i := range n.Taints {
		t := &n.Taints[i]
		if t.Effect == corev1.TaintEffectPreferNoSchedule || slices.ContainsFunc(s.pod.Spec.Tolerations, func(of corev1.Toleration) bool {
			return of.ToleratesTaint(klog.Logger{}, t, false)
		}) {
			continue
		}
		run, stay = false, stay && t.Effect != corev1.TaintEffectNoExecute
	}
	return run, stay
}

// of returns the DaemonSet of a pod; nil where it is not known.
func (c *daemonSets) of(pod *corev1.Pod) (*daemonSet, error) {
	if !IsDaemon(pod) {
		return nil, nil
	}
	return c.named(keyOf(pod))
}

func (c *daemonSets) named(k ownerKey) (*daemonSet, error) {
	list, err := c.sets()
	if i := slices.IndexFunc(list, func(s *daemonSet) bool { return s.key == k }); i >= 0 {
		return list[i], err
	}
	return nil, err
}

// TargetOf returns the node that a daemon pod is on, or is pinned to
// (daemon/util/daemonset_util.go GetTargetNodeName).
func TargetOf(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" {
		return pod.Spec.NodeName
	}
	if required := state.RequiredNodeAffinity(pod); required != nil {
		for _, term := range required.NodeSelectorTerms {
			for _, f := range term.MatchFields {
				if f.Key == metav1.ObjectNameField && f.Operator == corev1.NodeSelectorOpIn && len(f.Values) == 1 {
					return f.Values[0]
				}
			}
		}
	}
	return ""
}

// PinTo replaces the required node affinity of a pod by the name of a node, as the controller of
// DaemonSets does (daemon/util/daemonset_util.go ReplaceDaemonSetPodNodeNameNodeAffinity).
func PinTo(pod *corev1.Pod, node string) {
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	if pod.Spec.Affinity.NodeAffinity == nil {
		pod.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchFields: []corev1.NodeSelectorRequirement{{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}},
	}}}
}

// create makes the pod of a node: of the new template, or like the set's others. Without one, what
// admission makes of the template shows what it is like.
func (c *daemonSets) create(s *daemonSet, p *daemonPlace) (made bool, err error) {
	if s.like == nil && c.w.admit != nil {
		if s.like, err = c.w.admit(s.raw); err != nil {
			return false, err
		}
	}
	if s.like == nil {
		return false, nil
	}
	lost := p.lost
	var old *corev1.Pod
	switch {
	case lost != nil && s.hash == "":
		old = lost.pod.DeepCopy()
	default:
		old = s.like.DeepCopy()
		if old.UID = ""; lost != nil {
			old.UID, old.Name = lost.pod.UID, lost.pod.Name
		} else if old.Name = s.key.Name + "-" + p.node; len(p.pods) > 0 {
			old.UID, old.Name = p.pods[0].UID, p.pods[0].Name
		}
	}
	PinTo(old, p.node)
	rec := &Left{}
	if p.lost = nil; lost != nil {
		rec = lost.rec
		rec.NotReplaced = ""
	}
	if err := c.w.replace(old, rec); err != nil {
		return false, err
	}
	if rec.Replacement == nil {
		p.gaveUp = true
		return false, nil
	}
	if lost == nil {
		c.w.further(s.key.namespace, rec.Replacement)
	}
	return true, nil
}

// leaves hears of a pod that is being deleted. Where more than one may be on a node, its successor
// comes at once.
func (c *daemonSets) leaves(pod *corev1.Pod, rec *Left) error {
	s, err := c.of(pod)
	if err != nil || s == nil {
		return err
	}
	if err := c.touch(s); err != nil {
		return err
	}
	if s.surges() {
		s.place(TargetOf(pod)).lost = &lostPod{pod, rec}
	}
	c.later(s)
	return nil
}

// lost hears of a pod that is gone, and has its successor made; known reports whether its
// DaemonSet is.
func (c *daemonSets) lost(pod *corev1.Pod, rec *Left) (known bool, err error) {
	s, err := c.of(pod)
	if err != nil || s == nil {
		return false, err
	}
	if err := c.touch(s); err != nil {
		return true, err
	}
	p := c.judge(s, TargetOf(pod))
	if rec.Replacement != nil {
		return true, nil
	}
	switch {
	case !p.there:
		rec.NotReplaced = "its node is gone"
		return true, nil
	case !p.run:
		rec.NotReplaced = "its node takes no pod of DaemonSet/" + s.key.Name
	default:
		rec.NotReplaced = "its DaemonSet has another pod on the node"
	}
	if p.lost = nil; len(p.counted()) == 0 {
		p.lost = &lostPod{pod, rec}
	}
	if s.update != nil {
		c.later(s)
		return true, nil
	}
	return true, c.sync(s)
}

// over hears of a pod whose containers have stopped for good; known reports whether its DaemonSet
// is, whose controller deletes it.
func (c *daemonSets) over(pod *corev1.Pod) (known bool, err error) {
	s, err := c.of(pod)
	if err != nil || s == nil {
		return false, err
	}
	if err := c.touch(s); err != nil {
		return true, err
	}
	c.later(s)
	return true, nil
}
