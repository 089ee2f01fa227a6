package enginetest

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// gpu and gpuModel are what the machines of the openb trace are told apart by.
const (
	gpu      = "alibabacloud.com/gpu-count"
	gpuModel = "alibabacloud.com/gpu-card-model"
)

// OpenbNodes is the number of machines in the openb trace.
const OpenbNodes = 1523

// OpenbCluster makes nodes of ten kinds in the proportions of the openb trace, a
// public record of a cluster of machines with GPUs: most have some, cards of six
// models. With mixed, some bear a PreferNoSchedule taint or a label that pods
// may prefer.
func OpenbCluster(mixed bool) []any {
	kinds := []struct {
		share             int // of a hundred
		cpu, memory, gpus string
		model             string
	}{
		{20, "32", "128Gi", "0", ""},
		{10, "64", "256Gi", "0", ""},
		{3, "94", "380Gi", "0", ""},
		{13, "64", "256Gi", "2", "P100"},
		{24, "96", "384Gi", "8", "T4"},
		{8, "96", "768Gi", "8", "G2"},
		{4, "96", "512Gi", "8", "V100M16"},
		{9, "96", "768Gi", "8", "V100M32"},
		{7, "128", "1000Gi", "8", "G3"},
		{2, "128", "1000Gi", "4", "A10"},
	}
	r := rand.New(rand.NewPCG(11, 11))
	out := make([]any, 0, OpenbNodes)
	for i := range OpenbNodes {
		at := r.IntN(100)
		k := kinds[0]
		for _, k = range kinds {
			if at -= k.share; at < 0 {
				break
			}
		}
		n := Node(fmt.Sprintf("openb-node-%04d", i), Allocatable("cpu", k.cpu, "memory", k.memory))
		delete(n.Status.Allocatable, corev1.ResourceEphemeralStorage)
		if k.model != "" {
			Allocatable(gpu, k.gpus)(n)
			NodeLabels(gpuModel, k.model)(n)
		}
		if mixed {
			NodeLabels("disktype", []string{"ssd", "hdd"}[i%5/4])(n)
			if i%10 == 3 {
				Taint("spot", "true", corev1.TaintEffectPreferNoSchedule)(n)
			}
		}
		out = append(out, n)
	}
	return out
}

// OpenbPods makes n pods of the given number of shapes, which differ in what they
// ask for. A few shapes are most of the pods, as they are in the trace. With
// mixed, one shape in three prefers nodes by a label.
func OpenbPods(n, shapes int, mixed bool) []*corev1.Pod {
	r := rand.New(rand.NewPCG(12, uint64(shapes)))
	templates := make([]*corev1.Pod, shapes)
	for i := range templates {
		requests := []string{"cpu", fmt.Sprintf("%dm", 1000+50*i), "memory", fmt.Sprintf("%dMi", 2048+64*r.IntN(400))}
		if i%3 > 0 {
			requests = append(requests, gpu, []string{"1", "1", "2", "1", "4"}[i%5])
		}
		p := Pod("", In("openb"), Labels("qos", []string{"LS", "BE", "Burstable"}[i%3]), Requests(requests...))
		p.Spec.Containers[0].Image = "registry.example/task:1"
		if i%7 == 5 {
			RequireNodes(corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
				Expr(gpuModel, corev1.NodeSelectorOpIn, "T4", "V100M32", "G2"),
			}})(p)
		}
		if mixed && i%3 == 1 {
			PreferNodes(50, corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
				Expr("disktype", corev1.NodeSelectorOpIn, "ssd"),
			}})(p)
		}
		templates[i] = p
	}
	z := rand.NewZipf(r, 1.2, 8, uint64(shapes-1))
	out := make([]*corev1.Pod, n)
	for i := range out {
		p := *templates[z.Uint64()]
		p.Name = fmt.Sprintf("openb-pod-%04d", i)
		p.UID = types.UID("uid-" + p.Name)
		out[i] = &p
	}
	return out
}
