package scenario

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/memory"
	"berth/internal/revision"
	"berth/internal/world"
)

// Unevenness counts the placed pods in a domain that has more than maxSkew pods above the emptiest
// one, by a topology spread constraint of their own: hard ones (DoNotSchedule) and soft ones
// (ScheduleAnyway). Hard ones may be uneven too, since they are judged when a pod is placed alone.
type Unevenness struct {
	Hard int `json:"hard"`
	Soft int `json:"soft"`
} // @name SpreadViolations

// spreads are the pods that have spread constraints, equal ones together.
type spreads struct {
	skews   func(*engine.Query) []engine.Skew
	profile *engine.Profile
	groups  map[string]*spreadGroup
}

// spreadGroup is pods that PodTopologySpread cannot tell apart, and one of them.
type spreadGroup struct {
	pod  *corev1.Pod
	pods []world.PodName
}

// spreadsOf finds the pods of a view and of arrivals. It is nil where no configuration has
// PodTopologySpread, which counts them.
func spreadsOf(ctx context.Context, v *revision.View, arrivals []world.Arrival, configs []configured) (*spreads, error) {
	s := &spreads{groups: map[string]*spreadGroup{}}
	for _, c := range configs {
		for _, p := range c.profiles {
			for _, rule := range p.Rules {
				if rule.Skews != nil {
					s.skews, s.profile = rule.Skews, p
				}
			}
		}
	}
	if s.skews == nil {
		return nil, nil
	}
	var names []world.PodName
	v.State.EachPod(func(p *state.Pod) {
		if p.Spreads {
			names = append(names, world.PodName{Namespace: p.Namespace, Name: p.Name})
		}
	})
	for _, n := range names {
		pod, err := v.Pod(n.Namespace, n.Name)
		if err == nil {
			err = s.add(ctx, pod)
		}
		if err != nil {
			return nil, err
		}
	}
	for i := range arrivals {
		if p := arrivals[i].Pod; v.State.Pod(p.Namespace, p.Name) == nil {
			if err := s.add(ctx, p); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// add puts a pod to its equals. What PodTopologySpread reads of it tells them apart.
func (s *spreads) add(ctx context.Context, pod *corev1.Pod) error {
	if len(pod.Spec.TopologySpreadConstraints) == 0 {
		return nil
	}
	if err := memory.Take(ctx, world.PodBytes/8); err != nil {
		return err
	}
	p := &corev1.Pod{Spec: corev1.PodSpec{
		NodeSelector: pod.Spec.NodeSelector, Affinity: pod.Spec.Affinity, Tolerations: pod.Spec.Tolerations,
		TopologySpreadConstraints: pod.Spec.TopologySpreadConstraints,
	}}
	p.Namespace, p.Labels = pod.Namespace, world.Without(pod.Labels, corev1.LabelTopologyZone, corev1.LabelTopologyRegion)
	key := world.ShapeOf(p)
	g := s.groups[key]
	if g == nil {
		p.Name = "any"
		g = &spreadGroup{pod: p}
		s.groups[key] = g
	}
	g.pods = append(g.pods, world.NameOf(pod))
	return ctx.Err()
}

// uneven counts the pods of a state.
func (s *spreads) uneven(ctx context.Context, st *state.State, o world.Options) (*Unevenness, error) {
	if s == nil {
		return nil, nil
	}
	out := &Unevenness{}
	for _, g := range s.groups {
		q, err := engine.NewQuery(st, g.pod, s.profile, engine.Options{Context: ctx, Now: o.Now})
		if err != nil {
			return nil, fmt.Errorf("spread of pods: %w", err)
		}
		skews := s.skews(q)
		q.Release()
		for _, n := range g.pods {
			p := st.Pod(n.Namespace, n.Name)
			if p == nil || p.Row < 0 || p.Terminal || p.Terminating {
				continue
			}
			hard, soft := 0, 0
			for _, skew := range skews {
				switch {
				case !skew.Over(p.Row):
				case skew.Hard:
					hard = 1
				default:
					soft = 1
				}
			}
			out.Hard += hard
			out.Soft += soft
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return out, nil
}
