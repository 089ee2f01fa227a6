package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

const (
	// fewObjects is up to how many objects of a kind are listed at once, by their
	// metadata, to compare them with what was heard.
	fewObjects = 500
	// busyWatch is for how long a larger kind's watch is waited for, which mostly
	// has something to tell, before that kind is listed too.
	busyWatch = 250 * time.Millisecond
	// longestRead bounds one comparison with the apiserver.
	longestRead = 10 * time.Second
	// askAgain is how often a server that does not lead looks for an answer.
	askAgain = 20 * time.Millisecond
)

// watched is a kind that is followed, and who is asked about it.
type watched struct {
	kind   Kind
	client *rest.RESTClient
}

// reads share one comparison with the apiserver among those who wait for one.
type reads struct {
	mu      sync.Mutex
	running bool
	next    *read // has not begun; nil: nobody waits
}

// read is a comparison of what was heard with what the apiserver has.
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
	t := f.tenure
	f.mu.Unlock()
	if t != nil {
		return t.current(ctx, readBy(pod))
	}
	if f.o.Confirmations == nil {
		return 0, errors.New("nobody follows the cluster")
	}
	question, err := f.o.Confirmations.WantConfirmation(ctx, f.o.Cluster)
	if err != nil {
		return 0, fmt.Errorf("ask the server that follows the cluster: %w", err)
	}
	for {
		c, err := f.o.Confirmations.Confirmation(ctx, f.o.Cluster)
		if err != nil {
			return 0, fmt.Errorf("ask the server that follows the cluster: %w", err)
		}
		if c.Given >= question {
			return c.Revision, nil
		}
		if !sleep(ctx, askAgain) {
			return 0, errors.New("the server that follows the cluster did not answer")
		}
	}
}

// answer looks for questions of servers that share the store, until ctx ends.
func (t *tenure) answer(ctx context.Context) {
	for sleep(ctx, min(t.f.o.Poll, 2*askAgain)) {
		c, err := t.f.o.Confirmations.Confirmation(ctx, t.f.o.Cluster)
		if err != nil || c.Wanted <= c.Given || !t.f.leads() {
			continue // whoever asked has a bound of its own
		}
		revision, err := t.current(ctx, readBy(nil))
		if err == nil {
			err = t.f.o.Confirmations.Confirm(ctx, t.f.o.Cluster, c.Wanted, revision)
		}
		if err != nil && ctx.Err() == nil {
			t.f.o.Log.Warn("a server that shares the store could not be told how new the state is", "error", err)
		}
	}
}

// current is Current for the server that leads.
func (t *tenure) current(ctx context.Context, kinds []string) (int64, error) {
	if !t.synced.Load() {
		return 0, errors.New("the cluster has not been read yet")
	}
	r := t.join(kinds)
	select {
	case <-r.done:
		return r.revision, r.err
	case <-ctx.Done():
		return 0, fmt.Errorf("what the watches told was not found to be as new as the apiserver: %w", context.Cause(ctx))
	}
}

// join returns a read that begins after the call.
func (t *tenure) join(kinds []string) *read {
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

// read does the reads that are waited for, one after the other.
func (t *tenure) read() {
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

// compare waits until what the apiserver has now of some kinds was heard and
// written, and returns the newest revision then.
func (t *tenure) compare(kinds map[string]bool) (int64, error) {
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
	if err := t.mirror.awaitStored(ctx); err != nil {
		return 0, fmt.Errorf("what was heard is not written yet: %w", err)
	}
	return t.newest.Load(), nil
}

// hear waits until all that the apiserver has of a kind was heard. Lists without a
// resourceVersion are consistent reads (pkg/storage/cacher/delegator.go GetList).
func (t *tenure) hear(ctx context.Context, w watched) error {
	name := w.kind.Kind
	if t.mirror.size(name) > fewObjects {
		newest, err := metadata(ctx, w, 1)
		if err != nil {
			return err
		}
		limited, cancel := context.WithTimeout(ctx, busyWatch)
		defer cancel()
		if t.mirror.awaitVersion(limited, name, newest.ResourceVersion) == nil {
			return nil
		}
	}
	list, err := metadata(ctx, w, 0)
	if err != nil {
		return err
	}
	if err := t.mirror.awaitList(ctx, name, list); err != nil {
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
	readDevices = []string{"ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "DeviceClass"}
)

// readBy lists the kinds that the filters of a pod read; what only scores read
// rejects no node.
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

// stored reports whether a volume is none of those that every node can make.
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
