package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/handlers/exchange"
	"berth/internal/kube/object"
	"berth/internal/memory"
	"berth/internal/revision"
)

// PreviewRequest asks where a pod would go in a cluster that comes with the question.
type PreviewRequest struct {
	// Objects are the cluster: a v1 List, or what kubectl prints as text, in JSON or YAML.
	Objects json.RawMessage `json:"objects" swaggertype:"object"`
	// Pod is the v1.Pod to place, or a workload of which one pod is placed; as an object, or as
	// YAML in a string.
	Pod json.RawMessage `json:"pod" swaggertype:"object"`
	// Config is a KubeSchedulerConfiguration, as an object or as YAML in a string; the server's if
	// absent.
	Config json.RawMessage `json:"config,omitempty" swaggertype:"object"`
	// Semantics is the release of Kubernetes to decide as, as for decisions; if absent, that of the
	// server.
	Semantics string `json:"semantics,omitempty" example:"v1.37"`
	// Explain is as for decisions.
	Explain string `json:"explain,omitempty" enums:"full,failures,groups,all,none" default:"failures"`
	// Suggest requests single changes that would make a pod fit that fits nowhere, each tried.
	Suggest bool `json:"suggest,omitempty"`
	// Now is the time that the decision is made at; the server's time if absent.
	Now *time.Time `json:"now,omitempty"`
} // @name PreviewRequest

// preview decides about a pod in a cluster that comes with the question.
//
//	@Summary		Decide in a cluster that comes with the question
//	@Description	For trying things out: the objects are kept nowhere, and nothing is recorded. The answer is the one that a dry run of POST /v1/decisions would have after an upload of the objects. Both together are at most decision-max-bytes.
//	@Tags			decisions
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			body			body		PreviewRequest	true	"the question"
//	@Param			fieldValidation	query		string			false	"how to treat unknown fields of the pod; Strict if absent"	Enums(Strict,Warn,Ignore)
//	@Success		200		{object}	decision.Answer
//	@Failure		400,401,403,413,415,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/previews [post]
func (a *API) preview(w http.ResponseWriter, r *http.Request) error {
	body, p, err := a.postedBody(w, r)
	if err != nil {
		return err
	}
	var req PreviewRequest
	if err := exchange.DecodePart(r, body, &req, exchange.DecisionBounds(&a.Limits)); err != nil {
		return err
	}
	q := decision.Question{Explain: engine.Explain(req.Explain), Suggest: req.Suggest, DryRun: true}
	if req.Now != nil {
		q.Now = *req.Now
	}
	list, err := a.asked(previewCluster, req.Semantics, "config", req.Config, p)
	if err != nil {
		return err
	}
	if list == nil {
		list = a.configured.Of(previewCluster)
	}
	if req.Pod, err = a.fromYAML(r, "pod", req.Pod); err != nil {
		return err
	}
	if exchange.IsNull(req.Pod) {
		return exchange.BadField(http.StatusBadRequest, "pod", "want a pod, or a workload with a pod template")
	}
	if err := p.sharedPod("pod", req.Pod, &q, q.Explain != engine.ExplainNone); err != nil {
		return err
	}
	v, err := a.previewed(r, req.Objects)
	if err != nil {
		return err
	}
	ans, err := decision.Preview(r.Context(), v, list, q, time.Now)
	if err != nil {
		return err
	}
	if name := ans.ProfileFallback; name != "" {
		p.warnings = append(p.warnings, decision.FallbackText(name, ans.Profile))
	}
	ans.Warnings = p.warn(w)
	return exchange.WriteJSON(w, http.StatusOK, ans)
}

// previewCluster is the name of the cluster of a preview's answer.
const previewCluster = "preview"

// previewed compiles the objects of a preview.
func (a *API) previewed(r *http.Request, raw json.RawMessage) (*revision.View, error) {
	text, format := []byte(raw), object.JSON
	if len(raw) > 0 && raw[0] == '"' {
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, exchange.BadField(http.StatusBadRequest, "objects", "it is no proper string")
		}
		text, format = []byte(s), object.YAML
	}
	if exchange.IsNull(raw) || len(bytes.TrimSpace(text)) == 0 {
		return nil, exchange.BadField(http.StatusBadRequest, "objects", "want a v1 List, or what kubectl get nodes,pods -A -o yaml prints as text")
	}
	if err := memory.Take(r.Context(), exchange.DecoderBytes+exchange.UploadFactor*int64(len(text))); err != nil {
		return nil, err
	}
	v, err := revision.Standalone(previewCluster, func(yield func(object.Object) error) (map[string]int, error) {
		return object.Read(bytes.NewReader(text), format, a.Limits.Objects(), func(o object.Object) error {
			if err := errors.Join(r.Context().Err(), memory.Take(r.Context(), exchange.UploadObject)); err != nil {
				return err
			}
			return yield(o)
		})
	}, time.Now())
	if err != nil {
		return nil, exchange.InField("objects", bodyError(err))
	}
	return v, nil
}

// fromYAML reads an object that may come as YAML in a string.
func (a *API) fromYAML(r *http.Request, name string, raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 || raw[0] != '"' {
		return raw, nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, exchange.BadField(http.StatusBadRequest, name, "it is no proper string")
	}
	if err := memory.Take(r.Context(), exchange.DecoderBytes); err != nil {
		return nil, err
	}
	js, err := object.YAMLToJSON([]byte(text), a.Limits.Objects(), 0)
	return js, exchange.InField(name, err)
}
