package blame

import (
	"context"
	"slices"

	"berth/internal/engine"
	"berth/internal/revision"
)

const (
	// maxSingles is up to how many objects of a revision are left out one by one: of more, halves
	// are first.
	maxSingles = 500
	// maxTrials bounds the trials of a walk, each of which is a decision.
	maxTrials = 20_000
	// maxNamed is how many objects are named.
	maxNamed = 10
)

// found is what turned an outcome.
type found struct {
	objects []revision.Changed
	// own reports that it was the pod's own nomination.
	own bool
	// untold is how many objects it may have been, where it cannot be told which.
	untold int
}

func all(list []revision.Changed) []*revision.Changed {
	out := make([]*revision.Changed, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// without judges the pod as if some of the objects had not changed.
func (w *walk) without(ctx context.Context, list []*revision.Changed) (v verdict, err error) {
	w.trials++
	for _, c := range list {
		if err := w.judge.walk.Show(c, true); err != nil {
			return v, err
		}
	}
	if v, err = w.judge.verdict(ctx, true); err != nil {
		return v, err
	}
	for _, c := range slices.Backward(list) {
		if err := w.judge.walk.Show(c, false); err != nil {
			return v, err
		}
	}
	return v, nil
}

// find returns the objects without whose change the outcome would not have turned: each one that
// alone suffices, else a smallest set, from which none can be taken away.
func (w *walk) find(ctx context.Context, was, is *verdict) (f found, err error) {
	turned := func(v *verdict) bool {
		return v.outcome != was.outcome || was.outcome == is.outcome && v.victims() != was.victims()
	}
	holds := func(list []*revision.Changed) (bool, error) {
		v, err := w.without(ctx, list)
		return !turned(&v), err
	}
	changed := all(w.judge.walk.Changed())
	if own, err := w.nominationTurned(ctx, turned); own || err != nil {
		return found{own: own}, err
	}
	if len(changed) == 1 {
		return found{objects: named(changed)}, nil
	}
	if len(changed) <= maxSingles && w.trials < maxTrials {
		for i := range changed {
			one := changed[i : i+1]
			yes, err := holds(one)
			if err != nil {
				return f, err
			}
			if yes {
				f.objects = append(f.objects, *one[0])
			}
		}
		if len(f.objects) > 0 {
			return f, nil
		}
	}
	list, whole, err := w.halve(changed, holds)
	if err != nil || !whole {
		return found{untold: len(list)}, err
	}
	return found{objects: named(list)}, nil
}

// nominationTurned reports whether the outcome turned with the node that the pod is nominated to.
func (w *walk) nominationTurned(ctx context.Context, turned func(*verdict) bool) (bool, error) {
	j := w.judge
	if j.nominated == j.before {
		return false, nil
	}
	now := j.nominated
	j.nominated = j.before
	v, err := j.verdict(ctx, true)
	j.nominated = now
	return !turned(&v), err
}

// halve narrows a list down to a smallest one without whose change the outcome holds: parts of it
// are left out, then all but a part, in ever smaller parts (Zeller's delta debugging). whole is
// false where the trials did not suffice, or the outcome turned for another reason.
func (w *walk) halve(list []*revision.Changed, holds func([]*revision.Changed) (bool, error)) (_ []*revision.Changed, whole bool, err error) {
	if yes, err := holds(list); err != nil || !yes {
		return list, false, err
	}
	for parts := 2; len(list) > 1; {
		smaller, left, err := w.smaller(list, min(parts, len(list)), holds)
		switch {
		case err != nil:
			return list, false, err
		case smaller != nil:
			list, parts = smaller, max(left, 2)
		case w.trials >= maxTrials:
			return list, false, nil
		case parts >= len(list):
			return list, true, nil
		default:
			parts *= 2
		}
	}
	return list, true, nil
}

// smaller returns one of so many parts of a list, or all but one, without whose change the outcome
// holds, and into how many parts to divide that; nil where there is none.
func (w *walk) smaller(list []*revision.Changed, parts int, holds func([]*revision.Changed) (bool, error)) ([]*revision.Changed, int, error) {
	for _, rest := range []bool{false, true} {
		if rest && parts == 2 {
			break // the rest of a half is the other
		}
		for i := range parts {
			from, to := i*len(list)/parts, (i+1)*len(list)/parts
			some, left := list[from:to], 2
			if rest {
				some, left = slices.Concat(list[:from], list[to:]), parts-1
			}
			if w.trials >= maxTrials {
				return nil, 0, nil
			}
			if yes, err := holds(some); err != nil || yes {
				return some, left, err
			}
		}
	}
	return nil, 0, nil
}

func named(list []*revision.Changed) []revision.Changed {
	out := make([]revision.Changed, len(list))
	for i, c := range list {
		out[i] = *c
	}
	return out
}

// preempts reports whether an outcome is a preemption.
func preempts(outcome string) bool { return outcome == string(engine.Preempting) }
