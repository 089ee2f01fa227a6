package handlers

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/handlers/exchange"
	"berth/internal/handlers/rest"
	"berth/internal/kube/object"
)

// ledgerOf starts a server with one cluster of one zoned node.
func ledgerOf(t *testing.T, items ...string) *harness {
	h := start(t, nil)
	h.want(http.StatusCreated, nil, "POST", "/v1/snapshots", listOf(append([]string{node("n1", "4", "topology.kubernetes.io/zone", "a")}, items...)...))
	return h
}

func bare(name, spec string) string {
	return `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"` + name + `","namespace":"shop","labels":{"app":"` + name + `"}},"spec":{` + spec + `"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}`
}

func (h *harness) change(status int, body string) (s rest.Snapshot) {
	h.Helper()
	h.want(status, &s, "POST", "/v1/snapshots/default@latest/changes", body)
	return s
}

func (h *harness) refused(status int, body string) (p exchange.Problem) {
	h.Helper()
	h.want(status, &p, "POST", "/v1/snapshots/default@latest/changes", body)
	return p
}

func (h *harness) stored(name string) (found *corev1.Pod) {
	h.Helper()
	var list struct{ Items []*corev1.Pod }
	h.want(http.StatusOK, &list, "GET", "/v1/snapshots/default@latest/objects?kind=Pod", "")
	for _, p := range list.Items {
		if p.Name == name {
			found = p
		}
	}
	if found == nil {
		h.Fatalf("no pod %s in %+v", name, list.Items)
	}
	return found
}

func (h *harness) bind(pod string) string {
	h.Helper()
	var d struct {
		Node string
		Pod  struct{ UID string }
	}
	h.want(http.StatusCreated, &d, "POST", "/v1/decisions", `{"snapshot":"default@latest","bind":true,"pod":`+pod+`}`)
	if d.Node != "n1" {
		h.Fatalf("bound to %q", d.Node)
	}
	return d.Pod.UID
}

func TestApplyKeepsWhatTheManifestLeavesOut(t *testing.T) {
	h := ledgerOf(t)
	manifest := bare("web", "")
	uid := h.bind(manifest)
	if s := h.change(http.StatusOK, `{"apply":[`+manifest+`]}`); s.Revision != 2 {
		t.Errorf("the same manifest made revision %d", s.Revision)
	}
	h.change(http.StatusCreated, `{"apply":[`+strings.Replace(manifest, `"labels":{"app":"web"}`, `"labels":{"app":"web","tier":"front"}`, 1)+`]}`)
	p := h.stored("web")
	if p.Spec.NodeName != "n1" || string(p.UID) != uid || p.Spec.Priority == nil || p.Labels["tier"] != "front" || p.Labels["topology.kubernetes.io/zone"] != "a" {
		t.Errorf("%+v", p)
	}
	h.change(http.StatusCreated, `{"patch":[{"kind":"Node","name":"n1","type":"merge","patch":{"spec":{"unschedulable":true}}}]}`)
	h.change(http.StatusOK, `{"apply":[{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1"}}]}`)
	h.change(http.StatusCreated, `{"apply":[{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1"},"status":{"capacity":{"cpu":"8"}}}]}`)
	var nodes struct{ Items []corev1.Node }
	h.want(http.StatusOK, &nodes, "GET", "/v1/snapshots/default@latest/objects?kind=Node", "")
	if n := nodes.Items[0]; n.Labels["topology.kubernetes.io/zone"] != "a" || !n.Spec.Unschedulable || n.Status.Allocatable.Cpu().String() != "8" {
		t.Errorf("%+v", n)
	}
}

func TestBoundPodsStay(t *testing.T) {
	h := ledgerOf(t)
	h.bind(bare("web", ""))
	p := h.refused(http.StatusConflict, `{"apply":[`+bare("web", `"nodeName":"n2",`)+`]}`)
	if p.Conflict == nil || p.Conflict.Node != "n1" || p.Conflict.Revision != 2 {
		t.Errorf("%+v", p)
	}
	p = h.refused(http.StatusConflict, `{"apply":[`+strings.Replace(bare("web", ""), `"name":"web",`, `"name":"web","uid":"another",`, 1)+`]}`)
	if p.Conflict == nil || p.Conflict.Node != "n1" {
		t.Errorf("%+v", p)
	}
	h.want(http.StatusConflict, &p, "POST", "/v1/snapshots/default@1/changes", `{"apply":[`+bare("x", "")+`]}`)
	if p.Conflict == nil || p.Conflict.Revision != 2 {
		t.Errorf("%+v", p)
	}
	h.want(http.StatusConflict, &p, "POST", "/v1/decisions", `{"snapshot":"default@latest","bind":true,"pod":`+bare("web", "")+`}`)
	if p.Conflict == nil || p.Conflict.Node != "n1" || p.Conflict.Revision != 2 {
		t.Errorf("%+v", p)
	}
	// replace stores the object as it stands.
	h.change(http.StatusCreated, `{"replace":[`+bare("web", `"nodeName":"n2",`)+`]}`)
	if p := h.stored("web"); p.Spec.NodeName != "n2" || p.Spec.Priority == nil {
		t.Errorf("%+v", p.Spec)
	}
}

func TestUpdatesAreAdmitted(t *testing.T) {
	h := ledgerOf(t, bare("gated", `"schedulingGates":[{"name":"a"}],`), bare("free", ""))
	if c := h.stored("gated").Status.Conditions; len(c) != 1 || c[0].Reason != "SchedulingGated" {
		t.Errorf("%+v", c)
	}
	for name, c := range map[string]struct{ body, field, kind string }{
		"gate added":     {`{"apply":[` + bare("gated", `"schedulingGates":[{"name":"a"},{"name":"b"}],`) + `]}`, "apply[0].spec.schedulingGates[1].name", "FieldValueForbidden"},
		"request raised": {`{"apply":[` + strings.Replace(bare("free", ""), `"cpu":"1"`, `"cpu":"2"`, 1) + `]}`, "apply[0].spec", "FieldValueForbidden"},
		"node by hand":   {`{"apply":[` + bare("free", `"nodeName":"n1",`) + `]}`, "apply[0].spec", "FieldValueForbidden"},
		"being deleted":  {`{"patch":[{"kind":"Pod","namespace":"shop","name":"free","type":"merge","patch":{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}}}]}`, "patch[0].metadata.deletionTimestamp", "FieldValueInvalid"},
		"unknown class":  {`{"apply":[` + bare("new", `"priorityClassName":"gone",`) + `]}`, "apply[0].spec.priorityClassName", "FieldValueForbidden"},
	} {
		if p := h.refused(http.StatusUnprocessableEntity, c.body); len(p.Errors) == 0 || p.Errors[0].Field != c.field || p.Errors[0].Type != c.kind {
			t.Errorf("%s: %+v", name, p.Errors)
		}
	}
	h.change(http.StatusCreated, `{"patch":[{"kind":"Pod","namespace":"shop","name":"gated","type":"json","patch":[{"op":"remove","path":"/spec/schedulingGates/0"}]}]}`)
	h.change(http.StatusCreated, `{"patch":[{"kind":"Pod","namespace":"shop","name":"free","type":"strategic","patch":{"spec":{"containers":[{"name":"c","image":"j"}]}}}]}`)
	if p := h.stored("free"); p.Spec.Containers[0].Image != "j" || p.Spec.Containers[0].Resources.Requests.Cpu().String() != "1" {
		t.Errorf("%+v", p.Spec.Containers)
	}
	for field, body := range map[string]string{
		"patch[0].patch": `{"patch":[{"kind":"Node","name":"n1","type":"json","patch":[{"op":"remove","path":"/spec/none"}]}]}`,
		"patch[0].type":  `{"patch":[{"kind":"Node","name":"n1","type":"yaml","patch":{}}]}`,
	} {
		if p := h.refused(http.StatusUnprocessableEntity, body); p.Errors[0].Field != field {
			t.Errorf("%s: %+v", field, p.Errors)
		}
	}
	if p := h.refused(http.StatusBadRequest, `{"patch":[{"kind":"Node","name":"n1","type":"merge","patch":{"spec":{"unschedulabel":true}}}]}`); p.Errors[0].Field != "patch[0].spec.unschedulabel" {
		t.Errorf("%+v", p.Errors)
	}
	h.refused(http.StatusNotFound, `{"patch":[{"kind":"Node","name":"n7","type":"merge","patch":{}}]}`)
}

// A claim's manifest does not undo its binding, and what is immutable stays.
func TestClaimsStayBound(t *testing.T) {
	const (
		meta     = `"apiVersion":"v1","metadata":{"name":"data","namespace":"shop"}`
		manifest = `{"kind":"PersistentVolumeClaim",` + meta + `,"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`
		bound    = `{"kind":"PersistentVolumeClaim",` + meta + `,"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"fast","volumeName":"v","resources":{"requests":{"storage":"1Gi"}}},"status":{"phase":"Bound"}}`
		class    = `{"kind":"StorageClass","apiVersion":"storage.k8s.io/v1","metadata":{"name":"fast"},"provisioner":"p"}`
	)
	h := ledgerOf(t, bound, class)
	h.change(http.StatusOK, `{"apply":[`+manifest+`]}`)
	for field, body := range map[string]string{
		"apply[0].spec":              `{"apply":[` + strings.Replace(manifest, "ReadWriteOnce", "ReadWriteMany", 1) + `]}`,
		"patch[0].spec":              `{"patch":[{"kind":"PersistentVolumeClaim","namespace":"shop","name":"data","type":"merge","patch":{"spec":{"volumeName":"w"}}}]}`,
		"apply[0].volumeBindingMode": `{"apply":[` + strings.Replace(class, `"provisioner"`, `"volumeBindingMode":"WaitForFirstConsumer","provisioner"`, 1) + `]}`,
	} {
		if p := h.refused(http.StatusUnprocessableEntity, body); len(p.Errors) == 0 || p.Errors[0].Field != field || !strings.HasSuffix(p.Detail, ". Where the object is to be made anew, send it under replace") {
			t.Errorf("%s: %s, %+v", field, p.Detail, p.Errors)
		}
	}
	h.change(http.StatusCreated, `{"apply":[`+strings.Replace(manifest, "1Gi", "2Gi", 1)+`]}`)
	h.change(http.StatusCreated, `{"replace":[`+manifest+`]}`)
}

// What an API server refuses at creation is refused in a change, and taken in a snapshot.
func TestCreationsAreValidated(t *testing.T) {
	const (
		volume = `{"kind":"PersistentVolume","apiVersion":"v1","metadata":{"name":"v"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"fc":{"wwids":["3"]}}}`
		budget = `{"kind":"PodDisruptionBudget","apiVersion":"policy/v1","metadata":{"name":"b","namespace":"shop"},"spec":{"minAvailable":1,"maxUnavailable":1}}`
	)
	h := ledgerOf(t, budget)
	for field, object := range map[string]string{
		"apply[0].spec":             strings.Replace(volume, `"fc":{"wwids":["3"]}`, `"nodeAffinity":null`, 1),
		"apply[0].spec.accessModes": strings.Replace(volume, `"ReadWriteOnce"`, ``, 1),
	} {
		if p := h.refused(http.StatusUnprocessableEntity, `{"apply":[`+object+`]}`); len(p.Errors) != 1 || p.Errors[0].Field != field {
			t.Errorf("%s: %+v", field, p.Errors)
		}
	}
	h.change(http.StatusCreated, `{"apply":[`+volume+`]}`)
	if p := h.refused(http.StatusUnprocessableEntity, `{"apply":[`+strings.Replace(budget, `"b"`, `"c"`, 1)+`]}`); p.Errors[0].Field != "apply[0].spec" {
		t.Errorf("%+v", p.Errors)
	}
	// The one of the snapshot can be changed, also to what an API server takes.
	h.change(http.StatusCreated, `{"apply":[`+strings.Replace(budget, `"spec"`, `"status":{"disruptionsAllowed":1},"spec"`, 1)+`]}`)
	h.change(http.StatusCreated, `{"apply":[`+strings.Replace(budget, `"minAvailable":1,`, ``, 1)+`]}`)
	if p := h.refused(http.StatusUnprocessableEntity, `{"patch":[{"kind":"PodDisruptionBudget","namespace":"shop","name":"b","type":"merge","patch":{"spec":{"maxUnavailable":"150%"}}}]}`); p.Errors[0].Field != "patch[0].spec.maxUnavailable" {
		t.Errorf("%+v", p.Errors)
	}
}

func TestPrioritiesAreResolvedOnce(t *testing.T) {
	class := func(name, value, more string) string {
		return `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"` + name + `"},"value":` + value + more + `}`
	}
	h := start(t, nil)
	h.want(http.StatusCreated, nil, "POST", "/v1/priorityclasses", `{"metadata":{"name":"science"},"value":500}`)
	var s rest.Snapshot
	h.want(http.StatusCreated, &s, "POST", "/v1/snapshots", listOf(bare("kept", `"priorityClassName":"keep",`), bare("run", `"priorityClassName":"science","nodeName":"n1",`), bare("plain", ""),
		bare("lost", `"priorityClassName":"nobody",`), node("n1", "4"), class("keep", "300", "")))
	if u := s.Hygiene.PodsOfUnknownClasses; u.Count != 1 || u.Sample[0].PriorityClassName != "nobody" {
		t.Errorf("%+v", s.Hygiene)
	}
	h.change(http.StatusCreated, `{"delete":[{"kind":"PriorityClass","name":"keep"}],"apply":[`+class("later", "700", `,"globalDefault":true`)+`,`+bare("young", "")+`]}`)
	for name, want := range map[string]int32{"kept": 300, "run": 500, "plain": 0, "young": 700} {
		if p := h.stored(name).Spec.Priority; p == nil || *p != want {
			t.Errorf("%s has priority %v, not %d", name, p, want)
		}
	}
	if p := h.stored("lost").Spec.Priority; p != nil {
		t.Errorf("lost has priority %d", *p)
	}
	if p := h.refused(http.StatusUnprocessableEntity, `{"apply":[`+class("second", "1", `,"globalDefault":true`)+`]}`); p.Errors[0].Field != "apply[0].globalDefault" {
		t.Errorf("%+v", p.Errors)
	}
	if p := h.refused(http.StatusUnprocessableEntity, `{"apply":[`+class("later", "8", `,"globalDefault":true`)+`]}`); p.Errors[0].Field != "apply[0].value" {
		t.Errorf("%+v", p.Errors)
	}
}

func TestDeletions(t *testing.T) {
	h := ledgerOf(t)
	first := h.bind(bare("web", ""))
	gone := `{"delete":[{"kind":"Pod","namespace":"shop","name":"web"}]}`
	h.change(http.StatusCreated, `{"delete":[{"kind":"Pod","namespace":"shop","name":"web","gracePeriodSeconds":30}]}`)
	if p := h.stored("web"); p.DeletionTimestamp == nil || *p.DeletionGracePeriodSeconds != 30 {
		t.Errorf("%+v", p.ObjectMeta)
	}
	if s := h.change(http.StatusCreated, gone); s.Revision != 4 {
		t.Errorf("%s", s.ID)
	}
	if s := h.change(http.StatusOK, gone); s.Revision != 4 {
		t.Errorf("a deletion of nothing made %s", s.ID)
	}
	h.refused(http.StatusNotFound, `{"strict":true,`+gone[1:])
	if second := h.bind(bare("web", "")); second == first {
		t.Error("the second pod has the first one's UID")
	}
	var told struct {
		Attempts []struct{ Count int }
	}
	h.want(http.StatusOK, &told, "GET", "/v1/clusters/default/pods/shop/web", "")
	if len(told.Attempts) != 2 || told.Attempts[0].Count != 1 {
		t.Errorf("%+v", told)
	}
	h.refused(http.StatusUnprocessableEntity, `{"delete":[{"kind":"Node","name":"n1","gracePeriodSeconds":5}]}`)
	h.refused(http.StatusUnprocessableEntity, `{}`)
	if p := h.refused(http.StatusUnprocessableEntity, `{"apply":[`+bare("web", "")+`],`+gone[1:]); p.Errors[0].Field != "delete[0]" {
		t.Errorf("%+v", p.Errors)
	}
}

// TestCreatedOnANode has the labels that a create with a node gets, from a node of
// the same change too.
func TestCreatedOnANode(t *testing.T) {
	h := ledgerOf(t)
	h.change(http.StatusCreated, `{"apply":[`+bare("one", `"nodeName":"n1",`)+`,`+bare("two", `"nodeName":"n2",`)+`,`+node("n2", "1", "topology.kubernetes.io/zone", "b")+`]}`)
	if a, b := h.stored("one").Labels["topology.kubernetes.io/zone"], h.stored("two").Labels["topology.kubernetes.io/zone"]; a != "a" || b != "b" {
		t.Errorf("zones %q and %q", a, b)
	}
}

// TestDeleteNamesWhatItDeleted: an answer that says nothing lets a misspelt namespace pass.
func TestDeleteNamesWhatItDeleted(t *testing.T) {
	h := ledgerOf(t, bare("web", `"nodeName":"n1",`), bare("slow", `"nodeName":"n1",`))
	name := func(n string) object.Key { return object.Key{Kind: "Pod", Namespace: "shop", Name: n} }
	s := h.change(http.StatusCreated, `{"delete":[{"kind":"Pod","namespace":"shop","name":"web"},{"kind":"Pod","namespace":"shop","name":"slow","gracePeriodSeconds":30},{"kind":"Pod","namespace":"ship","name":"web"}]}`)
	if !slices.Equal(s.Deleted, []object.Key{name("web")}) || !slices.Equal(s.Ending, []object.Key{name("slow")}) || !slices.Equal(s.NotFound, []object.Key{{Kind: "Pod", Namespace: "ship", Name: "web"}}) {
		t.Errorf("%+v", s)
	}
	if s = h.change(http.StatusOK, `{"delete":[{"kind":"Pod","namespace":"shop","name":"web"}]}`); s.Deleted != nil || !slices.Equal(s.NotFound, []object.Key{name("web")}) {
		t.Errorf("%+v", s)
	}
}

// TestApplyWarnsOfNodes: an API server admits a pod to any node, and its kubelet refuses it.
func TestApplyWarnsOfNodes(t *testing.T) {
	h := ledgerOf(t)
	sized := func(name, node, requests string) string {
		return strings.Replace(bare(name, `"nodeName":"`+node+`",`), `"cpu":"1"`, requests, 1)
	}
	for _, c := range []struct {
		pods string
		want []string
	}{
		{sized("fits", "n1", `"cpu":"3"`), nil},
		{sized("lost", "n9", `"cpu":"1"`), []string{"pod shop/lost: node n9 is not in default@3, so nothing that it holds is counted"}},
		{sized("large", "n1", `"cpu":"99"},"limits":{"example.com/gpu":"2"`), []string{"pod shop/large puts node n1 over its cpu (102 of 4)", "pod shop/large puts node n1 over its example.com/gpu (2 of 0)"}},
		{sized("large", "n1", `"cpu":"99"},"limits":{"example.com/gpu":"2"`), nil}, // which changes nothing
		{sized("none", "n1", `"memory":"1Mi"`), nil}, // of what is full it requests nothing
		{sized("a", "n1", `"cpu":"1500m"`) + "," + sized("b", "n1", `"cpu":"1"`), []string{"pod shop/a and 1 more put node n1 over its cpu (104500m of 4)"}},
	} {
		var s rest.Snapshot
		a := h.do("POST", "/v1/snapshots/default@latest/changes", `{"apply":[`+c.pods+`]}`)
		if err := json.Unmarshal(a.body, &s); err != nil || a.StatusCode >= 300 || !slices.Equal(s.Warnings, c.want) {
			t.Errorf("%s: %q, want %q", c.pods, s.Warnings, c.want)
		}
		if len(c.want) != len(a.Header.Values("Warning")) {
			t.Errorf("headers: %q", a.Header.Values("Warning"))
		}
	}
}
