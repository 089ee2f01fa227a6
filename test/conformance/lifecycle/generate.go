package lifecycle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// generator draws pods; times are counted from its base.
type generator struct {
	*rand.Rand
	base time.Time
}

// Generate draws the case of a seed: the same seed, the same pod, with times
// counted back from now. Write lets a kubelet write the status in every third.
func Generate(seed uint64, now time.Time, write func(*v1.Pod)) *Case {
	g := &generator{rand.New(rand.NewPCG(seed, 1)), now.UTC().Truncate(time.Second)}
	c := &Case{Pod: g.pod(seed), Node: Node(g.pick(80, 10, 10)), Now: now}
	c.Kubelet = g.one(3) && c.Pod.Spec.NodeName != ""
	if c.Kubelet {
		c.Kubelet = false
		for range 5 {
			before := c.Pod.Status.DeepCopy()
			if write(c.Pod); apiequality.Semantic.DeepEqual(before, &c.Pod.Status) {
				c.Kubelet = true
				break
			}
		}
	}
	return c
}

// one is true once in n times.
func (g *generator) one(n int) bool { return g.IntN(n) == 0 }

// pick returns an index, weighted.
func (g *generator) pick(weights ...int) int {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	n := g.IntN(sum)
	for i, w := range weights {
		if n < w {
			return i
		}
		n -= w
	}
	panic("unreachable")
}

func among[T any](g *generator, list ...T) T { return list[g.IntN(len(list))] }

func ptr[T any](v T) *T { return &v }

// ago is a time up to so many seconds before the base.
func (g *generator) ago(seconds int) metav1.Time {
	return metav1.NewTime(g.base.Add(-time.Duration(g.IntN(seconds+1)) * time.Second))
}

func (g *generator) pod(seed uint64) *v1.Pod {
	pod := &v1.Pod{
		TypeMeta:   metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("pod-", seed), UID: types.UID(fmt.Sprint("uid-", seed)), Generation: int64(g.pick(50, 30, 20))},
	}
	if g.one(5) {
		pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = ptr(g.ago(60)), ptr(int64(30))
		pod.Finalizers = []string{"example.com/held"} // the fake client drops deleted pods without one
	}
	if g.one(30) {
		pod.Annotations = map[string]string{"kubernetes.io/config.source": among(g, "file", "http", "api")}
	}
	s := &pod.Spec
	s.RestartPolicy = []v1.RestartPolicy{v1.RestartPolicyAlways, v1.RestartPolicyOnFailure, v1.RestartPolicyNever, ""}[g.pick(40, 27, 28, 5)]
	if !g.one(12) {
		s.NodeName = "node"
	} else if g.one(2) {
		s.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/gate"}}
	}
	for i := range g.pick(45, 30, 15, 10) {
		s.InitContainers = append(s.InitContainers, g.container(fmt.Sprint("i", i), true))
	}
	for i := range 1 + g.pick(50, 30, 20) {
		s.Containers = append(s.Containers, g.container(fmt.Sprint("c", i), false))
	}
	if g.one(12) {
		s.EphemeralContainers = append(s.EphemeralContainers, v1.EphemeralContainer{EphemeralContainerCommon: v1.EphemeralContainerCommon{Name: "e0"}})
	}
	for range g.pick(70, 20, 10) {
		s.ReadinessGates = append(s.ReadinessGates, v1.PodReadinessGate{ConditionType: among[v1.PodConditionType](g, "example.com/a", "example.com/b", "Initialized", "ContainersReady", "PodScheduled", "Ready", v1.DisruptionTarget)})
	}
	g.status(pod)
	g.deadline(pod)
	return pod
}

// deadline sets one on a pod, now and then, that is over, just over, just not, or
// not yet counted.
func (g *generator) deadline(pod *v1.Pod) {
	if !g.one(3) {
		began := g.ago(900)
		pod.Status.StartTime = &began
	}
	if !g.one(6) {
		return
	}
	seconds := int64(1 + g.IntN(600))
	pod.Spec.ActiveDeadlineSeconds = &seconds
	if pod.Status.StartTime != nil && g.one(2) {
		began := metav1.NewTime(g.base.Add(-time.Duration(seconds+int64(g.IntN(3))-1) * time.Second))
		pod.Status.StartTime = &began
	}
}

func (g *generator) container(name string, init bool) v1.Container {
	c := v1.Container{Name: name}
	if init {
		switch g.pick(50, 40, 5, 5) {
		case 1:
			c.RestartPolicy = ptr(v1.ContainerRestartPolicyAlways)
		case 2:
			c.RestartPolicy = ptr(v1.ContainerRestartPolicyNever)
		case 3:
			c.RestartPolicy = ptr(v1.ContainerRestartPolicyOnFailure)
		}
	} else if g.one(4) {
		c.RestartPolicy = ptr(among(g, v1.ContainerRestartPolicyAlways, v1.ContainerRestartPolicyOnFailure, v1.ContainerRestartPolicyNever))
	}
	sidecar := init && c.RestartPolicy != nil && *c.RestartPolicy == v1.ContainerRestartPolicyAlways
	if !sidecar && (c.RestartPolicy != nil && g.one(2) || g.one(25)) {
		for range 1 + g.IntN(2) {
			rule := v1.ContainerRestartRule{Action: v1.ContainerRestartRuleActionRestart, ExitCodes: &v1.ContainerRestartRuleOnExitCodes{
				Operator: among(g, v1.ContainerRestartRuleOnExitCodesOpIn, v1.ContainerRestartRuleOnExitCodesOpNotIn),
			}}
			if g.one(6) {
				rule.Action = v1.ContainerRestartRuleActionRestartAllContainers
			}
			for range 1 + g.IntN(3) {
				rule.ExitCodes.Values = append(rule.ExitCodes.Values, g.code())
			}
			c.RestartPolicyRules = append(c.RestartPolicyRules, rule)
		}
	}
	if !init || sidecar {
		probe := func() *v1.Probe {
			return &v1.Probe{InitialDelaySeconds: int32(g.IntN(3)), ProbeHandler: v1.ProbeHandler{Exec: &v1.ExecAction{Command: []string{"true"}}}}
		}
		if g.one(3) {
			c.StartupProbe = probe()
		}
		if g.one(4) {
			c.LivenessProbe = probe()
		}
		if g.one(4) {
			c.ReadinessProbe = probe()
		}
	}
	return c
}

func (g *generator) code() int32 {
	return []int32{0, 1, 2, 42, 137, 143}[g.pick(45, 20, 10, 10, 10, 5)]
}

// shuffled mixes a list now and then: an API server keeps whatever order.
func shuffled[T any](g *generator, list []T) []T {
	if g.one(4) {
		g.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	return slices.Clip(list)
}
