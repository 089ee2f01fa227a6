package scenario_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/scenario"
	"berth/test/enginetest"
)

// dead is a node whose kubelet does not report any more.
func dead(name string, ready corev1.ConditionStatus, more ...corev1.Taint) *corev1.Node {
	n := enginetest.Node(name, enginetest.Allocatable("cpu", "4", "pods", "10"))
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}
	n.Spec.Taints = append(more, corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule})
	return n
}

// TestDrainOfADeadNode has pods whose kubelet cannot end them: a StatefulSet's is not replaced. A
// node that is not Ready by its kubelet's own word, or out of service, loses its pods.
func TestDrainOfADeadNode(t *testing.T) {
	objects := []any{
		enginetest.Node("b", enginetest.Allocatable("cpu", "4", "pods", "10")),
		running(enginetest.Pod("db-0", enginetest.On("a")), "StatefulSet", "db", 7, 10),
		running(enginetest.Pod("web-1", enginetest.On("a")), "ReplicaSet", "web", 20, 30),
	}
	const ended = "a drained in 1 waves, 30 s\ndb-0 eviction wave 1 at 0 gone 10: db-0 at 10 on \"b\" ready 17\nweb-1 eviction wave 1 at 0 gone 30: web-1-2 at 0 on \"b\" ready 20\n"
	const stays = ": it stays Terminating: the kubelet of its node does not answer, and nothing else removes it while the Node object exists\n"
	outOfService := corev1.Taint{Key: corev1.TaintNodeOutOfService, Effect: corev1.TaintEffectNoExecute}
	for what, c := range map[string]struct {
		node *corev1.Node
		want string
	}{
		"unknown": {dead("a", corev1.ConditionUnknown), "a blocked in 1 waves, 0 s\n  blocked db-0" + stays + "  blocked web-1" + stays +
			"db-0 eviction wave 1 at 0: StatefulSet/db waits until the pod is gone, and its node ends no pod any more\nweb-1 eviction wave 1 at 0: web-1-2 at 0 on \"b\" ready 20\n"},
		"false":          {dead("a", corev1.ConditionFalse), ended},
		"out of service": {dead("a", corev1.ConditionUnknown, outOfService), ended},
	} {
		got := drained(t, scenario.DrainQuestion{NodeChoice: chosen("a"), Remove: new(true)}, append(objects, c.node)...)
		if told(got) != c.want || got.Nodes[0].Removed == (what == "unknown") {
			t.Errorf("%s:\n%s", what, told(got))
		}
	}
	if got := drained(t, scenario.DrainQuestion{NodeChoice: chosen("a"), GracePeriodSeconds: new(int64)}, append(objects, dead("a", corev1.ConditionUnknown))...); got.Nodes[0].Outcome != scenario.NodeDrained {
		t.Errorf("forced:\n%s", told(got))
	}
}

// TestRecreateOnADeadNode waits for a pod that was deleted there before.
func TestRecreateOnADeadNode(t *testing.T) {
	for _, terminating := range []bool{true, false} {
		left := podOfWeb("web-1", "web-1-00", "a", func(p *corev1.Pod) {
			if terminating {
				p.DeletionTimestamp, p.DeletionGracePeriodSeconds = new(metav1.NewTime(noon.Add(-time.Hour))), new(int64(30))
			}
		})
		v := viewOf(t, dead("a", corev1.ConditionUnknown), enginetest.Node("b", enginetest.Allocatable("cpu", "4")), webSet("web-1", 2), left, podOfWeb("web-1", "web-1-01", "b"))
		got := mustRollOut(t, v, `"replicas":2,"strategy":{"type":"Recreate"},`)
		if got.Outcome != scenario.RolloutStuck || got.Sets[1].After != 0 {
			t.Errorf("terminating %v: %+v", terminating, got)
		}
	}
}

// TestDeletedPodsCountOnce: a pod that is being deleted when its node is given up counts no second
// time for its budget, which has two to spare once its successor is ready.
func TestDeletedPodsCountOnce(t *testing.T) {
	web := func(name, on string) *corev1.Pod {
		return running(enginetest.Pod(name, enginetest.Requests("cpu", "1"), enginetest.On(on), enginetest.Labels("app", "web")), "ReplicaSet", "web", 20, 30)
	}
	out := clocked(t, `{"events":[
		{"nodesDie":{"nodes":["a"]}},{"at":"10s","evict":{"name":"web-1"}},{"at":"60s","evict":{"name":"web-2"}},{"at":"61s","evict":{"name":"web-3"}}
	],"until":{"duration":"62s"}}`, alive("a", "1"), alive("b", "5"), web("web-1", "a"), web("web-2", "b"), web("web-3", "b"), budgetOf("web", "web", 3, 1))
	want := `0 nodeDied a
10 leaves web-1 a: eviction
10 created web-1-2
10 bound web-1-2 b
30 ready web-1-2 b
50 nodeNotReady a
50 unready web-1 a
50 nodeTainted a
60 leaves web-2 b: eviction
60 created web-2-2
60 bound web-2-2 b
61 leaves web-3 b: eviction
61 created web-3-2
61 bound web-3-2 b
`
	if got := toldTimeline(out.Clock.Timeline); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestDrainTriesAfterTheLastEvent: a drain that a budget holds up goes on once nothing else is to
// happen, as the last pod that became ready may let it.
func TestDrainTriesAfterTheLastEvent(t *testing.T) {
	web := func(name, on string) *corev1.Pod {
		return running(enginetest.Pod(name, enginetest.Requests("cpu", "1"), enginetest.On(on), enginetest.Labels("app", "web")), "ReplicaSet", "web", 18, 7)
	}
	out := clocked(t, `{"events":[{"drain":{"nodes":["a"]}}]}`, alive("a", "2"), alive("b", "2"), web("web-1", "a"), web("web-2", "a"), budgetOf("web", "web", 2, 1))
	want := `0 cordoned a
0 drainBegins a
0 leaves web-1 a: eviction
0 created web-1-2
0 bound web-1-2 b
7 gone web-1 a
18 ready web-1-2 b
20 leaves web-2 a: eviction
20 created web-2-2
20 bound web-2-2 b
27 gone web-2 a
27 drainEnds a
38 ready web-2-2 b
`
	if got := toldTimeline(out.Clock.Timeline); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
