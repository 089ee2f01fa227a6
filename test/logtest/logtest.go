// Package logtest opens decision logs and binders over a store of their own, for
// the tests of both.
package logtest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/decision/bind"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/store"
	"berth/internal/store/groupcommit"
	"berth/internal/store/sqlite"
)

// Fixture is a log and a binder over one manager. After a change of the options
// Rebuild makes both anew.
type Fixture struct {
	*record.Log
	Binder *bind.Binder

	Manager     *revision.Manager
	Store       store.Store
	Profiles    []*engine.Profile
	LogOptions  record.Options
	BindOptions bind.Options
	// Unguarded lets pods be bound through an apiserver without a decision on record.
	Unguarded bool
	// End closes the manager and what is below it.
	End func()
}

// New makes a fixture over a manager and its store.
func New(m *revision.Manager, st store.Store, profiles []*engine.Profile, o record.Options) *Fixture {
	f := &Fixture{Manager: m, Store: st, Profiles: profiles, LogOptions: o}
	f.Rebuild()
	return f
}

// Rebuild makes the log and the binder anew, as after a restart.
func (f *Fixture) Rebuild() {
	guarded := func(cluster string) bool {
		return !f.Unguarded && f.BindOptions.APIServer != nil && f.BindOptions.APIServer(cluster) != nil
	}
	f.LogOptions.Guarded, f.BindOptions.Guarded = guarded, guarded
	f.Log = record.New(f.Manager, f.Store, &decision.Configuration{Profiles: f.Profiles}, f.LogOptions)
	f.Binder = bind.New(f.Manager, f.Log, f.BindOptions)
}

// Another is another server over the same manager and a store.
func (f *Fixture) Another(st store.Store) *Fixture {
	other := *f
	other.Store = st
	other.Rebuild()
	return &other
}

// Decide answers a question, as the API does.
func (f *Fixture) Decide(ctx context.Context, q decision.Question) (*decision.Answer, error) {
	if q.Bind {
		return f.Binder.Decide(ctx, q)
	}
	return f.Log.Decide(ctx, q)
}

// Record puts a question to a log as the extender's calls do: use reads the result, and the record
// is durable then.
func Record(ctx context.Context, l interface {
	Evaluate(ctx context.Context, q decision.Question) (*record.Entry, error)
	Write(ctx context.Context, e *record.Entry) (spooled bool, err error)
}, q decision.Question, use func(*revision.View, *engine.Result) error,
) (id string, err error) {
	e, err := l.Evaluate(ctx, q)
	if err != nil {
		return "", err
	}
	if err := use(e.View, e.Result); err != nil {
		e.Release()
		return "", err
	}
	_, err = l.Write(ctx, e)
	return e.Record.ID, err
}

// Bind binds a pod.
func (f *Fixture) Bind(ctx context.Context, cluster, namespace, name, uid, node string) (bind.Bound, error) {
	return f.Binder.Bind(ctx, cluster, decision.PodRef{Namespace: namespace, Name: name, UID: uid}, node)
}

// Profile returns upstream's default profile with a change.
func Profile(t testing.TB, change func(*rules.Spec)) *engine.Profile {
	t.Helper()
	s := rules.DefaultSpec()
	if change != nil {
		change(&s)
	}
	p, err := rules.Build(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Packed returns a profile of that name that fills nodes up.
func Packed(t testing.TB) *engine.Profile {
	return Profile(t, func(s *rules.Spec) {
		s.SchedulerName = "packed"
		s.Args.NodeResourcesFit.Strategy = rules.MostAllocated
	})
}

// Open opens a fixture over an embedded store.
func Open(t testing.TB, dir string) *Fixture {
	t.Helper()
	st, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := groupcommit.NewGroup(st, groupcommit.Options{CallersWrite: true})
	m, err := revision.Open(t.Context(), st, g, revision.Options{ProfileOf: (&decision.Configuration{Profiles: []*engine.Profile{Profile(t, nil)}}).Named})
	if err != nil {
		t.Fatal(err)
	}
	f := New(m, st, []*engine.Profile{Profile(t, nil), Packed(t)}, record.Options{})
	f.End = func() {
		_ = m.Close()
		_ = g.Close(context.Background())
		_ = st.Close()
	}
	t.Cleanup(f.End)
	return f
}

// Object decodes an object.
func Object(t testing.TB, js string) object.Object {
	t.Helper()
	o, err := object.Decode([]byte(js), object.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Node is a node with so many CPUs.
func Node(t testing.TB, name string, cpu int) object.Object {
	return Object(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":%q,"labels":{"kubernetes.io/hostname":%q,"topology.kubernetes.io/zone":"z%d"}},
		"status":{"allocatable":{"cpu":"%d","memory":"64Gi","pods":"110"}}}`, name, name, int(name[len(name)-1])%3, cpu))
}

// Pod is a pod of namespace d that takes one CPU, with more in its spec.
func Pod(t testing.TB, name, spec string) *corev1.Pod {
	return Object(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"d","uid":"uid-%s","labels":{"app":"web"}},
		"spec":{%s"containers":[{"name":"c","resources":{"requests":{"cpu":"1","memory":"1Gi"}}}]}}`, name, name, spec)).Value.(*corev1.Pod)
}

// PortPod is a pod that claims a host port, which a node has once.
func PortPod(t testing.TB, name string) object.Object {
	return Object(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"d","uid":"uid-%s"},
		"spec":{"priority":0,"containers":[{"name":"c","image":"i","ports":[{"containerPort":80,"hostPort":8080}]}]}}`, name, name))
}

// PodKey is the key of a pod.
func PodKey(namespace, name string) object.Key {
	return object.Key{Kind: "Pod", Namespace: namespace, Name: name}
}

// Held is a pod as a snapshot has it.
func Held(t testing.TB, p *corev1.Pod) object.Object {
	js, err := object.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	return object.Object{Key: PodKey(p.Namespace, p.Name), Value: p, JSON: js}
}

// Nominated is a pod that is nominated to a node.
func Nominated(t testing.TB, name string, priority int, to string) *corev1.Pod {
	p := Pod(t, name, fmt.Sprintf(`"priority":%d,`, priority))
	p.Status.NominatedNodeName = to
	return p
}

// StoredPod is a pod of the newest revision of cluster default, and the revision.
func StoredPod(t testing.TB, f *Fixture, name string) (*corev1.Pod, int64) {
	t.Helper()
	v, err := f.Manager.View(t.Context(), "default", 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := v.Pod("d", name)
	if err != nil {
		t.Fatal(err)
	}
	return p, v.Revision
}

// Upload uploads objects to cluster default.
func Upload(t testing.TB, f *Fixture, list ...object.Object) *revision.View {
	t.Helper()
	v, _, err := f.Manager.Upload(t.Context(), "default", func(yield func(object.Object) error) (map[string]int, error) {
		for _, o := range list {
			if err := yield(o); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Sample is a small cluster.
func Sample(t testing.TB) []object.Object {
	return []object.Object{
		Node(t, "n1", 4), Node(t, "n2", 8), Node(t, "n3", 2),
		Held(t, Pod(t, "bound", `"nodeName":"n1",`)), Held(t, Pod(t, "free", "")), Held(t, Pod(t, "gated", `"schedulingGates":[{"name":"g"}],`)),
		Object(t, `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},"value":1000}`),
		Object(t, `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"usual"},"value":7,"globalDefault":true}`),
	}
}

// Text is a value as JSON.
func Text(t testing.TB, v any) string {
	t.Helper()
	js, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(js)
}

// Decide answers a question that has an answer.
func Decide(t testing.TB, f *Fixture, q decision.Question) *decision.Answer {
	t.Helper()
	a, err := f.Decide(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Thousands uploads 5,000 nodes with a pod each, and returns the nodes' names.
func Thousands(t testing.TB, f *Fixture) (*revision.View, []string) {
	list := make([]object.Object, 0, 10_000)
	names := make([]string, 0, 5000)
	for i := range 5000 {
		names = append(names, fmt.Sprintf("node-%05d", i))
		list = append(list, Node(t, names[i], 4+i%8))
	}
	for i := range 5000 {
		list = append(list, Held(t, Pod(t, fmt.Sprintf("pod-%05d", i), fmt.Sprintf(`"nodeName":"node-%05d",`, i))))
	}
	return Upload(t, f, list...), names
}

// APIServer binds as it is told to.
type APIServer struct {
	Refusal string
	Err     error
	Calls   []string
	During  func() // while it is called
}

// Bind implements bind.APIServer.
func (s *APIServer) Bind(_ context.Context, ns, name, uid, node string) (string, error) {
	s.Calls = append(s.Calls, fmt.Sprintf("%s/%s %s %s", ns, name, uid, node))
	if s.During != nil {
		s.During()
	}
	return s.Refusal, s.Err
}

// Through opens a fixture that binds through an apiserver, evaluates at bind and needs no
// decision on record.
func Through(t testing.TB, s *APIServer) *Fixture {
	t.Helper()
	f := Open(t, t.TempDir())
	f.BindOptions.APIServer = func(string) bind.APIServer { return s }
	f.BindOptions.Checked = &decision.Configuration{Profiles: f.Profiles}
	f.Unguarded = true
	f.LogOptions.Stale = func(string) (time.Duration, bool) { return 70 * time.Millisecond, true }
	f.Rebuild()
	Upload(t, f, Sample(t)...)
	return f
}
