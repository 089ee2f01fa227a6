package events

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"berth/internal/handlers/admit"
	"berth/internal/revision"
	"berth/internal/store"
)

// Event is something that happened in a cluster.
type Event struct {
	// ID is opaque; those of later events are greater texts.
	ID string `json:"id"`
	// Event is the kind: revision, decision, placement, wake, or bookmark, which is of nothing but
	// its id.
	Event string `json:"event" enums:"revision,decision,placement,wake,bookmark"`
	Data  Data   `json:"data"`

	namespaces []string // that a caller has to see all of; none: it is for all
	about      string   // the namespace of Data.Object
} // @name Event

// Data is what an event is about, in at most 4 KiB of JSON.
type Data struct {
	Cluster string `json:"cluster" example:"prod"`
	// Revision is the one that the event is about: that was made, decided on, or that woke pods.
	Revision int64 `json:"revision" example:"1042"`
	// CreatedAt is when it was made.
	CreatedAt *time.Time `json:"createdAt,omitempty"`
	// Cause is that of a revision: upload, change, bind or epoch, and AskedBy who asked for it.
	Cause   string `json:"cause,omitempty" example:"bind"`
	AskedBy string `json:"askedBy,omitempty" example:"token:ci"`
	// Changes is how many objects the revision changed.
	Changes int `json:"changes,omitempty"`
	// Decision is the id of a record, with its verb, outcome, pod and node, and BoundRevision is
	// what its bind made.
	Decision      string `json:"decision,omitempty"`
	Verb          string `json:"verb,omitempty" example:"decide"`
	Outcome       string `json:"outcome,omitempty" example:"Scheduled"`
	Node          string `json:"node,omitempty" example:"n1"`
	BoundRevision int64  `json:"boundRevision,omitempty" example:"1043"`
	// Placement is the id of a placement, whose decisions came before its own event, and Placed and
	// Failed are how many pods got a node and how many did not.
	Placement string `json:"placement,omitempty"`
	Placed    int    `json:"placed,omitempty"`
	Failed    int    `json:"failed,omitempty"`
	// Plugin is whose hint woke the pods, and Hint the change that it is about, as upstream labels
	// it, with the object that changed.
	Plugin string `json:"plugin,omitempty" example:"NodeResourcesFit"`
	Hint   string `json:"hint,omitempty" example:"NodeAdd"`
	Object string `json:"object,omitempty" example:"Node n1"`
	// Pods are those that the event is about: one of a decision, or those that were woken.
	Pods []Pod `json:"pods,omitempty"`
} // @name EventData

// Pod names a pod.
type Pod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
} // @name EventPod

// The kinds of events.
const (
	ofRevision  = "revision"
	ofDecision  = "decision"
	ofPlacement = "placement"
	ofWake      = "wake"
	ofBookmark  = "bookmark"
)

// Views returns the states at revisions, of which the wakes go on.
type Views interface {
	View(ctx context.Context, cluster string, rev int64) (*revision.View, error)
}

const (
	// pageSeals and pageRows bound what is read at once; one commit is read whole.
	pageSeals, pageRows = 64, 1000
	// wokenBytes bounds the names of pods in one event: more of them make more events.
	wokenBytes = 3000
)

// reader reads the events of one cluster behind a place.
type reader struct {
	log     admit.EventLog
	views   Views
	cluster string
	at      place
	wakes   *revision.Wakes // nil until a seal is read
}

// errGone reports that events behind the place are not stored any more.
var errGone = errors.New("events are gone")

// next reads some of the events behind the place, and moves it behind them. more is false where the
// last one that is stored is among them.
func (r *reader) next(ctx context.Context) (list []Event, more bool, err error) {
	seals, err := r.log.ListSeals(ctx, r.cluster, max(r.at.seal-1, 0), pageSeals, false)
	if err != nil {
		return nil, false, fmt.Errorf("read seals: %w", err)
	}
	more = len(seals) >= pageSeals
	skip := 0
	if r.at.seal > 0 {
		if len(seals) == 0 || seals[0].Number != r.at.seal || short(seals[0].Hash) != r.at.hash {
			return nil, false, errGone
		}
		if skip = r.at.event; skip >= whole {
			seals, skip = seals[1:], 0
		}
	}
	if seals, more = some(seals, more); len(seals) == 0 {
		return nil, more, nil
	}
	x, err := r.rows(ctx, seals)
	if err != nil {
		return nil, false, err
	}
	for _, s := range seals {
		of, err := r.eventsOf(s, x)
		if err != nil {
			return nil, false, err
		}
		list = append(list, of[min(skip, len(of)):]...)
		skip, r.at = 0, behind(s.Number, s.Hash)
	}
	return list, more, nil
}

// some returns the seals of a page: few rows, or one seal.
func some(seals []*store.Seal, more bool) ([]*store.Seal, bool) {
	rows := 0
	for i, s := range seals {
		if rows += len(s.RowHashes) / 32; rows > pageRows && i > 0 {
			return seals[:i], true
		}
	}
	return seals, more
}

// rows are what seals are of.
type rows struct {
	decisions []*store.Decision
	revisions []*store.Revision
}

// rows reads what the seals of a page are of.
func (r *reader) rows(ctx context.Context, seals []*store.Seal) (*rows, error) {
	x := &rows{}
	first, last := seals[0], seals[len(seals)-1]
	n := 0
	for _, s := range seals {
		n += len(s.RowHashes) / 32
	}
	var err error
	if n > 0 {
		if x.decisions, err = r.log.FollowDecisions(ctx, r.cluster, first.AfterSeq, n); err != nil {
			return nil, fmt.Errorf("read decisions: %w", err)
		}
	}
	for after := first.AfterRevision; after < last.Revision; {
		page, err := r.log.RevisionsAfter(ctx, r.cluster, after, pageSeals)
		if err != nil {
			return nil, fmt.Errorf("read revisions: %w", err)
		}
		if len(page) == 0 {
			break
		}
		x.revisions = append(x.revisions, page...)
		after = page[len(page)-1].Number
	}
	if r.wakes == nil {
		var v *revision.View
		if first.AfterRevision > 0 {
			if v, err = r.views.View(ctx, r.cluster, first.AfterRevision); err != nil && !errors.Is(err, store.ErrNotFound) {
				return nil, fmt.Errorf("read what woke pods: %w", err)
			}
		}
		r.wakes = revision.WakesFrom(v)
	}
	return x, nil
}

// eventsOf returns the events of a seal: each decision behind the revisions that it knows. The
// order depends on what is stored alone.
func (r *reader) eventsOf(s *store.Seal, x *rows) (list []Event, err error) {
	var items store.SealItems
	if s.Items != nil {
		if err := json.Unmarshal(s.Items, &items); err != nil {
			return nil, fmt.Errorf("read seal %d of cluster %s: %w", s.Number, s.Cluster, err)
		}
	}
	if items.Before != nil { // their order is not known
		return nil, errGone
	}
	decisions := between(x.decisions, s.AfterSeq, s.Seq, func(d *store.Decision) int64 { return d.Seq })
	revisions := between(x.revisions, s.AfterRevision, s.Revision, func(v *store.Revision) int64 { return v.Number })
	if len(decisions) != len(s.RowHashes)/32 || len(revisions) != len(items.Revisions) {
		return nil, errGone
	}
	add := func(e Event) {
		e.ID, e.Data.Cluster = place{s.Number, len(list) + 1, short(s.Hash)}.String(), r.cluster
		list = append(list, e)
	}
	upTo := func(number int64) {
		for len(revisions) > 0 && revisions[0].Number <= number {
			add(eventOfRevision(revisions[0]))
			for _, w := range r.wakes.Next(revisions[0]) {
				eachWake(revisions[0], w, add)
			}
			revisions = revisions[1:]
		}
	}
	var placed Data
	var namespaces []string
	for i, d := range decisions {
		upTo(max(d.Revision, d.BoundRevision))
		add(eventOfDecision(d))
		if d.Placement == "" {
			continue
		}
		if placed.Placement != d.Placement {
			placed = Data{Placement: d.Placement, Revision: d.Revision, CreatedAt: &d.CreatedAt, AskedBy: d.Asked.By}
			namespaces = nil
		}
		if !slices.Contains(namespaces, d.Namespace) {
			namespaces = append(namespaces, d.Namespace)
		}
		if placed.BoundRevision = max(placed.BoundRevision, d.BoundRevision); d.Outcome == "Scheduled" {
			placed.Placed++
		} else {
			placed.Failed++
		}
		if i+1 == len(decisions) || decisions[i+1].Placement != d.Placement {
			add(Event{Event: ofPlacement, Data: placed, namespaces: namespaces})
		}
	}
	upTo(s.Revision)
	return list, nil
}

// between returns the rows of a list with after < number <= to.
func between[T any](list []T, after, to int64, number func(T) int64) []T {
	place := func(n int64) int {
		i, _ := slices.BinarySearchFunc(list, n+1, func(v T, n int64) int { return cmp.Compare(number(v), n) })
		return i
	}
	if to <= after {
		return nil
	}
	return list[place(after):place(to)]
}

func eventOfRevision(v *store.Revision) Event {
	return Event{Event: ofRevision, Data: Data{Revision: v.Number, CreatedAt: &v.CreatedAt, Cause: v.Cause, AskedBy: v.Asked.By, Changes: v.Changes}}
}

func eventOfDecision(d *store.Decision) Event {
	return Event{Event: ofDecision, namespaces: []string{d.Namespace}, Data: Data{
		Revision: d.Revision, CreatedAt: &d.CreatedAt, AskedBy: d.Asked.By, Decision: d.ID, Verb: d.Verb, Outcome: d.Outcome, Node: d.Node,
		BoundRevision: d.BoundRevision, Placement: d.Placement, Pods: []Pod{{d.Namespace, d.Pod}},
	}}
}

// eachWake adds the events of what one change woke.
func eachWake(v *store.Revision, w revision.WokenPods, add func(Event)) {
	e := Event{Event: ofWake}
	size := 0
	flush := func() {
		if len(e.Data.Pods) > 0 {
			e.Data.Revision, e.Data.CreatedAt, e.Data.Plugin, e.Data.Hint = v.Number, &v.CreatedAt, w.Plugin, w.Event
			e.Data.Object, e.about = w.Object.Kind+" "+w.Object.Name, w.Object.Namespace
			if w.Object.Namespace != "" {
				e.Data.Object = w.Object.Kind + " " + w.Object.Namespace + "/" + w.Object.Name
			}
			add(e)
		}
		e, size = Event{Event: ofWake}, 0
	}
	for _, p := range w.Pods {
		const around = len(`{"namespace":"","name":""},`)
		if size += len(p.Namespace) + len(p.Name) + around; size > wokenBytes {
			flush()
			size = len(p.Namespace) + len(p.Name) + around
		}
		e.Data.Pods = append(e.Data.Pods, Pod(p))
	}
	flush()
}

// shownTo leaves out what a caller of some namespaces may not see, and reports whether anything is
// left.
func (e *Event) shownTo(sees func(namespace string) bool) bool {
	switch e.Event {
	case ofRevision:
		e.Data.AskedBy = "" // it may have been about others
	case ofWake:
		e.Data.Pods = slices.DeleteFunc(e.Data.Pods, func(p Pod) bool { return !sees(p.Namespace) })
		if e.about != "" && !sees(e.about) {
			e.Data.Object = ""
		}
		return len(e.Data.Pods) > 0
	}
	return !slices.ContainsFunc(e.namespaces, func(ns string) bool { return !sees(ns) })
}
