package podlife

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestAddTolerationSeconds(t *testing.T) {
	added := func(key string) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: "Exists", Effect: "NoExecute", TolerationSeconds: new(int64(300))}
	}
	notReady, unreachable := added("node.kubernetes.io/not-ready"), added("node.kubernetes.io/unreachable")
	for name, c := range map[string]struct{ has, gains []corev1.Toleration }{
		"none":                   {nil, []corev1.Toleration{notReady, unreachable}},
		"another":                {[]corev1.Toleration{{Key: "k", Operator: "Exists"}}, []corev1.Toleration{notReady, unreachable}},
		"one of the two":         {[]corev1.Toleration{{Key: notReady.Key, Operator: "Exists", Effect: "NoExecute", TolerationSeconds: new(int64(0))}}, []corev1.Toleration{unreachable}},
		"of any effect":          {[]corev1.Toleration{{Key: unreachable.Key, Operator: "Exists"}}, []corev1.Toleration{notReady}},
		"of another effect":      {[]corev1.Toleration{{Key: unreachable.Key, Operator: "Exists", Effect: "NoSchedule"}}, []corev1.Toleration{notReady, unreachable}},
		"everything":             {[]corev1.Toleration{{Operator: "Exists"}}, nil},
		"an operator not read":   {[]corev1.Toleration{{Key: notReady.Key, Operator: "Equal", Value: "x", Effect: "NoExecute"}}, []corev1.Toleration{unreachable}},
		"any key, by its effect": {[]corev1.Toleration{{Operator: "Exists", Effect: "NoExecute"}}, nil},
	} {
		s := &corev1.PodSpec{Tolerations: c.has}
		AddTolerationSeconds(s)
		if d := cmp.Diff(append(append([]corev1.Toleration{}, c.has...), c.gains...), append([]corev1.Toleration{}, s.Tolerations...)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
