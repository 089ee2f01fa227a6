package extender

import (
	"log/slog"
	"net/http"
	"time"

	"berth/internal/decision"
	"berth/internal/handlers/exchange"
	"berth/internal/handlers/extender/wire"
	"berth/internal/handlers/limits"
)

// The calls below /shadow are for a scheduler that is recorded and not influenced: every node
// passes, no node gets a score, every preemption stands. berth's own decision is recorded. Whatever
// fails there, the scheduler's answer is the same; failures are counted and logged.

// shadowFilter lets every node pass and records what berth would have said.
//
//	@Summary		Record a filter call and return all nodes
//	@Description	A recorder for any scheduler. berth's own decision is recorded with mode shadow. The answer is always all nodes of the request, even after an error. /score-only/filter does the same, next to a /score-only/prioritize that returns scores.
//	@Tags			extender
//	@Accept			json
//	@Produce		json
//	@Param			cluster	path		string				true	"the cluster"
//	@Param			body	body		ExtenderArgs		true	"the pod and the nodes to judge"
//	@Success		200		{object}	ExtenderFilterResult
//	@Failure		400,401,403,404,413,415,422	{object}	exchange.Problem
//	@Failure		503		"a call with whole nodes, overloaded"
//	@Router			/shadow/filter [post]
//	@Router			/clusters/{cluster}/shadow/filter [post]
//	@Router			/score-only/filter [post]
//	@Router			/clusters/{cluster}/score-only/filter [post]
func (a *API) shadowFilter(w http.ResponseWriter, r *http.Request) error {
	return a.shadow(w, r, "filter")
}

// shadowPrioritize returns no scores and records those that berth would have given.
//
//	@Summary		Record a prioritize call and return no scores
//	@Tags			extender
//	@Accept			json
//	@Produce		json
//	@Param			cluster	path		string			true	"the cluster"
//	@Param			body	body		ExtenderArgs	true	"the pod and the nodes to score"
//	@Success		200		{array}		HostPriority
//	@Failure		400,401,403,404,413,415,422	{object}	exchange.Problem
//	@Failure		503		"a call with whole nodes, overloaded"
//	@Router			/shadow/prioritize [post]
//	@Router			/clusters/{cluster}/shadow/prioritize [post]
func (a *API) shadowPrioritize(w http.ResponseWriter, r *http.Request) error {
	return a.shadow(w, r, "prioritize")
}

// shadowPreempt lets every preemption stand and records what berth would have said of it.
//
//	@Summary		Record a preempt call and return all nodes and victims
//	@Tags			extender
//	@Accept			json
//	@Produce		json
//	@Param			cluster	path		string					true	"the cluster"
//	@Param			body	body		ExtenderPreemptionArgs	true	"the pod, and per node who would be evicted"
//	@Success		200		{object}	ExtenderPreemptionResult
//	@Failure		400,401,403,404,413,415,422	{object}	exchange.Problem
//	@Failure		503		"a call with whole nodes, overloaded"
//	@Router			/shadow/preempt [post]
//	@Router			/clusters/{cluster}/shadow/preempt [post]
//	@Router			/score-only/preempt [post]
//	@Router			/clusters/{cluster}/score-only/preempt [post]
func (a *API) shadowPreempt(w http.ResponseWriter, r *http.Request) error {
	return a.shadow(w, r, decision.VerbPreempt)
}

// stand returns the victims as they were asked about. A pod without a UID, which kube-scheduler
// never sends, is left out.
func stand(args *wire.PreemptionArgs) []wire.MetaVictims {
	if args.HasMetaVictims {
		return args.MetaVictims
	}
	out := make([]wire.MetaVictims, 0, len(args.Victims))
	for _, n := range args.Victims {
		v := wire.MetaVictims{Node: n.Node, NumPDBViolations: n.NumPDBViolations}
		for _, raw := range n.Pods {
			if one, err := namedVictim(raw); err == nil && one.UID != "" {
				v.UIDs = append(v.UIDs, one.UID)
			}
		}
		out = append(out, v)
	}
	return out
}

// readAhead reads a body: whether the call can be judged or not, its nodes are the answer. It reads
// no state, which may not be there; the names mostly are those of the call before.
func (a *API) readAhead(r *http.Request, body []byte, c *call) error {
	c.table = a.names.last(exchange.ByCluster(r))
	parser := wire.Parser{Limits: a.Limits.Filter(), Names: c.table.names}
	if err := parser.FilterArgs(body, &c.args); err != nil {
		return extenderLimit(err)
	}
	c.ahead = true
	return nil
}

// shadow reads a call and answers it after its judgement was recorded or has failed. It is admitted
// before its body is read. A call that is not admitted, or whose cluster has no state, is let pass
// without being judged if its body is small; all such calls share one gate.
func (a *API) shadow(w http.ResponseWriter, r *http.Request, verb string) error {
	class, limit, setting := a.classOf(r)
	on, end, err := a.Admit(w, r, class, exchange.ByCluster(r))
	switch {
	case err == nil:
		if err = a.known(on); err == nil {
			defer end()
			return a.pass(w, on, verb, limit, setting, nil)
		}
		end()
	case !exchange.Translate(err).Gate:
		return err
	}
	if class != a.FilterCalls {
		a.missed(r, err)
		return err
	}
	on, end, refused := a.Admit(w, r, a.PassCalls, "")
	if refused != nil {
		return refused
	}
	defer end()
	return a.pass(w, on, verb, limit, setting, err)
}

// pass answers a call with what lets it pass. It is judged unless unjudged is the reason that it
// cannot be.
func (a *API) pass(w http.ResponseWriter, r *http.Request, verb string, limit limits.Bytes, setting string, unjudged error) error {
	body, err := exchange.RawBody(w, r, limit, setting)
	if err != nil {
		return err
	}
	c := calls.Get().(*call)
	defer c.done()
	reply, victims, err := a.letPass(r, verb, body, c)
	if err != nil {
		return err
	}
	id := ""
	switch {
	case unjudged != nil:
	case victims != nil:
		id, _, unjudged = a.judgeVictims(r, decision.ModeShadow, victims)
	default:
		unjudged = a.ask(r, verb, decision.ModeShadow, body, c, time.Now(), true)
		id = c.id
	}
	if unjudged != nil {
		a.missed(r, unjudged)
	} else if id != "" {
		w.Header().Set(exchange.DecisionIDHeader, id)
	}
	return exchange.WriteBytes(w, http.StatusOK, reply)
}

// letPass reads a call and returns the answer that lets it pass, and for a preemption its victims.
func (a *API) letPass(r *http.Request, verb string, body []byte, c *call) (reply []byte, victims *wire.PreemptionArgs, err error) {
	if verb == decision.VerbPreempt {
		if victims, err = a.preemptionArgs(r.Context(), body); err != nil {
			return nil, nil, err
		}
		return wire.AppendPreemptionResult(nil, stand(victims)), victims, nil
	}
	if err := a.readAhead(r, body, c); err != nil {
		return nil, nil, err
	}
	if verb == "prioritize" {
		return []byte("[]"), nil, nil
	}
	c.pass()
	return c.reply, nil, nil
}

// missed counts a call that a shadow has no record of.
func (a *API) missed(r *http.Request, err error) {
	e := exchange.Translate(err)
	a.Metrics.Missed(r.Context(), e.Kind)
	if a.Seldom.Allow("shadow" + e.Kind) {
		a.Log.LogAttrs(r.Context(), slog.LevelWarn, "a call was let pass and not recorded", slog.String("route", exchange.RoutePattern(r)), slog.String("error", e.Error()))
	}
}
