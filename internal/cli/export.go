package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"berth/internal/cli/export"
)

// exportTries is how often a page is requested while the server has no time for it.
const exportTries = 6

// exported is a question for the rows of a view.
type exported struct{ view, since, until, out string }

func (a *app) exportCommand() *cobra.Command {
	e := &exported{}
	cmd := &cobra.Command{
		Use:   "export",
		Short: "The log's rows as a file, for a warehouse",
		Long: `Writes the rows that a view of the log has of a cluster and a span of time to a
file, Parquet or NDJSON by its name. It reads a page at a time, and a page
again while the server is busy or away. The file is there once it is whole.

Times that follow one another, until of one being since of the next, give files
without a row twice. Let until lie some minutes back: what is recorded late has
an older time. The views are in docs/sql-reference.md.`,
		Example:           "  " + a.name + " export --server http://127.0.0.1:8080 --cluster prod --since 2026-09-14T00:00:00Z --until 2026-09-15T00:00:00Z -f decisions.parquet",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return e.run(cmd.Context(), a) },
	}
	cmd.Flags().StringVar(&e.view, "view", "decision_log", "the view")
	cmd.Flags().StringVar(&e.since, "since", "", "at this time or later, RFC 3339")
	cmd.Flags().StringVar(&e.until, "until", "", "before this time, RFC 3339; now if absent")
	cmd.Flags().StringVarP(&e.out, "file", "f", "", "file to write: NAME.parquet or NAME.ndjson")
	return cmd
}

func (e *exported) run(ctx context.Context, a *app) error {
	if a.o.server == "" {
		return &problem{what: "export reads a server's log", next: "Name the server: --server http://127.0.0.1:8080."}
	}
	until := a.Now()
	for _, flag := range []struct {
		name, text string
		to         *time.Time
	}{{"since", e.since, nil}, {"until", e.until, &until}} {
		at, err := time.Parse(time.RFC3339Nano, flag.text)
		if err != nil && (flag.to == nil || flag.text != "") {
			return fmt.Errorf("--%s %q: want a time such as 2026-09-14T08:00:00Z", flag.name, flag.text)
		}
		if flag.to != nil && flag.text != "" {
			*flag.to = at
		}
	}
	s, err := newServer(a)
	if err != nil {
		return err
	}
	file, err := export.Create(e.out)
	if err != nil {
		return fmt.Errorf("--file: %w", err)
	}
	defer file.Abandon()
	wait := a.progress("exporting")
	defer wait.end()
	// Until is the same for each page, whatever time passes meanwhile.
	query := url.Values{"cluster": {s.cluster}, "since": {e.since}, "until": {until.UTC().Format(time.RFC3339Nano)}}
	for {
		page, err := e.page(ctx, s, query)
		if err != nil {
			return err
		}
		if err := file.Add(page.Columns, page.Types, page.Rows); err != nil {
			return err
		}
		if page.Cursor == "" {
			break
		}
		query.Set("cursor", page.Cursor)
		wait.at("rows", file.Rows(), 0)
	}
	wait.end()
	if err := file.Close(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Out, "%s: %d rows of %s, %s\n", e.out, file.Rows(), e.view, s.cluster)
	return err
}

// viewPage is a page as it is read, with its values as they came.
type viewPage struct {
	Columns []string            `json:"columns"`
	Types   []string            `json:"types"`
	Rows    [][]json.RawMessage `json:"rows"`
	Cursor  string              `json:"cursor"`
}

// page requests a page, again while the server is busy or away.
func (e *exported) page(ctx context.Context, s *source, query url.Values) (*viewPage, error) {
	for try := 1; ; try++ {
		raw, err := s.call(ctx, http.MethodGet, query, nil, "v1", "views", e.view)
		if err == nil {
			page := &viewPage{}
			if err := json.Unmarshal(raw, page); err != nil {
				return nil, fmt.Errorf("read the answer: %w", err)
			}
			return page, nil
		}
		var r *refused
		busy := errors.As(err, &r) && (r.Status == http.StatusTooManyRequests || r.Status == http.StatusServiceUnavailable && !strings.Contains(r.Detail, "longer than"))
		if r != nil && !busy || try == exportTries || ctx.Err() != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Second << (try - 1)):
		}
	}
}
