package world

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/podlife/admission"
	"berth/internal/store"
)

// quotas are the admission plugin ResourceQuota and the controller that counts what pods use
// (apiserver/pkg/admission/plugin/resourcequota, pkg/controller/resourcequota). A pod of a
// controller that a quota does not let in is created later: the controller tries again by its
// back-off.
type quotas struct {
	w    *World
	byNS map[string]*quotaSpace
	held map[ownerKey]*heldPods
}

// quotaSpace is a namespace with quotas.
type quotaSpace struct {
	list  []*corev1.ResourceQuota // by name
	usage *admission.Usage        // nil: not counted yet
	// unstored are pods that were created and have no node yet, expired those that count no more,
	// as they should be gone.
	unstored map[PodName]*corev1.Pod
	expired  map[PodName]bool
}

// heldPods are those of one controller that a quota did not let in, in order. They are not changed.
type heldPods struct {
	pods     []heldPod
	failures int
	at       time.Duration // of the next attempt
}

type heldPod struct {
	pod *corev1.Pod
	rec *Replacement
}

// quotasOf reads the quotas of a world's base.
func quotasOf(ctx context.Context, w *World) (*quotas, error) {
	q := &quotas{w: w, byNS: map[string]*quotaSpace{}, held: map[ownerKey]*heldPods{}}
	items, _, err := w.base.List(ctx, "ResourceQuota", object.Key{}, 0)
	if err != nil {
		return nil, err
	}
	for _, raw := range items { // by namespace and name
		o, err := object.FromCanonical("ResourceQuota", raw)
		if err != nil {
			return nil, fmt.Errorf("quota in %s: %w", w.base.ID(), err)
		}
		q.put(o.Value.(*corev1.ResourceQuota))
	}
	return q, nil
}

// put adds a quota, or replaces the one of its name. What is used is counted anew.
func (q *quotas) put(r *corev1.ResourceQuota) {
	s := q.byNS[r.Namespace]
	if s == nil {
		s = &quotaSpace{unstored: map[PodName]*corev1.Pod{}, expired: map[PodName]bool{}}
		q.byNS[r.Namespace] = s
	}
	was := s.list
	q.w.OnUndo(func() { s.list, s.usage = was, nil })
	s.list = slices.DeleteFunc(slices.Clone(was), func(old *corev1.ResourceQuota) bool { return old.Name == r.Name })
	s.list = append(s.list, r)
	slices.SortFunc(s.list, func(a, b *corev1.ResourceQuota) int { return strings.Compare(a.Name, b.Name) })
	s.usage = nil
}

// count counts what the pods of a namespace use.
func (q *quotas) count(s *quotaSpace, namespace string) error {
	if s.usage != nil {
		return nil
	}
	var names []PodName
	q.w.State().EachPod(func(p *state.Pod) {
		if n := (PodName{p.Namespace, p.Name}); p.Namespace == namespace && !s.expired[n] {
			names = append(names, n)
		}
	})
	if err := q.w.steps.Take(q.w.State().PodCount() + readSteps*len(names)); err != nil {
		return err
	}
	u := admission.NewUsage(s.list, namespace, q.w.o.Now)
	for _, n := range names {
		p, err := q.w.Pod(n.Namespace, n.Name)
		if err != nil {
			return err
		}
		u.Add(p, 1)
	}
	for _, p := range s.unstored {
		u.Add(p, 1)
	}
	s.usage = u
	q.w.OnUndo(func() { s.usage = nil }) // it has counted what is taken back
	return nil
}

// refuses returns why a quota does not let a pod in; empty where all do.
func (q *quotas) refuses(p *corev1.Pod) (string, error) {
	s := q.byNS[p.Namespace]
	if s == nil {
		return "", nil
	}
	if err := q.count(s, p.Namespace); err != nil {
		return "", err
	}
	return s.usage.Refuses(p), nil
}

// add counts a pod, where those of its namespace are counted.
func (q *quotas) add(s *quotaSpace, p *corev1.Pod, by int) {
	if s.usage == nil || p == nil {
		return
	}
	s.usage.Add(p, by)
	q.w.OnUndo(func() {
		if s.usage != nil {
			s.usage.Add(p, -by)
		}
	})
}

// created counts a pod that is stored once it has a node.
func (q *quotas) created(p *corev1.Pod) {
	if s := q.byNS[p.Namespace]; s != nil {
		setIn(q.w.Fork, s.unstored, NameOf(p), p)
		q.add(s, p, 1)
	}
}

// changed counts a pod as it is stored now, and no more as it was. One that is being deleted counts
// until twice its grace period is over, also where nothing ends it (pkg/quota/v1/evaluator/core
// pods.go QuotaV1Pod).
func (q *quotas) changed(n PodName, after *corev1.Pod) error {
	s := q.byNS[n.Namespace]
	if s == nil {
		return nil
	}
	before := s.unstored[n]
	if before == nil {
		var err error
		if before, err = q.w.Pod(n.Namespace, n.Name); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	} else {
		setIn(q.w.Fork, s.unstored, n, nil)
	}
	if s.expired[n] {
		if after != nil && before != nil && after.UID == before.UID {
			return nil
		}
		setIn(q.w.Fork, s.expired, n, false)
		before = nil
	}
	q.add(s, before, -1)
	q.add(s, after, 1)
	if after == nil || after.DeletionTimestamp == nil || before != nil && before.DeletionTimestamp != nil {
		return nil
	}
	at := after.DeletionTimestamp.Sub(q.w.o.Now)
	if g := after.DeletionGracePeriodSeconds; g != nil {
		at += time.Duration(*g) * time.Second
	}
	q.w.due.schedule(at+time.Nanosecond, writes, n.String(), func() error {
		p, err := q.w.Pod(n.Namespace, n.Name)
		if errors.Is(err, store.ErrNotFound) || err == nil && (p.UID != after.UID || s.expired[n]) {
			return nil
		}
		if err == nil {
			setIn(q.w.Fork, s.expired, n, true)
			q.add(s, p, -1)
		}
		return err
	})
	return nil
}

// hold keeps a pod that a quota does not let in for its controller's next attempt.
func (q *quotas) hold(p *corev1.Pod, rec *Replacement, why string) {
	k := keyOf(p)
	h := heldPods{failures: 1}
	if old := q.held[k]; old != nil {
		h = *old
	}
	h.pods = append(slices.Clip(h.pods), heldPod{p, rec})
	if first := len(h.pods) == 1; first {
		q.refused(p, rec, why)
	} else {
		kept(q.w, rec).Message = why // and it was not tried: the first one's refusal ended that
	}
	q.wait(k, &h, len(h.pods) == 1)
}

// refused notes why a pod was not created.
func (q *quotas) refused(p *corev1.Pod, rec *Replacement, why string) {
	if rec.Message != why {
		q.w.tell(Moment{What: Refused, Pod: NameOf(p).String(), Owner: OwnerOf(p), Why: "create: " + why})
	}
	kept(q.w, rec).Message = why
}

// The back-offs of controllers that fail to create pods: from, doubling up to (client-go
// workqueue.DefaultTypedControllerRateLimiter; job_controller.go DefaultJobApiBackOff).
const (
	createBackoff, mostCreateBackoff = 5 * time.Millisecond, 1000 * time.Second
	jobCreateBackoff, mostJobCreate  = time.Second, time.Minute
)

// wait keeps what a controller has to create, and schedules its next attempt where it has none.
func (q *quotas) wait(k ownerKey, h *heldPods, schedule bool) {
	if schedule {
		d, most := createBackoff, mostCreateBackoff
		if k.Kind == "Job" {
			d, most = jobCreateBackoff, mostJobCreate
		}
		for i := 1; i < h.failures && d < most; i++ {
			d = min(2*d, most)
		}
		h.at = q.w.now + d
		q.w.due.schedule(h.at, syncs, k.Kind+"/"+k.namespace+"/"+k.Name+"~create", func() error { return q.retry(k) })
	}
	setIn(q.w.Fork, q.held, k, h)
}

// retry has a controller try again whose back-off is over.
func (q *quotas) retry(k ownerKey) error {
	h := q.held[k]
	if h == nil || q.w.now < h.at {
		return nil
	}
	return q.create(k, h, true)
}

// create creates the pods of a controller, up to the first one that a quota does not let in. due:
// no other attempt is to come.
func (q *quotas) create(k ownerKey, h *heldPods, due bool) error {
	for i, c := range h.pods {
		why, err := q.refuses(c.pod)
		if err != nil {
			return err
		}
		if why != "" {
			q.refused(c.pod, c.rec, why)
			q.wait(k, &heldPods{pods: h.pods[i:], failures: h.failures + 1, at: h.at}, due)
			return nil
		}
		p := *c.pod
		p.CreationTimestamp.Time = q.w.Instant().UTC().Truncate(time.Second)
		kept(q.w, c.rec).Message = ""
		c.rec.CreatedAfterSeconds = q.w.Seconds()
		q.w.enter(&p, c.rec)
	}
	setIn(q.w.Fork, q.held, k, nil)
	return nil
}

// hears has the controller of a pod that changes try at once, so many times: for the pod, and for
// what it writes to its own status. Each failure makes its next back-off longer, and puts off no
// attempt that is due before (pkg/controller/replicaset/replica_set.go updatePod, updateRS,
// processNextWorkItem; client-go workqueue AddRateLimited, insert).
func (q *quotas) hears(p *corev1.Pod, tries int) error {
	if len(q.held) == 0 {
		return nil
	}
	k := keyOf(p)
	for range tries {
		h := q.held[k]
		if h == nil {
			return nil
		}
		if err := q.create(k, h, false); err != nil {
			return err
		}
	}
	return nil
}

// trim leaves so many of the pods that a controller has to create, and returns how many there are.
func (q *quotas) trim(k ownerKey, most int) int {
	h := q.held[k]
	if h == nil {
		return 0
	}
	if len(h.pods) > most {
		for _, c := range h.pods[most:] {
			kept(q.w, c.rec).Message = "its controller wants fewer pods"
		}
		cut := *h
		if cut.pods = h.pods[:most]; most == 0 {
			setIn(q.w.Fork, q.held, k, nil)
			return 0
		}
		setIn(q.w.Fork, q.held, k, &cut)
	}
	return min(most, len(h.pods))
}

// futile counts the attempts to come that a quota would refuse as it is now.
func (q *quotas) futile() (n int) {
	for _, h := range q.held {
		if why, err := q.refuses(h.pods[0].pod); err == nil && why != "" {
			n++
		}
	}
	return n
}

// Refusal returns why pods of a controller are not created, of the first by name that a quota holds
// back; empty: of none.
func (w *World) Refusal() (why string) {
	var of ownerKey
	for k, h := range w.quotas.held {
		if first := cmp.Or(cmp.Compare(k.namespace, of.namespace), cmp.Compare(k.Name, of.Name), cmp.Compare(k.Kind, of.Kind)); why == "" || first < 0 {
			why, of = h.pods[0].rec.Message, k
		}
	}
	return why
}

// SetQuota changes hard limits of a quota. It returns why that cannot be; empty where it can.
func (w *World) SetQuota(namespace, name string, hard corev1.ResourceList) (refused string, err error) {
	s := w.quotas.byNS[namespace]
	i := -1
	if s != nil {
		i = slices.IndexFunc(s.list, func(r *corev1.ResourceQuota) bool { return r.Name == name })
	}
	if i < 0 {
		return fmt.Sprintf("resourcequotas %q not found", name), nil
	}
	r := s.list[i].DeepCopy()
	maps.Copy(r.Spec.Hard, hard)
	w.quotas.put(r)
	w.tell(Moment{What: QuotaChanged, Owner: "ResourceQuota/" + name, Why: amounts(hard)})
	return "", nil
}

// amounts writes amounts of resources, by name.
func amounts(list corev1.ResourceList) string {
	said := make([]string, 0, len(list))
	for _, name := range slices.Sorted(maps.Keys(list)) {
		q := list[name]
		said = append(said, string(name)+"="+q.String())
	}
	return strings.Join(said, ", ")
}
