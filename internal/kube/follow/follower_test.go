package follow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"berth/internal/kube/follow"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/store"
	"berth/internal/store/groupcommit"
	"berth/internal/store/sqlite"
	"berth/test/kubetest"
)

// world is an apiserver, a store, and what of berth stands between them.
type world struct {
	t  *testing.T
	s  *kubetest.Server
	st store.Store
	m  *revision.Manager
}

func newWorld(t *testing.T) *world {
	t.Helper()
	st, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := groupcommit.NewGroup(st, groupcommit.Options{Queue: 64})
	m, err := revision.Open(t.Context(), st, g, revision.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if err := g.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return &world{t, kubetest.New(t), st, m}
}

// follow makes a follower that works until stop is called.
func (w *world) follow(owner string, o follow.Options) (f *follow.Follower, stop func()) {
	o.Cluster, o.Config, o.Owner = "prod", w.s.Config(), owner
	if o.Leads == nil {
		o.Leads = w.st
	}
	if o.Clusters == nil {
		o.Clusters = w.m
	}
	o.Log = slog.New(slog.NewTextHandler(w.t.Output(), nil))
	if o.Window == 0 {
		o.Window = time.Millisecond
	}
	if o.Lease == 0 {
		o.Lease = 3 * time.Second // a machine that is slow loses shorter ones
	}
	f = follow.New(o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.Run(ctx)
	}()
	end := func() {
		cancel()
		<-done
	}
	w.t.Cleanup(end)
	return f, end
}

// newFollowed is a world with a node n1 and a pod a, of which a follower has told.
func newFollowed(t *testing.T, owner string, o follow.Options) (w *world, f *follow.Follower, stop func()) {
	t.Helper()
	w = newWorld(t)
	w.s.Put(t, "nodes", node("n1"))
	w.s.Put(t, "pods", pod("a"))
	f, stop = w.follow(owner, o)
	w.until("the first state", func() bool { return w.has("Pod", "shop", "a") })
	return w, f, stop
}

// until waits for a condition, for as long as the test may take.
func (w *world) until(what string, ok func() bool) {
	w.t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for !ok() {
		if time.Now().After(deadline) {
			w.t.Fatalf("never came: %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func (w *world) newest() *revision.View {
	v, err := w.m.View(w.t.Context(), "prod", 0)
	if err != nil {
		return nil
	}
	return v
}

func (w *world) has(kind, ns, name string) bool {
	v := w.newest()
	if v == nil {
		return false
	}
	_, ok := v.Object(object.Key{Kind: kind, Namespace: ns, Name: name})
	return ok
}

func node(name string) *corev1.Node {
	return &corev1.Node{
		TypeMeta: metav1.TypeMeta{Kind: "Node", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("node-" + name)},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name)},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
}

func TestFollow(t *testing.T) {
	w := newWorld(t)
	w.s.Put(t, "nodes", node("n1"))
	w.s.Put(t, "pods", pod("a"))
	f, _ := w.follow("me", follow.Options{})
	w.until("the first state", func() bool { return w.has("Pod", "shop", "a") && w.has("Node", "", "n1") })
	w.until("readiness", func() bool { return f.Ready(t.Context()) == nil })
	if v := w.newest(); v.Revision != 1 {
		t.Errorf("the first list made %d revisions, want 1", v.Revision)
	}
	w.s.Put(t, "pods", pod("b"))
	w.until("a pod that came", func() bool { return w.has("Pod", "shop", "b") })
	w.s.Delete("pods", "shop", "a")
	w.until("a pod that went", func() bool { return !w.has("Pod", "shop", "a") })
	if s := f.Status(); !s.Leading || !s.Synced || s.Revisions != w.newest().Revision || s.Problem != "" {
		t.Errorf("status %+v at %s", s, w.newest().ID())
	}
}

// TestHeartbeatsMakeNoRevision: what decisions do not read changes nothing.
func TestHeartbeatsMakeNoRevision(t *testing.T) {
	w := newWorld(t)
	n, since := node("n1"), metav1.NewTime(time.Unix(1, 0))
	n.Status.Conditions[0].LastTransitionTime = since // kept, but no heartbeat changes it
	n.Spec.Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoExecute, TimeAdded: &since}}
	w.s.Put(t, "nodes", n)
	f, _ := w.follow("me", follow.Options{})
	w.until("the first state", func() bool { return w.has("Node", "", "n1") })
	for i := range 50 {
		n.Status.Conditions[0].LastHeartbeatTime = metav1.NewTime(time.Unix(int64(i), 0))
		n.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: fmt.Sprint("kubelet", i)}}
		w.s.Put(t, "nodes", n)
	}
	w.until("the heartbeats", func() bool { return f.Status().Noise >= 50 })
	n.Labels = map[string]string{"zone": "a"}
	w.s.Put(t, "nodes", n)
	w.until("a label", func() bool { return f.Status().Revisions == 2 })
	if v := w.newest(); v.Revision != 2 {
		t.Errorf("50 heartbeats and a label made %d revisions, want 2 with the first", v.Revision)
	}
}

// TestBrokenWatch: after a watch that cannot resume, the list makes one change of what differs,
// deletions that no event told of included.
func TestBrokenWatch(t *testing.T) {
	w := newWorld(t)
	for i := range 20 {
		w.s.Put(t, "pods", pod(fmt.Sprint("p", i)))
	}
	w.s.Put(t, "nodes", node("n1"))
	f, _ := w.follow("me", follow.Options{})
	w.until("the first state", func() bool { return w.has("Pod", "shop", "p19") })
	w.s.Down(true)
	w.until("staleness", func() bool { return f.Status().Stale > 50*time.Millisecond })
	for i := range 10 {
		w.s.Delete("pods", "shop", fmt.Sprint("p", i))
	}
	w.s.Put(t, "pods", pod("new"))
	w.s.Forget()
	w.s.Down(false)
	w.until("the new pod", func() bool { return w.has("Pod", "shop", "new") })
	v := w.newest()
	if n := v.State.PodCount(); n != 11 || v.Revision != 2 {
		t.Errorf("%d pods at revision %d, want 11 at 2", n, v.Revision)
	}
	w.until("freshness", func() bool { return f.Status().Stale < 50*time.Millisecond && f.Status().Problem == "" })
}

// TestRestart: a server that comes again makes one change of what differs from
// the newest revision, and none where nothing does.
func TestRestart(t *testing.T) {
	w, _, stop := newFollowed(t, "me", follow.Options{})
	stop()
	f, stop := w.follow("again", follow.Options{})
	w.until("the second life", func() bool { return f.Status().Synced && f.Status().Leading })
	if v := w.newest(); v.Revision != 1 {
		t.Errorf("a restart made revision %d", v.Revision)
	}
	stop()
	w.s.Delete("pods", "shop", "a")
	w.s.Put(t, "pods", pod("b"))
	f, _ = w.follow("third", follow.Options{})
	w.until("the third life", func() bool { return f.Status().Synced && f.Status().Leading })
	if v := w.newest(); v.Revision != 2 || w.has("Pod", "shop", "a") || !w.has("Pod", "shop", "b") {
		t.Errorf("revision %d, pod a %t, pod b %t", v.Revision, w.has("Pod", "shop", "a"), w.has("Pod", "shop", "b"))
	}
}

// TestOneFollows: of two servers one reads the cluster; the other takes over
// when it ends, and knows meanwhile how fresh it is.
func TestOneFollows(t *testing.T) {
	w := newWorld(t)
	w.s.Put(t, "nodes", node("n1"))
	first, stop := w.follow("first", follow.Options{})
	w.until("the first", func() bool { return first.Status().Synced })
	second, _ := w.follow("second", follow.Options{})
	w.until("the second hears of it", func() bool { return second.Ready(t.Context()) == nil })
	if s := second.Status(); s.Leading || s.Leader != "first" || w.s.Lists("nodes") != 1 {
		t.Errorf("status %+v, nodes were listed %d times", s, w.s.Lists("nodes"))
	}
	stop()
	w.s.Put(t, "pods", pod("a"))
	w.until("the second takes over", func() bool { return second.Status().Leading && w.has("Pod", "shop", "a") })
}

// TestAssumedBind: a pod that was bound stays on its node though the watch lags,
// and a bind that never reached the apiserver is undone.
func TestAssumedBind(t *testing.T) {
	w, f, _ := newFollowed(t, "me", follow.Options{Assumed: 300 * time.Millisecond})
	on := func() string { return w.newest().State.Pod("shop", "a").NodeName }
	bind := func() {
		t.Helper()
		_, _, err := w.m.Update(t.Context(), "prod", 0, func(v *revision.View) (*revision.Step, error) {
			p, err := v.Pod("shop", "a")
			return &revision.Step{Bind: &revision.Bind{Pod: p, Node: "n1"}}, err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	w.silent(true) // whatever time it takes, nothing is doubted yet
	bind()
	relabelled := pod("a")
	relabelled.Labels = map[string]string{"late": "news"}
	w.s.Put(t, "pods", relabelled)
	labelled := func() bool {
		v := w.newest()
		p, err := v.Pod("shop", "a")
		return err == nil && p.Labels["late"] == "news"
	}
	w.until("an event from before the bind", labelled)
	if on() != "n1" {
		t.Fatalf("the pod is on %q: a late event undid its bind", on())
	}
	w.silent(false)
	w.until("the apiserver to be asked", func() bool { return on() == "" })
	if n := f.Status().Expired; n != 1 {
		t.Errorf("%d binds expired, want 1", n)
	}
	w.silent(true)
	bind()
	bound := relabelled.DeepCopy()
	bound.Spec.NodeName = "n1"
	w.s.Put(t, "pods", bound)
	before := f.Status().Expired
	w.s.Put(t, "pods", pod("other"))
	w.until("later news", func() bool { return w.has("Pod", "shop", "other") })
	if on() != "n1" || f.Status().Expired != before {
		t.Errorf("the pod is on %q after the bind was confirmed", on())
	}
}

// TestUnreadableObjects: one that berth cannot take costs the others nothing.
func TestUnreadableObjects(t *testing.T) {
	w := newWorld(t)
	w.s.Put(t, "nodes", node("n1"))
	bad := pod("bad")
	bad.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: -5, ContainerPort: 1}}
	w.s.Put(t, "pods", bad)
	w.s.Put(t, "pods", pod("good"))
	f, _ := w.follow("me", follow.Options{})
	w.until("the good one", func() bool { return w.has("Pod", "shop", "good") })
	if n := f.Status().Unreadable; n != 1 || w.has("Pod", "shop", "bad") {
		t.Errorf("%d unreadable objects, want 1", n)
	}
}

// TestKindsOfLaterReleases: they are followed where they are served. A group that
// is served without them, or a role from before them, holds nothing up.
func TestKindsOfLaterReleases(t *testing.T) {
	w := newWorld(t)
	w.s.Put(t, "nodes", node("n1"))
	w.s.Put(t, "podgroups", &schedulingv1beta1.PodGroup{
		TypeMeta: metav1.TypeMeta{Kind: "PodGroup", APIVersion: "scheduling.k8s.io/v1beta1"}, ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "g", UID: "u"},
		Spec: schedulingv1beta1.PodGroupSpec{SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: 2}}},
	})
	w.s.Put(t, "limitranges", &corev1.LimitRange{
		TypeMeta: metav1.TypeMeta{Kind: "LimitRange", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "l", UID: "u"},
	})
	w.s.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		base := path.Base(r.URL.Path)
		if base == "workloads" || base == "jobs" || base == "devicetaintrules" {
			http.Error(rw, "Forbidden", http.StatusForbidden)
			return true
		}
		if r.URL.Path != "/apis/resource.k8s.io/v1" {
			return false
		}
		list := metav1.APIResourceList{}
		for _, name := range []string{"resourceclaims", "resourceclaimtemplates", "resourceslices", "deviceclasses"} {
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: name})
		}
		if err := json.NewEncoder(rw).Encode(list); err != nil {
			t.Error(err)
		}
		return true
	})
	f, _ := w.follow("me", follow.Options{})
	w.until("the group", func() bool { return w.has("PodGroup", "shop", "g") })
	w.until("the limits", func() bool { return w.has("LimitRange", "shop", "l") })
	w.until("readiness", func() bool { return f.Ready(t.Context()) == nil })
}

// TestOlderVersions: a kind is followed in the newest version that the cluster serves. Those that
// the newest types do not have are read all the same.
func TestOlderVersions(t *testing.T) {
	w := newWorld(t)
	w.s.Put(t, "nodes", node("n1"))
	w.s.Put(t, "podgroups", &unstructured.Unstructured{Object: map[string]any{
		"kind": "PodGroup", "apiVersion": "scheduling.k8s.io/v1alpha2",
		"metadata": map[string]any{"namespace": "shop", "name": "g", "uid": "u"},
		"spec": map[string]any{
			"disruptionMode": "PodGroup", "schedulingPolicy": map[string]any{"gang": map[string]any{"minCount": int64(2)}},
		},
	}})
	w.s.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "scheduling.k8s.io/v1beta1") {
			return false
		}
		http.Error(rw, "not served", http.StatusNotFound)
		return true
	})
	w.follow("me", follow.Options{})
	w.until("the group", func() bool { return w.has("PodGroup", "shop", "g") })
	got, _ := w.newest().Object(object.Key{Kind: "PodGroup", Namespace: "shop", Name: "g"})
	if !strings.Contains(string(got), `"disruptionMode":"PodGroup"`) || !strings.Contains(string(got), "v1alpha2") {
		t.Errorf("%s", got)
	}
}
