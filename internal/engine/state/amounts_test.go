package state

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestAmountErrors(t *testing.T) {
	pod := func(requests ...corev1.ResourceList) *corev1.Pod {
		p := &corev1.Pod{}
		for _, r := range requests {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Resources: corev1.ResourceRequirements{Requests: r}})
		}
		return p
	}
	of := func(name, amount string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceName(name): resource.MustParse(amount)}
	}
	for _, c := range []struct {
		name string
		o    any
		at   string // empty: no error
	}{
		{"usual", pod(of("cpu", "500m"), of("memory", "64Gi")), ""},
		{"as much as there is", pod(of("memory", "9223372036854775807")), ""},
		{"as much cpu as there is", pod(of("cpu", "9223372036854775807m")), ""},
		{"cpu that wraps to less than nothing", pod(of("cpu", "18446744073709501616m")), "spec.containers[0].resources.requests[cpu]"},
		{"cpu of 1e30", pod(of("cpu", "1e30")), "spec.containers[0].resources.requests[cpu]"},
		{"cpu that fits as cores alone", pod(of("cpu", "9300000000000000")), "spec.containers[0].resources.requests[cpu]"},
		{"memory that is cut when it is read, and its sum", pod(of("memory", "9Ei"), of("memory", "10Ei")), "spec.containers"},
		{"a sum", pod(of("memory", "5Ei"), of("memory", "5Ei")), "spec.containers"},
		{"a node", &corev1.Node{Status: corev1.NodeStatus{Allocatable: of("cpu", "1e30")}}, "status.allocatable[cpu]"},
		{"something else", &corev1.Namespace{}, ""},
	} {
		errs := AmountErrors(c.o)
		if c.at == "" && len(errs) > 0 || c.at != "" && (len(errs) == 0 || errs[0].Field != c.at) {
			t.Errorf("%s: %v", c.name, errs)
		}
	}
}
