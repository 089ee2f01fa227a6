package explain_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/rules"
	"berth/internal/semantics"
	"berth/test/enginetest"
)

// member is a pod of a group, on a node unless that is empty.
func member(name, group, node string) *corev1.Pod {
	p := enginetest.Pod(name)
	if p.Spec.NodeName = node; group != "" {
		p.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &group}
	}
	return p
}

func podGroup(name string, minCount int32) *schedulingv1beta1.PodGroup {
	g := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	if minCount > 0 {
		g.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: minCount}
	}
	return g
}

// TestGroups: where pods are scheduled in groups, an answer about one of a group names that it is
// about the pod alone, and how many of its group are there. The verdict is the same either way.
func TestGroups(t *testing.T) {
	ended := member("ended", "train", "n1")
	ended.Status.Phase = corev1.PodSucceeded
	other := member("other", "train", "n1")
	other.Namespace = "elsewhere"
	s := enginetest.Fresh(t, enginetest.Node("n1"), podGroup("train", 4), podGroup("small", 1), podGroup("loose", 0),
		member("t0", "train", "n1"), member("t1", "train", ""), ended, other, member("l0", "loose", "n1"), member("alone", "", "n1"))
	for _, c := range []struct{ release, pod, group, want string }{
		{"v1.37 GenericWorkload=true", "t1", "train", "2 of 4 there, 1 of 4 with a node; kube-scheduler waits for the rest"},
		{"v1.37 GenericWorkload=true", "new", "train", "3 of 4 there, 1 of 4 with a node; kube-scheduler waits for the rest"},
		{"v1.36 GenericWorkload=true", "new", "small", "1 of 1 there, 0 of 1 with a node; its pods are placed together or not at all"},
		{"v1.37 GenericWorkload=true", "new", "loose", "2 there, 1 with a node; it has no quorum"},
		{"v1.37 GenericWorkload=true", "new", "none", "there is no PodGroup of the name, for which kube-scheduler waits"},
		{"v1.37 GenericWorkload=true", "new", "", ""},
		{"v1.37", "t1", "train", ""},
		{"v1.36", "t1", "train", ""},
	} {
		r, err := semantics.Parse(c.release)
		if err != nil {
			t.Fatal(err)
		}
		p, err := rules.BuildUnder(rules.SpecOf(r), r)
		if err != nil {
			t.Fatal(err)
		}
		result, err := engine.Decide(s, member(c.pod, c.group, ""), p, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		d := explain.Decision(result, engine.ExplainNone)
		if d.Outcome != engine.Scheduled {
			t.Errorf("%+v: %s", c, d.Outcome)
		}
		switch {
		case c.want == "" && len(d.NotEvaluated) > 0:
			t.Errorf("%+v: %+v", c, d.NotEvaluated)
		case c.want != "" && (len(d.NotEvaluated) != 1 || d.NotEvaluated[0].Plugin != "GangScheduling" || !strings.HasSuffix(d.NotEvaluated[0].Reason, c.want) && !strings.Contains(d.NotEvaluated[0].Reason, c.want+", ")):
			t.Errorf("%+v: %+v", c, d.NotEvaluated)
		}
		encoded, _ := explain.Encode(result, engine.ExplainNone)
		if encoded == nil || len(encoded.NotEvaluated) != len(d.NotEvaluated) {
			t.Errorf("%+v: encoded it says %+v", c, encoded)
		}
	}
}
