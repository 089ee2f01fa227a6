package podlife

import corev1 "k8s.io/api/core/v1"

// defaultTolerationSeconds is how long a pod stays on a node that is not ready or
// not reachable, unless it says otherwise (kube-apiserver's
// --default-not-ready-toleration-seconds and --default-unreachable-toleration-seconds).
const defaultTolerationSeconds = 300

// AddTolerationSeconds adds to a pod that is created or updated the tolerations of
// the node's two NoExecute taints that it has no toleration for. A toleration
// counts by its key and effect alone; its operator, value and seconds are not read
// (plugin/pkg/admission/defaulttolerationseconds admission.go Admit).
func AddTolerationSeconds(s *corev1.PodSpec) {
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		if !hasNoExecute(s.Tolerations, key) {
			s.Tolerations = append(s.Tolerations, corev1.Toleration{
				Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute,
				TolerationSeconds: new(int64(defaultTolerationSeconds)),
			})
		}
	}
}

// hasNoExecute reports whether a toleration is about a key's NoExecute taint.
func hasNoExecute(list []corev1.Toleration, key string) bool {
	for i := range list {
		t := &list[i]
		if (t.Key == key || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "") {
			return true
		}
	}
	return false
}
