package record

import (
	"context"
	"reflect"
	"slices"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/semantics"
	"berth/internal/upgrade"
)

// upgrades reports whether a batch is of another release of Kubernetes, and nothing else.
func (o *Overrides) upgrades() bool {
	return o.Release != nil && o.Profile == "" && len(o.Profiles) == 0
}

// changed fills in what is different about a record's answer under another release than its own,
// with the behaviours that make it, and reports whether anything is. told is false where the record
// is not answered as it was under its own: then no release explains the difference.
func (l *Log) changed(ctx context.Context, rec *record, e *Evaluated, to *semantics.Release, out *BatchDifference) (told, differs bool, err error) {
	base, err := l.replay(ctx, rec)
	if err != nil {
		return false, false, err
	}
	defer base.release()
	if base.digest != rec.AnswerDigest {
		return false, true, nil
	}
	ans, err := base.answer(ctx, rec, engine.ExplainFull)
	if err != nil {
		return false, false, err
	}
	before := upgrade.Reply{Answer: ans}
	ask := func(r *semantics.Release) (upgrade.Reply, error) { return l.replyUnder(ctx, rec, r) }
	after, err := ask(to)
	if err != nil || upgrade.Same(before, after) {
		return true, false, err
	}
	if out.Changes, err = upgrade.Explain(before, after, e.profile.Semantics, to, ask); err != nil || after.Err != nil {
		return true, true, err
	}
	var paths Replay
	was, is, more := differing(before.Answer, after.Answer)
	if err := paths.compare(was, is, false); err != nil {
		return true, true, err
	}
	out.tell(&paths)
	out.DifferencesOmitted += more
	return true, true, nil
}

// differing leaves of two answers the first nodes with other verdicts, as many as a batch keeps
// paths, and counts the others: most nodes of a large cluster may have other scores.
func differing(before, after *decision.Answer) (was, is *decision.Answer, more int) {
	x, y := *before, *after
	x.Nodes, y.Nodes = nil, nil
	others := make(map[string]*engine.NodeVerdict, len(after.Nodes))
	for i := range after.Nodes {
		others[after.Nodes[i].Name] = &after.Nodes[i]
	}
	for i := range before.Nodes {
		n := &before.Nodes[i]
		switch o := others[n.Name]; {
		case o != nil && reflect.DeepEqual(n, o):
		case len(x.Nodes) >= maxPaths:
			more++
		default:
			if x.Nodes = append(x.Nodes, *n); o != nil {
				y.Nodes = append(y.Nodes, *o)
			}
		}
	}
	return &x, &y, more
}

// tell keeps the first paths of a comparison. What is true of the whole answer goes first, single
// nodes second.
func (d *BatchDifference) tell(r *Replay) {
	slices.SortStableFunc(r.Differences, func(a, b Difference) int {
		if a.whole() == b.whole() {
			return 0
		}
		if a.whole() {
			return -1
		}
		return 1
	})
	d.Differences, d.DifferencesOmitted = r.Differences, r.DifferencesOmitted
	if n := len(d.Differences); n > maxPaths {
		d.Differences, d.DifferencesOmitted = d.Differences[:maxPaths], d.DifferencesOmitted+n-maxPaths
	}
}

// replyUnder answers a record's question under a release.
func (l *Log) replyUnder(ctx context.Context, rec *record, under *semantics.Release) (upgrade.Reply, error) {
	r, err := rec.kind.replay(ctx, l, rec, rec.view, &Overrides{Release: under}, engine.Decide)
	if err != nil {
		return upgrade.ReplyOf(ctx, nil, err)
	}
	defer r.release()
	ans, err := r.answer(ctx, rec, engine.ExplainFull)
	return upgrade.Reply{Answer: ans}, err
}
