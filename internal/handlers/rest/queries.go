package rest

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/queries"
	"berth/internal/revision"
	"berth/internal/store"
	"berth/internal/words"
)

const (
	// queryRows and queryBytes bound the answer of a ready query, querySpan is how far it looks
	// back unless told.
	queryRows  = 10_000
	queryBytes = 4 << 20
	querySpan  = 7 * 24 * time.Hour
)

// QueryList names the ready queries.
type QueryList struct {
	Items []queries.Query `json:"items"`
} // @name QueryList

// QueryAnswer is the answer of a ready query.
type QueryAnswer struct {
	Name    string   `json:"name" example:"top-reasons"`
	Columns []string `json:"columns"`
	// Rows are as long as Columns, of numbers, texts, booleans and nulls.
	Rows [][]any `json:"rows"`
	// Parameters are the values that the query ran with, those that were left out included.
	Parameters map[string]string `json:"parameters"`
	// More reports that limit, or the bound of 4 MiB, left rows out.
	More bool `json:"more,omitempty"`
} // @name QueryAnswer

// listQueries lists the ready queries.
//
//	@Summary	The ready queries about the log, with their SQL and parameters
//	@Tags		decisions
//	@Produce	json
//	@Success	200	{object}	QueryList
//	@Failure	400,401,403,429,500,503	{object}	exchange.Problem
//	@Router		/v1/queries [get]
func (a *API) listQueries(w http.ResponseWriter, _ *http.Request) error {
	return exchange.WriteJSON(w, http.StatusOK, QueryList{queries.All()})
}

// runQuery runs a ready query.
//
//	@Summary		Run a ready query about the log, read-only
//	@Description	Only the parameters that GET /v1/queries lists for the query are taken, and all of them are needed but since, until and those listed as optional. Those with admin are for admins of all clusters. The query ends after query-deadline.
//	@Tags			decisions
//	@Produce		json,text/csv,application/x-ndjson
//	@Param			name		path	string	true	"the query"
//	@Param			cluster		query	string	true	"about this cluster"
//	@Param			namespace	query	string	false	"the pod's namespace"
//	@Param			pod			query	string	false	"the pod's name"
//	@Param			node		query	string	false	"the node's name"
//	@Param			outcome		query	string	false	"the decision's outcome, such as Unschedulable"
//	@Param			verb		query	string	false	"the decision's verb, such as filter"
//	@Param			id			query	string	false	"the decision"
//	@Param			request		query	string	false	"the id of a request, as a log line or the header X-Request-Id has it"
//	@Param			label		query	string	false	"the name of a label, such as team"
//	@Param			resource	query	string	false	"the resource, such as cpu"
//	@Param			since		query	string	false	"at this time or later, RFC 3339; 7 days before until if absent"
//	@Param			until		query	string	false	"before this time, RFC 3339; now if absent"
//	@Param			limit		query	int		false	"rows, 100 if absent, at most 10,000"
//	@Param			format		query	string	false	"json, csv or ndjson, an object a row; a text in CSV that a spreadsheet would take for a formula begins with '. A file that lacks rows has the header X-Berth-Truncated: true"
//	@Param			mark		query	bool	false	"with true, a file that lacks rows ends with a line that says so"
//	@Success		200			{object}	QueryAnswer
//	@Failure		400,401,403,404,429,500,503	{object}	exchange.Problem
//	@Router			/v1/queries/{name} [get]
func (a *API) runQuery(w http.ResponseWriter, r *http.Request) error {
	name, err := exchange.PathParam(r, "name")
	if err != nil {
		return err
	}
	q, ok := queries.Named(name)
	if !ok || a.queries == nil {
		return exchange.NotFound("there is no such query: " + queryHint(name))
	}
	file, err := fileOf(r)
	if err != nil {
		return err
	}
	answer := QueryAnswer{Name: q.Name, Parameters: map[string]string{}}
	limit, err := queryParameters(r, q, answer.Parameters, time.Now())
	if err != nil {
		return err
	}
	args, err := q.Bind(answer.Parameters, limit+1)
	var bad *queries.ValueError
	if errors.As(err, &bad) {
		return exchange.BadField(http.StatusBadRequest, bad.Parameter, bad.Message)
	}
	if err := checkAllowed(func(name string) string { return answer.Parameters[name] }); err != nil {
		return err
	}
	since, _ := args[queries.Since].(time.Time) // zero where the query takes none
	until, _ := args[queries.Until].(time.Time)
	if err := checkSpan(since, until); err != nil {
		return err
	}
	if err := admit.MayIn(r.Context(), answer.Parameters["cluster"]); err != nil {
		return err
	}
	if q.Admin {
		if err := admit.MayAdministerAll(r.Context()); err != nil {
			return err
		}
	}
	if err := exchange.TakeAnswer(r.Context(), limit, queryBytes); err != nil {
		return err
	}
	table, err := a.queries.Query(r.Context(), &store.Query{SQL: q.SQL, Args: args, MaxBytes: queryBytes})
	if errors.Is(err, context.DeadlineExceeded) {
		return a.lateQuery(err, slices.ContainsFunc(q.Parameters, queries.IsTime))
	}
	if err == nil {
		err = a.checkCluster(r.Context(), answer.Parameters["cluster"], len(table.Rows))
	}
	if err != nil {
		return err
	}
	answer.Columns, answer.Rows, answer.More = table.Columns, table.Rows, table.Cut
	if len(answer.Rows) > limit {
		answer.Rows, answer.More = answer.Rows[:limit], true
	}
	if answer.Rows == nil {
		answer.Rows = [][]any{}
	}
	if file.form != "" {
		return file.write(w, &answer)
	}
	return exchange.WriteLong(w, r, &answer)
}

// lateQuery is the error of a query that ended with its deadline.
func (a *API) lateQuery(err error, bounded bool) error {
	advice := "run it in the database itself"
	if bounded {
		advice = "name a shorter time, or " + advice
	}
	return &exchange.Error{Status: http.StatusServiceUnavailable, Kind: "deadline", Limit: "query-deadline", Cause: err, Detail: fmt.Sprintf("the query took longer than %s: %s", a.Limits.QueryDeadline, advice)}
}

// rowFile is the answer of a ready query as a file of rows.
type rowFile struct {
	form string // csv or ndjson; "": no file but JSON
	mark bool   // where rows are missing, its last line tells
}

// fileOf reads the parameters format and mark.
func fileOf(r *http.Request) (f rowFile, err error) {
	given := r.URL.Query()
	switch f.form = given.Get("format"); f.form {
	case "csv", "ndjson":
	case "", "json":
		f.form = ""
	default:
		return f, exchange.BadField(http.StatusBadRequest, "format", "want json, csv or ndjson")
	}
	switch mark := given.Get("mark"); {
	case mark == "" || mark == "false":
	case mark != "true":
		return f, exchange.BadField(http.StatusBadRequest, "mark", "want true or false")
	case f.form == "":
		return f, exchange.BadField(http.StatusBadRequest, "mark", "JSON has more instead: want format=csv or format=ndjson")
	default:
		f.mark = true
	}
	return f, nil
}

// queryHint names the query that was meant, or where they are listed.
func queryHint(name string) string {
	var names []string
	for _, q := range queries.All() {
		names = append(names, q.Name)
	}
	if near, ok := words.Nearest(name, names); ok {
		return "did you mean " + near + "?"
	}
	return "GET /v1/queries lists them"
}

// queryParameters reads the values of a query's parameters; times have defaults.
func queryParameters(r *http.Request, q *queries.Query, values map[string]string, now time.Time) (limit int, err error) {
	given := r.URL.Query()
	for name := range given {
		if !slices.Contains(q.Parameters, name) && !slices.Contains([]string{"limit", "format", "mark"}, name) {
			return 0, exchange.BadField(http.StatusBadRequest, name, "the query takes "+strings.Join(q.Parameters, ", ")+" and limit")
		}
	}
	for _, name := range q.Parameters {
		values[name] = given.Get(name)
	}
	if err := revision.CheckName(values["cluster"]); values["cluster"] != "" && err != nil {
		return 0, exchange.BadField(http.StatusBadRequest, "cluster", exchange.Reason(err))
	}
	if until, takes := values[queries.Until]; takes && until == "" {
		values[queries.Until] = now.Add(time.Second).UTC().Format(time.RFC3339) // the second under way is within
	}
	if since, takes := values[queries.Since]; takes && since == "" {
		end := now
		if at, err := time.Parse(time.RFC3339, values[queries.Until]); err == nil {
			end = at
		}
		values[queries.Since] = end.Add(-querySpan).UTC().Format(time.RFC3339)
	}
	return queryLimit(given, 100)
}

// queryLimit reads the parameter limit.
func queryLimit(given url.Values, absent int) (limit int, err error) {
	text := given.Get("limit")
	if text == "" {
		return absent, nil
	}
	if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > queryRows {
		return 0, exchange.BadField(http.StatusBadRequest, "limit", fmt.Sprintf("want a number from 1 to %d", queryRows))
	}
	return limit, nil
}

// write answers with the file. Both forms are written as a whole, within the bounds of JSON.
func (f rowFile) write(w http.ResponseWriter, answer *QueryAnswer) error {
	var out bytes.Buffer
	kind, last := "text/csv; charset=utf-8", "# truncated\n"
	if f.form == "csv" {
		writeCSV(&out, answer)
	} else {
		kind, last = "application/x-ndjson", "{\"truncated\":true}\n"
		if err := writeNDJSON(&out, answer); err != nil {
			return err
		}
	}
	h := w.Header()
	if answer.More {
		h.Set(exchange.TruncatedHeader, "true")
		if f.mark {
			out.WriteString(last)
		}
	}
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", `attachment; filename="`+answer.Name+`.`+f.form+`"`)
	h.Set("Content-Length", strconv.Itoa(out.Len()))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(out.Bytes())
	return nil
}

// writeCSV writes the rows behind a line of their names.
func writeCSV(out *bytes.Buffer, answer *QueryAnswer) {
	file := csv.NewWriter(out)
	_ = file.Write(answer.Columns) // a buffer takes all
	for _, row := range answer.Rows {
		cells := make([]string, len(row))
		for i, v := range row {
			if text, ok := v.(string); ok && text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
				v = "'" + text
			}
			if v != nil {
				cells[i] = fmt.Sprint(v)
			}
		}
		_ = file.Write(cells)
	}
	file.Flush()
}

// writeNDJSON writes an object a line, with the columns in their order.
func writeNDJSON(out *bytes.Buffer, answer *QueryAnswer) error {
	names := make([][]byte, len(answer.Columns))
	for i, column := range answer.Columns {
		name, err := json.Marshal(column)
		if err != nil {
			return err
		}
		names[i] = append(name, ':')
	}
	for _, row := range answer.Rows {
		for i, v := range row {
			value, err := json.Marshal(v)
			if err != nil {
				return err
			}
			if i == 0 {
				out.WriteByte('{')
			} else {
				out.WriteByte(',')
			}
			out.Write(names[i])
			out.Write(value)
		}
		out.WriteString("}\n")
	}
	return nil
}
