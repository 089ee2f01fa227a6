package extender

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/footprint"
	"berth/internal/engine/state"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/handlers/extender/wire"
	"berth/internal/handlers/limits"
	"berth/internal/handlers/observe"
	"berth/internal/kube/object"
	"berth/internal/memory"
	"berth/internal/revision"
	"berth/internal/span"
	"berth/internal/steps"
)

// unknownNode is said of a node that the snapshot lacks. kube-scheduler counts equal texts, so it
// names nothing.
const unknownNode = "node(s) not known to berth yet"

// filter answers kube-scheduler's question which of these nodes would do.
//
//	@Summary		Filter nodes (kube-scheduler's extender protocol)
//	@Description	The answer has the form of the request: NodeNames (nodeCacheCapable: true) or Nodes. A failed decision is 200 with Error set.
//	@Tags			extender
//	@Accept			json
//	@Produce		json
//	@Param			cluster	path		string				true	"the cluster"
//	@Param			body	body		ExtenderArgs		true	"the pod and the nodes to judge"
//	@Success		200		{object}	ExtenderFilterResult
//	@Failure		400,401,403,413,415,500	{object}	exchange.Problem
//	@Failure		503		"overloaded, or the answer could not be recorded in time"
//	@Router			/filter [post]
//	@Router			/clusters/{cluster}/filter [post]
func (a *API) filter(w http.ResponseWriter, r *http.Request) error {
	return a.judge(w, r, "filter")
}

// prioritize answers how good each of these nodes would be.
//
//	@Summary		Score nodes, 0 to 10 (kube-scheduler's extender protocol)
//	@Description	The best of the nodes in the request get 10, the others fall by what their totals are lower, and a node that does not fit gets 0. The protocol has no field for an error here, so that any failure is a status other than 200.
//	@Tags			extender
//	@Accept			json
//	@Produce		json
//	@Param			cluster	path		string			true	"the cluster"
//	@Param			body	body		ExtenderArgs	true	"the pod and the nodes to score"
//	@Success		200		{array}		HostPriority
//	@Failure		400,401,403,404,409,413,415,422,500	{object}	exchange.Problem
//	@Failure		503		"overloaded, or the answer could not be recorded in time"
//	@Router			/prioritize [post]
//	@Router			/clusters/{cluster}/prioritize [post]
//	@Router			/score-only/prioritize [post]
//	@Router			/clusters/{cluster}/score-only/prioritize [post]
func (a *API) prioritize(w http.ResponseWriter, r *http.Request) error {
	err := a.judge(w, r, "prioritize")
	if err != nil && exchange.Translate(err).Kind != "overload" {
		a.Metrics.PrioritizeFailed(r.Context(), exchange.Translate(err).Kind)
	}
	return err
}

// known reports why a call's cluster has no state, if it has none.
func (a *API) known(r *http.Request) error {
	name := exchange.ByCluster(r)
	if err := revision.CheckName(name); err != nil {
		return err
	}
	_, err := admit.ViewOf(r.Context(), a.clusters, name, 0)
	return err
}

// filterRefused tells kube-scheduler in words why its nodes were not judged.
func (a *API) filterRefused(w http.ResponseWriter, r *http.Request, buf []byte, e *exchange.Error) error {
	a.Log.LogAttrs(r.Context(), slog.LevelInfo, "refused", slog.Int("status", e.Status), slog.String("route", exchange.RoutePattern(r)), slog.String("error", exchange.Clipped(e.Error(), exchange.MaxDetail)))
	return exchange.WriteBytes(w, http.StatusOK, wire.AppendFilterError(buf, exchange.Clipped(e.Detail, exchange.MaxDetail)))
}

// classOf returns a call's class by its size, before its body is read, and how large that may be:
// what is larger than any list of names is in Nodes mode.
func (a *API) classOf(r *http.Request) (c *admit.CallClass, limit limits.Bytes, setting string) {
	if r.ContentLength >= 0 && r.ContentLength <= int64(a.Limits.FilterMaxBytes) {
		return a.FilterCalls, a.Limits.FilterMaxBytes, "filter-max-bytes"
	}
	return a.NodesCalls, a.Limits.NodesMaxBytes, "nodes-max-bytes"
}

// call is the memory of one extender call, kept for the next.
type call struct {
	args     wire.FilterArgs
	failures []wire.Failure
	scores   []int64
	rows     []int32
	seen     state.Bits
	table    nameTable
	reply    []byte
	id       string
	pod      *corev1.Pod // as asked about
	held     bool        // an answer that rejects was not given
	ahead    bool        // args were read by table already
}

var calls = sync.Pool{New: func() any { return new(call) }}

// done gives back a call's memory, without what it shares with the body.
func (c *call) done() {
	if cap(c.reply) > wire.MaxPooledBuffer {
		return
	}
	c.args.Pod, c.table, c.id, c.pod, c.held, c.ahead = nil, nameTable{}, "", nil, false, false
	clear(c.args.Unknown)
	clear(c.args.Nodes)
	clear(c.failures)
	calls.Put(c)
}

// judge answers a call about nodes. A cluster without a snapshot is refused in the same words as
// anything else that a body says, the body unread.
func (a *API) judge(w http.ResponseWriter, r *http.Request, verb string) error {
	class, limit, setting := a.classOf(r)
	r, end, err := a.Admit(w, r, class, exchange.ByCluster(r))
	if err != nil {
		return err
	}
	defer end()
	if err := a.known(r); err != nil {
		if e := exchange.Translate(err); verb == "filter" && e.Status < http.StatusInternalServerError {
			return a.filterRefused(w, r, nil, e)
		}
		return err
	}
	body, err := exchange.RawBody(w, r, limit, setting)
	if err != nil {
		return err
	}
	start := time.Now()
	c := calls.Get().(*call)
	defer c.done()
	ask := func(final bool) error { return a.ask(r, verb, "", body, c, start, final) }
	err = a.held(r, verb, func() *corev1.Pod { return c.pod }, ask)
	late := exchange.Behind(err)
	if late != nil && verb == "prioritize" {
		err = ask(true) // no score stands in no pod's way
	}
	var refused *protocolError
	switch {
	case err == nil:
	case errors.As(err, &refused):
		return refused.error
	case verb == "filter" && (late != nil || exchange.Translate(err).Status < http.StatusInternalServerError && exchange.Translate(err).Status != exchange.StatusClientGone):
		return a.filterRefused(w, r, c.reply[:0], exchange.Translate(err))
	default:
		return err
	}
	if c.id != "" {
		w.Header().Set(exchange.DecisionIDHeader, c.id)
	}
	return exchange.WriteBytes(w, http.StatusOK, c.reply)
}

// protocolError wraps what is wrong with a body that isn't the protocol, in contrast to what it
// says.
type protocolError struct{ error }

// unprotocol tells an object that is none of its kind, for a field of it has another type, from one
// with a bad value.
func unprotocol(err error) error {
	e := exchange.Translate(err)
	wrong := e.Status != http.StatusUnprocessableEntity
	for _, f := range e.Fields {
		if f.Type == string(field.ErrorTypeTypeInvalid) {
			wrong = true
		}
	}
	if !wrong {
		return err
	}
	if e.Status == http.StatusUnprocessableEntity {
		e.Status, e.Kind = http.StatusBadRequest, "malformed"
	}
	return &protocolError{e}
}

// Unwrap returns the error itself.
func (e *protocolError) Unwrap() error { return e.error }

// ask reads the question, unless that was done, puts it and writes the answer to c.reply, where
// that is not a shadow's. An answer that rejects is none unless it is final: errRejects. The answer
// must not be sent before ask returns: only then is it on record.
func (a *API) ask(r *http.Request, verb, mode string, body []byte, c *call, start time.Time, final bool) error {
	name := exchange.ByCluster(r)
	if err := revision.CheckName(name); err != nil {
		return err
	}
	view, err := admit.ViewOf(r.Context(), a.clusters, name, 0)
	if err != nil {
		return err
	}
	table, cache := a.names.of(view), a.nodes.of(name)
	if !c.ahead || !c.args.HasNames || c.table.set != table.set {
		c.table = table
		parser := wire.Parser{Limits: a.Limits.Filter(), Names: table.names, Known: cache, Steps: steps.Of(r.Context())}
		_, decode := span.Start(r.Context(), span.Decode)
		err := parser.FilterArgs(body, &c.args)
		decode.End(err)
		if r.Context().Err() != nil {
			return r.Context().Err()
		}
		if err != nil {
			return &protocolError{extenderLimit(err)}
		}
	}
	if err := memory.Take(r.Context(), object.Weight(c.args.Pod)); err != nil {
		return err
	}
	q, err := a.question(c, verb, view)
	if err != nil {
		return err
	}
	q.Mode, c.pod = mode, q.Pod
	if verb == decision.VerbFilter && mode == "" {
		if err := a.unserved(name, q.Pod); err != nil {
			return err
		}
	}
	if c.args.HasNodes && !c.args.HasNames {
		if q.Nodes, err = a.standIns(r.Context(), c, cache); err != nil {
			return err
		}
	}
	e, err := a.decisions.Evaluate(r.Context(), q)
	if err != nil {
		return err
	}
	if mode != decision.ModeShadow { // which has its answer
		if err := a.reply(r.Context(), name, verb, c, e.Result, final); err != nil {
			e.Release()
			return err
		}
	}
	res := e.Result
	a.judged(r.Context(), e, engine.Counts{Nodes: res.Considered(), Feasible: res.Feasible.Count()}, explain.Failures(res), start)
	_, err = a.decisions.Write(r.Context(), e)
	c.id = e.Record.ID
	return err
}

// reply writes the answer of a result.
func (a *API) reply(ctx context.Context, name, verb string, c *call, res *engine.Result, final bool) error {
	c.place(res.Nodes())
	if c.rejects(verb, res.Feasible.Has) {
		if err := a.mayReject(name, verb, c, final); err != nil {
			return err
		}
	}
	if verb != "filter" {
		c.score(res)
		return nil
	}
	if err := memory.Take(ctx, footprint.Reasons(res)); err != nil {
		return err
	}
	c.filter(res)
	return nil
}

// judged counts and logs what was decided for a call.
func (a *API) judged(ctx context.Context, e *record.Entry, counts engine.Counts, failures []engine.FailureCount, start time.Time) {
	pod := e.Question.Pod
	if p := e.Result.Query.Profile.Name; p != pod.Spec.SchedulerName {
		a.FellBack(ctx, e.Verb, e.Cluster, pod.Spec.SchedulerName, p)
	}
	a.Metrics.Decided(ctx, e.Verb, "", e.Result.Outcome, counts, failures, nil, time.Since(start))
	a.LogDecision(ctx, observe.Decided{
		Verb: e.Verb, Snapshot: e.View.ID(), Namespace: pod.Namespace, Pod: pod.Name,
		Outcome: string(e.Result.Outcome), Took: time.Since(start),
	})
}

// question makes the question that the log answers.
func (a *API) question(c *call, verb string, view *revision.View) (q decision.Question, err error) {
	switch {
	case c.args.Pod == nil:
		return q, &protocolError{fieldMissing("Pod")}
	case !c.args.HasNames && !c.args.HasNodes:
		return q, &protocolError{fieldMissing("NodeNames or Nodes")}
	}
	decoded, js, err := a.scheduledPods.Decode(c.args.Pod)
	if err != nil {
		return q, unprotocol(exchange.InField("Pod", err))
	}
	// kube-scheduler requests the nominated node by offering it alone; it is not to hide the others
	// here.
	pod := *decoded
	nominated := pod.Status.NominatedNodeName
	if nominated != "" {
		pod.Status.NominatedNodeName, js = "", nil
	}
	q = decision.Question{
		Verb: verb, Nominated: nominated, Cluster: view.Cluster, Revision: view.Revision, Pod: &pod, PodJSON: js,
		Explain: engine.ExplainNone, NoPreemption: true, ScoreAlways: verb == "prioritize",
	}
	if c.args.HasNames {
		q.NodeNames = c.candidates()
	}
	return q, nil
}

// candidates returns the names that the snapshot has, each once, or nil if those are all of it: the
// record of a decision is short then, and 5,000 names cost nothing.
func (c *call) candidates() []string {
	set := c.table.set
	if n := len(set.Alive()); cap(c.seen) < n {
		c.seen = make(state.Bits, n)
	} else {
		c.seen = c.seen[:n]
		c.seen.Zero()
	}
	for _, row := range c.args.Rows {
		if row >= 0 {
			c.seen.Set(int(row))
		}
	}
	c.seen.And(set.Alive())
	count := c.seen.Count()
	if count == set.Count() {
		return nil
	}
	names := make([]string, 0, count)
	for row := range c.seen.All() {
		names = append(names, set.Node(row).Name)
	}
	return names
}

// standIns decodes the nodes that were sent, those that came before not at all.
func (a *API) standIns(ctx context.Context, c *call, cache *wire.NodeCache[*corev1.Node]) ([]*corev1.Node, error) {
	nodes := make([]*corev1.Node, 0, len(c.args.Nodes))
	lim := a.Limits.Objects()
	for i, item := range c.args.Nodes {
		n, err := cache.Value(item, func(raw []byte) (*corev1.Node, error) {
			if err := memory.Take(ctx, exchange.NodeFactor*int64(len(raw))+object.Weight(raw)); err != nil {
				return nil, err
			}
			return object.DecodeNode(raw, lim)
		})
		if err != nil {
			return nil, unprotocol(exchange.InField("Nodes.items["+strconv.Itoa(i)+"]", err))
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// extenderLimit names the setting of a limit of wire.
func extenderLimit(err error) error {
	var limit *wire.LimitError
	if errors.As(err, &limit) {
		return exchange.TooLarge(limits.WireNames[limit.Limit], limit.Error())
	}
	return err
}

func fieldMissing(name string) error { return &wire.MissingError{Field: name} }
