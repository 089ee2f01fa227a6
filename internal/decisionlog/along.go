package decisionlog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/cluster"
	"berth/internal/engine"
	"berth/internal/objects"
	"berth/internal/store"
)

// BoundAlong is what a bind wrote beside its pod, in the same revision: what
// kube-scheduler writes before it binds.
type BoundAlong struct {
	// ResourceClaims were reserved for the pod, and those that had none got devices.
	ResourceClaims []BoundClaim `json:"resourceClaims,omitempty"`
	// VolumeClaims waited for the pod's node.
	VolumeClaims []BoundVolumeClaim `json:"volumeClaims,omitempty"`
	// Left are the plugins whose claims stay as they were, as a node that somebody
	// else chose has nothing for them.
	Left []engine.LeftAlone `json:"left,omitempty"`
} // @name BoundAlong

// BoundClaim is a resource claim that a bind wrote.
type BoundClaim struct {
	Name string `json:"name"`
	// Created says that the bind made the claim, for extended resources.
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

// along is what goes with a bind.
type along struct {
	objects  []objects.Object
	extended *corev1.PodExtendedResourceClaimStatus
	told     *BoundAlong
	digest   string // over all of it; empty where the pod is all there is
}

// takeAlong makes the objects of a revision of what the engine says.
func takeAlong(v *cluster.View, a *engine.Along) (*along, error) {
	out := &along{}
	if a.Empty() {
		return out, nil
	}
	out.extended, out.told = a.Extended, &BoundAlong{Left: a.Left}
	put := func(kind string, o interface {
		GetNamespace() string
		GetName() string
	},
	) error {
		js, err := objects.Encode(o)
		if err != nil {
			return fmt.Errorf("bind along: %w", err)
		}
		// Read back, so that the state is the one that a restart finds.
		made, err := objects.FromCanonical(kind, js)
		if err != nil {
			return fmt.Errorf("bind along: %w", err)
		}
		out.objects = append(out.objects, made)
		return nil
	}
	for _, c := range a.Claims {
		k := objects.Key{Kind: "ResourceClaim", Namespace: c.Namespace, Name: c.Name}
		had := v.State.ResourceClaim(c.Namespace, c.Name)
		told := BoundClaim{Name: c.Name, Created: had == nil}
		if had == nil {
			c.UID = objects.DerivedUID(k)
		}
		if at := c.Status.Allocation; at != nil && (had == nil || had.Status.Allocation == nil) {
			for _, d := range at.Devices.Results {
				b := BoundDevice{Request: d.Request, Driver: d.Driver, Pool: d.Pool, Device: d.Device, AdminAccess: d.AdminAccess != nil && *d.AdminAccess}
				if d.ShareID != nil {
					b.ShareID = string(*d.ShareID)
				}
				told.Devices = append(told.Devices, b)
			}
		}
		out.told.ResourceClaims = append(out.told.ResourceClaims, told)
		if err := put(k.Kind, c); err != nil {
			return nil, err
		}
	}
	for _, pv := range a.Volumes {
		if err := put("PersistentVolume", pv); err != nil {
			return nil, err
		}
	}
	for _, c := range a.VolumeClaims {
		told := BoundVolumeClaim{Claim: c.Name, Volume: c.Spec.VolumeName}
		if told.Volume == "" {
			told.SelectedNode = c.Annotations["volume.kubernetes.io/selected-node"]
		}
		out.told.VolumeClaims = append(out.told.VolumeClaims, told)
		if err := put("PersistentVolumeClaim", c); err != nil {
			return nil, err
		}
	}
	out.objects = differing(v, out.objects)
	out.digest = out.sum()
	return out, nil
}

// differing leaves out what the revision has so already.
func differing(v *cluster.View, list []objects.Object) []objects.Object {
	kept := list[:0]
	for _, o := range list {
		if held, ok := v.Object(o.Key); !ok || !bytes.Equal(held, o.JSON) {
			kept = append(kept, o)
		}
	}
	return kept
}

// sum is over everything that a bind writes along, and what it left alone.
func (a *along) sum() string {
	h := sha256.New()
	for _, o := range a.objects {
		_, _ = fmt.Fprintf(h, "%q %q %q %d\n%s\n", o.Key.Kind, o.Key.Namespace, o.Key.Name, len(o.JSON), o.JSON)
	}
	if e := a.extended; e != nil {
		_, _ = fmt.Fprintf(h, "extended %q", e.ResourceClaimName)
		for _, m := range e.RequestMappings {
			_, _ = fmt.Fprintf(h, " %q %q %q", m.ContainerName, m.ResourceName, m.RequestName)
		}
	}
	for _, l := range a.told.Left {
		_, _ = fmt.Fprintf(h, "left %q %q\n", l.Plugin, l.Reason)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// onto gives the pod as it is bound: its status names the claim that was made for
// it. The argument is not written.
func (a *along) onto(pod *corev1.Pod) *corev1.Pod {
	if a.extended == nil {
		return pod
	}
	p := *pod
	p.Status.ExtendedResourceClaimStatus = a.extended
	return &p
}

// alongOf works out what a decision's bind takes along.
func (c *matter) alongOf(r *engine.Result) (*along, error) {
	a, err := r.Along()
	if err != nil {
		return nil, err
	}
	return takeAlong(c.view, a)
}

// settleFor works out what goes with a pod that somebody put on a node, under a
// profile that has the rules about claims.
func settleFor(v *cluster.View, d *store.Decision, pod *corev1.Pod, p *engine.Profile, node string) (*along, error) {
	a, err := engine.Settle(v.State, pod, p, node, d.Now)
	if err != nil {
		return nil, err
	}
	return takeAlong(v, a)
}

// alongAgain works out once more what a recorded bind took along; nil where the
// record is of none, or of a time when binds took nothing along.
func (l *Log) alongAgain(ctx context.Context, rec *recalled) (*along, error) {
	if rec.in.Along == "" {
		return nil, nil
	}
	if rec.in.Bind != "" {
		p, err := l.profile(ctx, rec.d.ProfileDigest)
		if err != nil {
			return nil, err
		}
		pod, err := rec.view.Pod(rec.d.Namespace, rec.d.Pod)
		if err != nil {
			return nil, err
		}
		return settleFor(rec.view, rec.d, pod, p, rec.in.Bind)
	}
	c, err := l.ask(rec)
	if err != nil {
		return nil, err
	}
	r, err := c.decide(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	return c.alongOf(r)
}
