package controllers

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Begin is when every case begins.
var Begin = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// Case is a cluster and what happens in it.
type Case struct {
	Part    string
	Seed    uint64
	Start   int64 // how long a pod takes to start of which nothing is known
	Until   int64 // seconds
	Objects []any
	Events  []Event
	tags    map[string]bool // what it has in it, for the summary
	// nameless reports that it is not asked which pod is which: names of new ones are chance.
	nameless bool
}

// Event is an event of berth's scenarios. Each case makes those that its part knows.
type Event struct {
	At      string      `json:"at"`
	Scale   *ScaleTo    `json:"scale,omitempty"`
	Evict   *PodNamed   `json:"evict,omitempty"`
	Delete  *PodNamed   `json:"delete,omitempty"`
	Die     *NodesNamed `json:"nodesDie,omitempty"`
	Return  *NodesNamed `json:"nodesReturn,omitempty"`
	Remove  *NodesNamed `json:"removeNodes,omitempty"`
	Taint   *TaintOf    `json:"taint,omitempty"`
	Untaint *TaintOf    `json:"untaint,omitempty"`
	RollOut *RollOutOf  `json:"rollOut,omitempty"`
	Apply   any         `json:"apply,omitempty"`
	second  int64
}

// RollOutOf is a workload with another template.
type RollOutOf struct {
	DaemonSet *appsv1.DaemonSet `json:"daemonSet"`
}

// ScaleTo is a number of pods for a workload.
type ScaleTo struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Replicas  int    `json:"replicas"`
}

// PodNamed names a pod.
type PodNamed struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// TaintOf is a taint of nodes.
type TaintOf struct {
	Nodes  []string `json:"nodes"`
	Key    string   `json:"key"`
	Value  string   `json:"value,omitempty"`
	Effect string   `json:"effect"`
}

// NodesNamed names nodes.
type NodesNamed struct {
	Nodes []string `json:"nodes"`
}

// Part is a controller on trial.
type Part struct {
	Name string
	Draw func(d *Drawing)
	// Want is what upstream does, and Got what berth did: lines that have to be the same. Accept,
	// where it is not nil, judges a berth's answer by itself instead.
	Want   func(k *Case) ([]string, error)
	Got    func(k *Case, a *Answer) []string
	Accept func(k *Case, a *Answer) ([]string, error)
}

// Parts are all that there are.
var Parts = []*Part{ReplicaSets, StatefulSets, Disruptions, Jobs, Taints, Nodes, Attachments, Daemons, CronJobs}

// DrawCase returns the case of a seed.
func (p *Part) DrawCase(seed uint64) *Case {
	k := &Case{Part: p.Name, Seed: seed, Start: 10, Until: 3600, tags: map[string]bool{}}
	p.Draw(&Drawing{Rand: rand.New(rand.NewPCG(seed, 2)), k: k})
	return k
}

// Try returns in what berth and upstream differ about a case; none where they agree.
func (p *Part) Try(c *Client, k *Case) ([]string, error) {
	a, err := c.Ask(k)
	if err != nil {
		return nil, err
	}
	if p.Accept != nil {
		return p.Accept(k, a)
	}
	want, err := p.Want(k)
	if err != nil {
		return nil, err
	}
	return differ(want, p.Got(k, a)), nil
}

// differ compares lines, from the first on in which they differ.
func differ(want, got []string) []string {
	n := 0
	for n < len(want) && n < len(got) && want[n] == got[n] {
		n++
	}
	if n == len(want) && n == len(got) {
		return nil
	}
	out := append([]string{}, want[max(0, n-6):n]...)
	for _, l := range want[n:min(len(want), n+8)] {
		out = append(out, "upstream: "+l)
	}
	for _, l := range got[n:min(len(got), n+8)] {
		out = append(out, "berth:    "+l)
	}
	return out
}

// Drawing draws a case.
type Drawing struct {
	*rand.Rand
	k *Case
}

// in reports true in n of a hundred cases.
func (d *Drawing) in(n int) bool { return d.IntN(100) < n }

func one[T any](d *Drawing, list ...T) T { return list[d.IntN(len(list))] }

func (d *Drawing) add(objects ...any) { d.k.Objects = append(d.k.Objects, objects...) }

func (d *Drawing) tag(name string) { d.k.tags[name] = true }

func (d *Drawing) event(second int64, e Event) {
	e.second, e.At = second, fmt.Sprintf("%ds", second)
	d.k.Events = append(d.k.Events, e)
	slices.SortStableFunc(d.k.Events, func(a, b Event) int { return int(a.second - b.second) })
}

// Tags are what a case has in it, in order.
func (k *Case) Tags() string {
	list := []string{}
	for t := range k.tags {
		list = append(list, t)
	}
	slices.Sort(list)
	return strings.Join(list, ",")
}

// ago is a time before the begin.
func ago(seconds int64) metav1.Time {
	return metav1.NewTime(Begin.Add(-time.Duration(seconds) * time.Second))
}

// owned is the reference to a controller.
func owned(version, kind, name string) metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{APIVersion: version, Kind: kind, Name: name, UID: uidOf(kind, name), Controller: &yes}
}

func uidOf(kind, name string) types.UID { return types.UID(kind + "-" + name) }

// of returns the objects of a type.
func of[T any](k *Case) (list []*T) {
	for _, o := range k.Objects {
		if x, ok := o.(*T); ok {
			list = append(list, x)
		}
	}
	return list
}

func nodeOf(name, zone string) *corev1.Node {
	n := &corev1.Node{TypeMeta: metav1.TypeMeta{Kind: "Node", APIVersion: "v1"}}
	n.Name, n.Labels = name, map[string]string{corev1.LabelHostname: name}
	if zone != "" {
		n.Labels[corev1.LabelTopologyZone] = zone
	}
	n.Status.Allocatable = corev1.ResourceList{"cpu": quantity("64"), "memory": quantity("256Gi"), "pods": quantity("500")}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: ago(86400)}}
	return n
}

// podOf is a pod that waits, with tolerations that keep nodes' states out of the case.
func podOf(name string, labels map[string]string, owner *metav1.OwnerReference) *corev1.Pod {
	p := &corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}}
	p.Namespace, p.Name, p.UID, p.Labels, p.CreationTimestamp = "default", name, uidOf("pod", name), labels, ago(7200)
	if owner != nil {
		p.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	grace := int64(30)
	p.Spec = corev1.PodSpec{
		SchedulerName: corev1.DefaultSchedulerName, TerminationGracePeriodSeconds: &grace, RestartPolicy: corev1.RestartPolicyAlways,
		Containers: []corev1.Container{{Name: "c", Image: "i"}},
	}
	p.Status.Phase = corev1.PodPending
	return p
}

// runs has a pod run on a node: ready since a number of seconds ago, which it was took seconds
// after its start.
func runs(p *corev1.Pod, node string, since, took int64) *corev1.Pod {
	start := ago(since + took)
	p.CreationTimestamp = start
	p.Spec.NodeName, p.Status.Phase, p.Status.StartTime = node, corev1.PodRunning, &start
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: ago(since)}}
	return p
}

// unready takes a pod's readiness away.
func unready(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }

// dying has a pod be in the middle of its deletion.
func dying(p *corev1.Pod, left int64) {
	at := metav1.NewTime(Begin.Add(time.Duration(left) * time.Second))
	grace := max(left, 30)
	p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &at, &grace
}

func selecting(labels map[string]string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: labels}
}

func typed[T any](o T, kind, version string) T {
	switch x := any(o).(type) {
	case *appsv1.ReplicaSet:
		x.TypeMeta = metav1.TypeMeta{Kind: kind, APIVersion: version}
	case *appsv1.StatefulSet:
		x.TypeMeta = metav1.TypeMeta{Kind: kind, APIVersion: version}
	case *appsv1.DaemonSet:
		x.TypeMeta = metav1.TypeMeta{Kind: kind, APIVersion: version}
	case *batchv1.CronJob:
		x.TypeMeta = metav1.TypeMeta{Kind: kind, APIVersion: version}
	case *batchv1.Job:
		x.TypeMeta = metav1.TypeMeta{Kind: kind, APIVersion: version}
	case *policyv1.PodDisruptionBudget:
		x.TypeMeta = metav1.TypeMeta{Kind: kind, APIVersion: version}
	case *corev1.PersistentVolume:
		x.TypeMeta = metav1.TypeMeta{Kind: kind, APIVersion: version}
	case *corev1.PersistentVolumeClaim:
		x.TypeMeta = metav1.TypeMeta{Kind: kind, APIVersion: version}
	}
	return o
}
