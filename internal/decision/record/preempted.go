package record

import (
	"context"
	"slices"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/kube/object"
	"berth/internal/store"
)

// Preempted is a pod that is to go for another one, by the newest Preempting decision about that.
type Preempted struct {
	Victim, For decision.PodRef
}

// Preempted returns for whom pods of the newest revision are to go: pods that wait and are
// nominated to their node. Other pods are victims of no preemption that still holds.
func (l *Log) Preempted(ctx context.Context, cluster string, pods []object.Key) (out []Preempted, err error) {
	v, err := l.m.View(ctx, cluster, 0)
	if err != nil {
		return nil, err
	}
	nodes := map[string]bool{}
	for _, k := range pods {
		if p := v.State.Pod(k.Namespace, k.Name); p != nil && p.NodeName != "" && !p.Terminating {
			nodes[p.NodeName] = true
		}
	}
	if len(nodes) == 0 {
		return nil, nil
	}
	for p := range v.State.NominatedPods().All() {
		if !nodes[p.Nominated] {
			continue
		}
		victims, err := l.victimsFor(ctx, cluster, p.Nominated, decision.PodRef{Namespace: p.Namespace, Name: p.Name, UID: p.UID})
		if err != nil {
			return nil, err
		}
		for _, x := range victims {
			if slices.Contains(pods, object.Key{Kind: "Pod", Namespace: x.Victim.Namespace, Name: x.Victim.Name}) {
				out = append(out, x)
			}
		}
	}
	return out, nil
}

// victimsFor returns the victims on a node of a pod's newest Preempting decision.
func (l *Log) victimsFor(ctx context.Context, cluster, node string, pod decision.PodRef) (out []Preempted, err error) {
	// A few, since decisions about pods that had the name before may be among them.
	list, err := l.st.ListDecisions(ctx, store.DecisionFilter{
		Cluster: cluster, Namespace: pod.Namespace, Pod: pod.Name, Verb: decision.VerbDecide, Outcome: string(engine.Preempting), Limit: 8,
	})
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(d *store.Decision) bool { return d.PodUID == pod.UID })
	if i < 0 {
		return nil, nil
	}
	d, err := l.st.Decision(ctx, list[i].ID)
	if err != nil {
		return nil, err
	}
	for _, x := range d.Victims {
		if x.Node == node {
			out = append(out, Preempted{decision.PodRef{Namespace: x.Namespace, Name: x.Pod, UID: x.UID}, pod})
		}
	}
	return out, nil
}
