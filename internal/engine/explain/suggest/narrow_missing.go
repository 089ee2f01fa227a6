package suggest

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/words"
)

// missingOf returns the labels of a selector that no node has.
func (n *narrowing) missingOf(sel map[string]string) (out []Missing) {
	for _, key := range n.r.Query.SelectorKeys() {
		if m := n.missing(key, sel[key]); m != nil && len(out) < maxMissing {
			out = append(out, *m)
		}
	}
	return out
}

// missingTerms returns the labels that the terms of an affinity want and no node has.
func (n *narrowing) missingTerms(required *corev1.NodeSelector) (out []Missing) {
	add := func(key, value string) {
		if m := n.missing(key, value); m != nil && len(out) < maxMissing {
			out = append(out, *m)
		}
	}
	for i := range required.NodeSelectorTerms {
		for _, e := range required.NodeSelectorTerms[i].MatchExpressions {
			switch e.Operator {
			case corev1.NodeSelectorOpExists:
				add(e.Key, "")
			case corev1.NodeSelectorOpIn:
				col := n.r.Nodes().Column(e.Key)
				if slices.ContainsFunc(e.Values, func(v string) bool { return col.Lookup(v) >= 0 }) {
					continue
				}
				for _, v := range e.Values {
					add(e.Key, v)
				}
			default:
			}
		}
	}
	return out
}

// missing returns nil where a node has the label.
func (n *narrowing) missing(key, value string) *Missing {
	col := n.r.Nodes().Column(key)
	if value == "" && len(col.Values) > 0 || col.Lookup(value) >= 0 {
		return nil
	}
	m := &Missing{Key: key, Value: value}
	if len(col.Values) == 0 {
		m.Meant = n.nearestKey(key, value)
		return m
	}
	values := make([]NodeLabel, len(col.Values))
	for i, v := range col.Values {
		values[i] = NodeLabel{Key: key, Value: v, Nodes: len(col.Rows[i])}
	}
	slices.SortFunc(values, func(a, b NodeLabel) int { return cmp.Or(b.Nodes-a.Nodes, cmp.Compare(a.Value, b.Value)) })
	if !states(key) && len(value) >= leastMeant { // zone-a is not zone-b misspelt
		m.Meant = nearest(value, values, func(l *NodeLabel) string { return l.Value })
	}
	m.Values = values[:min(len(values), maxValues)]
	m.More = len(values) - len(m.Values)
	return m
}

// nearestKey returns the label that was meant by one whose key no node has, with the wanted value
// where nodes have that.
func (n *narrowing) nearestKey(key, value string) *NodeLabel {
	count := map[string]int{}
	for _, row := range n.r.Nodes().Order() {
		for k := range n.r.Nodes().Node(int(row)).Labels {
			count[k]++
		}
	}
	keys := make([]NodeLabel, 0, len(count))
	for k, nodes := range count {
		keys = append(keys, NodeLabel{Key: k, Nodes: nodes})
	}
	slices.SortFunc(keys, func(a, b NodeLabel) int { return cmp.Or(b.Nodes-a.Nodes, cmp.Compare(a.Key, b.Key)) })
	found := nearest(key, keys, func(l *NodeLabel) string { return l.Key })
	if found == nil {
		// The same name with another prefix is meant, too.
		_, name, _ := strings.Cut(key, "/")
		at := slices.IndexFunc(keys, func(l NodeLabel) bool {
			_, other, prefixed := strings.Cut(l.Key, "/")
			if !prefixed {
				other = l.Key
			}
			return other == cmp.Or(name, key)
		})
		if at < 0 {
			return nil
		}
		found = &keys[at]
	}
	if value == "" {
		return found
	}
	col := n.r.Nodes().Column(found.Key)
	if i := col.Lookup(value); i >= 0 {
		return &NodeLabel{Key: found.Key, Value: value, Nodes: len(col.Rows[i])}
	}
	return found
}

// nearest returns the label whose text is most like the one that was written.
func nearest(text string, list []NodeLabel, of func(l *NodeLabel) string) *NodeLabel {
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = of(&list[i])
	}
	found, ok := words.Nearest(text, texts)
	if !ok {
		return nil
	}
	return &list[slices.Index(texts, found)]
}
