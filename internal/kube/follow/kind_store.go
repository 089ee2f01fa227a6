package follow

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"berth/internal/kube/object"
)

// kindStore is the reflector's store of one kind.
type kindStore struct {
	m    *watchCache
	kind Kind
	pods *object.RequestPods // where they are pods, of which many are alike
}

var _ cache.ReflectorStore = (*kindStore)(nil)

// Add implements cache.ReflectorStore.
func (s *kindStore) Add(obj any) error { return s.Update(obj) }

// Update implements cache.ReflectorStore. An object that cannot be decoded stays as it was, and is
// counted and logged. The other objects are followed all the same.
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

// Replace implements cache.ReflectorStore. Only what differs becomes pending.
func (s *kindStore) Replace(list []any, version string) error {
	type read struct {
		key object.Key
		o   object.Object
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
	there := make(map[object.Key]string, len(all))
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
		s.m.wakeWriter()
	}
	return nil
}

// Resync implements cache.ReflectorStore.
func (s *kindStore) Resync() error { return nil }

func (s *kindStore) key(obj any) (object.Key, error) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		ns, name, err := cache.SplitMetaNamespaceKey(gone.Key)
		return object.Key{Kind: s.kind.Kind, Namespace: ns, Name: name}, err
	}
	o, err := meta.Accessor(obj)
	if err != nil {
		return object.Key{}, fmt.Errorf("a %T among the %s: %w", obj, s.kind.Resource, err)
	}
	return object.Key{Kind: s.kind.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}, nil
}

// read decodes an object into the form that decisions read.
func (s *kindStore) read(obj any) (object.Key, object.Object, error) {
	key, err := s.key(obj)
	if err != nil {
		return key, object.Object{}, err
	}
	typed, ok := obj.(runtime.Object)
	if !ok {
		return key, object.Object{}, fmt.Errorf("a %T among the %s", obj, s.kind.Resource)
	}
	typed.GetObjectKind().SetGroupVersionKind(s.kind.Group.WithKind(s.kind.Kind))
	if o, ok := obj.(metav1.Object); ok {
		o.SetManagedFields(nil) // often half of the object, and pruned later
	}
	js, err := json.Marshal(typed)
	if err != nil {
		return key, object.Object{}, err
	}
	if s.pods != nil {
		pod, canonical, err := s.pods.Decode(js)
		return key, object.Object{Key: key, Value: pod, JSON: canonical}, err
	}
	o, err := object.Decode(js, object.Limits{})
	return key, o, err
}
