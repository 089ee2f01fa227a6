package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"berth/internal/handlers"
	"berth/internal/report"
)

// queue puts the pages of a long queue together. An older revision's is shown at
// the time when that was made.
func (s *source) queue(ctx context.Context) (json.RawMessage, error) {
	if s.dump == nil && (s.config != nil || s.profile != "") {
		return nil, &problem{what: "a server shows the queue under its own configuration", next: "Without --config and --profile, or from a dump with --snapshot."}
	}
	query := s.asOf()
	if s.older() {
		query.Set("snapshot", s.snapshot)
	}
	var all report.Queue
	for {
		raw, err := s.call(ctx, http.MethodGet, query, nil, "v1", "clusters", s.cluster, "queue")
		if err != nil {
			return nil, s.hint(ctx, err, target{})
		}
		var page report.Queue
		if err := readInto(raw, &page); err != nil {
			return nil, err
		}
		if page.Cursor == "" && all.Cursor == "" {
			return raw, nil
		}
		query = url.Values{"cursor": {page.Cursor}}
		page.Active, page.Gated, page.Nominated = append(all.Active, page.Active...), append(all.Gated, page.Gated...), append(all.Nominated, page.Nominated...)
		if all = page; page.Cursor == "" {
			return json.Marshal(all)
		}
	}
}

func (s *source) garbage(ctx context.Context, threshold int) (json.RawMessage, error) {
	if err := s.newest(); err != nil {
		return nil, err
	}
	q := handlers.GarbageRequest{TerminatedPodThreshold: &threshold}
	if s.dump != nil {
		now := s.now()
		q.Now = &now
	}
	raw, err := s.call(ctx, http.MethodPost, nil, q, "v1", "clusters", s.cluster, "garbage")
	return raw, s.hint(ctx, err, target{})
}

// answered asks a source for an overview and reads it; raw is the API's own object.
func answered[T any](ctx context.Context, a *app, ask func(*source) (json.RawMessage, error)) (out *T, raw json.RawMessage, gaps *gaps, err error) {
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
	if err := readInto(raw, out); err != nil {
		return nil, nil, nil, err
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
