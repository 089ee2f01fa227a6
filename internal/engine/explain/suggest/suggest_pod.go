package suggest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/rules"
)

// causes lists the details of some kinds, those of most nodes first.
func (s *searcher) causes(most int, kinds ...string) []*seen {
	var keys []groupKey
	for k, d := range s.seen.details {
		if slices.Contains(kinds, d.Kind) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b groupKey) int {
		return cmp.Or(s.seen.details[b].nodes-s.seen.details[a].nodes, compareCauses(a, b))
	})
	out := make([]*seen, 0, len(keys))
	for _, k := range keys[:min(len(keys), most)] {
		out = append(out, s.seen.details[k])
	}
	return out
}

// gates removes all gates: the pod is not scheduled before the last is removed.
func (s *searcher) gates() {
	names := make([]string, 0, len(s.q.Pod.Spec.SchedulingGates))
	for _, g := range s.q.Pod.Spec.SchedulingGates {
		names = append(names, g.Name)
	}
	what := "remove the scheduling gates "
	ops := []Op{{Op: "remove", Path: "/spec/schedulingGates"}}
	what += strings.Join(names, ", ")
	if s.offerPod("gate", costGate, Wait, what, ops...) != nil || s.offerEviction("gate", costGate, Wait, what, ops...) {
		s.last().Warning = "whoever set it removes it: by hand, what it waits for is skipped"
	}
}

const maxTaints = 10

// tolerations tolerates one taint with its effect. Where the node has the taint with another effect
// too, it tolerates any effect.
func (s *searcher) tolerations() {
	tried := map[[2]string]bool{}
	for _, d := range s.causes(maxTaints, "taint") {
		if ails(d.Key) {
			continue // a pod would not start there, or would be evicted
		}
		t, change := tolerationOf(&d.Detail)
		if s.tolerate(t, change) {
			continue
		}
		any := d.Key
		if d.Value != "" {
			any += "=" + d.Value
		}
		if t.Effect = ""; !tried[[2]string{d.Key, d.Value}] {
			tried[[2]string{d.Key, d.Value}] = true
			s.tolerate(t, "tolerate the taint "+any+", whatever its effect")
		}
	}
}

// tolerationOf tolerates one taint with its effect.
func tolerationOf(d *engine.Detail) (t corev1.Toleration, change string) {
	t = corev1.Toleration{Key: d.Key, Operator: corev1.TolerationOpEqual, Value: d.Value, Effect: corev1.TaintEffect(d.Effect)}
	if d.Value == "" {
		t.Operator = corev1.TolerationOpExists
	}
	return t, "tolerate the taint " + rules.TaintWords(d)
}

// addToleration is the patch that adds one.
func (s *searcher) addToleration(t corev1.Toleration) Op {
	if len(s.q.Pod.Spec.Tolerations) == 0 {
		return Op{"add", "/spec/tolerations", []corev1.Toleration{t}}
	}
	return Op{"add", "/spec/tolerations/-", t}
}

func (s *searcher) tolerate(t corev1.Toleration, change string) bool {
	if s.offerPod("toleration", costToleration, ChangePod, change, s.addToleration(t)) == nil {
		return false
	}
	s.last().Warning = keptOff
	return true
}

// keptOff is what speaks against the toleration of a taint that people set.
const keptOff = "the taint keeps other pods off on purpose"

const maxEvicting = 4

// tolerateAndEvict tolerates a taint where the pod would then evict others: the node suits it but
// is full.
func (s *searcher) tolerateAndEvict() {
	if s.base.Outcome != engine.UnschedulableOK || s.q.Options.NoPreemption || !s.q.Profile.Preemption {
		return
	}
	tried := 0
	for _, d := range s.causes(maxTaints, "taint") {
		if ails(d.Key) {
			continue
		}
		if tried++; tried > maxEvicting {
			return
		}
		t, change := tolerationOf(&d.Detail)
		if s.offerEviction("toleration", costEvicting, ChangePod, change, s.addToleration(t)) {
			s.last().Warning = keptOff
		}
	}
}

// ports moves a host port to the next free number, or drops it.
func (s *searcher) ports() {
	for _, d := range s.causes(maxPorts, "port") {
		name := fmt.Sprintf("host port %d/%s", d.Port, d.Protocol)
		for n := d.Port + 1; n <= min(d.Port+maxMoves, 65535); n++ {
			if s.claims(n, d.Protocol) {
				continue
			}
			if s.offerPod("hostPort", costPort, ChangePod, fmt.Sprintf("move %s to %d", name, n), s.onPort(d.Port, d.Protocol, n)...) != nil {
				break
			}
		}
		if !s.q.Pod.Spec.HostNetwork { // then every port is the host's
			s.offerPod("hostPort", costPort, ChangePod, "give up "+name, s.onPort(d.Port, d.Protocol, 0)...)
		}
	}
}

const (
	maxPorts = 3
	maxMoves = 4
)

// eachPort visits the pod's ports with the JSON path of each.
func (s *searcher) eachPort(f func(path string, p *corev1.ContainerPort)) {
	for _, list := range []struct {
		field string
		of    []corev1.Container
	}{{"containers", s.q.Pod.Spec.Containers}, {"initContainers", s.q.Pod.Spec.InitContainers}} {
		for i := range list.of {
			for k := range list.of[i].Ports {
				f(pointer("spec", list.field, i, "ports", k), &list.of[i].Ports[k])
			}
		}
	}
}

func protocol(p *corev1.ContainerPort) string { return string(cmp.Or(p.Protocol, corev1.ProtocolTCP)) }

func (s *searcher) claims(number int32, proto string) (yes bool) {
	s.eachPort(func(_ string, p *corev1.ContainerPort) { yes = yes || p.HostPort == number && protocol(p) == proto })
	return yes
}

// onPort changes the uses of a host port; to 0 drops them.
func (s *searcher) onPort(number int32, proto string, to int32) (ops []Op) {
	s.eachPort(func(path string, p *corev1.ContainerPort) {
		switch {
		case p.HostPort != number || protocol(p) != proto:
		case to == 0:
			ops = append(ops, Op{Op: "remove", Path: path + "/hostPort"})
		default:
			ops = append(ops, Op{"replace", path + "/hostPort", to})
			if s.q.Pod.Spec.HostNetwork {
				ops = append(ops, Op{"replace", path + "/containerPort", to})
			}
		}
	})
	return ops
}

// podAffinity drops required terms, one at a time.
func (s *searcher) podAffinity() {
	for _, kind := range []string{"podAffinity", "podAntiAffinity"} {
		if len(s.causes(1, kind)) > 0 {
			s.withoutTerms(kind, requiredTerms(s.q.Pod.Spec.Affinity, kind))
		}
	}
}

const maxTerms = 4

func (s *searcher) withoutTerms(kind string, terms []corev1.PodAffinityTerm) {
	for i := range terms[:min(len(terms), maxTerms)] {
		change, ops := termChange(kind, i, terms[i].TopologyKey)
		s.offerPod(kind, costPodAffinity, ChangePod, change, ops...)
	}
}

// termChange drops one required term.
func termChange(kind string, i int, key string) (change string, ops []Op) {
	return fmt.Sprintf("drop required %s term %d, by %s", kind, i, key),
		[]Op{{Op: "remove", Path: pointer("spec", "affinity", kind, "requiredDuringSchedulingIgnoredDuringExecution", i)}}
}
