package cli

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/advice"
	"berth/internal/words"
)

// The command line writes numbers as the pages do.
var (
	count  = words.Count
	plural = words.Plural
	span   = words.Span
	clock  = words.Clock
	size   = words.Size
)

// cells is a number of cells of tables.
func cells(n int) string {
	if n == 1 {
		return "1 cell"
	}
	return count(n) + " cells"
}

// ahead writes how far off a time is, in seconds begun.
func ahead(d time.Duration) string { return span(int64((d + time.Second - 1) / time.Second)) }

// amounts writes amounts of a resource as people do: cpu in one unit, bytes with at most
// one decimal.
func amounts(name string, list []int64) []string {
	switch corev1.ResourceName(name) {
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		out := make([]string, len(list))
		for i, n := range list {
			out[i] = size(n)
		}
		return out
	}
	return advice.Amounts(name, list...)
}

// detailWords says in a line what a node's failure is about.
func detailWords(d *engine.Detail) string {
	switch d.Kind {
	case "resource":
		if d.Requested == nil || d.Available == nil {
			return d.Name
		}
		list := []int64{*d.Requested, *d.Available, *d.Requested - *d.Available}
		if d.Capacity != nil {
			list = append(list, *d.Capacity)
		}
		text := amounts(d.Name, list)
		s := fmt.Sprintf("needs %s, %s free", text[0], text[1])
		if d.Capacity != nil {
			s += " of " + text[3]
		}
		if list[2] <= 0 {
			return d.Name + ": " + s
		}
		return fmt.Sprintf("%s: short %s (%s)", d.Name, text[2], s)
	case "taint":
		s := d.Key
		if d.Value != "" {
			s += "=" + d.Value
		}
		return s + ":" + d.Effect
	case "topologySpread":
		if d.Skew == nil || d.MaxSkew == nil || d.Matching == nil {
			return d.Term
		}
		return fmt.Sprintf("%s: %d there already, skew %d, maxSkew %d", d.Domain, *d.Matching, *d.Skew, *d.MaxSkew)
	case "port":
		return fmt.Sprintf("%s %s:%d", d.Protocol, d.HostIP, d.Port)
	case "unschedulable":
		return "the node is cordoned"
	case "narrowed":
		return "the pod's affinity names other nodes"
	}
	for _, s := range []string{d.Term, d.Name, d.Domain, d.Key} {
		if s != "" {
			if d.TopologyKey != "" {
				return d.TopologyKey + ": " + s
			}
			return s
		}
	}
	return d.Kind
}
