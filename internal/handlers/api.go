package handlers

import (
	"context"
	"net/http"
	"sync/atomic"

	"berth/internal/handlers/admit"
	"berth/internal/handlers/events"
	"berth/internal/handlers/extender"
	"berth/internal/handlers/rest"
	"berth/internal/store"
	"berth/internal/world"
)

// API answers HTTP. It is safe for concurrent use.
type API struct {
	*admit.Admission
	rest     *rest.API
	extender *extender.API
	events   *events.API
	checks   []admit.Check
	notes    []admit.Note
	scrape   http.Handler
	draining atomic.Bool
	unknown  http.HandlerFunc // the page of an unknown address; nil without pages
}

// New makes an API.
func New(o admit.Options) (*API, error) {
	adm, err := admit.New(&o)
	if err != nil {
		return nil, err
	}
	a := &API{Admission: adm, extender: extender.New(adm, o), checks: o.Checks, notes: o.Notes, scrape: o.Metrics}
	a.events = events.New(adm, o.Events, o.Clusters)
	a.rest, err = rest.New(adm, o, a.extender.Forget)
	return a, err
}

// Drain makes the server not ready, so that no new requests are sent to it while it shuts down.
// Requests are still answered; those that wait for events end, with their places.
func (a *API) Drain() {
	a.draining.Store(true)
	a.events.Drain()
}

// RunSimulation is the work of the jobs that POST /v1/simulations starts.
func (a *API) RunSimulation(ctx context.Context, job *store.Job, question []byte, watch *world.Watch) (result []byte, err error) {
	return a.rest.RunSimulation(ctx, job, question, watch)
}
