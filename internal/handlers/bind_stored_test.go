package handlers

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"berth/internal/handlers/exchange"
	"berth/internal/handlers/rest"
)

const gatedPod = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x","namespace":"shop","uid":"uid-x","labels":{"a":"b"}},"spec":{"priority":5,"nodeSelector":{"disk":"ssd"},"schedulingGates":[{"name":"a/b"}],"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}`

// decideBind decides and binds in the newest revision of the cluster default.
func (h *harness) decideBind(status int, into any, pod string) {
	h.Helper()
	h.want(status, into, "POST", "/v1/decisions", `{"snapshot":"default@latest","bind":true,"pod":`+pod+`}`)
}

// untouched calls f, and wants neither a revision nor a record of it.
func (h *harness) untouched(f func()) {
	h.Helper()
	count := func() (n int, digest string) {
		var s rest.Snapshot
		var list struct{ Items []json.RawMessage }
		h.want(http.StatusOK, &s, "GET", "/v1/snapshots/default@latest", "")
		h.want(http.StatusOK, &list, "GET", "/v1/decisions?cluster=default", "")
		return len(list.Items), s.ID + s.Digest
	}
	n, was := count()
	f()
	if m, is := count(); m != n || is != was {
		h.Errorf("%d records and %s, before %d and %s", m, is, n, was)
	}
}

// TestBindKeepsTheStoredPod has whole pods in requests that bind, of the name of a stored pod that
// waits: the stored one is bound if the two are equal, and else nothing is written, whatever comes
// of the attempt (registry/core/pod/storage/storage.go setPodNodeAndMetadata).
func TestBindKeepsTheStoredPod(t *testing.T) {
	free := strings.Replace(gatedPod, `"schedulingGates":[{"name":"a/b"}],`, "", 1)
	for name, c := range map[string]struct {
		stored, asked string
		fields        []string
		allowed       bool // as an update
	}{
		"gates, selector, request and priority": {
			gatedPod, strings.NewReplacer(`"schedulingGates":[{"name":"a/b"}],`, "", "ssd", "hdd", `"priority":5`, `"priority":500`, `"cpu":"1"`, `"cpu":"4"`).Replace(gatedPod),
			[]string{"pod.spec.containers[c].resources.requests.cpu", "pod.spec.nodeSelector.disk", "pod.spec.priority", "pod.spec.schedulingGates"},
			false,
		},
		"a gate":                   {gatedPod, free, []string{"pod.spec.schedulingGates"}, true},
		"a tighter selector":       {gatedPod, strings.Replace(gatedPod, `"ssd"`, `"ssd","zone":"a"`, 1), []string{"pod.spec.nodeSelector.zone"}, true},
		"labels that are left out": {free, strings.Replace(free, `"labels":{"a":"b"}`, `"labels":{}`, 1), []string{"pod.metadata.labels"}, true},
		"labels of an unfit pod":   {free, strings.NewReplacer(`"a":"b"`, `"a":"c"`, `"cpu":"1"`, `"cpu":"99"`).Replace(free), []string{"pod.metadata.labels.a", "pod.spec.containers[c].resources.requests.cpu"}, false},
		"an annotation":            {free, strings.Replace(free, `"labels"`, `"annotations":{"controller.kubernetes.io/pod-deletion-cost":"7"},"labels"`, 1), []string{"pod.metadata.annotations"}, true},
		"a preemptor":              {free, strings.Replace(free, `"priority":5`, `"priority":5000`, 1), []string{"pod.spec.priority"}, false},
		"an image":                 {free, strings.Replace(free, `"image":"i"`, `"image":"j"`, 1), []string{"pod.spec.containers[c].image"}, true},
		"owners":                   {free, strings.Replace(free, `"labels"`, `"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"r","uid":"u","controller":true}],"labels"`, 1), []string{"pod.metadata.ownerReferences"}, true},
		"a gated pod that is asked to be gated otherwise": {gatedPod, strings.Replace(gatedPod, "a/b", "a/c", 1), []string{"pod.spec.schedulingGates[a/b]", "pod.spec.schedulingGates[a/c]"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := ledgerOf(t, node("n2", "8", "disk", "hdd"), node("n3", "4", "disk", "ssd", "zone", "a"), c.stored)
			var p exchange.Problem
			h.untouched(func() { h.decideBind(http.StatusConflict, &p, c.asked) })
			var fields []string
			for _, e := range p.Errors {
				fields = append(fields, e.Field)
			}
			if p.Type != "urn:berth:problem:pod-differs" || strings.Join(fields, " ") != strings.Join(c.fields, " ") || p.Conflict.Node != "" || p.Conflict.Revision != 1 {
				t.Fatalf("%+v %+v", p, p.Conflict)
			}
			if !c.allowed {
				if p.Conflict.Changes != nil || len(p.Conflict.Refused) == 0 {
					t.Errorf("%+v", p.Conflict)
				}
				if text, _ := json.Marshal(p.Conflict.Refused); !strings.Contains(string(text), `"pod.spec`) {
					t.Errorf("%s", text)
				}
				return
			}
			if len(p.Conflict.Refused) > 0 {
				t.Errorf("%+v", p.Conflict)
			}
			changes, _ := json.Marshal(p.Conflict.Changes)
			h.change(http.StatusCreated, string(changes))
			var d struct{ Outcome string }
			if h.decideBind(http.StatusCreated, &d, c.asked); d.Outcome != "Scheduled" && d.Outcome != "Gated" {
				t.Errorf("%+v after %s", d, changes)
			}
		})
	}
}

// TestBindOfAnEqualPod has what a request may leave out: what a ledger and an API server's
// admission add, and all that snapshots do not keep.
func TestBindOfAnEqualPod(t *testing.T) {
	const class = `{"kind":"PriorityClass","apiVersion":"scheduling.k8s.io/v1","metadata":{"name":"usual"},"value":7,"globalDefault":true,"preemptionPolicy":"Never"}`
	stored := `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x","namespace":"shop","uid":"uid-x","creationTimestamp":"2026-11-21T08:00:00Z","labels":{"a":"b"},"annotations":{"controller.kubernetes.io/pod-deletion-cost":"7"}},"spec":{"priority":7,"priorityClassName":"usual","preemptionPolicy":"Never","overhead":{"cpu":"100m"},
		"tolerations":[{"key":"k","operator":"Exists"},{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],
		"ephemeralContainers":[{"name":"debug","image":"d"}],"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1"}}}]},"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable"}],"nominatedNodeName":"n1"}}`
	for name, asked := range map[string]string{
		"a manifest":                 `{"metadata":{"name":"x","namespace":"shop","labels":{"a":"b"},"annotations":{"controller.kubernetes.io/pod-deletion-cost":"7","other":"1"}},"spec":{"tolerations":[{"key":"k","operator":"Exists"}],"containers":[{"name":"c","image":"i","command":["run"],"env":[{"name":"E","value":"1"}],"resources":{"limits":{"cpu":"1000m"},"requests":{"cpu":"1"}}}]}}`,
		"as stored":                  stored,
		"of another time and status": strings.NewReplacer("08:00", "09:00", `"nominatedNodeName":"n1"`, `"nominatedNodeName":"n9"`, "Pending", "Running").Replace(stored),
	} {
		t.Run(name, func(t *testing.T) {
			h := ledgerOf(t, class, stored)
			before := h.stored("x")
			var d struct {
				Node, Outcome string
				Pod           struct{ UID string }
			}
			if h.decideBind(http.StatusCreated, &d, asked); d.Node != "n1" || d.Pod.UID != "uid-x" {
				t.Fatalf("%+v", d)
			}
			after := h.stored("x")
			after.Spec.NodeName, after.Status, after.Labels = "", before.Status, before.Labels // the zone comes with the node
			a, _ := json.Marshal(before)
			b, _ := json.Marshal(after)
			if string(a) != string(b) {
				t.Errorf("stored\n%s\nthen\n%s", a, b)
			}
		})
	}
}

// TestBindOfAnotherPod has requests of another UID than that of the stored pod, which waits or is
// bound. The answer names both UIDs, and no node: that of a bound pod is not the asked one's.
func TestBindOfAnotherPod(t *testing.T) {
	other := strings.Replace(gatedPod, "uid-x", "uid-y", 1)
	bound := strings.NewReplacer(`"schedulingGates":[{"name":"a/b"}],`, `"nodeName":"n1",`).Replace(gatedPod)
	for name, stored := range map[string]string{"waits": gatedPod, "bound": bound} {
		t.Run(name, func(t *testing.T) {
			h := ledgerOf(t, stored)
			var p exchange.Problem
			h.untouched(func() { h.decideBind(http.StatusConflict, &p, other) })
			if p.Type != "urn:berth:problem:other-pod" || p.Conflict.StoredUID != "uid-x" || p.Conflict.RequestUID != "uid-y" || p.Conflict.Node != "" || !strings.Contains(p.Detail, "uid-x") || !strings.Contains(p.Detail, "uid-y") {
				t.Errorf("%+v %+v", p, p.Conflict)
			}
			h.want(http.StatusConflict, &p, "POST", "/v1/snapshots/default@latest/changes", `{"apply":[`+strings.Replace(other, `"schedulingGates":[{"name":"a/b"}],`, "", 1)+`]}`)
			if p.Type != "urn:berth:problem:other-pod" || p.Conflict.StoredUID != "uid-x" || p.Conflict.RequestUID != "uid-y" {
				t.Errorf("%+v %+v", p, p.Conflict)
			}
		})
	}
	h := ledgerOf(t, bound)
	var p exchange.Problem
	h.untouched(func() {
		h.want(http.StatusConflict, &p, "POST", "/v1/decisions", `{"snapshot":"default@latest","pod":`+other+`}`)
	})
	if p.Type != "urn:berth:problem:other-pod" || p.Conflict.Node != "" {
		t.Errorf("without bind: %+v %+v", p, p.Conflict)
	}
	h.untouched(func() { h.decideBind(http.StatusConflict, &p, strings.Replace(other, "uid-y", "uid-x", 1)) })
	if p.Type != "urn:berth:problem:conflict" || p.Conflict.Node != "n1" {
		t.Errorf("bound: %+v %+v", p, p.Conflict)
	}
}

// TestBindOfOlderPod binds a pod that a release before v0.4.0 stored, without what it did not keep.
func TestBindOfOlderPod(t *testing.T) {
	older := strings.Replace(gatedPod, `"schedulingGates":[{"name":"a/b"}],`, "", 1)
	older = strings.Replace(older, `"nodeSelector":{"disk":"ssd"},`, "", 1)
	h := ledgerOf(t, node("n2", "8", "disk", "hdd"), older)
	whole := strings.NewReplacer(`"image":"i"`, `"image":"i","imagePullPolicy":"Always"`, `"priority":5`, `"priority":5,"runtimeClassName":"kata"`, `"labels"`, `"finalizers":["batch.kubernetes.io/job-tracking"],"labels"`).Replace(older)
	h.decideBind(http.StatusCreated, nil, whole)
}
