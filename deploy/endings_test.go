package deploy

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// TestEndings: the grace period holds what a server does on SIGTERM, and a budget
// lets a node be drained while it keeps a replica.
func TestEndings(t *testing.T) {
	each(t, func(t *testing.T, all []metav1.Object) {
		for name, pod := range templates(all) {
			if pod.Spec.RestartPolicy == corev1.RestartPolicyNever || pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
				continue // a Job: it is not asked for anything
			}
			for i := range pod.Spec.Containers {
				c := &pod.Spec.Containers[i]
				if c.Name != "berth" {
					continue
				}
				need := time.Duration(0)
				for flag, unset := range map[string]string{"drain-delay": "0s", "shutdown-timeout": "30s"} {
					text := flagOf(c, flag)
					if text == "" {
						text = unset
					}
					d, err := time.ParseDuration(text)
					if err != nil {
						t.Fatal(err)
					}
					need += d
				}
				if grace := pod.Spec.TerminationGracePeriodSeconds; grace == nil || time.Duration(*grace)*time.Second < need {
					t.Errorf("%s is killed before its %s to end are over", name, need)
				}
			}
		}
		for _, d := range servers(all) {
			for _, b := range of[*policyv1.PodDisruptionBudget](all) {
				replicas, keep := int(*d.Spec.Replicas), 0
				if b.Spec.MinAvailable != nil {
					n, err := intstr.GetScaledValueFromIntOrPercent(b.Spec.MinAvailable, replicas, true)
					if err != nil {
						t.Fatal(err)
					}
					keep = n
				} else {
					n, err := intstr.GetScaledValueFromIntOrPercent(b.Spec.MaxUnavailable, replicas, true)
					if err != nil {
						t.Fatal(err)
					}
					keep = replicas - n
				}
				if keep < 1 || keep >= replicas {
					t.Errorf("budget %s keeps %d of %d replicas", b.Name, keep, replicas)
				}
			}
		}
	})
}
