package record_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/kube/object"
	"berth/test/logtest"
)

// TestReplacementsOfVictims: what a controller makes instead of a victim is tried beside
// suggestions, with the preemptor on its node.
func TestReplacementsOfVictims(t *testing.T) {
	low := func(kind, spec string) *corev1.Pod {
		p := logtest.Pod(t, "low", `"nodeName":"n1","priority":1,`+spec)
		if kind != "" {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: "own", UID: "o", Controller: new(true)}}
		}
		return p
	}
	const pinned = `"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}]}}},`
	const on1 = `"priority":1000,"nodeSelector":{"kubernetes.io/hostname":"n1"},`
	for _, c := range []struct {
		name    string
		victim  *corev1.Pod
		suggest bool
		want    string
	}{
		{"a DaemonSet's, of that node alone", low("DaemonSet", pinned), true, "DaemonSet own makes another, which fits nowhere then and waits"},
		{"one that may go elsewhere", low("ReplicaSet", ""), true, "ReplicaSet own makes another, which goes to n2"},
		{"one that evicts in turn", low("ReplicaSet", `"nodeSelector":{"kubernetes.io/hostname":"n3"},`), true, "ReplicaSet own makes another, which has others evicted from n3"},
		{"a Job's, which may not come back", low("Job", ""), true, ""},
		{"nobody's", low("", ""), true, ""},
		{"without suggestions", low("ReplicaSet", ""), false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := logtest.Open(t, t.TempDir())
			logtest.Upload(t, h, []object.Object{
				logtest.Node(t, "n1", 1), logtest.Node(t, "n2", 1), logtest.Node(t, "n3", 1), logtest.Held(t, c.victim), logtest.Held(t, logtest.Pod(t, "least", `"nodeName":"n3","priority":-5,`)),
			}...)
			a := logtest.Decide(t, h, decision.Question{Pod: logtest.Pod(t, "urgent", on1), Suggest: c.suggest})
			if a.Outcome != engine.Preempting || len(a.Preemption.Victims) != 1 {
				t.Fatalf("%s", logtest.Text(t, a))
			}
			if got := a.Preemption.Victims[0].Replacement; got != c.want || c.want != "" && !strings.Contains(logtest.Text(t, a), c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
