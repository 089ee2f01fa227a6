package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// agreement lets berth look on while kube-scheduler places pods: first one after
// the other, and then all at once. Afterwards the two are compared. kube-scheduler
// writes the scores of all nodes to its log here, so that its best nodes are
// compared one for one, and not only the one that it took.
func agreement(ctx context.Context, e *env) error {
	const paced, rushed = 60, 240
	if err := e.nodes(ctx, 40, 4, "8", "32Gi", mixed); err != nil {
		return err
	}
	s, err := e.berth(nil)
	if err != nil {
		return err
	}
	t, err := e.shadowed(s, scoresInLog)
	if err != nil {
		return err
	}
	shape := func(i int, p *corev1.Pod) {
		choosy(i, p)
		if i%4 == 1 {
			prefer(p, 20, "zone-1", "zone-2")
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
		if err := e.heard(ctx, s, fmt.Sprintf("paced-%02d-0000", i)); err != nil {
			return err
		}
	}
	if err := e.pods(ctx, "rushed", rushed, "200m", "256Mi", shape); err != nil {
		return err
	}
	if err := e.allBound(ctx, paced+rushed, time.Minute); err != nil {
		return err
	}
	t.stop()
	b, err := e.books(ctx, t)
	if err != nil {
		return err
	}
	scores, err := bestByLog(filepath.Join(e.dir, "kube-scheduler.log"))
	if err != nil {
		return err
	}
	c, err := e.compare(ctx, s, b, e.kubelets.alive(e.namespace), scores)
	if err != nil {
		return err
	}
	c.tell(paced+rushed, paced+rushed)
	late := 0
	for _, ch := range c.choices {
		if ch.first.Labels["app"] == "paced" && ch.later != 0 {
			late++
		}
	}
	e.check(late == 0, "of %d pods that came one after the other, %d do not agree on the same revision", paced, late)
	return nil
}

// heard waits until berth knows of a pod that it is bound.
func (e *env) heard(ctx context.Context, s *server, name string) error {
	return until(ctx, 20*time.Second, "berth knows that "+name+" is bound", func() bool {
		var story struct{ State string }
		err := s.call(ctx, http.MethodGet, "/v1/clusters/"+followed+"/pods/"+e.namespace+"/"+name+"?attempts=1", nil, &story)
		return err == nil && story.State == "bound"
	})
}

// prefer makes a pod prefer zones.
func prefer(p *corev1.Pod, weight int32, zones ...string) {
	p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
		{Weight: weight, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: zones}}}},
	}}}
}
