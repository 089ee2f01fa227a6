package scenario_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"berth/internal/scenario"
	"berth/test/enginetest"
)

func changes(list []scenario.Remedy) string {
	var out []string
	for _, r := range list {
		out = append(out, r.For+": "+r.Change+" | "+r.Command)
	}
	return strings.Join(out, "\n")
}

// TestDrainRemedies: a budget that keeps a node is relaxed, or its workload scaled, where a run
// with that drains the node. Where there is no room for one more pod, the budget alone helps.
func TestDrainRemedies(t *testing.T) {
	web := running(enginetest.Pod("web-1", enginetest.Requests("cpu", "1"), enginetest.On("a"), enginetest.Labels("app", "web")), "ReplicaSet", "web", 20, 30)
	scale := "node a: scale ReplicaSet/web from 1 to 2 before the drain: budget default/web then lets one go | kubectl scale replicaset/web -n default --replicas=2"
	relax := `node a: have budget default/web let one pod be missing at a time (maxUnavailable 1) | kubectl patch pdb web -n default --type=merge -p '{"spec":{"minAvailable":null,"maxUnavailable":1}}'`
	q := scenario.DrainQuestion{NodeChoice: scenario.NodeChoice{Nodes: []string{"a"}}}
	budget := budgetOf("web", "web", 1, 1)
	budget.Spec.MinAvailable = new(intstr.FromInt32(1))
	got := drained(t, q, alive("a", "2"), alive("b", "2"), web, budget)
	if s := changes(got.Remedies); s != scale+"\n"+relax {
		t.Errorf("got\n%s", s)
	}
	got = drained(t, q, alive("a", "1"), alive("b", "0"), alive("c", "0"), web, budget)
	if s := changes(got.Remedies); s != relax {
		t.Errorf("without room: got\n%s", s)
	}
	if got = drained(t, q, alive("a", "2"), alive("b", "2"), web, budgetOf("web", "web", 1, 0)); len(got.Remedies) > 0 {
		t.Errorf("nothing is in the way: got\n%s", changes(got.Remedies))
	}
}

// TestLossRemedies: pods that run in one zone alone get a node of its kind in another zone.
func TestLossRemedies(t *testing.T) {
	zoned := func(name, zone, cpu string) *corev1.Node {
		n := alive(name, cpu)
		n.Labels = map[string]string{corev1.LabelTopologyZone: zone, corev1.LabelHostname: name}
		return n
	}
	db := running(enginetest.Pod("db-1", enginetest.Requests("cpu", "4"), enginetest.On("a")), "ReplicaSet", "db", 20, 30)
	got := lost(t, scenario.LossQuestion{NodeChoice: scenario.NodeChoice{Zone: "east"}}, zoned("a", "east", "4"), zoned("b", "west", "1"), db)
	if s := changes(got.Remedies); !strings.Contains(s, "pod default/db-1-2: add one more node like a, in zone west") {
		t.Errorf("got\n%s", s)
	}
}

// TestRolloutRemedies: an update that waits for room completes where an old pod may go first.
func TestRolloutRemedies(t *testing.T) {
	got := mustRollOut(t, webCluster(t, "2", 4), `"replicas":4,"strategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0}},`)
	if s := changes(got.Remedies); !strings.HasPrefix(s, "deployment default/web: spec.strategy.rollingUpdate.maxUnavailable: 1") || got.Try == "" {
		t.Errorf("got\n%s", s)
	}
}
