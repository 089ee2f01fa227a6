package player

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Case is a cluster and what happens in it.
type Case struct {
	Name    string
	Begin   time.Time
	Until   int64
	Objects []any
	Events  []Event
}

// drawing draws a case.
type drawing struct {
	*rand.Rand
	k     *Case
	nodes []*corev1.Node
	free  map[string]int64 // cpu, by node
	ports map[string]bool
	pods  []string
	kinds [][2]string // workloads
	gated []string
}

// Draw returns the case of a seed.
func Draw(seed uint64) *Case {
	d := &drawing{Rand: rand.New(rand.NewPCG(seed, 1)), free: map[string]int64{}, ports: map[string]bool{}}
	d.k = &Case{Name: fmt.Sprintf("case%d", seed), Begin: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), Until: 60 * int64(2+d.IntN(12))}
	for i := range 2 + d.IntN(5) {
		d.node(fmt.Sprintf("n%d", i+1))
	}
	for i := range 1 + d.IntN(3) {
		d.workload("ReplicaSet", fmt.Sprintf("web%d", i+1), 1+d.IntN(5))
	}
	if d.IntN(2) == 0 {
		d.workload("StatefulSet", "db", 1+d.IntN(4))
	}
	if d.IntN(3) == 0 {
		d.workload("Job", "work", 1+d.IntN(3))
	}
	for i := range d.IntN(4) {
		d.place(d.pod(fmt.Sprintf("bare%d", i+1), "bare"))
	}
	for i := range d.IntN(5) {
		p := d.pod(fmt.Sprintf("wait%d", i+1), "wait")
		if d.IntN(4) == 0 {
			p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/gate"}}
			d.gated = append(d.gated, p.Name)
		}
		p.CreationTimestamp = metav1.NewTime(d.k.Begin.Add(time.Duration(i-600) * time.Second))
		d.k.Objects = append(d.k.Objects, p)
		d.pods = append(d.pods, p.Name)
	}
	for range 1 + d.IntN(7) {
		d.event(int64(d.IntN(int(d.k.Until) / 2)))
	}
	return d.k
}

func (d *drawing) node(name string) *corev1.Node {
	cpu := int64(2 + d.IntN(5))
	n := &corev1.Node{
		TypeMeta:   metav1.TypeMeta{Kind: "Node", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelTopologyZone: string(rune('a' + d.IntN(2)))}},
		Status: corev1.NodeStatus{
			Allocatable: corev1.ResourceList{"cpu": *resource.NewQuantity(cpu, resource.DecimalSI), "memory": resource.MustParse("32Gi"), "pods": resource.MustParse("110")},
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(d.k.Begin.Add(-2 * time.Hour))}},
		},
	}
	d.free[name] = 1000 * cpu
	d.nodes = append(d.nodes, n)
	d.k.Objects = append(d.k.Objects, n)
	return n
}

// pod is a pod that waits.
func (d *drawing) pod(name, app string) *corev1.Pod {
	grace, priority := int64([]int{0, 1, 5, 30, 60, d.IntN(61)}[d.IntN(6)]), int32(10*d.IntN(4))
	p := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": app}},
		Spec: corev1.PodSpec{
			Priority: &priority, TerminationGracePeriodSeconds: &grace, SchedulerName: corev1.DefaultSchedulerName,
			Containers: []corev1.Container{{Name: "c", Image: "i", Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{"cpu": *resource.NewMilliQuantity(int64(250*(1+d.IntN(8))), resource.DecimalSI)},
			}}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		seconds := int64(300)
		if d.IntN(3) == 0 {
			seconds = int64(d.IntN(90))
		}
		p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds})
	}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
	switch d.IntN(8) {
	case 0:
		never := corev1.PreemptNever
		p.Spec.PreemptionPolicy = &never
	case 1:
		key := []string{corev1.LabelTopologyZone, corev1.LabelHostname}[d.IntN(2)]
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selector}}
		if d.IntN(2) == 0 {
			honor := corev1.NodeInclusionPolicyHonor
			p.Spec.TopologySpreadConstraints[0].NodeTaintsPolicy = &honor
		}
	case 2:
		port := int32(8000 + d.IntN(2))
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: port, HostPort: port, Protocol: corev1.ProtocolTCP}}
	case 3:
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelHostname, LabelSelector: selector}}}}
	case 4:
		p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelTopologyZone, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web1"}}}}}}
	case 5:
		seconds := int64(d.IntN(60))
		p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: "maintenance", Operator: corev1.TolerationOpExists, TolerationSeconds: &seconds, Effect: corev1.TaintEffectNoExecute})
	}
	return p
}

// place has a pod run on the first node that has room; without one it waits.
func (d *drawing) place(p *corev1.Pod) {
	d.pods = append(d.pods, p.Name)
	d.k.Objects = append(d.k.Objects, p)
	born := d.k.Begin.Add(-time.Duration(100+d.IntN(7000)) * time.Second)
	p.CreationTimestamp = metav1.NewTime(born)
	cpu, port := p.Spec.Containers[0].Resources.Requests.Cpu().MilliValue(), ""
	if list := p.Spec.Containers[0].Ports; len(list) > 0 {
		port = fmt.Sprint(list[0].HostPort)
	}
	for _, i := range d.Perm(len(d.nodes)) {
		name := d.nodes[i].Name
		if d.free[name] < cpu || port != "" && d.ports[name+port] {
			continue
		}
		d.free[name] -= cpu
		d.ports[name+port] = true
		p.Spec.NodeName = name
		began := metav1.NewTime(born.Add(time.Second))
		p.Status = corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &began, Conditions: []corev1.PodCondition{{
			Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(began.Add(time.Duration(d.IntN(40)) * time.Second)),
		}}}
		return
	}
}

// workload draws the pods of a workload, with a budget for some.
func (d *drawing) workload(kind, name string, n int) {
	like, yes := d.pod("", name), true
	api := map[string]string{"ReplicaSet": "apps/v1", "StatefulSet": "apps/v1", "Job": "batch/v1"}[kind]
	like.OwnerReferences = []metav1.OwnerReference{{APIVersion: api, Kind: kind, Name: name, UID: "u-1", Controller: &yes}}
	if kind == "Job" {
		like.Spec.RestartPolicy = corev1.RestartPolicyNever
	}
	d.kinds = append(d.kinds, [2]string{kind, name})
	healthy := int32(0)
	for i := range n {
		p := like.DeepCopy()
		p.Name = fmt.Sprintf("%s-%d", name, i)
		d.place(p)
		if p.Spec.NodeName != "" {
			healthy++
		}
	}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: like.Labels}, Spec: like.Spec}
	replicas, limit := int32(n), int32(d.IntN(4))
	switch kind {
	case "StatefulSet":
		s := &appsv1.StatefulSet{TypeMeta: metav1.TypeMeta{Kind: kind, APIVersion: api}, ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
		s.Spec = appsv1.StatefulSetSpec{Replicas: &replicas, Selector: selector, Template: template, ServiceName: name, PodManagementPolicy: appsv1.OrderedReadyPodManagement}
		if d.IntN(3) == 0 {
			s.Spec.PodManagementPolicy = appsv1.ParallelPodManagement
		} else if d.IntN(3) == 0 {
			s.Spec.MinReadySeconds = int32(d.IntN(20))
		}
		d.k.Objects = append(d.k.Objects, s)
	case "Job":
		j := &batchv1.Job{TypeMeta: metav1.TypeMeta{Kind: kind, APIVersion: api}, ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
		j.Spec = batchv1.JobSpec{Parallelism: &replicas, Completions: &replicas, BackoffLimit: &limit, Template: template}
		d.k.Objects = append(d.k.Objects, j)
	}
	if healthy > 0 && d.IntN(2) == 0 {
		least := max(1, healthy-int32(d.IntN(3)))
		d.k.Objects = append(d.k.Objects, &policyv1.PodDisruptionBudget{
			TypeMeta: metav1.TypeMeta{Kind: "PodDisruptionBudget", APIVersion: "policy/v1"}, ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
			Spec:   policyv1.PodDisruptionBudgetSpec{Selector: selector, MinAvailable: &intstr.IntOrString{IntVal: least}},
			Status: policyv1.PodDisruptionBudgetStatus{CurrentHealthy: healthy, DesiredHealthy: least, ExpectedPods: int32(n), DisruptionsAllowed: healthy - least},
		})
	}
}

// some are one or two nodes.
func (d *drawing) some() nodes {
	var list []string
	for range 1 + d.IntN(2) {
		if name := d.nodes[d.IntN(len(d.nodes))].Name; !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return nodes{list}
}

// event draws an event.
func (d *drawing) event(second int64) {
	e := Event{At: fmt.Sprintf("%ds", second), second: second}
	name, some := podName{"default", d.pods[d.IntN(len(d.pods))]}, d.some()
	switch kind := kinds[d.IntN(len(kinds))]; kind {
	case "delete":
		e.Delete = &name
	case "evict":
		e.Evict = &name
	case "ungate":
		if len(d.gated) > 0 {
			name.Name = d.gated[0]
		}
		e.Ungate = &name
	case "scale":
		of := d.kinds[d.IntN(len(d.kinds))]
		if of[0] == "Job" {
			of = d.kinds[0]
		}
		e.Scale = &scale{of[0], "default", of[1], d.IntN(7)}
	case "create":
		p := d.pod(fmt.Sprintf("new%d", len(d.k.Events)), "new")
		e.Create = &create{p, 1}
	case "add":
		n := d.node(fmt.Sprintf("added%d", len(d.k.Events)))
		d.k.Objects = d.k.Objects[:len(d.k.Objects)-1] // it comes later
		n.Status.Conditions = nil
		e.AddNodes = &addNodes{n, 1}
	case "cordon":
		e.Cordon = &some
	case "uncordon":
		e.Uncordon = &some
	case "die":
		e.NodesDie = &some
	case "return":
		e.NodesReturn = &some
	case "remove":
		e.RemoveNodes = &nodes{some.Nodes[:1]}
	case "taint", "untaint":
		of := &taintOf{some, "maintenance", "", []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute}[d.IntN(2)]}
		if e.Taint = of; kind == "untaint" {
			e.Taint, e.Untaint = nil, of
		}
	case "drain":
		e.Drain = &drainOf{some, d.IntN(2) == 0, d.IntN(3) > 0}
	}
	d.k.Events = append(d.k.Events, e)
}

// kinds are those of events.
var kinds = []string{"delete", "evict", "scale", "cordon", "uncordon", "ungate", "create", "die", "die", "return", "remove", "add", "taint", "untaint", "drain"}
