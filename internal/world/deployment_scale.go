package world

import (
	"cmp"
	"math"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

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
