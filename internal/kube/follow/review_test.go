package follow

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/client-go/rest"
)

func TestReview(t *testing.T) {
	blind := false // an apiserver that does not know about audiences
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var ask authenticationv1.TokenReview
		if err := json.NewDecoder(r.Body).Decode(&ask); err != nil || r.Method != http.MethodPost || r.URL.Path != "/apis/authentication.k8s.io/v1/tokenreviews" {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		switch ask.Spec.Token {
		case "good":
			ask.Status.Authenticated = true
			ask.Status.User = authenticationv1.UserInfo{Username: "system:serviceaccount:a:b", Groups: []string{"g"}}
			if !blind {
				ask.Status.Audiences = ask.Spec.Audiences
			}
		case "broken":
			http.Error(w, "broken", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(ask)
	}))
	defer s.Close()
	r, err := NewReviewer(&rest.Config{Host: s.URL}, []string{"berth"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.client.Client.CloseIdleConnections()
	if user, groups, ok, err := r.Review(t.Context(), "good"); user != "system:serviceaccount:a:b" || len(groups) != 1 || !ok || err != nil {
		t.Errorf("good: %s %v %t %v", user, groups, ok, err)
	}
	if _, _, ok, err := r.Review(t.Context(), "bad"); ok || err != nil {
		t.Errorf("bad: %t %v", ok, err)
	}
	if _, _, ok, err := r.Review(t.Context(), "broken"); ok || err == nil {
		t.Errorf("broken: %t %v", ok, err)
	}
	blind = true
	if _, _, ok, err := r.Review(t.Context(), "good"); ok || err != nil {
		t.Errorf("of no audience: %t %v", ok, err)
	}
}
