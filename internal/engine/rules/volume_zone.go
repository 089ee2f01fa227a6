package rules

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/kube/object/stored"
)

// The reasons of VolumeZone.
const (
	ReasonVolumeZone     = "node(s) had no available volume zone"
	ReasonClaimNameless  = "PersistentVolumeClaim had no name"
	ReasonClaimClassless = "PersistentVolumeClaim had no pv name and storageClass name"
	ReasonVolumeNameless = "PersistentVolume had no name"
)

// The reasons that name an object.
const (
	textClassNotFound  = "storageclass.storage.k8s.io %q not found"
	textVolumeNotFound = "persistentvolume %q not found"
)

// zoneLabels are the labels of volumes that VolumeZone reads, in upstream's order, each with its
// other name on nodes.
var zoneLabels = []struct{ key, stable string }{
	{corev1.LabelFailureDomainBetaZone, corev1.LabelTopologyZone},
	{corev1.LabelFailureDomainBetaRegion, corev1.LabelTopologyRegion},
	{corev1.LabelTopologyZone, corev1.LabelTopologyZone},
	{corev1.LabelTopologyRegion, corev1.LabelTopologyRegion},
}

// VolumeZone compares the zone and region labels of bound volumes with the nodes'
// (plugins/volumezone/volume_zone.go). Evictions change nothing here.
type VolumeZone struct{}

var (
	_ engine.PreFilterer[*zonesOfVolumes] = VolumeZone{}
	_ engine.Filterer[*zonesOfVolumes]    = VolumeZone{}
	_ engine.Detailer[*zonesOfVolumes]    = VolumeZone{}
	_ engine.Local                        = VolumeZone{}
)

// volumeZoneDescriptor is the rule's entry in the registry.
var volumeZoneDescriptor = Descriptor{
	Plugin: "VolumeZone", Phases: []string{phasePreFilter, phaseFilter},
	Judges: "Zone and region labels of the volumes to which the pod's claims are bound, `topology.kubernetes.io/…` and `failure-domain.beta.kubernetes.io/…`, compared with the node's. " +
		"A label may list several zones (`a__b`); one that does not parse is ignored. A node without any of these labels takes every volume. " +
		"A pod is rejected before any node is judged if a claim, its volume or its class is missing, or if a claim without a volume does not wait for the pod.",
	Code: codeUnresolvable, Reasons: []string{ReasonVolumeZone, ReasonClaimNameless, ReasonClaimClassless, ReasonVolumeNameless}, Upstream: "volumezone/volume_zone.go",
	Details: append([]*engine.DetailKind{volumeZoneKind()}, unreadyKinds...),
	build:   always[*zonesOfVolumes](VolumeZone{}),
}

// Name is the plugin's name.
func (VolumeZone) Name() string { return "VolumeZone" }

// Locality returns Anywhere for a pod with claims: any storage object in the cluster may matter.
func (VolumeZone) Locality(q *engine.Query) engine.Locality { return claimLocality(q) }

// volumeZoneKind is the kind of its details. The node's zone is not part of the cause, so that
// nodes of several zones have one.
func volumeZoneKind() *engine.DetailKind {
	k := ofClaim("volumeZone", "claim, volume, key, value of the node, term: the volume's values", engine.CauseVolumeElsewhere,
		func(d *engine.Detail) string { return fmt.Sprintf("its volume %s has %s=%s", d.Volume, d.Key, d.Term) })
	short := k.Words
	k.Words = func(d *engine.Detail, amounts engine.AmountsFunc) string {
		have := domainName(d.Value)
		return short(d, amounts) + ", the node " + have
	}
	return k
}

// volumeZone is one such label of one volume.
type volumeZone struct {
	claim, volume, key, stable string
	values                     []string
}

// zonesOfVolumes is the PreFilter state, and the nodes that all labels admit once these are worked
// out.
type zonesOfVolumes struct {
	zones []volumeZone
	fit   state.Bits
}

// PreFilter reads the labels of the bound volumes. It reads only claims that the pod names, not
// those generated for it.
func (VolumeZone) PreFilter(q *engine.Query) (*zonesOfVolumes, engine.PreFilterResult) {
	reject := func(format string, args ...any) engine.PreFilterResult {
		return engine.PreFilterResult{Code: engine.UnschedulableAndUnresolvable, Reason: fmt.Sprintf(format, args...)}
	}
	var zones []volumeZone
	for i := range q.Pod.Spec.Volumes {
		source := q.Pod.Spec.Volumes[i].PersistentVolumeClaim
		if source == nil {
			continue
		}
		if source.ClaimName == "" {
			return nil, reject(ReasonClaimNameless)
		}
		c := q.State.PersistentVolumeClaim(q.Pod.Namespace, source.ClaimName)
		if c == nil {
			return nil, reject(textClaimNotFound, source.ClaimName)
		}
		if c.Spec.VolumeName == "" {
			if r := zoneless(q, c); r.Code != engine.Success {
				return nil, r
			}
			continue
		}
		pv := q.State.PersistentVolume(c.Spec.VolumeName)
		if pv == nil {
			return nil, reject(textVolumeNotFound, c.Spec.VolumeName)
		}
		for _, l := range zoneLabels {
			if value, ok := pv.Labels[l.key]; ok {
				if values := labelZones(value); values != nil {
					zones = append(zones, volumeZone{c.Name, pv.Name, l.key, l.stable, values})
				}
			}
		}
	}
	if len(zones) == 0 {
		return nil, engine.PreFilterResult{Skip: true}
	}
	return &zonesOfVolumes{zones: zones}, engine.PreFilterResult{}
}

// zoneless lets a claim without a volume pass if it waits for its pod's node.
func zoneless(q *engine.Query, c *corev1.PersistentVolumeClaim) engine.PreFilterResult {
	reason := ReasonVolumeNameless
	name := stored.ClaimClass(c)
	class := q.State.StorageClass(name)
	switch {
	case name == "":
		reason = ReasonClaimClassless
	case class == nil:
		reason = fmt.Sprintf(textClassNotFound, name)
	case class.VolumeBindingMode == nil:
		reason = fmt.Sprintf(textModeNotSet, name)
	case *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer:
		return engine.PreFilterResult{}
	}
	return engine.PreFilterResult{Code: engine.UnschedulableAndUnresolvable, Reason: reason}
}

// labelZones reads a zone label, which may list several zones. A value that does not parse yields
// none (k8s.io/cloud-provider/volume/helpers LabelZonesToSet).
func labelZones(value string) []string {
	zones := strings.Split(value, "__")
	for i := range zones {
		if zones[i] = strings.TrimSpace(zones[i]); zones[i] == "" {
			return nil
		}
	}
	return zones
}

// Filter rejects as unresolvable the nodes in other zones. A node that has none of the labels is in
// every zone.
func (VolumeZone) Filter(q *engine.Query, s *zonesOfVolumes, in state.Bits, rej *engine.Rejected) error {
	if s == nil {
		return nil
	}
	if s.fit == nil {
		s.look(q)
	}
	out := q.Bits()
	copy(out, in)
	out.AndNot(s.fit)
	rej.Add(ReasonVolumeZone, engine.UnschedulableAndUnresolvable, out)
	return nil
}

// look works out the nodes that all labels admit.
func (s *zonesOfVolumes) look(q *engine.Query) {
	bare := q.Bits()
	copy(bare, q.Nodes.Alive())
	for _, l := range zoneLabels {
		for _, rows := range q.Nodes.Column(l.key).Rows {
			for _, r := range rows {
				bare.Clear(int(r))
			}
		}
	}
	s.fit = q.Bits()
	copy(s.fit, q.Nodes.Alive())
	for i := range s.zones {
		z := &s.zones[i]
		in := q.Bits()
		own := q.Nodes.Column(z.key)
		stable := q.Nodes.Column(z.stable)
		for _, v := range z.values {
			if k := own.Lookup(v); k >= 0 {
				for _, r := range own.Rows[k] {
					in.Set(int(r))
				}
			}
			if k := stable.Lookup(v); k >= 0 && stable != own {
				for _, r := range stable.Rows[k] {
					if own.Value[r] < 0 {
						in.Set(int(r))
					}
				}
			}
		}
		s.fit.And(in)
	}
	s.fit.Or(bare)
}

// Details names the volumes that are elsewhere; value is the node's zone.
func (VolumeZone) Details(q *engine.Query, s *zonesOfVolumes, row int) []engine.Detail {
	if s == nil {
		return nil
	}
	have := q.Nodes.Node(row).Labels
	var out []engine.Detail
	for i := range s.zones {
		z := &s.zones[i]
		at, ok := have[z.key]
		if !ok {
			at, ok = have[z.stable]
		}
		if !ok || !slices.Contains(z.values, at) {
			out = append(out, engine.Detail{Kind: "volumeZone", Claim: z.claim, Volume: z.volume, Key: z.key, Value: at, Term: strings.Join(z.values, ",")})
		}
	}
	return out
}
