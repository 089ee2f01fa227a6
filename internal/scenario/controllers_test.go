package scenario_test

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"berth/internal/world"
	"berth/test/enginetest"
)

// TestScaleDownRank ranks pods by those of all ReplicaSets of their Deployment on their nodes, and
// not at all where there is no Deployment.
func TestScaleDownRank(t *testing.T) {
	t.Parallel()
	of := func(hash, name, on string) *corev1.Pod {
		return running(enginetest.Pod(name, enginetest.Requests("cpu", "1"), enginetest.On(on), enginetest.Labels("pod-template-hash", hash)), "ReplicaSet", "web-"+hash, 20, 30)
	}
	bare := func(name, on string) *corev1.Pod {
		return running(enginetest.Pod(name, enginetest.Requests("cpu", "1"), enginetest.On(on)), "ReplicaSet", "alone", 20, 30)
	}
	objects := []any{
		alive("a", "9"), alive("b", "9"), of("x", "x1", "a"), of("x", "x2", "b"), of("y", "y1", "b"), of("y", "y2", "b"),
		bare("p1", "a"), bare("p2", "b"), bare("p3", "b"),
	}
	objects[6].(*corev1.Pod).UID, objects[7].(*corev1.Pod).UID = "0", "1" // of one age, which is the last rule
	for set, want := range map[string]string{"web-x": "leaves x2", "alone": "leaves p1"} {
		out := clocked(t, `{"events":[{"scale":{"kind":"ReplicaSet","name":"`+set+`","replicas":`+map[string]string{"web-x": "1", "alone": "2"}[set]+`}}],"until":{"duration":"1s"}}`, objects...)
		if got := toldTimeline(out.Clock.Timeline); !strings.Contains(got, want) || strings.Count(got, "leaves") != 1 {
			t.Errorf("%s: want %s\n%s", set, want, got)
		}
	}
}

// TestSetOfSickPods has a StatefulSet act on pods that have ended, and wait for those that are not
// available.
func TestSetOfSickPods(t *testing.T) {
	t.Parallel()
	replicas := int32(2)
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "db"}, Spec: appsv1.StatefulSetSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}, MinReadySeconds: 60,
	}}
	ended := setPod(0, "a")
	ended.Status.Phase, ended.Status.Conditions[0].Status = corev1.PodFailed, corev1.ConditionFalse
	since := func(i int, ready int) *corev1.Pod {
		p := setPod(i, "a")
		p.Status.Conditions[0].LastTransitionTime = metav1.Unix(noon.Unix()-int64(ready), 0)
		return p
	}
	for _, c := range []struct {
		name, to, want string
		objects        []any
	}{
		{"a pod that has ended is deleted, and made again", "2", `
0 scaled StatefulSet/db: to 2 replicas
0 leaves db-0 a: deletion
0 gone db-0 a
0 created db-0
0 bound db-0 a
10 ready db-0 a
70 created db-1
70 bound db-1 a
80 ready db-1 a
`, []any{ended}},
		{"the lowest that is not available goes first, then from above", "0", `
0 scaled StatefulSet/db: to 0 replicas
10 leaves db-1 a: scale-down
40 gone db-1 a
40 leaves db-0 a: scale-down
70 gone db-0 a
`, []any{since(0, 50), since(1, 40)}},
		{"what is made is like a pod that is too many", "1", `
0 scaled StatefulSet/db: to 1 replicas
0 created db-0
0 bound db-0 a
20 ready db-0 a
80 leaves db-2 a: scale-down
110 gone db-2 a
`, []any{since(2, 3580)}},
	} {
		out := clocked(t, `{"startSeconds":10,"events":[{"scale":{"kind":"StatefulSet","name":"db","replicas":`+c.to+`}}]}`, append(c.objects, set, alive("a", "9"))...)
		if got := toldTimeline(out.Clock.Timeline); got != c.want[1:] {
			t.Errorf("%s: got\n%s", c.name, got)
		}
	}
}

// TestScaleUnderBudget has a budget of a share follow the number of pods that its owner wants.
func TestScaleUnderBudget(t *testing.T) {
	t.Parallel()
	web := func(name string) *corev1.Pod {
		return running(enginetest.Pod(name, enginetest.Requests("cpu", "1"), enginetest.On("a"), enginetest.Labels("app", "web")), "ReplicaSet", "web", 20, 30)
	}
	budget := budgetOf("pdb", "web", 2, 1)
	one := intstr.FromInt32(1)
	budget.Spec.MinAvailable, budget.Spec.MaxUnavailable, budget.Status.ExpectedPods = nil, &one, 2
	out := clocked(t, `{"events":[{"scale":{"kind":"ReplicaSet","name":"web","replicas":4}},{"at":"1s","evict":{"name":"w1"}},{"at":"30s","evict":{"name":"w1"}}]}`,
		alive("a", "9"), web("w1"), web("w2"), budget)
	if got := toldTimeline(out.Clock.Timeline); !strings.Contains(got, "1 refused w1") || !strings.Contains(got, "30 leaves w1") {
		t.Errorf("want an eviction refused until the new pods are ready:\n%s", got)
	}
}

// TestJobPolicy has a deletion by a person match no rule for disruptions, and a failure that is
// ignored delay the next pod.
func TestJobPolicy(t *testing.T) {
	t.Parallel()
	for policy, want := range map[string]string{"Ignore": "41 created", "FailJob": ""} {
		limit, replace := int32(0), batchv1.Failed
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "train"}, Spec: batchv1.JobSpec{
			BackoffLimit: &limit, PodReplacementPolicy: &replace,
			PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
				Action:          batchv1.PodFailurePolicyAction(policy),
				OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
			}}},
		}}
		for what, want := range map[string]string{"evict": want, "delete": ""} {
			out := clocked(t, `{"events":[{"at":"1s","`+what+`":{"name":"t1"}}]}`, alive("a", "9"), jobPod("t1", "a"), job)
			got := toldTimeline(out.Clock.Timeline)
			if !strings.Contains(got, want) || want == "" && strings.Contains(got, "created") {
				t.Errorf("%s, %s: want %q\n%s", policy, what, want, got)
			}
		}
	}
}

// TestTaintOfAnotherValue has a taint take the place of the one that has its key and effect.
func TestTaintOfAnotherValue(t *testing.T) {
	t.Parallel()
	p := running(enginetest.Pod("p", enginetest.Requests("cpu", "1"), enginetest.On("a")), "", "", 20, 0)
	p.Spec.Tolerations = []corev1.Toleration{{Key: "x", Operator: corev1.TolerationOpEqual, Value: "v", Effect: corev1.TaintEffectNoExecute}}
	out := clocked(t, `{"events":[{"taint":{"nodes":["a"],"key":"x","value":"v","effect":"NoExecute"}},{"at":"5s","taint":{"nodes":["a"],"key":"x","value":"w","effect":"NoExecute"}}]}`, alive("a", "9"), p)
	if got := toldTimeline(out.Clock.Timeline); !strings.Contains(got, "5 leaves p") {
		t.Errorf("the pod does not tolerate the second value:\n%s", got)
	}
}

// TestZoneGoesOn has a zone whose nodes were not tainted, as too many were lost, wait for one more
// turn once the others are lost as well.
func TestZoneGoesOn(t *testing.T) {
	t.Parallel()
	var objects []any
	for _, name := range []string{"a1", "a2", "a3", "a4", "b1"} {
		n := alive(name, "9")
		n.Labels[corev1.LabelTopologyZone] = name[:1]
		objects = append(objects, n)
	}
	out := clocked(t, `{"events":[{"nodesDie":{"nodes":["a1","a2","a3"]}},{"at":"200s","nodesDie":{"nodes":["a4"]}}]}`, objects...)
	var tainted []int64
	for _, m := range out.Clock.Timeline {
		if m.What == world.NodeTainted {
			tainted = append(tainted, m.AfterSeconds)
		}
	}
	if want := []int64{260, 270, 280, 290}; !slices.Equal(tainted, want) {
		t.Errorf("tainted at %v, want %v", tainted, want)
	}
}

// TestJobOfALostNode: a pod of a node that is lost has failed when it lost its readiness, so that
// its Job's back-off is over once it is deleted. One whose Job waits for its end is made again when
// the node is back.
func TestJobOfALostNode(t *testing.T) {
	pod := jobPod("train-1", "a")
	forty := int64(40)
	pod.Spec.Tolerations = []corev1.Toleration{{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &forty}}
	for policy, want := range map[batchv1.PodReplacementPolicy]string{
		batchv1.TerminatingOrFailed: "90 created train-1-2\n90 bound train-1-2 b\n94 ready train-1-2 b\n120 nodeBack a\n150 gone train-1 a\n",
		batchv1.Failed:              "120 nodeBack a\n150 gone train-1 a\n160 created train-1-2\n160 bound train-1-2 b\n164 ready train-1-2 b\n",
	} {
		out := clocked(t, `{"events":[{"at":"1s","cordon":{"nodes":["a"]}},{"nodesDie":{"nodes":["a"]}},{"at":"120s","nodesReturn":{"nodes":["a"]}}]}`,
			alive("a", "4"), alive("b", "4"), pod, job(batchv1.JobSpec{PodReplacementPolicy: &policy}))
		_, got, _ := strings.Cut(toldTimeline(out.Clock.Timeline), "90 leaves train-1 a: taint\n")
		if got != want {
			t.Errorf("%s: got\n%swant\n%s", policy, got, want)
		}
	}
}
