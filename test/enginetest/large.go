package enginetest

import (
	"fmt"
	"math/rand/v2"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Size is how large a cluster Large makes.
type Size struct{ Nodes, Pods, Apps int }

// FullSize is the cluster that the project measures itself on.
var FullSize = Size{Nodes: 5000, Pods: 150_000, Apps: 500}

// Large makes a realistic cluster: nodes in three zones with the labels that cloud providers set,
// one in twenty of them tainted; apps of equal size, each with a ReplicaSet, half of them with a
// Service, one in ten with preferred anti-affinity and one in ten with required anti-affinity per
// node. A size always makes the same objects.
func Large(size Size) []any {
	r := rand.New(rand.NewPCG(7, uint64(size.Nodes)))
	out := make([]any, 0, size.Nodes+size.Pods+3*size.Apps)
	for i := range size.Nodes {
		name := fmt.Sprintf("node-%05d", i)
		n := Node(name, Zone(fmt.Sprintf("zone-%c", 'a'+i%3)), NodeLabels(
			corev1.LabelTopologyRegion, "region-1", corev1.LabelArchStable, "amd64", corev1.LabelOSStable, "linux",
			corev1.LabelInstanceTypeStable, []string{"m5.4xlarge", "m5.8xlarge", "c5.4xlarge"}[i%7%3],
			"disktype", []string{"ssd", "hdd"}[i%5/4], "node.example.com/pool", fmt.Sprintf("pool-%02d", i%20),
		), Allocatable("cpu", "32", "memory", "128Gi", "ephemeral-storage", "500Gi"))
		switch {
		case i%20 == 7:
			Taint("dedicated", "batch", corev1.TaintEffectNoSchedule)(n)
		case i%10 == 3:
			Taint("spot", "true", corev1.TaintEffectPreferNoSchedule)(n)
		}
		HoldsImage(int64(80+i%40)<<20, fmt.Sprintf("registry.example.com/app-%03d:v1", i%50))(n)
		out = append(out, n)
	}
	for i := range size.Apps {
		ns, name := largeNamespace(i), fmt.Sprintf("app-%03d", i)
		if i < 20 {
			out = append(out, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns, Labels: map[string]string{"kubernetes.io/metadata.name": ns}}})
		}
		out = append(out, &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Spec: appsv1.ReplicaSetSpec{Selector: Match("app", name, "pod-template-hash", "5d9c")}})
		if i%2 == 0 {
			out = append(out, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": name}}})
		}
	}
	// A node takes at most one pod of an app with required anti-affinity.
	at := r.Perm(size.Nodes)
	for i := range size.Pods {
		p := LargePod(i%size.Apps, fmt.Sprintf("%06d", i))
		On(fmt.Sprintf("node-%05d", at[(i/size.Apps*17+i)%size.Nodes]))(p)
		out = append(out, p)
	}
	return out
}

func largeNamespace(app int) string { return fmt.Sprintf("team-%02d", app%20) }

// LargePod is a pending pod of one of the apps of Large. Options come last.
func LargePod(app int, suffix string, opts ...PodOption) *corev1.Pod {
	name := fmt.Sprintf("app-%03d", app)
	p := Pod(name+"-"+suffix, In(largeNamespace(app)),
		Labels("app", name, "pod-template-hash", "5d9c", "version", "v1"),
		Requests("cpu", []string{"100m", "250m", "500m"}[app%3], "memory", []string{"128Mi", "256Mi", "512Mi"}[app%3]),
		Owner("apps/v1", "ReplicaSet", name))
	p.UID = types.UID("uid-" + p.Name)
	p.Spec.Containers[0].Image = "registry.example.com/" + name + ":v1"
	switch app % 10 {
	case 3:
		PreferNear(-100, PodTerm(corev1.LabelHostname, Match("app", name)))(p)
	case 7:
		Away(PodTerm(corev1.LabelHostname, Match("app", name)))(p)
	}
	for _, o := range opts {
		o(p)
	}
	return p
}
