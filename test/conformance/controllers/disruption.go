package controllers

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Disruptions are budgets' statuses, and the verdicts of the Eviction API under them.
var Disruptions = &Part{Name: "disruption", Draw: drawDisruption, Want: playDisruption, Got: evictionsOf}

// evictionsOf are the moments of pods, and what the API refused.
func evictionsOf(_ *Case, a *Answer) []string {
	list := lifeOf(a)
	for _, m := range a.Timeline {
		if m.What == "refused" && m.Pod != "" {
			list = append(list, fmt.Sprintf("%d refused %s: %s", m.AfterSeconds, strings.TrimPrefix(m.Pod, "default/"), m.Why))
		}
	}
	return sortedLines(list)
}

// drawDisruption draws workloads under one or two budgets, whose statuses the real controller has
// worked out, and evictions of their pods.
func drawDisruption(d *Drawing) {
	d.k.Start = int64(d.IntN(40))
	d.add(nodeOf("a", ""), nodeOf("b", ""))
	var names, sets []string
	for i := range 1 + d.IntN(3) {
		kind := one(d, "ReplicaSet", "ReplicaSet", "ReplicaSet", "Deployment", "CloneSet", "")
		labels := map[string]string{"app": one(d, "web", "web", "web", "db")}
		list := d.workload(kind, fmt.Sprintf("w%d", i), labels)
		if names = append(names, list...); kind == "ReplicaSet" {
			sets = append(sets, fmt.Sprintf("w%d", i))
		}
	}
	for i := range 1 + d.IntN(7)/6 {
		d.add(d.budget(fmt.Sprintf("budget%d", i)))
	}
	if err := newBudgets(newCluster(d.k)).writeStatuses(d.k); err != nil {
		panic(err)
	}
	at := int64(0)
	for range 1 + d.IntN(12) {
		at += one(d, int64(0), 0, 1, int64(d.IntN(30)), int64(d.IntN(90)))
		name := names[d.IntN(len(names))]
		switch {
		case len(sets) > 0 && d.in(8):
			d.tag("scale")
			d.event(at, Event{Scale: &ScaleTo{"ReplicaSet", "default", sets[0], 7 + d.IntN(3)}})
			sets = nil
		default:
			d.event(at, Event{Evict: &PodNamed{"default", name + one(d, "", "", "", "-2")}})
		}
	}
}

// workload draws pods of a controller, with the objects that the disruption controller finds.
func (d *Drawing) workload(kind, name string, labels map[string]string) (names []string) {
	n := int32(1 + d.IntN(6))
	var ref *metav1.OwnerReference
	switch kind {
	case "CloneSet":
		r := owned("apps.kruise.io/v1alpha1", kind, name)
		ref = &r
		d.tag("no scale")
	case "ReplicaSet", "Deployment":
		r := owned("apps/v1", "ReplicaSet", name)
		ref = &r
		rs := typed(&appsv1.ReplicaSet{}, "ReplicaSet", "apps/v1")
		rs.Namespace, rs.Name, rs.UID = "default", name, r.UID
		rs.Spec = appsv1.ReplicaSetSpec{Replicas: &n, Selector: selecting(labels)}
		rs.Spec.Template.Labels, rs.Spec.Template.Spec.Containers = labels, []corev1.Container{{Name: "c", Image: "i"}}
		if kind == "Deployment" {
			rs.OwnerReferences = []metav1.OwnerReference{owned("apps/v1", "Deployment", name)}
			d.tag("deployment")
		}
		d.add(rs)
	default:
		d.tag("bare")
	}
	for i := range int(n) {
		p := podOf(fmt.Sprintf("%s-%d", name, i), labels, ref)
		*p.Spec.TerminationGracePeriodSeconds = one(d, int64(0), 1, 30, 60)
		runs(p, one(d, "a", "b"), 500+int64(d.IntN(90)), int64(d.IntN(40)))
		switch d.IntN(12) {
		case 0, 1:
			unready(p)
			d.tag("unready")
		case 2:
			p.Status.Phase = corev1.PodPending
			unready(p)
			d.tag("starting")
		case 3:
			if ref == nil {
				p.Status.Phase = corev1.PodSucceeded
				unready(p)
				d.tag("over")
			}
		}
		names = append(names, p.Name)
		d.add(p)
	}
	return names
}

// budget draws a budget.
func (d *Drawing) budget(name string) *policyv1.PodDisruptionBudget {
	b := typed(&policyv1.PodDisruptionBudget{}, "PodDisruptionBudget", "policy/v1")
	b.Namespace, b.Name, b.UID, b.Generation = "default", name, uidOf("pdb", name), 1
	b.Spec.Selector = selecting(map[string]string{"app": one(d, "web", "web", "db")})
	size := intstr.FromInt32(int32(d.IntN(6)))
	if d.in(40) {
		size = intstr.FromString(fmt.Sprintf("%d%%", d.IntN(101)))
		d.tag("percent")
	}
	if d.in(50) {
		b.Spec.MaxUnavailable = &size
		d.tag("maxUnavailable")
	} else {
		b.Spec.MinAvailable = &size
	}
	switch d.IntN(4) {
	case 0:
		policy := policyv1.AlwaysAllow
		b.Spec.UnhealthyPodEvictionPolicy = &policy
		d.tag("AlwaysAllow")
	case 1:
		policy := policyv1.IfHealthyBudget
		b.Spec.UnhealthyPodEvictionPolicy = &policy
	}
	return b
}
