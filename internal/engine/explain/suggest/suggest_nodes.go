package suggest

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"berth/internal/engine"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const maxSelectors = 8

// selectors drops one label from nodeSelector, or adds it to the first node that fits otherwise.
func (s *searcher) selectors() {
	var keys []string
	for _, d := range s.causes(1<<30, "nodeAffinity") {
		if d.Name == "nodeSelector" && !slices.Contains(keys, d.Key) {
			keys = append(keys, d.Key)
		}
	}
	sort.Strings(keys)
	for _, k := range keys[:min(len(keys), maxSelectors)] {
		want := s.q.Pod.Spec.NodeSelector[k]
		v := s.offerPod("nodeSelector", costSelector, ChangePod, fmt.Sprintf("drop %s=%s from nodeSelector", k, want), Op{Op: "remove", Path: pointer("spec", "nodeSelector", k)})
		s.label(v, k, want)
	}
}

// states reports whether a label states a fact about a node, so that another value would be wrong
// (k8s.io/api/core/v1 well_known_labels.go; topology.ebs.csi.aws.com/zone).
func states(key string) bool {
	switch key {
	case corev1.LabelHostname, corev1.LabelOSStable, corev1.LabelArchStable, corev1.LabelInstanceTypeStable, corev1.LabelWindowsBuild:
		return true
	}
	switch domain, _, _ := strings.Cut(key, "/"); domain {
	case key: // it has none
		return false
	case "failure-domain.beta.kubernetes.io", "beta.kubernetes.io":
		return true
	default: // labels of volume drivers and clouds that are named like upstream's
		return strings.HasPrefix(domain, "topology.")
	}
}

// label adds a missing label to the first node of a verdict, unless the label states a fact.
func (s *searcher) label(v *verdict, key, value string) {
	if v == nil || states(key) || s.q.State.Nodes().Column(key).Lookup(value) < 0 { // what no node has may be misspelt
		return
	}
	name := v.first(func(row int) bool { have, ok := v.nodes.Node(row).Labels[key]; return !ok || have != value })
	n, _ := s.node(name)
	if n == nil {
		return
	}
	op := Op{"add", pointer("metadata", "labels", key), value}
	if n.Labels == nil {
		op = Op{"add", "/metadata/labels", map[string]string{key: value}}
	}
	if s.offerNode("label", costLabel, name, fmt.Sprintf("label node %s with %s=%s", name, key, value), op) {
		s.last().Command = fmt.Sprintf("kubectl label node %s %s=%s --overwrite", name, key, value)
	}
}

const maxRequirements = 8

// requiredAffinity is the path of a pod's required node affinity.
const requiredAffinity = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution"

// affinity drops one requirement of the required node affinity, or all of it. Where a label would
// help, it is added to the first node that fits otherwise.
func (s *searcher) affinity() {
	a := s.q.Pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil || !s.affinityFails() {
		return
	}
	terms := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	if own := metav1.GetControllerOf(s.q.Pod); own != nil && own.Kind == "DaemonSet" && len(terms) > 0 && len(terms[0].MatchFields) > 0 {
		return // the controller wrote which node it is for
	}
	const path = requiredAffinity
	whole := s.offerPod("nodeAffinity", costAffinity, ChangePod, "drop the required node affinity", Op{Op: "remove", Path: path})
	if whole == nil {
		return // then dropping less does not help either
	}
	tried := 0
	for t := range terms {
		alone := len(terms[t].MatchExpressions)+len(terms[t].MatchFields) == 1
		for _, list := range []struct {
			field string
			of    []corev1.NodeSelectorRequirement
		}{{"matchExpressions", terms[t].MatchExpressions}, {"matchFields", terms[t].MatchFields}} {
			for i := range list.of {
				if tried++; tried > maxRequirements {
					return
				}
				e := &list.of[i]
				v := whole
				if !alone { // a term without requirements matches nothing
					v = s.offerPod("nodeAffinity", costAffinity, ChangePod, fmt.Sprintf("drop %s from term %d of the required node affinity", requirementWords(e), t),
						Op{Op: "remove", Path: path + pointer("nodeSelectorTerms", t, list.field, i)})
				}
				switch {
				case list.field != "matchExpressions":
				case e.Operator == corev1.NodeSelectorOpIn && len(e.Values) > 0:
					s.label(v, e.Key, e.Values[0])
				case e.Operator == corev1.NodeSelectorOpExists:
					s.label(v, e.Key, "")
				}
			}
		}
	}
}

// affinityFails reports whether the required node affinity rejects some node.
func (s *searcher) affinityFails() bool {
	for k, b := range s.seen.groups {
		if b.nodes > 0 && (k.Rule == "NodeAffinity" || k.Reason == engine.CauseNotNamed) {
			return true
		}
	}
	return false
}

func requirementWords(e *corev1.NodeSelectorRequirement) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Key, e.Operator, strings.Join(e.Values, ",")))
}

// cordons uncordons the first cordoned node, by name, that fits otherwise. A cordon is a field and
// the taint that a controller sets for it.
func (s *searcher) cordons() {
	cordoned := s.q.State.Nodes().Cordoned()
	if cordoned.Empty() {
		return
	}
	v := s.probe(func(p *corev1.Pod) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists})
	})
	if v == nil {
		return
	}
	name := v.first(cordoned.Has)
	n, _ := s.node(name)
	if n == nil {
		return
	}
	ops := []Op{{Op: "remove", Path: "/spec/unschedulable"}}
	for i := len(n.Spec.Taints) - 1; i >= 0; i-- { // from the end, so that indexes hold
		if n.Spec.Taints[i].Key == corev1.TaintNodeUnschedulable {
			ops = append(ops, Op{Op: "remove", Path: pointer("spec", "taints", i)})
		}
	}
	if s.offerNode("uncordon", costUncordon, name, "uncordon node "+name, ops...) {
		s.last().Command = "kubectl uncordon " + name
	}
}
