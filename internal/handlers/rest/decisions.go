package rest

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/access"
	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/handlers/keyed"
	"berth/internal/handlers/observe"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/scenario"
	"berth/internal/semantics"
	"berth/internal/span"
)

// DecisionRequest asks where a pod goes.
type DecisionRequest struct {
	// Snapshot is the state to decide on; default@latest if absent. With bind it has to be named.
	// With dryRun it may be what a scenario comes to, as simulation:JOB@5m30s.
	Snapshot string `json:"snapshot,omitempty" example:"prod@1042"`
	// Pod is the v1.Pod to place, or a workload (Deployment, StatefulSet, DaemonSet, Job and so on)
	// of which one pod is placed. Either this or podRef.
	Pod json.RawMessage `json:"pod,omitempty" swaggertype:"object"`
	// PodRef names a pod of the snapshot.
	PodRef *PodName `json:"podRef,omitempty"`
	// NodeNames limits the nodes considered; absent: all.
	NodeNames []string `json:"nodeNames,omitempty"`
	// Profile is a profile's name; else the pod's schedulerName where such a profile exists, else
	// the first.
	Profile string `json:"profile,omitempty"`
	// Config is a KubeSchedulerConfiguration, as an object or as YAML in a string, to decide under
	// instead of the server's.
	Config json.RawMessage `json:"config,omitempty" swaggertype:"object"`
	// Semantics is the release of Kubernetes to decide as, and gates that are not at its defaults:
	// v1.37, or v1.37 StorageCapacityScoring=false. If absent, that of the cluster.
	Semantics string `json:"semantics,omitempty" example:"v1.37"`
	// Explain describes how much is written out: full, failures, groups, all (full, with every rule
	// that rejects a node) or none.
	Explain string `json:"explain,omitempty" enums:"full,failures,groups,all,none" default:"failures"`
	// ExplainNode names a node for explain all: beside those of the best 50 nodes, its scores are
	// told constraint by constraint and term by term.
	ExplainNode string `json:"explainNode,omitempty"`
	// Preempt false tries no preemption for this decision.
	Preempt *bool `json:"preempt,omitempty" default:"true"`
	// Suggest requests single changes that would make a pod fit that fits nowhere, each tried.
	Suggest bool `json:"suggest,omitempty"`
	// DryRun computes without recording; the answer has no id.
	DryRun bool `json:"dryRun,omitempty"`
	// Bind binds a Scheduled outcome in the same call, and writes the nomination of a Preempting
	// one; victims stay. It needs a snapshot.
	Bind bool `json:"bind,omitempty"`
	// With is what is otherwise than in the snapshot, made on a fork in memory before the decision,
	// with dryRun. The answer's snapshotDigest is that of the state with the edits.
	With *scenario.Edits `json:"with,omitempty"`
	// Now is the time that the decision is made at, for what depends on it; the server's time if
	// absent. It is recorded beside the time of the record.
	Now *time.Time `json:"now,omitempty"`
} // @name DecisionRequest

// PodName names a pod.
type PodName struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
} // @name PodName

// decide decides where a pod goes.
//
//	@Summary		Decide where a pod goes
//	@Description	The decision is recorded before it is answered, unless dryRun is set. A pod that fits nowhere is an answer, not an error.
//	@Tags			decisions
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			body			body		DecisionRequest	true	"the question"
//	@Param			fieldValidation	query		string			false	"how to treat unknown fields of the pod; Strict if absent"	Enums(Strict,Warn,Ignore)
//	@Param			Idempotency-Key	header	string	false	"a key under which the call is done once in 24 hours"
//	@Success		200		{object}	decision.Answer	"dryRun"
//	@Success		201		{object}	decision.Answer
//	@Failure		400,401,403,404,409,413,415,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/decisions [post]
func (a *API) decide(w http.ResponseWriter, r *http.Request) error {
	body, err := a.JSONBody(w, r, a.Limits.DecisionMaxBytes, "decision-max-bytes")
	if err != nil {
		return err
	}
	start := time.Now()
	p, err := a.posted(r)
	if err != nil {
		return err
	}
	_, decode := span.Start(r.Context(), span.Decode)
	q, apart, err := a.decodeDecision(r.Context(), body, p)
	decode.End(err)
	if err != nil {
		return err
	}
	q.Encoded = true
	evaluate := a.decisions.Decide
	switch {
	case q.Bind:
		evaluate = a.binder.Decide
	case apart != nil:
		evaluate = func(ctx context.Context, q decision.Question) (*decision.Answer, error) {
			return a.decideApart(ctx, apart, q)
		}
	}
	answer := keyed.Answering(r.Context(), func(ans *decision.Answer) error { return a.answerDecision(w, p, &q, ans) })
	ans, err := evaluate(r.Context(), q)
	if err != nil {
		if q.Revision == 0 && q.PodRef == nil {
			return admit.NoSnapshot(q.Cluster, err)
		}
		return err
	}
	a.Metrics.Decided(r.Context(), "decide", a.profileLabel(&q, ans.Profile), ans.Outcome, ans.Counts, ans.Failures, ans.NotEvaluated, time.Since(start))
	a.LogDecision(r.Context(), observe.Decided{
		Verb: ans.Verb, Snapshot: ans.Snapshot, Namespace: ans.Pod.Namespace, Pod: ans.Pod.Name,
		Outcome: string(ans.Outcome), Node: ans.Node, Took: time.Since(start),
	})
	if name := ans.ProfileFallback; name != "" {
		a.FellBack(r.Context(), ans.Verb, ans.Cluster, name, a.profileLabel(&q, ans.Profile))
	}
	return answer(ans)
}

// answerDecision writes the answer of a decision.
func (a *API) answerDecision(w http.ResponseWriter, p *posted, q *decision.Question, ans *decision.Answer) error {
	said := *p
	if name := ans.ProfileFallback; name != "" {
		said.warnings = append(slices.Clip(p.warnings), decision.FallbackText(name, ans.Profile))
	}
	ans.Warnings = said.warn(w)
	if q.DryRun {
		return exchange.WriteAnswer(w, http.StatusOK, ans)
	}
	exchange.SetHeader(w, exchange.DecisionIDHeader, ans.ID)
	exchange.SetHeader(w, "Location", "/v1/decisions/"+ans.ID)
	return exchange.WriteAnswer(w, http.StatusCreated, ans)
}

// profileLabel is a profile's name for metrics. Those of a configuration that came with the
// question are the caller's words, each of which would make series for good.
func (a *API) profileLabel(q *decision.Question, name string) string {
	if q.Profiles == nil {
		return name
	}
	if ours, _ := a.schedules(name); ours {
		return name
	}
	return observe.OtherLabel
}

// decideApart decides on a state that is no revision: what a scenario comes to, at its time unless
// the question names another, or a revision with edits. Nothing is recorded.
func (a *API) decideApart(ctx context.Context, v *revision.View, q decision.Question) (*decision.Answer, error) {
	if err := admit.MayPod(ctx, access.Decide, v.Cluster, ""); err != nil {
		return nil, err
	}
	if q.Now.IsZero() && revision.IsApart(v.ID()) {
		q.Now = v.CreatedAt
	}
	q, err := q.Normalize(time.Now)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	s := &decision.Scheduler{Configuration: a.configured, Classes: a.forks.Classes, MaxSteps: int64(a.Limits.MaxSteps)}
	ans, err := s.DryRun(ctx, v, q)
	if err == nil {
		ans.CreatedAt, ans.DurationMicros = time.Now().UTC().Truncate(time.Microsecond), time.Since(began).Microseconds()
	}
	return ans, err
}

// decodeDecision makes a question of a body; apart is the state that it is about where that is no
// revision.
func (a *API) decodeDecision(ctx context.Context, body []byte, p *posted) (q decision.Question, apart *revision.View, err error) {
	var req DecisionRequest
	if err := exchange.DecodeStrict(body, &req, exchange.DecisionBounds(&a.Limits)); err != nil {
		return q, nil, err
	}
	edited := req.With != nil
	if edited && (!req.DryRun || req.Bind) {
		return q, nil, exchange.BadField(http.StatusBadRequest, "with", "edits are made for one dry call: want dryRun beside it, without bind. POST /v1/snapshots/{id}/changes changes a cluster")
	}
	if (edited || revision.IsApart(req.Snapshot)) && req.DryRun && !req.Bind {
		id := cmp.Or(req.Snapshot, revision.FormatID(exchange.DefaultCluster, 0))
		if apart, err = a.stateOf(ctx, "snapshot", id, ""); err != nil {
			return q, nil, err
		}
		req.Snapshot = revision.FormatID(apart.Cluster, apart.Revision)
	}
	if q, err = a.questionOf(&req, p); err != nil || !edited {
		return q, apart, err
	}
	profiles := q.Profiles
	if profiles == nil {
		profiles = a.configured.Of(q.Cluster)
	}
	apart, err = a.edited(ctx, apart, req.With, profiles, p)
	return q, apart, err
}

// edited returns a state with the edits of a dry call, which decides under profiles.
func (a *API) edited(ctx context.Context, v *revision.View, e *scenario.Edits, profiles []*engine.Profile, p *posted) (*revision.View, error) {
	if err := admit.MayPod(ctx, access.Decide, v.Cluster, ""); err != nil {
		return nil, err
	}
	c := &scenarioCall{a: a, at: asOf{view: v, now: v.CreatedAt}, posted: p, classes: a.priorityClasses}
	out, err := c.editor().Apply(ctx, v, "with", e)
	if err != nil {
		return nil, err
	}
	return out.WithDaemons(ctx, c.options(profiles))
}

// questionOf makes a question of a request.
func (a *API) questionOf(req *DecisionRequest, p *posted) (q decision.Question, err error) {
	if req.Snapshot == "" && req.Bind && !req.DryRun {
		return q, exchange.BadField(http.StatusBadRequest, "snapshot", `with bind it has to be named, as in "prod@latest"`)
	}
	if req.Snapshot == "" {
		req.Snapshot = revision.FormatID(exchange.DefaultCluster, 0)
	}
	if q.Cluster, q.Revision, err = revisionOf("snapshot", req.Snapshot); err != nil {
		return q, err
	}
	if !exchange.IsNull(req.Pod) {
		explained := req.Explain != string(engine.ExplainNone)
		if err := p.sharedPod("pod", req.Pod, &q, explained); err != nil {
			return q, err
		}
	}
	if req.PodRef != nil {
		q.PodRef = &object.Key{Namespace: req.PodRef.Namespace, Name: req.PodRef.Name}
	}
	if q.Profiles, err = a.asked(q.Cluster, req.Semantics, "config", req.Config, p); err != nil {
		return q, err
	}
	if req.Now != nil {
		q.Now = *req.Now
	}
	q.NodeNames, q.Profile, q.Explain, q.ExplainNode = req.NodeNames, req.Profile, engine.Explain(req.Explain), req.ExplainNode
	q.NoPreemption, q.DryRun, q.Bind, q.Suggest = req.Preempt != nil && !*req.Preempt, req.DryRun, req.Bind, req.Suggest
	return q, nil
}

// decodePod decodes a pod of a request.
func (p *posted) decodePod(name string, raw json.RawMessage) (*corev1.Pod, error) {
	name, raw, err := p.pod(name, raw)
	if err != nil {
		return nil, err
	}
	pod, err := object.DecodePod(raw, p.limits)
	return pod, exchange.InField(name, err)
}

// sharedPod is decodePod for the pod of a question, which nothing writes to. Where warns is set it
// adds an API server's warnings, which callers that read no explanation do not wait for.
func (p *posted) sharedPod(name string, raw json.RawMessage, q *decision.Question, warns bool) error {
	at, text, err := p.pod(name, raw)
	if err != nil {
		return err
	}
	q.Pod, q.PodJSON, err = p.pods.Decode(text)
	var large field.ErrorList
	if err == nil {
		large = state.AmountErrors(q.Pod)
	}
	for _, e := range large {
		p.warnings = append(p.warnings, at+"."+e.Field+": "+e.Detail+"; it wraps, as in kube-scheduler, and the nodes are judged by what is left")
	}
	if err == nil && warns {
		template := strings.TrimPrefix(strings.TrimPrefix(at, name), ".")
		p.warnings = append(p.warnings, p.warned.Of(text, template, q.Pod.Name)...)
	}
	return exchange.InField(at, err)
}

// releaseOf reads the release that a request names; nil where it names none.
func releaseOf(at, text string) (*semantics.Release, error) {
	if text == "" {
		return nil, nil
	}
	r, err := semantics.Parse(text)
	if err != nil {
		return nil, exchange.BadField(http.StatusBadRequest, at, err.Error())
	}
	return r, nil
}

// asked returns the profiles that a request brings or names, by a configuration at a place of the
// body or by a release; nil: those of the cluster.
func (a *API) asked(cluster, release, at string, config json.RawMessage, p *posted) ([]*engine.Profile, error) {
	under, err := releaseOf(strings.TrimSuffix(at, "config")+"semantics", release)
	if err != nil || under == nil && exchange.IsNull(config) {
		return nil, err
	}
	if exchange.IsNull(config) {
		return a.configured.Under(under)
	}
	return a.parseConfig(at, config, cmp.Or(under, a.configured.Release(cluster)), p)
}

// parseConfig reads a KubeSchedulerConfiguration as a release does. It comes as an object, or as
// YAML or JSON in a string, at a place of the body. What of it has no effect is a warning of the
// request, unless that wants none.
func (a *API) parseConfig(at string, raw json.RawMessage, under *semantics.Release, p *posted) ([]*engine.Profile, error) {
	switch raw[0] {
	case '"':
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, exchange.BadField(http.StatusBadRequest, at, "it is no proper string")
		}
		if strings.TrimSpace(text) == "" {
			return nil, exchange.BadField(http.StatusUnprocessableEntity, at, "it is empty")
		}
		raw = []byte(text)
	case '{':
	default:
		return nil, exchange.BadField(http.StatusBadRequest, at, "want a KubeSchedulerConfiguration as an object, or as YAML in a string")
	}
	profiles, ignored, err := a.profiles(raw, under)
	if err != nil {
		return nil, exchange.BadField(http.StatusUnprocessableEntity, at, err.Error())
	}
	if p.mode != fieldsIgnore {
		for _, text := range ignored {
			p.warnings = append(p.warnings, at+"."+text)
		}
	}
	return profiles, nil
}
