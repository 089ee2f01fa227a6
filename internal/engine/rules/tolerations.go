package rules

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
)

// tolerates reports whether one of the tolerations covers the taint. The operators Lt and Gt are
// alpha in v1.36 and off, so they match nothing.
func tolerates(tolerations []corev1.Toleration, taint *corev1.Taint) bool {
	for i := range tolerations {
		if tolerations[i].ToleratesTaint(klog.Logger{}, taint, false) {
			return true
		}
	}
	return false
}

// keepsOut reports whether a taint keeps pods without toleration off a node.
func keepsOut(taint *corev1.Taint) bool {
	return taint.Effect == corev1.TaintEffectNoSchedule || taint.Effect == corev1.TaintEffectNoExecute
}

// firstUntolerated returns the first taint that keeps the pod out; nil without.
func firstUntolerated(tolerations []corev1.Toleration, taints []corev1.Taint) *corev1.Taint {
	for i := range taints {
		if t := &taints[i]; keepsOut(t) && !tolerates(tolerations, t) {
			return t
		}
	}
	return nil
}

// Tolerates reports whether a pod tolerates a taint.
func Tolerates(pod *corev1.Pod, taint *corev1.Taint) bool {
	return tolerates(pod.Spec.Tolerations, taint)
}

// KeepsOut reports whether a taint keeps a pod off its node.
func KeepsOut(pod *corev1.Pod, taint *corev1.Taint) bool {
	return keepsOut(taint) && !Tolerates(pod, taint)
}
