package rules

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

var (
	_ engine.BlockerNamer[[]state.Port]    = NodePorts{}
	_ engine.BlockerNamer[engine.NoState]  = (*NodeResourcesFit)(nil)
	_ engine.BlockerNamer[engine.NoState]  = NodeAffinity{}
	_ engine.BlockerNamer[engine.NoState]  = NodeName{}
	_ engine.BlockerNamer[*affinityCounts] = (*InterPodAffinity)(nil)
	_ engine.BlockerNamer[[]*spreadCounts] = (*PodTopologySpread)(nil)
	_ engine.BlockerNamer[*bindings]       = VolumeBinding{}
	_ engine.BlockerNamer[*zonesOfVolumes] = VolumeZone{}
	_ engine.BlockerNamer[*incoming]       = NodeVolumeLimits{}
	_ engine.BlockerNamer[restricted]      = VolumeRestrictions{}
	_ engine.BlockerNamer[*deviceState]    = (*DynamicResources)(nil)
)

// The kinds of objects that are in the way beside pods.
const (
	kindNode         = "Node"
	kindClaim        = "PersistentVolumeClaim"
	kindVolume       = "PersistentVolume"
	kindStorageClass = "StorageClass"
	kindCSINode      = "CSINode"
	kindDeviceClaim  = "ResourceClaim"
)

// NameBlockers names the pods that hold the port.
func (NodePorts) NameBlockers(q *engine.Query, _ []state.Port, row int, d *engine.Detail) {
	var out engine.Blockers
	for p := range q.State.PodsOn(row).All() {
		if slices.ContainsFunc(p.Class.Ports, func(id int32) bool {
			o := q.State.Port(id)
			return o.Protocol == d.Protocol && o.IP == d.HostIP && o.Number == d.Port
		}) {
			out.AddPod(q, p, nil, "")
		}
	}
	out.Done(d)
}

// NameBlockers names the pods that hold most of a resource that is short.
func (f *NodeResourcesFit) NameBlockers(q *engine.Query, _ engine.NoState, row int, d *engine.Detail) {
	if d.Requested == nil || d.Capacity == nil || *d.Requested > *d.Capacity {
		return // an empty node would not do either
	}
	var out engine.Blockers
	id, _ := q.ScalarID(d.Name)
	for p := range q.State.PodsOn(row).All() {
		held := heldBy(q, p, corev1.ResourceName(d.Name), id)
		if held <= 0 {
			continue
		}
		out.AddPod(q, p, &held, "")
	}
	out.Done(d)
	for i := range d.Blockers {
		b := &d.Blockers[i]
		if p := q.State.Pod(b.Namespace, b.Name); p != nil && p.Resizing != nil {
			if n, _ := plainAmountOf(p.Resizing, corev1.ResourceName(d.Name)); n > 0 {
				b.Resizing = &n
			}
		}
	}
}

// heldBy is how much of a resource a pod on a node counts for.
func heldBy(q *engine.Query, p *state.Pod, name corev1.ResourceName, id int32) int64 {
	if name == corev1.ResourcePods {
		return 1
	}
	r := &q.State.Counts(p.Class).Request
	if n, plain := plainAmountOf(&r.Amount, name); plain {
		return n
	}
	for _, s := range r.Scalars {
		if s.ID == id {
			return s.N
		}
	}
	return 0
}

func plainAmountOf(a *state.Amount, name corev1.ResourceName) (n int64, plain bool) {
	switch name {
	case corev1.ResourceCPU:
		return a.CPU, true
	case corev1.ResourceMemory:
		return a.Memory, true
	case corev1.ResourceEphemeralStorage:
		return a.Ephemeral, true
	}
	return 0, false
}

// NameBlockers names the nodes that a pod is for whose affinity leaves all others out.
func (NodeAffinity) NameBlockers(q *engine.Query, _ engine.NoState, _ int, d *engine.Detail) {
	na := affinityOf(q.Pod)
	if d.Kind != "narrowed" || na == nil || na.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return
	}
	names := map[string]struct{}{}
	for i := range na.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		of, _ := namedBy(&na.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[i])
		for n := range of {
			names[n] = struct{}{}
		}
	}
	var out engine.Blockers
	owner := metav1.GetControllerOfNoCopy(q.Pod)
	for n := range names {
		b := nodeBlocker(q, n)
		if b.Why == "" && owner != nil && owner.Kind == "DaemonSet" {
			b.Why = "its DaemonSet made the pod for it"
		}
		out.Add(b)
	}
	out.Done(d)
}

// NameBlockers names the node that the pod is for.
func (NodeName) NameBlockers(q *engine.Query, _ engine.NoState, _ int, d *engine.Detail) {
	var out engine.Blockers
	out.Add(nodeBlocker(q, q.Pod.Spec.NodeName))
	out.Done(d)
}

// nodeBlocker describes a node by its name.
func nodeBlocker(q *engine.Query, name string) engine.Blocker {
	b := engine.Blocker{Kind: kindNode, Name: name}
	if q.Nodes.Row(name) < 0 {
		b.State, b.Why = engine.BlockerMissing, notHere
	}
	return b
}

// blockerWords writes an object with what it holds, and how much of that is for a resize.
func blockerWords(b *engine.Blocker, amount, resizing string) string {
	text := b.Name
	switch {
	case b.Kind != "Pod":
		text = ofKind[b.Kind] + b.Name
	case b.Namespace != "":
		text = b.Namespace + "/" + b.Name
	}
	if amount != "" {
		text += " " + amount
	}
	var marks []string
	if kind, name, ok := strings.Cut(b.Owner, "/"); ok {
		marks = append(marks, kind+" "+name)
	}
	switch b.State {
	case engine.BlockerEnding:
		marks = append(marks, "ending since "+b.Since+", gone by "+b.Until)
	case engine.BlockerOverdue:
		marks = append(marks, "overdue: deleted "+b.Since+", to be gone by "+b.Until)
	case engine.BlockerNominated:
		marks = append(marks, "nominated to the node")
	case engine.BlockerResizing:
		mark := "resize deferred"
		if b.Resizing != nil {
			mark += ", which counts for " + resizing + " of it"
		}
		marks = append(marks, mark)
	case engine.BlockerEvictable:
		marks = append(marks, "of lower priority")
	case engine.BlockerWaiting:
		marks = append(marks, "has no node itself")
	case engine.BlockerMissing:
	}
	if b.Why != "" {
		marks = append(marks, b.Why)
	}
	if len(marks) > 0 {
		text += " (" + strings.Join(marks, "; ") + ")"
	}
	return text
}

// ofKind is what stands before the name of an object that is no pod.
var ofKind = map[string]string{
	kindNode: "node ", kindClaim: "claim ", kindVolume: "volume ", kindStorageClass: "class ",
	kindCSINode: "CSINode ", kindDeviceClaim: "claim ",
}
