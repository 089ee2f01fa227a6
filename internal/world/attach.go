package world

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"berth/internal/kube/object"
)

// attachments is the attach-detach controller: a volume that one node may have at a time is
// attached to the next one once the pods that use it on the first are gone (pkg/controller/volume/
// attachdetach/reconciler/reconciler.go attachDesiredVolumes, reconcile). Kubelets start no pod
// before its volumes are attached.
type attachments struct {
	w *World
	// waiting are pods on nodes that do not start yet, in the order of their binds.
	waiting []*created
	// held is until when a volume stays attached to a dead node, by claim.
	held map[claimName]time.Duration
}

// forceDetach is how long a volume stays attached to a node whose kubelet does not answer, once no
// pod uses it there (attach_detach_controller.go DefaultTimerConfig,
// ReconcilerMaxWaitForUnmountDuration). A node that is out of service gives it up at once.
const forceDetach = 6 * time.Minute

// starts has a pod become ready that was bound, once its volumes can be attached.
func (a *attachments) starts(c *created, pod *corev1.Pod) error {
	if a.w.Dead(pod.Spec.NodeName) {
		kept(a.w, c.rec).NotStarted = "the kubelet of its node does not answer"
		return nil
	}
	why, until := a.blocks(pod)
	if why == "" {
		kept(a.w, c.rec).NotStarted = ""
		if d, is := a.w.takesOf(pod, false); is {
			c.took = d
		}
		a.w.due.schedule(a.w.now+c.took, writes, NameOf(pod).String(), func() error { return a.w.started(c, pod) })
		return nil
	}
	if c.rec.NotStarted != why {
		a.w.tellPod(PodCannotStart, pod, why)
	}
	kept(a.w, c.rec).NotStarted = why
	was := a.waiting
	a.w.OnUndo(func() { a.waiting = was })
	a.waiting = append(slices.Clip(a.waiting), c)
	if until > 0 {
		a.w.due.schedule(until, syncs, NameOf(pod).String(), a.retry)
	}
	return nil
}

// released notes that a pod is gone: its volumes are free, or were on a dead node.
func (a *attachments) released(pod *corev1.Pod) error {
	if len(pod.Spec.Volumes) == 0 {
		return nil
	}
	if node := pod.Spec.NodeName; node != "" && !a.w.unmounts(node) {
		a.hold(pod)
	}
	return a.retry()
}

// hold keeps the volumes of a pod attached to its dead node.
func (a *attachments) hold(pod *corev1.Pod) {
	for _, n := range claimsOf(pod) {
		if !a.single(n) {
			continue
		}
		if a.held == nil {
			a.held = map[claimName]time.Duration{}
		}
		was := a.held[n]
		a.w.OnUndo(func() { a.held[n] = was })
		a.held[n] = a.w.now + forceDetach
	}
}

// RemoveNode deletes a node. Its pods stay until they are deleted, and what they have attached is
// not free before.
func (w *World) RemoveNode(name string) error {
	on, err := w.PodsOn(name)
	if err != nil {
		return err
	}
	return w.removeNode(name, on)
}

func (w *World) removeNode(name string, on []PodName) error {
	for _, n := range on {
		pod, err := w.Pod(n.Namespace, n.Name)
		if err != nil {
			return err
		}
		w.volumes.hold(pod)
	}
	return w.Fork.RemoveNode(name)
}

// unmounts reports whether the volumes of a node's pods are detached as soon as the pods are gone.
func (w *World) unmounts(node string) bool {
	n, err := w.Node(node)
	return err == nil && w.endsPods(n)
}

// retry starts the pods whose volumes can be attached by now.
func (a *attachments) retry() error {
	list := a.waiting
	if len(list) == 0 {
		return nil
	}
	a.w.OnUndo(func() { a.waiting = list })
	a.waiting = nil
	for _, c := range list {
		if c.pod == nil {
			continue // it has left
		}
		if err := a.starts(c, c.pod); err != nil {
			return err
		}
	}
	return nil
}

// blocks returns which volume keeps a pod from starting on its node, and until when; 0 where an
// event tells.
func (a *attachments) blocks(pod *corev1.Pod) (why string, until time.Duration) {
	row := a.w.State().Nodes().Row(pod.Spec.NodeName)
	for _, n := range claimsOf(pod) {
		if !a.single(n) {
			continue
		}
		if at := a.held[n]; at > a.w.now {
			return fmt.Sprintf("the volume of claim %s is attached to a node that does not answer, for six minutes after its pod was gone", n.Name), at
		}
		if p := a.w.State().ClaimPostings(n.Namespace, n.Name); p != nil {
			p.Each(func(other, pods int32) {
				if pods > 0 && int(other) != row && why == "" {
					why = fmt.Sprintf("the volume of claim %s is attached to %s, where a pod uses it (Multi-Attach)", n.Name, a.w.State().Nodes().Node(int(other)).Name)
				}
			})
		}
		if why != "" {
			return why, 0
		}
	}
	return "", 0
}

// claimName is the name of a claim in its namespace.
type claimName PodName

// claimsOf lists the claims that a pod's volumes name. Those of ephemeral volumes are the pod's
// own.
func claimsOf(pod *corev1.Pod) (list []claimName) {
	for i := range pod.Spec.Volumes {
		if v := &pod.Spec.Volumes[i]; v.PersistentVolumeClaim != nil {
			list = append(list, claimName{pod.Namespace, v.PersistentVolumeClaim.ClaimName})
		}
	}
	return list
}

// single reports whether a claim's volume is attached to one node at a time (pkg/controller/volume/
// attachdetach/util/util.go IsMultiAttachAllowed). A volume that needs no attachment is not: that
// of a driver which says so, and those that a node reaches by itself.
func (a *attachments) single(n claimName) bool {
	st := a.w.State()
	claim := st.PersistentVolumeClaim(n.Namespace, n.Name)
	if claim == nil || claim.Spec.VolumeName == "" {
		return false
	}
	v := st.PersistentVolume(claim.Spec.VolumeName)
	if v == nil {
		return false
	}
	for _, m := range v.Spec.AccessModes {
		if m == corev1.ReadWriteMany || m == corev1.ReadOnlyMany {
			return false
		}
	}
	s := &v.Spec.PersistentVolumeSource
	switch {
	case len(v.Spec.AccessModes) == 0:
		return false
	case s.CSI != nil:
		return a.attaches(s.CSI.Driver)
	}
	return s.GCEPersistentDisk != nil || s.AWSElasticBlockStore != nil || s.AzureDisk != nil || s.Cinder != nil || s.VsphereVolume != nil ||
		s.FC != nil || s.ISCSI != nil || s.PortworxVolume != nil
}

// attaches reports whether a CSI driver's volumes are attached; those of an unknown one are.
func (a *attachments) attaches(driver string) bool {
	raw, ok := a.w.base.Object(object.Key{Kind: "CSIDriver", Name: driver})
	if !ok {
		return true
	}
	o, err := object.FromCanonical("CSIDriver", raw)
	if err != nil {
		return true
	}
	of := o.Value.(*storagev1.CSIDriver)
	return of.Spec.AttachRequired == nil || *of.Spec.AttachRequired
}
