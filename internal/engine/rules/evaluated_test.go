package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	et "berth/test/enginetest"
)

func TestVolumesAreEvaluated(t *testing.T) {
	volume := func(v corev1.VolumeSource) *corev1.Pod {
		p := et.Pod("p")
		p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: v}}
		return p
	}
	for _, tc := range []struct {
		name string
		pod  *corev1.Pod
		want []string
	}{
		{"nothing to judge, nothing said", et.Pod("p"), nil},
		{"an emptyDir concerns nobody", volume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}), nil},
		{"a claim is judged", volume(corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}}), nil},
		{"an inline CSI volume is judged", volume(corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: "d"}}), nil},
		{"an inline disk is judged", volume(corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{}}), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := decide(t, ruleCase{objects: list(et.Node("n")), pod: tc.pod})
			var got []string
			for _, n := range d.NotEvaluated {
				got = append(got, n.Plugin)
				if n.Reason == "" {
					t.Errorf("%s gives no reason", n.Plugin)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("not evaluated (-want +got):\n%s", diff)
			}
		})
	}
}
