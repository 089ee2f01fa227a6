package naive

import (
	"fmt"
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
)

// score returns the scores of every feasible node, plugin by plugin. It is nil for a single
// feasible node, which is not scored.
func (y *cycle) score(feasible []*node) (map[string][]engine.PluginScore, error) {
	if len(feasible) == 0 || len(feasible) == 1 && !y.options.ScoreAlways {
		return nil, nil
	}
	out := map[string][]engine.PluginScore{}
	for _, e := range y.spec.Score {
		var raw, norm []int64
		var err error
		switch e.Name {
		case "TaintToleration":
			raw = each(feasible, y.preferNoSchedule)
			norm = byMax(raw, true)
		case "NodeAffinity":
			raw, err = y.preferredNodes(feasible)
			norm = byMax(raw, false)
		case "NodeResourcesFit":
			raw = each(feasible, y.fitScore)
			norm = raw
		case "PodTopologySpread":
			raw, norm = y.spreadScore(feasible)
		case "InterPodAffinity":
			raw, norm = y.interPodScore(feasible)
		case "NodeResourcesBalancedAllocation":
			raw = y.balanced(feasible)
			norm = raw
		case "DynamicResources":
			raw = each(feasible, func(n *node) int64 { return y.given[n.Name] })
			norm = byMax(raw, false)
		case "ImageLocality":
			raw = y.images(feasible)
			norm = raw
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
		switch {
		case raw == nil && !e.NoPreScore:
			continue
		case raw == nil:
			raw = make([]int64, len(feasible))
			norm = raw
		}
		for i, n := range feasible {
			out[n.Name] = append(out[n.Name], engine.PluginScore{Plugin: e.Name, Raw: raw[i], Normalized: norm[i], Weight: e.Weight, Weighted: norm[i] * e.Weight})
		}
	}
	return out, nil
}

func each(feasible []*node, f func(*node) int64) []int64 {
	out := make([]int64, len(feasible))
	for i, n := range feasible {
		out[i] = f(n)
	}
	return out
}

func byMax(raw []int64, reverse bool) []int64 {
	var most int64
	for _, r := range raw {
		most = max(most, r)
	}
	out := make([]int64, len(raw))
	for i, r := range raw {
		if most > 0 {
			out[i] = 100 * r / most
		}
		if reverse {
			out[i] = 100 - out[i]
		}
	}
	return out
}

func (y *cycle) preferNoSchedule(n *node) int64 {
	fitting := &corev1.Pod{}
	for _, t := range y.pod.Spec.Tolerations {
		if t.Effect == "" || t.Effect == corev1.TaintEffectPreferNoSchedule {
			fitting.Spec.Tolerations = append(fitting.Spec.Tolerations, t)
		}
	}
	var count int64
	for _, t := range n.Spec.Taints {
		if t.Effect == corev1.TaintEffectPreferNoSchedule && !tolerated(fitting, t) {
			count++
		}
	}
	return count
}

func (y *cycle) preferredNodes(feasible []*node) ([]int64, error) {
	var lists []*nodeaffinity.PreferredSchedulingTerms
	add := func(terms []corev1.PreferredSchedulingTerm) error {
		parsed, err := nodeaffinity.NewPreferredSchedulingTerms(terms)
		lists = append(lists, parsed)
		return err
	}
	if a := y.pod.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution != nil {
		if err := add(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution); err != nil {
			return nil, err
		}
	}
	if a := y.spec.Args.NodeAffinity.AddedAffinity; a != nil && len(a.PreferredDuringSchedulingIgnoredDuringExecution) > 0 {
		if err := add(a.PreferredDuringSchedulingIgnoredDuringExecution); err != nil {
			return nil, err
		}
	}
	if lists == nil {
		return nil, nil
	}
	return each(feasible, func(n *node) int64 {
		var sum int64
		for _, l := range lists {
			sum += l.Score(n.Node)
		}
		return sum
	}), nil
}

// standIns is what containers count as that ask for no cpu or memory.
var standIns = corev1.ResourceList{
	corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("200Mi"),
}

// held is what a placed pod counts as in scores. With nonZero, containers that
// ask for no cpu or memory count as a little, unless the pod as a whole asks.
func held(p *corev1.Pod, name string, nonZero bool) int64 {
	plain := resourcehelper.PodRequests(p, placed)
	if !nonZero || name != "cpu" && name != "memory" {
		return amount(plain, name)
	}
	missing := corev1.ResourceList{}
	for r, q := range standIns {
		if _, have := plain[r]; !have || !resourcehelper.IsPodLevelRequestsSet(p) {
			missing[r] = q
		}
	}
	opts := placed
	opts.NonMissingContainerRequests = missing
	return amount(resourcehelper.PodRequests(p, opts), name)
}

// share is what the pod would ask of one resource of one node.
type share struct{ before, want, have, weight int64 }

// shares reads the resources of a scorer; a node without one, and extended ones
// that the pod does not ask for, are left out.
func (y *cycle) shares(n *node, list []rules.ResourceWeight, nonZero bool) []share {
	opts := placed
	if nonZero { // Fit counts the pod's own containers alone, without pod-level resources
		opts = resourcehelper.PodResourcesOptions{SkipPodLevelResources: true, NonMissingContainerRequests: standIns}
	}
	ask := resourcehelper.PodRequests(y.pod, opts)
	var out []share
	for _, r := range list {
		s := share{want: amount(ask, r.Name), have: amount(n.Status.Allocatable, r.Name), weight: r.Weight}
		if s.have == 0 || s.want == 0 && state.IsScalar(corev1.ResourceName(r.Name)) {
			continue
		}
		for _, p := range n.pods {
			s.before += held(p, r.Name, nonZero)
		}
		out = append(out, s)
	}
	return out
}

func (y *cycle) fitScore(n *node) int64 {
	args := y.spec.Args.NodeResourcesFit
	var sum, weights int64
	for _, s := range y.shares(n, args.Resources, true) {
		after := s.before + s.want
		var points int64
		switch args.Strategy {
		case rules.MostAllocated:
			points = min(after, s.have) * 100 / s.have
		case rules.RequestedToCapacityRatio:
			points = curve(args.Shape, min(after, s.have)*100/s.have)
			if after > s.have {
				points = curve(args.Shape, 100)
			}
			if points <= 0 {
				continue
			}
		default:
			if after <= s.have {
				points = (s.have - after) * 100 / s.have
			}
		}
		sum += points * s.weight
		weights += s.weight
	}
	if weights == 0 {
		return 0
	}
	if args.Strategy == rules.RequestedToCapacityRatio {
		return int64(math.Round(float64(sum) / float64(weights)))
	}
	return sum / weights
}

// curve evaluates a shape, whose scores go from 0 to 10, to 0 to 100.
func curve(shape []rules.ShapePoint, x int64) int64 {
	for i, p := range shape {
		if x > p.Utilization {
			continue
		}
		if i == 0 {
			return 10 * p.Score
		}
		o := shape[i-1]
		return 10*o.Score + (10*p.Score-10*o.Score)*(x-o.Utilization)/(p.Utilization-o.Utilization)
	}
	return 10 * shape[len(shape)-1].Score
}

func (y *cycle) balanced(feasible []*node) []int64 {
	list := y.spec.Args.Balanced.Resources
	ask := resourcehelper.PodRequests(y.pod, placed)
	any := false
	for _, r := range list {
		any = any || amount(ask, r.Name) != 0
	}
	if !any {
		return nil
	}
	return each(feasible, func(n *node) int64 {
		var before, after []float64
		for _, s := range y.shares(n, list, false) {
			before = append(before, math.Min(1, float64(s.before)/float64(s.have)))
			after = append(after, math.Min(1, float64(s.before+s.want)/float64(s.have)))
		}
		return 50 + (50+evenness(after)-evenness(before))/2
	})
}

func evenness(fractions []float64) int64 {
	std := 0.0
	if len(fractions) == 2 {
		std = math.Abs((fractions[0] - fractions[1]) / 2)
	} else if len(fractions) > 2 {
		total, squares := 0.0, 0.0
		for _, f := range fractions {
			total += f
		}
		mean := total / float64(len(fractions))
		for _, f := range fractions {
			d := f - mean
			square := d * d
			squares += square
		}
		std = math.Sqrt(squares / float64(len(fractions)))
	}
	return int64((1 - std) * 100)
}

// images scores by the images that nodes hold already: each counts with its
// size, as the first node by name reports it, times the share of nodes that have
// it.
func (y *cycle) images(feasible []*node) []int64 {
	containers := append(append([]corev1.Container{}, y.pod.Spec.InitContainers...), y.pod.Spec.Containers...)
	var names []string
	for _, c := range containers {
		names = append(names, c.Image)
	}
	for _, v := range y.pod.Spec.Volumes {
		if v.Image != nil {
			names = append(names, v.Image.Reference)
		}
	}
	worth := make([]int64, len(names))
	for i, name := range names {
		if strings.LastIndex(name, ":") <= strings.LastIndex(name, "/") {
			names[i] += ":latest"
		}
		count, size := 0, int64(-1)
		for _, n := range y.nodes {
			for _, im := range n.Status.Images {
				if contains(im.Names, names[i]) && size < 0 {
					size = im.SizeBytes
				}
			}
			if holds(n, names[i]) {
				count++
			}
		}
		worth[i] = int64(float64(size) * (float64(count) / float64(len(y.nodes))))
	}
	const low = 23 << 20
	high := int64(1000<<20) * int64(len(containers))
	return each(feasible, func(n *node) int64 {
		var sum int64
		for i, name := range names {
			if holds(n, name) {
				sum += worth[i]
			}
		}
		return 100 * (min(max(sum, low), high) - low) / (high - low)
	})
}

func holds(n *node, image string) bool {
	for _, im := range n.Status.Images {
		if contains(im.Names, image) {
			return true
		}
	}
	return false
}
