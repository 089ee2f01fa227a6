package suggest

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/state"
)

const (
	// maxNodeKinds is how many kinds of nodes are distinguished. maxNodesTried is how many of them
	// are tried, the smallest first; maxNodesOffered is how many are suggested.
	maxNodeKinds    = 64
	maxNodesTried   = 6
	maxNodesOffered = 2
	maxNodeName     = 253
)

// nodeKind distinguishes nodes by what an empty one of them offers.
type nodeKind struct {
	cpu, memory, ephemeral, pods int64
	zone, instance               string
	taints                       int32
}

// oneMoreNode adds a copy of an existing node without its pods: the smallest on which the pod would
// fit. Nodes that reject the pod whatever pods they have are not copied.
func (s *searcher) oneMoreNode(alone *explain.Alone) {
	if s.q.Options.Candidates != nil || s.base.PreFilter != nil {
		return // another node is not judged, or rejected like the others
	}
	like := s.kinds(func(row int) bool { return s.couldBeLike(alone, row) })
	offered := 0
	for _, n := range like[:min(len(like), maxNodesTried)] {
		if offered < maxNodesOffered && s.offerNodeLike(n, nil) {
			offered++
		}
	}
	if offered == 0 {
		s.nodeElsewhere(alone)
	}
}

// kinds returns a node of each kind that meets a condition, the smallest first.
func (s *searcher) kinds(meets func(row int) bool) (like []*corev1.Node) {
	nodes := s.base.Nodes()
	kinds := map[nodeKind]bool{}
	for _, r := range nodes.Order() {
		row := int(r)
		if !s.base.Query.Candidates.Has(row) || !meets(row) {
			continue
		}
		c, n := nodes.Capacity(row), nodes.Node(row)
		k := nodeKind{c.CPU, c.Memory, c.Ephemeral, c.Pods, n.Labels[corev1.LabelTopologyZone], n.Labels[corev1.LabelInstanceTypeStable], nodes.TaintSetOf()[row]}
		if kinds[k] {
			continue
		}
		if kinds[k] = true; len(kinds) > maxNodeKinds {
			break
		}
		if o, _ := s.node(n.Name); o != nil {
			like = append(like, o)
		}
	}
	slices.SortStableFunc(like, func(a, b *corev1.Node) int {
		x, y := a.Status.Allocatable, b.Status.Allocatable
		return cmp.Or(extended(x)-extended(y), x.Cpu().Cmp(*y.Cpu()), x.Memory().Cmp(*y.Memory()), cmp.Compare(a.Name, b.Name))
	})
	return like
}

// extended counts the extended resources of a node. A node with devices is not a copy to suggest to
// pods without.
func extended(list corev1.ResourceList) (n int) {
	for name := range list {
		if state.IsExtended(name) {
			n++
		}
	}
	return n
}

// couldBeLike reports whether the cause against a node may be absent on an empty copy.
func (s *searcher) couldBeLike(alone *explain.Alone, row int) bool {
	return s.absentOnCopy(alone, row, "NodeAffinity", "NodeName", "NodeDeclaredFeatures", "VolumeZone", "VolumeBinding")
}

// absentOnCopy reports whether the causes against a node may be absent on an empty copy. The
// plugins named reject a copy as they do the node.
func (s *searcher) absentOnCopy(alone *explain.Alone, row int, same ...string) bool {
	v := explain.Verdict(s.base, row)
	failing, _ := alone.Failing(row, false)
	for _, f := range append(failing, engine.RuleFailure{Plugin: v.Plugin, Code: v.Code}) {
		switch {
		case slices.Contains(same, f.Plugin):
			return false
		case f.Plugin == "NodeResourcesFit": // unresolvable: the request is larger than the node
			if f.Code == engine.UnschedulableAndUnresolvable.String() {
				return false
			}
		case f.Plugin == "TaintToleration":
			if !slices.ContainsFunc(s.base.Nodes().Node(row).Taints, func(t corev1.Taint) bool { return ails(t.Key) || t.Key == corev1.TaintNodeUnschedulable }) {
				return false
			}
		}
	}
	return true
}

// offerNodeLike tries the pod on a state with one more node, with its volume limits and its
// devices, at its place or another one.
func (s *searcher) offerNodeLike(like *corev1.Node, at place) bool {
	name := s.newName(like.Name)
	if len(name) > maxNodeName {
		return false
	}
	e := s.q.State.Overlay()
	var edits []Edit
	list, change := NodeLike(s.q.State, like, name), "add one more node like "+like.Name
	if n, ok := list[0].(*corev1.Node); ok && len(at) > 0 {
		n.Labels = at.labels(n.Labels)
		change = "add a node like " + like.Name + at.words()
	}
	for _, o := range list {
		if e.Put(o) != nil {
			return false
		}
		kind := o.(runtime.Object).GetObjectKind().GroupVersionKind().Kind
		edits = append(edits, Edit{kind, "", o.GetName(), []Op{{"add", "", o}}})
	}
	v := s.fits(e.Done(), s.q.Pod, placing)
	if v == nil {
		return false
	}
	g := Suggestion{Kind: "node", Change: change, Target: "node", Node: name, Like: like.Name, Action: AskPlatform, Edit: edits[0]}
	at.describe(&g)
	g.Command = s.askPools(&g)
	if len(edits) > 1 {
		g.Edits = edits
	}
	s.keep(v, engine.Scheduled, costNode, g)
	return true
}

const newSuffix = "-new"

// newName returns a name that no node has.
func (s *searcher) newName(like string) string {
	name := like + newSuffix
	for i := 2; s.q.State.Nodes().Row(name) >= 0; i++ {
		name = like + newSuffix + "-" + strconv.Itoa(i)
	}
	return name
}

// NodeLike returns the objects of another node like one of the state, as if it had just joined and
// were ready: the Node, its CSINode with the limits of volumes, and its ResourceSlices.
func NodeLike(st *state.State, like *corev1.Node, name string) []metav1.Object {
	out := []metav1.Object{emptyCopy(like, name)}
	if c := st.CSINode(like.Name); c != nil {
		c = c.DeepCopy()
		c.TypeMeta = metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "CSINode"}
		c.ObjectMeta = metav1.ObjectMeta{Name: name, Annotations: c.Annotations}
		for i := range c.Spec.Drivers {
			c.Spec.Drivers[i].NodeID = name
		}
		out = append(out, c)
	}
	suffix := strings.TrimPrefix(name, like.Name)
	for _, slice := range st.ResourceSlices() {
		if slice.Spec.NodeName == nil || *slice.Spec.NodeName != like.Name {
			continue
		}
		c := slice.DeepCopy()
		c.TypeMeta = metav1.TypeMeta{APIVersion: "resource.k8s.io/v1", Kind: "ResourceSlice"}
		c.ObjectMeta = metav1.ObjectMeta{Name: slice.Name + suffix}
		c.Spec.NodeName, c.Spec.Pool.Name = &name, c.Spec.Pool.Name+suffix
		out = append(out, c)
	}
	return out
}

// emptyCopy is the node as if it had just joined and were ready: without cordon, faults and images.
// Labels whose value is the node's name get the new name.
func emptyCopy(like *corev1.Node, name string) *corev1.Node {
	labels := maps.Clone(like.Labels)
	for k, v := range labels {
		if v == like.Name || k == corev1.LabelHostname {
			labels[k] = name
		}
	}
	n := &corev1.Node{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: like.Annotations},
		Spec: corev1.NodeSpec{Taints: slices.DeleteFunc(slices.Clone(like.Spec.Taints), func(t corev1.Taint) bool {
			return ails(t.Key) || t.Key == corev1.TaintNodeUnschedulable
		})},
		Status: corev1.NodeStatus{
			Capacity: like.Status.Capacity, Allocatable: like.Status.Allocatable, NodeInfo: like.Status.NodeInfo,
			DeclaredFeatures: like.Status.DeclaredFeatures, Features: like.Status.Features, RuntimeHandlers: like.Status.RuntimeHandlers,
		},
	}
	n.Annotations = maps.Clone(n.Annotations)
	maps.DeleteFunc(n.Annotations, func(k, _ string) bool { return strings.HasPrefix(k, "csi.volume.kubernetes.io/") })
	return n
}

// InZone returns labels of a node as they are in another zone: its label, and those of volume
// drivers and clouds that name the zone as it does.
func InZone(labels map[string]string, zone string) map[string]string {
	out := maps.Clone(labels)
	if out == nil {
		out = map[string]string{}
	}
	old := labels[corev1.LabelTopologyZone]
	for key, value := range labels {
		if strings.HasSuffix(key, "/zone") && value == old {
			out[key] = zone
		}
	}
	out[corev1.LabelTopologyZone] = zone
	return out
}
