package controllers

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/volume"
	volumeutil "k8s.io/kubernetes/pkg/volume/util"
)

// Attachments are when a pod may start whose volume another node had.
var Attachments = &Part{Name: "attach", Draw: drawAttachment, Want: playAttachment, Got: func(_ *Case, a *Answer) []string { return lifeOf(a) }}

// drawAttachment draws a pod with a volume, which leaves a node in one of the ways there are. The
// pod after it has another node.
func drawAttachment(d *Drawing) {
	d.k.Start = int64(1 + d.IntN(40))
	a, b := nodeOf("a", ""), nodeOf("b", "")
	a.Spec.Taints = []corev1.Taint{{Key: "full", Effect: corev1.TaintEffectNoSchedule}}
	pv, claim := typed(&corev1.PersistentVolume{}, "PersistentVolume", "v1"), typed(&corev1.PersistentVolumeClaim{}, "PersistentVolumeClaim", "v1")
	pv.Name, pv.UID = "pv", "pv"
	for range d.IntN(3) {
		pv.Spec.AccessModes = append(pv.Spec.AccessModes, one(d, corev1.ReadWriteOnce, corev1.ReadWriteOnce, corev1.ReadOnlyMany, corev1.ReadWriteMany))
	}
	pv.Spec.Capacity = corev1.ResourceList{"storage": quantity("1Gi")}
	switch d.IntN(4) {
	case 0:
		pv.Spec.NFS = &corev1.NFSVolumeSource{Server: "s", Path: "/p"}
		d.tag("nfs")
	case 1:
		pv.Spec.HostPath = &corev1.HostPathVolumeSource{Path: "/p"}
		d.tag("hostPath")
	default:
		pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: "csi.example.com", VolumeHandle: "h"}
		d.tag("csi")
	}
	pv.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: "default", Name: "data", UID: "claim"}
	pv.Status.Phase = corev1.VolumeBound
	claim.Namespace, claim.Name, claim.UID = "default", "data", "claim"
	claim.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
	claim.Spec = corev1.PersistentVolumeClaimSpec{AccessModes: pv.Spec.AccessModes, VolumeName: "pv", Resources: corev1.VolumeResourceRequirements{Requests: pv.Spec.Capacity}}
	claim.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, AccessModes: pv.Spec.AccessModes, Capacity: pv.Spec.Capacity}
	ref := owned("apps/v1", "ReplicaSet", "web")
	p := runs(podOf("web-1", map[string]string{"app": "web"}, &ref), "a", 900, d.k.Start)
	*p.Spec.TerminationGracePeriodSeconds = one(d, int64(0), 1, 30, 90)
	p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	for _, key := range []string{corev1.TaintNodeUnreachable, corev1.TaintNodeNotReady} {
		seconds := one(d, int64(300), 300, 0, 20)
		p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds})
	}
	d.add(b, a, pv, claim, p) // the first node is where pods come to
	at := int64(d.IntN(50))
	switch d.IntN(4) {
	case 0:
		d.event(at, Event{Evict: &PodNamed{"default", "web-1"}})
	case 1:
		d.event(at, Event{Delete: &PodNamed{"default", "web-1"}})
	case 2: // no kubelet ends it, until PodGC misses the node
		d.tag("dead")
		d.event(at, Event{Die: &NodesNamed{[]string{"a"}}})
		d.event(at+500+int64(d.IntN(200)), Event{Remove: &NodesNamed{[]string{"a"}}})
	case 3:
		d.tag("removed")
		d.event(at, Event{Remove: &NodesNamed{[]string{"a"}}})
	}
}

// The reconciler of the attach-detach controller waits so long for a node that does not say that it
// has unmounted (attach_detach_controller.go DefaultTimerConfig), and PodGC for a node that is not
// there (gc_controller.go quarantineTime, gcCheckPeriod: 40 to 60 s).
const (
	unmountSeconds = 360
	orphanSeconds  = 60
)

// exclusive reports whether a volume is attached at all, and to one node at a time. That NFS and
// hostPath have no attacher is written here: no function says it without a cluster's plugins.
func exclusive(pv *corev1.PersistentVolume) bool {
	return pv.Spec.CSI != nil && !volumeutil.IsMultiAttachAllowed(volume.NewSpecFromPersistentVolume(pv, false))
}

// playAttachment has the pod leave and the one after it start once its volume is free
// (reconciler.go reconcile, attachDesiredVolumes).
func playAttachment(k *Case) ([]string, error) {
	c := newCluster(k)
	free := int64(-1) // when the volume is detached from the first node; below 0: not known yet
	if !exclusive(of[corev1.PersistentVolume](k)[0]) {
		free = 0
	}
	dead := false
	c.control = func() error { return nil }
	c.begins = func(p *corev1.Pod) { c.createLike(p) }
	c.gates = func(p *corev1.Pod) int64 { return free }
	c.ends = func(p *corev1.Pod) bool {
		if dead && *p.DeletionGracePeriodSeconds > 0 {
			return false // for a kubelet to end
		}
		if free < 0 {
			if free = c.now; dead {
				free += unmountSeconds
			}
		}
		return true
	}
	orphaned := func() error {
		p := c.pods["web-1"]
		if p == nil {
			return nil
		}
		if free < 0 {
			free = c.now + unmountSeconds
		}
		dead = false
		if p.DeletionTimestamp == nil {
			zero := int64(0)
			p = p.DeepCopy()
			p.Spec.TerminationGracePeriodSeconds = &zero
			c.pods[p.Name] = p
			return c.remove(p.Name)
		}
		return c.end(p.Name, p.UID)
	}
	c.happens(func(e *Event) error {
		switch {
		case e.Evict != nil:
			return c.remove(e.Evict.Name)
		case e.Delete != nil:
			return c.remove(e.Delete.Name)
		case e.Remove != nil:
			c.at(c.now+orphanSeconds, "~podgc", orphaned)
		case e.Die != nil:
			dead = true // given up, tainted at once, and deleted once that is tolerated no more
			p := c.pods["web-1"]
			if p == nil {
				return nil
			}
			i := slices.IndexFunc(p.Spec.Tolerations, func(t corev1.Toleration) bool { return t.Key == corev1.TaintNodeUnreachable })
			c.at(c.now+graceSeconds+*p.Spec.Tolerations[i].TolerationSeconds, "~taints", func() error { return c.remove(p.Name) })
		}
		return nil
	})
	return c.run()
}
