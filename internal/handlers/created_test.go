package handlers

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// waiting returns the names of the active pods in the order of the queue, and of a simulation.
func (h *harness) waiting() (queue, simulated []string) {
	h.Helper()
	var q struct {
		Active []struct {
			Name  string
			Since *time.Time
		}
	}
	h.want(http.StatusOK, &q, "GET", "/v1/clusters/default/queue", "")
	for _, p := range q.Active {
		if queue = append(queue, p.Name); p.Since == nil || p.Since.Nanosecond() != 0 || time.Since(*p.Since) > time.Hour {
			h.Errorf("%s waits since %v", p.Name, p.Since)
		}
	}
	var s struct {
		Profiles []struct{ Moves []struct{ Pod string } }
	}
	h.want(http.StatusOK, &s, "POST", "/v1/simulations", `{"base":"default@latest","arrivals":{"pending":true},"keep":"moves"}`)
	for _, m := range s.Profiles[0].Moves {
		simulated = append(simulated, strings.TrimPrefix(m.Pod, "shop/"))
	}
	return queue, simulated
}

// TestTheLedgerCreatesInOrder has equal pods that are created in one second, by changes and by
// attempts that bind nothing: they wait in the order in which they came, in the list of a change
// too, also in a copy of the state, and an update does not change it.
func TestTheLedgerCreatesInOrder(t *testing.T) {
	h := start(t, nil)
	h.want(http.StatusCreated, nil, "POST", "/v1/snapshots", listOf(node("n1", "1"), bare("full", `"nodeName":"n1","priority":2000000,`)))
	h.change(http.StatusCreated, `{"apply":[`+bare("zz", "")+`,`+bare("mm", "")+`],"replace":[`+bare("bb", `"priority":0,`)+`]}`)
	h.decideBind(http.StatusCreated, nil, bare("cc", ""))
	h.change(http.StatusCreated, `{"apply":[`+bare("aa", "")+`]}`)
	want := []string{"zz", "mm", "bb", "cc", "aa"}
	tried := []string{"zz", "mm", "bb", "aa", "cc"} // one that failed lately is behind
	queue, simulated := h.waiting()
	if !slices.Equal(queue, tried) || !slices.Equal(simulated, want) {
		t.Errorf("queue %v, want %v, simulated %v, want %v", queue, tried, simulated, want)
	}
	for _, name := range append(want, "full") {
		if p := h.stored(name); p.CreationTimestamp.IsZero() != (name == "full") {
			t.Errorf("%s: %+v", name, p.ObjectMeta)
		}
	}
	// Neither a manifest with annotations nor a patch changes the place, which a copy has too.
	zz := strings.Replace(bare("zz", ""), `"labels"`, `"annotations":{"controller.kubernetes.io/pod-deletion-cost":"1"},"labels"`, 1)
	h.change(http.StatusCreated, `{"apply":[`+zz+`],"patch":[{"kind":"Pod","namespace":"shop","name":"mm","type":"merge","patch":{"metadata":{"annotations":null,"creationTimestamp":null,"labels":{"x":"y"}}}}]}`)
	var list json.RawMessage
	h.want(http.StatusOK, &list, "GET", "/v1/snapshots/default@latest/objects", "")
	h.want(http.StatusCreated, nil, "POST", "/v1/snapshots", listOf(node("n7", "1")))
	h.want(http.StatusCreated, nil, "POST", "/v1/snapshots", string(list))
	if queue, simulated = h.waiting(); !slices.Equal(queue, tried) || !slices.Equal(simulated, want) {
		t.Errorf("of the copy: queue %v, want %v, simulated %v, want %v", queue, tried, simulated, want)
	}
}

// TestCreationTimes has what changes and binds create, of each kind, and what keeps its time.
func TestCreationTimes(t *testing.T) {
	const given = "2026-11-21T08:00:00Z"
	h := ledgerOf(t)
	h.change(http.StatusCreated, `{"apply":[`+node("n2", "4")+`,`+bare("bound", `"nodeName":"n1",`)+`,`+strings.Replace(bare("old", ""), `"labels"`, `"creationTimestamp":"`+given+`","labels"`, 1)+`],
		"replace":[`+node("n3", "4")+`,{"kind":"PriorityClass","apiVersion":"scheduling.k8s.io/v1","metadata":{"name":"high"},"value":7}]}`)
	h.decideBind(http.StatusCreated, nil, bare("new", ""))
	times := func() map[string]string {
		out := map[string]string{}
		var list struct {
			Items []struct {
				Metadata struct{ Name, CreationTimestamp string }
			}
		}
		h.want(http.StatusOK, &list, "GET", "/v1/snapshots/default@latest/objects", "")
		for _, o := range list.Items {
			out[o.Metadata.Name] = o.Metadata.CreationTimestamp
		}
		return out
	}
	was := times()
	for name, at := range was {
		if (at == "") != (name == "n1") || name == "old" && at != given {
			t.Errorf("%s was created at %q", name, at)
		}
	}
	// What is there keeps its time, whatever a manifest says.
	if s := h.change(http.StatusOK, `{"apply":[`+node("n2", "4")+`,`+strings.Replace(bare("bound", ""), `"labels"`, `"creationTimestamp":"`+given+`","labels"`, 1)+`],"replace":[`+node("n3", "4")+`]}`); s.Revision != 3 {
		t.Errorf("%+v", s)
	}
	h.change(http.StatusCreated, `{"replace":[`+node("n3", "5")+`]}`)
	if is := times(); is["n3"] != was["n3"] || is["bound"] != was["bound"] {
		t.Errorf("%v, before %v", is, was)
	}
}

// TestVictimsThatEndGracefully has a preemptor that waits for its victim, by what the decision
// named (pkg/scheduler/framework/preemption executor.go): it gets no other one meanwhile.
func TestVictimsThatEndGracefully(t *testing.T) {
	low := func(name, on string) string {
		return strings.Replace(bare(name, `"nodeName":"`+on+`","priority":10,"terminationGracePeriodSeconds":600,`), `"cpu":"1"`, `"cpu":"1500m"`, 1)
	}
	h := start(t, nil)
	h.want(http.StatusCreated, nil, "POST", "/v1/snapshots", listOf(node("n1", "3"), low("l1", "n1"), strings.Replace(low("small", "n1"), "1500m", "100m", 1)))
	var d struct {
		Outcome, Message, NominatedNode string
		Preemption                      struct{ Victims []struct{ Name string } }
	}
	h.decideBind(http.StatusCreated, &d, strings.Replace(bare("p", `"priority":100,`), `"cpu":"1"`, `"cpu":"2"`, 1))
	if d.Outcome != "Preempting" || len(d.Preemption.Victims) != 1 || d.Preemption.Victims[0].Name != "l1" {
		t.Fatalf("%+v", d)
	}
	deletion := func(name string) string {
		return `{"kind":"Pod","namespace":"shop","name":"` + name + `","gracePeriodSeconds":600}`
	}
	h.change(http.StatusCreated, `{"delete":[`+deletion("l1")+`,`+deletion("small")+`],"apply":[`+node("n3", "2")+`,`+low("l3", "n3")+`]}`)
	target := func(name string) (found *corev1.PodCondition) {
		p := h.stored(name)
		for i := range p.Status.Conditions {
			if p.Status.Conditions[i].Type == corev1.DisruptionTarget {
				found = &p.Status.Conditions[i]
			}
		}
		return found
	}
	if c := target("l1"); c == nil || c.Status != corev1.ConditionTrue || c.Reason != corev1.PodReasonPreemptionByScheduler || c.Message != "default-scheduler: preempting to accommodate a higher priority pod" || c.LastTransitionTime.IsZero() {
		t.Errorf("%+v", c)
	}
	if c := target("small"); c != nil {
		t.Errorf("it is no victim: %+v", c)
	}
	const again = `{"snapshot":"default@latest","bind":true,"podRef":{"namespace":"shop","name":"p"}}`
	h.want(http.StatusCreated, &d, "POST", "/v1/decisions", again)
	if d.Outcome != "Unschedulable" || !strings.Contains(d.Message, "not eligible due to a terminating pod on the nominated node.") || h.stored("p").Status.NominatedNodeName != "n1" {
		t.Errorf("%+v", d)
	}
	// A pod that is deleted for no preemptor has no such condition.
	h.change(http.StatusCreated, `{"delete":[{"kind":"Pod","namespace":"shop","name":"p"}]}`)
	h.change(http.StatusCreated, `{"delete":[`+deletion("l3")+`]}`)
	if c := target("l3"); c != nil {
		t.Errorf("%+v", c)
	}
}

// TestPatchAndDelete of one object in one change: the patch comes first.
func TestPatchAndDelete(t *testing.T) {
	h := ledgerOf(t, bare("web", `"nodeName":"n1",`), bare("gone", ""))
	patch := `{"kind":"Pod","namespace":"shop","name":"web","type":"strategic","patch":{"status":{"conditions":[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler"}]}}}`
	h.change(http.StatusCreated, `{"patch":[`+patch+`],"delete":[{"kind":"Pod","namespace":"shop","name":"web","gracePeriodSeconds":30}]}`)
	p := h.stored("web")
	if p.DeletionTimestamp == nil || len(p.Status.Conditions) != 1 || p.Status.Conditions[0].Type != corev1.DisruptionTarget {
		t.Errorf("%+v", p)
	}
	h.change(http.StatusCreated, `{"patch":[`+strings.Replace(patch, "web", "gone", 1)+`],"delete":[{"kind":"Pod","namespace":"shop","name":"gone"}]}`)
	var list struct{ Items []*corev1.Pod }
	if h.want(http.StatusOK, &list, "GET", "/v1/snapshots/default@latest/objects?kind=Pod", ""); len(list.Items) != 1 {
		t.Errorf("%d pods", len(list.Items))
	}
	h.refused(http.StatusUnprocessableEntity, `{"patch":[`+strings.Replace(patch, `"status":"True"`, `"status":7`, 1)+`],"delete":[{"kind":"Pod","namespace":"shop","name":"web"}]}`)
}

// TestContainerStatesMoveOn has statuses of containers that ended, and that run again.
func TestContainerStatesMoveOn(t *testing.T) {
	h := ledgerOf(t, bare("once", `"nodeName":"n1","restartPolicy":"Never",`), bare("always", `"nodeName":"n1",`))
	to := func(name, state string) string {
		return `{"patch":[{"kind":"Pod","namespace":"shop","name":"` + name + `","type":"merge","patch":{"status":{"containerStatuses":[{"name":"c","state":{` + state + `}}]}}}]}`
	}
	for _, name := range []string{"once", "always"} {
		h.change(http.StatusCreated, to(name, `"running":{}`))
		h.change(http.StatusCreated, to(name, `"terminated":{"exitCode":1}`))
	}
	p := h.refused(http.StatusUnprocessableEntity, to("once", `"running":{}`))
	if len(p.Errors) != 1 || p.Errors[0].Field != "patch[0].status.containerStatuses[0].state" || !strings.Contains(p.Errors[0].Message, "may not be transitioned to non-terminated state") {
		t.Errorf("%+v", p)
	}
	h.change(http.StatusCreated, to("always", `"waiting":{"reason":"CrashLoopBackOff"}`))
	h.change(http.StatusCreated, to("once", `"terminated":{"exitCode":2}`))
}
