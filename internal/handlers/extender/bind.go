package extender

import (
	"errors"
	"log/slog"
	"net/http"

	"berth/internal/decision"
	"berth/internal/decision/bind"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/handlers/extender/wire"
)

// bind writes a pod's binding into the cluster's state.
//
//	@Summary		Bind a pod (kube-scheduler's extender protocol)
//	@Description	Idempotent by UID: binding the same pod to the same node again succeeds. Binding it to another node is an Error.
//	@Tags			extender
//	@Accept			json
//	@Produce		json
//	@Param			cluster	path		string				true	"the cluster"
//	@Param			body	body		ExtenderBindingArgs	true	"pod and node"
//	@Param			Idempotency-Key	header	string	false	"a key under which the call is done once in 24 hours"
//	@Success		200		{object}	ExtenderBindingResult
//	@Failure		400,401,403,409,413,415,422,500	{object}	exchange.Problem
//	@Failure		503		"overloaded, or the bind could not be recorded in time"
//	@Router			/bind [post]
//	@Router			/clusters/{cluster}/bind [post]
func (a *API) bind(w http.ResponseWriter, r *http.Request) error {
	if err := a.known(r); err != nil {
		return a.bindRefused(w, r, err)
	}
	body, err := exchange.RawBody(w, r, a.Limits.BindMaxBytes, "bind-max-bytes")
	if err != nil {
		return err
	}
	args, err := wire.ParseBindingArgs(body, a.Limits.Bind())
	if err != nil {
		var limit *wire.LimitError
		if errors.As(err, &limit) && limit.Limit != "bytes" {
			return exchange.BadRequest("the body is no binding: it has too many values") // the protocol has four strings
		}
		return err
	}
	name := exchange.ByCluster(r)
	a.strangers.bound(name)
	out, err := a.binder.Bind(r.Context(), name, decision.PodRef{Namespace: args.PodNamespace, Name: args.PodName, UID: args.PodUID}, args.Node)
	if err != nil {
		return a.bindRefused(w, r, admit.NoSnapshot(name, err))
	}
	if out.Decision != "" {
		w.Header().Set(exchange.DecisionIDHeader, out.Decision)
	}
	a.Log.LogAttrs(r.Context(), slog.LevelDebug, "bound", slog.String("snapshot", out.Snapshot), slog.Bool("before", out.AlreadyBound))
	return exchange.WriteBytes(w, http.StatusOK, wire.AppendBindingResult(nil, ""))
}

// bindRefused tells kube-scheduler in words why not; of any other status it would show no more than
// the number.
func (a *API) bindRefused(w http.ResponseWriter, r *http.Request, err error) error {
	var refused *bind.RefusedError
	detail := ""
	if errors.As(err, &refused) {
		detail = refused.Error()
	} else {
		e := exchange.Translate(err)
		if e.Status >= http.StatusInternalServerError || e.Status == exchange.StatusClientGone {
			return err
		}
		detail = e.Detail
	}
	a.Log.LogAttrs(r.Context(), slog.LevelInfo, "bind refused", slog.String("route", exchange.RoutePattern(r)), slog.String("error", exchange.Clipped(detail, exchange.MaxDetail)))
	return exchange.WriteBytes(w, http.StatusOK, wire.AppendBindingResult(nil, exchange.Clipped(detail, exchange.MaxDetail)))
}
