package world

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/ephemeral"

	"berth/internal/engine/state"
	"berth/internal/kube/object"
)

// CreateClaims returns a pod with the claims that controllers make for it once it is created: those
// of its ephemeral volumes (pkg/controller/volume/ephemeral/controller.go handleVolume) and of its
// resource claim templates (pkg/controller/resourceclaim/controller.go handleClaim).
func (f *Fork) CreateClaims(pod *corev1.Pod) (*corev1.Pod, error) {
	owner := []metav1.OwnerReference{*metav1.NewControllerRef(pod, corev1.SchemeGroupVersion.WithKind("Pod"))}
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.Ephemeral == nil || v.Ephemeral.VolumeClaimTemplate == nil {
			continue
		}
		name := ephemeral.VolumeClaimName(pod, v)
		if f.State().PersistentVolumeClaim(pod.Namespace, name) != nil {
			continue // made before, or by a user
		}
		t := v.Ephemeral.VolumeClaimTemplate.DeepCopy()
		if _, old := t.Annotations[corev1.BetaStorageClassAnnotation]; t.Spec.StorageClassName == nil && !old {
			t.Spec.StorageClassName = DefaultClass(f.State())
		}
		c := &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: name, Labels: t.Labels, Annotations: t.Annotations, OwnerReferences: owner},
			Spec:       t.Spec, Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
		}
		if err := f.putObject(c); err != nil {
			return nil, err
		}
	}
	var made []corev1.PodResourceClaimStatus
	for _, ref := range pod.Spec.ResourceClaims {
		if ref.ResourceClaimTemplateName == nil {
			continue
		}
		raw, ok := f.base.Object(object.Key{Kind: "ResourceClaimTemplate", Namespace: pod.Namespace, Name: *ref.ResourceClaimTemplateName})
		if !ok {
			continue // the pod waits for it
		}
		o, err := object.FromCanonical("ResourceClaimTemplate", raw)
		if err != nil {
			return nil, fmt.Errorf("resource claim template %s: %w", *ref.ResourceClaimTemplateName, err)
		}
		t := o.Value.(*resourcev1.ResourceClaimTemplate)
		name := pod.Name + "-" + ref.Name
		c := &resourcev1.ResourceClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: name, Labels: t.Spec.Labels, Annotations: t.Spec.Annotations, OwnerReferences: owner},
			Spec:       t.Spec.Spec,
		}
		if err := f.putObject(c); err != nil {
			return nil, err
		}
		made = append(made, corev1.PodResourceClaimStatus{Name: ref.Name, ResourceClaimName: &name})
	}
	if len(made) > 0 {
		p := *pod
		p.Status.ResourceClaimStatuses = made
		pod = &p
	}
	return pod, nil
}

// DefaultClass returns the name of the class that claims get which name none: of several the newest
// (pkg/volume/util/storageclass.go GetDefaultClass); nil without.
func DefaultClass(st *state.State) *string {
	var of *storagev1.StorageClass
	for _, c := range st.StorageClasses() {
		if c.Annotations["storageclass.kubernetes.io/is-default-class"] != "true" && c.Annotations["storageclass.beta.kubernetes.io/is-default-class"] != "true" {
			continue
		}
		if of == nil || of.CreationTimestamp.Before(&c.CreationTimestamp) || of.CreationTimestamp.Equal(&c.CreationTimestamp) && c.Name < of.Name {
			of = c
		}
	}
	if of == nil {
		return nil
	}
	return &of.Name
}

// releaseClaims gives back what a pod that is gone has had: claims made for it go with it, and
// resource claims that it shared are no longer reserved for it; one that is reserved for no pod has
// no devices any more (pkg/controller/resourceclaim/controller.go syncClaim).
func (f *Fork) releaseClaims(pod *corev1.Pod) error {
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.Ephemeral == nil {
			continue
		}
		name := ephemeral.VolumeClaimName(pod, v)
		if c := f.State().PersistentVolumeClaim(pod.Namespace, name); c != nil && ephemeral.VolumeIsForPod(pod, c) == nil {
			f.deleteObject(object.Key{Kind: "PersistentVolumeClaim", Namespace: pod.Namespace, Name: name})
		}
	}
	for _, ref := range pod.Spec.ResourceClaims {
		name := ref.ResourceClaimName
		if made := slices.IndexFunc(pod.Status.ResourceClaimStatuses, func(s corev1.PodResourceClaimStatus) bool { return s.Name == ref.Name }); name == nil && made >= 0 {
			name = pod.Status.ResourceClaimStatuses[made].ResourceClaimName
		}
		if name == nil {
			continue
		}
		c := f.State().ResourceClaim(pod.Namespace, *name)
		if c == nil {
			continue
		}
		// One that goes loses its devices before: its deletion wakes no pod that waits for them.
		if err := f.unreserve(c, pod); err != nil {
			return err
		}
		if ref.ResourceClaimTemplateName != nil {
			f.deleteObject(object.Key{Kind: "ResourceClaim", Namespace: c.Namespace, Name: c.Name})
		}
	}
	return nil
}

// unreserve takes a pod out of those that a claim is reserved for.
func (f *Fork) unreserve(c *resourcev1.ResourceClaim, pod *corev1.Pod) error {
	left := slices.DeleteFunc(slices.Clone(c.Status.ReservedFor), func(r resourcev1.ResourceClaimConsumerReference) bool {
		return r.Resource == "pods" && r.Name == pod.Name && (pod.UID == "" || r.UID == pod.UID)
	})
	if len(left) == len(c.Status.ReservedFor) {
		return nil
	}
	c = c.DeepCopy()
	if c.Status.ReservedFor = left; len(left) == 0 {
		c.Status.Allocation = nil
	}
	return f.putObject(c)
}

// putObject stores an object of a kind that binds write.
func (f *Fork) putObject(o metav1.Object) error {
	if o.GetUID() == "" {
		kind := "PersistentVolumeClaim"
		if _, is := o.(*resourcev1.ResourceClaim); is {
			kind = "ResourceClaim"
		}
		o.SetUID(object.DerivedUID(object.Key{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName()}))
	}
	made, err := object.Of(o)
	if err != nil {
		return fmt.Errorf("claims of a pod: %w", err)
	}
	f.changes++
	return f.putEffect(made)
}
