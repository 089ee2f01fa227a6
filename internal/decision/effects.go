package decision

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"berth/internal/engine"
	"berth/internal/kube/object"
	"berth/internal/revision"
)

// BoundEffects are what a bind wrote beside its pod, in the same revision: what
// kube-scheduler's Reserve and PreBind plugins write before it binds.
type BoundEffects struct {
	// ResourceClaims were reserved for the pod, and those that had none got devices.
	ResourceClaims []BoundClaim `json:"resourceClaims,omitempty"`
	// VolumeClaims waited for the pod's node.
	VolumeClaims []BoundVolumeClaim `json:"volumeClaims,omitempty"`
	// Left are the plugins whose claims stay as they were, since the node, which no decision of
	// this server chose, has nothing for them.
	Left []engine.LeftAlone `json:"left,omitempty"`
} // @name BoundAlong

// BoundClaim is a resource claim that a bind wrote.
type BoundClaim struct {
	Name string `json:"name"`
	// Created is set where the bind made the claim, for extended resources.
	Created bool `json:"created,omitempty"`
	// Devices are those that it got; none where it had been allocated before.
	Devices []BoundDevice `json:"devices,omitempty"`
} // @name BoundClaim

// BoundDevice is a device that a claim got, and the request that it is for.
type BoundDevice struct {
	Request     string `json:"request"`
	Driver      string `json:"driver"`
	Pool        string `json:"pool"`
	Device      string `json:"device"`
	AdminAccess bool   `json:"adminAccess,omitempty"`
	// ShareID is of a device that is given out in shares.
	ShareID string `json:"shareID,omitempty"`
} // @name BoundDevice

// BoundVolumeClaim is a claim that a bind bound to a volume, or marked with the
// node that a volume is to be made for.
type BoundVolumeClaim struct {
	Claim        string `json:"claim"`
	Volume       string `json:"volume,omitempty"`
	SelectedNode string `json:"selectedNode,omitempty"`
} // @name BoundVolumeClaim

// Effects are what a bind writes beside the pod's node.
type Effects struct {
	Objects []object.Object
	Summary *BoundEffects // nil where there are none
	Digest  string        // over all of them; empty where there are none

	extended *corev1.PodExtendedResourceClaimStatus
}

// BindEffects returns the effects of putting a pod on a node that no decision of this server chose,
// under a profile that has the rules about claims.
func BindEffects(v *revision.View, pod *corev1.Pod, p *engine.Profile, node string, now time.Time) (*Effects, error) {
	a, err := engine.EffectsOn(v.State, pod, p, node, now)
	if err != nil {
		return nil, err
	}
	return MakeEffects(v.State.ResourceClaim, v.Object, a)
}

// Held looks up an object in canonical JSON.
type Held func(object.Key) ([]byte, bool)

// MakeEffects makes the objects of a revision of the engine's. claim looks up a claim as it was
// before; held leaves out the objects that are there already.
func MakeEffects(claim func(namespace, name string) *resourcev1.ResourceClaim, held Held, a *engine.Effects) (*Effects, error) {
	e := &Effects{}
	if a.Empty() {
		return e, nil
	}
	e.extended, e.Summary = a.Extended, &BoundEffects{Left: a.Left}
	for _, c := range a.Claims {
		k := object.Key{Kind: "ResourceClaim", Namespace: c.Namespace, Name: c.Name}
		had := claim(c.Namespace, c.Name)
		if had == nil {
			c.UID = object.DerivedUID(k)
		}
		e.Summary.ResourceClaims = append(e.Summary.ResourceClaims, boundClaim(c, had))
		if err := e.add(held, k.Kind, c); err != nil {
			return nil, err
		}
	}
	for _, pv := range a.Volumes {
		if err := e.add(held, "PersistentVolume", pv); err != nil {
			return nil, err
		}
	}
	for _, c := range a.VolumeClaims {
		bound := BoundVolumeClaim{Claim: c.Name, Volume: c.Spec.VolumeName}
		if bound.Volume == "" {
			bound.SelectedNode = c.Annotations["volume.kubernetes.io/selected-node"]
		}
		e.Summary.VolumeClaims = append(e.Summary.VolumeClaims, bound)
		if err := e.add(held, "PersistentVolumeClaim", c); err != nil {
			return nil, err
		}
	}
	e.Digest = e.sum()
	return e, nil
}

// Written returns the objects of the effects as a ledger writes them: those that the view does not
// have are created at a time. The digest, which a replay compares, is over what was decided.
func (e *Effects) Written(held Held, now time.Time) ([]object.Object, error) {
	out := slices.Clone(e.Objects)
	for i, o := range out {
		if _, there := held(o.Key); there {
			continue
		}
		var err error
		if out[i], err = object.Created(o, now); err != nil {
			return nil, fmt.Errorf("effects of a bind: %w", err)
		}
	}
	return out, nil
}

// boundClaim returns what a bind changed of a claim; had is the claim before, nil for a new one.
func boundClaim(c, had *resourcev1.ResourceClaim) BoundClaim {
	out := BoundClaim{Name: c.Name, Created: had == nil}
	at := c.Status.Allocation
	if at == nil || had != nil && had.Status.Allocation != nil {
		return out
	}
	for _, d := range at.Devices.Results {
		b := BoundDevice{Request: d.Request, Driver: d.Driver, Pool: d.Pool, Device: d.Device, AdminAccess: d.AdminAccess != nil && *d.AdminAccess}
		if d.ShareID != nil {
			b.ShareID = string(*d.ShareID)
		}
		out.Devices = append(out.Devices, b)
	}
	return out
}

// add adds an object unless the revision has it so already.
func (e *Effects) add(at Held, kind string, o interface {
	GetNamespace() string
	GetName() string
},
) error {
	js, err := object.Encode(o)
	if err != nil {
		return fmt.Errorf("effects of a bind: %w", err)
	}
	// Read back, so that the state is the one that a restart finds.
	made, err := object.FromCanonical(kind, js)
	if err != nil {
		return fmt.Errorf("effects of a bind: %w", err)
	}
	if held, ok := at(made.Key); !ok || !bytes.Equal(held, made.JSON) {
		e.Objects = append(e.Objects, made)
	}
	return nil
}

// sum is over everything that a bind writes beside the pod, and what it left alone.
func (e *Effects) sum() string {
	h := sha256.New()
	for _, o := range e.Objects {
		_, _ = fmt.Fprintf(h, "%q %q %q %d\n%s\n", o.Key.Kind, o.Key.Namespace, o.Key.Name, len(o.JSON), o.JSON)
	}
	if x := e.extended; x != nil {
		_, _ = fmt.Fprintf(h, "extended %q", x.ResourceClaimName)
		for _, m := range x.RequestMappings {
			_, _ = fmt.Fprintf(h, " %q %q %q", m.ContainerName, m.ResourceName, m.RequestName)
		}
	}
	for _, l := range e.Summary.Left {
		_, _ = fmt.Fprintf(h, "left %q %q\n", l.Plugin, l.Reason)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// Pod returns the pod as it is bound: its status names the claim that was made for it. The argument
// is not written.
func (e *Effects) Pod(pod *corev1.Pod) *corev1.Pod {
	if e.extended == nil {
		return pod
	}
	p := *pod
	p.Status.ExtendedResourceClaimStatus = e.extended
	return &p
}
