package follow_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/kube/follow"
	"berth/internal/kube/object"
	"berth/internal/revision"
)

// tries counts what a hold asked.
type tries struct{ all, final int }

// hold holds a rejection until the state has a node, and counts.
func (w *world) hold(f *follow.Follower, atMost time.Duration, node string) (n tries, err error) {
	h := &follow.Holder{Newer: w.m.Newer, Follower: func(string) *follow.Follower { return f }, Atmost: atMost}
	err = h.Hold(w.t.Context(), "prod", func() *corev1.Pod { return pod("p") }, func(final bool) (bool, error) {
		n.all++
		if final {
			n.final++
		}
		return !w.has("Node", "", node), nil
	})
	return n, err
}

// TestRejectionWaitsForTheWatch: what kube-scheduler has seen already lets a call
// pass as soon as the late watch tells it, and a call that nothing lets pass is
// rejected by a state that is as new as the call.
func TestRejectionWaitsForTheWatch(t *testing.T) {
	w, f, _ := newFollowed(t, "me", follow.Options{})
	w.until("the cluster was read", func() bool { return f.Status().Synced })
	const late = 300 * time.Millisecond
	w.s.Lag(late)
	w.s.Put(t, "nodes", node("n2"))
	if n, err := w.hold(f, time.Minute, "n2"); err != nil || n.all < 2 || n.final > 1 {
		t.Errorf("%+v, %v", n, err)
	}
	w.s.Put(t, "nodes", node("n3"))
	began := time.Now()
	n, err := w.hold(f, time.Minute, "never")
	if err != nil || n.final != 1 {
		t.Errorf("%+v, %v", n, err)
	}
	if !w.has("Node", "", "n3") || time.Since(began) < late-50*time.Millisecond {
		t.Errorf("rejected after %s by a state that lacks what the apiserver had before the call", time.Since(began))
	}
	// Nothing is on its way: the answer is there as soon as the apiserver's is.
	began = time.Now()
	if n, err := w.hold(f, time.Minute, "never"); err != nil || n.final != 1 || time.Since(began) > 10*time.Second {
		t.Errorf("%+v, %v after %s", n, err, time.Since(began))
	}
}

// TestDeletionsAreWaitedFor: what is gone from the apiserver and not from what was
// heard is seen, too, and so is an object that was changed.
func TestDeletionsAreWaitedFor(t *testing.T) {
	w, f, _ := newFollowed(t, "me", follow.Options{})
	w.until("the cluster was read", func() bool { return f.Status().Synced })
	w.s.Lag(200 * time.Millisecond)
	w.s.Delete("pods", "shop", "a")
	if _, err := f.Current(t.Context(), nil); err != nil || w.has("Pod", "shop", "a") {
		t.Errorf("current, with a pod that is gone: %v", err)
	}
	changed := node("n1")
	changed.Spec.Unschedulable = true
	w.s.Put(t, "nodes", changed)
	revision, err := f.Current(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := w.m.View(t.Context(), "prod", revision)
	if err != nil {
		t.Fatal(err)
	}
	if js, _ := v.Object(object.Key{Kind: "Node", Name: "n1"}); !strings.Contains(string(js), "unschedulable") {
		t.Errorf("revision %d has the node as it was: %s", revision, js)
	}
}

// TestMissedWatchRejectsNothing: where the watch stays behind, or the apiserver
// cannot be asked, nothing is rejected.
func TestMissedWatchRejectsNothing(t *testing.T) {
	w, f, _ := newFollowed(t, "me", follow.Options{})
	w.until("the cluster was read", func() bool { return f.Status().Synced })
	var behind *revision.BehindError
	w.s.Lag(time.Hour)
	w.s.Put(t, "pods", pod("b"))
	if n, err := w.hold(f, 200*time.Millisecond, "never"); !errors.As(err, &behind) || n.final != 0 {
		t.Errorf("a watch that hangs: %+v, %v", n, err)
	}
	w.s.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadataList") {
			http.Error(rw, "no", http.StatusForbidden)
			return true
		}
		return false
	})
	w.s.Lag(0)
	w.until("the pod is heard of", func() bool { return w.has("Pod", "shop", "b") })
	if _, err := w.hold(f, 200*time.Millisecond, "never"); !errors.As(err, &behind) {
		t.Errorf("an apiserver that does not answer: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h := &follow.Holder{Newer: w.m.Newer, Follower: func(string) *follow.Follower { return f }, Atmost: time.Minute}
	err := h.Hold(ctx, "prod", func() *corev1.Pod { return nil }, func(bool) (bool, error) { return true, nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that is gone: %v", err)
	}
}

// TestReadsAreShared: calls that are held at the same time ask the apiserver
// together.
func TestReadsAreShared(t *testing.T) {
	w, f, _ := newFollowed(t, "me", follow.Options{})
	w.until("the cluster was read", func() bool { return f.Status().Synced })
	asked, gate := make(chan struct{}, 100), make(chan struct{})
	w.s.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadataList") && strings.HasSuffix(r.URL.Path, "/nodes") {
			asked <- struct{}{}
			<-gate
		}
		return false
	})
	done := make(chan error, 20)
	current := func() {
		_, err := f.Current(t.Context(), pod("p"))
		done <- err
	}
	go current()
	<-asked
	for range cap(done) - 1 {
		go current()
	}
	time.Sleep(50 * time.Millisecond) // those that are late make a read of their own
	close(gate)
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if n := len(asked); n == 0 || n > 5 {
		t.Errorf("%d more reads for 19 calls at once", n)
	}
}

// TestManyObjects: of a kind with many objects the newest version is read first, since its watch
// usually delivers something.
func TestManyObjects(t *testing.T) {
	w := newWorld(t)
	for i := range 600 {
		w.s.Put(t, "nodes", node("n"+string(rune('a'+i/26))+string(rune('a'+i%26))))
	}
	f, _ := w.follow("me", follow.Options{})
	w.until("the cluster was read", func() bool { return f.Status().Synced })
	whole := 0
	w.s.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadataList") && strings.HasSuffix(r.URL.Path, "/nodes") && r.URL.Query().Get("limit") == "" {
			whole++
		}
		return false
	})
	w.s.Lag(20 * time.Millisecond)
	w.s.Put(t, "nodes", node("late"))
	if _, err := f.Current(t.Context(), nil); err != nil || !w.has("Node", "", "late") || whole != 0 {
		t.Errorf("%v, %d whole lists", err, whole)
	}
	w.s.Put(t, "pods", pod("b")) // now the watch of nodes has nothing to tell
	if _, err := f.Current(t.Context(), nil); err != nil || whole != 1 {
		t.Errorf("%v, %d whole lists", err, whole)
	}
}

// TestNotLeading: a server without the lease gets its answer from the holder, and none if there is
// no holder.
func TestNotLeading(t *testing.T) {
	w := newWorld(t)
	w.s.Put(t, "nodes", node("n1"))
	first, stop := w.follow("first", follow.Options{Confirmations: w.st, Poll: 10 * time.Millisecond})
	w.until("the cluster was read", func() bool { return first.Status().Synced })
	second, _ := w.follow("second", follow.Options{Confirmations: w.st, Poll: 10 * time.Millisecond})
	w.until("the other is heard of", func() bool { return second.Ready(t.Context()) == nil })
	w.s.Lag(100 * time.Millisecond)
	w.s.Put(t, "nodes", node("n2"))
	rev, err := second.Current(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := w.m.View(t.Context(), "prod", rev)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := v.Object(object.Key{Kind: "Node", Name: "n2"}); !ok {
		t.Errorf("revision %d lacks a node that was there before the question", rev)
	}
	w.s.Down(true)
	var behind *revision.BehindError
	if _, err := w.hold(second, 200*time.Millisecond, "never"); !errors.As(err, &behind) {
		t.Errorf("an apiserver that is away: %v", err)
	}
	stop()
}
