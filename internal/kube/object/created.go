package object

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// createdIn is the annotation with which a ledger notes in which revision a pod that waits was
// created, and at which place of the list that came with it: "42.0". Creation times are whole
// seconds, and kube-scheduler's queue is in order of arrival.
const createdIn = "ledger.berth/created-in"

// placeBits is how many bits of an order are the place in a list.
const placeBits = 24

// Created returns an object that a ledger creates, with the time of its write, in whole seconds,
// unless it comes with a creation time (apiserver/pkg/registry/rest/meta.go
// FillObjectMetaSystemFields, which keeps none). The argument is not written.
func Created(o Object, now time.Time) (Object, error) {
	return withCreation(o, metav1.NewTime(now.UTC().Truncate(time.Second)), func(has *metav1.Time) bool { return has.IsZero() })
}

// KeepCreated returns an object that replaces a stored one, with the creation time of that
// (apiserver/pkg/registry/rest/update.go BeforeUpdate). The arguments are not written.
func KeepCreated(o, stored Object) (Object, error) {
	was, ok := stored.Value.(typed)
	if !ok {
		return o, nil
	}
	at := was.GetCreationTimestamp()
	if at.IsZero() {
		return o, nil
	}
	return withCreation(o, at, func(has *metav1.Time) bool { return !has.Equal(&at) })
}

func withCreation(o Object, at metav1.Time, missing func(has *metav1.Time) bool) (Object, error) {
	v, ok := o.Value.(typed)
	if !ok {
		return o, nil
	}
	if has := v.GetCreationTimestamp(); !missing(&has) {
		return o, nil
	}
	v = v.DeepCopyObject().(typed)
	v.SetCreationTimestamp(at)
	return Of(v)
}

// CreatedPod is Created for a pod. One that waits also gets its place among those of one second:
// the revision, and the place in that one's list. The argument is not written.
func CreatedPod(pod *corev1.Pod, now time.Time, revision int64, place int) *corev1.Pod {
	p := *pod
	if p.CreationTimestamp.IsZero() {
		p.CreationTimestamp = metav1.NewTime(now.UTC().Truncate(time.Second))
	}
	if p.Spec.NodeName == "" && p.Annotations[createdIn] == "" {
		p.Annotations = withAnnotation(p.Annotations, fmt.Sprintf("%d.%d", revision, place))
	}
	return &p
}

// KeepCreatedPod is KeepCreated for a pod.
func KeepCreatedPod(pod, stored *corev1.Pod) *corev1.Pod {
	p := *pod
	if !stored.CreationTimestamp.IsZero() {
		p.CreationTimestamp = stored.CreationTimestamp
	}
	if was := stored.Annotations[createdIn]; was != "" && p.Annotations[createdIn] != was {
		p.Annotations = withAnnotation(p.Annotations, was)
	}
	return &p
}

func withAnnotation(all map[string]string, value string) map[string]string {
	out := maps.Clone(all)
	if out == nil {
		out = map[string]string{}
	}
	out[createdIn] = value
	return out
}

// WithoutOrder returns annotations without what CreatedOrder reads. The argument is not written.
func WithoutOrder(annotations map[string]string) map[string]string {
	if _, has := annotations[createdIn]; !has {
		return annotations
	}
	if len(annotations) == 1 {
		return nil
	}
	out := maps.Clone(annotations)
	delete(out, createdIn)
	return out
}

// CreatedOrder returns a number that is greater for a pod which a ledger created later; 0 where
// that is not known.
func CreatedOrder(pod *corev1.Pod) int64 {
	revision, place, _ := strings.Cut(pod.Annotations[createdIn], ".")
	r, err := strconv.ParseInt(revision, 10, 64-placeBits)
	if err != nil || r < 0 {
		return 0
	}
	n, err := strconv.ParseUint(place, 10, placeBits)
	if err != nil {
		return 0
	}
	return r<<placeBits | int64(n)
}
