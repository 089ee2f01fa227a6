package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/handlers/rest"
)

// place posts a placement.
func (h *harness) place(status int, body string) (a decision.PlacementAnswer) {
	h.Helper()
	h.want(status, &a, "POST", "/v1/placements", body)
	return a
}

// cellOf starts a ledger with these objects.
func cellOf(t *testing.T, items ...string) *harness {
	h := start(t, nil)
	h.upload("default", listOf(items...))
	return h
}

// nodesOf is each pod of a placement with its node.
func nodesOf(a *decision.PlacementAnswer) string {
	var list []string
	for _, r := range a.Results {
		list = append(list, r.Name+":"+r.Node)
	}
	return strings.Join(list, " ")
}

// replayed replays the records of a placement.
func (h *harness) replayed(a *decision.PlacementAnswer) (rows []*record.Row) {
	h.Helper()
	var list rest.DecisionList
	h.want(http.StatusOK, &list, "GET", "/v1/decisions?limit=500&placement="+a.ID, "")
	if len(list.Items) != a.Placed+a.Failed {
		h.Errorf("%d records, the placement tried %d", len(list.Items), a.Placed+a.Failed)
	}
	for _, row := range list.Items {
		var r record.Replay
		h.want(http.StatusOK, &r, "POST", "/v1/decisions/"+row.ID+"/replay", "")
		if !r.Identical || row.Placement != a.ID || row.Committed == nil || *row.Committed != a.Committed {
			h.Errorf("record %+v: %+v", row, r)
		}
	}
	return list.Items
}

// TestPlacements places copies of a template: bound and recorded, dry, and what does not hold.
func TestPlacements(t *testing.T) {
	h := cellOf(t, node("n1", "2"), node("n2", "2"))
	template := `"template":` + pod("job", "1", "")
	var dry decision.PlacementAnswer
	h.untouched(func() {
		dry = h.place(http.StatusOK, `{`+template+`,"count":3}`)
		none := h.place(http.StatusOK, `{`+template+`,"count":5,"atomic":true,"explain":"failures"}`)
		if none.StoppedBy == nil || none.StoppedBy.Name != "job-4" || none.Results[4].Outcome != "Unschedulable" || none.Committed || len(none.Results[4].Failures) == 0 || none.Results[0].Failures != nil {
			t.Errorf("%+v", none)
		}
		with := h.place(http.StatusOK, `{`+template+`,"count":5,"atomic":true,"with":{"apply":[`+node("n3", "1")+`]}}`)
		if with.StoppedBy != nil || with.Placed != 5 {
			t.Errorf("with one more node: %+v", with)
		}
	})
	if dry.ID != "" || dry.Committed || dry.Placed != 3 || dry.Snapshot != "default@1" || dry.BoundSnapshot != "" || dry.Results[0].Decision != "" {
		t.Errorf("dry: %+v", dry)
	}
	a := h.place(http.StatusCreated, `{"snapshot":"default@latest","bind":true,`+template+`,"count":3}`)
	if nodesOf(&a) != nodesOf(&dry) || !a.Committed || a.Placed != 3 || a.Failed != 0 || a.Snapshot != "default@1" || a.BoundSnapshot != "default@2" {
		t.Errorf("%+v", a)
	}
	h.replayed(&a)
	for view, want := range map[string]int{"revision_objects": 3, "attempts": 3, "placements": 3, "decision_log": 3} {
		var rows struct {
			Columns []string
			Rows    [][]any
		}
		h.want(http.StatusOK, &rows, "GET", "/v1/views/"+view+"?cluster=default&since=2020-01-01T00:00:00Z", "")
		n := 0
		for _, row := range rows.Rows {
			of := map[string]any{}
			for i, c := range rows.Columns {
				of[c] = row[i]
			}
			if of["placement"] == a.ID || of["snapshot"] == "default@2" && of["kind"] == "Pod" && of["node"] != "" && fmt.Sprint(of["objects"]) == "3" {
				n++
			}
		}
		if n != want {
			t.Errorf("view %s has %d rows of the placement, want %d: %v", view, n, want, rows)
		}
	}
	var s rest.Snapshot
	h.want(http.StatusOK, &s, "GET", "/v1/snapshots/default@latest", "")
	none := h.place(http.StatusOK, `{"snapshot":"`+s.ID+`","bind":true,"pods":[`+pod("x", "1", "")+`,`+pod("y", "1", "")+`,`+pod("z", "1", "")+`],"minCount":2}`)
	if none.Committed || none.StoppedBy == nil || none.StoppedBy.Name != "z" || none.BoundSnapshot != "" {
		t.Errorf("%+v", none)
	}
	h.replayed(&none)
	var after rest.Snapshot
	h.want(http.StatusOK, &after, "GET", "/v1/snapshots/default@latest", "")
	if after.ID != s.ID || after.Digest != s.Digest {
		t.Errorf("what did not hold left %+v, before %+v", after, s)
	}
	some := h.place(http.StatusCreated, `{"snapshot":"`+s.ID+`","bind":true,"pods":[`+pod("x", "1", "")+`,`+pod("y", "1", "")+`]}`)
	if some.Placed != 1 || some.Failed != 1 || !some.Committed || some.Results[1].Message == "" {
		t.Errorf("%+v", some)
	}
	h.replayed(&some)
	var queue struct{ Active []struct{ Name string } }
	h.want(http.StatusOK, &queue, "GET", "/v1/clusters/default/queue", "")
	if len(queue.Active) != 1 || queue.Active[0].Name != "y" {
		t.Errorf("who waits: %+v", queue)
	}
	h.want(http.StatusConflict, nil, "POST", "/v1/placements", `{"snapshot":"`+s.ID+`","bind":true,`+template+`}`)
	h.place(http.StatusOK, `{"snapshot":"default@latest","bind":true,"pods":[`+pod("later", "9", "")+`,`+pod("latest", "9", "")+`,`+pod("first", "9", `,"priority":7`)+`]}`)
	h.want(http.StatusOK, &queue, "GET", "/v1/clusters/default/queue", "")
	if got := fmt.Sprint(queue.Active); !strings.HasSuffix(got, " {later} {latest}]") {
		t.Errorf("the queue keeps the order of a placement: %s", got)
	}
}

// TestPlacementsOfWorkloads places a StatefulSet with its claims, an Indexed Job, and a Deployment
// twice.
func TestPlacementsOfWorkloads(t *testing.T) {
	h := cellOf(t, node("n1", "64"), `{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"late","annotations":{"storageclass.kubernetes.io/is-default-class":"true"}},"provisioner":"p","volumeBindingMode":"WaitForFirstConsumer"}`)
	spec := `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}`
	set := `{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"db","namespace":"shop"},"spec":{"replicas":3,"ordinals":{"start":2},"serviceName":"s","selector":{"matchLabels":{"a":"b"}},` + spec +
		`,"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}]}}`
	a := h.place(http.StatusCreated, `{"snapshot":"default@latest","bind":true,"atomic":true,"workload":`+set+`}`)
	if nodesOf(&a) != "db-2:n1 db-3:n1 db-4:n1" {
		t.Errorf("%+v", a)
	}
	h.replayed(&a)
	for _, ordinal := range []string{"2", "3", "4"} {
		var list struct{ Items []json.RawMessage }
		h.want(http.StatusOK, &list, "GET", "/v1/snapshots/default@latest/objects?kind=PersistentVolumeClaim&namespace=shop&name=data-db-"+ordinal, "")
		if len(list.Items) != 1 || !strings.Contains(string(list.Items[0]), `"volume.kubernetes.io/selected-node":"n1"`) || !strings.Contains(string(list.Items[0]), `"storageClassName":"late"`) {
			t.Errorf("claim %s: %s", ordinal, list.Items)
		}
		p := h.stored("db-" + ordinal)
		if p.Labels["apps.kubernetes.io/pod-index"] != ordinal || p.Spec.Volumes[0].PersistentVolumeClaim.ClaimName != "data-db-"+ordinal {
			t.Errorf("%+v", p)
		}
	}
	h.want(http.StatusConflict, nil, "POST", "/v1/placements", `{"snapshot":"default@latest","bind":true,"workload":`+set+`}`)

	job := `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"sum","namespace":"shop"},"spec":{"completions":2,"parallelism":5,"completionMode":"Indexed","template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`
	a = h.place(http.StatusCreated, `{"snapshot":"default@latest","bind":true,"workload":`+job+`}`)
	if len(a.Results) != 2 || !strings.HasPrefix(a.Results[1].Name, "sum-1-") || h.stored(a.Results[1].Name).Annotations["batch.kubernetes.io/job-completion-index"] != "1" {
		t.Errorf("%+v", a)
	}
	deployment := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop"},"spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}},` + spec + `}}`
	first := h.place(http.StatusCreated, `{"snapshot":"default@latest","bind":true,"workload":`+deployment+`}`)
	second := h.place(http.StatusCreated, `{"snapshot":"default@latest","bind":true,"workload":`+deployment+`}`)
	if first.Placed != 2 || second.Placed != 2 || first.Results[1].Name == second.Results[0].Name {
		t.Errorf("%+v, then %+v", first, second)
	}
}

// TestPlacementsOfGroups places the pods of a PodGroup that wait.
func TestPlacementsOfGroups(t *testing.T) {
	group := func(name string, more string) string {
		return pod(name, "1", `,"schedulingGroup":{"podGroupName":"train"}`+more)
	}
	gang := `{"apiVersion":"scheduling.k8s.io/v1alpha2","kind":"PodGroup","metadata":{"name":"train","namespace":"shop"},"spec":{"schedulingPolicy":{"gang":{"minCount":3}}}}`
	h := cellOf(t, node("n1", "2"), gang, group("a", ""), group("b", ""), group("c", ""), pod("other", "1", ""))
	a := h.place(http.StatusOK, `{"snapshot":"default@latest","bind":true,"podGroup":"shop/train"}`)
	if a.Committed || len(a.Results) != 3 || a.StoppedBy == nil {
		t.Errorf("%+v", a)
	}
	h.change(http.StatusCreated, `{"apply":[`+node("n2", "2")+`]}`)
	a = h.place(http.StatusCreated, `{"snapshot":"default@latest","bind":true,"podGroup":"shop/train"}`)
	if !a.Committed || a.Placed != 3 {
		t.Errorf("%+v", a)
	}
	h.replayed(&a)
	var p exchange.Problem
	h.want(http.StatusConflict, &p, "POST", "/v1/placements", `{"snapshot":"default@latest","bind":true,"podGroup":"shop/train"}`)
	if !strings.Contains(p.Detail, "podGroup: shop/train has pods that wait and are not gated: 0") {
		t.Errorf("%+v", p)
	}
	h.want(http.StatusNotFound, &p, "POST", "/v1/placements", `{"podGroup":"shop/none"}`)
}

// TestPlacementsRefuse: errors name the field.
func TestPlacementsRefuse(t *testing.T) {
	h := start(t, func(o *admit.Options) { o.Limits.PlacementMaxPods, o.Limits.PlacementMaxRemovals = 3, 3 })
	h.upload("default", listOf(node("n1", "2"), pod("held", "1", `,"nodeName":"n1"`)))
	one := pod("one", "1", "")
	bound := `"snapshot":"default@latest","bind":true,`
	h.untouched(func() {
		for body, c := range map[string]struct {
			status int
			field  string
			detail string
		}{
			`{}`: {400, "pods", "one of pods, template, workload and podGroup"},
			`{"pods":[` + one + `],"podGroup":"a/b"}`: {400, "pods", "and only one"},
			`{"pods":[]}`:                        {422, "pods", "there is no pod to place"},
			`{"pods":[` + one + `,` + one + `]}`: {422, "pods[1]", "pod shop/one is there twice"},
			`{"pods":[` + one + `,` + strings.Replace(one, `"cpu":"1"`, `"cpu":"x"`, 1) + `]}`: {422, "pods[1].spec.containers[0].resources.requests[cpu]", ""},
			`{"pods":[` + strings.Replace(one, `"spec"`, `"spek":{},"spec"`, 1) + `]}`:         {400, "pods[0].spek", ""},
			`{"pods":[` + one + `,` + pod("held", "1", "") + `]}`:                              {409, "pods[1]", "is bound to node n1"},
			`{` + bound + `"pods":[` + one + `,` + pod("held", "1", "") + `]}`:                 {409, "pods[1]", "is bound to node n1"},
			`{"pods":[` + one + `],"hold":"30s"}`:                                              {400, "snapshot", "with hold it has to be named"},
			`{"pods":[` + one + `],"order":"random"}`:                                          {400, "order", "want queue or given"},
			`{"pods":[` + one + `],"explain":"full"}`:                                          {400, "explain", "want none or failures"},
			`{"pods":[` + one + `],"count":2}`:                                                 {400, "count", "it goes with template"},
			`{"pods":[` + one + `],"minCount":2}`:                                              {422, "minCount", "want at most 1"},
			`{"pods":[` + one + `],"minCount":0}`:                                              {422, "minCount", "want a number above 0"},
			`{"template":` + one + `,"count":0}`:                                               {422, "count", "want a number above 0"},
			`{"template":` + one + `,"count":4}`:                                               {413, "", "placement-max-pods=3"},
			`{"pods":[` + strings.Repeat(one+`,`, 3) + one + `]}`:                              {413, "", "placement-max-pods=3"},
			`{"template":` + one + `,"removals":[[],[],[],[]]}`:                                {413, "", "placement-max-removals=3"},
			`{"template":` + one + `,"removals":[[{"name":"none"}]]}`:                          {404, "removals[0][0]", "has no pod default/none"},
			`{` + bound + `"template":` + one + `,"removals":[[]]}`:                            {400, "removals", "without bind"},
			`{` + bound + `"template":` + one + `,"with":{}}`:                                  {400, "with", "without bind"},
			`{"bind":true,"template":` + one + `}`:                                             {400, "snapshot", "with bind it has to be named"},
			`{"workload":{"kind":"DaemonSet"}}`:                                                {422, "workload.kind", "want StatefulSet"},
			`{"workload":{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"template":{"spec":{"containerz":[]}}}}}`: {400, "workload.spec.template.spec.containerz", ""},
			`{"podGroup":"train"}`:                            {400, "podGroup", "want namespace/name"},
			`{"snapshot":"default@9","template":` + one + `}`: {404, "", "default@9"},
		} {
			var p exchange.Problem
			h.want(c.status, &p, "POST", "/v1/placements", body)
			field := ""
			if len(p.Errors) > 0 {
				field = p.Errors[0].Field
			}
			if field != c.field || !strings.Contains(p.Detail, c.detail) {
				t.Errorf("%s: field %q, %q", body, field, p.Detail)
			}
		}
	})
	h.want(http.StatusBadRequest, nil, "GET", "/v1/decisions?placement=none", "")
	differs := h.place(http.StatusCreated, `{`+bound+`"pods":[`+pod("waits", "64", "")+`,`+pod("fits", "1", "")+`]}`)
	if differs.Failed != 1 {
		t.Fatalf("%+v", differs)
	}
	var p exchange.Problem
	h.want(http.StatusConflict, &p, "POST", "/v1/placements", `{`+bound+`"pods":[`+one+`,`+pod("waits", "1", "")+`]}`)
	if p.Type != "urn:berth:problem:pod-differs" || p.Errors[0].Field != "pods[1].spec.containers[c].resources.requests.cpu" || len(p.Conflict.Refused) == 0 || !strings.HasPrefix(p.Conflict.Refused[0].Field, "pods[1].") {
		t.Errorf("%+v", p)
	}
}

// TestPlacementRights: a caller places pods of its namespaces alone, binds them with the right to,
// and sees victims of others as a count.
func TestPlacementRights(t *testing.T) {
	g := startGuarded(t)
	vault := func(p string) string { return strings.ReplaceAll(p, `"shop"`, `"vault"`) }
	secret := vault(pod("secret", "3", `,"nodeName":"n1","priority":-5`))
	g.upload("prod", listOf(node("n1", "4"), secret))
	team, decider := bearing(g.token("team", "binder", "prod", "shop")), bearing(g.token("decider", "decider", "prod", "shop"))
	bound, big := `"snapshot":"prod@latest","bind":true,`, pod("big", "4", `,"priority":100`)
	for _, c := range []struct {
		who    identity
		body   string
		status int
	}{
		{team, `{` + bound + `"pods":[` + pod("a", "1", "") + `,` + vault(pod("b", "1", "")) + `]}`, http.StatusForbidden},
		{team, `{"snapshot":"prod@latest","pods":[` + vault(pod("b", "1", "")) + `]}`, http.StatusForbidden},
		{team, `{"snapshot":"prod@latest","pods":[` + big + `],"removals":[[{"namespace":"vault","name":"secret"}]]}`, http.StatusForbidden},
		{team, `{"snapshot":"prod@latest","pods":[` + big + `],"with":{"apply":[` + node("n2", "4") + `]}}`, http.StatusForbidden},
		{team, `{"snapshot":"other@latest","pods":[` + big + `]}`, http.StatusNotFound},
		{decider, `{` + bound + `"pods":[` + big + `]}`, http.StatusForbidden},
		{decider, `{"snapshot":"prod@latest","pods":[` + big + `]}`, http.StatusOK},
		{team, `{` + bound + `"pods":[` + big + `]}`, http.StatusOK},
	} {
		w := g.as(c.who, "POST", "/v1/placements", c.body)
		if w.Code != c.status {
			t.Errorf("%s: %d %s", c.body, w.Code, w.Body)
		}
		if text := w.Body.String(); w.Code == http.StatusOK && (!strings.Contains(text, "victims: 1 pods of other namespaces") || strings.Contains(text, "secret") || !strings.Contains(text, "Preempting")) {
			t.Errorf("%s: %s", c.body, text)
		}
	}
}
