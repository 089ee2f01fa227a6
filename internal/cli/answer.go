package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/handlers"
)

// question asks where a pod goes.
type question struct {
	pod     target
	explain engine.Explain
	suggest bool
	// ungated asks about the pod without its scheduling gates.
	ungated bool
	// snapshot is the one to ask about; empty: as the flags say.
	snapshot string
}

// answer is a decision, and its JSON as the API gives it.
type answer struct {
	decision.Answer
	raw json.RawMessage
}

// decide answers a question without recording it.
func (s *source) decide(ctx context.Context, q question) (*answer, error) {
	body := handlers.DecisionRequest{
		Snapshot: q.snapshot, Pod: q.pod.whole, Profile: s.profile, Config: s.config, Explain: string(q.explain), Suggest: q.suggest, DryRun: true,
	}
	if body.Snapshot == "" {
		body.Snapshot = s.snapshot
	}
	if s.dump != nil {
		now := s.now()
		body.Now = &now
	}
	if q.ungated {
		if err := s.ungated(ctx, q.pod, &body); err != nil {
			return nil, err
		}
	}
	if body.Pod == nil {
		body.PodRef = &handlers.PodName{Namespace: q.pod.namespace, Name: q.pod.name}
	}
	raw, err := s.call(ctx, http.MethodPost, passedOver(), body, "v1", "decisions")
	if err != nil {
		return nil, s.hint(ctx, err, q.pod)
	}
	a := &answer{raw: raw}
	return a, readInto(raw, a)
}

// story tells of a pod by name, as it is now and under the API's own configuration; nil of
// another one.
func (s *source) story(ctx context.Context, t target) (*told, error) {
	if t.whole != nil || s.config != nil || s.profile != "" || s.older() || s.dump != nil && s.dump.config {
		return nil, nil
	}
	raw, err := s.call(ctx, http.MethodGet, s.asOf(), nil, "v1", "clusters", s.cluster, "pods", t.namespace, t.name)
	var r *refused
	if errors.As(err, &r) && r.Status == http.StatusNotFound {
		return nil, nil // the decision then names what is missing
	}
	if err != nil {
		return nil, err
	}
	st := &told{raw: raw}
	return st, readInto(raw, st)
}

// readInto reads an answer.
func readInto(raw json.RawMessage, answer any) error {
	if err := json.Unmarshal(raw, answer); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return nil
}
