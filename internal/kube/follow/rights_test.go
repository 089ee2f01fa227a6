package follow_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"berth/internal/kube/follow"
	"berth/test/kubetest"
)

// TestAsksNoMore: what following and binding ask of an apiserver is what Verbs
// says, which the manifests grant, and what every authenticated user may ask.
func TestAsksNoMore(t *testing.T) {
	w := newWorld(t)
	w.s.Put(t, "nodes", node("n1"))
	w.s.Put(t, "pods", pod("a"))
	w.s.Put(t, "pods", pod("b"))
	var mu sync.Mutex
	asked := map[string]bool{}
	note := func(s *kubetest.Server) {
		s.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
			path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
			group, rest := "", path
			switch {
			case r.URL.Path == "/version" || path[0] == "apis" && len(path) == 3:
				return false // of the role system:discovery
			case path[0] == "api":
				rest = path[2:]
			default:
				group, rest = path[1], path[3:]
			}
			verb := map[string]string{http.MethodGet: "list", http.MethodPost: "create"}[r.Method]
			if rest[0] == "namespaces" && len(rest) > 2 {
				rest = rest[2:]
			}
			resource := rest[0]
			switch {
			case len(rest) == 3:
				resource += "/" + rest[2]
			case len(rest) == 2:
				verb = "get"
			case r.URL.Query().Get("watch") != "":
				verb = "watch"
			}
			mu.Lock()
			defer mu.Unlock()
			asked[verb+" "+group+"/"+resource] = true
			return false
		})
	}
	note(w.s)
	f, _ := w.follow("me", follow.Options{Assumed: 20 * time.Millisecond})
	w.until("the first state", func() bool { return w.has("Pod", "shop", "b") && f.Status().Synced })
	w.place("a", "n1")
	w.until("a doubt", func() bool { return f.Status().Expired > 0 })
	b, err := follow.NewBinder(w.s.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"n1", "n2"} {
		if _, err := b.Bind(t.Context(), "shop", "b", "uid-b", to); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]bool{"create /pods/binding": true}
	for _, k := range follow.Kinds() {
		for _, verb := range k.Verbs() {
			want[verb+" "+k.Group.Group+"/"+k.Resource] = true
		}
	}
	w.until("all that is asked", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(asked) >= len(want)
	})
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("what is asked (-said +done):\n%s", diff)
	}
	if slices.ContainsFunc(follow.Kinds(), func(k follow.Kind) bool { return strings.Contains(k.Resource, "secret") || k.Resource == "configmaps" }) {
		t.Error("secrets are followed")
	}
}
