package naive

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	csitranslation "k8s.io/csi-translation-lib"
	"k8s.io/klog/v2"

	"berth/internal/engine"
	"berth/internal/engine/rules"
)

var translator = csitranslation.New()

// moved are the built-in plugins that the scheduler counts as their CSI drivers.
var moved = []string{"kubernetes.io/aws-ebs", "kubernetes.io/gce-pd", "kubernetes.io/azure-disk", "kubernetes.io/cinder", "kubernetes.io/portworx-volume"}

// volumeLimits counts, for one node, every volume there by its unique name.
func (y *cycle) volumeLimits(n *node, extra []*corev1.Pod) status {
	asks := false
	for i := range y.pod.Spec.Volumes {
		v := &y.pod.Spec.Volumes[i]
		asks = asks || v.PersistentVolumeClaim != nil || v.Ephemeral != nil || translator.IsInlineMigratable(v)
	}
	if !asks {
		return status{}
	}
	csi := y.csiNode(n.Name)
	fresh := map[string]string{}
	if st := y.attachable(y.pod, csi, true, fresh); len(st.reasons) > 0 || len(fresh) == 0 {
		return st
	}
	limits := map[string]int{}
	if csi != nil {
		for _, d := range csi.Spec.Drivers {
			if d.Allocatable != nil && d.Allocatable.Count != nil {
				limits[d.Name] = int(*d.Allocatable.Count)
			}
		}
	}
	if len(limits) == 0 {
		return status{}
	}
	there := map[string]string{}
	for _, p := range y.onNode(n, extra) {
		if st := y.attachable(p, csi, false, there); len(st.reasons) > 0 {
			return st
		}
	}
	counts := map[string]int{}
	for name, driver := range there {
		delete(fresh, name)
		counts[driver]++
	}
	for _, a := range y.attachments {
		if a.Spec.NodeName != n.Name || a.Spec.Attacher == "" || a.Spec.Source.PersistentVolumeName == nil {
			continue
		}
		pv := y.volume(*a.Spec.Source.PersistentVolumeName)
		if pv == nil || pv.Spec.CSI == nil {
			continue
		}
		name := a.Spec.Attacher + "/" + pv.Spec.CSI.VolumeHandle
		if _, counted := there[name]; !counted {
			there[name] = a.Spec.Attacher
			counts[a.Spec.Attacher]++
		}
	}
	more := map[string]int{}
	for _, driver := range fresh {
		more[driver]++
	}
	for driver, k := range more {
		if limit, limited := limits[driver]; limited && counts[driver]+k > limit {
			return soft("NodeVolumeLimits", rules.ReasonVolumeLimit)
		}
	}
	return status{}
}

// attachable adds a pod's volumes by unique name.
func (y *cycle) attachable(p *corev1.Pod, csi *storagev1.CSINode, incoming bool, into map[string]string) status {
	broken := func(format string, args ...any) status {
		if !incoming {
			return status{"NodeVolumeLimits", engine.Error, []string{rules.VolumesUntold}}
		}
		return status{"NodeVolumeLimits", engine.Error, []string{fmt.Sprintf(format, args...)}}
	}
	for i := range p.Spec.Volumes {
		v := &p.Spec.Volumes[i]
		name := ""
		switch {
		case v.PersistentVolumeClaim != nil:
			name = v.PersistentVolumeClaim.ClaimName
		case v.Ephemeral != nil:
			name = p.Name + "-" + v.Name
		default:
			plugin, err := translator.GetInTreePluginNameFromSpec(nil, v)
			if err != nil || csi == nil || !contains(moved, plugin) {
				continue
			}
			pv, err := translator.TranslateInTreeInlineVolumeToCSI(klog.Logger{}, v, p.Namespace)
			if err != nil {
				return broken("converting volume(%s) from inline to csi: %v", v.Name, err)
			}
			into[pv.Spec.CSI.Driver+"/"+pv.Spec.CSI.VolumeHandle] = pv.Spec.CSI.Driver
			continue
		}
		c := y.claim(p.Namespace, name)
		if c == nil && incoming {
			return hard("NodeVolumeLimits", fmt.Sprintf("looking up PVC %s/%s: persistentvolumeclaim %q not found", p.Namespace, name, name))
		}
		if c == nil {
			continue
		}
		if v.PersistentVolumeClaim == nil && !metav1.IsControlledBy(c, p) {
			return broken("PVC %s/%s was not created for pod %s/%s (pod is not owner)", c.Namespace, c.Name, p.Namespace, p.Name)
		}
		if driver, handle := y.csiOf(c, csi); driver != "" && handle != "" {
			into[driver+"/"+handle] = driver
		}
	}
	return status{}
}

// csiOf follows a claim to its volume, or else to its class.
func (y *cycle) csiOf(c *corev1.PersistentVolumeClaim, csi *storagev1.CSINode) (driver, handle string) {
	if pv := y.volume(c.Spec.VolumeName); pv != nil {
		if pv.Spec.CSI != nil {
			return pv.Spec.CSI.Driver, pv.Spec.CSI.VolumeHandle
		}
		plugin, err := translator.GetInTreePluginNameFromSpec(pv, nil)
		if err != nil || csi == nil || !contains(moved, plugin) {
			return "", ""
		}
		out, err := translator.TranslateInTreePVToCSI(klog.Logger{}, pv)
		if err != nil || out.Spec.CSI == nil {
			return "", ""
		}
		return out.Spec.CSI.Driver, out.Spec.CSI.VolumeHandle
	}
	class := ""
	if c.Spec.StorageClassName != nil {
		class = *c.Spec.StorageClassName
	}
	if beta, ok := c.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		class = beta
	}
	sc := y.class(class)
	if sc == nil {
		return "", ""
	}
	driver = sc.Provisioner
	if translator.IsMigratableIntreePluginByName(driver) {
		if csi == nil || !contains(moved, driver) {
			return "", ""
		}
		name, err := translator.GetCSINameFromInTreeName(driver)
		if err != nil {
			return "", ""
		}
		driver = name
	}
	return driver, "a volume to come, " + c.Namespace + "/" + c.Name
}
