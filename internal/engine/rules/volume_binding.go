package rules

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/component-helpers/storage/ephemeral"

	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/kube/object/stored"
)

// The reasons of VolumeBinding.
const (
	ReasonVolumeAffinity = "node(s) didn't match PersistentVolume's node affinity"
	ReasonVolumeNoMatch  = "node(s) didn't find available persistent volumes to bind"
	ReasonVolumeNoSpace  = "node(s) did not have enough free storage"
	ReasonVolumeGone     = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
	ReasonClaimsUnbound  = "pod has unbound immediate PersistentVolumeClaims"
)

// The reasons that name an object.
const (
	textClaimNotFound = "persistentvolumeclaim %q not found"
	textClaimAwaited  = "waiting for ephemeral volume controller to create the persistentvolumeclaim %q"
	textClaimLost     = "persistentvolumeclaim %q bound to non-existent persistentvolume %q"
	textClaimGoing    = "persistentvolumeclaim %q is being deleted"
	textClaimNotOwned = "PVC %s/%s was not created for pod %s/%s (pod is not owner)"
	textModeNotSet    = "VolumeBindingMode not set for StorageClass %q"
)

// Annotations that volume controllers write on claims, and the provisioner of a class that
// provisions nothing (k8s.io/component-helpers/storage/volume; its functions are not used because
// they import client-go and judge one node at a time).
const (
	annBindCompleted = "pv.kubernetes.io/bind-completed"
	annSelectedNode  = "volume.kubernetes.io/selected-node"
	noProvisioner    = "kubernetes.io/no-provisioner"
)

// VolumeBinding checks whether the pod's claims are bound, or can be bound, to volumes that the
// node reaches (plugins/volumebinding). Evictions change nothing here: upstream's PreFilter has no
// AddPod and RemovePod.
type VolumeBinding struct{}

var (
	_ engine.PreFilterer[*bindings]   = VolumeBinding{}
	_ engine.Filterer[*bindings]      = VolumeBinding{}
	_ engine.Detailer[*bindings]      = VolumeBinding{}
	_ engine.Local                    = VolumeBinding{}
	_ engine.VolumePlanner[*bindings] = VolumeBinding{}
	_ engine.PreBinder[*bindings]     = VolumeBinding{}
)

// volumeBindingDescriptor is the rule's entry in the registry.
var volumeBindingDescriptor = Descriptor{
	Plugin: "VolumeBinding", Phases: []string{phasePreFilter, phaseFilter, phaseScore},
	Also: []string{phaseReserve, phasePreBind, phasePreScore}, Needs: filterNeeds,
	Judges: "Whether the pod's claims are bound, or can be bound, to volumes that the node reaches. For a bound claim the volume's node affinity counts. " +
		"A volume of an in-tree kind that moved to a CSI driver is read as that driver reads it, on nodes whose CSINode declares the migration. " +
		"A claim that waits for its pod (`WaitForFirstConsumer`) gets a volume that is reserved for it. " +
		"Otherwise it gets the smallest volume that fits in class, size, mode, access modes, attributes and labels and that no other claim of the pod takes. " +
		"If there is none, a new one is provisioned: the class needs a provisioner, must allow the node's topology and, with a CSI driver that publishes capacity, needs enough of it there. " +
		"A pod is rejected before any node is judged if a claim is missing, lost (`persistentvolumeclaim \"x\" bound to non-existent persistentvolume \"y\"`), being deleted, made for another pod (`PVC ns/x was not created for pod ns/p (pod is not owner)`), still to be created (`waiting for ephemeral volume controller to create the persistentvolumeclaim \"x\"`), or neither bound nor waiting. " +
		"A decision lists in `volumes` what waiting claims get on the chosen node. " +
		"Where StorageCapacityScoring is on, it also scores nodes: by how much of the volumes that the claims would get they request, or, without any, of the pools that publish their capacity, class by class; the emptier, the better, if `shape` does not say otherwise.",
	Code: codeUnresolvable, Reasons: []string{ReasonVolumeAffinity, ReasonVolumeNoMatch, ReasonVolumeNoSpace, ReasonVolumeGone, ReasonClaimsUnbound}, Upstream: "volumebinding/volume_binding.go, binder.go",
	Differs: "Of volumes that are equally small, or reserved for the same claim, the first by name is taken; upstream takes the first of a Go map. " +
		"A volume that cannot be translated for its CSI driver is an error, as upstream. " +
		"The exception are Azure disks that are not managed, which are judged as they are. " +
		"Of pools with enough capacity the first by namespace and name is scored; upstream takes the first of a Go map. " +
		"A decision fails where upstream's score ends kube-scheduler: at a claim whose class stands in the annotation alone, and at a pool with `maximumVolumeSize` and no `capacity`.",
	Args: codecOf(nil, readVolumeBindingArgs),
	Details: append([]*engine.DetailKind{
		ofClaim("volumeAffinity", "claim, volume, term: where the volume can be used", engine.CauseVolumeElsewhere,
			func(d *engine.Detail) string { return "its volume " + d.Volume + " can be used where " + d.Term }),
		ofClaim("allowedTopologies", "claim, name of the class, term", engine.CauseVolumeElsewhere,
			func(d *engine.Detail) string { return "its class " + d.Name + " makes volumes where " + d.Term }),
		ofClaim("selectedNode", "claim, value: the node that its volume is being made for", engine.CauseVolumeElsewhere,
			func(d *engine.Detail) string { return "its volume is being made for node " + d.Value }),
		ofClaim("volumeMissing", "claim, volume", engine.CauseVolumeUnavailable,
			func(d *engine.Detail) string { return "its volume " + d.Volume + " is not there" }),
		ofClaim("volumeMatch", "claim, name of the class: no volume is there for the claim, and the class makes none", engine.CauseVolumeUnavailable,
			func(d *engine.Detail) string {
				return "no volume of class " + d.Name + " suits it, and the class makes none"
			}),
		storageCapacityKind(),
	}, unreadyKinds...),
	in:    scoringNeeds,
	build: buildVolumeBinding,
}

func storageCapacityKind() *engine.DetailKind {
	k := ofClaim("storageCapacity", "claim, name of the class, requested in bytes", engine.CauseVolumeUnavailable,
		func(d *engine.Detail) string { return "no storage pool of class " + d.Name + " here has room for it" })
	short := k.Words
	k.Words = func(d *engine.Detail, amounts engine.AmountsFunc) string {
		if d.Requested == nil {
			return short(d, amounts)
		}
		return short(d, amounts) + ", " + amounts(string(corev1.ResourceEphemeralStorage), []int64{*d.Requested})[0]
	}
	return k
}

// Name is the plugin's name.
func (VolumeBinding) Name() string { return "VolumeBinding" }

// Locality returns Anywhere for a pod with claims: any storage object in the cluster may matter.
func (VolumeBinding) Locality(q *engine.Query) engine.Locality { return claimLocality(q) }

func claimLocality(q *engine.Query) engine.Locality {
	if claimed(q) {
		return engine.Anywhere
	}
	return engine.NodesOnly
}

// claimed reports whether the pod mounts persistent volumes.
func claimed(q *engine.Query) bool {
	for i := range q.Pod.Spec.Volumes {
		if v := &q.Pod.Spec.Volumes[i]; v.PersistentVolumeClaim != nil || v.Ephemeral != nil {
			return true
		}
	}
	return false
}

// claimName returns the claim of one of the pod's volumes; owned reports whether the pod must own
// it.
func claimName(pod *corev1.Pod, v *corev1.Volume) (name string, owned, ok bool) {
	switch {
	case v.PersistentVolumeClaim != nil:
		return v.PersistentVolumeClaim.ClaimName, false, true
	case v.Ephemeral != nil:
		return ephemeral.VolumeClaimName(pod, v), true, true
	}
	return "", false, false
}

// PreFilter divides the pod's claims into bound ones and those that wait for a node. A claim that
// is neither rejects the pod.
func (VolumeBinding) PreFilter(q *engine.Query) (*bindings, engine.PreFilterResult) {
	reject := func(format string, args ...any) engine.PreFilterResult {
		return engine.PreFilterResult{Code: engine.UnschedulableAndUnresolvable, Reason: fmt.Sprintf(format, args...)}
	}
	var claims []*corev1.PersistentVolumeClaim
	for i := range q.Pod.Spec.Volumes {
		name, owned, ok := claimName(q.Pod, &q.Pod.Spec.Volumes[i])
		if !ok {
			continue
		}
		c := q.State.PersistentVolumeClaim(q.Pod.Namespace, name)
		switch {
		case c == nil && owned:
			return nil, reject(textClaimAwaited, name)
		case c == nil:
			return nil, reject(textClaimNotFound, name)
		case c.Status.Phase == corev1.ClaimLost:
			return nil, reject(textClaimLost, c.Name, c.Spec.VolumeName)
		case c.DeletionTimestamp != nil:
			return nil, reject(textClaimGoing, c.Name)
		case owned && ephemeral.VolumeIsForPod(q.Pod, c) != nil:
			return nil, reject(textClaimNotOwned, c.Namespace, c.Name, q.Pod.Namespace, q.Pod.Name)
		}
		claims = append(claims, c)
	}
	if len(claims) == 0 {
		return nil, engine.PreFilterResult{Skip: true}
	}
	b := &bindings{}
	unbound := false
	for _, c := range claims {
		if _, done := c.Annotations[annBindCompleted]; done && c.Spec.VolumeName != "" {
			b.bound = append(b.bound, c)
			continue
		}
		late, err := waits(q, c)
		if err != nil {
			return nil, engine.PreFilterResult{Code: engine.Error, Reason: err.Error()}
		}
		if late && c.Spec.VolumeName == "" {
			b.late = append(b.late, c)
		} else {
			unbound = true
		}
	}
	if unbound {
		return nil, reject(ReasonClaimsUnbound)
	}
	return b, engine.PreFilterResult{}
}

// waits reports whether a claim is bound only once its pod has a node
// (k8s.io/component-helpers/storage/volume IsDelayBindingMode).
func waits(q *engine.Query, c *corev1.PersistentVolumeClaim) (bool, error) {
	name := stored.ClaimClass(c)
	if name == "" {
		return false, nil
	}
	class := q.State.StorageClass(name)
	if class == nil {
		return false, nil
	}
	if class.VolumeBindingMode == nil {
		return false, fmt.Errorf(textModeNotSet, name)
	}
	return *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer, nil
}

// filterReasons are the reasons of a node, in the order of a verdict.
var filterReasons = []string{ReasonVolumeAffinity, ReasonVolumeNoMatch, ReasonVolumeNoSpace, ReasonVolumeGone}

// Filter rejects as unresolvable the nodes on which some claim cannot be used.
func (VolumeBinding) Filter(q *engine.Query, b *bindings, in state.Bits, rej *engine.Rejected) error {
	if b == nil {
		return nil
	}
	b.work(q)
	b.filtered = true
	if b.err != nil && meet(b.broken, in) {
		return b.err
	}
	for _, reason := range filterReasons {
		var out state.Bits
		for i := range b.against {
			o := &b.against[i]
			if o.reason != reason || !meet(o.rows, in) {
				continue
			}
			if out == nil {
				out = q.Bits()
			}
			out.Or(o.rows)
		}
		if out != nil {
			out.And(in)
			rej.Add(reason, engine.UnschedulableAndUnresolvable, out)
		}
	}
	return nil
}

// meet reports whether two sets have a row in common.
func meet(a, b state.Bits) bool {
	for i := range a {
		if a[i]&b[i] != 0 {
			return true
		}
	}
	return false
}

// Details names the claims and volumes that exclude a node.
func (VolumeBinding) Details(q *engine.Query, b *bindings, row int) []engine.Detail {
	if b == nil {
		return nil
	}
	b.work(q)
	var out []engine.Detail
	for _, reason := range filterReasons {
		for i := range b.against {
			if o := &b.against[i]; o.reason == reason && o.rows.Has(row) {
				out = append(out, o.detail)
			}
		}
	}
	return out
}

// Volumes lists the volumes that the pod's waiting claims would get on a node.
func (VolumeBinding) Volumes(q *engine.Query, b *bindings, row int) []engine.VolumeBinding {
	if b == nil || len(b.late) == 0 {
		return nil
	}
	b.work(q)
	return b.on(row)
}
