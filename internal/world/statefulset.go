package world

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unique"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/state"
	"berth/internal/kube/object"
)

// statefulSets is the controller of StatefulSets (pkg/controller/statefulset/
// stateful_set_control.go). It looks at a set once one of its pods has left.
type statefulSets struct {
	w    *World
	sets map[ownerKey]*statefulSet
}

// ownerKey names a controller.
type ownerKey struct {
	namespace string
	state.Owner
}

// statefulSet is a set with its ordinals.
type statefulSet struct {
	namespace, name string
	known           bool // its object is
	ordered         bool // OrderedReady
	minReady        time.Duration
	templates       []corev1.PersistentVolumeClaim
	// losesClaims reports whether the claims of pods that are scaled down go with them, and
	// lostClaims has those that went.
	losesClaims bool
	lostClaims  map[string]bool
	first       int // its lowest ordinal
	ordinals    []int
	places      map[int]*setPlace
	update      *setUpdate // nil: there was none
}

// setPlace is the place of one ordinal.
type setPlace struct {
	pod  *corev1.Pod // the last one
	here bool        // it is there: waiting, on a node or being deleted
	lost *Left       // what its successor is noted at; nil: nowhere
	// updated reports whether the pod is of the template of the update.
	updated bool
}

// isSetPod reports whether a StatefulSet controls a pod whose name ends in an ordinal.
func isSetPod(pod *corev1.Pod) bool {
	return ControlledBy(pod, "StatefulSet") && ordinalOf(pod.Name) >= 0
}

// ordinalOf returns the number that a name ends in; -1 where it has none.
func ordinalOf(name string) int {
	n, err := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
	if err != nil || n < 0 {
		return -1
	}
	return n
}

func keyOf(pod *corev1.Pod) ownerKey {
	kind, name, _ := strings.Cut(OwnerOf(pod), "/")
	return ownerKey{pod.Namespace, state.Owner{Kind: kind, Name: name}}
}

// podsOf lists the pods of the base that a StatefulSet, a DaemonSet or a Job controls, by name.
func (w *World) podsOf(k ownerKey) ([]PodName, error) {
	if w.byOwner == nil && w.of != nil {
		w.byOwner = w.of.byOwner
	}
	if w.byOwner != nil {
		return w.byOwner[k], nil
	}
	w.byOwner = map[ownerKey][]PodName{}
	if w.of != nil {
		w.of.byOwner = w.byOwner
	}
	pods := 0
	w.base.State.EachPod(func(p *state.Pod) {
		pods++
		if p.Owner == (unique.Handle[state.Owner]{}) {
			return
		}
		if o := p.Owner.Value(); o.Kind == "StatefulSet" || o.Kind == "DaemonSet" || o.Kind == "Job" {
			k := ownerKey{p.Namespace, o}
			w.byOwner[k] = append(w.byOwner[k], PodName{p.Namespace, p.Name})
		}
	})
	for _, list := range w.byOwner {
		slices.SortFunc(list, comparePods)
	}
	return w.byOwner[k], w.steps.Take(pods)
}

// of returns the set of a key.
func (c *statefulSets) of(k ownerKey) (*statefulSet, error) {
	if s := c.sets[k]; s != nil {
		return s, nil
	}
	pods, err := c.w.podsOf(k)
	if err != nil {
		return nil, err
	}
	s := &statefulSet{namespace: k.namespace, name: k.Name, ordered: true, places: map[int]*setPlace{}}
	for _, n := range pods {
		p, err := c.w.base.Pod(n.Namespace, n.Name)
		if err != nil {
			return nil, err
		}
		if i := ordinalOf(n.Name); i >= 0 {
			s.places[i] = &setPlace{pod: p, here: true}
		}
	}
	if err := c.read(s, k); err != nil {
		return nil, err
	}
	if c.sets == nil {
		c.sets = map[ownerKey]*statefulSet{}
	}
	c.sets[k] = s
	return s, nil
}

// read reads the set's object. Without one the set has the ordinals that are there, and the default
// policy.
func (c *statefulSets) read(s *statefulSet, k ownerKey) error {
	raw, ok := c.w.base.Object(object.Key{Kind: k.Kind, Namespace: k.namespace, Name: k.Name})
	if !ok {
		s.ordinals = slices.Sorted(maps.Keys(s.places))
		return nil
	}
	o, err := object.FromCanonical(k.Kind, raw)
	if err != nil {
		return fmt.Errorf("read StatefulSet %s/%s: %w", k.namespace, k.Name, err)
	}
	set := o.Value.(*appsv1.StatefulSet)
	s.take(set)
	if set.Spec.Replicas == nil {
		s.ordinals = slices.Sorted(maps.Keys(s.places))
		return nil
	}
	s.want(int(*set.Spec.Replicas))
	return nil
}

// take takes over what an object has of how its pods are made.
func (s *statefulSet) take(set *appsv1.StatefulSet) {
	s.known = true
	s.ordered = set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement
	s.minReady = time.Duration(set.Spec.MinReadySeconds) * time.Second
	s.templates, s.first = set.Spec.VolumeClaimTemplates, firstOrdinal(set)
	s.takeRetention(set)
}

// lost notes that a pod is gone.
func (c *statefulSets) lost(pod *corev1.Pod, rec *Left) error {
	s, err := c.of(keyOf(pod))
	if err != nil {
		return err
	}
	if err := c.collectClaims(s, pod); err != nil {
		return err
	}
	p := s.places[ordinalOf(pod.Name)]
	if p == nil {
		p = &setPlace{}
		s.places[ordinalOf(pod.Name)] = p
	}
	if !slices.Contains(s.ordinals, ordinalOf(pod.Name)) {
		rec.NotReplaced = fmt.Sprintf("StatefulSet/%s wants %d replicas", s.name, len(s.ordinals))
		c.w.set(p, setPlace{pod: pod})
		return c.syncSet(s)
	}
	c.w.set(p, setPlace{pod: pod, lost: rec})
	return c.sync(pod)
}

// set changes a place.
func (w *World) set(p *setPlace, to setPlace) {
	was := *p
	*p = to
	w.OnUndo(func() { *p = was })
}

// sync makes the pods of a pod's set that are missing: all at once, or each once those below it are
// available (stateful_set_control.go processReplica). It does nothing for sets of which no pod was
// lost.
func (c *statefulSets) sync(pod *corev1.Pod) error {
	if c.sets == nil || !isSetPod(pod) {
		return nil
	}
	if s := c.sets[keyOf(pod)]; s != nil {
		return c.syncSet(s)
	}
	return nil
}

// syncSet makes the pods of a set that are missing, and deletes those that are too many.
func (c *statefulSets) syncSet(s *statefulSet) error {
	c.observe(s)
	if err := c.w.steps.Take(len(s.ordinals)); err != nil {
		return err
	}
	for n, i := range s.ordinals {
		p := s.places[i]
		if !p.here {
			if err := c.create(s, i, p); err != nil {
				return err
			}
			if s.ordered {
				c.wait(s, n+1, fmt.Sprintf("%s-%d is not Ready", s.name, i))
				return nil
			}
			continue
		}
		if ended, err := c.removeEnded(s, i); err != nil || ended && s.ordered {
			return err
		}
		why, until := c.blocks(s, i)
		if why == "" || !s.ordered {
			if err := c.ownClaims(s, i); err != nil {
				return err
			}
			continue
		}
		c.wait(s, n+1, why)
		c.again(s, until)
		return nil
	}
	if done, err := c.condemned(s); err != nil || !done {
		return err
	}
	return c.roll(s)
}

// claim is the name of an ordinal's claim by a template.
func (s *statefulSet) claim(t *corev1.PersistentVolumeClaim, i int) string {
	return fmt.Sprintf("%s-%s-%d", t.Name, s.name, i)
}

// pod is the name of an ordinal's pod.
func (s *statefulSet) pod(i int) string { return fmt.Sprintf("%s-%d", s.name, i) }

// removeEnded deletes the pod of an ordinal that has ended, and reports whether it had
// (stateful_set_control.go processReplica). Another one is made once it is gone.
func (c *statefulSets) removeEnded(s *statefulSet, i int) (ended bool, err error) {
	if p := c.w.State().Pod(s.namespace, s.pod(i)); p == nil || !p.Terminal {
		return false, nil
	}
	pod, err := c.w.Pod(s.namespace, s.pod(i))
	if err != nil {
		return false, err
	}
	return true, c.w.remove(pod, &Left{Cause: CauseDeletion})
}

// blocks returns why no pod above an ordinal is made, and when it will be; empty where none is
// blocked, and 0 where an event tells.
func (c *statefulSets) blocks(s *statefulSet, i int) (why string, until time.Duration) {
	pod, err := c.w.Pod(s.namespace, s.pod(i))
	if err != nil {
		return s.pod(i) + " has no node", 0
	}
	return c.w.unwell(pod, s.minReady)
}

// unwell returns why a pod is not available, and when it will be; empty where it is, and 0 where an
// event tells.
func (w *World) unwell(pod *corev1.Pod, minReady time.Duration) (why string, until time.Duration) {
	switch {
	case pod.Spec.NodeName == "":
		return pod.Name + " has no node", 0
	case pod.DeletionTimestamp != nil:
		return pod.Name + " is being deleted", 0
	case !IsReady(pod) && !AssumedReady(pod):
		return pod.Name + " is not Ready", 0
	}
	if ready := ReadyCondition(pod); ready != nil && minReady > 0 {
		if at := ready.LastTransitionTime.Sub(w.o.Now) + minReady; at > w.now {
			return pod.Name + " is not available yet", at
		}
	}
	return "", 0
}

// wait notes why the pods from a place on are not made again.
func (c *statefulSets) wait(s *statefulSet, from int, why string) {
	for _, i := range s.ordinals[from:] {
		if p := s.places[i]; !p.here && p.lost != nil {
			kept(c.w, p.lost).held = true
			p.lost.NotReplaced = fmt.Sprintf("StatefulSet/%s makes its pods in order, and %s", s.name, why)
		}
	}
}

// create makes the pod of an ordinal.
func (c *statefulSets) create(s *statefulSet, i int, p *setPlace) error {
	old, rec, updated := p.pod, p.lost, s.takes(i)
	if updated {
		old = s.named(s.update.pod, s.first, i)
	}
	if old == nil {
		if old = c.like(s, i); old == nil {
			return nil // no pod shows what its pods are like
		}
	}
	for k := range s.templates {
		if err := c.w.claimOf(s, &s.templates[k], i); err != nil {
			return err
		}
	}
	c.w.set(p, setPlace{pod: old, here: true, updated: updated})
	if rec == nil {
		rec = &Left{}
		defer func() { c.w.further(s.namespace, rec.Replacement) }()
	}
	kept(c.w, rec).held, rec.NotReplaced = false, ""
	return c.w.replace(old, rec)
}

// claimOf makes the claim of an ordinal, unless it is there (stateful_pod_control.go
// createMissingPersistentVolumeClaims).
func (w *World) claimOf(s *statefulSet, t *corev1.PersistentVolumeClaim, i int) error {
	name := s.claim(t, i)
	if w.State().PersistentVolumeClaim(s.namespace, name) != nil {
		return nil
	}
	claim := t.DeepCopy()
	if s.lostClaims[name] { // it is another one, for which the volume of the last one is not
		claim.UID = object.GivenUID(object.Key{Kind: "PersistentVolumeClaim", Namespace: s.namespace, Name: name}, w.Seconds())
	}
	claim.Namespace, claim.Name, claim.Status = s.namespace, name, corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
	return w.putObject(claim)
}

// like returns a pod of an ordinal as the set's other pods are; nil where it has none.
func (c *statefulSets) like(s *statefulSet, i int) *corev1.Pod {
	for _, n := range slices.Sorted(maps.Keys(s.places)) {
		of := s.places[n].pod
		if of == nil {
			continue
		}
		return s.named(of, n, i)
	}
	return nil
}

// named returns a pod of one ordinal as that of another one.
func (s *statefulSet) named(of *corev1.Pod, n, i int) *corev1.Pod { return PodOfSet(of, s.name, n, i) }

// PodOfSet returns the pod of ordinal n of a StatefulSet as that of ordinal i
// (stateful_set_utils.go updateIdentity, updateStorage).
func PodOfSet(of *corev1.Pod, set string, n, i int) *corev1.Pod {
	p := of.DeepCopy()
	p.Name = fmt.Sprintf("%s-%d", set, i)
	if p.Spec.Hostname != "" {
		p.Spec.Hostname = p.Name
	}
	for _, label := range []string{appsv1.StatefulSetPodNameLabel, appsv1.PodIndexLabel} {
		if p.Labels[label] != "" {
			p.Labels[label] = map[string]string{appsv1.StatefulSetPodNameLabel: p.Name, appsv1.PodIndexLabel: strconv.Itoa(i)}[label]
		}
	}
	for k := range p.Spec.Volumes {
		if v := p.Spec.Volumes[k].PersistentVolumeClaim; v != nil {
			if base, is := strings.CutSuffix(v.ClaimName, fmt.Sprintf("-%s-%d", set, n)); is {
				v.ClaimName = fmt.Sprintf("%s-%s-%d", base, set, i)
			}
		}
	}
	return p
}
