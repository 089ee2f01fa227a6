// Package footprint bounds what decisions and their explanations allocate, from counts alone.
package footprint

import (
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// Upper bounds of what a decision allocates, in bytes.
const (
	bytesOfDecision   = 512 << 10
	bytesPerRow       = 192     // of a node: verdicts, scores, totals
	bytesPerRowRule   = 8       // of a node and a plugin
	bytesPerRowTerm   = 64      // of a node and a term, constraint, resource or claim of the pod
	bytesPerPod       = 8       // of a pod of the state: those that terms match
	bytesPerNamespace = 80      // of a namespace and an inter-pod term: those that its selector matches
	bytesPerVictim    = 128     // of a pod of the state, where preemption is tried
	bytesPerVerdict   = 3 << 10 // of a node that is explained
	bytesPerPluginRow = 384     // of a node that is explained, and a plugin

	longText   = 256 // bytes of a text from which on bytesPerVerdict does not hold it
	textFactor = 3   // of a text in JSON: its bytes, and the buffer while it grows
)

// Decision returns an upper bound of what engine.Decide allocates for a pod, in bytes. It depends
// on counts alone, so that it costs next to nothing.
func Decision(s *state.State, pod *corev1.Pod, p *engine.Profile, o engine.Options) int64 {
	rows, pods := int64(len(s.Nodes().Alive())*64), int64(s.PodCount())
	n := bytesOfDecision + rows*(bytesPerRow+int64(len(p.Rules))*bytesPerRowRule+bytesPerRowTerm*int64(parts(pod))) + pods*bytesPerPod
	n += bytesOfNamespaces(s, pod)
	if p.Counting != 0 {
		n += s.ViewBytes()
	}
	if !o.NoPreemption {
		n += rows*bytesPerRow + pods*bytesPerVictim
	}
	return n
}

// Explanation returns an upper bound of what writing a decision at a level takes, its JSON
// included.
func Explanation(r *engine.Result, level engine.Explain) int64 {
	each, reasons := int64(bytesPerRow+bytesPerRowTerm*parts(r.Query.Pod)), int64(0)
	switch level {
	case engine.ExplainFull, engine.ExplainAll:
		each += bytesPerPluginRow * int64(len(r.Query.Profile.Rules))
		fallthrough
	case engine.ExplainFailures:
		each += bytesPerVerdict + quotedNames(r.Query)
		reasons = Reasons(r)
	}
	return bytesOfDecision + each*int64(r.Considered()) + reasons + bytesOfNamespaces(r.Query.State, r.Query.Pod)
}

// Reasons returns what the reasons of all nodes take in an answer where they are long. They quote
// names, and an API server does not check how long each of those is.
func Reasons(r *engine.Result) int64 {
	if p := r.PreFilter; p != nil {
		return long(p.Reason) * int64(r.Considered())
	}
	n := int64(0)
	for i := range r.Rejected {
		for _, reason := range r.Rejected[i].Reasons {
			if each := long(reason.Text); each > 0 {
				n += each * int64(reason.Nodes.Count())
			}
		}
	}
	return n
}

// quotedNames returns what the names that details quote take, for each node, where they are long.
func quotedNames(q *engine.Query) (n int64) {
	spec := &q.Pod.Spec
	for i := range spec.TopologySpreadConstraints {
		n += long(spec.TopologySpreadConstraints[i].TopologyKey)
	}
	for i := range spec.Volumes {
		if c := spec.Volumes[i].PersistentVolumeClaim; c != nil {
			if claim := q.State.PersistentVolumeClaim(q.Pod.Namespace, c.ClaimName); claim != nil {
				n += long(claim.Spec.VolumeName)
			}
		}
	}
	return n
}

func long(text string) int64 {
	if len(text) <= longText {
		return 0
	}
	return textFactor * int64(len(text))
}

func bytesOfNamespaces(s *state.State, pod *corev1.Pod) int64 {
	return int64(s.NamespaceCount()) * bytesPerNamespace * int64(podTerms(pod))
}

// parts is how many terms, constraints, resources, ports, volumes and claims a pod has.
func parts(pod *corev1.Pod) int {
	spec := &pod.Spec
	n := len(spec.TopologySpreadConstraints) + len(spec.Volumes) + len(spec.ResourceClaims) + len(spec.NodeSelector) + len(spec.Overhead)
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			n += len(list[i].Resources.Requests) + len(list[i].Ports)
		}
	}
	a := spec.Affinity
	if a == nil {
		return n
	}
	if na := a.NodeAffinity; na != nil {
		n += len(na.PreferredDuringSchedulingIgnoredDuringExecution)
		if na.RequiredDuringSchedulingIgnoredDuringExecution != nil {
			n += len(na.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms)
		}
	}
	return n + podTerms(pod)
}

// podTerms is how many inter-pod terms a pod has.
func podTerms(pod *corev1.Pod) (n int) {
	a := pod.Spec.Affinity
	if a == nil {
		return 0
	}
	if pa := a.PodAffinity; pa != nil {
		n += len(pa.RequiredDuringSchedulingIgnoredDuringExecution) + len(pa.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if pa := a.PodAntiAffinity; pa != nil {
		n += len(pa.RequiredDuringSchedulingIgnoredDuringExecution) + len(pa.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return n
}
