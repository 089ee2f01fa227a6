package report

import (
	"slices"
	"strings"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/explain/suggest"
	"berth/internal/revision"
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
func GapsOf(h *revision.Hygiene) (out []Gap) {
	absent := func(kind string) bool {
		return slices.ContainsFunc(h.MissingKinds, func(m revision.MissingKind) bool { return m.Kind == kind })
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

// Unapplied are the kinds that admission and changes apply to pods, and other answers do not.
var Unapplied = []Gap{{"LimitRange", "LimitRanges"}, {"ResourceQuota", "ResourceQuotas"}, {"RuntimeClass", "RuntimeClasses"}}

// UnappliedIn returns those of which a snapshot has objects, by its counts.
func UnappliedIn(objects map[string]int) (out []Gap) {
	for _, u := range Unapplied {
		if objects[u.Kind] > 0 {
			out = append(out, u)
		}
	}
	return out
}

// UnappliedText says of a source that it has kinds which answers do not apply; empty without any.
func UnappliedText(of string, kinds []Gap) string {
	if len(kinds) == 0 {
		return ""
	}
	return of + " has " + Listed(kinds) + ": admission and changes apply them, other answers do not"
}

// Listed joins the words of kinds as a sentence does.
func Listed(kinds []Gap) string {
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = k.Words
	}
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// Unknown returns the kind that a group of nodes was rejected for, if it is one of which the source
// has nothing; empty: none. Of a claim that is there it is its volume that was looked for
// (plugins/volumebinding, plugins/volumerestrictions, plugins/volumezone).
func Unknown(group *suggest.Group, missing func(kind string) bool) string {
	kind := ""
	switch group.Reason {
	case engine.CauseClaimMissing:
		kind = "PersistentVolumeClaim"
	case engine.CauseVolumeUnavailable:
		kind = "PersistentVolume"
	case engine.CauseClaimUnbound: // without its class a claim counts as one that is bound at once
		kind = "StorageClass"
	}
	if kind == "" || !missing(kind) {
		return ""
	}
	return kind
}

// AllUnknown returns the kind that every node was rejected for, if the source has nothing of it: no
// verdict about the pod could be right. It is empty for other answers.
func AllUnknown(a *decision.Answer, missing func(kind string) bool) (kind string) {
	if a == nil || a.Outcome != engine.UnschedulableOK || len(a.Groups) == 0 {
		return ""
	}
	for i := range a.Groups {
		if Unknown(&a.Groups[i], missing) == "" {
			return ""
		}
	}
	return Unknown(&a.Groups[0], missing)
}

// WordsFor returns the plural of a kind.
func WordsFor(kind string) string {
	for _, g := range slices.Concat(KindGaps, Unapplied) {
		if g.Kind == kind {
			return g.Words
		}
	}
	return kind + "s"
}
