package podlife

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// FuzzLifecycle: whatever pod is posted there is an answer, the same each time,
// with a rule behind every statement and the pod as it was.
func FuzzLifecycle(f *testing.F) {
	f.Add([]byte(`{}`), 0, int64(0))
	f.Add([]byte(`{"spec":{"nodeName":"n","initContainers":[{"name":"i"},{"name":"s","restartPolicy":"Always"}],"containers":[{"name":"a"}]},
		"status":{"initContainerStatuses":[{"name":"s","state":{"terminated":{}}},{"name":"i"}],"containerStatuses":[{"name":"a","restartCount":3,"state":{"waiting":{}},"lastState":{"terminated":{"exitCode":1,"finishedAt":"2026-01-01T00:00:00Z"}}}]}}`), 0, int64(1767225605))
	f.Add([]byte(`{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{"nodeName":"n","containers":[{"name":"a","restartPolicy":"Never","restartPolicyRules":[{"action":"RestartAllContainers","exitCodes":{"operator":"In","values":[1]}}]}]},
		"status":{"phase":"Failed","conditions":[{"type":"Ready","status":"True"},{"type":"DisruptionTarget"}],"containerStatuses":[{"name":"a","state":{"terminated":{"exitCode":1}}}]}}`), 2, int64(-1))
	f.Add([]byte(`{"spec":{"nodeName":"n","containers":[{"name":"a"}]},"status":{"conditions":[{"type":"x","lastTransitionTime":"9999-12-31T23:59:59-12:00"},{"type":"y","lastTransitionTime":"0000-01-01T00:00:00+12:00"}],
		"containerStatuses":[{"name":"a","restartCount":9,"state":{"terminated":{"finishedAt":"9999-12-31T23:59:00Z"}}}]}}`), 0, int64(0))
	f.Add([]byte(`{"spec":{"schedulingGates":[{}],"readinessGates":[{}],"ephemeralContainers":[{"name":"e"}],"containers":[{"livenessProbe":{"failureThreshold":-1}}]}}`), 1, int64(1<<40))
	f.Fuzz(func(t *testing.T, doc []byte, node int, at int64) {
		p := &corev1.Pod{}
		if json.Unmarshal(doc, p) != nil || node < 0 || node > 2 {
			return
		}
		before, when := p.DeepCopy(), time.Unix(at%(1<<35), 0)
		l := Lifecycle(p, NodeState(node), when)
		if d := cmp.Diff(l, Lifecycle(p, NodeState(node), when)); d != "" {
			t.Errorf("another answer to the same question:\n%s", d)
		}
		if d := cmp.Diff(before, p); d != "" {
			t.Errorf("the pod was written:\n%s", d)
		}
		if _, err := json.Marshal(l); err != nil {
			t.Errorf("no JSON of it: %v", err)
		}
		rules := []Rule{l.PhaseRule, l.StatusRule}
		for _, c := range l.Conditions {
			rules = append(rules, c.Rule)
		}
		if n := len(p.Spec.InitContainers) + len(p.Spec.Containers) + len(p.Spec.EphemeralContainers); n != len(l.Containers) {
			t.Errorf("%d of %d containers", len(l.Containers), n)
		}
		for _, c := range l.Containers {
			rules = append(rules, c.Rule, c.Next.Rule)
			if c.Next.At != nil && (c.Next.Action != ActionBackoff || c.Next.RemainingSeconds < 1) {
				t.Errorf("a time that is over, or of nothing: %+v", c.Next)
			}
			if c.Next.Action == ActionStart && c.State == "running" {
				t.Errorf("%s runs and is started", c.Name)
			}
			for _, probe := range c.Probes {
				rules = append(rules, probe.Rule)
			}
		}
		for _, r := range rules {
			if r.ID == "" || r.Text == "" {
				t.Errorf("a statement without a rule: %+v", r)
			}
		}
	})
}
