package termination

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
)

// Question is what both sides are asked, in the form of berth's request.
type Question struct {
	Pod                       *corev1.Pod      `json:"pod"`
	Cause                     string           `json:"cause"`
	GracePeriodSeconds        *int64           `json:"gracePeriodSeconds,omitempty"`
	Force                     bool             `json:"force,omitempty"`
	Container                 string           `json:"container,omitempty"`
	PreStopSeconds            map[string]int64 `json:"preStopSeconds,omitempty"`
	EvictionMaxPodGracePeriod int32            `json:"evictionMaxPodGracePeriod,omitempty"`
	Shutdown                  *Shutdown        `json:"shutdown,omitempty"`
	Now                       time.Time        `json:"now"`
	// Semantics is the release that berth answers as; empty: its default.
	Semantics string `json:"semantics,omitempty"`
}

// Shutdown is a kubelet's configuration.
type Shutdown struct {
	Period   string  `json:"shutdownGracePeriod,omitempty"`
	Critical string  `json:"shutdownGracePeriodCriticalPods,omitempty"`
	Shares   []Share `json:"shutdownGracePeriodByPodPriority,omitempty"`
}

// Share is the time of pods from a priority on.
type Share struct {
	Priority int32 `json:"priority"`
	Seconds  int64 `json:"shutdownGracePeriodSeconds"`
}

// Generator makes questions; the same seed makes the same.
type Generator struct {
	*rand.Rand
	// Short makes periods of a few seconds only, so that they can be waited for.
	Short bool
	// Semantics is that of each question.
	Semantics string
	n         int
}

// NewGenerator makes the same questions for the same seed.
func NewGenerator(seed uint64) *Generator { return &Generator{Rand: rand.New(rand.NewPCG(seed, 41))} }

func pick[T any](g *Generator, list ...T) T { return list[g.IntN(len(list))] }

func (g *Generator) chance(percent int) bool { return g.IntN(100) < percent }

// Now is the time of all questions; half of them have a fraction of a second.
var Now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func (g *Generator) period() int64 {
	if g.Short {
		return pick(g, int64(0), 1, 2, 3, 4)
	}
	return pick(g, int64(0), 0, 1, 2, 3, 5, 9, 10, 30, 30, 45, 90, 3600, -1, -30)
}

func (g *Generator) maybe(percent int, f func() int64) *int64 {
	if !g.chance(percent) {
		return nil
	}
	n := f()
	return &n
}

// Question makes the next one.
func (g *Generator) Question() Question {
	g.n++
	q := Question{Semantics: g.Semantics, Now: Now.Add(time.Duration(g.IntN(2)*g.IntN(1e9)) * time.Nanosecond), Cause: pick(g, "delete", "delete", "delete", "evict-soft", "evict-hard", "preempt", "liveness", "startup", "shutdown", "kubelet-preempt")}
	q.Pod = g.pod()
	p := q.Pod
	q.PreStopSeconds = map[string]int64{}
	for _, list := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for _, c := range list {
			if c.Lifecycle != nil && c.Lifecycle.PreStop != nil && c.Lifecycle.PreStop.Exec != nil && g.chance(70) && !g.Short {
				q.PreStopSeconds[c.Name] = pick(g, int64(0), 1, 2, 5, 29, 30, 60)
			}
		}
	}
	switch q.Cause {
	case "delete":
		q.GracePeriodSeconds = g.maybe(60, g.period)
		q.Force = q.GracePeriodSeconds == nil && g.chance(15)
	case "evict-soft":
		q.EvictionMaxPodGracePeriod = pick(g, int32(0), 0, -1, 1, 5, 20, 31, 600)
		if g.Short {
			q.EvictionMaxPodGracePeriod = pick(g, int32(0), 1, 2, 3)
		}
	case "liveness", "startup":
		var with []*corev1.Container
		for _, list := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
			for i := range list {
				if q.Cause == "liveness" && list[i].LivenessProbe != nil || q.Cause == "startup" && list[i].StartupProbe != nil {
					with = append(with, &list[i])
				}
			}
		}
		if len(with) == 0 {
			q.Cause = "delete"
			break
		}
		q.Container = with[g.IntN(len(with))].Name
	case "shutdown":
		g.shutdown(&q)
	}
	return q
}

func (g *Generator) shutdown(q *Question) {
	switch g.IntN(4) {
	case 0:
		n := max(g.period(), 0)
		q.GracePeriodSeconds = &n
	case 1:
		all := g.IntN(60)
		q.Shutdown = &Shutdown{Period: fmt.Sprintf("%ds", all), Critical: fmt.Sprintf("%ds", g.IntN(all+1))}
	case 2:
		q.Shutdown = &Shutdown{}
		for _, n := range g.Perm(5)[:1+g.IntN(4)] {
			q.Shutdown.Shares = append(q.Shutdown.Shares, Share{[]int32{-10, 0, 100, 1000, 2000000000}[n], int64(g.IntN(40))})
		}
	}
}

func (g *Generator) pod() *corev1.Pod {
	p := &corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("p", g.n), Namespace: "default", UID: "u"}}
	p.Spec.TerminationGracePeriodSeconds = g.maybe(75, g.period)
	if g.chance(90) {
		p.Spec.NodeName = "n"
	}
	if g.chance(50) {
		n := pick(g, int32(0), -5, 100, 500, 1000, 2000000000, 2000001000)
		p.Spec.Priority = &n
	}
	p.Status.Phase = pick(g, corev1.PodRunning, corev1.PodRunning, corev1.PodRunning, corev1.PodPending, corev1.PodSucceeded, corev1.PodFailed, corev1.PodUnknown)
	if g.chance(30) {
		p.DeletionGracePeriodSeconds = g.maybe(90, func() int64 { return max(g.period(), 0) })
		at := metav1.NewTime(Now.Add(time.Duration(g.IntN(100)-40) * time.Second))
		p.DeletionTimestamp = &at
	}
	p.Spec.RestartPolicy = pick(g, "", corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever, corev1.RestartPolicyNever)
	for i := range 1 + g.IntN(2) {
		c := g.container(fmt.Sprint("main", i))
		if g.chance(25) {
			g.restarts(&c)
		}
		p.Spec.Containers = append(p.Spec.Containers, c)
	}
	for i := range g.IntN(4) {
		c := g.container(fmt.Sprint("init", i))
		if g.chance(70) {
			always := corev1.ContainerRestartPolicyAlways
			c.RestartPolicy = &always
		} else {
			if c.LivenessProbe, c.StartupProbe, c.Lifecycle = nil, nil, nil; g.chance(25) {
				g.restarts(&c)
				if podutil.IsRestartableInitContainer(&c) { // which one with rules may not be
					c.RestartPolicy, c.RestartPolicyRules = nil, nil
				}
			}
		}
		p.Spec.InitContainers = append(p.Spec.InitContainers, c)
	}
	if g.chance(65) {
		g.statuses(p)
	}
	if g.chance(10) {
		p.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug", Image: "i"}}}
		s := corev1.ContainerStatus{Name: "debug"}
		if s.State.Running = (&corev1.ContainerStateRunning{}); g.chance(30) {
			s.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
		}
		p.Status.EphemeralContainerStatuses = []corev1.ContainerStatus{s}
	}
	if g.chance(8) {
		p.Annotations = map[string]string{pick(g, "kubernetes.io/config.source", "kubernetes.io/config.source", "kubernetes.io/config.mirror"): pick(g, "file", "file", "api")}
	}
	if g.chance(10) {
		p.Finalizers = []string{"example.com/held"}
	}
	return p
}

func (g *Generator) container(name string) corev1.Container {
	c := corev1.Container{Name: name, Image: "i"}
	exec := corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"x"}}}
	if g.chance(40) {
		c.LivenessProbe = &corev1.Probe{ProbeHandler: exec, TerminationGracePeriodSeconds: g.maybe(60, func() int64 { return max(g.period(), 1) })}
	}
	if g.chance(40) {
		c.StartupProbe = &corev1.Probe{ProbeHandler: exec, TerminationGracePeriodSeconds: g.maybe(60, func() int64 { return max(g.period(), 1) })}
	}
	switch {
	case g.Short && g.chance(15): // nothing tells how long it runs
		c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"x"}}}}
	case g.Short && g.chance(50):
		c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: int64(g.IntN(4))}}}
	case g.chance(20):
		c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: pick(g, int64(1), 5, 40)}}}
	case g.chance(20) && !g.Short:
		c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"x"}}}}
	}
	return c
}

// restarts sets a policy of its own on a container, often with a rule.
func (g *Generator) restarts(c *corev1.Container) {
	policy := pick(g, corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyOnFailure, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyNever)
	if c.RestartPolicy = &policy; g.chance(50) {
		c.RestartPolicyRules = []corev1.ContainerRestartRule{{
			Action: corev1.ContainerRestartRuleActionRestart,
			ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{
				Operator: pick(g, corev1.ContainerRestartRuleOnExitCodesOpIn, corev1.ContainerRestartRuleOnExitCodesOpNotIn),
				Values:   []int32{pick(g, int32(0), 1, 137)},
			},
		}}
	}
}

// statuses says of each container what it does: in most pods as far as the init
// containers have come, in the rest each by itself.
func (g *Generator) statuses(p *corev1.Pod) {
	inits := p.Spec.InitContainers
	chaos, through := g.chance(20), len(inits)
	if g.chance(40) {
		through = g.IntN(len(inits) + 1)
	}
	again := g.chance(25) // in a new sandbox
	for i := range inits {
		s := corev1.ContainerStatus{Name: inits[i].Name}
		switch {
		case chaos, i == through, i < through && podutil.IsRestartableInitContainer(&inits[i]):
			g.state(&s, !podutil.IsRestartableInitContainer(&inits[i]))
		case i < through || again:
			s.State.Terminated = &corev1.ContainerStateTerminated{}
		default:
			s.State.Waiting = &corev1.ContainerStateWaiting{Reason: "PodInitializing"}
		}
		p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, s)
	}
	for _, c := range p.Spec.Containers {
		s := corev1.ContainerStatus{Name: c.Name}
		if chaos || through == len(inits) {
			g.state(&s, false)
		} else if s.State.Waiting = (&corev1.ContainerStateWaiting{Reason: "PodInitializing"}); again {
			s.LastTerminationState.Terminated = g.ended()
		}
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, s)
	}
}

func (g *Generator) ended() *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{ExitCode: pick(g, int32(0), 0, 1, 137)}
}

// state is one of a container whose turn has come. A plain init container that
// ended well is not started again.
func (g *Generator) state(s *corev1.ContainerStatus, plain bool) {
	switch g.IntN(6) {
	case 0, 1:
		s.State.Terminated = g.ended()
	case 2:
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: pick(g, "ContainerCreating", "ImagePullBackOff")}
		if g.chance(60) {
			s.State.Waiting.Reason = "CrashLoopBackOff"
			if s.LastTerminationState.Terminated = g.ended(); plain {
				s.LastTerminationState.Terminated.ExitCode = 1
			}
		}
	default:
		s.State.Running = &corev1.ContainerStateRunning{}
	}
}
