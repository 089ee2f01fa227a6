package rules

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
)

// spreadConstraint is one constraint, resolved for a query.
type spreadConstraint struct {
	corev1.TopologySpreadConstraint
	selector      labels.Selector
	minDomains    int32
	honorAffinity bool
	honorTaints   bool
	self          bool // the pod matches its own selector
	source        string
	column        *state.Column

	shapes   []*state.Shape // that the selector matches
	shapesOf int            // of so many shapes in all
	segments [][]state.Posting
}

// constraintsKey is the key of what constraints found.
type constraintsKey struct {
	rule   *PodTopologySpread
	action corev1.UnsatisfiableConstraintAction
}

// constraintsFound is what constraints found.
type constraintsFound struct {
	list []*spreadConstraint
	err  error
}

// constraints returns the constraints of one kind that apply to the pod: its own, or the defaults
// where it has none (plugins/podtopologyspread/common.go, filtering.go getConstraints).
func (p *PodTopologySpread) constraints(q *engine.Query, action corev1.UnsatisfiableConstraintAction) ([]*spreadConstraint, error) {
	found := engine.Found(q, constraintsKey{p, action}, func() (f constraintsFound) {
		f.list, f.err = p.findConstraints(q, action)
		return f
	})
	return found.list, found.err
}

func (p *PodTopologySpread) findConstraints(q *engine.Query, action corev1.UnsatisfiableConstraintAction) ([]*spreadConstraint, error) {
	list, err := p.constraintsOf(q.Pod, action, func() labels.Selector { return ownersSelector(q) })
	for _, c := range list {
		c.column = q.Nodes.Column(c.TopologyKey)
	}
	return list, err
}

// constraintsOf returns the constraints without what they read of nodes.
func (p *PodTopologySpread) constraintsOf(pod *corev1.Pod, action corev1.UnsatisfiableConstraintAction, owners func() labels.Selector) ([]*spreadConstraint, error) {
	own := pod.Spec.TopologySpreadConstraints
	if len(own) > 0 {
		return readyConstraints(pod, own, action, "pod", nil)
	}
	wanted := false
	for i := range p.Defaults {
		wanted = wanted || p.Defaults[i].WhenUnsatisfiable == action
	}
	if !wanted {
		return nil, nil
	}
	selector := owners()
	if selector.Empty() {
		return nil, nil
	}
	source := "defaultConstraints (List)"
	if p.System {
		source = "defaultConstraints (System)"
	}
	return readyConstraints(pod, p.Defaults, action, source, selector)
}

func readyConstraints(pod *corev1.Pod, in []corev1.TopologySpreadConstraint, action corev1.UnsatisfiableConstraintAction, source string, selector labels.Selector) ([]*spreadConstraint, error) {
	var out []*spreadConstraint
	for i := range in {
		if in[i].WhenUnsatisfiable != action {
			continue
		}
		c := &spreadConstraint{
			TopologySpreadConstraint: in[i], selector: selector, source: source,
			minDomains: 1, honorAffinity: true,
		}
		if c.selector == nil {
			s, err := metav1.LabelSelectorAsSelector(c.LabelSelector)
			if err != nil {
				return nil, fmt.Errorf("topologySpreadConstraints[%d].labelSelector: %w", i, object.FewProblems(err))
			}
			c.selector = narrowed(s, c.MatchLabelKeys, pod.Labels)
		}
		if c.MinDomains != nil {
			c.minDomains = *c.MinDomains
		}
		if c.NodeAffinityPolicy != nil {
			c.honorAffinity = *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor
		}
		if c.NodeTaintsPolicy != nil {
			c.honorTaints = *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
		}
		c.self = c.selector.Matches(labels.Set(pod.Labels))
		out = append(out, c)
	}
	return out, nil
}

// narrowed adds the pod's own values of matchLabelKeys to a selector. Keys that the pod lacks add
// nothing. A selector that matches nothing stays as it is.
func narrowed(s labels.Selector, keys []string, podLabels map[string]string) labels.Selector {
	own := labels.Set{}
	for _, k := range keys {
		if v, ok := podLabels[k]; ok {
			own[k] = v
		}
	}
	reqs, selectable := s.Requirements()
	if len(own) == 0 || !selectable {
		return s
	}
	return labels.SelectorFromSet(own).Add(reqs...)
}

// withKeys returns the nodes that have the topology keys of all constraints.
func withKeys(q *engine.Query, list []*spreadConstraint) state.Bits {
	keyed := q.Bits()
	copy(keyed, q.Nodes.Alive())
	for _, c := range list {
		if c.column.Whole {
			continue
		}
		for row := range keyed.All() {
			if c.column.Value[row] < 0 {
				keyed.Clear(row)
			}
		}
	}
	return keyed
}

// counting returns those of keyed that the constraint's policies count, or nil where they exclude
// none.
func (c *spreadConstraint) counting(q *engine.Query, keyed state.Bits) state.Bits {
	var required state.Bits
	if c.honorAffinity {
		required = q.RequiredRows()
	}
	var tainted state.Bits
	if c.honorTaints {
		tainted, _ = q.Nodes.TaintedRows(q.Bits, func(taints []corev1.Taint) bool {
			return firstUntolerated(q.Pod.Spec.Tolerations, taints) != nil
		})
	}
	if required == nil && tainted == nil {
		return nil
	}
	out := q.Bits()
	copy(out, keyed)
	if required != nil {
		out.And(required)
	}
	if tainted != nil {
		out.AndNot(tainted)
	}
	return out
}

// matching returns how many pods count, by row, a row in several lists where pods have several
// shapes: live pods of the pod's namespace that the selector matches. An empty selector counts
// none, though it matches the pod, except pods added for this evaluation
// (plugins/podtopologyspread updateWithPod). The list is valid until the next call.
func (c *spreadConstraint) matching(q *engine.Query) [][]state.Posting {
	c.segments = c.segments[:0]
	if c.selector.Empty() {
		for _, p := range q.Added() {
			if p.Namespace == q.Pod.Namespace {
				c.segments = append(c.segments, []state.Posting{{Row: p.Row, N: 1}})
			}
		}
		return c.segments
	}
	// Shapes are only ever added, and constraints are kept for equal pods (engine.Found).
	if n := q.State.Tables().Size(); c.shapesOf != n {
		c.shapes, c.shapesOf = q.ShapesIn(c.shapes[:0], q.Pod.Namespace, c.selector), n
	}
	for _, s := range c.shapes {
		if !s.Terminating {
			c.segments = append(c.segments, q.State.ShapePostings(s.ID).Segments()...)
		}
	}
	return c.segments
}

// ownersKey is the key of what ownersSelector found.
type ownersKey struct{}

// ownersSelector selects the pod's siblings: it joins the selectors of the services that select it
// and of the controller that owns it (plugins/helper/spread.go DefaultSelector).
func ownersSelector(q *engine.Query) labels.Selector {
	return engine.Found(q, ownersKey{}, func() labels.Selector { return selectorOfOwners(q.State, q.Pod) })
}

func selectorOfOwners(s *state.State, pod *corev1.Pod) labels.Selector {
	set := labels.Set{}
	s.EachService(pod.Namespace, func(svc *corev1.Service) {
		for k, v := range svc.Spec.Selector {
			if own, ok := pod.Labels[k]; !ok || own != v {
				return
			}
		}
		maps.Copy(set, svc.Spec.Selector) // the pod's own labels, whatever the order of services
	})
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil {
		return set.AsSelector()
	}
	extend := func(sel *metav1.LabelSelector) labels.Selector {
		out := set.AsSelector()
		if other, err := metav1.LabelSelectorAsSelector(sel); err == nil {
			if reqs, ok := other.Requirements(); ok {
				out = out.Add(reqs...)
			}
		}
		return out
	}
	switch owner.APIVersion + "/" + owner.Kind {
	case "v1/ReplicationController":
		if rc := s.ReplicationController(pod.Namespace, owner.Name); rc != nil {
			return labels.Merge(set, rc.Spec.Selector).AsSelector()
		}
	case "apps/v1/ReplicaSet":
		if rs := s.ReplicaSet(pod.Namespace, owner.Name); rs != nil {
			return extend(rs.Spec.Selector)
		}
	case "apps/v1/StatefulSet":
		if ss := s.StatefulSet(pod.Namespace, owner.Name); ss != nil {
			return extend(ss.Spec.Selector)
		}
	}
	return set.AsSelector()
}
