package rest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"berth/internal/decision"
	"berth/internal/handlers/exchange"
	"berth/internal/memory"
	"berth/internal/revision"
	"berth/internal/scenario"
	"berth/internal/store"
)

// asOf is a revision of a cluster, and the time that it is looked at.
type asOf struct {
	view *revision.View
	now  time.Time
	// named reports whether the request named the time.
	named bool
}

// asOf reads the parameters snapshot and now. Without snapshot it is the newest revision; without
// now it is the server's time, or for an older revision and for a state that a scenario comes to
// the time of that.
func (a *API) asOf(r *http.Request, name string) (out asOf, err error) {
	query := r.URL.Query()
	newest, err := a.view(r.Context(), name, 0)
	if err != nil {
		return out, err
	}
	out.view = newest
	if query.Has("snapshot") {
		if out.view, err = a.stateOf(r.Context(), "snapshot", query.Get("snapshot"), name); err != nil {
			return out, err
		}
	}
	out.now = time.Now()
	if out.view.Revision < newest.Revision || revision.IsApart(out.view.ID()) {
		out.now = out.view.CreatedAt
	}
	if query.Has("now") {
		out.named = true
		if out.now, err = time.Parse(time.RFC3339, query.Get("now")); err != nil {
			return out, exchange.BadField(http.StatusBadRequest, "now", "want a time such as 2026-01-31T12:00:00Z")
		}
	}
	out.now = out.now.UTC().Truncate(time.Microsecond)
	return out, nil
}

// recordedAsOf is asOf for answers that are made of the decision log, too.
func (a *API) recordedAsOf(r *http.Request, name string) (out asOf, err error) {
	if text := r.URL.Query().Get("snapshot"); revision.IsApart(text) {
		_, _, err := revisionOf("snapshot", text)
		return out, err
	}
	return a.asOf(r, name)
}

// revisionOf reads the id of a revision at a place of the request, for what is written, recorded or
// read of the log.
func revisionOf(field, text string) (name string, rev int64, err error) {
	if revision.IsApart(text) {
		return "", 0, exchange.BadField(http.StatusUnprocessableEntity, field, "a state that a scenario comes to is no revision: it answers dry calls, and nothing is recorded, bound or changed in it")
	}
	if name, rev, err = revision.ParseID(text); err != nil {
		err = exchange.BadField(http.StatusBadRequest, field, exchange.Reason(err))
	}
	return name, rev, err
}

// stateOf returns the state that a place of the request names: a revision, or what a scenario comes
// to. It has to be of a cluster, of any for an empty one.
func (a *API) stateOf(ctx context.Context, field, text, cluster string) (v *revision.View, err error) {
	other := func() error {
		return exchange.BadField(http.StatusBadRequest, field, fmt.Sprintf("want a revision of cluster %s, such as %s", cluster, revision.FormatID(cluster, 0)))
	}
	if revision.IsApart(text) {
		id, at, err := revision.ParseApart(text)
		if err != nil {
			return nil, exchange.BadField(http.StatusBadRequest, field, exchange.Reason(err))
		}
		v, _, err := a.simulated(ctx, field, id, at)
		if err == nil && cluster != "" && v.Cluster != cluster {
			return nil, other()
		}
		return v, err
	}
	name, rev, err := revisionOf(field, text)
	if err != nil {
		return nil, err
	}
	if cluster != "" && name != cluster {
		return nil, other()
	}
	return a.view(ctx, name, rev)
}

// simulated returns the state that the scenario of a job comes to at a time, and the second since
// its start. The scenario is run again until then: a run has the same outcome each time, so the
// state is what the job's timeline tells of.
func (a *API) simulated(ctx context.Context, field, id, at string) (*revision.View, int64, error) {
	if err := checkJobID(field, id); err != nil {
		return nil, 0, err
	}
	job, err := a.simulations.Find(ctx, strings.ToLower(id))
	if err != nil {
		return nil, 0, err
	}
	if job.State != store.JobDone {
		return nil, 0, notDone(job.ID, job.State)
	}
	question, err := a.simulations.Question(ctx, job.ID)
	if err != nil {
		return nil, 0, err
	}
	_, rev, err := revision.ParseID(job.Snapshot)
	if err != nil {
		return nil, 0, err
	}
	c, req, err := a.recall(exchange.AsServer(ctx), jobOf{job.ID, job.Cluster, job.Kind, rev}, question)
	if err != nil {
		return nil, 0, err
	}
	q, ok := req.(*SimulationRequest)
	if !ok {
		return nil, 0, exchange.BadField(http.StatusUnprocessableEntity, field, "job "+job.ID+" is of a question about "+job.Kind+": want one of a scenario with a clock")
	}
	second, err := secondOf(field, at, c.at.now)
	if err != nil {
		return nil, 0, err
	}
	if v := a.apart.find(job.ID, second); v != nil {
		return v, second, nil
	}
	s, err := c.stage(exchange.AsServer(ctx), req)
	if err != nil {
		return nil, 0, err
	}
	v, err := q.At(exchange.AsServer(ctx), s, second, revision.FormatApart(job.ID, time.Duration(second)*time.Second))
	if err != nil {
		return nil, 0, err
	}
	a.apart.keep(ctx, job.ID, second, v, a.Budget)
	return v, second, nil
}

// secondOf reads a time of a scenario: since its start, of the clock on its day, or whole.
func secondOf(field, text string, start time.Time) (int64, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		var day time.Time
		if day, err = time.Parse(time.TimeOnly, text); err == nil {
			y, m, d := start.UTC().Date()
			if at = day.AddDate(y, int(m)-1, d-1); at.Before(start.Truncate(time.Second)) {
				at = at.AddDate(0, 0, 1)
			}
		}
	}
	if err != nil {
		return scenario.Seconds(field, text)
	}
	second := int64(at.Sub(start) / time.Second)
	if at.Before(start.Truncate(time.Second)) {
		return 0, decision.Errorf(decision.Invalid, field, "the scenario begins at %s", start.UTC().Format(time.RFC3339))
	}
	return scenario.Seconds(field, fmt.Sprint(second))
}

// apartViews keeps the states of scenarios that were asked for last. What they take beside their
// revision is charged, and given back where memory is short.
type apartViews struct {
	mu   sync.Mutex
	list []apartView // guarded by mu; the last one was asked for last
}

type apartView struct {
	job    string
	second int64
	view   *revision.View
	claim  *memory.Claim
}

// mostApart is how many are kept, and apartFactor about what one takes, in bytes a byte of JSON
// that it has otherwise than its revision.
const (
	mostApart   = 4
	apartFactor = 8
)

// find returns a state that is kept; nil where it is not.
func (k *apartViews) find(job string, second int64) *revision.View {
	k.mu.Lock()
	defer k.mu.Unlock()
	i := slices.IndexFunc(k.list, func(v apartView) bool { return v.job == job && v.second == second })
	if i < 0 {
		return nil
	}
	found := k.list[i]
	k.list = append(slices.Delete(k.list, i, i+1), found)
	return found.view
}

// keep keeps a state, where there is memory for it.
func (k *apartViews) keep(ctx context.Context, job string, second int64, v *revision.View, b *memory.Budget) {
	claim := b.Claim()
	if claim.Take(ctx, apartFactor*int64(v.Changed())) != nil {
		claim.End()
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.list) == mostApart {
		k.list[0].claim.End()
		k.list = slices.Delete(k.list, 0, 1)
	}
	k.list = append(k.list, apartView{job, second, v, claim})
}

// forget drops the states of a job, all for an empty one.
func (k *apartViews) forget(job string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list = slices.DeleteFunc(k.list, func(v apartView) bool {
		gone := job == "" || v.job == job
		if gone {
			v.claim.End()
		}
		return gone
	})
}
