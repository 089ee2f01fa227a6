package handlers

import (
	"context"
	"net/http"
	"sync/atomic"

	"berth/internal/scenario"
	"berth/internal/store"
)

// API answers HTTP. It is safe for concurrent use.
type API struct {
	*admission
	rest     *restAPI
	extender *extenderAPI
	checks   []Check
	notes    []Note
	scrape   http.Handler
	draining atomic.Bool
}

// New makes an API.
func New(o Options) (*API, error) {
	adm, err := newAdmission(&o)
	if err != nil {
		return nil, err
	}
	a := &API{admission: adm, extender: newExtender(adm, o), checks: o.Checks, notes: o.Notes, scrape: o.Metrics}
	a.rest, err = newREST(adm, o, a.extender.forget)
	return a, err
}

// Drain makes the server not ready, so that no new requests are sent to it while it shuts down.
// Requests are still answered.
func (a *API) Drain() {
	a.draining.Store(true)
}

// RunSimulation is the work of the jobs that POST /v1/simulations starts.
func (a *API) RunSimulation(ctx context.Context, job *store.Job, question []byte, watch *scenario.Watch) (result []byte, err error) {
	return a.rest.RunSimulation(ctx, job, question, watch)
}
