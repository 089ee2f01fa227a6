package naive

import (
	"fmt"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/component-helpers/storage/ephemeral"
	csitranslation "k8s.io/csi-translation-lib"
	"k8s.io/klog/v2"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
)

// unboundPod is what VolumeBinding says of the pod before any node.
func (y *cycle) unboundPod() status {
	bad := status{}
	unbound := false
	for _, v := range y.pod.Spec.Volumes {
		name := ""
		switch {
		case v.PersistentVolumeClaim != nil:
			name = v.PersistentVolumeClaim.ClaimName
		case v.Ephemeral != nil:
			name = y.pod.Name + "-" + v.Name
		default:
			continue
		}
		c := y.claim(y.pod.Namespace, name)
		if c == nil {
			if v.Ephemeral != nil {
				return hard("VolumeBinding", fmt.Sprintf("waiting for ephemeral volume controller to create the persistentvolumeclaim %q", name))
			}
			return hard("VolumeBinding", fmt.Sprintf("persistentvolumeclaim %q not found", name))
		}
		if c.Status.Phase == corev1.ClaimLost {
			return hard("VolumeBinding", fmt.Sprintf("persistentvolumeclaim %q bound to non-existent persistentvolume %q", name, c.Spec.VolumeName))
		}
		if c.DeletionTimestamp != nil {
			return hard("VolumeBinding", fmt.Sprintf("persistentvolumeclaim %q is being deleted", name))
		}
		if v.Ephemeral != nil {
			if err := ephemeral.VolumeIsForPod(y.pod, c); err != nil {
				return hard("VolumeBinding", err.Error())
			}
		}
		if isBound(c) {
			continue
		}
		class := y.class(className(c))
		if class != nil && class.VolumeBindingMode == nil && len(bad.reasons) == 0 {
			bad = status{"VolumeBinding", engine.Error, []string{"the class has no binding mode"}}
		}
		if class == nil || class.VolumeBindingMode == nil || *class.VolumeBindingMode == storagev1.VolumeBindingImmediate || c.Spec.VolumeName != "" {
			unbound = true
		}
	}
	if len(bad.reasons) == 0 && unbound {
		return hard("VolumeBinding", rules.ReasonClaimsUnbound)
	}
	return bad
}

func isBound(c *corev1.PersistentVolumeClaim) bool {
	_, ok := c.Annotations["pv.kubernetes.io/bind-completed"]
	return ok && c.Spec.VolumeName != ""
}

func className(c *corev1.PersistentVolumeClaim) string {
	if n, ok := c.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return n
	}
	if c.Spec.StorageClassName == nil {
		return ""
	}
	return *c.Spec.StorageClassName
}

// reaches holds a volume's affinity against a node's labels, and nothing else of
// the node.
func reaches(pv *corev1.PersistentVolume, n *node) bool {
	if pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil {
		return true
	}
	ok, err := nodeaffinity.NewLazyErrorNodeSelector(pv.Spec.NodeAffinity.Required).Match(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: n.Labels}})
	return ok && err == nil
}

// asOn is the volume as the node's drivers have it.
func (y *cycle) asOn(pv *corev1.PersistentVolume, n *node) (*corev1.PersistentVolume, error) {
	csi := y.csiNode(n.Name)
	if csi == nil || !csitranslation.New().IsPVMigratable(pv) {
		return pv, nil
	}
	name, err := csitranslation.New().GetInTreePluginNameFromSpec(pv, nil)
	if err != nil {
		return nil, err
	}
	moved := strings.Split(csi.Annotations[corev1.MigratedPluginsAnnotationKey], ",")
	if name == "kubernetes.io/vsphere-volume" || name == "kubernetes.io/azure-file" || !contains(moved, name) {
		return pv, nil
	}
	as, err := csitranslation.New().TranslateInTreePVToCSI(klog.Logger{}, pv)
	if err != nil {
		return nil, fmt.Errorf("could not translate pv: %w", err)
	}
	return as, nil
}

// volumeBinding judges one node and returns the volumes of the waiting claims there.
func (y *cycle) volumeBinding(n *node) (status, []engine.VolumeBinding) {
	st := status{plugin: "VolumeBinding", code: engine.UnschedulableAndUnresolvable}
	say := func(reason string) { st.reasons = append(st.reasons, reason) }
	var late []*corev1.PersistentVolumeClaim
	gone, elsewhere := false, false
	for _, v := range y.pod.Spec.Volumes {
		var c *corev1.PersistentVolumeClaim
		if v.PersistentVolumeClaim != nil {
			c = y.claim(y.pod.Namespace, v.PersistentVolumeClaim.ClaimName)
		} else if v.Ephemeral != nil {
			c = y.claim(y.pod.Namespace, y.pod.Name+"-"+v.Name)
		}
		if c == nil {
			continue
		}
		if !isBound(c) {
			late = append(late, c)
			continue
		}
		if gone || elsewhere {
			continue
		}
		pv := y.volume(c.Spec.VolumeName)
		if pv == nil {
			gone = true
			continue
		}
		as, err := y.asOn(pv, n)
		if err != nil {
			return status{"VolumeBinding", engine.Error, []string{err.Error()}}, nil
		}
		elsewhere = !reaches(as, n)
	}
	if elsewhere {
		say(rules.ReasonVolumeAffinity)
	}
	matched, fits, room, err := y.bindLate(late, n)
	if err != nil {
		return status{"VolumeBinding", engine.Error, []string{err.Error()}}, nil
	}
	if !fits {
		say(rules.ReasonVolumeNoMatch)
	}
	if !room {
		say(rules.ReasonVolumeNoSpace)
	}
	if gone {
		say(rules.ReasonVolumeGone)
	}
	var plan []engine.VolumeBinding
	for i, c := range late {
		if matched[i] != "" {
			plan = append(plan, engine.VolumeBinding{Claim: c.Name, Volume: matched[i]})
		} else {
			plan = append(plan, engine.VolumeBinding{Claim: c.Name, Provision: className(c)})
		}
	}
	return st, plan
}

// bindLate finds volumes for claims that wait, or makes sure that some can be
// made. matched names the volume of each claim, "" for a new one.
func (y *cycle) bindLate(late []*corev1.PersistentVolumeClaim, n *node) (matched []string, fits, room bool, err error) {
	matched = make([]string, len(late))
	var seek, build []int
	for i, c := range late {
		if at, ok := c.Annotations["volume.kubernetes.io/selected-node"]; !ok {
			seek = append(seek, i)
		} else if at != n.Name {
			return matched, false, true, nil
		} else {
			build = append(build, i)
		}
	}
	size := func(i int) int64 {
		q := late[i].Spec.Resources.Requests[corev1.ResourceStorage]
		return q.Value()
	}
	sort.SliceStable(seek, func(a, b int) bool { return size(seek[a]) < size(seek[b]) })
	for _, i := range seek {
		pv, err := y.findVolume(late[i], n, matched)
		if err != nil {
			return nil, false, false, err
		}
		if matched[i] = pv; pv == "" {
			build = append(build, i)
		}
	}
	for _, i := range build {
		class := y.class(className(late[i]))
		if class.Provisioner == "kubernetes.io/no-provisioner" || !allows(class, n) {
			return matched, false, true, nil
		}
		if !y.roomFor(class, size(i), n) {
			return matched, true, false, nil
		}
	}
	return matched, true, true, nil
}

func (y *cycle) findVolume(c *corev1.PersistentVolumeClaim, n *node, taken []string) (string, error) {
	sel := labels.Everything()
	if c.Spec.Selector != nil {
		var err error
		if sel, err = metav1.LabelSelectorAsSelector(c.Spec.Selector); err != nil {
			return "", fmt.Errorf("error creating internal label selector for claim: %s/%s: %w", c.Namespace, c.Name, err)
		}
	}
	mode := func(m *corev1.PersistentVolumeMode) bool { return m != nil && *m == corev1.PersistentVolumeBlock }
	var found []*corev1.PersistentVolume
	for _, pv := range y.volumes {
		capacity, request := pv.Spec.Capacity[corev1.ResourceStorage], c.Spec.Resources.Requests[corev1.ResourceStorage]
		if state.VolumeClass(pv) != className(c) || contains(taken, pv.Name) || capacity.Cmp(request) < 0 || mode(pv.Spec.VolumeMode) != mode(c.Spec.VolumeMode) || pv.DeletionTimestamp != nil {
			continue
		}
		found = append(found, pv)
	}
	sort.Slice(found, func(i, j int) bool {
		a, b := found[i].Spec.Capacity[corev1.ResourceStorage], found[j].Spec.Capacity[corev1.ResourceStorage]
		if d := a.Cmp(b); d != 0 {
			return d < 0
		}
		return found[i].Name < found[j].Name
	})
	// One that is meant for the claim goes before any other; of several, the first
	// by name.
	var meant *corev1.PersistentVolume
	for _, pv := range found {
		if ref := pv.Spec.ClaimRef; ref != nil && ref.Namespace == c.Namespace && ref.Name == c.Name && (ref.UID == "" || ref.UID == c.UID) {
			if meant == nil || pv.Name < meant.Name {
				meant = pv
			}
		}
	}
	if meant != nil {
		if reaches(meant, n) {
			return meant.Name, nil
		}
		return "", nil
	}
	for _, pv := range found {
		ways := true
		for _, m := range c.Spec.AccessModes {
			has := false
			for _, have := range pv.Spec.AccessModes {
				has = has || have == m
			}
			ways = ways && has
		}
		if ways && pv.Spec.ClaimRef == nil && pv.Status.Phase == corev1.VolumeAvailable && sel.Matches(labels.Set(pv.Labels)) && reaches(pv, n) {
			return pv.Name, nil
		}
	}
	return "", nil
}

func allows(class *storagev1.StorageClass, n *node) bool {
	if len(class.AllowedTopologies) == 0 {
		return true
	}
	for _, t := range class.AllowedTopologies {
		ok := len(t.MatchLabelExpressions) > 0
		for _, e := range t.MatchLabelExpressions {
			v, has := n.label(e.Key)
			ok = ok && has && contains(e.Values, v)
		}
		if ok {
			return true
		}
	}
	return false
}

func (y *cycle) roomFor(class *storagev1.StorageClass, size int64, n *node) bool {
	counts := false
	for _, d := range y.drivers {
		counts = counts || d.Name == class.Provisioner && d.Spec.StorageCapacity != nil && *d.Spec.StorageCapacity
	}
	if !counts {
		return true
	}
	for _, p := range y.pools {
		limit := p.Capacity
		if p.MaximumVolumeSize != nil {
			limit = p.MaximumVolumeSize
		}
		if p.StorageClassName != class.Name || limit == nil || limit.Value() < size || p.NodeTopology == nil {
			continue
		}
		if sel, err := metav1.LabelSelectorAsSelector(p.NodeTopology); err == nil && sel.Matches(labels.Set(n.Labels)) {
			return true
		}
	}
	return false
}

// Volumes returns the volumes that the pod's waiting claims get on a node that fits.
func Volumes(c *Cluster, pod *corev1.Pod, spec rules.Spec, name string) []engine.VolumeBinding {
	y := &cycle{Cluster: c, pod: pod, spec: &spec}
	if !contains(spec.Filter, "VolumeBinding") {
		return nil
	}
	_, plan := y.volumeBinding(c.byName[name])
	return plan
}
