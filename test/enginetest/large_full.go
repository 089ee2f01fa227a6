package enginetest

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LargeFull is the cluster of Large with every node full to the last millicore, its pods of four
// priorities and many ages, and a budget for each of its apps.
func LargeFull(size Size) (objects, budgets []any) {
	r := rand.New(rand.NewPCG(11, 13))
	used := map[string]int64{}
	objects = Large(size)
	for _, o := range objects {
		if p, ok := o.(*corev1.Pod); ok {
			used[p.Spec.NodeName] += p.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
			Priority(int32(r.IntN(4) * 10))(p)
			at := metav1.NewTime(Epoch.Add(time.Duration(r.IntN(86400)) * time.Second))
			p.Status.StartTime = &at
		}
	}
	for _, o := range objects {
		if n, ok := o.(*corev1.Node); ok {
			n.Status.Allocatable[corev1.ResourceCPU] = *resource.NewMilliQuantity(used[n.Name], resource.DecimalSI)
		}
	}
	for i := range size.Apps {
		app := fmt.Sprintf("app-%03d", i)
		budgets = append(budgets, &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Namespace: largeNamespace(i), Name: app},
			Spec:       policyv1.PodDisruptionBudgetSpec{Selector: Match("app", app)},
			Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: int32(r.IntN(2))},
		})
	}
	return objects, budgets
}

// Urgent is a pod that fits on none of the nodes of LargeFull as they are.
func Urgent(opts ...PodOption) *corev1.Pod {
	all := []PodOption{
		Priority(1000), Requests("cpu", "2", "memory", "1Gi"),
		Tolerate("dedicated", corev1.TolerationOpExists, "", ""),
	}
	return LargePod(0, "urgent", append(all, opts...)...)
}
