package handlers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"berth/internal/report"
)

// TestStoryOfAnOlderRevision has a pod that was tried in vain, waited for a victim, and was bound:
// each revision has its story, with what was known then.
func TestStoryOfAnOlderRevision(t *testing.T) {
	h := start(t, nil)
	cpu := func(n string) string {
		return fmt.Sprintf(`"containers":[{"name":"c","resources":{"requests":{"cpu":%q}}}]`, n)
	}
	h.upload("prod", listOf(node("n1", "4"),
		`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"batch","namespace":"shop","uid":"b"},"spec":{"nodeName":"n1","priority":9,`+cpu("3")+`}}`,
		`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"shop","uid":"w"},"spec":{"priority":9,`+cpu("2")+`}}`))
	h.decide(ref("web", `,"bind":true`)) // prod@2: tried in vain
	change := func(body string) { t.Helper(); h.want(201, nil, "POST", "/v1/snapshots/prod@latest/changes", body) }
	change(`{"delete":[{"kind":"Pod","namespace":"shop","name":"batch"}]}`) // prod@3
	if a := h.decide(ref("web", `,"bind":true`)); a.BoundSnapshot != "prod@4" {
		t.Fatalf("%+v", a)
	}
	change(`{"delete":[{"kind":"Pod","namespace":"shop","name":"web"}]}`) // prod@5
	for _, c := range []struct {
		query string
		want  report.State
		saw   []string
		place int
	}{
		{"?snapshot=prod@1", report.StatePending, nil, 1},
		{"?snapshot=prod@2", report.StatePending, []string{"Unschedulable"}, 1},
		{"?snapshot=prod@3", report.StatePending, []string{"Unschedulable"}, 1},
		{"?snapshot=prod@4", report.StateBound, []string{"Scheduled", "Unschedulable"}, 0},
		{"?snapshot=prod@5", report.StateGone, []string{"Scheduled", "Unschedulable"}, 0},
		{"?snapshot=prod@latest", report.StateGone, []string{"Scheduled", "Unschedulable"}, 0},
		{"", report.StateGone, []string{"Scheduled", "Unschedulable"}, 0},
	} {
		s := h.story("shop/web" + c.query)
		var saw []string
		for _, a := range s.Attempts {
			saw = append(saw, a.Outcome)
		}
		place := 0
		if s.Queue != nil {
			place = s.Queue.Position
		}
		if s.State != c.want || !cmp.Equal(saw, c.saw) || place != c.place {
			t.Errorf("%s: %s, %v, place %d: %s", c.query, s.State, saw, place, s.Summary)
		}
		if id, _, ok := strings.Cut(strings.TrimPrefix(c.query, "?snapshot="), "&"); !ok && strings.Contains(id, "@") && !strings.HasSuffix(id, "latest") && s.Snapshot != id {
			t.Errorf("%s: of %s", c.query, s.Snapshot)
		}
		if (s.Binding != nil) != (c.want == report.StateBound || c.want == report.StateGone) {
			t.Errorf("%s: binding %+v", c.query, s.Binding)
		}
	}
	// The story of prod@2 goes on until something changes: five minutes.
	s := h.story("shop/web?snapshot=prod@2")
	if s.Queue.Queue != "unschedulable" || s.Queue.Attempts != 1 || len(s.Next) != 1 || s.Next[0].Component != "scheduler" ||
		!s.Next[0].At.Equal(*s.Queue.NextTry) || s.Next[0].At.Sub(s.Attempts[0].Last) != 5*time.Minute || s.At.After(time.Now()) {
		t.Errorf("queue %+v, next %+v", s.Queue, s.Next)
	}
	before := s.Attempts[0].First.Add(-time.Second).Format(time.RFC3339Nano)
	if s := h.story("shop/web?snapshot=prod@4&now=" + before); s.State != report.StateBound || len(s.Attempts) != 0 {
		t.Errorf("%s %+v", s.State, s.Attempts)
	}
	for _, bad := range []string{"?snapshot=other@1", "?snapshot=x", "?now=noon"} {
		h.want(400, nil, "GET", "/v1/clusters/prod/pods/shop/web"+bad, "")
	}
	h.want(404, nil, "GET", "/v1/clusters/prod/pods/shop/web?snapshot=prod@99", "")
	if r := h.want(404, nil, "GET", "/v1/clusters/prod/pods/shop/web2?snapshot=prod@1", ""); strings.Contains(string(r.body), "newest") {
		t.Errorf("%s", r.body)
	}
}

// TestStoryTellsTheEnd has pods that are on a node, are being deleted, and whose container crashed.
func TestStoryTellsTheEnd(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", listOf(node("n1", "4"),
		`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"shop"},"spec":{"nodeName":"n1","terminationGracePeriodSeconds":20,
			"containers":[{"name":"c","lifecycle":{"preStop":{"sleep":{"seconds":5}}},"livenessProbe":{"httpGet":{"path":"/secret","port":80}}}]},"status":{"phase":"Running"}}`,
		`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"going","namespace":"shop","deletionTimestamp":"2026-03-01T00:00:30Z","deletionGracePeriodSeconds":30},
			"spec":{"nodeName":"n1","containers":[{"name":"c"}]},"status":{"phase":"Running"}}`,
		`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"crashed","namespace":"shop"},"spec":{"nodeName":"n1","restartPolicy":"Always","activeDeadlineSeconds":600,"containers":[{"name":"c"}]},
			"status":{"phase":"Running","startTime":"2026-03-01T00:00:00Z","containerStatuses":[{"name":"c","restartCount":1,"state":{"waiting":{"reason":"CrashLoopBackOff"}},
			"lastState":{"terminated":{"exitCode":1,"startedAt":"2026-03-01T00:00:00Z","finishedAt":"2026-03-01T00:00:02Z"}}}]}}`))
	now := "?now=2026-03-01T00:00:05Z"
	s := h.story("shop/web" + now)
	if e := s.Ending; e == nil || e.GracePeriodSeconds != 20 || e.Containers[0].PreStopSeconds == nil || *e.Containers[0].PreStopSeconds != 5 || e.DeletionTimestamp.Format("05") != "25" {
		t.Errorf("%+v", s.Ending)
	}
	if len(s.Next) != 0 {
		t.Errorf("%+v", s.Next)
	}
	show := func(s report.Story) (out []string) {
		for _, e := range s.Next {
			out = append(out, fmt.Sprintf("%s %s %s %s", e.At.Format("04:05"), e.Component, e.Event, e.Container))
		}
		return out
	}
	got := show(h.story("shop/going" + now))
	for _, line := range got {
		if strings.Contains(line, "unchanged") {
			t.Errorf("next has what nobody asked for: %q", got)
		}
	}
	if e := h.story("shop/going?now=2026-03-01T01:00:00Z").Ending; *e.GoneAfterSeconds != 0 || e.OverdueSince.Format("15:04:05") != "00:00:30" {
		t.Errorf("gone after %d s, overdue since %v", *e.GoneAfterSeconds, e.OverdueSince)
	}
	if len(got) == 0 || !strings.HasPrefix(got[len(got)-1], "00:30 ") && !strings.HasPrefix(got[len(got)-1], "00:3") {
		t.Errorf("%q", got)
	}
	if d := cmp.Diff([]string{"00:12 kubelet restarts the container: its back-off is over c", "10:00 kubelet fails the pod: activeDeadlineSeconds are over "}, show(h.story("shop/crashed"+now))); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestStoryOfALostNode: the end and what comes next follow from the pod's node, as far as the
// snapshot says since when.
func TestStoryOfALostNode(t *testing.T) {
	h := start(t, nil)
	on := func(name, node string) string {
		return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"namespace":"shop","uid":"u-%s"},"spec":{"nodeName":%q,"containers":[{"name":"c"}],
			"tolerations":[{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":90}]},"status":{"phase":"Running","startTime":"2026-03-01T00:00:00Z",
			"containerStatuses":[{"name":"c","ready":true,"started":true,"state":{"running":{"startedAt":"2026-03-01T00:00:00Z"}}}]}}`, name, name, node)
	}
	lost := func(name, since string) string {
		return strings.Replace(node(name, "4"), `"status":{`, `"status":{"conditions":[{"type":"Ready","status":"Unknown"`+since+`}],`, 1)
	}
	tainted := strings.Replace(lost("tainted", `,"lastTransitionTime":"2026-03-01T11:59:00Z"`), `"status":{`,
		`"spec":{"taints":[{"key":"node.kubernetes.io/unreachable","effect":"NoExecute","timeAdded":"2026-03-01T11:59:30Z"}]},"status":{`, 1)
	h.upload("prod", listOf(lost("when", `,"lastTransitionTime":"2026-03-01T11:59:00Z"`), lost("never", ""), tainted, node("well", "4"),
		strings.Replace(node("half", "4"), `"status":{`, `"status":{"conditions":[{"type":"DiskPressure","status":"False"}],`, 1), on("f", "half"), on("a", "when"), on("b", "never"), on("c", "gone"), on("d", "well"), on("e", "tainted")))
	for pod, want := range map[string]string{
		"a": "12:00:30 taint-eviction-controller deletes the pod because of its node | true node-deletion/toleration-seconds",
		"b": "| true node-deletion/since-unknown",
		"c": "12:01:00 pod-garbage-collector-controller deletes the pod because of its node, at the latest | false node-deletion/orphaned",
		"d": "| false node-deletion/none",
		"f": "| true node-deletion/since-unknown",
		"e": "12:01:00 taint-eviction-controller deletes the pod because of its node | true node-deletion/toleration-seconds",
	} {
		s := h.story("shop/" + pod + "?now=2026-03-01T12:00:00Z")
		got := ""
		for _, e := range s.Next {
			got += fmt.Sprintf("%s %s %s ", e.At.Format("15:04:05"), e.Component, e.Event)
		}
		rule := ""
		if d := s.Lifecycle.NodeDeletion; d != nil {
			rule = d.Rule.ID
		}
		if got += fmt.Sprintf("| %v %s", s.Ending.StaysTerminating, rule); got != want {
			t.Errorf("%s: %s, want %s", pod, got, want)
		}
	}
}

// TestDecisionsAtATime has a decision that is made at a time of the caller's: it is recorded, and
// replayed with it.
func TestDecisionsAtATime(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", listOf(node("n1", "4"), waitingPod("p", at(1), "", "")))
	a := h.decide(ref("p", `,"now":"2026-03-04T05:06:07.5+01:00"`))
	var got struct {
		Now, CreatedAt time.Time
		DigestAgrees   bool
	}
	h.want(200, &got, "GET", "/v1/decisions/"+a.ID, "")
	if want := time.Date(2026, 3, 4, 4, 6, 7, 5e8, time.UTC); !got.Now.Equal(want) || !got.DigestAgrees || got.CreatedAt.Equal(want) {
		t.Errorf("%+v", got)
	}
	var r struct{ Identical bool }
	h.want(200, &r, "POST", "/v1/decisions/"+a.ID+"/replay", "{}")
	if !r.Identical {
		t.Error("the replay differs")
	}
	h.want(400, nil, "POST", "/v1/decisions", ref("p", `,"now":"noon"`))
}
