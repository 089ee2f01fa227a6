package world

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Deployment is a Deployment whose update is on its way: its controller scales its ReplicaSets
// until all pods are of the new one (pkg/controller/deployment). Controllers act at once.
type Deployment struct {
	Update
	Spec *appsv1.DeploymentSpec // with defaults
	// Replicas, Surge and Unavailable are those in force, as numbers of pods.
	Replicas, Surge, Unavailable int
	Old                          []*ReplicaSet // the oldest first
	New                          *ReplicaSet
	// Took is how long a new pod takes until it is ready.
	Took time.Duration
	// Listed reports whether the pods that it creates are among the world's Others.
	Listed bool

	// Steps are the changes of its sets' sizes, in order.
	Steps []Resized

	counts     counts
	progressed int64 // when a count last improved
}

// Resized is a change of a ReplicaSet's replicas.
type Resized struct {
	AfterSeconds int64  `json:"afterSeconds"`
	Set          string `json:"set"`
	From         int    `json:"from"`
	To           int    `json:"to"`
} // @name RolloutStep

// counts are what a Deployment's progress is measured by
// (pkg/controller/deployment/util/deployment_util.go DeploymentProgressing).
type counts struct{ updated, old, ready, available int }

// Sets returns all ReplicaSets, the new one last.
func (d *Deployment) Sets() []*ReplicaSet { return append(slices.Clone(d.Old), d.New) }

// RollOut has a Deployment's update begin: its sets follow their pods already. It comes in the
// place of an update of it that is on its way.
func (w *World) RollOut(d *Deployment) error {
	was := w.rollout(d.Namespace, d.Name)
	w.rollouts = append(slices.DeleteFunc(w.rollouts, func(of *Deployment) bool { return of == was }), d)
	slices.SortFunc(w.rollouts, func(a, b *Deployment) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, s := range d.Sets() {
		s.of = d
	}
	w.replicaSets[replicaSetKey(d.Namespace, d.New.Name)] = d.New
	d.LeastAvailable, d.progressed, d.Began = math.MaxInt, w.Seconds(), w.Seconds()
	w.tell(Moment{What: RolloutBegins, Owner: d.owner(), Why: string(d.Spec.Strategy.Type)})
	if err := w.observe(d); err != nil {
		return err
	}
	// A change of the replicas comes before that of the template (deployment_controller.go
	// syncDeployment, sync.go isScalingEvent, scale).
	if active := d.activeOld(); len(active) == 1 && active[0].Replicas != d.Replicas && d.New.Replicas == 0 {
		return w.resize(d, active[0], d.Replicas)
	}
	return nil
}

// rollout returns the Deployment of a name whose update has begun; nil where there is none.
func (w *World) rollout(namespace, name string) *Deployment {
	i := slices.IndexFunc(w.rollouts, func(d *Deployment) bool { return d.Namespace == namespace && d.Name == name })
	if i < 0 {
		return nil
	}
	return w.rollouts[i]
}

// activeOld returns the old sets that want pods (controller_utils.go FilterActiveReplicaSets).
func (d *Deployment) activeOld() []*ReplicaSet {
	return slices.DeleteFunc(slices.Clone(d.Old), func(s *ReplicaSet) bool { return s.Replicas == 0 })
}

// syncDeployments has the controller of each Deployment act, and reports whether any set changed.
func (w *World) syncDeployments() (changed bool, err error) {
	for _, d := range w.rollouts {
		one, err := w.syncDeployment(d)
		if err != nil {
			return false, err
		}
		changed = changed || one
	}
	return changed, nil
}

// observeDeployments counts the pods of each Deployment, once the scheduler has acted.
func (w *World) observeDeployments() error {
	for _, d := range w.rollouts {
		if err := w.observe(d); err != nil {
			return err
		}
	}
	return nil
}

// passDeadlines notes which Deployments exceed their progress deadlines before a second. The
// controller looks again a second after it (progress.go requeueStuckDeployment).
func (w *World) passDeadlines(second int64) {
	for _, d := range w.rollouts {
		if at, ok := d.deadline(); ok && at <= second {
			d.DeadlineExceeded = &at
			now := w.now
			w.now = max(now, time.Duration(at)*time.Second)
			w.tell(Moment{What: DeadlineExceeded, Owner: d.owner(), Why: fmt.Sprintf("no progress for %d s", *d.Spec.ProgressDeadlineSeconds)})
			w.now = now
		}
	}
}

// deadline returns when the Deployment exceeds its progress deadline; false where it does not, or
// did already.
func (d *Deployment) deadline() (second int64, ok bool) {
	limit := d.Spec.ProgressDeadlineSeconds
	if limit == nil || *limit == noDeadline || d.DeadlineExceeded != nil || d.Complete() {
		return 0, false
	}
	return d.progressed + int64(*limit) + 1, true
}

// noDeadline stands for no deadline (deployment_util.go HasProgressDeadline).
const noDeadline = 1<<31 - 1

// NextDeadline returns when the next Deployment exceeds its progress deadline if nothing happens
// before; false where none does.
func (w *World) NextDeadline() (second int64, ok bool) {
	for _, d := range w.rollouts {
		if at, ahead := d.deadline(); ahead && (!ok || at < second) {
			second, ok = at, true
		}
	}
	return second, ok
}

// Stalled notes that nothing happens any more, so that a deadline passes that is still ahead.
func (w *World) Stalled() { w.passDeadlines(math.MaxInt64) }

// Complete reports whether the update is complete (deployment_util.go DeploymentComplete).
func (d *Deployment) Complete() bool {
	c := d.counts
	return c.updated == d.Replicas && c.old == 0 && c.available == d.Replicas && d.New.Replicas == d.Replicas
}

// availableOf counts a set's pods that have been ready for minReadySeconds.
func (w *World) availableOf(d *Deployment, s *ReplicaSet) (n int) {
	for _, m := range s.active() {
		if at, ready := w.readySince(m.pod); ready && at+int64(d.Spec.MinReadySeconds) <= w.Seconds() {
			n++
		}
	}
	return n
}

// observe counts, and has something happen when a pod will be available.
func (w *World) observe(d *Deployment) error {
	var c counts
	pods := 0
	for _, s := range d.Sets() {
		if err := w.steps.Take(len(s.pods)); err != nil {
			return err
		}
		pods += len(s.pods)
		for _, m := range s.active() {
			if s == d.New {
				c.updated++
			} else {
				c.old++
			}
			at, ready := w.readySince(m.pod)
			if !ready {
				continue
			}
			c.ready++
			at += int64(d.Spec.MinReadySeconds)
			if at <= w.Seconds() {
				c.available++
			} else if m.due != at {
				m.due = at
				w.At(at, NameOf(m.pod).String(), func() error { return nil })
			}
		}
	}
	if b := d.counts; c.updated > b.updated || c.old < b.old || c.ready > b.ready || c.available > b.available {
		d.progressed = w.Seconds()
	}
	d.counts = c
	w.seen(&d.Update, pods, c.available, d.Complete())
	return nil
}

// syncDeployment does one thing, as a sync of the controller does (rolling.go rolloutRolling,
// recreate.go rolloutRecreate).
func (w *World) syncDeployment(d *Deployment) (changed bool, err error) {
	if d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		return w.recreate(d)
	}
	if n := d.newReplicas(); n != d.New.Replicas {
		return true, w.resize(d, d.New, n)
	}
	oldPods := 0
	var available []int
	sum := w.availableOf(d, d.New)
	room := d.New.Replicas - (d.Replicas - d.Unavailable) - (d.New.Replicas - sum)
	for _, s := range d.Old {
		oldPods += s.Replicas
		available = append(available, w.availableOf(d, s))
		sum += available[len(available)-1]
	}
	if room += oldPods; oldPods == 0 || room <= 0 {
		return false, nil
	}
	// Those that are not available first, then available ones, from what the status said before
	// (rolling.go cleanupUnhealthyReplicas, scaleDownOldReplicaSetsForRollingUpdate).
	for i, s := range d.Old {
		if n := min(room, s.Replicas-available[i]); n > 0 {
			room -= n
			changed = true
			if err := w.resize(d, s, s.Replicas-n); err != nil {
				return false, err
			}
		}
	}
	spare := sum - (d.Replicas - d.Unavailable)
	for _, s := range d.Old {
		if n := min(spare, s.Replicas); n > 0 {
			spare -= n
			changed = true
			if err := w.resize(d, s, s.Replicas-n); err != nil {
				return false, err
			}
		}
	}
	return changed, nil
}

// newReplicas follows deployment_util.go NewRSNewReplicas.
func (d *Deployment) newReplicas() int {
	if d.New.Replicas > d.Replicas {
		return d.Replicas
	}
	all := d.New.Replicas
	for _, s := range d.Old {
		all += s.Replicas
	}
	return d.New.Replicas + max(0, min(d.Replicas+d.Surge-all, d.Replicas-d.New.Replicas))
}

// recreate scales the old sets to nothing, and the new one up once their pods are gone.
func (w *World) recreate(d *Deployment) (changed bool, err error) {
	for _, s := range d.activeOld() {
		changed = true
		if err := w.resize(d, s, 0); err != nil {
			return false, err
		}
	}
	if changed || d.New.Replicas == d.Replicas || slices.ContainsFunc(d.Old, func(s *ReplicaSet) bool { return len(s.pods) > 0 }) {
		return changed, nil
	}
	return true, w.resize(d, d.New, d.Replicas)
}

// resize changes a set's replicas, and its controller creates or deletes pods.
func (w *World) resize(d *Deployment, s *ReplicaSet, to int) error {
	d.Steps = append(d.Steps, Resized{w.Seconds(), s.Name, s.Replicas, to})
	w.tell(Moment{What: Scaled, Owner: kindReplicaSet + "/" + s.Name, Why: fmt.Sprintf("to %d replicas", to)})
	return w.manage(s, to)
}

// Limit resolves the strategy's numbers for a number of replicas (deployment_util.go
// ResolveFenceposts, MaxUnavailable).
func (d *Deployment) Limit(replicas int) {
	d.Replicas = replicas
	if u := d.Spec.Strategy.RollingUpdate; u != nil {
		d.Surge, d.Unavailable = scaled(u.MaxSurge, replicas, true), scaled(u.MaxUnavailable, replicas, false)
		if d.Surge == 0 && d.Unavailable == 0 {
			d.Unavailable = 1
		}
		d.Unavailable = min(d.Unavailable, replicas)
	}
}

// scaled is a number of pods, or a percentage of them.
func scaled(n *intstr.IntOrString, of int, up bool) int {
	out, err := intstr.GetScaledValueFromIntOrPercent(n, of, up)
	if err != nil {
		return 0 // it was validated
	}
	return out
}

// scaleDeployment changes the replicas amid an update: the one set that has pods takes them all,
// and several share them in proportion to their sizes (pkg/controller/deployment/sync.go scale,
// util/deployment_util.go FindActiveOrLatest, GetReplicaSetProportion).
func (w *World) scaleDeployment(d *Deployment, to int) error {
	most, by := d.Replicas+d.Surge, to-d.Replicas // before
	d.Limit(to)
	all := d.Sets()
	if i := slices.IndexFunc(all, func(s *ReplicaSet) bool { return s.like != nil }); i >= 0 { // all have labels that budgets select
		if err := w.budgets.scaled(w.Fork, all[i].like, int32(by)); err != nil {
			return err
		}
	}
	sets := d.activeOld()
	if d.New.Replicas > 0 || len(sets) == 0 {
		sets = append(sets, d.New)
	}
	switch {
	case len(sets) == 1 && sets[0].Replicas == to:
		return nil
	case len(sets) == 1:
		return w.resize(d, sets[0], to)
	case d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType:
		return nil
	}
	add, added := 0, 0
	if to > 0 {
		add = to + d.Surge
	}
	age := map[*ReplicaSet]int{}
	had := 0
	for i, s := range sets { // the oldest first
		age[s] = i
		had += s.Replicas
	}
	add -= had
	if most == 0 {
		most = had // getReplicaSetFraction takes the pods that there are
	}
	slices.SortFunc(sets, func(a, b *ReplicaSet) int {
		newer := cmp.Compare(age[b], age[a])
		if add < 0 {
			newer = -newer
		}
		return cmp.Or(cmp.Compare(b.Replicas, a.Replicas), newer)
	})
	sizes := make([]int, len(sets))
	for i, s := range sets {
		share := -s.Replicas
		if to > 0 {
			share = int(math.Round(float64(s.Replicas*(to+d.Surge))/float64(most))) - s.Replicas
		}
		if left := add - added; add > 0 {
			share = min(share, left)
		} else {
			share = max(share, left)
		}
		sizes[i] = s.Replicas + share
		added += share
	}
	sizes[0] = max(0, sizes[0]+add-added)
	for i, s := range sets {
		if sizes[i] != s.Replicas {
			if err := w.resize(d, s, sizes[i]); err != nil {
				return err
			}
		}
	}
	return nil
}
