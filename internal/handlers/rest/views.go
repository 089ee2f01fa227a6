package rest

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/queries"
	"berth/internal/revision"
	"berth/internal/store"
)

// ViewPage is a part of a view's rows.
type ViewPage struct {
	View    string   `json:"view" example:"decision_log"`
	Columns []string `json:"columns"`
	// Types are integer, number, boolean, time (RFC 3339) or text; empty where neither the database
	// nor a value shows it.
	Types []string `json:"types"`
	// Rows are as long as Columns, in the order of their time.
	Rows [][]any `json:"rows"`
	// Cursor is that of the page that follows; absent from the last one.
	Cursor string `json:"cursor,omitempty"`
} // @name ViewPage

// readView reads a view a page at a time.
//
//	@Summary		The rows of a view of the log, a page at a time, for an export
//	@Description	Rows come in the order of their time: created_at, else measured_at, met_at, since, first_at, first_attempt_at, first_decided_at, seen_at, hour_at or day_at, the first that the view has. Pages fit together where until lies in the past. docs/sql-reference.md lists the views; those about access have no pages. A page ends after query-deadline, and has 4 MiB at most.
//	@Tags			decisions
//	@Produce		json
//	@Param			view	path	string	true	"the view, such as decision_log"
//	@Param			cluster	query	string	true	"about this cluster"
//	@Param			since	query	string	true	"at this time or later, RFC 3339"
//	@Param			until	query	string	false	"before this time, RFC 3339; now if absent"
//	@Param			limit	query	int		false	"rows, 10,000 if absent and at most"
//	@Param			cursor	query	string	false	"cursor of the page before"
//	@Success		200		{object}	ViewPage
//	@Failure		400,401,403,404,429,500,503	{object}	exchange.Problem
//	@Router			/v1/views/{view} [get]
func (a *API) readView(w http.ResponseWriter, r *http.Request) error {
	name, err := exchange.PathParam(r, "view")
	if err != nil {
		return err
	}
	page, limit, err := viewPage(r, name)
	if err != nil {
		return err
	}
	probe, err := page.Probe()
	if err != nil || a.queries == nil {
		return exchange.NotFound("there is no view " + name + " to read, or it is about access")
	}
	if err := admit.MayIn(r.Context(), page.Cluster); err != nil {
		return err
	}
	if err := exchange.TakeAnswer(r.Context(), limit, queryBytes); err != nil {
		return err
	}
	columns, err := a.columnsOf(r.Context(), name, probe)
	if err != nil {
		return err
	}
	text, by, args, err := page.Query(columns, limit+1)
	var none *queries.NoPageError
	if errors.As(err, &none) {
		return exchange.BadField(http.StatusBadRequest, "view", none.Why)
	}
	if err != nil {
		return err
	}
	table, err := a.queries.Query(r.Context(), &store.Query{SQL: text, Args: args, MaxBytes: queryBytes})
	if err != nil || !slices.Equal(table.Columns, columns) {
		a.viewColumns.Delete(name) // another release may have made the view anew
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return a.lateQuery(err, true)
	}
	if err == nil {
		by = slices.Index(table.Columns, columns[by])
		err = a.checkCluster(r.Context(), page.Cluster, len(table.Rows))
	}
	if err != nil {
		return err
	}
	answer, err := pageOf(page, table, by, limit)
	if err != nil {
		return err
	}
	return exchange.WriteLong(w, r, answer)
}

// columnsOf returns the columns of a view, which change with the schema alone: they are asked for
// once.
func (a *API) columnsOf(ctx context.Context, view, probe string) ([]string, error) {
	if known, ok := a.viewColumns.Load(view); ok {
		return known.([]string), nil
	}
	shape, err := a.queries.Query(ctx, &store.Query{SQL: probe, MaxBytes: queryBytes})
	if err != nil {
		return nil, err
	}
	a.viewColumns.Store(view, shape.Columns)
	return shape.Columns, nil
}

// viewPage reads the parameters of a page.
func viewPage(r *http.Request, view string) (p *queries.Page, limit int, err error) {
	given := r.URL.Query()
	p = &queries.Page{View: view, Cluster: given.Get("cluster"), Until: time.Now()}
	if err := revision.CheckName(p.Cluster); err != nil {
		return nil, 0, exchange.BadField(http.StatusBadRequest, "cluster", exchange.Reason(err))
	}
	if err := readSpan(given, &p.Since, &p.Until); err != nil {
		return nil, 0, err
	}
	if p.Since.IsZero() {
		return nil, 0, exchange.BadField(http.StatusBadRequest, "since", "a page needs it: the time that its rows begin at, such as 2026-01-02T00:00:00Z")
	}
	if cursor := given.Get("cursor"); cursor != "" {
		if err := p.At(cursor); err != nil {
			return nil, 0, exchange.BadField(http.StatusBadRequest, "cursor", err.Error())
		}
	}
	limit, err = queryLimit(given, queryRows)
	return p, limit, err
}

// pageOf makes an answer of a page's rows, of which by numbers the column that orders them.
func pageOf(page *queries.Page, table *store.Table, by, limit int) (*ViewPage, error) {
	answer := &ViewPage{View: page.View, Columns: table.Columns, Types: table.Types, Rows: table.Rows}
	for i, column := range answer.Columns {
		if queries.IsTimeColumn(column) && answer.Types[i] != "text" {
			answer.Types[i] = "time"
		}
		shown := answer.Types[i] == "" // by values alone
		for _, row := range answer.Rows {
			if answer.Types[i] == "time" {
				if micros, is := row[i].(int64); is {
					row[i] = time.UnixMicro(micros).UTC().Format(time.RFC3339Nano)
				}
			}
			if t := typeOfValue(row[i]); shown && (answer.Types[i] == "" || answer.Types[i] == "integer" && t == "number") {
				answer.Types[i] = t
			}
		}
	}
	more := table.Cut || len(answer.Rows) > limit
	answer.Rows = answer.Rows[:min(limit, len(answer.Rows))]
	if answer.Rows == nil {
		answer.Rows = [][]any{}
	}
	if !more {
		return answer, nil
	}
	if len(answer.Rows) == 0 {
		return nil, &exchange.Error{Status: http.StatusServiceUnavailable, Kind: "too-large", Detail: "one row of the view is longer than an answer may be: read it in the database itself"}
	}
	next, err := page.Next(answer.Rows, by)
	if err != nil {
		return nil, err
	}
	answer.Cursor = next.String()
	return answer, nil
}

// typeOfValue returns the type of a column by one of its values.
func typeOfValue(v any) string {
	switch v.(type) {
	case int64:
		return "integer"
	case float64:
		return "number"
	case bool:
		return "boolean"
	case string:
		return "text"
	}
	return ""
}
