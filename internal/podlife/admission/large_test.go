package admission

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestLargePods are as large as a request may be: what is quadratic in the
// number of gates, ports, tolerations or claims would not come back.
func TestLargePods(t *testing.T) {
	const n, few = 100_000, 1000 // few: upstream compares each with all others
	large := func(from int) *corev1.Pod {
		p := pod(t, "")
		s, c := &p.Spec, &p.Spec.Containers[0]
		for i := from; i < from+n; i++ {
			name := fmt.Sprint("n", i)
			s.SchedulingGates = append(s.SchedulingGates, corev1.PodSchedulingGate{Name: name})
			s.Tolerations = append(s.Tolerations, corev1.Toleration{Key: name, Operator: corev1.TolerationOpExists})
			s.ResourceClaims = append(s.ResourceClaims, corev1.PodResourceClaim{Name: name, ResourceClaimName: &name})
			if i-from < few {
				c.Resources.Claims = append(c.Resources.Claims, corev1.ResourceClaim{Name: name})
				s.TopologySpreadConstraints = append(s.TopologySpreadConstraints, corev1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: name, WhenUnsatisfiable: corev1.DoNotSchedule})
			}
			c.Ports = append(c.Ports, corev1.ContainerPort{ContainerPort: 1, HostPort: 1, HostIP: name})
		}
		return p
	}
	old, more := large(0), large(n/2)
	v := Update(more, old)
	gates := 0
	for _, e := range v.Errors {
		if e.Field != "spec" && e.Field != "spec.tolerations" {
			gates++
		}
	}
	if gates != n/2 {
		t.Errorf("%d errors about gates, want %d", gates, n/2)
	}
	old.ResourceVersion = ""
	if v := Create(old, Admission{}, now); v.Errors != nil {
		t.Errorf("refused: %d errors, the first %v", len(v.Errors), v.Errors[0])
	}
	s := &old.Spec
	s.TopologySpreadConstraints = append(s.TopologySpreadConstraints, s.TopologySpreadConstraints...)
	s.InitContainers = []corev1.Container{{Name: "i", Image: "i"}}
	s.InitContainers[0].Resources.Claims = append(s.Containers[0].Resources.Claims, s.Containers[0].Resources.Claims...)
	v = Create(old, Admission{}, now)
	if len(v.Errors) != 2 || v.Errors[0].Field != "spec.initContainers[0].resources.claims" || v.Errors[1].Field != "spec.topologySpreadConstraints" || v.Errors[1].Type != field.ErrorTypeTooMany {
		t.Errorf("more than upstream is given: %v", v.Errors)
	}
}
