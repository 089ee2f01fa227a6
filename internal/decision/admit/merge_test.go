package admit

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKeepAbsent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ kind, manifest, held, want string }{
		"a bound pod": {
			"Pod", `{"spec":{"containers":[{"name":"c"}]}}`,
			`{"spec":{"nodeName":"n1","priority":7,"priorityClassName":"high","preemptionPolicy":"Never","overhead":{"cpu":"1"},"tolerations":[{"key":"k"}],"ephemeralContainers":[{"name":"e"}],"nodeSelector":{"a":"b"}},"status":{"phase":"Running"}}`,
			`{"spec":{"containers":[{"name":"c"}],"nodeName":"n1","priority":7,"priorityClassName":"high","preemptionPolicy":"Never","overhead":{"cpu":"1"},"tolerations":[{"key":"k"}],"ephemeralContainers":[{"name":"e"}]},"status":{"phase":"Running"}}`,
		},
		"the manifest's own": {
			"Pod", `{"metadata":{"labels":{"b":"2"}},"spec":{"priority":1,"tolerations":[]},"status":{"phase":"Failed"}}`,
			`{"metadata":{"uid":"u","labels":{"a":"1"}},"spec":{"priority":7,"tolerations":[{"key":"k"}]},"status":{"phase":"Running","reason":"r"}}`,
			`{"metadata":{"uid":"u","labels":{"b":"2"}},"spec":{"priority":1,"tolerations":[]},"status":{"phase":"Failed"}}`,
		},
		"null and an empty status are nothing": {
			"Pod", `{"metadata":{"labels":null},"spec":{"nodeName":null},"status":{}}`,
			`{"metadata":{"labels":{"a":"1"}},"spec":{"nodeName":"n1"},"status":{"phase":"Running"}}`,
			`{"metadata":{"labels":{"a":"1"}},"spec":{"nodeName":"n1"},"status":{"phase":"Running"}}`,
		},
		"metadata": {
			"Service", `{"metadata":{"name":"s"}}`,
			`{"metadata":{"uid":"u","annotations":{"a":"1"},"ownerReferences":[{"name":"o"}],"creationTimestamp":"t","deletionTimestamp":"d","deletionGracePeriodSeconds":3,"resourceVersion":"9"}}`,
			`{"metadata":{"name":"s","uid":"u","annotations":{"a":"1"},"ownerReferences":[{"name":"o"}],"creationTimestamp":"t","deletionTimestamp":"d","deletionGracePeriodSeconds":3}}`,
		},
		"a node without a status": {
			"Node", `{"metadata":{}}`,
			`{"spec":{"taints":[{"key":"k"}],"unschedulable":true,"podCIDR":"c"},"status":{"capacity":{"cpu":"8"},"allocatable":{"cpu":"7"},"conditions":[],"images":[],"declaredFeatures":["f"]}}`,
			`{"metadata":{},"spec":{"taints":[{"key":"k"}],"unschedulable":true},"status":{"capacity":{"cpu":"8"},"allocatable":{"cpu":"7"},"conditions":[],"images":[],"declaredFeatures":["f"]}}`,
		},
		"allocatable follows a new capacity": {
			"Node", `{"status":{"capacity":{"cpu":"16"}}}`,
			`{"status":{"capacity":{"cpu":"8"},"allocatable":{"cpu":"7"},"images":[]}}`,
			`{"status":{"capacity":{"cpu":"16"},"images":[]}}`,
		},
		"another kind's status is whole, its spec the manifest's": {
			"PodDisruptionBudget", `{"spec":{"minAvailable":1}}`,
			`{"spec":{"minAvailable":2,"selector":{}},"status":{"disruptionsAllowed":3}}`,
			`{"spec":{"minAvailable":1},"status":{"disruptionsAllowed":3}}`,
		},
	} {
		got, err := keepAbsent(c.kind, []byte(c.manifest), []byte(c.held))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := cmp.Diff(value(t, c.want), value(t, string(got))); d != "" {
			t.Errorf("%s: want (-), got (+):\n%s", name, d)
		}
	}
	for _, bad := range [][2]string{{`[]`, `{}`}, {`{}`, `[]`}, {`{"spec":1}`, `{"spec":{}}`}, {`{"spec":{}}`, `{"spec":1}`}} {
		if got, err := keepAbsent("Pod", []byte(bad[0]), []byte(bad[1])); err == nil {
			t.Errorf("%v: %s", bad, got)
		}
	}
}

// value is JSON without the order of its keys.
func value(t *testing.T, js string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(js), &v); err != nil {
		t.Fatalf("%s: %v", js, err)
	}
	return v
}
