package naive

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"berth/internal/engine/rules"
)

var zoneKeys = []string{corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion, corev1.LabelTopologyZone, corev1.LabelTopologyRegion}

// zoneless is what VolumeZone says of the pod before any node.
func (y *cycle) zoneless() status {
	for _, v := range y.pod.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		name := v.PersistentVolumeClaim.ClaimName
		c := y.claim(y.pod.Namespace, name)
		if c == nil {
			return hard("VolumeZone", fmt.Sprintf("persistentvolumeclaim %q not found", name))
		}
		if c.Spec.VolumeName != "" {
			if y.volume(c.Spec.VolumeName) == nil {
				return hard("VolumeZone", fmt.Sprintf("persistentvolume %q not found", c.Spec.VolumeName))
			}
			continue
		}
		class := y.class(className(c))
		switch {
		case className(c) == "":
			return hard("VolumeZone", rules.ReasonClaimClassless)
		case class == nil:
			return hard("VolumeZone", fmt.Sprintf("storageclass.storage.k8s.io %q not found", className(c)))
		case class.VolumeBindingMode == nil:
			return hard("VolumeZone", fmt.Sprintf("VolumeBindingMode not set for StorageClass %q", className(c)))
		case *class.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer:
			return hard("VolumeZone", rules.ReasonVolumeNameless)
		}
	}
	return status{}
}

func (y *cycle) volumeZone(n *node) status {
	placed := false
	for _, key := range zoneKeys {
		_, ok := n.label(key)
		placed = placed || ok
	}
	if !placed {
		return status{}
	}
	for _, v := range y.pod.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		c := y.claim(y.pod.Namespace, v.PersistentVolumeClaim.ClaimName)
		if c.Spec.VolumeName == "" {
			continue
		}
		pv := y.volume(c.Spec.VolumeName)
		for _, key := range zoneKeys {
			label, ok := pv.Labels[key]
			zones := strings.Split(label, "__")
			if !ok || contains(zones, "") {
				continue
			}
			at, ok := n.label(key)
			if !ok {
				key = strings.Replace(key, "failure-domain.beta.kubernetes.io", "topology.kubernetes.io", 1)
				at, ok = n.label(key)
			}
			if !ok || !contains(zones, at) {
				return hard("VolumeZone", rules.ReasonVolumeZone)
			}
		}
	}
	return status{}
}
