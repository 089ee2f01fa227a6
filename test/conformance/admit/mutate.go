package admit

import (
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

func ptr[T any](v T) *T { return &v }

// mutations each change one thing, now and then to something wrong.
var mutations = []func(g *Generator, p *corev1.Pod){
	func(g *Generator, p *corev1.Pod) { p.Name = g.name() },
	func(g *Generator, p *corev1.Pod) { p.Labels = map[string]string{g.key(): g.value()} },
	func(g *Generator, p *corev1.Pod) {
		p.Annotations = map[string]string{pick(g, "a", "Bad Key", corev1.PodDeletionCost, corev1.MirrorPodAnnotationKey): pick(g, "1", "007", "+5", "x", strings.Repeat("z", 270000))}
	},
	func(g *Generator, p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{g.key(): g.value()} },
	func(g *Generator, p *corev1.Pod) { p.Spec.Affinity = g.affinity() },
	func(g *Generator, p *corev1.Pod) { p.Spec.Affinity = g.affinity() },
	func(g *Generator, p *corev1.Pod) {
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, g.spread())
	},
	func(g *Generator, p *corev1.Pod) {
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, g.spread(), g.spread())
	},
	func(g *Generator, p *corev1.Pod) { p.Spec.Tolerations = append(p.Spec.Tolerations, g.toleration()) },
	func(g *Generator, p *corev1.Pod) { p.Spec.SchedulingGates = g.gates() },
	func(g *Generator, p *corev1.Pod) { p.Spec.SchedulingGates = g.gates() },
	func(g *Generator, p *corev1.Pod) { p.Spec.NodeName = pick(g, "n1", "n1", "n2", "n3", "n4", "Bad_Node") },
	func(g *Generator, p *corev1.Pod) {
		p.Spec.PriorityClassName = pick(g, "high", "science", "system-node-critical", "none", "Bad_", "usual")
	},
	func(g *Generator, p *corev1.Pod) {
		p.Spec.Priority = pick(g, nil, ptr(int32(1000)), ptr(int32(0)), ptr(int32(7)))
	},
	func(g *Generator, p *corev1.Pod) {
		p.Spec.PreemptionPolicy = pick(g, nil, ptr(corev1.PreemptNever), ptr(corev1.PreemptLowerPriority), ptr(corev1.PreemptionPolicy("Odd")))
	},
	func(g *Generator, p *corev1.Pod) {
		p.Spec.RestartPolicy = pick(g, corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure, "Odd")
	},
	func(g *Generator, p *corev1.Pod) {
		p.Spec.TerminationGracePeriodSeconds = ptr(pick(g, int64(0), 5, -1, 30))
	},
	func(g *Generator, p *corev1.Pod) {
		p.Spec.ActiveDeadlineSeconds = ptr(pick(g, int64(0), 5, -1, 10, 1<<40))
	},
	func(g *Generator, p *corev1.Pod) { p.Spec.SchedulerName = pick(g, "mine", "") },
	func(g *Generator, p *corev1.Pod) { p.Spec.HostNetwork = true },
	func(g *Generator, p *corev1.Pod) { p.Spec.Overhead = g.resources() },
	func(g *Generator, p *corev1.Pod) {
		p.Spec.Resources = &corev1.ResourceRequirements{Requests: g.resources(), Limits: g.resources()}
	},
	func(g *Generator, p *corev1.Pod) {
		p.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: corev1.PodConditionType(g.key())}}
	},
	func(g *Generator, p *corev1.Pod) {
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, corev1.PodResourceClaim{Name: g.name(), ResourceClaimName: pick(g, nil, ptr("rc"), ptr("Bad_")), ResourceClaimTemplateName: pick(g, nil, nil, ptr("t"))})
		c := &p.Spec.Containers[0]
		c.Resources.Claims = append(c.Resources.Claims, corev1.ResourceClaim{Name: g.name(), Request: pick(g, "", "", "r", "Bad_")})
	},
	func(g *Generator, p *corev1.Pod) { p.Spec.HostUsers, p.Spec.HostPID = ptr(g.chance(50)), g.chance(50) },
	func(g *Generator, p *corev1.Pod) { p.Spec.Hostname, p.Spec.Subdomain = g.name(), g.name() },
	func(g *Generator, p *corev1.Pod) { p.Spec.RuntimeClassName = ptr(g.name()) },
	func(g *Generator, p *corev1.Pod) { p.Spec.ServiceAccountName = g.name() },
	func(g *Generator, p *corev1.Pod) { p.Spec.DeprecatedServiceAccount = "old" },
	func(g *Generator, p *corev1.Pod) { g.mutateContainer(&p.Spec.Containers[0]) },
	func(g *Generator, p *corev1.Pod) { g.mutateContainer(&p.Spec.Containers[0]) },
	func(g *Generator, p *corev1.Pod) { g.mutateContainer(&p.Spec.Containers[len(p.Spec.Containers)-1]) },
	func(g *Generator, p *corev1.Pod) {
		c := g.container(pick(g, "init", "c0", "sidecar", ""))
		c.RestartPolicy = pick(g, nil, ptr(corev1.ContainerRestartPolicyAlways), ptr(corev1.ContainerRestartPolicyNever), ptr(corev1.ContainerRestartPolicy("Odd")))
		for range g.IntN(3) {
			g.mutateContainer(&c)
		}
		p.Spec.InitContainers = append(p.Spec.InitContainers, c)
	},
	func(g *Generator, p *corev1.Pod) { p.Spec.Containers = nil },
	func(g *Generator, p *corev1.Pod) {
		p.Spec.Containers = append(p.Spec.Containers, g.container(pick(g, "c0", "extra")))
	},
	func(g *Generator, p *corev1.Pod) {
		v := corev1.Volume{Name: g.name()}
		switch g.IntN(4) {
		case 0:
			v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: pick(g, "claim", "")}
		case 1:
			v.Secret = &corev1.SecretVolumeSource{SecretName: "s"}
		case 2:
			v.ConfigMap = &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}
		}
		p.Spec.Volumes = append(p.Spec.Volumes, v)
		p.Spec.Containers[0].VolumeMounts = append(p.Spec.Containers[0].VolumeMounts, corev1.VolumeMount{Name: g.name(), MountPath: pick(g, "/a", "/a", "/b", "")})
	},
	func(g *Generator, p *corev1.Pod) { p.GenerateName = "made-" },
	func(g *Generator, p *corev1.Pod) { p.Status.Phase, p.Status.NominatedNodeName = corev1.PodRunning, "n" },
}

func (g *Generator) mutateContainer(c *corev1.Container) {
	switch g.IntN(13) {
	case 0:
		c.Name = g.name()
	case 1:
		c.Image = pick(g, "", " img", "img:2", "other:latest")
	case 2:
		c.Resources.Requests = g.resources()
	case 3, 4:
		c.Resources.Requests, c.Resources.Limits = g.resources(), g.resources()
	case 5:
		c.Ports = append(c.Ports, g.port(), g.port())
	case 6:
		c.LivenessProbe = g.probe()
	case 7:
		c.ReadinessProbe, c.StartupProbe = g.probe(), g.probe()
	case 8:
		c.RestartPolicy = pick(g, nil, ptr(corev1.ContainerRestartPolicyAlways), ptr(corev1.ContainerRestartPolicyOnFailure), ptr(corev1.ContainerRestartPolicy("Odd")))
		r := corev1.ContainerRestartRule{Action: pick(g, corev1.ContainerRestartRuleActionRestart, "RestartAllContainers", "Odd")}
		if g.chance(80) {
			r.ExitCodes = &corev1.ContainerRestartRuleOnExitCodes{Operator: pick(g, corev1.ContainerRestartRuleOnExitCodesOpIn, "Odd"), Values: []int32{1}}
		}
		c.RestartPolicyRules = append(c.RestartPolicyRules, r)
	case 9:
		c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: pick(g, int64(0), 5, 100, -1)}}}
		if g.chance(30) {
			c.Lifecycle.StopSignal = ptr(corev1.Signal("SIGUSR1"))
		}
	case 10:
		c.Env = append(c.Env, corev1.EnvVar{Name: pick(g, "A", "b.c", "", "a=b"), Value: "v"})
	case 11:
		c.ResizePolicy = append(c.ResizePolicy, corev1.ContainerResizePolicy{ResourceName: pick(g, corev1.ResourceCPU, corev1.ResourceMemory, "odd", ""), RestartPolicy: pick(g, corev1.NotRequired, corev1.RestartContainer, "Odd", "")})
	case 12:
		c.ImagePullPolicy, c.TerminationMessagePolicy = pick(g, "", corev1.PullNever, "Odd"), pick(g, "", corev1.TerminationMessageFallbackToLogsOnError, "Odd")
	}
}

// updates are mutations that go beyond a pod's first form.
var updates = []func(g *Generator, p *corev1.Pod){
	func(g *Generator, p *corev1.Pod) {}, // nothing
	func(g *Generator, p *corev1.Pod) { p.Spec.Containers[0].Image = pick(g, "new", "", "new ") },
	func(g *Generator, p *corev1.Pod) {
		if n := len(p.Spec.SchedulingGates); n > 0 {
			p.Spec.SchedulingGates = p.Spec.SchedulingGates[:g.IntN(n)]
		}
	},
	func(g *Generator, p *corev1.Pod) {
		p.Spec.SchedulingGates = append(p.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: pick(g, "new", "a")})
	},
	func(g *Generator, p *corev1.Pod) {
		if p.Spec.NodeSelector == nil {
			p.Spec.NodeSelector = map[string]string{}
		}
		p.Spec.NodeSelector[pick(g, "app", "more")] = pick(g, "a", "b")
	},
	func(g *Generator, p *corev1.Pod) { p.Spec.NodeSelector = nil },
	func(g *Generator, p *corev1.Pod) { p.Spec.Affinity = nil },
	func(g *Generator, p *corev1.Pod) { p.Spec.Affinity = &corev1.Affinity{} },
	func(g *Generator, p *corev1.Pod) {
		if p.Spec.Affinity == nil {
			p.Spec.Affinity = &corev1.Affinity{}
		}
		n := p.Spec.Affinity.NodeAffinity
		if n == nil || n.RequiredDuringSchedulingIgnoredDuringExecution == nil {
			p.Spec.Affinity.NodeAffinity = g.nodeAffinity()
			return
		}
		s := n.RequiredDuringSchedulingIgnoredDuringExecution
		switch g.IntN(5) {
		case 0:
			s.NodeSelectorTerms = append(s.NodeSelectorTerms, g.term())
		case 1:
			s.NodeSelectorTerms = nil
		case 2:
			n.PreferredDuringSchedulingIgnoredDuringExecution = nil
		default:
			if len(s.NodeSelectorTerms) > 0 {
				t := &s.NodeSelectorTerms[g.IntN(len(s.NodeSelectorTerms))]
				r := corev1.NodeSelectorRequirement{Key: "more", Operator: corev1.NodeSelectorOpExists}
				if g.chance(70) {
					t.MatchExpressions = append(t.MatchExpressions, r)
				} else {
					t.MatchExpressions = append([]corev1.NodeSelectorRequirement{r}, t.MatchExpressions...)
				}
			}
		}
	},
	func(g *Generator, p *corev1.Pod) { p.Spec.Tolerations = nil },
	func(g *Generator, p *corev1.Pod) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: "k", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr(int64(g.IntN(3)))})
	},
	func(g *Generator, p *corev1.Pod) {
		p.Spec.ActiveDeadlineSeconds = pick(g, nil, ptr(int64(3)), ptr(int64(-1)), ptr(int64(60)))
	},
	func(g *Generator, p *corev1.Pod) {
		p.Spec.TerminationGracePeriodSeconds = ptr(pick(g, int64(1), -1, 9))
	},
	func(g *Generator, p *corev1.Pod) { p.Spec.Containers = p.Spec.Containers[:0] },
	func(g *Generator, p *corev1.Pod) { p.Labels = map[string]string{"app": "b"} },
	func(g *Generator, p *corev1.Pod) { p.Spec.Priority, p.Spec.PreemptionPolicy = nil, nil },
	func(g *Generator, p *corev1.Pod) { p.UID = types.UID(pick(g, "", "u", "other")) },
	func(g *Generator, p *corev1.Pod) { p.Spec.PriorityClassName = "science" },
	func(g *Generator, p *corev1.Pod) { p.Spec.HostNetwork = true },
	func(g *Generator, p *corev1.Pod) {
		p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
	},
}

// Create returns a pod to create.
func (g *Generator) Create() json.RawMessage {
	p := g.Pod()
	for range g.IntN(4) {
		mutate(g, mutations, p)
	}
	return Encode(p)
}

// Update returns a pod as it is stored, made from one that can be created, and
// what is to replace it.
func (g *Generator) Update(stored json.RawMessage) json.RawMessage {
	p := &corev1.Pod{}
	if err := json.Unmarshal(stored, p); err != nil {
		panic(err)
	}
	for range 1 + g.IntN(2) {
		if g.chance(75) {
			mutate(g, updates, p)
		} else {
			mutate(g, mutations, p)
		}
	}
	return Encode(p)
}

// mutate leaves out what needs a container that is not there any more.
func mutate(g *Generator, list []func(*Generator, *corev1.Pod), p *corev1.Pod) {
	f := list[g.IntN(len(list))]
	if len(p.Spec.Containers) > 0 {
		f(g, p)
	}
}

// Encode writes an object as JSON; what is drawn here always has one.
func Encode(p any) json.RawMessage {
	js, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	return js
}
