package world

import (
	"cmp"
	"maps"
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
	// Created are the pods that were created for the workload since.
	Created []*Replacement
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
// available; with OnDelete, only when they are deleted. With whole, the rest of the manifest counts
// as well: a set that is not there comes, and one that is there is scaled where there are replicas
// in it. Without, the set keeps its number of pods. It returns why there is nothing to update;
// empty where there is.
//
// Only what is new of the template shows: a set whose pods are like that already is updated too.
func (w *World) UpdateSet(set *appsv1.StatefulSet, like *corev1.Pod, whole bool) (_ *Update, refused string, err error) {
	s, err := w.sets.of(ownerKey{like.Namespace, state.Owner{Kind: "StatefulSet", Name: set.Name}})
	if err != nil {
		return nil, "", err
	}
	s.minReady = time.Duration(set.Spec.MinReadySeconds) * time.Second
	if whole {
		err = w.sets.takeWhole(s, set)
	}
	if err != nil || len(s.places) == 0 && !whole {
		return nil, "no pod of StatefulSet/" + set.Name + " is there", err
	}
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

// takeWhole takes over a manifest. What cannot be changed of a set is as the base has it, unless it
// lacks the set (pkg/apis/apps/validation/validation.go ValidateStatefulSetUpdate).
func (c *statefulSets) takeWhole(s *statefulSet, set *appsv1.StatefulSet) error {
	if s.takeRetention(set); !s.known {
		s.take(set)
	}
	switch n := set.Spec.Replicas; {
	case n != nil:
		return c.resize(s, int(*n))
	case len(s.places) == 0:
		return c.resize(s, 1) // pkg/apis/apps/v1/defaults.go SetDefaults_StatefulSet
	}
	return nil
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

// Standing is how far the update of a StatefulSet or a DaemonSet is.
type Standing struct {
	// Wanted is how many pods there should be, Updated how many are there of the new template.
	Wanted, Updated int
	// Surge and Unavailable are on how many nodes of a DaemonSet there may be two pods, and none.
	Surge, Unavailable int
	// Ordered reports whether a StatefulSet goes up its ordinals.
	Ordered bool
	// Held are the pods that its controller waits for: of a StatefulSet one, of a DaemonSet one for
	// each node that has pods, or should, and lacks an available one.
	Held []Held
}

// Held is a pod that a controller waits for.
type Held struct {
	// Pod is its name; empty where there is none.
	Pod  string `json:"pod,omitempty" example:"kv-1"`
	Node string `json:"node,omitempty" example:"worker-7"`
	// Why is what it lacks.
	Why string `json:"why" example:"kv-1 is not Ready"`
} // @name RolloutHeld

// Standing returns how far the update of a StatefulSet or a DaemonSet is.
func (w *World) Standing(u *Update) (Standing, error) {
	k := ownerKey{u.Namespace, state.Owner{Kind: u.Kind, Name: u.Name}}
	if s := w.sets.sets[k]; s != nil {
		return w.sets.standing(s)
	}
	s, err := w.daemons.named(k)
	if err != nil || s == nil {
		return Standing{}, err
	}
	return w.daemons.standing(s), nil
}

func (c *statefulSets) standing(s *statefulSet) (Standing, error) {
	c.observe(s) // what its last sync did
	out := Standing{Wanted: len(s.ordinals), Ordered: s.ordered}
	for _, i := range s.ordinals {
		if p := s.places[i]; p.here && p.updated {
			out.Updated++
		}
	}
	held, err := c.held(s)
	if held != nil {
		out.Held = []Held{*held}
	}
	return out, err
}

// held returns the pod that a set waits for: the lowest one that is not well or, of a Parallel set,
// the highest one. Pods that are too many come last, the highest first.
func (c *statefulSets) held(s *statefulSet) (*Held, error) {
	order := slices.Clone(s.ordinals)
	if !s.ordered {
		slices.Reverse(order)
	}
	for _, i := range slices.Backward(slices.Sorted(maps.Keys(s.places))) {
		if s.places[i].here && !slices.Contains(s.ordinals, i) {
			order = append(order, i)
		}
	}
	for _, i := range order {
		pod, err := c.w.waitingOrStored(PodName{s.namespace, s.pod(i)})
		if err != nil {
			return nil, err
		}
		if pod == nil {
			return &Held{Why: s.pod(i) + " is not there"}, nil
		}
		if why, _ := c.w.unwell(pod, s.minReady); why != "" {
			return &Held{pod.Name, pod.Spec.NodeName, why}, nil
		}
	}
	return nil, nil
}
