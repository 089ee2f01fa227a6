package overview

import (
	"slices"
	"strings"

	"berth/internal/cluster"
)

// Gap is a kind of which a snapshot has no object, with the words for its objects.
type Gap struct{ Kind, Words string }

// SpreadKinds stands for those kinds of which one is enough for default spreading.
const SpreadKinds = "Service, ReplicationController, ReplicaSet, StatefulSet"

// KindGaps are the kinds that answers depend on, in the order in which they are worth telling.
var KindGaps = []Gap{
	{"Node", "Nodes"},
	{"Pod", "Pods"},
	{"PersistentVolumeClaim", "PersistentVolumeClaims"},
	{"PodDisruptionBudget", "PodDisruptionBudgets"},
	{"PriorityClass", "PriorityClasses"},
	{"Namespace", "Namespaces"},
	{"PersistentVolume", "PersistentVolumes"},
	{"StorageClass", "StorageClasses"},
	{"CSINode", "CSINodes"},
	{SpreadKinds, "Services and their controllers"},
}

// GapsOf returns what a snapshot's summary says is missing.
func GapsOf(h *cluster.Hygiene) (out []Gap) {
	absent := func(kind string) bool {
		return slices.ContainsFunc(h.MissingKinds, func(m cluster.MissingKind) bool { return m.Kind == kind })
	}
	for _, g := range KindGaps {
		missing := true
		for kind := range strings.SplitSeq(g.Kind, ", ") {
			missing = missing && absent(kind)
		}
		if missing {
			out = append(out, g)
		}
	}
	return out
}

// Unapplied are the kinds that admission reads and berth keeps, and does not apply.
var Unapplied = []Gap{{"LimitRange", "LimitRanges"}, {"ResourceQuota", "ResourceQuotas"}, {"RuntimeClass", "RuntimeClasses"}}

// UnappliedIn returns those of which a snapshot has objects, by its counts.
func UnappliedIn(objects map[string]int) (words []string) {
	for _, u := range Unapplied {
		if objects[u.Kind] > 0 {
			words = append(words, u.Words)
		}
	}
	return words
}
