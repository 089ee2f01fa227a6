package report

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/store"
)

const (
	maxEvictions = 5   // of each list
	maxVictims   = 10  // of one eviction
	scanned      = 200 // preemptions of others that are looked at
	scannedWhole = 20  // of which so many are read whole
)

// preemptions tells what was to go for the pod.
func (s *telling) preemptions(ctx context.Context) error {
	for _, r := range s.tried {
		if r.Outcome != string(engine.Preempting) || len(s.out.Evicted) == maxEvictions {
			continue
		}
		if n := len(s.out.Evicted); n > 0 && s.out.Evicted[n-1].Node == r.NominatedNode && s.out.Evicted[n-1].For.UID == r.Pod.UID {
			continue // asked again, and answered alike
		}
		d, err := s.record(ctx, r.ID)
		if err != nil {
			return err
		}
		s.out.Evicted = append(s.out.Evicted, s.eviction(r, d))
	}
	if s.pod != nil && s.pod.Nominated != "" && s.pod.NodeName == "" {
		s.nomination()
	}
	return nil
}

// eviction shows a record's victims.
func (s *telling) eviction(r *record.Row, d *store.Decision) Eviction {
	e := Eviction{At: r.At(), Decision: r.ID, Node: r.NominatedNode, For: r.Pod, Victims: []Victim{}}
	for i := range d.Victims {
		switch v := s.victim(&d.Victims[i]); {
		case s.hides(v.Namespace):
			e.VictimsOmitted++
			if v.There {
				e.hidden++
			}
		case len(e.Victims) == maxVictims:
			e.VictimsOmitted++
		default:
			e.Victims = append(e.Victims, v)
		}
	}
	return e
}

func (s *telling) victim(v *store.Victim) Victim {
	out := Victim{PodRef: decision.PodRef{Namespace: v.Namespace, Name: v.Pod, UID: v.UID}, Priority: v.Priority}
	if p := s.view.State.Pod(v.Namespace, v.Pod); p != nil && p.NodeName == v.Node && !p.Terminal && (v.UID == "" || p.UID == v.UID) {
		out.There, out.Terminating = true, p.Terminating
	}
	return out
}

// nomination tells of the node that is held for the pod, and who is still on it.
func (s *telling) nomination() {
	n := &Nomination{Node: s.pod.Nominated}
	for _, c := range s.full.Status.Conditions {
		if c.Type == corev1.PodScheduled && !c.LastTransitionTime.IsZero() {
			at := c.LastTransitionTime.UTC()
			n.Since = &at
		}
	}
	for i := range s.out.Evicted {
		e := &s.out.Evicted[i]
		if e.Node != n.Node || e.For.UID != s.pod.UID {
			continue
		}
		if n.Since == nil {
			at := e.At
			n.Since = &at
		}
		for _, v := range e.Victims {
			if v.There {
				n.WaitsFor = append(n.WaitsFor, v)
			}
		}
		n.hidden = e.hidden
		break
	}
	s.out.Nomination = n
}

// evictedFor looks for preemptions of others that had the pod among their
// victims: among the newest, on the nodes that it is known to have been on.
func (s *telling) evictedFor(ctx context.Context) error {
	nodes := map[string]bool{}
	for _, r := range s.rows {
		if r.Node != "" {
			nodes[r.Node] = true
		}
	}
	uid := ""
	if s.pod != nil {
		uid = s.pod.UID
	}
	f := store.DecisionFilter{Cluster: s.view.Cluster, Outcome: string(engine.Preempting), Limit: scanned}
	s.until(&f)
	if s.pod != nil {
		if s.pod.NodeName != "" {
			nodes[s.pod.NodeName] = true
		}
		if s.pod.Created != 0 {
			f.Since = time.Unix(s.pod.Created, 0)
		}
		if len(nodes) == 0 {
			return nil // never on a node
		}
	}
	list, err := s.Log.List(ctx, f)
	if err != nil {
		return err
	}
	read := 0
	for _, r := range list {
		if len(s.out.EvictedFor) == maxEvictions || read == scannedWhole {
			return nil
		}
		if s.later(r) || !s.counts(r) || len(nodes) > 0 && !nodes[r.NominatedNode] || r.Pod.Namespace == s.out.Pod.Namespace && r.Pod.Name == s.out.Pod.Name {
			continue
		}
		read++
		d, err := s.record(ctx, r.ID)
		if err != nil {
			return err
		}
		for _, v := range d.Victims {
			if v.Namespace == s.out.Pod.Namespace && v.Pod == s.out.Pod.Name && (uid == "" || v.UID == "" || v.UID == uid) {
				s.out.EvictedFor = append(s.out.EvictedFor, s.eviction(r, d))
				break
			}
		}
	}
	return nil
}
