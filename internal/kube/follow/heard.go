package follow

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"

	"berth/internal/kube/object"
)

var _ cache.ResourceVersionUpdater = (*kindStore)(nil)

// UpdateResourceVersion implements cache.ResourceVersionUpdater. A reflector
// calls it after each event, bookmarks included.
func (s *kindStore) UpdateResourceVersion(version string) {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	s.m.kinds[s.kind.Kind].at = version
	s.m.announce()
}

func versionOf(obj any) string {
	o, err := meta.Accessor(obj)
	if err != nil {
		return ""
	}
	return o.GetResourceVersion()
}

// announce wakes the calls that wait for something to be heard or written. The lock is
// held.
func (m *watchCache) announce() {
	if m.moved != nil {
		close(m.moved)
		m.moved = nil
	}
}

// await returns once ok, which is called with the lock held, returns true.
func (m *watchCache) await(ctx context.Context, ok func() bool) error {
	for {
		m.mu.Lock()
		done := ok()
		if m.moved == nil {
			m.moved = make(chan struct{})
		}
		moved := m.moved
		m.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// reached reports whether everything of a kind up to a resource version of the
// kind was heard. Versions of one resource can be compared
// (k8s.io/apimachinery/pkg/util/resourceversion); anything else was not reached.
func (k *kindCache) reached(version string) bool {
	return notBefore(k.at, version)
}

func notBefore(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order >= 0
}

// awaitVersion waits until everything of a kind up to a resource version was
// heard.
func (m *watchCache) awaitVersion(ctx context.Context, kind, version string) error {
	k := m.kind(kind)
	return m.await(ctx, func() bool { return k.reached(version) })
}

// awaitList waits until a kind is as new as a list of its objects. A watch that
// has nothing to tell does not move, so that what is in the list is compared
// with what was heard, object by object.
func (m *watchCache) awaitList(ctx context.Context, kind string, list *metav1.PartialObjectMetadataList) error {
	k := m.kind(kind)
	missing := map[object.Key]string{} // as they are in the list
	gone := map[object.Key]string{}    // as they were heard, and are not in the list
	m.mu.Lock()
	for i := range list.Items {
		o := &list.Items[i]
		key := object.Key{Kind: kind, Namespace: o.Namespace, Name: o.Name}
		missing[key] = o.ResourceVersion
	}
	for key, version := range k.versions {
		if _, there := missing[key]; !there {
			gone[key] = version
		}
	}
	m.mu.Unlock()
	return m.await(ctx, func() bool {
		if k.reached(list.ResourceVersion) {
			return true
		}
		for key, version := range missing {
			if !notBefore(k.versions[key], version) {
				return false
			}
			delete(missing, key)
		}
		for key, version := range gone {
			if k.versions[key] == version {
				return false
			}
			delete(gone, key)
		}
		return true
	})
}

// awaitStored waits until all that was heard by now is in a revision.
func (m *watchCache) awaitStored(ctx context.Context) error {
	m.mu.Lock()
	events := m.events
	m.mu.Unlock()
	return m.await(ctx, func() bool { return m.stored >= events })
}

func (m *watchCache) kind(name string) *kindCache {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kinds[name]
}

// size is how many objects of a kind were heard of.
func (m *watchCache) size(kind string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.kinds[kind].versions)
}
