package report

import (
	"context"
	"errors"
	"slices"
	"time"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/revision"
	"berth/internal/store"
)

const (
	// readPage is how many records are read at once, maxRead how many in all.
	readPage = 500
	maxRead  = 1000
	// maxReasons bounds an attempt's reasons.
	maxReasons = 12
)

// readLog reads the newest records about the pod.
func (s *telling) readLog(ctx context.Context) error {
	f := store.DecisionFilter{Cluster: s.view.Cluster, Namespace: s.out.Pod.Namespace, Pod: s.out.Pod.Name, Limit: readPage}
	s.until(&f)
	for len(s.rows) < maxRead {
		page, err := s.Log.List(ctx, f)
		if err != nil {
			return err
		}
		for _, r := range page {
			if s.later(r) {
				continue
			}
			s.rows = append(s.rows, r)
			if s.counts(r) {
				s.tried = append(s.tried, r)
			}
		}
		if len(page) < readPage {
			s.order()
			return nil
		}
		last := page[len(page)-1]
		f.BeforeTime, f.BeforeID = last.CreatedAt, last.ID
	}
	s.out.More = true
	s.order()
	return nil
}

// order puts the newest records first, by the times that they are of.
func (s *telling) order() {
	for _, rows := range [][]*record.Row{s.rows, s.tried} {
		slices.SortStableFunc(rows, func(a, b *record.Row) int { return b.At().Compare(a.At()) })
	}
	s.out.Decisions = len(s.tried)
}

// until limits what is read of the log to the story's time, if the caller asked for one.
func (s *telling) until(f *store.DecisionFilter) {
	switch {
	case s.ask.At.IsZero():
	case s.ask.Named:
		f.AsOf = s.at
	default:
		f.Until = s.at.Add(time.Microsecond)
	}
}

// counts reports whether a record is an attempt of the story's time: one whose question named a
// time is of no other story.
func (s *telling) counts(r *record.Row) bool { return s.ask.Named || r.AskedAsOf == nil }

// later reports whether a record is of a revision after the story's: it was decided
// on one, or made one.
func (s *telling) later(r *record.Row) bool {
	if s.ask.Revision == 0 {
		return false
	}
	for _, id := range []string{r.Snapshot, r.BoundSnapshot, r.NominatedSnap, r.PendingSnap} {
		if _, n, err := revision.ParseID(id); err == nil && n > s.view.Revision {
			return true
		}
	}
	return false
}

// attempts puts records together that follow one another and came out alike.
func (s *telling) attempts(ctx context.Context, most int) error {
	for _, r := range s.tried {
		list := s.out.Attempts
		if n := len(list); n > 0 && list[n-1].take(r) {
			continue
		}
		if len(list) == most {
			s.out.More = true
			break
		}
		s.out.Attempts = append(list, Attempt{
			Outcome: r.Outcome, Node: r.Node, NominatedNode: r.NominatedNode, Message: r.Message, Count: 1, First: r.At(), Last: r.At(),
			Verbs: []string{r.Verb}, UID: r.Pod.UID, Decision: r.ID, Snapshot: r.Snapshot,
		})
	}
	for i := range s.out.Attempts {
		a := &s.out.Attempts[i]
		if a.Outcome == string(engine.Scheduled) {
			continue
		}
		d, err := s.record(ctx, a.Decision)
		if err != nil {
			return err
		}
		for _, f := range d.Failures {
			a.reject(Reason{f.Plugin, f.Reason, f.Nodes})
		}
	}
	return nil
}

// reject adds a reason. Whether preemption could help, which records tell apart,
// is none of an attempt's business.
func (a *Attempt) reject(r Reason) {
	for i := range a.Reasons {
		if o := &a.Reasons[i]; o.Plugin == r.Plugin && o.Reason == r.Reason {
			o.Nodes += r.Nodes
			return
		}
	}
	if len(a.Reasons) < maxReasons {
		a.Reasons = append(a.Reasons, r)
	}
}

// record reads a record whole. One that was deleted since it was listed is empty.
func (s *telling) record(ctx context.Context, id string) (*store.Decision, error) {
	d, err := s.Log.Record(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return &store.Decision{}, nil
	}
	return d, err
}

// take adds an older record to an attempt, if it came out alike. An extender's
// filter does not say which node is best, so a node is no difference where only
// one of both has it.
func (a *Attempt) take(r *record.Row) bool {
	if a.Outcome != r.Outcome || a.Message != r.Message || a.UID != r.Pod.UID || a.NominatedNode != r.NominatedNode ||
		a.Node != "" && r.Node != "" && a.Node != r.Node || (r.Verb == decision.VerbBind) != slices.Contains(a.Verbs, decision.VerbBind) {
		return false
	}
	if a.Node == "" {
		a.Node = r.Node
	}
	if !slices.Contains(a.Verbs, r.Verb) {
		a.Verbs = append(a.Verbs, r.Verb)
	}
	a.Count++
	a.First = r.At()
	return true
}

// binding tells how the pod came to its node.
func (s *telling) binding() {
	node := ""
	if s.pod != nil {
		if node = s.pod.NodeName; node == "" {
			return
		}
	}
	for _, r := range s.rows {
		made := r.BoundSnapshot != "" || r.Verb == decision.VerbBind && r.Outcome == string(engine.Scheduled)
		if !made || node != "" && r.Node != node || s.pod != nil && r.Pod.UID != s.pod.UID {
			continue
		}
		at := r.At()
		s.out.Binding = &Binding{Node: r.Node, At: &at, Decision: r.ID, Snapshot: r.BoundSnapshot}
		return
	}
	if node != "" {
		s.out.Binding = &Binding{Node: node}
	}
}
