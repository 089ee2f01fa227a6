package follow_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth/internal/kube/follow"
	"berth/internal/kube/object"
	"berth/internal/revision"
)

// place puts a pod on a node in the newest revision, as a bind does before it calls the apiserver.
func (w *world) place(name, node string) {
	w.t.Helper()
	_, _, err := w.m.Update(w.t.Context(), "prod", 0, func(v *revision.View) (*revision.Step, error) {
		p, err := v.Pod("shop", name)
		return &revision.Step{Bind: &revision.Bind{Pod: p, Node: node}}, err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// on is the node that the newest revision has a pod on; "gone" if it has none of
// the name.
func (w *world) on(name string) string {
	p := w.newest().State.Pod("shop", name)
	if p == nil {
		return "gone"
	}
	return p.NodeName
}

// silent makes the apiserver answer no question about a single pod, or ends that.
func (w *world) silent(on bool) {
	w.s.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		if !on || r.Method != http.MethodGet || !strings.Contains(r.URL.Path, "/pods/") {
			return false
		}
		http.Error(rw, "not now", http.StatusInternalServerError)
		return true
	})
}

// heard waits until everything that the apiserver has said is in the revisions.
func (w *world) heard() {
	w.t.Helper()
	mark := fmt.Sprint("mark-", time.Now().UnixNano())
	w.s.Put(w.t, "pods", pod(mark)) // pods are told in order
	w.until("later news", func() bool { return w.has("Pod", "shop", mark) })
}

// TestAssumedPod goes through what may become of a pod between its bind and the
// event that tells of it. The watch has said nothing of it yet.
func TestAssumedPod(t *testing.T) {
	again := pod("a")
	again.UID = "uid-again"
	relabelled := pod("a")
	relabelled.Labels = map[string]string{"late": "news"}
	elsewhere := pod("a")
	elsewhere.Spec.NodeName = "n2"
	confirmed := pod("a")
	confirmed.Spec.NodeName = "n1"
	ended := confirmed.DeepCopy()
	ended.Status.Phase = corev1.PodSucceeded
	never := pod("a") // ended before it was bound, as when a quota's keeper fails it
	never.Status.Phase = corev1.PodFailed
	going := pod("a")
	going.DeletionTimestamp = &metav1.Time{Time: time.Unix(2, 0)}
	tests := []struct {
		name string
		told func(w *world)
		node string
		uid  types.UID
	}{
		{"nothing", func(*world) {}, "n1", "uid-a"},
		{"an event from before", func(w *world) { w.s.Put(w.t, "pods", relabelled) }, "n1", "uid-a"},
		{"many events from before", func(w *world) {
			for i := range 30 {
				p := relabelled.DeepCopy()
				p.Labels["n"] = fmt.Sprint(i)
				w.s.Put(w.t, "pods", p)
			}
		}, "n1", "uid-a"},
		{"confirmed", func(w *world) { w.s.Put(w.t, "pods", confirmed) }, "n1", "uid-a"},
		{"confirmed twice", func(w *world) { w.s.Put(w.t, "pods", confirmed); w.s.Put(w.t, "pods", confirmed) }, "n1", "uid-a"},
		{"on another node", func(w *world) { w.s.Put(w.t, "pods", elsewhere) }, "n2", "uid-a"},
		{"ended on its node", func(w *world) { w.s.Put(w.t, "pods", ended) }, "n1", "uid-a"},
		{"ended without a node", func(w *world) { w.s.Put(w.t, "pods", never) }, "n1", "uid-a"},
		{"being deleted", func(w *world) { w.s.Put(w.t, "pods", going) }, "n1", "uid-a"},
		{"deleted", func(w *world) { w.s.Delete("pods", "shop", "a") }, "gone", ""},
		{"made again", func(w *world) { w.s.Delete("pods", "shop", "a"); w.s.Put(w.t, "pods", again) }, "", "uid-again"},
		{"made again unseen", func(w *world) {
			w.s.Down(true)
			w.s.Delete("pods", "shop", "a")
			w.s.Put(w.t, "pods", again)
			w.s.Forget()
			w.s.Down(false)
		}, "", "uid-again"},
		{"a list that does not know of it yet", func(w *world) { w.s.Put(w.t, "pods", relabelled); w.s.Forget() }, "n1", "uid-a"},
		{"its node went", func(w *world) { w.s.Delete("nodes", "", "n1") }, "n1", "uid-a"},
		{"its node went, then an event from before", func(w *world) {
			w.s.Delete("nodes", "", "n1")
			w.until("the node to go", func() bool { return !w.has("Node", "", "n1") })
			w.s.Put(w.t, "pods", relabelled)
		}, "n1", "uid-a"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.s.Put(t, "nodes", node("n1"))
			w.s.Put(t, "nodes", node("n2"))
			w.s.Put(t, "pods", pod("a"))
			w.follow("me", follow.Options{Assumed: time.Hour})
			w.until("the first state", func() bool { return w.has("Pod", "shop", "a") })
			w.place("a", "n1")
			test.told(w)
			w.heard()
			v := w.newest()
			p := v.State.Pod("shop", "a")
			if w.on("a") != test.node || p != nil && p.UID != string(test.uid) {
				t.Errorf("the pod is on %q, want %q: %+v", w.on("a"), test.node, p)
			}
			if p != nil && p.Terminal != strings.HasPrefix(test.name, "ended") {
				t.Errorf("the pod has ended: %t", p.Terminal)
			}
		})
	}
}

// TestCutShort: a server was killed between a bind's record and its call, or
// between the call and its result. The next one finds out which.
func TestCutShort(t *testing.T) {
	for _, reached := range []bool{false, true} {
		t.Run(fmt.Sprintf("reached the apiserver %t", reached), func(t *testing.T) {
			w, _, stop := newFollowed(t, "killed", follow.Options{})
			stop()
			w.place("a", "n1")
			if reached {
				bound := pod("a")
				bound.Spec.NodeName = "n1"
				w.s.Put(t, "pods", bound)
			}
			f, _ := w.follow("next", follow.Options{Assumed: 100 * time.Millisecond})
			w.until("the next life", func() bool { s := f.Status(); return s.Leading && s.Synced })
			want := map[bool]string{false: "", true: "n1"}[reached]
			w.until("the truth", func() bool { return w.on("a") == want && (reached || f.Status().Expired == 1) })
			w.heard()
			if w.on("a") != want {
				t.Errorf("the pod is on %q, want %q", w.on("a"), want)
			}
		})
	}
}

// TestBoundAgain: a bind to the node that a bind to which was refuted is a bind
// of its own.
func TestBoundAgain(t *testing.T) {
	w, _, _ := newFollowed(t, "me", follow.Options{Assumed: 1200 * time.Millisecond}) // doubts come every fifth of a second
	w.place("a", "n1")
	w.until("the apiserver to be asked", func() bool { return w.on("a") == "" })
	w.silent(true) // the second bind is not doubted, however long this takes
	w.place("a", "n1")
	late := pod("a")
	late.Labels = map[string]string{"late": "news"}
	w.s.Put(t, "pods", late)
	w.heard()
	if w.on("a") != "n1" {
		t.Errorf("the pod is on %q: a late event undid its second bind", w.on("a"))
	}
}

// TestOldAnswer: while a pod is read from the apiserver it is bound, and the event of the bind
// comes before the answer. The answer is of the past.
func TestOldAnswer(t *testing.T) {
	w := newWorld(t)
	w.s.Put(t, "nodes", node("n1"))
	w.s.Put(t, "pods", pod("a"))
	f, _ := w.follow("me", follow.Options{Assumed: 100 * time.Millisecond})
	w.until("the first state", func() bool { return w.has("Pod", "shop", "a") && f.Status().Synced })
	answered := make(chan struct{})
	asked := false
	w.s.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/pods/a") || asked {
			return false
		}
		asked = true // one call at a time asks
		before, events := pod("a"), f.Status().Events
		bound := pod("a")
		bound.Spec.NodeName = "n1"
		w.s.Put(t, "pods", bound)
		w.until("the watch to tell", func() bool { return f.Status().Events > events })
		rw.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(rw).Encode(before); err != nil {
			t.Error(err)
		}
		close(answered)
		return true
	})
	w.place("a", "n1")
	<-answered
	w.heard()
	if w.on("a") != "n1" {
		t.Errorf("the pod is on %q: an answer from before the bind undid it", w.on("a"))
	}
}

// TestUnreadableAndGone: an object that cannot be read any more stays as it was,
// as long as it is there.
func TestUnreadableAndGone(t *testing.T) {
	for _, unseen := range []bool{false, true} {
		t.Run(fmt.Sprintf("went unseen %t", unseen), func(t *testing.T) {
			w, _, stop := newFollowed(t, "first", follow.Options{})
			stop()
			bad := pod("a")
			bad.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: -5, ContainerPort: 1}}
			w.s.Put(t, "pods", bad)
			f, _ := w.follow("second", follow.Options{})
			w.until("the second life", func() bool { s := f.Status(); return s.Leading && s.Synced && s.Unreadable == 1 })
			if !w.has("Pod", "shop", "a") {
				t.Fatal("it did not stay as it was")
			}
			if unseen {
				w.s.Down(true)
			}
			w.s.Delete("pods", "shop", "a")
			if unseen {
				w.s.Forget()
				w.s.Down(false)
			}
			w.until("it to go", func() bool { return !w.has("Pod", "shop", "a") && f.Status().Unreadable == 0 })
		})
	}
}

// TestReadableAgain: what comes back as it was is not unreadable any more.
func TestReadableAgain(t *testing.T) {
	w, f, _ := newFollowed(t, "me", follow.Options{})
	bad := pod("a")
	bad.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: -5, ContainerPort: 1}}
	w.s.Put(t, "pods", bad)
	w.until("it cannot be read", func() bool { return f.Status().Unreadable == 1 })
	w.s.Put(t, "pods", pod("a"))
	w.until("it can be read", func() bool { return f.Status().Unreadable == 0 })
	if _, ok := w.newest().Object(object.Key{Kind: "Pod", Namespace: "shop", Name: "a"}); !ok {
		t.Error("it is gone")
	}
}

// TestAssumedPodHasItsZone: a pod that is on its node before the watch tells so
// has the labels that the apiserver copies at the bind, also after an event from
// before the bind.
func TestAssumedPodHasItsZone(t *testing.T) {
	w, _, _ := newFollowed(t, "me", follow.Options{})
	zoned := node("n1")
	zoned.Labels = map[string]string{corev1.LabelTopologyZone: "z1", corev1.LabelTopologyRegion: "r1", "disk": "ssd"}
	w.s.Put(t, "nodes", zoned)
	w.until("the labels", func() bool { // a watch of its own tells of nodes
		raw, _ := w.newest().Object(object.Key{Kind: "Node", Name: "n1"})
		return strings.Contains(string(raw), "ssd")
	})
	w.place("a", "n1")
	before := pod("a")
	before.Labels = map[string]string{"late": "news", corev1.LabelTopologyZone: "mine"}
	for _, told := range []bool{false, true} {
		if told {
			w.s.Put(t, "pods", before)
			w.heard()
		}
		p, err := w.newest().Pod("shop", "a")
		if err != nil {
			t.Fatal(err)
		}
		if p.Spec.NodeName != "n1" || p.Labels[corev1.LabelTopologyZone] != "z1" || p.Labels[corev1.LabelTopologyRegion] != "r1" || p.Labels["disk"] != "" || (p.Labels["late"] == "news") != told {
			t.Errorf("told %v: on %q with labels %v", told, p.Spec.NodeName, p.Labels)
		}
	}
}
