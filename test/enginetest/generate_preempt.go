package enginetest

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Now is the time that generated cases are judged at.
var Now = Epoch.Add(48 * time.Hour)

// Mixed makes Generate's case of a seed, and Crowded's of every eighth.
func Mixed(seed uint64) *Case {
	if seed%8 == 0 {
		return Crowded(seed)
	}
	return Generate(seed)
}

// Crowded makes a random case in which mostly nothing but other pods is in the
// pod's way: what else keeps it off nodes is taken out of Generate's case, and
// three times out of four so are ports, spreading and affinity.
func Crowded(seed uint64) *Case {
	c, _ := generate(seed)
	g := &generator{r: rand.New(rand.NewPCG(seed, 0x63726f77646564))}
	plain := !g.in(4)
	var names []string
	for _, o := range c.Objects {
		switch o := o.(type) {
		case *corev1.Node:
			names = append(names, o.Name)
			o.Spec.Taints, o.Spec.Unschedulable = nil, false
			Allocatable("cpu", g.of("2", "4", "8"), "memory", g.of("2Gi", "8Gi"), "pods", g.of("4", "6", "110"), "ephemeral-storage", "20Gi")(o)
		case *corev1.Pod:
			if plain {
				simplify(o)
			}
		}
	}
	for i := range min(5*len(names), 90) {
		p := Pod(fmt.Sprintf("crowd%03d", i), In(g.of("default", "default", "dev")), Priority(int32(g.r.IntN(4)*10)), Requests("cpu", g.of("250m", "500m", "1"), "memory", g.of("100Mi", "512Mi")))
		p.UID = "uid-" + p.UID
		g.some(p.Labels, "app", "a", "b", "c")
		On(g.of(names...))(p)
		g.age(p)
		c.Objects = append(c.Objects, p)
	}
	q := c.Pod
	simplify(q)
	if seed%12 != 0 {
		q.Spec.Volumes = nil // some keep the pod off nodes whatever pods are there
	}
	q.Spec.NodeName, q.Spec.SchedulingGates, q.Spec.PreemptionPolicy, q.Spec.NodeSelector, q.Status.NominatedNodeName = "", nil, nil, nil, ""
	q.Spec.Containers[0].RestartPolicyRules, q.Spec.HostNetwork, q.Spec.HostUsers = nil, false, nil
	if !plain {
		g.interPod(q, 1)
		if g.in(2) {
			g.spread(q)
		}
	}
	Priority(int32(g.r.IntN(5)*5 + 5))(q)
	q.Spec.Containers[0].Resources.Requests = resources("cpu", g.of("1", "2"), "memory", g.of("200Mi", "1Gi"))
	c.Options.Candidates, c.Spec.Args.NodeAffinity.AddedAffinity = nil, nil
	return c
}

// simplify takes host ports, affinity and spreading from a pod.
func simplify(p *corev1.Pod) {
	p.Spec.Affinity, p.Spec.TopologySpreadConstraints = nil, nil
	for _, list := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range list {
			list[i].Ports = nil
		}
	}
}

// crowd adds what preemption reads to a case: start times, budgets and victims of earlier
// preemptions. In every third case the pod has a priority above most pods on full nodes. It draws
// from numbers of its own, so that the rest of a case stays as it is.
func crowd(seed uint64, c *Case) {
	g := &generator{r: rand.New(rand.NewPCG(seed, 0x7072656d7074))}
	if !g.in(8) {
		c.Options.Now = Now
	}
	eager := g.in(3)
	for _, o := range c.Objects {
		switch o := o.(type) {
		case *corev1.Node:
			g.nodes = append(g.nodes, o.Name)
			if eager && g.in(2) {
				Allocatable("pods", g.of("2", "3", "5"))(o)
			}
		case *corev1.Pod:
			g.age(o)
		}
	}
	if g.in(12) {
		never := corev1.PreemptNever
		c.Pod.Spec.PreemptionPolicy = &never
	}
	if eager {
		Priority(int32(g.r.IntN(3)*15 + 5))(c.Pod)
		c.Pod.Spec.Containers[0].Resources.Requests = resources("cpu", g.of("500m", "1", "2"), "memory", g.of("200Mi", "1Gi"))
		for i := range min(3*len(g.nodes), 60) {
			p := Pod(fmt.Sprintf("full%03d", i), In(g.of("default", "default", "dev")), Priority(int32(g.r.IntN(4)*10)), Requests("cpu", g.of("250m", "500m", "1"), "memory", g.of("100Mi", "512Mi")))
			p.UID = "uid-" + p.UID
			g.some(p.Labels, "app", "a", "b", "c")
			On(g.of(g.nodes...))(p)
			g.age(p)
			c.Objects = append(c.Objects, p)
		}
	}
	for i := range g.r.IntN(5) {
		b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: g.of("default", "default", "dev", "prod"), Name: fmt.Sprintf("budget%d", i)}}
		b.Spec.Selector = g.podSelector()
		b.Status.DisruptionsAllowed = int32(g.r.IntN(3))
		for _, o := range c.Objects {
			if p, ok := o.(*corev1.Pod); ok && p.Namespace == b.Namespace && g.in(12) {
				if b.Status.DisruptedPods == nil {
					b.Status.DisruptedPods = map[string]metav1.Time{}
				}
				b.Status.DisruptedPods[p.Name] = metav1.NewTime(Epoch)
			}
		}
		c.Objects = append(c.Objects, b)
	}
}

// age sets the start time of a pod on a node: few different ones, so that many are equal, and now
// and then one in the future. It sometimes adds a disruption condition.
func (g *generator) age(p *corev1.Pod) {
	if p.Spec.NodeName == "" {
		return
	}
	if !g.in(4) {
		at := metav1.NewTime(Epoch.Add(time.Duration(g.r.IntN(6)) * 10 * time.Hour))
		p.Status.StartTime = &at
	}
	if g.in(3) {
		grace := int64(g.r.IntN(4) * 20)
		p.Spec.TerminationGracePeriodSeconds = &grace
	}
	if p.DeletionTimestamp != nil && g.in(2) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: g.of(corev1.PodReasonPreemptionByScheduler, corev1.PodReasonTerminationByKubelet)})
	}
}
