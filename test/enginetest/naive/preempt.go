package naive

import (
	"fmt"
	"math"
	"sort"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"berth/internal/engine"
	"berth/internal/engine/preempt"
)

// move is a pod that a dry run put on the node (1) or took off it (-1).
type move struct {
	pod *corev1.Pod
	n   int
}

// postFilter looks for victims where the pod fits nowhere, and writes the messages of the
// PostFilter plugins.
func (y *cycle) postFilter(d *engine.Decision) {
	if d.Outcome != engine.UnschedulableOK || len(y.candidates) == 0 || y.options.NoPreemption {
		return
	}
	var texts []string
	for _, name := range y.spec.PostFilter {
		switch name {
		case "DynamicResources":
			if len(y.turnedDown().reasons) > 0 {
				d.Message += " not found"
				d.Preemption = &engine.Preemption{Reason: "DynamicResources failed before it: not found"}
				return
			}
			texts = append(texts, y.deallocation(d))
		case "DefaultPreemption":
			if text := y.preempt(d); text != "" {
				texts = append(texts, "preemption: "+text)
			}
		}
	}
	if d.Outcome == engine.UnschedulableOK && len(texts) > 0 {
		d.Message += " " + strings.Join(texts, ", ")
	}
}

func (y *cycle) preempt(d *engine.Decision) string {
	p := &engine.Preemption{Eligible: true}
	d.Preemption = p
	if p.Reason = y.mayNot(d); p.Reason != "" {
		p.Eligible = false
		return p.Reason
	}
	filters := y.filters()
	counts := map[string]int{}
	var victims [][]*corev1.Pod
	for _, v := range d.Nodes {
		if v.Code != engine.Unschedulable.String() {
			counts[preempt.ReasonNotHelpful]++
			continue
		}
		c, gone, refused := y.evict(y.byName[v.Name], filters)
		for _, reason := range refused {
			counts[reason]++
		}
		if c != nil {
			p.Candidates = append(p.Candidates, *c)
			victims = append(victims, gone)
		}
	}
	if len(p.Candidates) == 0 {
		var parts []string
		for reason, n := range counts {
			parts = append(parts, fmt.Sprintf("%d %s", n, reason))
		}
		sort.Strings(parts)
		return fmt.Sprintf("0/%d nodes are available: %s.", len(y.candidates), strings.Join(parts, ", "))
	}
	d.Outcome, d.Best = engine.Preempting, y.choices(p.Candidates, victims)
	return ""
}

// mayNot returns the reason why the pod may not preempt.
func (y *cycle) mayNot(d *engine.Decision) string {
	if policy := y.pod.Spec.PreemptionPolicy; policy != nil && *policy == corev1.PreemptNever {
		return preempt.ReasonPolicyNever
	}
	for _, v := range d.Nodes {
		if v.Name != y.pod.Status.NominatedNodeName || v.Code != engine.Unschedulable.String() {
			continue
		}
		for _, p := range y.byName[v.Name].pods {
			if p.DeletionTimestamp == nil || priority(p) >= priority(y.pod) {
				continue
			}
			for _, c := range p.Status.Conditions {
				if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue && c.Reason == corev1.PodReasonPreemptionByScheduler {
					return preempt.ReasonVictimTerminating
				}
			}
		}
	}
	return ""
}

func (y *cycle) started(p *corev1.Pod) time.Time {
	if p.Status.StartTime != nil {
		return p.Status.StartTime.Time
	}
	if y.options.Now.IsZero() {
		return time.Unix(math.MaxInt32, 0).Add(math.MaxInt32)
	}
	return y.options.Now
}

// evict takes all pods of lower priority off a node and puts back those that
// can stay.
func (y *cycle) evict(n *node, filters []filter) (*engine.PreemptionCandidate, []*corev1.Pod, []string) {
	defer func() { y.trail = nil }()
	var potential []*corev1.Pod
	for _, p := range n.pods {
		if priority(p) < priority(y.pod) {
			potential = append(potential, p)
			y.trail = append(y.trail, move{p, -1})
		}
	}
	if len(potential) == 0 {
		return nil, nil, []string{preempt.ReasonNoVictims}
	}
	if st := y.judge(n, filters); len(st.reasons) > 0 {
		return nil, nil, st.reasons
	}
	sort.Slice(potential, func(i, j int) bool { return y.moreImportant(potential[i], potential[j]) })
	c := &engine.PreemptionCandidate{Node: n.Name}
	violating := y.violating(potential)
	var victims []*corev1.Pod
	for _, forbidden := range []bool{true, false} {
		for _, p := range potential {
			if violating[p] != forbidden {
				continue
			}
			y.trail = append(y.trail, move{p, 1})
			if st := y.judge(n, filters); len(st.reasons) > 0 {
				y.trail = append(y.trail, move{p, -1})
				victims = append(victims, p)
				if forbidden {
					c.NumPDBViolations++
				}
			}
		}
	}
	sort.Slice(victims, func(i, j int) bool { return y.moreImportant(victims[i], victims[j]) })
	for _, p := range victims {
		c.Victims = append(c.Victims, engine.Victim{Namespace: p.Namespace, Name: p.Name, UID: string(p.UID), Priority: priority(p), ViolatesPDB: violating[p]})
	}
	return c, victims, nil
}

func (y *cycle) moreImportant(a, b *corev1.Pod) bool {
	if priority(a) != priority(b) {
		return priority(a) > priority(b)
	}
	if s, t := y.started(a), y.started(b); !s.Equal(t) {
		return s.Before(t)
	}
	return a.Namespace+"/"+a.Name < b.Namespace+"/"+b.Name
}

// violating says whose eviction some budget forbids.
func (y *cycle) violating(pods []*corev1.Pod) map[*corev1.Pod]bool {
	out := map[*corev1.Pod]bool{}
	left := map[string]int32{}
	for _, b := range y.budgets {
		left[b.Namespace+"/"+b.Name] = b.Status.DisruptionsAllowed
	}
	for _, p := range pods {
		for _, b := range y.budgets {
			sel, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
			if len(p.Labels) == 0 || b.Namespace != p.Namespace || err != nil || sel.Empty() || !sel.Matches(labels.Set(p.Labels)) {
				continue
			}
			if _, done := b.Status.DisruptedPods[p.Name]; done {
				continue
			}
			left[b.Namespace+"/"+b.Name]--
			out[p] = out[p] || left[b.Namespace+"/"+b.Name] < 0
		}
	}
	return out
}

// choices are the candidates that upstream may choose: those that no other beats
// in the first five rounds.
func (y *cycle) choices(list []engine.PreemptionCandidate, victims [][]*corev1.Pod) []string {
	var best [5]int64
	var out []string
	for i, c := range list {
		k := [5]int64{int64(c.NumPDBViolations), int64(priority(victims[i][0])), 0, int64(len(victims[i])), math.MinInt64}
		for _, p := range victims[i] {
			k[2] += int64(priority(p)) + math.MaxInt32 + 1
			if priority(p) == priority(victims[i][0]) {
				k[4] = max(k[4], -y.started(p).UnixNano())
			}
		}
		less := false
		for j := range k {
			if k[j] != best[j] {
				less = k[j] < best[j]
				break
			}
		}
		switch {
		case i == 0 || less:
			best, out = k, []string{c.Node}
		case k == best:
			out = append(out, c.Node)
		}
	}
	return out
}
