package scenario

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/decision"
	"berth/internal/podlife"
	"berth/internal/world"
)

// LossQuestion is what happens when nodes die, all at second 0.
type LossQuestion struct {
	NodeChoice
	// RemoveAfterSeconds is when their Node objects are deleted, as a cloud's controller or a
	// person does; absent: they stay, and no pod of theirs is ever gone.
	RemoveAfterSeconds *int64 `json:"removeAfterSeconds,omitempty"`
	// StartSeconds is how long a pod takes until it is ready, where the status of the pod that it
	// replaces does not show it; 10 if absent.
	StartSeconds *int64 `json:"startSeconds,omitempty"`
	// Rates are the settings of the node lifecycle controller.
	Rates *LossRates `json:"rates,omitempty"`
}

// Loss is what becomes of the pods of nodes that die.
type Loss struct {
	Snapshot string      `json:"snapshot" example:"prod@1042"`
	Nodes    []*LostNode `json:"nodes"`
	Zones    []*LostZone `json:"zones"`
	// Pods are those that are deleted, in this order.
	Pods []*world.Left `json:"pods"`
	// Staying are pods of lost nodes that are never deleted, and why.
	Staying []PodReason `json:"staying,omitempty"`
	// Others are the pods that waited before, and those that controllers made beside the
	// replacements.
	Others []*world.Replacement `json:"others,omitempty"`
	Totals LossTotals           `json:"totals"`
	// Seconds is until the last thing happens that is known of.
	Seconds  int64    `json:"seconds"`
	Warnings []string `json:"warnings,omitempty"`
	// Digest is over the rest of the answer.
	Digest string `json:"digest"`
} // @name Loss

// LossTotals sum a loss up.
type LossTotals struct {
	Nodes int `json:"nodes"`
	// Pods were on the nodes; Deleted of them are deleted, the others stay.
	Pods    int `json:"pods"`
	Deleted int `json:"deleted"`
	// Ended counts pods on the nodes that had succeeded or failed before. They are deleted as the
	// others are, hold nothing, and are not among Pods.
	Ended     int `json:"ended,omitempty"`
	Preempted int `json:"preempted"`
	// Stay counts the pods that are never deleted and serve no more, without those of DaemonSets
	// and of kubelets' own files.
	Stay int `json:"stay,omitempty"`
	world.Replaced
} // @name LossTotals

// LostNode is what the control plane does about one node.
type LostNode struct {
	Name string `json:"name" example:"worker-7"`
	Zone string `json:"zone,omitempty" example:"eu-1a"`
	// NotReadyAfterSeconds is when its pods lose Ready and no pod is placed on it any more.
	NotReadyAfterSeconds int64 `json:"notReadyAfterSeconds"`
	// TaintedAfterSeconds is when it gets the taint that evicts its pods; absent: never.
	TaintedAfterSeconds *int64 `json:"taintedAfterSeconds,omitempty"`
	// RemovedAfterSeconds is when its object is deleted; absent: never.
	RemovedAfterSeconds *int64 `json:"removedAfterSeconds,omitempty"`
} // @name LostNode

// orphanSeconds is from the deletion of a Node object until PodGC has deleted the pods of the node,
// at the latest (pkg/controller/podgc, quarantineTime and gcCheckPeriod).
const orphanSeconds = 60

// Answer implements Question.
func (q *LossQuestion) Answer(ctx context.Context, s *Stage) (any, error) {
	f, err := s.fork(ctx)
	if err != nil {
		return nil, err
	}
	out, err := q.On(ctx, f)
	if err != nil {
		return nil, err
	}
	out.Digest, err = digestOf(ctx, "berth-loss-1", out)
	out.Snapshot, out.Warnings = f.Base().ID(), append(out.Warnings, s.warnings()...) // no part of the digest
	return out, err
}

// On has nodes die and lets the control plane act: nodes become not ready, are tainted by zone,
// and their pods are deleted when their tolerations end (pkg/controller/nodelifecycle,
// pkg/controller/tainteviction). No kubelet ends those pods, so that they stay Terminating and keep
// what they hold until the Node object is deleted. The fork is changed.
func (q *LossQuestion) On(ctx context.Context, f *world.Fork) (*Loss, error) {
	names, err := q.names(f.Base())
	if err != nil {
		return nil, err
	}
	l := &loss{out: &Loss{Nodes: []*LostNode{}, Zones: []*LostZone{}}, lost: map[string]bool{}, orphans: map[string][]world.PodName{}}
	if l.rates, err = q.Rates.resolve(); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, decision.Errorf(decision.Malformed, "nodes", "want nodes, a selector or a zone")
	}
	if err := checkNumber("removeAfterSeconds", q.RemoveAfterSeconds, math.MaxInt32); err != nil {
		return nil, err
	}
	for _, n := range names {
		l.lost[n] = true
	}
	d, err := newDisruption(ctx, f, q.StartSeconds)
	if err != nil {
		return nil, err
	}
	l.d, l.removed = d, q.RemoveAfterSeconds
	if err := l.readZones(); err != nil {
		return nil, err
	}
	l.plan()
	if err := d.Finish(); err != nil {
		return nil, err
	}
	return l.out, l.report()
}

// loss is a run of Lose.
type loss struct {
	d       *disruption
	rates   lossRates
	removed *int64 // when the Node objects are deleted; nil: never
	out     *Loss
	lost    map[string]bool
	// zones by their key, and the lost nodes of each by name.
	zones map[string]*LostZone
	nodes map[string][]*LostNode
	// orphans are the pods of nodes that were removed.
	orphans map[string][]world.PodName
	pods    int // on the nodes when they die
}

// plan schedules what happens to the nodes. Within a zone they are tainted by name: upstream's
// order is chance.
func (l *loss) plan() {
	for _, z := range l.out.Zones {
		list := l.nodes[z.Zone]
		slices.SortFunc(list, func(a, b *LostNode) int { return cmp.Compare(a.Name, b.Name) })
		i := 0
		for _, n := range list {
			l.out.Nodes = append(l.out.Nodes, n)
			l.d.At(n.NotReadyAfterSeconds, "Node/"+n.Name, func() error { return l.notReady(n) })
			if n.TaintedAfterSeconds != nil { // before: its count goes on
				l.d.At(0, "Node/"+n.Name, func() error { return l.taint(n) })
			} else if at := n.NotReadyAfterSeconds + int64(i)*z.every; z.every > 0 && (n.RemovedAfterSeconds == nil || at < *n.RemovedAfterSeconds) {
				i++
				n.TaintedAfterSeconds = &at
				l.d.At(at, "Node/"+n.Name, func() error { return l.taint(n) })
			}
			if at := n.RemovedAfterSeconds; at != nil {
				l.d.At(*at, "Node/"+n.Name, func() error { return l.remove(n) })
				l.d.At(*at+orphanSeconds, "Node/"+n.Name, func() error { return l.orphan(n) })
			}
		}
	}
}

// notReady has the node monitor give a node up: it gets the taint that keeps pods away, and its
// pods are ready no more (MarkPodsNotReady).
func (l *loss) notReady(n *LostNode) error {
	d := l.d
	since := metav1.NewTime(d.Instant())
	if _, err := d.Node(n.Name); err != nil {
		return nil // removed before
	}
	err := d.Taint(n.Name, corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule, TimeAdded: &since}, func(node *corev1.Node) {
		for i := range node.Status.Conditions {
			if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady && c.Status != corev1.ConditionUnknown {
				c.Status, c.LastTransitionTime = corev1.ConditionUnknown, since
			}
		}
	})
	if err != nil {
		return err
	}
	return d.eachOn(n.Name, func(_ world.PodName, pod *corev1.Pod) error {
		if !world.IsReady(pod) {
			return nil
		}
		return d.Unready(pod)
	})
}

// taint adds the taint to a node that evicts its pods, and schedules their deletions.
func (l *loss) taint(n *LostNode) error {
	d := l.d
	since := metav1.NewTime(d.Instant())
	if err := d.Taint(n.Name, corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute, TimeAdded: &since}, nil); err != nil {
		return err
	}
	node, err := d.Node(n.Name)
	if err != nil {
		return err
	}
	return d.eachOn(n.Name, func(name world.PodName, pod *corev1.Pod) error {
		if pod.DeletionTimestamp != nil {
			return nil
		}
		end := podlife.DeletionByNode(pod, node, nil, d.Instant())
		if end.At != nil {
			after := d.Seconds() + max(0, int64(end.At.Sub(d.Instant())/time.Second))
			d.At(after, name.String(), func() error { return l.delete(name, n.Name, &end.Rule) })
		}
		return nil
	})
}

// delete deletes a pod of a dead node: it stays Terminating.
func (l *loss) delete(name world.PodName, node string, rule *podlife.Rule) error {
	pod, err := l.d.Pod(name.Namespace, name.Name)
	if err != nil || pod.Spec.NodeName != node || pod.DeletionTimestamp != nil {
		return nil // gone meanwhile
	}
	return l.d.Leave(pod, &world.Left{Cause: world.CauseTaint, Rule: rule}, -1)
}

// remove deletes a node's object; its pods stay until PodGC misses it.
func (l *loss) remove(n *LostNode) error {
	var err error
	if l.orphans[n.Name], err = l.d.PodsOn(n.Name); err != nil {
		return err
	}
	return l.d.RemoveNode(n.Name)
}

// orphan has PodGC delete the pods of a node that is gone, without a grace period.
func (l *loss) orphan(n *LostNode) error {
	d := l.d
	for _, name := range l.orphans[n.Name] {
		pod, err := d.Pod(name.Namespace, name.Name)
		if err != nil || pod.Spec.NodeName != n.Name {
			continue // gone meanwhile
		}
		if rec := d.Leaving(name); rec != nil {
			err = d.Gone(pod, rec)
		} else {
			err = d.Leave(pod, &world.Left{Cause: world.CauseOrphaned}, 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// report sums the loss up.
func (l *loss) report() error {
	d, t := l.d, &l.out.Totals
	l.out.Seconds, l.out.Pods, l.out.Warnings, l.out.Others = d.Seconds(), d.Log(), d.Warnings(), d.Others()
	t.Nodes, t.Pods = len(l.out.Nodes), l.pods
	t.Deleted, t.Preempted, t.Replaced = d.Totals()
	for _, n := range l.out.Nodes {
		ended, err := d.endedOn(n.Name)
		if err != nil {
			return err
		}
		t.Ended += ended
		err = d.eachOn(n.Name, func(name world.PodName, pod *corev1.Pod) error {
			if d.Leaving(name) != nil {
				return nil // it is among those that were deleted
			}
			if !world.IsDaemon(pod) && !world.IsMirror(pod) {
				t.Stay++
			}
			why := "the node is not tainted"
			if pod.DeletionTimestamp != nil {
				why = "it was being deleted before, and stays Terminating: the kubelet of its node does not answer"
			} else if node, err := d.Node(n.Name); err == nil && n.TaintedAfterSeconds != nil {
				why = podlife.DeletionByNode(pod, node, nil, d.Instant()).Rule.Text
			}
			l.out.Staying = append(l.out.Staying, PodReason{name.Namespace, name.Name, why, nil})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
