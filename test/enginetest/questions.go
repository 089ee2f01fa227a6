package enginetest

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/rules"
)

// Question is a pod to place on a cluster of Large, and the profile.
type Question struct {
	Name string
	Pod  *corev1.Pod
	Spec rules.Spec
}

// NoDefaults is the default profile without default spreading.
func NoDefaults() rules.Spec {
	s := rules.DefaultSpec()
	s.Args.PodTopologySpread = rules.SpreadArgs{}
	return s
}

// Questions ask about pods that fit on 95 % of the nodes or more, which is the
// worst case: every rule judges every node, and all are scored.
func Questions() []Question {
	zone, host := corev1.LabelTopologyZone, corev1.LabelHostname
	app := Match("app", "app-000")
	affinity := []PodOption{
		Tolerate("dedicated", corev1.TolerationOpEqual, "batch", corev1.TaintEffectNoSchedule),
		RequireNodes(corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
			Expr(corev1.LabelArchStable, corev1.NodeSelectorOpIn, "amd64", "arm64"),
			Expr("node.example.com/pool", corev1.NodeSelectorOpNotIn, "pool-99"),
		}}),
		PreferNodes(50, corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
			Expr("disktype", corev1.NodeSelectorOpIn, "ssd"),
		}}),
	}
	hard := []PodOption{
		Spread(zone, 50, corev1.DoNotSchedule, app),
		Spread(host, 5, corev1.DoNotSchedule, app),
	}
	soft := []PodOption{
		Spread(zone, 1, corev1.ScheduleAnyway, app),
		Spread(host, 1, corev1.ScheduleAnyway, app),
	}
	inter := []PodOption{
		Near(PodTerm(zone, app)),
		Away(PodTerm(host, Match("app", "app-020"))),
		PreferNear(-100, PodTerm(host, app)),
		PreferNear(10, PodTerm(zone, Match("app", "app-040"))),
	}
	// The tainted nodes are let in, so that hard constraints do not shrink the set.
	in := Tolerate("dedicated", corev1.TolerationOpExists, "", "")
	pod := func(app int, opts ...PodOption) *corev1.Pod {
		return LargePod(app, "asked", append([]PodOption{in}, opts...)...)
	}
	return []Question{
		{"plain", pod(0), Only("NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "NodeResourcesBalancedAllocation", "ImageLocality")},
		{"plainDefault", alone(in), rules.DefaultSpec()},
		{"taints+affinity", LargePod(0, "asked", affinity...), NoDefaults()},
		{"spreadHard", pod(0, hard...), rules.DefaultSpec()},
		{"spreadSoft", pod(0, soft...), rules.DefaultSpec()},
		{"defaultSpread", pod(0), rules.DefaultSpec()},
		{"interpod", pod(0, inter...), NoDefaults()},
		{"interpodOwnAway", pod(7), NoDefaults()},
		{"allRules", pod(0, slices.Concat(affinity, hard, soft, inter)...), rules.DefaultSpec()},
	}
}

// alone is a plain pod that no controller made and no Service selects: under the default profile
// the rules on other pods look for what concerns it, and find nothing.
func alone(opts ...PodOption) *corev1.Pod {
	p := LargePod(0, "asked", append([]PodOption{Labels("run", "alone")}, opts...)...)
	p.Labels, p.OwnerReferences = map[string]string{"run": "alone"}, nil
	return p
}
