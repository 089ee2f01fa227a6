package follow

import (
	"crypto/sha256"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"berth/internal/kube/object"
)

// watchCache is what the watches delivered: which objects exist, and the last change of each object
// that is not written yet.
type watchCache struct {
	log  *slog.Logger
	now  func() time.Time
	wake chan struct{} // holds a token while something is pending

	mu      sync.Mutex
	kinds   map[string]*kindCache
	pending map[object.Key]event
	since   time.Time // of the oldest pending change
	writing time.Time // of the oldest change that is being written
	events  int64
	noise   int64
	taken   int64         // events when pending was last taken
	stored  int64         // events that are in a revision, or changed nothing there
	moved   chan struct{} // closed when any of this changes; nil: no goroutine waits
}

// event is the last event of an object.
type event struct {
	object object.Object // Value nil: deleted
	heard  time.Time
}

func (e *event) gone() bool { return e.object.Value == nil }

// kindCache is the cache of one kind. Digests are over the canonical form, so that heartbeats and
// managed fields change nothing.
type kindCache struct {
	synced     bool
	have       map[object.Key]digest
	unreadable map[object.Key]string
	pending    map[object.Key]object.Object // pods without a node, as last delivered
	versions   map[object.Key]string        // resource versions of all objects, as last delivered
	at         string                       // resource version up to which everything was delivered
	replaced   func()                       // called for each whole list
}

type digest [16]byte

func digestOf(js []byte) digest {
	sum := sha256.Sum256(js)
	return digest(sum[:16])
}

func newWatchCache(log *slog.Logger, now func() time.Time) *watchCache {
	return &watchCache{log: log, now: now, wake: make(chan struct{}, 1), kinds: map[string]*kindCache{}, pending: map[object.Key]event{}}
}

// store returns the store of a kind's reflector. replaced is called for each whole list.
func (m *watchCache) store(k Kind, replaced func()) cache.ReflectorStore {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kinds[k.Kind] = &kindCache{have: map[object.Key]digest{}, unreadable: map[object.Key]string{}, pending: map[object.Key]object.Object{}, versions: map[object.Key]string{}, replaced: replaced}
	s := &kindStore{m: m, kind: k}
	if k.Kind == "Pod" {
		s.pods = object.NewRequestPods(object.Limits{}, false)
	}
	return s
}

// absent records that the cluster does not serve a kind.
func (m *watchCache) absent(k Kind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kinds[k.Kind] = &kindCache{synced: true}
}

// synced reports whether every kind was listed once.
func (m *watchCache) synced() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.kinds {
		if !k.synced {
			return false
		}
	}
	return len(m.kinds) > 0
}

// waiting returns the kinds that were not listed yet.
func (m *watchCache) waiting() (kinds []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, k := range m.kinds {
		if !k.synced {
			kinds = append(kinds, name)
		}
	}
	return kinds
}

// has reports whether an object exists, by the events delivered so far.
func (m *watchCache) has(k object.Key) bool {
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

// follows reports whether a kind is watched.
func (m *watchCache) follows(kind string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kinds[kind] != nil
}

// take returns the pending changes, for the caller to write or to give back, and when the oldest of
// them was delivered. Nothing is pending then: a token for what was delivered since the writer woke
// up would wake it for nothing.
func (m *watchCache) take() (map[object.Key]event, time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-m.wake:
	default:
	}
	out, since := m.pending, m.since
	m.pending, m.since, m.writing, m.taken = map[object.Key]event{}, time.Time{}, since, m.events
	return out, since
}

// written records that what was taken is in a revision.
func (m *watchCache) written() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writing, m.stored = time.Time{}, m.taken
	m.announce()
}

// giveBack makes changes pending again that could not be written, except where a newer event of the
// object came.
func (m *watchCache) giveBack(list map[object.Key]event, since time.Time) {
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

// oldest returns when the oldest change that is not written was delivered: the zero time without
// any.
func (m *watchCache) oldest() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.writing.IsZero() { // older than whatever is pending
		return m.writing
	}
	return m.since
}

// unbound returns the pods without a node, by the events delivered so far.
func (m *watchCache) unbound() map[object.Key]types.UID {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[object.Key]types.UID{}
	if kind := m.kinds["Pod"]; kind != nil {
		for k, o := range kind.pending {
			out[k] = o.Value.(*corev1.Pod).UID
		}
	}
	return out
}

// requeue makes a pod pending as it was last delivered, unless it has a node by now or another UID.
func (m *watchCache) requeue(k object.Key, uid types.UID) {
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

// left returns how many objects could not be decoded.
func (m *watchCache) left() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.kinds {
		n += len(k.unreadable)
	}
	return n
}

func (m *watchCache) count(n *int64) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return *n
}

func (m *watchCache) signal() {
	if len(m.pending) > 0 {
		m.wakeWriter()
	}
}

// wakeWriter wakes the writer, whether or not a change is pending.
func (m *watchCache) wakeWriter() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// put records an object that was added or changed. The caller holds mu.
func (m *watchCache) put(kind *kindCache, o object.Object) {
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

// remove records that an object was deleted, also one that could not be decoded: a revision may
// hold an older form of it. The caller holds mu.
func (m *watchCache) remove(kind *kindCache, k object.Key) {
	_, had := kind.have[k]
	_, could := kind.unreadable[k]
	if !had && !could {
		return
	}
	delete(kind.unreadable, k)
	delete(kind.have, k)
	delete(kind.pending, k)
	m.change(k, event{object: object.Object{Key: k}})
}

func (m *watchCache) change(k object.Key, e event) {
	e.heard = m.now()
	m.events++
	m.pending[k] = e
	if m.since.IsZero() {
		m.since = e.heard
	}
	m.signal()
}

// cannotRead records an object that cannot be decoded. The caller holds mu.
func (m *watchCache) cannotRead(kind *kindCache, k object.Key, err error) {
	if kind.unreadable[k] == err.Error() {
		return
	}
	kind.unreadable[k] = err.Error()
	m.log.Warn("an object cannot be read; its last version stays in use", slog.String("object", k.Kind+" "+k.Namespace+"/"+k.Name), slog.Any("error", err))
}
