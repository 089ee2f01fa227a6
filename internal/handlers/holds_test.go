package handlers

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/access"
	"berth/internal/decision"
	"berth/internal/handlers/exchange"
	"berth/internal/handlers/rest"
)

// held holds copies of a pod that takes one CPU.
func (h *harness) held(name, count string) decision.PlacementAnswer {
	h.Helper()
	a := h.place(http.StatusCreated, `{"snapshot":"default@latest","hold":"30s","template":`+pod(name, "1", "")+`,"count":`+count+`}`)
	if a.Hold == nil || a.Hold.ID != a.ID || !a.Committed {
		h.Fatalf("%+v", a)
	}
	return a
}

// hold reads a hold, or ends it by a verb.
func (h *harness) hold(status int, id, verb string) (out rest.HeldPlacement, p exchange.Problem) {
	h.Helper()
	method, path := "GET", "/v1/holds/"+id
	if verb != "" {
		method, path = "POST", path+"/"+verb
	}
	if status == http.StatusOK {
		h.want(status, &out, method, path, "")
	} else {
		h.want(status, &p, method, path, "")
	}
	return out, p
}

// fits is how many pods of one CPU fit, as a dry placement finds, and one that is recorded.
func (h *harness) fits() int {
	h.Helper()
	dry := h.place(http.StatusOK, `{"template":`+pod("probe", "1", "")+`,"count":20}`)
	var fit struct{ Count int }
	h.want(http.StatusOK, &fit, "POST", "/v1/clusters/default/fit", `{"max":20,"pod":`+pod("probe", "1", "")+`}`)
	if fit.Count != dry.Placed {
		h.Errorf("fit counts %d, a dry placement places %d", fit.Count, dry.Placed)
	}
	return dry.Placed
}

// newest is the newest revision.
func (h *harness) newest() (s rest.Snapshot) {
	h.Helper()
	h.want(http.StatusOK, &s, "GET", "/v1/snapshots/default@latest", "")
	return s
}

// there reports whether the newest revision has a pod.
func (h *harness) there(name string) bool {
	h.Helper()
	var list struct{ Items []json.RawMessage }
	h.want(http.StatusOK, &list, "GET", "/v1/snapshots/default@latest/objects?kind=Pod&namespace=shop&name="+name, "")
	return len(list.Items) > 0
}

// TestHolds takes holds through each of their ends.
func TestHolds(t *testing.T) {
	h := cellOf(t, node("n1", "2"), node("n2", "2"))
	kept := h.held("kept", "2")
	if got := h.fits(); got != 2 {
		t.Errorf("beside a hold %d fit, want 2", got)
	}
	h.replayed(&kept)
	out, _ := h.hold(http.StatusOK, kept.ID, "")
	if out.State != "held" || out.Cluster != "default" || !out.Expires.Equal(kept.Hold.Expires) || out.Expires.Sub(out.Created) != 30*time.Second || out.Placed != 2 ||
		len(out.Pods) != 2 || out.Pods[0].Node != kept.Results[0].Node || out.Pods[0].Decision != kept.Results[0].Decision || out.Pods[0].UID == "" || out.BoundSnapshot != "default@2" || out.Ended != nil {
		t.Errorf("%+v", out)
	}
	s := h.newest()
	if s.Holds == nil || s.Holds.Held != 1 || !s.Holds.Until.Equal(out.Expires) {
		t.Errorf("%+v", s.Holds)
	}
	for range 2 {
		if out, _ := h.hold(http.StatusOK, kept.ID, "commit"); out.State != "committed" || out.EndedSnapshot != "default@3" || out.Ended == nil {
			t.Errorf("%+v", out)
		}
	}
	if _, p := h.hold(http.StatusConflict, kept.ID, "release"); p.Conflict == nil || p.Conflict.State != "committed" || p.Conflict.Revision != 3 {
		t.Errorf("%+v", p)
	}
	committed := h.newest()
	if committed.Digest != s.Digest || committed.Cause != "commit" || committed.Holds != nil {
		t.Errorf("after the commit %+v", committed)
	}

	gone := h.held("gone", "1")
	for range 2 {
		if out, _ := h.hold(http.StatusOK, gone.ID, "release"); out.State != "released" || out.EndedSnapshot != "default@5" {
			t.Errorf("%+v", out)
		}
	}
	if _, p := h.hold(http.StatusConflict, gone.ID, "commit"); p.Conflict == nil || p.Conflict.State != "released" {
		t.Errorf("%+v", p)
	}
	s = h.newest()
	if s.Digest != committed.Digest || s.Cause != "release" {
		t.Errorf("after the release %+v, want %s", s, committed.Digest)
	}

	over := h.held("over", "2")
	h.ahead.Add(int64(29 * time.Second))
	later := h.place(http.StatusOK, `{"snapshot":"default@latest","hold":"24h","template":`+pod("later", "1", "")+`}`)
	if later.Hold != nil || later.Placed != 0 {
		t.Errorf("there is no room: %+v", later)
	}
	h.ahead.Add(int64(time.Second))
	if got := h.fits(); got != 2 {
		t.Errorf("after a hold's time %d fit, want 2", got)
	}
	s = h.newest()
	if s.Cause != "expired" || s.AskedBy != "" || s.Holds != nil {
		t.Errorf("%+v", s)
	}
	if out, _ := h.hold(http.StatusOK, over.ID, ""); out.State != "expired" || out.EndedBy != "" || len(out.Pods) != 2 {
		t.Errorf("%+v", out)
	}
	if _, p := h.hold(http.StatusConflict, over.ID, "commit"); p.Conflict == nil || p.Conflict.State != "expired" {
		t.Errorf("%+v", p)
	}
	if out, _ := h.hold(http.StatusOK, over.ID, "release"); out.State != "expired" {
		t.Errorf("%+v", out)
	}
	for _, a := range []*decision.PlacementAnswer{&kept, &gone, &over} {
		h.replayed(a)
	}
	h.pages(kept.ID, gone.ID, over.ID)
}

// pages wants a list of holds, and of the view, to have these, the newest first.
func (h *harness) pages(ids ...string) {
	h.Helper()
	var got []string
	for path := "/v1/holds?cluster=default&limit=1"; path != ""; {
		var page rest.HoldList
		h.want(http.StatusOK, &page, "GET", path, "")
		for _, x := range page.Items {
			if got = append(got, x.ID); x.Pods != nil || x.Placed == 0 {
				h.Errorf("%+v", x)
			}
		}
		if path = ""; page.Cursor != "" {
			path = "/v1/holds?cluster=default&limit=1&cursor=" + page.Cursor
		}
	}
	slices.Reverse(ids)
	if !slices.Equal(got, ids) {
		h.Errorf("the list has %v, want %v", got, ids)
	}
	var view struct{ Rows [][]any }
	h.want(http.StatusOK, &view, "GET", "/v1/views/holds?cluster=default&since=2020-01-01T00:00:00Z", "")
	if len(view.Rows) != len(ids) {
		h.Errorf("the view has %v", view.Rows)
	}
}

// TestLateHoldsCannotBeCommitted: before anything else has ended them.
func TestLateHoldsCannotBeCommitted(t *testing.T) {
	h := cellOf(t, node("n1", "2"))
	a := h.held("late", "1")
	h.ahead.Add(int64(30 * time.Second))
	if _, p := h.hold(http.StatusConflict, a.ID, "commit"); p.Conflict == nil || p.Conflict.State != "expired" || p.Conflict.Revision != 3 {
		t.Errorf("%+v", p)
	}
	if h.there("late-0") {
		t.Error("its pod is still there")
	}
	b := h.held("listed", "1")
	h.ahead.Add(int64(30 * time.Second))
	var list rest.HoldList
	h.want(http.StatusOK, &list, "GET", "/v1/holds?cluster=default", "")
	if len(list.Items) != 2 || list.Items[0].ID != b.ID || list.Items[0].State != "expired" {
		t.Errorf("%+v", list.Items)
	}
	c := h.held("bound", "2")
	h.ahead.Add(int64(30 * time.Second))
	d := h.place(http.StatusCreated, `{"snapshot":"default@latest","bind":true,"template":`+pod("next", "1", "")+`,"count":2}`)
	if d.Placed != 2 || d.Snapshot != "default@7" || d.BoundSnapshot != "default@8" {
		t.Errorf("after %s: %+v", c.BoundSnapshot, d)
	}
}

// TestHoldsAmongChanges deletes what a hold has, uploads over it, and deletes the cluster.
func TestHoldsAmongChanges(t *testing.T) {
	h := cellOf(t, node("n1", "2"), node("n2", "2"))
	a := h.held("a", "2")
	h.change(http.StatusCreated, `{"delete":[{"kind":"Pod","namespace":"shop","name":"a-0"}]}`)
	again := strings.Replace(pod("a-0", "1", `,"nodeName":"`+a.Results[0].Node+`"`), "uid-a-0", "another", 1)
	h.change(http.StatusCreated, `{"apply":[`+again+`]}`)
	h.change(http.StatusCreated, `{"delete":[{"kind":"Node","name":"n2"}]}`)
	if out, _ := h.hold(http.StatusOK, a.ID, "release"); out.State != "released" || len(out.Pods) != 2 {
		t.Errorf("%+v", out)
	}
	if p := h.stored("a-0"); p.UID != "another" || h.there("a-1") {
		t.Errorf("%+v", p)
	}

	b := h.held("b", "1")
	var list struct{ Items []json.RawMessage }
	h.want(http.StatusOK, &list, "GET", "/v1/snapshots/default@latest/objects", "")
	var items []string
	for _, js := range list.Items {
		items = append(items, string(js))
	}
	h.upload("default", listOf(append(items, node("n3", "1"))...))
	s := h.newest()
	if s.Cause != "upload" || s.Holds == nil || s.Holds.Held != 1 {
		t.Errorf("an upload ended the hold: %+v", s)
	}
	h.ahead.Add(int64(30 * time.Second))
	if there := h.there("b-0"); there || !h.there("a-0") {
		t.Errorf("b-0 there: %v", there)
	}
	if s = h.newest(); s.Cause != "expired" {
		t.Errorf("%+v", s)
	}
	if out, _ := h.hold(http.StatusOK, b.ID, ""); out.State != "expired" {
		t.Errorf("%+v", out)
	}

	c := h.held("c", "1")
	h.upload("default", listOf(node("n1", "4")))
	if out, _ := h.hold(http.StatusOK, c.ID, "commit"); out.State != "committed" || h.there("c-0") {
		t.Errorf("%+v", out)
	}
	d := h.held("d", "1")
	h.want(http.StatusNoContent, nil, "DELETE", "/v1/clusters/default", "")
	h.hold(http.StatusNotFound, d.ID, "")
	h.hold(http.StatusNotFound, d.ID, "commit")
	h.upload("default", listOf(node("n1", "4")))
	s = h.newest()
	if s.Holds != nil || h.fits() != 4 {
		t.Errorf("%+v", s)
	}
}

// TestHoldsLeaveNothing: pods that waited wait again, those that found no node go with the others,
// and so do the claims of a StatefulSet and what was decided about them.
func TestHoldsLeaveNothing(t *testing.T) {
	h := cellOf(t, node("n1", "4"), pod("waits", "1", ""),
		`{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"late","annotations":{"storageclass.kubernetes.io/is-default-class":"true"}},"provisioner":"p","volumeBindingMode":"WaitForFirstConsumer"}`)
	set := `{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"db","namespace":"shop"},"spec":{"replicas":2,"serviceName":"s","selector":{"matchLabels":{"a":"b"}},` +
		`"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}` +
		`,"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}]}}`
	for _, body := range []string{`"workload":` + set, `"pods":[` + pod("waits", "1", "") + `,` + pod("large", "64", "") + `]`} {
		before := h.newest()
		a := h.place(http.StatusCreated, `{"snapshot":"default@latest","hold":"30s",`+body+`}`)
		if a.Hold == nil {
			t.Fatalf("%+v", a)
		}
		h.hold(http.StatusOK, a.Hold.ID, "release")
		after := h.newest()
		if before.Digest != after.Digest {
			t.Errorf("%s: before %+v, after %+v", body, before, after)
		}
	}
	var queue struct{ Active []struct{ Name string } }
	h.want(http.StatusOK, &queue, "GET", "/v1/clusters/default/queue", "")
	if len(queue.Active) != 1 || queue.Active[0].Name != "waits" {
		t.Errorf("%+v", queue)
	}
}

// TestHoldsRefuse: errors name the field.
func TestHoldsRefuse(t *testing.T) {
	h := cellOf(t, node("n1", "2"))
	h.untouched(func() {
		for more, c := range map[string]struct {
			status        int
			field, detail string
		}{
			`"hold":"30s","bind":true`:         {400, "hold", "in place of bind"},
			`"hold":"soon"`:                    {400, "hold", "want a duration from 1s to 24h, such as 30s"},
			`"hold":"999ms"`:                   {422, "hold", "from 1s to 24h"},
			`"hold":"24h1s"`:                   {422, "hold", "from 1s to 24h"},
			`"hold":"-5s"`:                     {422, "hold", "from 1s to 24h"},
			`"hold":"30s","removals":[[]]`:     {400, "removals", "without hold"},
			`"hold":"30s","with":{"apply":[]}`: {400, "with", "without hold"},
			`"hold":30`:                        {400, "hold", ""},
		} {
			var p exchange.Problem
			h.want(c.status, &p, "POST", "/v1/placements", `{"snapshot":"default@latest",`+more+`,"template":`+pod("x", "1", "")+`}`)
			if len(p.Errors) == 0 || p.Errors[0].Field != c.field || !strings.Contains(p.Detail, c.detail) {
				t.Errorf("%s: %+v", more, p)
			}
		}
		var p exchange.Problem
		h.want(http.StatusBadRequest, &p, "POST", "/v1/placements", `{"hold":"30s","template":`+pod("x", "1", "")+`}`)
		if p.Detail != `snapshot: with hold it has to be named, as in "prod@latest"` {
			t.Errorf("%+v", p)
		}
	})
	if _, p := h.hold(http.StatusBadRequest, "none", "commit"); p.Detail != "id: it is not a hold's id, which is a UUID" {
		t.Errorf("%+v", p)
	}
	h.hold(http.StatusNotFound, "0197a1b2-c3d4-7e5f-8a9b-0123456789ab", "")
	h.want(http.StatusNotFound, nil, "GET", "/v1/holds?cluster=none", "")
}

// TestHoldRights: a caller sees the holds all of whose pods it sees, and ends those whose pods it
// may bind.
func TestHoldRights(t *testing.T) {
	g := startGuarded(t)
	vault := func(p string) string { return strings.ReplaceAll(p, `"shop"`, `"vault"`) }
	g.upload("prod", listOf(node("n1", "9")))
	hold := func(pods string) string {
		return g.place(http.StatusCreated, `{"snapshot":"prod@latest","hold":"30s","pods":[`+pods+`]}`).ID
	}
	mine, mixed := hold(pod("a", "1", "")), hold(pod("b", "1", "")+`,`+vault(pod("c", "1", "")))
	team, viewer := bearing(g.token("team", "binder", "prod", "shop")), bearing(g.token("viewer", "viewer", "prod", "shop"))
	other := bearing(g.token("other", "binder", "test", "*"))
	both := bearing(g.token("both", "binder", "prod", "shop", access.Grant{Role: "viewer", Clusters: []string{"prod"}, Namespaces: []string{"vault"}}))
	for _, c := range []struct {
		who    identity
		call   string
		status int
	}{
		{viewer, "GET /v1/holds/" + mine, http.StatusOK},
		{viewer, "GET /v1/holds/" + mixed, http.StatusNotFound},
		{viewer, "POST /v1/holds/" + mine + "/commit", http.StatusForbidden},
		{viewer, "POST /v1/holds/" + mine + "/release", http.StatusForbidden},
		{both, "GET /v1/holds/" + mixed, http.StatusOK},
		{both, "POST /v1/holds/" + mixed + "/commit", http.StatusForbidden},
		{both, "POST /v1/holds/" + mixed + "/release", http.StatusForbidden},
		{team, "POST /v1/holds/" + mixed + "/commit", http.StatusNotFound},
		{team, "POST /v1/holds/" + mixed + "/release", http.StatusNotFound},
		{other, "POST /v1/holds/" + mine + "/release", http.StatusNotFound},
		{other, "GET /v1/holds?cluster=prod", http.StatusNotFound},
		{team, "POST /v1/holds/" + mine + "/commit", http.StatusOK},
	} {
		method, path, _ := strings.Cut(c.call, " ")
		if w := g.as(c.who, method, path, ""); w.Code != c.status {
			t.Errorf("%s: %d %s", c.call, w.Code, w.Body)
		}
	}
	if text := g.as(viewer, "GET", "/v1/holds", "").Body.String(); !strings.Contains(text, mine) || strings.Contains(text, mixed) {
		t.Errorf("%s", text)
	}
	if out, _ := g.hold(http.StatusOK, mine, ""); out.EndedBy != "token:team" || out.AskedBy == "" {
		t.Errorf("%+v", out)
	}
}
