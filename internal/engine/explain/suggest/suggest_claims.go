package suggest

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/rules"
)

const maxStorageClasses = 4

// missingClaim returns the claim that a pod was rejected for lacking; "" for any other rejection
// (plugins/volumebinding podHasPVCs).
func missingClaim(reason string) string {
	quoted, ok := strings.CutPrefix(reason, "persistentvolumeclaim ")
	if !ok {
		return ""
	}
	var name string
	if _, err := fmt.Sscanf(quoted, "%q not found", &name); err != nil || quoted != fmt.Sprintf("%q not found", name) {
		return ""
	}
	return name
}

// claim creates the missing claim, once for each storage class that provisions where the pod fits.
// Only its owner knows its size.
func (s *searcher) claim() {
	if s.base.PreFilter == nil {
		return
	}
	name := missingClaim(s.base.PreFilter.Reason)
	if name == "" {
		return
	}
	tried := 0
	for _, class := range s.q.State.StorageClasses() {
		if class.VolumeBindingMode == nil || *class.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer {
			continue
		}
		if tried++; tried > maxStorageClasses {
			return
		}
		s.offerClaim(name, class.Name)
	}
}

// lostVolume gives up a volume that can be used only where no node is, as one on a node's own disk:
// the claim is deleted, and made anew.
func (s *searcher) lostVolume() {
	var claim *corev1.PersistentVolumeClaim
	where := ""
	blockers, _ := explain.Blockers(s.base, explain.ManyNodes)
	for _, b := range blockers {
		switch {
		case b.Rule != "VolumeBinding":
		case b.Kind == "PersistentVolumeClaim" && claim == nil:
			claim = s.q.State.PersistentVolumeClaim(b.Namespace, b.Name)
		case b.Kind == "Node" && b.State == engine.BlockerMissing && where == "":
			where = b.Name
		}
	}
	if claim == nil || where == "" || claim.Spec.VolumeName == "" {
		return
	}
	volume, anew := claim.Spec.VolumeName, &corev1.PersistentVolumeClaim{}
	ops := []Op{{Op: "remove", Path: "/spec/volumeName"}, {"add", "/status", corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}}}
	if claim.Annotations != nil {
		ops = append(ops, Op{Op: "remove", Path: "/metadata/annotations"})
	}
	js := s.q.Object("PersistentVolumeClaim", claim.Namespace, claim.Name)
	if js == nil || apply(js, ops, anew) != nil {
		return
	}
	e := s.q.State.Overlay()
	if e.Delete("PersistentVolume", "", volume); e.Put(anew) != nil {
		return
	}
	v := s.fits(e.Done(), s.q.Pod, placing)
	if v == nil {
		return
	}
	edits := []Edit{{"PersistentVolumeClaim", claim.Namespace, claim.Name, ops}, deletion("PersistentVolume", "", volume)}
	s.keep(v, engine.Scheduled, costLost, Suggestion{
		Kind: "claim", Change: fmt.Sprintf("bring back %s, or delete claim %s, whose volume %s is only there, so that it is made anew", where, claim.Name, volume),
		Target: "claim", Action: AskPlatform, Edit: edits[0], Edits: edits,
		Command: fmt.Sprintf("kubectl delete pvc %s -n %s", claim.Name, claim.Namespace), Warning: "the data in the volume is lost with the claim",
	})
}

// offerClaim tries the pod on a state that has the claim.
func (s *searcher) offerClaim(name, class string) {
	claim := &corev1.PersistentVolumeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: metav1.ObjectMeta{Namespace: s.q.Pod.Namespace, Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: &class,
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
	}
	e := s.q.State.Overlay()
	if e.Put(claim) != nil {
		return
	}
	v := s.fits(e.Done(), s.q.Pod, placing)
	if v == nil {
		return
	}
	g := Suggestion{
		Kind: "claim", Change: fmt.Sprintf("create the claim %s, of the storage class %s", name, class), Target: "claim", Action: ChangePod,
		Edit: Edit{"PersistentVolumeClaim", claim.Namespace, name, []Op{{"add", "", claim}}},
	}
	cost := costClaim
	if set := rules.ClaimedBy(s.q.Pod, name); set != "" {
		g.Change, g.Action, cost = fmt.Sprintf("wait until StatefulSet %s makes the claim %s (here: of the storage class %s)", set, name, class), Wait, costWait
	}
	s.keep(v, engine.Scheduled, cost, g)
}
