package audit

import (
	"fmt"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"berth/internal/engine"
)

// shortage is the least that a resource falls short by where it is all that a
// node lacks.
type shortage struct {
	short, available int64
	node             string
}

// changes lists what might help, from what the nodes were rejected for.
func (c *matter) changes(r *engine.Result) []change {
	if r.Outcome == engine.Gated {
		return []change{c.ungate()}
	}
	var out []change
	short := map[string]shortage{}
	skew := map[string]int64{}
	seen := map[string]bool{}
	set := r.Nodes()
	for _, row := range set.Order() {
		v := r.Verdict(int(row))
		if v.Feasible || !r.Candidate(int(row)) {
			continue
		}
		for i := range v.Details {
			d := &v.Details[i]
			switch d.Kind {
			case "resource":
				if lack := *d.Requested - *d.Available; len(v.Details) == 1 {
					if s, ok := short[d.Name]; !ok || lack < s.short {
						short[d.Name] = shortage{lack, *d.Available, v.Name}
					}
				}
			case "topologySpread":
				if d.Skew == nil {
					continue
				}
				if have, ok := skew[d.TopologyKey]; !ok || *d.Skew < have {
					skew[d.TopologyKey] = *d.Skew
				}
			default:
				if key := fmt.Sprint(d.Kind, d.Name, d.Key, d.Value, d.Effect, d.TopologyKey, d.Term, d.Protocol, d.Port); !seen[key] {
					seen[key] = true
					out = append(out, c.changesFor(d, v.Name)...)
				}
			}
		}
	}
	for name, s := range short {
		out = append(out, c.lessRequested(name, s)...)
		out = append(out, c.moreCapacity(name, s)...)
	}
	for key, s := range skew {
		out = append(out, c.moreSkew(key, s)...)
	}
	return out
}

// podChange makes a change of the pod.
func (c *matter) podChange(kind string, cost int, words string, edit func(*corev1.Pod)) change {
	p := c.pod.DeepCopy()
	edit(p)
	return change{Suggestion: Suggestion{Kind: kind, Change: words, Target: "pod"}, cost: cost, pod: p}
}

// nodeChange makes a change of a node; none where the snapshot lacks it.
func (c *matter) nodeChange(kind, node, words string, edit func(*corev1.Node)) []change {
	n := c.nodeObject(node)
	if n == nil {
		return nil
	}
	edit(n)
	return []change{{Suggestion: Suggestion{Kind: kind, Change: words, Target: "node", Node: node}, cost: costNode, node: n}}
}

func (c *matter) ungate() change {
	names := make([]string, 0, len(c.pod.Spec.SchedulingGates))
	for _, g := range c.pod.Spec.SchedulingGates {
		names = append(names, g.Name)
	}
	return c.podChange("gate", costGate, "remove the scheduling gates "+strings.Join(names, ", "), func(p *corev1.Pod) { p.Spec.SchedulingGates = nil })
}

// changesFor gives what would undo one cause of a rejection.
func (c *matter) changesFor(d *engine.Detail, node string) []change {
	switch d.Kind {
	case "taint":
		t := corev1.Toleration{Key: d.Key, Operator: corev1.TolerationOpEqual, Value: d.Value, Effect: corev1.TaintEffect(d.Effect)}
		words := fmt.Sprintf("tolerate the taint %s=%s:%s", d.Key, d.Value, d.Effect)
		if d.Value == "" {
			t.Operator, words = corev1.TolerationOpExists, fmt.Sprintf("tolerate the taint %s:%s", d.Key, d.Effect)
		}
		return []change{c.podChange("toleration", costToleration, words, func(p *corev1.Pod) { p.Spec.Tolerations = append(p.Spec.Tolerations, t) })}
	case "unschedulable":
		return c.nodeChange("uncordon", node, "uncordon node "+node, func(n *corev1.Node) { n.Spec.Unschedulable = false })
	case "nodeAffinity":
		return c.looserNodes(d, node)
	case "podAffinity":
		return c.withoutTerms("podAffinity", d.TopologyKey, func(a *corev1.Affinity) *[]corev1.PodAffinityTerm {
			return &a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		})
	case "podAntiAffinity":
		return c.withoutTerms("podAntiAffinity", d.TopologyKey, func(a *corev1.Affinity) *[]corev1.PodAffinityTerm {
			return &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		})
	case "port":
		return []change{c.podChange("hostPort", costPort, fmt.Sprintf("give up host port %d/%s", d.Port, d.Protocol), func(p *corev1.Pod) {
			for i := range p.Spec.Containers {
				for k := range p.Spec.Containers[i].Ports {
					if q := &p.Spec.Containers[i].Ports[k]; q.HostPort == d.Port {
						q.HostPort = 0
					}
				}
			}
		})}
	default:
		return nil
	}
}

// looserNodes gives up a selector or the required affinity, or gives a node the
// label.
func (c *matter) looserNodes(d *engine.Detail, node string) []change {
	if d.Name == "nodeSelector" {
		want := c.pod.Spec.NodeSelector[d.Key]
		out := []change{c.podChange("nodeSelector", costSelector, fmt.Sprintf("drop %s=%s from nodeSelector", d.Key, want), func(p *corev1.Pod) { delete(p.Spec.NodeSelector, d.Key) })}
		return append(out, c.nodeChange("label", node, fmt.Sprintf("label node %s with %s=%s", node, d.Key, want), func(n *corev1.Node) {
			if n.Labels == nil {
				n.Labels = map[string]string{}
			}
			n.Labels[d.Key] = want
		})...)
	}
	if a := c.pod.Spec.Affinity; a == nil || a.NodeAffinity == nil || d.Name == "addedAffinity" {
		return nil
	}
	return []change{c.podChange("nodeAffinity", costAffinity, "drop the required node affinity", func(p *corev1.Pod) {
		p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
	})}
}

// withoutTerms gives up the required terms over one topology key, one by one.
func (c *matter) withoutTerms(kind, key string, list func(*corev1.Affinity) *[]corev1.PodAffinityTerm) []change {
	var out []change
	for i, t := range *list(c.pod.Spec.Affinity) {
		if t.TopologyKey != key {
			continue
		}
		out = append(out, c.podChange(kind, costAffinity, fmt.Sprintf("drop required %s term %d, by %s", kind, i, key), func(p *corev1.Pod) {
			terms := list(p.Spec.Affinity)
			*terms = append((*terms)[:i:i], (*terms)[i+1:]...)
		}))
	}
	return out
}

// moreSkew raises maxSkew of the hard constraints over a key to what the best
// domain needs.
func (c *matter) moreSkew(key string, needed int64) []change {
	var out []change
	for i, s := range c.pod.Spec.TopologySpreadConstraints {
		if s.TopologyKey != key || s.WhenUnsatisfiable != corev1.DoNotSchedule || int64(s.MaxSkew) >= needed {
			continue
		}
		out = append(out, c.podChange("topologySpread", costSpread, fmt.Sprintf("raise maxSkew over %s from %d to %d", key, s.MaxSkew, needed), func(p *corev1.Pod) {
			p.Spec.TopologySpreadConstraints[i].MaxSkew = int32(needed)
		}))
	}
	return out
}

// quantity writes an amount as the detail of a resource counts it.
func quantity(name string, n int64) resource.Quantity {
	switch corev1.ResourceName(name) {
	case corev1.ResourceCPU:
		return *resource.NewMilliQuantity(n, resource.DecimalSI)
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return *resource.NewQuantity(n, resource.BinarySI)
	default:
		return *resource.NewQuantity(n, resource.DecimalSI)
	}
}

// lessRequested lowers the largest request by what is short.
func (c *matter) lessRequested(name string, s shortage) []change {
	key := corev1.ResourceName(name)
	if key == corev1.ResourcePods || s.available <= 0 || c.pod.Spec.Resources != nil {
		return nil
	}
	order := make([]int, len(c.pod.Spec.Containers))
	for i := range order {
		order[i] = i
	}
	request := func(i int) resource.Quantity { return c.pod.Spec.Containers[i].Resources.Requests[key] }
	sort.SliceStable(order, func(a, b int) bool {
		x, y := request(order[a]), request(order[b])
		return x.Cmp(y) > 0
	})
	if len(order) == 0 {
		return nil
	}
	i := order[0]
	old := request(i)
	lower := old.DeepCopy()
	lower.Sub(quantity(name, s.short))
	if lower.Sign() <= 0 {
		return nil
	}
	words := fmt.Sprintf("lower the %s request of container %s from %s to %s", name, c.pod.Spec.Containers[i].Name, old.String(), lower.String())
	return []change{c.podChange("resource", costResource, words, func(p *corev1.Pod) { p.Spec.Containers[i].Resources.Requests[key] = lower })}
}

// moreCapacity gives the node that lacks the least that much more.
func (c *matter) moreCapacity(name string, s shortage) []change {
	more := quantity(name, s.short)
	return c.nodeChange("capacity", s.node, fmt.Sprintf("%s more %s on node %s", more.String(), name, s.node), func(n *corev1.Node) {
		have := n.Status.Allocatable[corev1.ResourceName(name)]
		have.Add(more)
		if n.Status.Allocatable == nil {
			n.Status.Allocatable = corev1.ResourceList{}
		}
		n.Status.Allocatable[corev1.ResourceName(name)] = have
	})
}
