package controllers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/replicaset"
)

// ReplicaSets is which pods go when a ReplicaSet is scaled down.
var ReplicaSets = &Part{Name: "replicaset", Draw: drawReplicaSet, Accept: acceptScaleDown}

func quantity(s string) resource.Quantity { return resource.MustParse(s) }

// drawReplicaSet draws one to three ReplicaSets, of one Deployment or of none, and has the first
// one want fewer pods.
func drawReplicaSet(d *Drawing) {
	for i := range 3 {
		d.add(nodeOf(string(rune('a'+i)), ""))
	}
	var top *metav1.OwnerReference
	if d.in(60) {
		ref := owned("apps/v1", "Deployment", "web")
		top = &ref
		d.tag("deployment")
	}
	for i := range 1 + d.IntN(3) {
		labels := map[string]string{"app": "web", "pod-template-hash": fmt.Sprintf("h%d", i)}
		rs := typed(&appsv1.ReplicaSet{}, "ReplicaSet", "apps/v1")
		rs.Namespace, rs.Name, rs.Labels = "default", fmt.Sprintf("web-h%d", i), labels
		rs.UID = uidOf("ReplicaSet", rs.Name)
		if top != nil {
			rs.OwnerReferences = []metav1.OwnerReference{*top}
		}
		n := int32(1 + d.IntN(9))
		rs.Spec = appsv1.ReplicaSetSpec{Replicas: &n, Selector: selecting(labels)}
		rs.Spec.Template.Labels, rs.Spec.Template.Spec.Containers = labels, []corev1.Container{{Name: "c", Image: "i"}}
		d.add(rs)
		ref := owned("apps/v1", "ReplicaSet", rs.Name)
		for j := range int(n) {
			d.add(d.memberOf(fmt.Sprintf("%s-%d", rs.Name, j), labels, &ref))
		}
		if i == 0 {
			d.event(0, Event{Scale: &ScaleTo{"ReplicaSet", "default", rs.Name, d.IntN(int(n) + 1)}})
		}
	}
	d.k.Until = 1
}

// memberOf draws a pod of a ReplicaSet.
func (d *Drawing) memberOf(name string, labels map[string]string, ref *metav1.OwnerReference) *corev1.Pod {
	p := podOf(name, labels, ref)
	p.UID = types.UID(fmt.Sprintf("%08x", d.Uint32()))
	since := one(d, int64(1), 40, 600, 5000, 80000) + int64(d.IntN(20))
	runs(p, one(d, "a", "b", "c"), since, one(d, int64(1), 30, 4000, 90000))
	p.CreationTimestamp = ago(one(d, int64(100), 9000, 90000) + int64(d.IntN(20)))
	switch d.IntN(9) {
	case 0, 1:
		unready(p)
	case 2:
		p.Status.Phase = corev1.PodUnknown
		d.tag("unknown")
	case 3: // waits, and finds no node
		p.Spec.NodeName, p.Status.Phase, p.Status.Conditions = "", corev1.PodPending, nil
		p.Spec.NodeSelector = map[string]string{"no": "node"}
		d.tag("waits")
	case 4:
		p.Status.Phase = corev1.PodPending
		unready(p)
	case 5:
		switch d.IntN(3) {
		case 0:
			dying(p, 25)
		case 1:
			p.Status.Phase = corev1.PodFailed
			unready(p)
		}
	}
	if d.in(25) {
		p.Annotations = map[string]string{corev1.PodDeletionCost: one(d, "-5", "7", "0", "+9", "08", "x", "2147483648", "-2147483648", "-0", "")}
		d.tag("cost")
	}
	if d.in(30) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", RestartCount: int32(d.IntN(3))}}
	}
	if d.in(10) {
		always := corev1.ContainerRestartPolicyAlways
		p.Spec.InitContainers = []corev1.Container{{Name: "s", Image: "i", RestartPolicy: &always}, {Name: "i", Image: "i"}}
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "s", RestartCount: int32(d.IntN(3))}, {Name: "i", RestartCount: int32(d.IntN(3))}}
		d.tag("sidecar")
	}
	return p
}

// acceptScaleDown judges the pods that berth had go: no other one may have to go before. Where
// upstream's order has a circle, as equal times fall through to the next rule, what one order of
// the list has is right.
func acceptScaleDown(k *Case, a *Answer) ([]string, error) {
	gone := map[string]bool{}
	for _, m := range a.Timeline {
		if m.What == "leaves" {
			gone[strings.TrimPrefix(m.Pod, "default/")] = true
		}
	}
	list, related, err := scaledDown(k)
	if err != nil {
		return nil, err
	}
	ranked := func() controller.ActivePodsWithRanks {
		r := rankedPods(list, related)
		r.Now = metav1.NewTime(Begin)
		return r
	}
	diff := max(0, len(list)-k.Events[0].Scale.Replicas)
	if len(gone) != diff {
		return []string{fmt.Sprintf("%d pods go, upstream deletes %d of %d", len(gone), diff, len(list))}, nil
	}
	var wrong []string
	r := ranked()
	for i, p := range list {
		for j, q := range list {
			if !gone[p.Name] && gone[q.Name] && r.Less(i, j) && !r.Less(j, i) {
				wrong = append(wrong, fmt.Sprintf("%s goes and %s stays, which goes before it", q.Name, p.Name))
			}
		}
	}
	if wrong == nil {
		return nil, nil
	}
	shuffle := rand.New(rand.NewPCG(k.Seed, 3))
	for range 50 {
		shuffle.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		s := ranked()
		sort.Sort(s)
		if !slices.ContainsFunc(s.Pods[:diff], func(p *corev1.Pod) bool { return !gone[p.Name] }) {
			return nil, nil
		}
	}
	return wrong, nil
}

// scaledDown returns the pods that the first ReplicaSet counts, and those that rank them, as the
// real controller finds them on a fake client.
func scaledDown(k *Case) (list, related []*corev1.Pod, err error) {
	ctx := context.Background()
	client := fake.NewSimpleClientset()
	f := informers.NewSharedInformerFactory(client, 0)
	c := replicaset.NewReplicaSetController(ctx, f.Apps().V1().ReplicaSets(), f.Core().V1().Pods(), client, 500)
	var first *appsv1.ReplicaSet
	for _, rs := range of[appsv1.ReplicaSet](k) {
		if err := f.Apps().V1().ReplicaSets().Informer().GetIndexer().Add(rs); err != nil {
			return nil, nil, err
		}
		if rs.Name == k.Events[0].Scale.Name {
			first = rs
		}
	}
	pods := f.Core().V1().Pods().Informer().GetIndexer()
	for _, p := range of[corev1.Pod](k) {
		if err := pods.Add(p); err != nil {
			return nil, nil, err
		}
	}
	all, err := controller.FilterPodsByOwner(pods, &first.ObjectMeta, "ReplicaSet", true)
	if err != nil {
		return nil, nil, err
	}
	related, err = relatedPods(c, klog.Background(), first)
	return controller.FilterActivePods(klog.Background(), all), related, err
}
