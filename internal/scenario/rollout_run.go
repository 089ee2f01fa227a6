package scenario

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/podlife"
	"berth/internal/steps"
	"berth/internal/world"
)

// rollout runs a Deployment's controller, and those of its ReplicaSets, on the seconds of a
// disruption. Controllers act at once.
type rollout struct {
	// namespace, name and spec are the Deployment's, with defaults; pod is of its template, as
	// admitted. sameReplicas takes the replicas that there are, as the manifest has none.
	namespace, name string
	spec            *appsv1.DeploymentSpec
	pod             *corev1.Pod
	sameReplicas    bool
	start           *int64 // nil: as its pods took

	d     *disruption
	out   *Rollout
	steps *steps.Counter

	replicas, surge, unavailable int
	old                          []*replicaSet // the oldest first
	fresh                        *replicaSet
	members                      map[world.PodName]*member
	others                       []*world.Replacement // pods that waited in the snapshot
	took                         int64                // by a new pod, until it is ready
	counters                     counters
	progressed                   int64 // when a counter last improved
}

// sets returns all ReplicaSets, the new one last.
func (r *rollout) sets() []*replicaSet { return append(slices.Clone(r.old), r.fresh) }

// replicaSet is a ReplicaSet with its pods, in the order of their creation.
type replicaSet struct {
	name         string
	created      int64
	before, spec int
	pods         []*member
}

// member is a pod of a ReplicaSet.
type member struct {
	pod *corev1.Pod
	set *replicaSet
	// rec is of a pod that was created, or that waited in the snapshot.
	rec  *world.Replacement
	left bool // it is being deleted, or gone
	seen bool // an event is scheduled for when it becomes available
}

// counters are what a Deployment's progress is measured by
// (pkg/controller/deployment/util/deployment_util.go DeploymentProgressing).
type counters struct{ updated, old, ready, available int }

// run goes from second to second until the rollout is complete, or nothing happens any more.
func (r *rollout) run() error {
	for {
		if err := r.react(); err != nil {
			return err
		}
		if r.complete() {
			r.out.Outcome, r.out.Seconds = RolloutComplete, r.d.Seconds()
			return r.d.Finish()
		}
		at, ok := r.d.Next()
		r.deadline(at, ok)
		if !ok {
			r.out.Outcome, r.out.Seconds = RolloutStuck, r.d.Seconds()
			return nil
		}
		if err := r.d.Happen(at); err != nil {
			return err
		}
	}
}

// react has all controllers and the scheduler act until none of them has anything to do.
func (r *rollout) react() error {
	for {
		changed, err := r.sync()
		if err != nil {
			return err
		}
		if err := r.d.Schedule(); err != nil {
			return err
		}
		if err := r.observe(); err != nil || !changed {
			return err
		}
	}
}

// deadline notes that the Deployment exceeds its progress deadline before a second, or for good.
// The controller looks again a second after it (progress.go requeueStuckDeployment).
func (r *rollout) deadline(at int64, ok bool) {
	limit := r.spec.ProgressDeadlineSeconds
	if limit == nil || *limit == noDeadline || r.out.DeadlineExceededAfterSeconds != nil {
		return
	}
	if exceeded := r.progressed + int64(*limit) + 1; !ok || exceeded <= at {
		r.out.DeadlineExceededAfterSeconds = &exceeded
	}
}

// noDeadline stands for no deadline (deployment_util.go HasProgressDeadline).
const noDeadline = 1<<31 - 1

// complete follows deployment_util.go DeploymentComplete.
func (r *rollout) complete() bool {
	c := r.counters
	return c.updated == r.replicas && c.old == 0 && c.available == r.replicas && r.fresh.spec == r.replicas
}

// active returns a set's pods that its controller counts (controller_utils.go IsPodActive).
func (s *replicaSet) active() (list []*member) {
	for _, m := range s.pods {
		if !m.left {
			list = append(list, m)
		}
	}
	return list
}

// readyAt returns since when a pod is ready.
func (r *rollout) readyAt(m *member) (second int64, ready bool) {
	switch {
	case m.rec != nil && m.rec.ReadyAfterSeconds != nil:
		return *m.rec.ReadyAfterSeconds, true
	case m.rec != nil:
		return 0, false
	case world.AssumedReady(m.pod):
		return world.LongAgo, true
	}
	c := world.ReadyCondition(m.pod)
	if c == nil || c.Status != corev1.ConditionTrue {
		return 0, false
	}
	return int64(c.LastTransitionTime.Sub(r.d.Options().Now).Seconds()), true
}

// available counts a set's pods that have been ready for minReadySeconds.
func (r *rollout) available(s *replicaSet) (n int) {
	for _, m := range s.active() {
		if at, ready := r.readyAt(m); ready && at+int64(r.spec.MinReadySeconds) <= r.d.Seconds() {
			n++
		}
	}
	return n
}

// observe counts, and has something happen when a pod will be available.
func (r *rollout) observe() error {
	var c counters
	pods := 0
	for _, s := range r.sets() {
		if err := r.steps.Take(len(s.pods)); err != nil {
			return err
		}
		for _, m := range s.pods {
			if m.left {
				if r.d.Leaving(world.NameOf(m.pod)) != nil {
					pods++
				}
				continue
			}
			pods++
			if s == r.fresh {
				c.updated++
			} else {
				c.old++
			}
			at, ready := r.readyAt(m)
			if !ready {
				continue
			}
			c.ready++
			at += int64(r.spec.MinReadySeconds)
			if at <= r.d.Seconds() {
				c.available++
			} else if !m.seen {
				m.seen = true
				r.d.At(at, world.NameOf(m.pod).String(), func() error { return nil })
			}
		}
	}
	if b := r.counters; c.updated > b.updated || c.old < b.old || c.ready > b.ready || c.available > b.available {
		r.progressed = r.d.Seconds()
	}
	r.counters = c
	r.out.LeastAvailable, r.out.MostPods = min(r.out.LeastAvailable, c.available), max(r.out.MostPods, pods)
	return nil
}

// sync does one thing, as a sync of the Deployment's controller does (rolling.go rolloutRolling,
// recreate.go rolloutRecreate).
func (r *rollout) sync() (changed bool, err error) {
	if r.spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		return r.recreate()
	}
	if n := r.newReplicas(); n != r.fresh.spec {
		return true, r.scale(r.fresh, n)
	}
	oldPods := 0
	var available []int
	sum := r.available(r.fresh)
	room := r.fresh.spec - (r.replicas - r.unavailable) - (r.fresh.spec - sum)
	for _, s := range r.old {
		oldPods += s.spec
		available = append(available, r.available(s))
		sum += available[len(available)-1]
	}
	if room += oldPods; oldPods == 0 || room <= 0 {
		return false, nil
	}
	// Those that are not available first, then available ones, from what the status said before
	// (rolling.go cleanupUnhealthyReplicas, scaleDownOldReplicaSetsForRollingUpdate).
	for i, s := range r.old {
		if n := min(room, s.spec-available[i]); n > 0 {
			room -= n
			changed = true
			if err := r.scale(s, s.spec-n); err != nil {
				return false, err
			}
		}
	}
	spare := sum - (r.replicas - r.unavailable)
	for _, s := range r.old {
		if n := min(spare, s.spec); n > 0 {
			spare -= n
			changed = true
			if err := r.scale(s, s.spec-n); err != nil {
				return false, err
			}
		}
	}
	return changed, nil
}

// newReplicas follows deployment_util.go NewRSNewReplicas.
func (r *rollout) newReplicas() int {
	if r.fresh.spec > r.replicas {
		return r.replicas
	}
	all := r.fresh.spec
	for _, s := range r.old {
		all += s.spec
	}
	return r.fresh.spec + max(0, min(r.replicas+r.surge-all, r.replicas-r.fresh.spec))
}

// recreate scales the old sets to nothing, and the new one up once their pods are gone.
func (r *rollout) recreate() (changed bool, err error) {
	for _, s := range r.old {
		if s.spec > 0 {
			changed = true
			if err := r.scale(s, 0); err != nil {
				return false, err
			}
		}
	}
	if changed || r.fresh.spec == r.replicas {
		return changed, nil
	}
	for _, s := range r.old {
		for _, m := range s.pods {
			if !m.left || r.d.Leaving(world.NameOf(m.pod)) != nil {
				return false, nil
			}
		}
	}
	return true, r.scale(r.fresh, r.replicas)
}

// scale changes a set's replicas, and its controller creates or deletes pods.
func (r *rollout) scale(s *replicaSet, to int) error {
	r.out.Steps = append(r.out.Steps, RolloutStep{r.d.Seconds(), s.name, s.spec, to})
	r.d.Note(world.Moment{What: world.Scaled, Owner: "ReplicaSet/" + s.name, Why: fmt.Sprintf("to %d replicas", to)})
	more := to - s.spec
	s.spec = to
	if more <= 0 {
		return r.remove(s, len(s.active())-to)
	}
	template := r.pod
	if s != r.fresh {
		if len(s.pods) == 0 {
			return nil // no pod shows what its pods are like
		}
		template = s.pods[0].pod
	}
	replicas, at := ReplicasOf(template), r.d.Instant()
	for i := 0; more > 0; i++ {
		p := replicas.Pod(i)
		if n := world.NameOf(p); r.members[n] != nil || r.d.State().Pod(n.Namespace, n.Name) != nil {
			continue
		}
		more--
		p.CreationTimestamp.Time = at
		if s != r.fresh {
			p.Labels = world.Without(p.Labels, corev1.LabelTopologyZone, corev1.LabelTopologyRegion)
		}
		if _, err := r.d.Create(p, time.Duration(r.took)*time.Second); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes pods of a set.
func (r *rollout) remove(s *replicaSet, n int) error {
	list, err := r.doomed(s, n)
	if err != nil {
		return err
	}
	for _, m := range list {
		name := world.NameOf(m.pod)
		pod, grace := m.pod, int64(0)
		if r.nodeOf(m) != "" {
			if pod, err = r.d.Current(name); err != nil {
				return err
			}
			if grace, err = r.d.GraceOn(pod.Spec.NodeName, podlife.GracePeriod(pod)); err != nil {
				return err
			}
		}
		if err := r.d.Leave(pod, &world.Left{Cause: world.CauseScaleDown}, grace); err != nil {
			return err
		}
	}
	return nil
}

// doomed returns which pods of a set its controller deletes first, of those that are active
// (pkg/controller/replicaset/replica_set.go getPodsToDelete).
func (r *rollout) doomed(s *replicaSet, n int) ([]*member, error) {
	list := s.active()
	if n <= 0 || n >= len(list) {
		return list[:max(0, min(n, len(list)))], nil
	}
	on := map[string]int{}
	for _, of := range r.sets() {
		for _, m := range of.active() {
			on[r.nodeOf(m)]++
		}
	}
	ranked := map[*member]*world.Member{}
	for _, m := range list {
		ranked[m] = r.ranked(m)
	}
	first := world.FirstToGo(r.d.Seconds(), on)
	err := steps.Sort(r.steps, list, func(a, b *member) int { return first(ranked[a], ranked[b]) })
	return list[:n], err
}

// ranked returns what a pod is ranked by.
func (r *rollout) ranked(m *member) *world.Member {
	out := &world.Member{Pod: m.pod, Node: r.nodeOf(m), Phase: m.pod.Status.Phase, Made: world.LongAgo}
	if out.Since, out.Ready = r.readyAt(m); m.rec != nil {
		if out.Phase = corev1.PodPending; out.Ready {
			out.Phase = corev1.PodRunning
		}
	}
	if at := m.pod.CreationTimestamp; !at.IsZero() {
		out.Made = int64(at.Sub(r.d.Options().Now).Seconds())
	}
	return out
}

// nodeOf returns where a pod is; empty: it waits.
func (r *rollout) nodeOf(m *member) string {
	if m.rec != nil {
		return m.rec.Node
	}
	return m.pod.Spec.NodeName
}
