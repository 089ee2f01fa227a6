package handlers

import (
	"errors"
	"log/slog"
	"net/http"

	"berth/internal/decision"
	"berth/internal/decision/bind"
	"berth/internal/handlers/wire"
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
//	@Success		200		{object}	ExtenderBindingResult
//	@Failure		400,401,403,413,415,500	{object}	Problem
//	@Failure		503		"overloaded, or the bind could not be recorded in time"
//	@Router			/bind [post]
//	@Router			/clusters/{cluster}/bind [post]
func (a *extenderAPI) bind(w http.ResponseWriter, r *http.Request) error {
	if err := a.known(r); err != nil {
		return a.bindRefused(w, r, err)
	}
	body, err := rawBody(w, r, a.limits.BindMaxBytes, "bind-max-bytes")
	if err != nil {
		return err
	}
	args, err := wire.ParseBindingArgs(body, a.limits.bind())
	if err != nil {
		var limit *wire.LimitError
		if errors.As(err, &limit) && limit.Limit != "bytes" {
			return badRequest("the body is no binding: it has too many values") // the protocol has four strings
		}
		return err
	}
	name := byCluster(r)
	a.strangers.bound(name)
	out, err := a.binder.Bind(r.Context(), name, decision.PodRef{Namespace: args.PodNamespace, Name: args.PodName, UID: args.PodUID}, args.Node)
	if err != nil {
		return a.bindRefused(w, r, noSnapshot(name, err))
	}
	if out.Decision != "" {
		w.Header().Set(decisionIDHeader, out.Decision)
	}
	a.log.LogAttrs(r.Context(), slog.LevelDebug, "bound", slog.String("snapshot", out.Snapshot), slog.Bool("before", out.AlreadyBound))
	return writeBytes(w, http.StatusOK, wire.AppendBindingResult(nil, ""))
}

// bindRefused tells kube-scheduler in words why not; of any other status it would show no more than
// the number.
func (a *extenderAPI) bindRefused(w http.ResponseWriter, r *http.Request, err error) error {
	var refused *bind.RefusedError
	detail := ""
	if errors.As(err, &refused) {
		detail = refused.Error()
	} else {
		e := translate(err)
		if e.Status >= http.StatusInternalServerError || e.Status == statusClientGone {
			return err
		}
		detail = e.Detail
	}
	a.log.LogAttrs(r.Context(), slog.LevelInfo, "bind refused", slog.String("route", routePattern(r)), slog.String("error", clipped(detail, maxDetail)))
	return writeBytes(w, http.StatusOK, wire.AppendBindingResult(nil, clipped(detail, maxDetail)))
}
