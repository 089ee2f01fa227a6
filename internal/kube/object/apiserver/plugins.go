package apiserver

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/apis/core"
	corev1internal "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/util/tolerations"
)

// SetLimitRangeDefaults sets what an API server sets in every limit range that it reads.
func SetLimitRangeDefaults(r *corev1.LimitRange) { corev1internal.SetObjectDefaults_LimitRange(r) }

// MergeTolerations returns the tolerations of two lists, without those that another one covers.
func MergeTolerations(first, second []corev1.Toleration) (out []corev1.Toleration) {
	for _, t := range tolerations.MergeTolerations(internalTolerations(first), internalTolerations(second)) {
		var x corev1.Toleration
		converted(corev1internal.Convert_core_Toleration_To_v1_Toleration(&t, &x, nil))
		out = append(out, x)
	}
	return out
}

func internalTolerations(list []corev1.Toleration) []core.Toleration {
	out := make([]core.Toleration, len(list))
	for i := range list {
		converted(corev1internal.Convert_v1_Toleration_To_core_Toleration(&list[i], &out[i], nil))
	}
	return out
}
