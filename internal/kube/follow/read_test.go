package follow_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"berth/internal/kube/follow"
	"berth/internal/kube/object"
	"berth/test/kubetest"
)

// TestReadPages: every object comes once, over any number of pages, each requested by limit and
// continue.
func TestReadPages(t *testing.T) {
	s := kubetest.New(t)
	s.Put(t, "nodes", node("n1"))
	const many = 1203
	for i := range many {
		s.Put(t, "pods", pod(fmt.Sprintf("p%04d", i)))
	}
	seen := map[object.Key]int{}
	unread, err := follow.Read(context.Background(), s.Config(), func(o object.Object) error {
		seen[o.Key]++
		return nil
	})
	if err != nil || len(unread) > 0 {
		t.Fatalf("%v, unread %+v", err, unread)
	}
	if len(seen) != many+1 {
		t.Errorf("%d objects", len(seen))
	}
	for k, n := range seen {
		if n != 1 {
			t.Errorf("%v came %d times", k, n)
		}
	}
	if n := s.Lists("pods"); n != 3 {
		t.Errorf("pods were listed %d times", n)
	}
}

// TestReadRefused: kinds that may not be read are named with the reason; without
// nodes there is nothing to decide.
func TestReadRefused(t *testing.T) {
	s := kubetest.New(t)
	s.Put(t, "nodes", node("n1"))
	refuse := map[string]int{"poddisruptionbudgets": http.StatusForbidden, "csistoragecapacities": http.StatusNotFound, "deviceclasses": http.StatusNotFound}
	s.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		path := strings.Split(r.URL.Path, "/")
		resource := path[len(path)-1]
		code, ok := refuse[resource]
		if !ok {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		reason := map[int]string{http.StatusForbidden: "Forbidden", http.StatusNotFound: "NotFound"}[code]
		_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"reason":%q,"message":"User \"u\" cannot list resource %q"}`, code, reason, resource)
		return true
	})
	yield := func(object.Object) error { return nil }
	unread, err := follow.Read(context.Background(), s.Config(), yield)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, u := range unread {
		kinds = append(kinds, u.Kind)
		if u.Err == nil || u.Invalid != 0 {
			t.Errorf("%+v", u)
		}
	}
	if got := strings.Join(kinds, ","); got != "PodDisruptionBudget,CSIStorageCapacity" {
		t.Errorf("unread are %s: groups that not every cluster serves are no gap", got)
	}
	refuse["nodes"] = http.StatusForbidden
	if _, err := follow.Read(context.Background(), s.Config(), yield); err == nil || !strings.Contains(err.Error(), "list nodes") {
		t.Errorf("without nodes: %v", err)
	}
}
