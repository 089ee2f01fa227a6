package follow

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// A list alone does not make a kind fresh: what happens after it is missed until
// its watch is open. One that comes over a watch is watched already.
func TestListedIsNotWatched(t *testing.T) {
	hang := make(chan struct{})
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch q := r.URL.Query(); {
		case q.Get("watch") == "":
			_, _ = w.Write([]byte(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[]}`))
		default:
			_ = http.NewResponseController(w).Flush()
			select {
			case <-hang:
			case <-r.Context().Done():
			}
		}
	}))
	defer api.Close()
	defer close(hang)
	pods := kinds[0]
	for _, k := range kinds {
		if k.Kind == "Pod" {
			pods = k
		}
	}
	r, err := client(&rest.Config{Host: api.URL}, pods.Group)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1000, 0)
	l := newWatchHealth(func() time.Time { return now }, time.Hour)
	lw := cache.ToListerWatcherWithContext(l.listWatch(pods, r))
	stale := func(when string, want time.Duration) {
		t.Helper()
		if got := l.stale(); got != want {
			t.Errorf("%s: stale for %s, want %s", when, got, want)
		}
	}
	now = now.Add(time.Second)
	if _, err := lw.ListWithContext(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	l.listed("Pod")
	stale("after a list", time.Second)
	open, err := lw.WatchWithContext(t.Context(), metav1.ListOptions{ResourceVersion: "7"})
	if err != nil {
		t.Fatal(err)
	}
	defer open.Stop()
	stale("once it is watched", 0)

	l.lost("Pod")
	now = now.Add(time.Second)
	yes := true
	stream, err := lw.WatchWithContext(t.Context(), metav1.ListOptions{SendInitialEvents: &yes})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Stop()
	stale("while the list comes over the watch", time.Second)
	l.listed("Pod")
	stale("once it has", 0)
}
