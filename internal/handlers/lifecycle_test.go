package handlers

import (
	"net/http"
	"runtime"
	"strings"
	"testing"

	"berth/internal/handlers/exchange"
	"berth/internal/podlife"
)

func TestPodLifecycle(t *testing.T) {
	h := start(t, nil)
	const at = "/v1/pods/lifecycle"
	const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","someday":1},"spec":{"nodeName":"n1","containers":[{"name":"a","livenessProbe":{}},{"name":"b"}]},
		"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[
			{"name":"a","restartCount":4,"state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"exitCode":1,"reason":"Error","startedAt":"2026-03-01T11:58:00Z","finishedAt":"2026-03-01T11:59:00Z"}}},
			{"name":"b","ready":true,"started":true,"state":{"running":{"startedAt":"2026-03-01T11:00:00Z"}}}]}}`
	judge := func(rest string) (l podlife.Life) {
		t.Helper()
		h.want(200, &l, "POST", at+"?fieldValidation=Ignore", `{"pod":`+pod+rest+`}`)
		return l
	}
	l := judge(`,"now":"2026-03-01T12:00:00Z"`)
	if l.Phase != "Running" || l.Status != "CrashLoopBackOff" || l.Ready != "1/2" || l.Restarts != "4 (60s ago)" || l.PhaseRule.ID != "phase/running" || l.StatusRule.ID != "status/container-waiting" {
		t.Errorf("%+v", l)
	}
	if n := l.Containers[0].Next; n.Action != "backoff" || n.BackoffSeconds != 80 || n.RemainingSeconds != 20 || n.At.Format("15:04:05") != "12:00:20" {
		t.Errorf("%+v", n)
	}
	if l.Containers[0].Probes[1].FailureThreshold != 3 || len(l.Conditions) != 5 {
		t.Errorf("%+v", l)
	}
	// Without a time it is the server's, and the back-off long over.
	if l = judge(""); l.Containers[0].Next.Action != "restart" {
		t.Errorf("%+v", l.Containers[0].Next)
	}
	healthy := judge(`,"node":{"metadata":{"name":"n1"},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`)
	lost := judge(`,"node":{"kind":"Node","apiVersion":"v1","status":{"conditions":[{"type":"Ready","status":"Unknown"}]}}`)
	if len(healthy.Conditions) != 5 || lost.PhaseRule.ID != "phase/node-lost" || len(lost.Conditions) != 1 || lost.Conditions[0].Status != "False" || lost.Containers[0].Next.Action != "wait" {
		t.Errorf("%+v\n%+v", healthy.Conditions, lost)
	}
	if gone := judge(`,"node":null`); gone.Phase != "Failed" || gone.Conditions[1].Reason != "DeletionByPodGC" || gone.Containers[1].Next.Action != "leave" {
		t.Errorf("%+v", gone)
	}
	if l = judge(`,"now":"2026-03-01T12:00:00Z","maxContainerRestartPeriod":"30s"`); l.Containers[0].Next.Action != "restart" {
		t.Errorf("%+v", l.Containers[0].Next)
	}
	if l = judge(`,"now":"2026-03-01T12:00:00Z","nodeLostSince":"2026-03-01T11:50:00Z"`); l.NodeDeletion == nil || l.NodeDeletion.At.Format("15:04:05") != "11:55:40" || l.NodeDeletion.Latest.Format("15:04:05") != "11:56:00" {
		t.Errorf("%+v", l.NodeDeletion)
	}
	if l = judge(`,"now":"2026-03-01T12:00:00Z","events":[{"at":"2026-03-01T12:01:00Z","container":"b","exitCode":1}]`); l.Timeline == nil || len(l.Timeline.Entries) < 2 {
		t.Errorf("%+v", l.Timeline)
	}
	kubelet := func(version, rest string) string {
		return judge(`,"node":{"status":{"nodeInfo":{"kubeletVersion":"` + version + `"}}}` + rest).Semantics
	}
	for want, got := range map[string]string{
		"v1.35.4": kubelet("v1.35.9", `,"semantics":"v1.37"`), "": kubelet("v1.36.1", `,"semantics":"v1.37"`), "v1.37.2": kubelet("", `,"semantics":"v1.37"`),
	} {
		if got != want {
			t.Errorf("the kubelet is of %q, want %q", got, want)
		}
	}
	l = podlife.Life{}
	h.want(200, &l, "POST", at, `{"pod":{"spec":{"containers":[{"name":"c"}]}}}`)
	if l.Phase != "Pending" || len(l.Containers) != 1 {
		t.Errorf("%+v", l)
	}

	for what, c := range map[string]struct {
		status      int
		body, field string
	}{
		"nothing":            {400, "", ""},
		"no pod":             {400, `{"node":null}`, "pod"},
		"a pod in a list":    {400, `{"pod":[]}`, "pod"},
		"a node as the pod":  {400, `{"pod":{"kind":"Node"}}`, "pod.kind"},
		"a pod as the node":  {400, `{"pod":{"spec":{"containers":[{"name":"c"}]}},"node":{"kind":"Pod"}}`, "node.kind"},
		"a node by its name": {400, `{"pod":{"spec":{"containers":[{"name":"c"}]}},"node":"n1"}`, "node"},
		"no release":         {400, `{"pod":{"spec":{"containers":[{"name":"c"}]}},"semantics":"v1.2"}`, "semantics"},
		"a wrong type":       {400, `{"pod":{"status":{"phase":7}}}`, "pod.status.phase"},
		"in the node":        {400, `{"pod":{"spec":{"containers":[{"name":"c"}]}},"node":{"status":{"conditions":{}}}}`, "node.status.conditions"},
		"a bomb in the node": {400, `{"pod":{"spec":{"containers":[{"name":"c"}]}},"node":{"status":{"capacity":{"cpu":"1e-999999999"}}}}`, "node.status.capacity[cpu]"},
		"an unknown field":   {400, `{"pod":{"spec":{"containers":[{"name":"c"}]}},"at":"2026-03-01T12:00:00Z"}`, "at"},
		"no time":            {400, `{"pod":{"spec":{"containers":[{"name":"c"}]}},"now":"soon"}`, "now"},
		"another time":       {400, `{"pod":{"spec":{"containers":[{"name":"c"}]}},"now":"2026-03-01T12:00:00Z","nodeLostSince":"yesterday"}`, "nodeLostSince"},
		"an event's time":    {400, `{"pod":{"spec":{"containers":[{"name":"c"}]}},"events":[{"at":"noon"}]}`, "events[0].at"},
		"no restart period":  {400, `{"pod":{"spec":{"containers":[{"name":"c"}]}},"maxContainerRestartPeriod":"10m"}`, "maxContainerRestartPeriod"},
		"deep":               {413, `{"pod":` + strings.Repeat(`{"a":`, 100) + `1` + strings.Repeat("}", 100) + `}`, ""},
	} {
		var p exchange.Problem
		h.want(c.status, &p, "POST", at, c.body)
		if p.Detail == "" || c.field != "" && (len(p.Errors) != 1 || p.Errors[0].Field != c.field) {
			t.Errorf("%s: %+v", what, p)
		}
	}
	h.want(http.StatusMethodNotAllowed, nil, "GET", at, "")
}

// TestManyBadFields: what an answer says of its errors does not grow with the square of their
// number.
func TestManyBadFields(t *testing.T) {
	h := start(t, nil)
	const changes = 5000
	body := `{"cause":"delete","pod":{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c"}],"nodeName":"n"}},"then":[{}` + strings.Repeat(",{}", changes-1) + `]}`
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var p exchange.Problem
	h.want(400, &p, "POST", "/v1/pods/termination", body)
	runtime.ReadMemStats(&after)
	if len(p.Errors) != exchange.MaxFields || !strings.Contains(p.Detail, "fields are not listed") {
		t.Errorf("%d errors: %s", len(p.Errors), p.Detail)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 200<<20 {
		t.Errorf("%d bytes are allocated for %d errors", n, changes)
	}
}
