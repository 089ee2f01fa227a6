package cli

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/kube/object"
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
	gaps func(ctx context.Context, from source) (*gaps, error)
	show func(*page, *T, *gaps)
	// no reports whether the command ends as one whose answer is a no.
	no func(*T) bool
}

func (h *scenarioCommand[T]) run(ctx context.Context, a *app) error {
	var relevant *gaps
	out, raw, _, err := answered[T](ctx, a, func(from source) (raw json.RawMessage, err error) {
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
func (q *scenarioQuestion) body() (map[string]any, error) {
	js, err := json.Marshal(q.Question)
	body := map[string]any{"wait": jobWait}
	if err == nil {
		err = json.Unmarshal(js, &body)
	}
	if q.edits != nil {
		body["edits"] = q.edits
	}
	return body, err
}

func (s *server) scenario(ctx context.Context, q scenarioQuestion) (json.RawMessage, error) {
	body, err := q.body()
	if err != nil {
		return nil, err
	}
	if s.config != nil {
		body["config"] = s.config
	}
	if s.profile != "" {
		body["profile"] = s.profile
	}
	query := url.Values{"fieldValidation": {"Ignore"}} // told when the file was read
	if s.older() {
		query.Set("snapshot", s.snapshot)
	}
	raw, err := s.follow(ctx, q.wait, query, body, "v1", "clusters", s.cluster, q.verb)
	return raw, s.hint(ctx, err, target{})
}

func (s *offline) scenario(ctx context.Context, q scenarioQuestion) (json.RawMessage, error) {
	list, strangers := s.profiles, &scenario.Strangers{}
	if s.profile != "" {
		p, err := decision.ChooseProfile(s.profiles, s.profile, "")
		if err != nil {
			return nil, err
		}
		list, strangers = []*engine.Profile{p}, nil
	}
	return s.answer(ctx, q, scenario.Options{Profiles: list, Now: s.view.CreatedAt, Strangers: strangers})
}

// answer answers a question in the process.
func (s *offline) answer(ctx context.Context, q scenarioQuestion, o scenario.Options) (json.RawMessage, error) {
	defer q.wait.end()
	o.Watch = q.wait.watch()
	on := &scenario.Stage{Editor: &scenario.Editor{Read: readObject, ReadPod: readPod, Configure: s.configure}, Options: o, Bounds: ownBounds}
	var err error
	if on.Edited, err = on.Editor.Apply(ctx, s.view, "edits", q.edits); err != nil {
		return nil, err
	}
	out, err := q.Answer(ctx, on)
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

// ownBounds are those of a scenario in the process: its user can end it.
var ownBounds = scenario.Bounds{Pods: 1 << 30, Attempts: 1 << 30, Profiles: 16}

// readObject decodes an object at a place of a question.
func readObject(at string, raw json.RawMessage) (object.Object, error) {
	o, err := object.Decode(raw, object.Limits{})
	return o, placed(at, err)
}

// readPod decodes a pod, or the pod of a workload.
func readPod(at string, raw json.RawMessage) (*corev1.Pod, error) {
	w, err := object.PodOf(raw, object.Limits{})
	if err != nil {
		return nil, placed(at, err)
	}
	if w != nil {
		at, raw = at+"."+w.Template, w.Pod
	}
	pod, err := object.DecodePod(raw, object.Limits{})
	return pod, placed(at, err)
}

// placed puts the place of an object before the fields at fault.
func placed(at string, err error) error {
	var invalid *object.InvalidError
	if errors.As(err, &invalid) {
		invalid.Path = at
	}
	return err
}
