package naive

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/rules"
)

// missingClaim is the first claim of the pod that is not there; "" without one.
func (y *cycle) missingClaim() string {
	for _, v := range y.pod.Spec.Volumes {
		if v.PersistentVolumeClaim != nil && y.claim(y.pod.Namespace, v.PersistentVolumeClaim.ClaimName) == nil {
			return v.PersistentVolumeClaim.ClaimName
		}
	}
	return ""
}

// turnedDown is what PreFilter plugins reject the pod with, whatever the node.
func (y *cycle) turnedDown() status {
	for _, name := range []string{"NodeAffinity", "VolumeRestrictions", "VolumeBinding", "VolumeZone"} {
		if !contains(y.spec.PreFilter, name) {
			continue
		}
		if st := y.turnedDownBy(name); len(st.reasons) > 0 {
			return st
		}
	}
	return status{}
}

// turnedDownBy is what one plugin's PreFilter says of the pod.
func (y *cycle) turnedDownBy(name string) status {
	switch name {
	case "NodeAffinity":
		if conflicting(y.pod) {
			return hard(name, rules.ReasonAffinityConflict)
		}
	case "VolumeRestrictions":
		if claim := y.missingClaim(); claim != "" {
			return hard(name, fmt.Sprintf("persistentvolumeclaim %q not found", claim))
		}
	case "VolumeBinding":
		return y.unboundPod()
	case "VolumeZone":
		return y.zoneless()
	case "DynamicResources":
		if why := y.classless(); why != "" {
			return hard(name, why)
		}
	}
	return status{}
}

func sameDisk(a, b *corev1.Volume) bool {
	if x, z := a.GCEPersistentDisk, b.GCEPersistentDisk; x != nil && z != nil && x.PDName == z.PDName {
		if !x.ReadOnly || !z.ReadOnly {
			return true
		}
	}
	if x, z := a.AWSElasticBlockStore, b.AWSElasticBlockStore; x != nil && z != nil && x.VolumeID == z.VolumeID {
		return true
	}
	if x, z := a.ISCSI, b.ISCSI; x != nil && z != nil && x.IQN == z.IQN {
		if !x.ReadOnly || !z.ReadOnly {
			return true
		}
	}
	if x, z := a.RBD, b.RBD; x != nil && z != nil && x.RBDImage == z.RBDImage && x.RBDPool == z.RBDPool {
		shared := false
		for _, m := range x.CephMonitors {
			shared = shared || contains(z.CephMonitors, m)
		}
		if shared && (!x.ReadOnly || !z.ReadOnly) {
			return true
		}
	}
	return false
}

// onNode is the node's pods after what a dry run did, with the extra ones.
func (y *cycle) onNode(n *node, extra []*corev1.Pod) []*corev1.Pod {
	there := map[*corev1.Pod]bool{}
	for _, m := range y.trail {
		there[m.pod] = m.n > 0
	}
	var out []*corev1.Pod
	for _, p := range both(n.pods, extra) {
		if stays, moved := there[p]; !moved || stays {
			out = append(out, p)
		}
	}
	return out
}

// volumeRestrictions keeps one number as upstream does: the claims in use anywhere,
// then up and down with each volume of a pod that a trial adds or removes.
func (y *cycle) volumeRestrictions() filter {
	disks := false
	claims := map[string]bool{}
	for _, v := range y.pod.Spec.Volumes {
		disks = disks || v.GCEPersistentDisk != nil || v.AWSElasticBlockStore != nil || v.ISCSI != nil || v.RBD != nil
		if v.PersistentVolumeClaim == nil {
			continue
		}
		for _, m := range y.claim(y.pod.Namespace, v.PersistentVolumeClaim.ClaimName).Spec.AccessModes {
			if m == corev1.ReadWriteOncePod {
				claims[v.PersistentVolumeClaim.ClaimName] = true
			}
		}
	}
	references := func(p *corev1.Pod) (n int) {
		for _, v := range p.Spec.Volumes {
			if v.PersistentVolumeClaim != nil && claims[v.PersistentVolumeClaim.ClaimName] {
				n++
			}
		}
		return n
	}
	used := map[string]bool{}
	for _, n := range y.nodes {
		for _, p := range n.pods {
			for _, v := range p.Spec.Volumes {
				if c := v.PersistentVolumeClaim; c != nil && claims[c.ClaimName] && p.Namespace == y.pod.Namespace {
					used[c.ClaimName] = true
				}
			}
		}
	}
	if !disks && len(used) == 0 {
		return nil
	}
	return func(n *node, extra []*corev1.Pod) status {
		for i := range y.pod.Spec.Volumes {
			for _, p := range y.onNode(n, extra) {
				for k := range p.Spec.Volumes {
					if sameDisk(&y.pod.Spec.Volumes[i], &p.Spec.Volumes[k]) {
						return soft("VolumeRestrictions", rules.ReasonDiskConflict)
					}
				}
			}
		}
		users := len(used)
		for _, m := range y.trail {
			users += m.n * references(m.pod)
		}
		for _, p := range extra {
			users += references(p)
		}
		if users > 0 {
			return soft("VolumeRestrictions", rules.ReasonClaimInUse)
		}
		return status{}
	}
}
