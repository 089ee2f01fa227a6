package follow_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"

	"berth/internal/kube/follow"
	"berth/test/kubetest"
)

// TestDenied: each right is reviewed by itself, and those that are denied come back.
func TestDenied(t *testing.T) {
	s, kubeconfig := kubetest.NewTLS(t)
	var reviewed []string
	s.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews" || r.Method != http.MethodPost {
			return false
		}
		var review authorizationv1.SelfSubjectAccessReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		a := review.Spec.ResourceAttributes
		reviewed = append(reviewed, fmt.Sprint(a.Verb, " ", a.Group, " ", a.Resource, " ", a.Subresource))
		review.Status.Allowed = a.Resource != "nodes" && a.Subresource != "binding"
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(&review)
		return true
	})
	c, err := follow.Config(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	denied, err := follow.Denied(t.Context(), c, follow.Rights(true))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(denied); got != "[list nodes watch nodes create pods/binding]" {
		t.Errorf("denied: %s", got)
	}
	if len(reviewed) != len(follow.Rights(true)) || !slices.Contains(reviewed, "watch apps replicasets ") || !slices.Contains(reviewed, "get  pods ") {
		t.Errorf("reviewed: %v", reviewed)
	}
	if rights := follow.Rights(false); slices.ContainsFunc(rights, func(r follow.Right) bool { return r.Subresource != "" }) {
		t.Error("following alone takes binds")
	}
}

// TestAsk: the clock of the apiserver is known to within a second.
func TestAsk(t *testing.T) {
	s, kubeconfig := kubetest.NewTLS(t)
	ahead := 90 * time.Second
	s.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Date", time.Now().Add(ahead).UTC().Format(http.TimeFormat))
		_, _ = w.Write([]byte(`{"major":"1","minor":"34+","gitVersion":"v1.34.2-eks"}`))
		return true
	})
	c, err := follow.Config(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	a, err := follow.Ask(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if a.Version.Minor != "34+" || (a.Ahead-ahead).Abs() > a.Within+time.Second/10 {
		t.Errorf("%+v", a)
	}
}
