package controllers

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/daemon"
)

// drawDaemons draws a DaemonSet on some nodes, of which some have taints or other labels, with pods
// that are sick, over, ending, absent or waiting, and has it updated while nodes change.
func drawDaemons(d *Drawing) {
	d.k.Start, d.k.Until = int64(1+d.IntN(20)), 1200
	set := typed(&appsv1.DaemonSet{}, "DaemonSet", "apps/v1")
	set.Namespace, set.Name, set.UID, set.Generation = "default", "agent", uidOf("DaemonSet", "agent"), 1
	grace := one(d, int64(1), 10, 30, 60)
	limit := int32(10)
	set.Spec.RevisionHistoryLimit = &limit
	set.Spec.Selector, set.Spec.MinReadySeconds = selecting(map[string]string{"app": "agent"}), one(d, int32(0), 0, 0, 7, 40)
	set.Spec.Template.Labels = map[string]string{"app": "agent"}
	set.Spec.Template.Spec = corev1.PodSpec{TerminationGracePeriodSeconds: &grace, RestartPolicy: corev1.RestartPolicyAlways, SchedulerName: corev1.DefaultSchedulerName, Containers: []corev1.Container{{Name: "c", Image: "i:0"}}}
	d.placement(&set.Spec.Template.Spec)
	d.strategy(set)
	d.add(set)
	hash := controller.ComputeHash(&set.Spec.Template, nil)
	ref := owned("apps/v1", "DaemonSet", "agent")
	n := 2 + d.IntN(5)
	for i := range n {
		node := nodeOf(fmt.Sprintf("n%d", i), "")
		d.shape(node)
		d.add(node)
		if run, stay := daemon.NodeShouldRunDaemonPod(klog.Background(), node, set); !run && (!stay || d.in(50)) || d.in(6) {
			continue
		}
		p := podOf(node.Name+"-o", map[string]string{"app": "agent", appsv1.ControllerRevisionHashLabelKey: hash}, &ref)
		p.Spec = *daemonSpec(set, node.Name)
		runs(p, node.Name, one(d, int64(100), 500, 5000)+int64(d.IntN(9)), d.k.Start)
		if d.sick(p) {
			d.add(p)
		}
	}
	at := int64(0)
	for i := range 1 + d.IntN(6) {
		at += 1 + one(d, int64(d.IntN(4)), int64(d.IntN(60)), int64(d.IntN(300)))
		name := fmt.Sprintf("n%d", d.IntN(n))
		key, effect := one(d, "x", "y"), string(one(d, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule))
		switch one(d, 0, 0, 1, 2, 2, 3, 4) {
		case 0:
			next := set.DeepCopy()
			next.Spec.Template.Spec.Containers[0].Image = fmt.Sprintf("i:%d", i+1)
			if d.in(20) {
				d.placement(&next.Spec.Template.Spec)
			}
			if d.in(30) {
				d.strategy(next)
			}
			set = next
			d.event(at, Event{RollOut: &RollOutOf{next}})
			d.tag("update")
		case 1:
			d.event(at, Event{Taint: &TaintOf{[]string{name}, key, "", effect}})
			d.tag("taint")
		case 2:
			d.event(at, Event{Untaint: &TaintOf{[]string{name}, key, "", effect}})
			d.tag("untaint")
		case 3:
			node := nodeOf(name, "")
			d.shape(node)
			d.event(at, Event{Apply: node})
			d.tag("labels")
		case 4:
			d.event(at, Event{Delete: &PodNamed{"default", name + "-o"}})
			d.tag("delete")
		}
	}
}

// placement draws which nodes a DaemonSet is for.
func (d *Drawing) placement(s *corev1.PodSpec) {
	s.NodeSelector, s.Affinity, s.Tolerations = nil, nil, nil
	if d.in(30) {
		s.NodeSelector = map[string]string{"pool": "a"}
		d.tag("selector")
	}
	if d.in(20) {
		s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "pool", Operator: one(d, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn), Values: []string{"a", "c"}}},
		}}}}}
		d.tag("affinity")
	}
	if d.in(30) {
		s.Tolerations = []corev1.Toleration{{Key: "x", Operator: corev1.TolerationOpExists, Effect: one(d, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, "")}}
		d.tag("tolerates")
	}
}

// strategy draws how a DaemonSet is updated.
func (d *Drawing) strategy(s *appsv1.DaemonSet) {
	amount := func() *intstr.IntOrString {
		v := one(d, intstr.FromInt32(1), intstr.FromInt32(1), intstr.FromInt32(2), intstr.FromString("34%"), intstr.FromString("60%"))
		return &v
	}
	none := intstr.FromInt32(0)
	s.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{
		Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: amount(), MaxSurge: &none},
	}
	switch {
	case d.in(12):
		s.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
		d.tag("onDelete")
	case d.in(40):
		s.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &none, MaxSurge: amount()}
		d.tag("surge")
	}
}

// shape draws the label and the taints of a node.
func (d *Drawing) shape(n *corev1.Node) {
	if d.in(80) {
		n.Labels["pool"] = one(d, "a", "a", "b", "c")
	}
	if d.in(15) {
		n.Spec.Taints = []corev1.Taint{{Key: one(d, "x", "y"), Effect: one(d, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute)}}
	}
}
