package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// agreement lets berth look on while kube-scheduler places pods: first one after
// the other, and then all at once. Afterwards each pod is put to berth's decide on
// the revision that its shadow answered from, and the node that kube-scheduler
// chose must be among the best. Where it is not, kube-scheduler must have known of
// pods that were placed between: on a state that has exactly those in addition,
// the two have to agree.
func agreement(ctx context.Context, e *env) error {
	const paced, rushed = 60, 240
	if err := e.nodes(ctx, 40, 4, "8", "32Gi", mixed); err != nil {
		return err
	}
	s, err := e.berth(nil)
	if err != nil {
		return err
	}
	f, err := e.front(s)
	if err != nil {
		return err
	}
	stop, err := e.schedule(full, extender{url: f.calls("shadow"), filter: true, prioritize: true, preempt: true})
	if err != nil {
		return err
	}
	shape := func(i int, p *corev1.Pod) {
		choosy(i, p)
		if i%4 == 1 {
			p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
				{Weight: 20, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"zone-1", "zone-2"}}}}},
			}}}
		}
		if i%4 == 3 {
			p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 2, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": p.Labels["app"]}}}}
		}
	}
	for i := range paced {
		if err := e.pods(ctx, fmt.Sprintf("paced-%02d", i), 1, "300m", "512Mi", func(_ int, p *corev1.Pod) {
			p.Labels["app"] = "paced"
			shape(i, p)
		}); err != nil {
			return err
		}
		if err := e.allBound(ctx, i+1, 20*time.Second); err != nil {
			return err
		}
		time.Sleep(100 * time.Millisecond) // berth hears it, too
	}
	if err := e.pods(ctx, "rushed", rushed, "200m", "256Mi", shape); err != nil {
		return err
	}
	if err := e.allBound(ctx, paced+rushed, time.Minute); err != nil {
		return err
	}
	stop()
	b, err := e.bookkeeping(ctx, s, "")
	if err != nil {
		return err
	}
	e.bound(b, false)
	e.answered(b, f)
	return e.compare(ctx, s, f, b)
}

// compare counts who agreed.
func (e *env) compare(ctx context.Context, s *server, f *frontend, b *books) error {
	snapshots := map[string]string{}
	for _, r := range b.records {
		snapshots[r.ID] = r.Snapshot
	}
	lives := map[string]life{}
	for _, l := range e.kubelets.of(e.namespace) {
		lives[string(l.uid)] = l
	}
	nodes, err := e.client.CoreV1().Nodes().List(ctx, listAll)
	if err != nil {
		return err
	}
	var placed []corev1.Pod // in the order in which kube-scheduler took them
	agreed, explained, largest := map[string]int{}, 0, 0
	for _, x := range f.said("filter") {
		_, _, uid := x.pod()
		l := lives[uid]
		var args struct{ Pod json.RawMessage }
		if err := json.Unmarshal(x.request, &args); err != nil {
			return err
		}
		d, err := s.best(ctx, snapshots[x.id], args.Pod)
		if err != nil {
			return err
		}
		largest = max(largest, len(d.Best))
		app := l.last.Labels["app"]
		switch {
		case slices.Contains(d.Best, l.nodes[0]):
			agreed[app]++
		default:
			if d, err = e.reconstructed(ctx, s, nodes.Items, placed, args.Pod); err != nil {
				return err
			}
			if e.check(slices.Contains(d.Best, l.nodes[0]), "%s is on %s; berth's best on the same state are %v (%s)", l.name, l.nodes[0], d.Best, d.Snapshot) {
				explained++
			}
		}
		placed = append(placed, *l.last)
	}
	e.check(agreed["paced"] == 60, "of 60 pods that came one after the other, %d agree on the same revision", agreed["paced"])
	e.figure("%d of 60 paced pods and %d of 240 rushed ones agree on the same revision; %d are explained by pods placed in between; unexplained %d; the best were up to %d nodes",
		agreed["paced"], agreed["rushed"], explained, 300-agreed["paced"]-agreed["rushed"]-explained, largest)
	e.check(agreed["paced"]+agreed["rushed"]+explained == 300, "%d pods were compared", agreed["paced"]+agreed["rushed"]+explained)
	return nil
}

// best asks berth what it would choose.
func (s *server) best(ctx context.Context, snapshot string, pod json.RawMessage) (d decision, err error) {
	err = s.call(ctx, http.MethodPost, "/v1/decisions", map[string]any{"snapshot": snapshot, "pod": pod, "dryRun": true, "explain": "none"}, &d)
	if err == nil && len(d.Best) == 0 && d.Node != "" {
		d.Best = []string{d.Node} // one node was left, and nothing to be compared
	}
	return d, err
}

// reconstructed asks on the state that kube-scheduler had: its nodes, and the pods
// that it had placed.
func (e *env) reconstructed(ctx context.Context, s *server, nodes []corev1.Node, placed []corev1.Pod, pod json.RawMessage) (d decision, err error) {
	var items []any
	for i := range nodes {
		nodes[i].APIVersion, nodes[i].Kind = "v1", "Node"
		items = append(items, &nodes[i])
	}
	for i := range placed {
		placed[i].APIVersion, placed[i].Kind = "v1", "Pod"
		items = append(items, &placed[i])
	}
	js, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		return d, err
	}
	var made struct{ ID string }
	if err := s.call(ctx, http.MethodPost, "/v1/snapshots?cluster=again", bytes.Clone(js), &made); err != nil {
		return d, err
	}
	return s.best(ctx, made.ID, pod)
}
