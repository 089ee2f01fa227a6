package kube

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"berth/internal/objects"
)

// mirror is what the watches have told: which objects there are, and the changes
// that are not written yet, the last one of each object.
type mirror struct {
	log  *slog.Logger
	now  func() time.Time
	wake chan struct{} // holds a token while something is pending

	mu      sync.Mutex
	kinds   map[string]*kindMirror
	pending map[objects.Key]event
	since   time.Time // of the oldest pending change
	writing time.Time // of the oldest change that is being written
	events  int64
	noise   int64
	taken   int64         // events when pending was last taken
	stored  int64         // events that are in a revision, or changed nothing there
	moved   chan struct{} // closed when any of this changes; nil: nobody waits
}

// event is the last that was heard of an object.
type event struct {
	object objects.Object // Value nil: it is gone
	heard  time.Time
}

func (e *event) gone() bool { return e.object.Value == nil }

// kindMirror is one kind's part. Sums are over the canonical form, so that
// heartbeats and managed fields are heard and change nothing.
type kindMirror struct {
	synced     bool
	have       map[objects.Key]digest
	unreadable map[objects.Key]string
	pending    map[objects.Key]objects.Object // pods without a node, as last heard
	versions   map[objects.Key]string         // of all objects, resource versions as last heard
	at         string                         // resource version up to which everything was heard
	replaced   func()                         // is told of each whole list
}

type digest [16]byte

func digestOf(js []byte) digest {
	sum := sha256.Sum256(js)
	return digest(sum[:16])
}

func newMirror(log *slog.Logger, now func() time.Time) *mirror {
	return &mirror{log: log, now: now, wake: make(chan struct{}, 1), kinds: map[string]*kindMirror{}, pending: map[objects.Key]event{}}
}

// store gives the place where a kind's reflector puts what it hears.
// replaced is told of each whole list that was put there.
func (m *mirror) store(k Kind, replaced func()) cache.ReflectorStore {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kinds[k.Kind] = &kindMirror{have: map[objects.Key]digest{}, unreadable: map[objects.Key]string{}, pending: map[objects.Key]objects.Object{}, versions: map[objects.Key]string{}, replaced: replaced}
	return &kindStore{m: m, kind: k}
}

// absent says that a cluster does not serve a kind.
func (m *mirror) absent(k Kind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kinds[k.Kind] = &kindMirror{synced: true}
}

// synced says that every kind was listed once.
func (m *mirror) synced() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.kinds {
		if !k.synced {
			return false
		}
	}
	return len(m.kinds) > 0
}

// waiting lists the kinds that were not listed yet.
func (m *mirror) waiting() (kinds []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, k := range m.kinds {
		if !k.synced {
			kinds = append(kinds, name)
		}
	}
	return kinds
}

// has says whether the cluster has an object, as far as was heard.
func (m *mirror) has(k objects.Key) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	kind := m.kinds[k.Kind]
	if kind == nil {
		return false
	}
	_, have := kind.have[k]
	_, unreadable := kind.unreadable[k]
	return have || unreadable
}

// follows says whether a kind is watched.
func (m *mirror) follows(kind string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kinds[kind] != nil
}

// take gives what is pending, which then is the caller's to write or give back,
// and when the oldest of it was heard.
func (m *mirror) take() (map[objects.Key]event, time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out, since := m.pending, m.since
	m.pending, m.since, m.writing, m.taken = map[objects.Key]event{}, time.Time{}, since, m.events
	return out, since
}

// written says that what was taken is in a revision.
func (m *mirror) written() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writing, m.stored = time.Time{}, m.taken
	m.announce()
}

// giveBack makes changes pending again that could not be written, those of which
// something newer was heard excepted.
func (m *mirror) giveBack(list map[objects.Key]event, since time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, e := range list {
		if _, newer := m.pending[k]; !newer {
			m.pending[k] = e
		}
	}
	if len(list) > 0 && (m.since.IsZero() || since.Before(m.since)) {
		m.since = since
	}
	m.writing = time.Time{}
	m.signal()
}

// oldest is when the oldest change was heard that is not written yet; zero
// without any.
func (m *mirror) oldest() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.writing.IsZero() { // taken before anything that is pending now was heard
		return m.writing
	}
	return m.since
}

// unbound lists the pods that have no node as far as was heard.
func (m *mirror) unbound() map[objects.Key]types.UID {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[objects.Key]types.UID{}
	if kind := m.kinds["Pod"]; kind != nil {
		for k, o := range kind.pending {
			out[k] = o.Value.(*corev1.Pod).UID
		}
	}
	return out
}

// again makes a pod pending as it was last heard, unless it has a node by now or
// is another: what the watch tells is in order, and nothing may get between.
func (m *mirror) again(k objects.Key, uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	kind := m.kinds["Pod"]
	if kind == nil {
		return
	}
	if o, ok := kind.pending[k]; ok && o.Value.(*corev1.Pod).UID == uid {
		m.change(k, event{object: o})
	}
}

// left counts the objects that could not be taken.
func (m *mirror) left() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.kinds {
		n += len(k.unreadable)
	}
	return n
}

func (m *mirror) count(n *int64) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return *n
}

func (m *mirror) signal() {
	if len(m.pending) > 0 {
		m.rouse()
	}
}

// rouse wakes who writes, whether or not anything is pending.
func (m *mirror) rouse() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// put files an object that was added or changed. The lock is held.
func (m *mirror) put(kind *kindMirror, o objects.Object) {
	sum := digestOf(o.JSON)
	delete(kind.unreadable, o.Key)
	if have, ok := kind.have[o.Key]; ok && have == sum {
		m.noise++
		return
	}
	kind.have[o.Key] = sum
	if pod, ok := o.Value.(*corev1.Pod); ok {
		if delete(kind.pending, o.Key); pod.Spec.NodeName == "" {
			kind.pending[o.Key] = o
		}
	}
	m.change(o.Key, event{object: o})
}

// remove files that an object is gone, one that could not be read too: a revision
// may have it from before. The lock is held.
func (m *mirror) remove(kind *kindMirror, k objects.Key) {
	_, had := kind.have[k]
	_, could := kind.unreadable[k]
	if !had && !could {
		return
	}
	delete(kind.unreadable, k)
	delete(kind.have, k)
	delete(kind.pending, k)
	m.change(k, event{object: objects.Object{Key: k}})
}

func (m *mirror) change(k objects.Key, e event) {
	e.heard = m.now()
	m.events++
	m.pending[k] = e
	if m.since.IsZero() {
		m.since = e.heard
	}
	m.signal()
}

// kindStore is a reflector's view of the mirror.
type kindStore struct {
	m    *mirror
	kind Kind
}

var _ cache.ReflectorStore = (*kindStore)(nil)

// Add implements cache.ReflectorStore.
func (s *kindStore) Add(obj any) error { return s.Update(obj) }

// Update implements cache.ReflectorStore. An object that berth cannot take is
// left as it was, counted and logged: the others are followed all the same.
func (s *kindStore) Update(obj any) error {
	key, o, err := s.read(obj)
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	s.m.kinds[s.kind.Kind].versions[key] = versionOf(obj)
	if err != nil {
		s.m.cannotRead(s.m.kinds[s.kind.Kind], key, err)
		return nil
	}
	s.m.put(s.m.kinds[s.kind.Kind], o)
	return nil
}

// Delete implements cache.ReflectorStore.
func (s *kindStore) Delete(obj any) error {
	key, err := s.key(obj)
	if err != nil {
		return err
	}
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	s.m.remove(s.m.kinds[s.kind.Kind], key)
	delete(s.m.kinds[s.kind.Kind].versions, key)
	return nil
}

// Replace implements cache.ReflectorStore: after a watch that broke, only what
// really changed becomes pending.
func (s *kindStore) Replace(list []any, version string) error {
	type read struct {
		key objects.Key
		o   objects.Object
		err error
	}
	all := make([]read, 0, len(list))
	for _, obj := range list {
		key, o, err := s.read(obj)
		all = append(all, read{key, o, err})
	}
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	kind := s.m.kinds[s.kind.Kind]
	there := make(map[objects.Key]string, len(all))
	for i, r := range all {
		there[r.key] = versionOf(list[i])
		if r.err != nil {
			s.m.cannotRead(kind, r.key, r.err)
			continue
		}
		s.m.put(kind, r.o)
	}
	for k := range kind.have {
		if _, ok := there[k]; !ok {
			s.m.remove(kind, k)
		}
	}
	for k := range kind.unreadable {
		if _, ok := there[k]; !ok {
			s.m.remove(kind, k)
		}
	}
	kind.versions, kind.at = there, version
	s.m.announce()
	kind.replaced()
	if !kind.synced {
		kind.synced = true
		s.m.rouse()
	}
	return nil
}

// Resync implements cache.ReflectorStore.
func (s *kindStore) Resync() error { return nil }

// cannotRead notes an object that berth cannot take. The lock is held.
func (m *mirror) cannotRead(kind *kindMirror, k objects.Key, err error) {
	if kind.unreadable[k] == err.Error() {
		return
	}
	kind.unreadable[k] = err.Error()
	m.log.Warn("an object cannot be followed and stays as it was", slog.String("object", k.Kind+" "+k.Namespace+"/"+k.Name), slog.Any("error", err))
}

func (s *kindStore) key(obj any) (objects.Key, error) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		ns, name, err := cache.SplitMetaNamespaceKey(gone.Key)
		return objects.Key{Kind: s.kind.Kind, Namespace: ns, Name: name}, err
	}
	o, err := meta.Accessor(obj)
	if err != nil {
		return objects.Key{}, fmt.Errorf("a %T among the %s: %w", obj, s.kind.Resource, err)
	}
	return objects.Key{Kind: s.kind.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}, nil
}

// read brings an object into the form that decisions read.
func (s *kindStore) read(obj any) (objects.Key, objects.Object, error) {
	key, err := s.key(obj)
	if err != nil {
		return key, objects.Object{}, err
	}
	typed, ok := obj.(runtime.Object)
	if !ok {
		return key, objects.Object{}, fmt.Errorf("a %T among the %s", obj, s.kind.Resource)
	}
	typed.GetObjectKind().SetGroupVersionKind(s.kind.Group.WithKind(s.kind.Kind))
	if o, ok := obj.(metav1.Object); ok {
		o.SetManagedFields(nil) // half of many an object, and dropped anyway
	}
	js, err := json.Marshal(typed)
	if err != nil {
		return key, objects.Object{}, err
	}
	o, err := objects.Decode(js, objects.Limits{})
	return key, o, err
}
