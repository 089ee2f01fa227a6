package rules_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/rules"
	et "berth/test/enginetest"
)

func TestNodeUnschedulable(t *testing.T) {
	nodes := list(et.Node("cordoned", et.Cordoned()), et.Node("open"))
	check(t, "NodeUnschedulable", []ruleCase{
		{name: "a cordon keeps pods off", objects: nodes, pod: et.Pod("p"), want: map[string]string{"cordoned": rules.ReasonUnschedulable + "!", "open": "ok"}},
		{
			name: "tolerating the taint that a cordon implies passes it", objects: nodes,
			pod:  et.Pod("p", et.Tolerate(corev1.TaintNodeUnschedulable, corev1.TolerationOpExists, "", corev1.TaintEffectNoSchedule)),
			want: map[string]string{"cordoned": "ok", "open": "ok"},
		},
		{
			name: "the cordon is named before the taint that comes with it", pod: et.Pod("p"),
			objects: list(et.Node("n", et.Cordoned(), et.Taint(corev1.TaintNodeUnschedulable, "", corev1.TaintEffectNoSchedule))),
			want:    map[string]string{"n": rules.ReasonUnschedulable + "!"},
		},
	})
}
