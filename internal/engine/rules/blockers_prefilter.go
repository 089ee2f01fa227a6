package rules

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/ephemeral"

	"berth/internal/engine"
	"berth/internal/kube/object/stored"
)

var (
	_ engine.PreFilterDetailer = VolumeRestrictions{}
	_ engine.PreFilterDetailer = VolumeBinding{}
	_ engine.PreFilterDetailer = VolumeZone{}
	_ engine.PreFilterDetailer = (*DynamicResources)(nil)
)

const kindDeviceClass = "DeviceClass"

// unreadyKinds are the kinds of details of PreFilter about claims.
var unreadyKinds = []*engine.DetailKind{
	ofClaim("claimMissing", "claim, term: why it is not there", engine.CauseClaimMissing, term),
	ofClaim("claimUnbound", "claim, name of the class, volume, term: what it waits for", engine.CauseClaimUnbound, term),
	ofClaim("claimUnusable", "claim, volume, term: what is wrong with it", engine.CauseVolumeUnavailable, term),
}

func term(d *engine.Detail) string { return d.Term }

// PreFilterDetails names the claims that are not there.
func (VolumeRestrictions) PreFilterDetails(q *engine.Query) []engine.Detail {
	return slices.DeleteFunc(unreadyClaims(q), func(d engine.Detail) bool { return d.Kind != "claimMissing" })
}

// PreFilterDetails names the claims that are missing, not bound or unusable.
func (VolumeBinding) PreFilterDetails(q *engine.Query) []engine.Detail { return unreadyClaims(q) }

// PreFilterDetails names the claims without a volume.
func (VolumeZone) PreFilterDetails(q *engine.Query) []engine.Detail { return unreadyClaims(q) }

// unreadyClaims describes each of the pod's claims with which no node can take it, and names the
// volume and the class that it leads to.
func unreadyClaims(q *engine.Query) (out []engine.Detail) {
	for i := range q.Pod.Spec.Volumes {
		name, owned, ok := claimName(q.Pod, &q.Pod.Spec.Volumes[i])
		if !ok || name == "" || slices.ContainsFunc(out, func(d engine.Detail) bool { return d.Claim == name }) {
			continue
		}
		if d := unready(q, name, owned); d.Kind != "" {
			out = append(out, d)
		}
	}
	return out
}

// unready describes what is wrong with a claim. The detail has no kind where nothing is.
func unready(q *engine.Query, name string, owned bool) engine.Detail {
	d := engine.Detail{Claim: name}
	claim := engine.Blocker{Kind: kindClaim, Namespace: q.Pod.Namespace, Name: name}
	c := q.State.PersistentVolumeClaim(q.Pod.Namespace, name)
	if c == nil {
		if d.Kind, d.Term, claim.State = "claimMissing", notHere, engine.BlockerMissing; owned {
			d.Term = "the controller of ephemeral volumes has not made it yet"
		} else if set := ClaimedBy(q.Pod, name); set != "" {
			d.Term = notHere + ", and StatefulSet " + set + " makes it again"
		}
		claim.Why = d.Term
		storageBlockers(&d, claim)
		return d
	}
	volume := engine.Blocker{Kind: kindVolume, Name: c.Spec.VolumeName}
	if d.Volume = c.Spec.VolumeName; d.Volume != "" && q.State.PersistentVolume(d.Volume) == nil {
		volume.State, volume.Why = engine.BlockerMissing, notHere
	}
	class := engine.Blocker{Kind: kindStorageClass, Name: stored.ClaimClass(c)}
	if class.Name != "" && q.State.StorageClass(class.Name) == nil {
		class.State, class.Why = engine.BlockerMissing, notHere
	}
	_, bound := c.Annotations[annBindCompleted]
	bound = bound && d.Volume != ""
	late, err := waits(q, c)
	switch {
	case c.Status.Phase == corev1.ClaimLost:
		d.Kind, d.Term = "claimUnusable", fmt.Sprintf("it is lost: its volume %q is not there", d.Volume)
	case c.DeletionTimestamp != nil:
		d.Kind, d.Term = "claimUnusable", "it is being deleted"
	case owned && ephemeral.VolumeIsForPod(q.Pod, c) != nil:
		d.Kind, d.Term = "claimUnusable", "it was not made for this pod"
	case bound && volume.State == engine.BlockerMissing:
		d.Kind, d.Term = "claimUnusable", "its volume "+d.Volume+" is not in this cluster"
	case bound || err == nil && late && d.Volume == "":
		return d
	default:
		d.Kind, d.Name, d.Term = "claimUnbound", class.Name, unboundWords(d.Volume, &class)
		storageBlockers(&d, claim, volume, class)
		return d
	}
	claim.Why = d.Term
	storageBlockers(&d, claim, volume)
	return d
}

// ClaimedBy returns the StatefulSet that makes a claim of the pod, also one that was deleted
// (pkg/controller/statefulset stateful_set_control.go createMissingPersistentVolumeClaims); empty
// where it is of no template by its name (stateful_set_utils.go getPersistentVolumeClaimName).
func ClaimedBy(pod *corev1.Pod, claim string) string {
	own := metav1.GetControllerOfNoCopy(pod)
	if own == nil || own.Kind != "StatefulSet" || !strings.HasSuffix(claim, "-"+pod.Name) {
		return ""
	}
	return own.Name
}

// notHere is why an object is in the way that the state does not have.
const notHere = "it is not in this cluster"

// unboundWords returns what a claim that is not bound waits for.
func unboundWords(volume string, class *engine.Blocker) string {
	switch {
	case volume != "":
		return "it is not bound to its volume " + volume + " yet"
	case class.Name == "":
		return "it is not bound, and it names no storage class"
	case class.State == engine.BlockerMissing:
		return "it is not bound, and its class " + class.Name + " is not in this cluster"
	}
	return "it is not bound, and its class " + class.Name + " binds at once"
}

// PreFilterDetails names the claims that are not there, and the device classes that claims ask for
// and that are not there.
func (d *DynamicResources) PreFilterDetails(q *engine.Query) (out []engine.Detail) {
	for i := range q.Pod.Spec.ResourceClaims {
		ref := &q.Pod.Spec.ResourceClaims[i]
		name := ref.ResourceClaimName
		for k := range q.Pod.Status.ResourceClaimStatuses {
			if s := &q.Pod.Status.ResourceClaimStatuses[k]; name == nil && s.Name == ref.Name {
				name = s.ResourceClaimName
			}
		}
		if name == nil {
			continue
		}
		claim := engine.Blocker{Kind: kindDeviceClaim, Namespace: q.Pod.Namespace, Name: *name}
		c := q.State.ResourceClaim(q.Pod.Namespace, *name)
		switch {
		case c == nil:
			claim.State, claim.Why = engine.BlockerMissing, notHere
		case c.DeletionTimestamp != nil:
			claim.Why = "it is being deleted"
		case c.Status.Allocation == nil:
			out = append(out, missingClasses(q, c)...)
			continue
		default:
			continue
		}
		out = append(out, engine.Detail{Kind: "resourceClaim", Claim: *name, Term: claim.Why, Blockers: []engine.Blocker{claim}})
	}
	return out
}

// missingClasses describes the requests of a claim whose device class is not there.
func missingClasses(q *engine.Query, c *resourcev1.ResourceClaim) (out []engine.Detail) {
	add := func(class, request string) {
		if class == "" || q.State.DeviceClass(class) != nil {
			return
		}
		out = append(out, engine.Detail{
			Kind: "resourceClaim", Claim: c.Name, Request: request, Term: "its device class " + class + " is not in this cluster",
			Blockers: []engine.Blocker{
				{Kind: kindDeviceClaim, Namespace: c.Namespace, Name: c.Name},
				{Kind: kindDeviceClass, Name: class, State: engine.BlockerMissing, Why: notHere},
			},
		})
	}
	for i := range c.Spec.Devices.Requests {
		r := &c.Spec.Devices.Requests[i]
		if r.Exactly != nil {
			add(r.Exactly.DeviceClassName, r.Name)
		}
		for k := range r.FirstAvailable {
			add(r.FirstAvailable[k].DeviceClassName, r.Name+"/"+r.FirstAvailable[k].Name)
		}
	}
	return out
}
