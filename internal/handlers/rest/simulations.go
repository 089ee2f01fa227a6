package rest

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"berth/internal/engine"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/revision"
	"berth/internal/scenario"
	"berth/internal/world"
)

// base implements scenarioRequest. A scenario brings its configurations itself.
func (q *SimulationRequest) base() *ScenarioBase {
	return &ScenarioBase{Edits: q.Edits, Semantics: q.Semantics}
}

// at returns the revision that a scenario begins at, and its time.
func (q *SimulationRequest) at(ctx context.Context, a *API) (at asOf, err error) {
	if h := q.Arrivals.History; h != nil && h.Cluster != "" {
		if err := admit.MayIn(ctx, h.Cluster); err != nil {
			return at, err
		}
	}
	if h := q.Arrivals.History; q.Base == "" && h != nil {
		if err := h.Check(); err != nil {
			return at, err
		}
		h.Cluster = cmp.Or(h.Cluster, exchange.DefaultCluster)
		first, err := a.decisions.Started(ctx, h.Cluster, h.Since, h.Until)
		if err != nil {
			return at, err
		}
		q.Base = revision.FormatID(h.Cluster, first)
	}
	if q.Base == "" {
		q.Base = revision.FormatID(exchange.DefaultCluster, 0)
	}
	name, rev, err := revision.ParseID(q.Base)
	if err != nil {
		return at, exchange.BadField(http.StatusBadRequest, "base", exchange.Reason(err))
	}
	if at.view, err = a.view(ctx, name, rev); err != nil {
		return at, err
	}
	if at.now = at.view.CreatedAt; q.Now != nil {
		at.now = *q.Now
	}
	return at, nil
}

// history reads recorded decisions as arrivals.
func (c *scenarioCall) history(ctx context.Context, h *scenario.History, most int, progress func(done int)) (out []world.Arrival, err error) {
	name := cmp.Or(h.Cluster, c.at.view.Cluster)
	list, more, err := c.a.decisions.History(ctx, name, h.Since, h.Until, most, progress)
	if more {
		return nil, exchange.BadField(http.StatusUnprocessableEntity, "arrivals.history", fmt.Sprintf("more than %d pods were asked about in this time: want a shorter one", most))
	}
	if err == nil && len(list) == 0 {
		c.posted.warnings = append(c.posted.warnings, "arrivals.history: no pod was asked about in cluster "+name+" in this time")
	}
	for _, x := range list {
		out = append(out, world.Arrival{Pod: x.Pod, At: x.At.Sub(list[0].At)})
	}
	return out, err
}

// configuration reads a configuration at a place of the body; the cluster's own without one.
func (c *scenarioCall) configuration(at string, conf *scenario.Configuration) ([]*engine.Profile, error) {
	name := c.at.view.Cluster
	list, err := c.a.asked(name, cmp.Or(conf.Semantics, c.semantics), at, conf.Config, c.posted)
	if list == nil {
		list = c.a.configured.Of(name)
	}
	return list, err
}
