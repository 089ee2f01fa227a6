package decision

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/component-helpers/storage/ephemeral"
	"k8s.io/utils/ptr"

	"berth/internal/kube/object/stored"
)

// storageNotes name what keeps the pod's volumes from the node of an answer and what kube-scheduler
// does not look at: a driver that the node's CSINode does not list, for which it knows no limit
// (plugins/nodevolumelimits csi.go Filter), and claims that have room one by one alone
// (plugins/volumebinding binder.go checkVolumeProvisions).
func (o *Outcome) storageNotes(node string) (notes []string) {
	csi := o.State.CSINode(node)
	var named []string
	for i := range o.Pod.Spec.Volumes {
		name := ""
		switch v := &o.Pod.Spec.Volumes[i]; {
		case v.PersistentVolumeClaim != nil:
			name = v.PersistentVolumeClaim.ClaimName
		case v.Ephemeral != nil:
			name = ephemeral.VolumeClaimName(o.Pod, v)
		default:
			continue
		}
		driver := o.driverOf(o.State.PersistentVolumeClaim(o.Pod.Namespace, name))
		if driver == "" || csi == nil || slices.Contains(named, driver) || slices.ContainsFunc(csi.Spec.Drivers, func(d storagev1.CSINodeDriver) bool { return d.Name == driver }) {
			continue
		}
		named = append(named, driver)
		notes = append(notes, fmt.Sprintf("CSINode %s does not list driver %s, which the volume of claim %s needs: kube-scheduler then knows no limit of volumes there, and the kubelet cannot mount the volume before the driver is registered",
			node, driver, name))
	}
	return append(notes, o.provisionNotes(node)...)
}

// driverOf returns the CSI driver of a claim's volume, or of the one that is to be made for it;
// empty where it has none, or is not known.
func (o *Outcome) driverOf(c *corev1.PersistentVolumeClaim) string {
	if c == nil {
		return ""
	}
	if pv := o.State.PersistentVolume(c.Spec.VolumeName); pv != nil && pv.Spec.CSI != nil {
		return pv.Spec.CSI.Driver
	}
	if class := o.State.StorageClass(stored.ClaimClass(c)); c.Spec.VolumeName == "" && class != nil && o.State.CSIDriver(class.Provisioner) != nil {
		return class.Provisioner
	}
	return ""
}

// provisionNotes compare what claims of a class request together with what its pools have on the
// node.
func (o *Outcome) provisionNotes(node string) (notes []string) {
	type request struct {
		claims []string
		bytes  int64
	}
	var classes []string
	by := map[string]*request{}
	for _, v := range o.Result.Volumes() {
		class, c := o.State.StorageClass(v.Provision), o.State.PersistentVolumeClaim(o.Pod.Namespace, v.Claim)
		if v.Provision == "" || class == nil || c == nil {
			continue
		}
		if d := o.State.CSIDriver(class.Provisioner); d == nil || !ptr.Deref(d.Spec.StorageCapacity, false) {
			continue
		}
		if by[class.Name] == nil {
			by[class.Name] = &request{}
			classes = append(classes, class.Name)
		}
		by[class.Name].claims = append(by[class.Name].claims, v.Claim)
		by[class.Name].bytes += c.Spec.Resources.Requests.Storage().Value()
	}
	for _, class := range classes {
		have := int64(0)
		for _, pool := range o.State.ClassCapacities(class) {
			reach, row := o.State.Nodes().PoolReach(pool.NodeTopology), o.State.Nodes().Row(node)
			if pool.Capacity != nil && (slices.Contains(reach.Few, int32(row)) || reach.Many != nil && reach.Many.Has(row)) {
				have += pool.Capacity.Value()
			}
		}
		if r := by[class]; len(r.claims) > 1 && r.bytes > have {
			notes = append(notes, fmt.Sprintf("claims %s request %s of class %s together, and its storage pools on node %s have %s: kube-scheduler compares each claim by itself, and not all of the volumes can be made there",
				strings.Join(r.claims, " and "), sizeOf(r.bytes), class, node, sizeOf(have)))
		}
	}
	return notes
}

func sizeOf(bytes int64) string { return resource.NewQuantity(bytes, resource.BinarySI).String() }
