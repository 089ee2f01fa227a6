package podlife

import (
	"encoding/json"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func TestNodeHealth(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)
	for _, c := range []struct {
		node, json, words string
	}{
		{`{}`, `{}`, ""},
		{`{"spec":{"unschedulable":true}}`, `{}`, "cordoned"},
		{`{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`, `{"state":"Ready"}`, ""},
		{`{"status":{"conditions":[{"type":"Ready","status":"Unknown","lastTransitionTime":"2026-11-21T00:58:00Z"}]},"spec":{"unschedulable":true}}`, `{"state":"NotReady","since":"2026-11-21T00:58:00Z"}`, "NotReady since 00:58:00, cordoned"},
		{`{"status":{"conditions":[{"type":"Ready","status":"False","lastTransitionTime":"2026-11-20T00:58:00Z"}]}}`, `{"state":"NotReady","since":"2026-11-20T00:58:00Z"}`, "NotReady since 2026-11-20 00:58:00"},
		{`{"status":{"conditions":[{"type":"MemoryPressure","status":"False"}]}}`, `{"state":"NotReady"}`, "NotReady"},
		{`{"metadata":{"deletionTimestamp":"2026-11-21T09:00:00Z"},"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"DiskPressure","status":"True"},{"type":"PIDPressure","status":"Unknown"},{"type":"Custom","status":"True"}]}}`, `{"state":"Ready","conditions":["DiskPressure"],"deleting":true}`, "DiskPressure, being deleted"},
	} {
		node := &corev1.Node{}
		if err := json.Unmarshal([]byte(c.node), node); err != nil {
			t.Fatal(err)
		}
		h := HealthOf(node)
		js, err := json.Marshal(&h)
		if err != nil || string(js) != c.json {
			t.Errorf("%s: %s, %v, want %s", c.node, js, err, c.json)
		}
		if got := h.Words(node.Spec.Unschedulable, now); got != c.words {
			t.Errorf("%s: %q, want %q", c.node, got, c.words)
		}
	}
}
