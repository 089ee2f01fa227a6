package world

import (
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine/state"
	"berth/internal/kube/object"
)

// want has the set want a number of pods.
func (s *statefulSet) want(n int) {
	s.ordinals = nil
	for i := range n {
		s.ordinals = append(s.ordinals, s.first+i)
		if s.places[s.first+i] == nil {
			s.places[s.first+i] = &setPlace{}
		}
	}
}

// scale has a set want another number of pods.
func (c *statefulSets) scale(k ownerKey, to int) (refused string, err error) {
	s, err := c.of(k)
	if err != nil {
		return "", err
	}
	if len(s.places) == 0 {
		return "no pod of StatefulSet/" + s.name + " shows what its pods are like", nil
	}
	if err := c.resize(s, to); err != nil {
		return "", err
	}
	return "", c.syncSet(s)
}

// resize has a set want another number of pods, before its controller acts.
func (c *statefulSets) resize(s *statefulSet, to int) error {
	was := s.ordinals
	c.w.OnUndo(func() { s.ordinals = was })
	s.want(to)
	for _, i := range slices.Sorted(maps.Keys(s.places)) {
		if pod := s.places[i].pod; pod != nil { // all have the labels of one template
			return c.w.budgets.scaled(c.w.Fork, pod, int32(len(s.ordinals)-len(was)))
		}
	}
	return nil
}

// CreateSet has a StatefulSet come that wants a number of pods, of which one shows what they are
// like: its claims are those of the lowest ordinal.
func (w *World) CreateSet(set *appsv1.StatefulSet, like *corev1.Pod, n int) error {
	k := ownerKey{like.Namespace, state.Owner{Kind: "StatefulSet", Name: set.Name}}
	s := &statefulSet{namespace: like.Namespace, name: set.Name}
	s.take(set)
	p := *like
	p.Name = OrdinalName(set, 0)
	s.places = map[int]*setPlace{s.first: {pod: &p}}
	s.want(n)
	if w.sets.sets == nil {
		w.sets.sets = map[ownerKey]*statefulSet{}
	}
	w.sets.sets[k] = s
	return w.sets.syncSet(s)
}

func firstOrdinal(set *appsv1.StatefulSet) int {
	if set.Spec.Ordinals == nil {
		return 0
	}
	return int(set.Spec.Ordinals.Start)
}

// OrdinalName is the name of a set's pod, counted from its lowest ordinal.
func OrdinalName(set *appsv1.StatefulSet, i int) string {
	return fmt.Sprintf("%s-%d", set.Name, firstOrdinal(set)+i)
}

// condemned deletes the pods outside of the wanted ordinals: all at once, or the highest first,
// each once the one before is gone and those below are available (stateful_set_control.go
// processCondemned). It reports whether the controller goes on: in order, only once there are none.
func (c *statefulSets) condemned(s *statefulSet) (done bool, err error) {
	var list []*corev1.Pod // the highest first
	for _, i := range slices.Backward(slices.Sorted(maps.Keys(s.places))) {
		if !s.places[i].here || slices.Contains(s.ordinals, i) {
			continue
		}
		pod, err := c.w.waitingOrStored(PodName{s.namespace, s.pod(i)})
		if err != nil {
			return false, err
		}
		if pod != nil {
			list = append(list, pod)
		}
	}
	for _, pod := range list {
		if err := c.ownClaims(s, ordinalOf(pod.Name)); err != nil {
			return false, err
		}
	}
	var lowest *corev1.Pod // of those that are not available
	next := time.Duration(0)
	for _, pod := range list {
		why, until := c.blocks(s, ordinalOf(pod.Name))
		if why != "" {
			lowest = pod
		}
		if until > 0 && (next == 0 || until < next) {
			next = until
		}
	}
	for _, was := range list {
		pod, err := c.w.waitingOrStored(NameOf(was)) // the end of one before may have ended it
		if err != nil {
			return false, err
		}
		switch why, _ := c.blocks(s, ordinalOf(was.Name)); {
		case pod == nil:
			continue
		case pod.DeletionTimestamp != nil && s.ordered:
			return false, nil // until it is gone
		case pod.DeletionTimestamp != nil:
			continue
		case why != "" && s.ordered && was != lowest: // until it is well, or gone
			c.again(s, next)
			return false, nil
		}
		if err := c.w.remove(pod, &Left{Cause: CauseScaleDown}); err != nil {
			return false, err
		}
		if s.ordered {
			return false, nil
		}
	}
	return true, nil
}

// takeRetention takes over which claims a set keeps (stateful_set_utils.go
// getPersistentVolumeClaimRetentionPolicy). A set's own deletion is not played.
func (s *statefulSet) takeRetention(set *appsv1.StatefulSet) {
	p := set.Spec.PersistentVolumeClaimRetentionPolicy
	s.losesClaims = p != nil && p.WhenScaled == appsv1.DeletePersistentVolumeClaimRetentionPolicyType
}

// ownClaims has the claims of an ordinal's pod be owned by it where it is one too many, and no more
// where it is not (stateful_set_utils.go updateClaimOwnerRefForSetAndPod). One that another
// controller owns, too, stays in any case.
func (c *statefulSets) ownClaims(s *statefulSet, i int) error {
	if !s.losesClaims {
		return nil
	}
	pod, err := c.w.waitingOrStored(PodName{s.namespace, s.pod(i)})
	if err != nil || pod == nil {
		return err
	}
	condemned := !slices.Contains(s.ordinals, i)
	for k := range s.templates {
		claim := c.w.State().PersistentVolumeClaim(s.namespace, s.claim(&s.templates[k], i))
		if claim == nil || condemned == slices.ContainsFunc(claim.OwnerReferences, ownedBy(pod)) {
			continue
		}
		claim = claim.DeepCopy()
		claim.OwnerReferences = slices.DeleteFunc(claim.OwnerReferences, func(r metav1.OwnerReference) bool {
			return ownedBy(pod)(r) || condemned && r.Kind == "StatefulSet" && r.Name == s.name
		})
		if condemned {
			claim.OwnerReferences = append(claim.OwnerReferences, *metav1.NewControllerRef(pod, corev1.SchemeGroupVersion.WithKind("Pod")))
		}
		if err := c.w.putObject(claim); err != nil {
			return err
		}
	}
	return nil
}

// ownedBy matches references to a pod.
func ownedBy(pod *corev1.Pod) func(metav1.OwnerReference) bool {
	return func(r metav1.OwnerReference) bool { return r.Kind == "Pod" && r.Name == pod.Name && r.UID == pod.UID }
}

// collectClaims has the claims go that a pod that is gone was the last owner of
// (pkg/controller/garbagecollector/garbagecollector.go attemptToDeleteItem).
func (c *statefulSets) collectClaims(s *statefulSet, pod *corev1.Pod) error {
	for k := range s.templates {
		name := s.claim(&s.templates[k], ordinalOf(pod.Name))
		claim := c.w.State().PersistentVolumeClaim(s.namespace, name)
		if claim == nil || !slices.ContainsFunc(claim.OwnerReferences, ownedBy(pod)) {
			continue
		}
		if len(claim.OwnerReferences) > 1 {
			claim = claim.DeepCopy()
			claim.OwnerReferences = slices.DeleteFunc(claim.OwnerReferences, ownedBy(pod))
			if err := c.w.putObject(claim); err != nil {
				return err
			}
			continue
		}
		c.w.deleteObject(object.Key{Kind: "PersistentVolumeClaim", Namespace: s.namespace, Name: name})
		if s.lostClaims == nil {
			s.lostClaims = map[string]bool{}
		}
		s.lostClaims[name] = true
	}
	return nil
}
