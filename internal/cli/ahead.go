package cli

import (
	"context"
	"encoding/json"

	"berth/internal/handlers"
	"berth/internal/scenario"
)

// scenarioQuestion is a question about what comes next.
type scenarioQuestion struct {
	verb string // the last part of its path below the cluster
	scenario.Question
	edits *scenario.Edits
	wait  *progress
}

// scenarioCommand is a command that asks such a question.
type scenarioCommand[T any] struct {
	verb     string
	question scenario.Question
	edits    *scenario.Edits
	doing    string
	// gaps completes the question by what a source has, and returns the gaps that matter for it.
	gaps func(ctx context.Context, from *source) (*gaps, error)
	show func(*page, *T, *gaps)
	// no reports whether the command ends as one whose answer is a no.
	no func(*T) bool
}

func (h *scenarioCommand[T]) run(ctx context.Context, a *app) error {
	var relevant *gaps
	out, raw, _, err := answered[T](ctx, a, func(from *source) (raw json.RawMessage, err error) {
		if relevant, err = h.gaps(ctx, from); err != nil {
			return nil, err
		}
		return from.scenario(ctx, scenarioQuestion{h.verb, h.question, h.edits, a.progress(h.doing)})
	})
	if err != nil {
		return err
	}
	if err := a.show(raw, relevant, out, func(p *page) { h.show(p, out, relevant) }); err != nil {
		return err
	}
	if h.no(out) {
		return errNo
	}
	return nil
}

// body returns a question as the fields of a request.
func (s *source) body(q *scenarioQuestion) (map[string]any, error) {
	js, err := json.Marshal(q.Question)
	body := map[string]any{"wait": jobWait}
	if s.dump != nil { // a process of one caller has no jobs
		body["wait"] = handlers.Unbounded().ScenarioDeadline.String()
	}
	if err == nil {
		err = json.Unmarshal(js, &body)
	}
	if q.edits != nil {
		body["edits"] = q.edits
	}
	return body, err
}

func (s *source) scenario(ctx context.Context, q scenarioQuestion) (json.RawMessage, error) {
	body, err := s.body(&q)
	if err != nil {
		return nil, err
	}
	if s.config != nil {
		body["config"] = s.config
	}
	if s.profile != "" {
		body["profile"] = s.profile
	}
	query := passedOver()
	if s.older() {
		query.Set("snapshot", s.snapshot)
	}
	raw, err := s.follow(ctx, q.wait, query, body, "v1", "clusters", s.cluster, q.verb)
	return raw, s.hint(ctx, err, target{})
}

// ownBounds are those of a scenario in the process: its user can end it.
var ownBounds = scenario.Bounds{Pods: 1 << 30, Attempts: 1 << 30, Profiles: 16}
