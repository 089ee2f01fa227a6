package world

import (
	"cmp"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/state"
)

// Update is how a workload's new template gets to its pods.
type Update struct {
	Kind, Namespace, Name string
	// Began is when it came, and Done when it was complete; nil: it is not.
	Began int64
	Done  *int64
	// LeastAvailable is the smallest number of available pods so far, MostPods the largest number
	// of pods at once, with those that are being deleted.
	LeastAvailable, MostPods int
	// DeadlineExceeded is when a Deployment first reported that it exceeded its
	// progressDeadlineSeconds.
	DeadlineExceeded *int64
}

func (u *Update) owner() string { return u.Kind + "/" + u.Name }

// seen counts the pods of an instant.
func (w *World) seen(u *Update, pods, available int, complete bool) {
	u.LeastAvailable, u.MostPods = min(u.LeastAvailable, available), max(u.MostPods, pods)
	if u.Done == nil && complete {
		at := w.Seconds()
		u.Done = &at
		w.tell(Moment{What: RolloutComplete, Owner: u.owner()})
	}
}

// setUpdate is the update of a StatefulSet.
type setUpdate struct {
	Update
	pod       *corev1.Pod // of the lowest ordinal, by the new template
	partition int         // ordinals below it keep the old template, counted from the lowest one
	onDelete  bool
}

// UpdateSet has a StatefulSet take another template: like is its pod of the lowest ordinal. Pods
// are replaced from the highest ordinal down to the partition, each once the one before is
// available; with OnDelete, only when they are deleted. The set keeps its number of pods. It
// returns why there is nothing to update; empty where there is.
//
// Only what is new of the template shows: a set whose pods are like that already is updated too.
func (w *World) UpdateSet(set *appsv1.StatefulSet, like *corev1.Pod) (_ *Update, refused string, err error) {
	s, err := w.sets.of(ownerKey{like.Namespace, state.Owner{Kind: "StatefulSet", Name: set.Name}})
	if err != nil {
		return nil, "", err
	}
	if len(s.places) == 0 {
		return nil, "no pod of StatefulSet/" + set.Name + " is there", nil
	}
	s.minReady = time.Duration(set.Spec.MinReadySeconds) * time.Second
	u := &setUpdate{
		Update:   Update{Kind: "StatefulSet", Namespace: s.namespace, Name: s.name, Began: w.Seconds(), LeastAvailable: len(s.ordinals)},
		onDelete: set.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType,
	}
	if r := set.Spec.UpdateStrategy.RollingUpdate; r != nil && r.Partition != nil {
		u.partition = int(*r.Partition)
	}
	p := *like
	p.Labels = Without(p.Labels)
	p.Labels[appsv1.ControllerRevisionHashLabelKey] = cmp.Or(like.Labels[appsv1.ControllerRevisionHashLabelKey], s.name+"-new")
	u.pod, s.update = &p, u
	for _, of := range s.places {
		of.updated = false
	}
	w.tell(Moment{What: RolloutBegins, Owner: u.owner(), Why: cmp.Or(string(set.Spec.UpdateStrategy.Type), string(appsv1.RollingUpdateStatefulSetStrategyType))})
	return &u.Update, "", w.sets.syncSet(s)
}

// takes reports whether a pod of an ordinal is made by the new template (stateful_set_utils.go
// newVersionedStatefulSetPod).
func (s *statefulSet) takes(i int) bool { return s.update != nil && i >= s.first+s.update.partition }

// roll deletes the pod of the highest ordinal that is not of the new template, unless one above it
// is not available yet (stateful_set_control.go updateStatefulSet).
func (c *statefulSets) roll(s *statefulSet) error {
	if s.update == nil || s.update.onDelete {
		return nil
	}
	for _, i := range slices.Backward(s.ordinals) {
		if !s.takes(i) {
			return nil
		}
		p := s.places[i]
		if !p.here {
			return nil
		}
		pod, err := c.w.waitingOrStored(PodName{s.namespace, s.pod(i)})
		if err != nil {
			return err
		}
		if !p.updated && pod != nil && pod.DeletionTimestamp == nil {
			return c.w.remove(pod, &Left{Cause: CauseUpdate})
		}
		if why, until := c.blocks(s, i); why != "" {
			c.again(s, until)
			return nil
		}
	}
	return nil
}

// observe counts the pods of a set that is updated.
func (c *statefulSets) observe(s *statefulSet) {
	if s.update == nil {
		return
	}
	pods, available, complete := 0, 0, true
	for _, i := range s.ordinals {
		p := s.places[i]
		why := "it is not there"
		if p.here {
			pods++
			why, _ = c.blocks(s, i)
		}
		if why == "" {
			available++
		}
		complete = complete && why == "" && (p.updated || !s.takes(i))
	}
	c.w.seen(&s.update.Update, pods, available, complete)
}

// again has a set looked at when one of its pods becomes available.
func (c *statefulSets) again(s *statefulSet, at time.Duration) {
	if at > 0 {
		c.w.due.schedule(at, syncs, s.namespace+"/"+s.name, func() error { return c.syncSet(s) })
	}
}
