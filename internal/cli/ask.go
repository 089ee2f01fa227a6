package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"berth/internal/decision"
	"berth/internal/report"
)

// overviews are the answers about a whole cluster, each as the API gives it.
type overviews interface {
	queue(ctx context.Context) (json.RawMessage, error)
	garbage(ctx context.Context, threshold int) (json.RawMessage, error)
	classes(ctx context.Context) (json.RawMessage, error)
	relieve(ctx context.Context, q *pressureQuestion) (json.RawMessage, error)
	rank(ctx context.Context, signal string, pods []candidate) (json.RawMessage, error)
	admit(ctx context.Context, pod target) (json.RawMessage, error)
}

func (s *offline) queue(context.Context) (json.RawMessage, error) {
	return json.Marshal(report.QueueWithoutLog(s.view, decision.RunsOf(s.profiles), s.now))
}

func (s *offline) garbage(ctx context.Context, threshold int) (json.RawMessage, error) {
	list, err := report.Garbage(ctx, s.view, threshold, s.now)
	if err != nil {
		return nil, err
	}
	return json.Marshal(list)
}

func (s *offline) classes(ctx context.Context) (json.RawMessage, error) {
	list, err := report.ClassesIn(ctx, s.view, nil)
	if err != nil {
		return nil, err
	}
	return json.Marshal(list)
}

// queue puts the pages of a long queue together. An older revision's is shown at
// the time when that was made.
func (s *server) queue(ctx context.Context) (json.RawMessage, error) {
	if s.config != nil || s.profile != "" {
		return nil, &problem{what: "a server shows the queue under its own configuration", next: "Without --config and --profile, or from a dump with --snapshot."}
	}
	query := url.Values{}
	if s.older() {
		query.Set("snapshot", s.snapshot)
	}
	var all report.Queue
	for {
		raw, err := s.callWith(ctx, http.MethodGet, query, nil, "v1", "clusters", s.cluster, "queue")
		if err != nil {
			return nil, s.hint(ctx, err, target{})
		}
		var page report.Queue
		if err := json.Unmarshal(raw, &page); err != nil {
			return nil, fmt.Errorf("read the answer: %w", err)
		}
		if page.Cursor == "" && !query.Has("cursor") {
			return raw, nil
		}
		page.Active, page.Gated, page.Nominated = append(all.Active, page.Active...), append(all.Gated, page.Gated...), append(all.Nominated, page.Nominated...)
		query = url.Values{"cursor": {page.Cursor}}
		if all = page; page.Cursor == "" {
			return json.Marshal(all)
		}
	}
}

func (s *server) garbage(ctx context.Context, threshold int) (json.RawMessage, error) {
	if err := s.newest(); err != nil {
		return nil, err
	}
	raw, err := s.call(ctx, http.MethodPost, map[string]any{"terminatedPodThreshold": threshold}, "v1", "clusters", s.cluster, "garbage")
	return raw, s.hint(ctx, err, target{})
}

func (s *server) classes(ctx context.Context) (json.RawMessage, error) {
	return s.ofCluster(ctx, url.Values{}, "classes")
}

// ofCluster requests a part of the revision that is named, else of the newest.
func (s *server) ofCluster(ctx context.Context, query url.Values, part string) (json.RawMessage, error) {
	if err := s.ownConfig(); err != nil {
		return nil, err
	}
	if s.older() {
		query.Set("snapshot", s.snapshot)
	}
	raw, err := s.callWith(ctx, http.MethodGet, query, nil, "v1", "clusters", s.cluster, part)
	return raw, s.hint(ctx, err, target{})
}

// answered asks a source for an overview and reads it; raw is the API's own object.
func answered[T any](ctx context.Context, a *app, ask func(source) (json.RawMessage, error)) (out *T, raw json.RawMessage, gaps *gaps, err error) {
	if err := a.o.check(); err != nil {
		return nil, nil, nil, err
	}
	from, err := a.source(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	if raw, err = ask(from); err != nil {
		return nil, nil, nil, err
	}
	out = new(T)
	if err := json.Unmarshal(raw, out); err != nil {
		return nil, nil, nil, fmt.Errorf("read the answer: %w", err)
	}
	gaps, err = from.gaps(ctx)
	return out, raw, gaps, err
}

// show writes the API's own object, a page of text, or the explorer's page about the answer.
func (a *app) show(raw json.RawMessage, gaps *gaps, answer any, write func(*page)) error {
	switch a.o.output {
	case formJSON:
		return a.json(raw)
	case formHTML:
		return a.html(gaps, answer)
	}
	p := a.page()
	p.gaps(gaps)
	write(p)
	return p.end(a)
}
