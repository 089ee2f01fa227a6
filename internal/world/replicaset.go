package world

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unique"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"berth/internal/engine/state"
	"berth/internal/steps"
)

// ScaledBy returns the workload whose replicas a pod is one of, and how many pods it has that are
// not being deleted; 0 where it is none that can be scaled.
func (w *World) ScaledBy(pod *corev1.Pod) (kind, name string, pods int) {
	top, ok := w.State().TopOwnerOf(pod)
	if !ok || !slices.Contains([]string{"Deployment", "ReplicaSet", "StatefulSet"}, top.Kind) {
		return "", "", 0
	}
	w.eachControlled(pod.Namespace, func(p *state.Pod) {
		if of, _ := w.State().TopOwner(p); of == top && !p.Terminating {
			pods++
		}
	})
	return top.Kind, top.Name, pods
}

// Scale has a workload of a kind want another number of pods: a ReplicaSet, a StatefulSet, a Job
// (at once), or a Deployment of which one ReplicaSet has pods. It returns why that cannot be; empty
// where it can.
func (w *World) Scale(kind, namespace, name string, to int) (refused string, err error) {
	w.tell(Moment{What: Scaled, Owner: kind + "/" + name, Why: fmt.Sprintf("to %d replicas", to)})
	switch kind {
	case "Job":
		return w.jobs.scale(ownerKey{namespace, state.Owner{Kind: kind, Name: name}}, to)
	case "StatefulSet":
		return w.sets.scale(ownerKey{namespace, state.Owner{Kind: kind, Name: name}}, to)
	case "Deployment":
		if d := w.rollout(namespace, name); d != nil {
			return "", w.scaleDeployment(d, to)
		}
		sets := map[string]bool{}
		w.eachControlled(namespace, func(p *state.Pod) {
			if top, _ := w.State().TopOwner(p); top == (state.Owner{Kind: kind, Name: name}) {
				sets[p.Owner.Value().Name] = true
			}
		})
		for _, e := range w.queue.waiting {
			hash, owner := e.Pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey], metav1.GetControllerOfNoCopy(e.Pod)
			if e.place == waits && owner != nil && e.Pod.Namespace == namespace && hash != "" && owner.Name == name+"-"+hash {
				sets[owner.Name] = true
			}
		}
		for k, s := range w.replicaSets { // those that were scaled to nothing
			if k.namespace == namespace && s.like != nil && k.Name == name+"-"+s.like.Labels[appsv1.DefaultDeploymentUniqueLabelKey] {
				sets[k.Name] = true
			}
		}
		if len(sets) > 1 {
			return "pods of several ReplicaSets are there: a rollout is on its way", nil
		}
		for set := range sets {
			name = set
		}
	}
	return w.scaleSet(ownerKey{namespace, state.Owner{Kind: "ReplicaSet", Name: name}}, to)
}

// eachControlled visits the pods of a namespace that have a controller and neither ended nor are
// being deleted.
func (w *World) eachControlled(namespace string, visit func(*state.Pod)) {
	w.State().EachPod(func(p *state.Pod) {
		if p.Namespace == namespace && !p.Terminal && !p.Terminating && p.Owner != (unique.Handle[state.Owner]{}) {
			visit(p)
		}
	})
}

// ReplicaSet is a ReplicaSet with its pods as they are now. It is no part of what Undo takes back.
type ReplicaSet struct {
	Namespace, Name string
	// Replicas is how many pods it wants, and Before how many it wanted when it was read.
	Replicas, Before int
	// Named returns a pod that is to be created for a Deployment, by a number. Others are like the
	// set's first pod, and named after it.
	Named func(i int) *corev1.Pod

	pods []*member   // by name, and then as they are created
	like *corev1.Pod // its first one; nil: it had none
	of   *Deployment // whose update is on its way; may be nil
}

// member is a pod of a ReplicaSet.
type member struct {
	pod *corev1.Pod
	set *ReplicaSet
	due int64 // when it will be available, if that is scheduled
	// doomed reports that its controller is about to delete it.
	doomed bool
}

// active returns the pods that the controller counts.
func (s *ReplicaSet) active() (list []*member) {
	for _, m := range s.pods {
		if Active(m.pod) && !m.doomed {
			list = append(list, m)
		}
	}
	return list
}

// Active reports whether a pod counts for its controller
// (pkg/controller/controller_utils.go IsPodActive).
func Active(p *corev1.Pod) bool {
	return p.DeletionTimestamp == nil && !hasEnded(p)
}

// Like returns what its pods are like: its first one; nil where it had none.
func (s *ReplicaSet) Like() *corev1.Pod { return s.like }

// Pods returns the set's pods, also those that are being deleted.
func (s *ReplicaSet) Pods() []*corev1.Pod {
	list := make([]*corev1.Pod, len(s.pods))
	for i, m := range s.pods {
		list[i] = m.pod
	}
	return list
}

// Follow has ReplicaSets of a namespace know their pods from now on. of returns the set of a pod by
// the name of its controller and its labels; nil: it is of no account.
func (w *World) Follow(namespace string, of func(set string, l labels.Labels) *ReplicaSet) error {
	type found struct {
		PodName
		set *ReplicaSet
		pod *corev1.Pod
	}
	var list []found
	take := func(name, set string, l labels.Labels, pod *corev1.Pod) {
		if s := of(set, l); s != nil {
			list = append(list, found{PodName{namespace, name}, s, pod})
		}
	}
	w.State().EachPod(func(p *state.Pod) {
		if p.Namespace == namespace && !p.Terminal && p.Owner != (unique.Handle[state.Owner]{}) && p.Owner.Value().Kind == kindReplicaSet {
			take(p.Name, p.Owner.Value().Name, p.Class.Shape.Labels, nil)
		}
	})
	if err := w.steps.Take(w.State().PodCount()); err != nil {
		return err
	}
	for _, e := range w.queue.waiting { // those that a controller made are stored once they are bound
		if k := keyOf(e.Pod); e.place == waits && k.namespace == namespace && k.Kind == kindReplicaSet && w.State().Pod(namespace, e.Pod.Name) == nil {
			take(e.Pod.Name, k.Name, labels.Set(e.Pod.Labels), e.Pod)
		}
	}
	slices.SortFunc(list, func(a, b found) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range list {
		if err := w.steps.Take(readSteps); err != nil {
			return err
		}
		if f.pod == nil {
			var err error
			if f.pod, err = w.Pod(f.Namespace, f.Name); err != nil {
				return err
			}
		}
		w.replicaSets[replicaSetKey(namespace, f.set.Name)] = f.set
		w.join(f.set, f.pod)
	}
	return nil
}

func replicaSetKey(namespace, name string) ownerKey {
	return ownerKey{namespace, state.Owner{Kind: kindReplicaSet, Name: name}}
}

const kindReplicaSet = "ReplicaSet"

// join notes a pod of a set.
func (w *World) join(s *ReplicaSet, pod *corev1.Pod) {
	m := &member{pod: pod, set: s}
	s.pods = append(s.pods, m)
	w.members[NameOf(pod)] = m
	if s.like == nil {
		s.like = pod
	}
}

// saw hears of a pod that is stored; nil: it is gone.
func (w *World) saw(n PodName, pod *corev1.Pod) {
	w.daemons.saw(n, pod)
	switch m := w.members[n]; {
	case m == nil:
	case pod != nil:
		m.pod = pod
	default:
		delete(w.members, n)
		m.set.pods = slices.DeleteFunc(m.set.pods, func(of *member) bool { return of == m })
	}
}

// scaleSet has a ReplicaSet want another number of pods.
func (w *World) scaleSet(k ownerKey, to int) (refused string, err error) {
	if w.postponed(k, func() error { _, err := w.scaleSet(k, to); return err }) {
		return "", nil
	}
	s := w.replicaSets[k]
	if s == nil {
		s = &ReplicaSet{Namespace: k.namespace, Name: k.Name}
		err := w.Follow(k.namespace, func(set string, _ labels.Labels) *ReplicaSet {
			if set == k.Name {
				return s
			}
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	if s.like == nil {
		return "no pod of " + k.Kind + "/" + k.Name + " shows what its pods are like", nil
	}
	s.Replicas = len(s.active())
	if err := w.budgets.scaled(w.Fork, s.like, int32(to-s.Replicas)); err != nil {
		return "", err
	}
	return "", w.manage(s, to)
}

// manage has a ReplicaSet want another number of pods, and creates or deletes some
// (pkg/controller/replicaset/replica_set.go manageReplicas).
func (w *World) manage(s *ReplicaSet, to int) error {
	more := to - s.Replicas
	s.Replicas = to
	list := s.active()
	held := w.quotas.trim(replicaSetKey(s.Namespace, s.Name), max(0, to-len(list)))
	if s.of == nil {
		more -= held // its controller creates them anyway
	}
	if more <= 0 {
		if w.postponed(replicaSetKey(s.Namespace, s.Name), func() error { return w.manage(s, s.Replicas) }) {
			return nil
		}
		return w.shrink(s, list, len(list)-to)
	}
	if s.like == nil && (s.of == nil || s != s.of.New) {
		return nil // nothing shows what its pods are like
	}
	like := s.like
	if len(list) > 0 {
		like = slices.MinFunc(list, func(a, b *member) int { return strings.Compare(a.pod.Name, b.pod.Name) }).pod
	}
	for ; more > 0 && s.of == nil; more-- {
		if _, err := w.another(like); err != nil {
			return err
		}
	}
	for i := 0; more > 0; i++ {
		p := s.Named(i)
		if w.taken(NameOf(p)) {
			continue
		}
		more--
		p.CreationTimestamp, p.Status.Phase = metav1.NewTime(w.Instant().UTC().Truncate(time.Second)), corev1.PodPending
		rec, err := w.Create(p, s.of.Took)
		if err != nil {
			return err
		}
		if s.of.Listed {
			w.further(s.Namespace, rec)
		}
	}
	return nil
}

// shrink deletes the first n of a set's pods, ranked by their lives and by how many pods of the
// set, or of its Deployment, are beside them (replica_set.go getPodsToDelete,
// getPodsRankedByRelatedPodsOnSameNode).
func (w *World) shrink(s *ReplicaSet, list []*member, n int) error {
	if n <= 0 {
		return nil
	}
	if n < len(list) {
		on := w.related(s, list[0].pod)
		ranked := map[*member]*candidate{}
		for _, m := range list {
			ranked[m] = w.ranked(m.pod)
		}
		draws, first := w.o.Chance, firstToGo(w.Seconds(), on)
		if err := steps.Sort(w.steps, list, func(a, b *member) int {
			c := first(ranked[a], ranked[b])
			if c == 0 && draws.Salted() {
				c = cmp.Compare(draws.Hash(a.pod.Name), draws.Hash(b.pod.Name))
			}
			return c
		}); err != nil {
			return err
		}
		if draws.Counts() {
			w.cut("ReplicaSet "+s.Namespace+"/"+s.Name, len(list), n, func(i, k int) bool {
				return sameRank(first, ranked[list[i]], ranked[list[k]])
			})
		}
	}
	list = list[:min(n, len(list))]
	for _, m := range list {
		m.doomed = true
		err := w.called(w.clients.replicaSets, 1, NameOf(m.pod).String(), func() error {
			if w.members[NameOf(m.pod)] != m || !Active(m.pod) {
				return nil // it left meanwhile
			}
			return w.remove(m.pod, &Left{Cause: CauseScaleDown})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// readySince returns since when a pod is ready, in seconds from the start.
func (w *World) readySince(p *corev1.Pod) (second int64, ready bool) {
	c := ReadyCondition(p)
	switch {
	case c == nil && w.created[NameOf(p)] == nil && AssumedReady(p):
		return longAgo, true
	case !IsReady(p) || c.LastTransitionTime.IsZero():
		return longAgo, IsReady(p)
	}
	return int64(c.LastTransitionTime.Sub(w.o.Now).Seconds()), true
}

// related counts, by node, the pods that rank those of a ReplicaSet: of all ReplicaSets of its
// Deployment. Without one there are none (pkg/controller/replicaset/replica_set.go
// getIndirectlyRelatedPods, getReplicaSetsWithSameController).
func (w *World) related(s *ReplicaSet, member *corev1.Pod) map[string]int {
	on := map[string]int{}
	if s.of != nil {
		for _, of := range s.of.Sets() {
			for _, m := range of.active() {
				on[m.pod.Spec.NodeName]++
			}
		}
		return on
	}
	top, _ := w.State().TopOwnerOf(member)
	if top == (state.Owner{Kind: kindReplicaSet, Name: s.Name}) {
		return on
	}
	w.eachControlled(s.Namespace, func(p *state.Pod) {
		if of, _ := w.State().TopOwner(p); of == top {
			on[p.NodeName]++
		}
	})
	return on
}

// another has a controller make one more pod like one of its pods.
func (w *World) another(like *corev1.Pod) (*Replacement, error) {
	p := successor(like, atDeletion, func(name string) bool { return !w.taken(PodName{like.Namespace, name}) }, w.Instant())
	took, err := w.startOf(like)
	if err != nil {
		return nil, err
	}
	rec, err := w.Create(p, took)
	w.further(like.Namespace, rec)
	return rec, err
}

// ranked returns what a pod is ranked by.
func (w *World) ranked(p *corev1.Pod) *candidate {
	m := &candidate{Pod: p, Node: p.Spec.NodeName, Phase: p.Status.Phase, Made: longAgo, UID: string(p.UID)}
	if w.o.Chance.Counts() {
		was := w.base.State.Pod(p.Namespace, p.Name)
		if m.random = was == nil || was.UID != m.UID; m.random {
			m.UID = w.o.Chance.UID(m.UID)
		}
	}
	if m.Since, m.Ready = w.readySince(p); m.Phase == "" && !m.Ready {
		m.Phase = corev1.PodPending
	}
	if !p.CreationTimestamp.IsZero() {
		m.Made = int64(p.CreationTimestamp.Sub(w.o.Now).Seconds())
	}
	return m
}
