package follow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

const (
	// fewObjects is the largest number of objects of a kind whose metadata are listed at once, to
	// compare them with what the watch delivered.
	fewObjects = 500
	// busyWatch is how long to wait for the watch of a larger kind, which usually delivers
	// something, before that kind is listed too.
	busyWatch = 250 * time.Millisecond
	// longestRead bounds one comparison with the apiserver.
	longestRead = 10 * time.Second
	// pollAnswer is the interval at which a server without the lease looks for an answer.
	pollAnswer = 20 * time.Millisecond
)

// watched is a kind that is followed, with the client that reads it.
type watched struct {
	kind   Kind
	client *rest.RESTClient
}

// reads shares one comparison with the apiserver among the calls that wait for one.
type reads struct {
	mu      sync.Mutex
	running bool
	next    *read // has not begun; nil: no call waits
}

// read is a comparison of what the watches delivered with what the apiserver has.
type read struct {
	kinds    map[string]bool
	done     chan struct{}
	revision int64
	err      error
}

// Current returns a revision that holds everything of the kinds that filters of
// the pod read which the apiserver had stored when Current was called. A nil pod
// stands for any.
func (f *Follower) Current(ctx context.Context, pod *corev1.Pod) (revision int64, err error) {
	f.mu.Lock()
	t := f.session
	f.mu.Unlock()
	if t != nil {
		return t.current(ctx, readBy(pod))
	}
	if f.o.Confirmations == nil {
		return 0, errors.New("no server follows the cluster")
	}
	wanted, err := f.o.Confirmations.WantConfirmation(ctx, f.o.Cluster)
	if err != nil {
		return 0, fmt.Errorf("reach the server that follows the cluster: %w", err)
	}
	for {
		c, err := f.o.Confirmations.Confirmation(ctx, f.o.Cluster)
		if err != nil {
			return 0, fmt.Errorf("reach the server that follows the cluster: %w", err)
		}
		if c.Given >= wanted {
			return c.Revision, nil
		}
		if !sleep(ctx, pollAnswer) {
			return 0, errors.New("the server that follows the cluster did not answer")
		}
	}
}

// answer confirms revisions for the servers that share the store, until ctx ends.
func (t *session) answer(ctx context.Context) {
	for sleep(ctx, min(t.f.o.Poll, 2*pollAnswer)) {
		c, err := t.f.o.Confirmations.Confirmation(ctx, t.f.o.Cluster)
		if err != nil || c.Wanted <= c.Given || !t.f.leads() {
			continue // the server that waits has a bound of its own
		}
		revision, err := t.current(ctx, readBy(nil))
		if err == nil {
			err = t.f.o.Confirmations.Confirm(ctx, t.f.o.Cluster, c.Wanted, revision)
		}
		if err != nil && ctx.Err() == nil {
			t.f.o.Log.Warn("the revision for a server that shares the store could not be confirmed", slog.Any("error", err))
		}
	}
}

// current is Current on the server that holds the lease.
func (t *session) current(ctx context.Context, kinds []string) (int64, error) {
	if !t.synced.Load() {
		return 0, errors.New("the cluster has not been read yet")
	}
	r := t.join(kinds)
	select {
	case <-r.done:
		return r.revision, r.err
	case <-ctx.Done():
		return 0, fmt.Errorf("the watches were not found to be as new as the apiserver: %w", context.Cause(ctx))
	}
}

// join returns a read that begins after the call.
func (t *session) join(kinds []string) *read {
	s := &t.reads
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == nil {
		s.next = &read{kinds: map[string]bool{}, done: make(chan struct{})}
	}
	r := s.next
	for _, k := range kinds {
		r.kinds[k] = true
	}
	if !s.running {
		s.running = true
		go t.read()
	}
	return r
}

// read runs the reads that calls wait for, one after the other.
func (t *session) read() {
	s := &t.reads
	for {
		s.mu.Lock()
		r := s.next
		if s.next = nil; r == nil {
			s.running = false
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		r.revision, r.err = t.compare(r.kinds)
		close(r.done)
	}
}

// compare waits until what the apiserver has now of some kinds was delivered and written. It
// returns the newest revision then.
func (t *session) compare(kinds map[string]bool) (int64, error) {
	ctx, cancel := context.WithTimeout(t.ctx, longestRead)
	defer cancel()
	list := *t.watched.Load()
	errs := make([]error, len(list))
	var group sync.WaitGroup
	for i, w := range list {
		if kinds[w.kind.Kind] {
			group.Go(func() { errs[i] = t.hear(ctx, w) })
		}
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return 0, err
	}
	if err := t.cache.awaitStored(ctx); err != nil {
		return 0, fmt.Errorf("what the watches delivered is not written yet: %w", err)
	}
	return t.newest.Load(), nil
}

// hear waits until all that the apiserver has of a kind was delivered. Lists without a
// resourceVersion are consistent reads (pkg/storage/cacher/delegator.go GetList).
func (t *session) hear(ctx context.Context, w watched) error {
	name := w.kind.Kind
	if t.cache.size(name) > fewObjects {
		newest, err := metadata(ctx, w, 1)
		if err != nil {
			return err
		}
		limited, cancel := context.WithTimeout(ctx, busyWatch)
		defer cancel()
		if t.cache.awaitVersion(limited, name, newest.ResourceVersion) == nil {
			return nil
		}
	}
	list, err := metadata(ctx, w, 0)
	if err != nil {
		return err
	}
	if err := t.cache.awaitList(ctx, name, list); err != nil {
		return fmt.Errorf("the watch of %s is behind: %w", w.kind.Resource, err)
	}
	return nil
}

// metadata lists the metadata of a kind's objects, all of them with limit 0.
func metadata(ctx context.Context, w watched, limit int64) (*metav1.PartialObjectMetadataList, error) {
	const form = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	r := w.client.Get().Resource(w.kind.Resource).SetHeader("Accept", "application/vnd.kubernetes.protobuf"+form+",application/json"+form)
	if limit > 0 {
		r.Param("limit", fmt.Sprint(limit))
	}
	list := &metav1.PartialObjectMetadataList{}
	if err := r.Do(ctx).Into(list); err != nil {
		return nil, fmt.Errorf("list the metadata of %s: %w", w.kind.Resource, err)
	}
	return list, nil
}

var (
	readAlways  = []string{"Node", "Pod", "Namespace"}
	readVolumes = []string{"PersistentVolume", "PersistentVolumeClaim", "StorageClass", "CSINode", "CSIDriver", "CSIStorageCapacity", "VolumeAttachment"}
	readDevices = []string{"ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "DeviceClass", "DeviceTaintRule"}
)

// readBy returns the kinds that the filters of a pod read. What only scores read rejects no node.
func readBy(pod *corev1.Pod) []string {
	kinds := readAlways
	if pod == nil || slices.ContainsFunc(pod.Spec.Volumes, stored) {
		kinds = slices.Concat(kinds, readVolumes)
	}
	if pod == nil || len(pod.Spec.ResourceClaims) > 0 || slices.ContainsFunc(append(slices.Clone(pod.Spec.InitContainers), pod.Spec.Containers...), extended) {
		kinds = slices.Concat(kinds, readDevices)
	}
	return kinds
}

// stored reports whether a volume needs storage: it is none of those that every node can make.
func stored(v corev1.Volume) bool {
	return v.EmptyDir == nil && v.ConfigMap == nil && v.Secret == nil && v.DownwardAPI == nil && v.Projected == nil && v.HostPath == nil && v.Image == nil
}

// extended reports whether a container wants a resource that a device class may
// stand for.
func extended(c corev1.Container) bool {
	for name := range c.Resources.Requests {
		if strings.Contains(string(name), "/") {
			return true
		}
	}
	return false
}
