package handlers

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/handlers/rest"
	"berth/internal/queries"
	"berth/internal/store"
)

// fixedTable is a store that answers every query alike.
type fixedTable struct {
	asked *store.Query
	table store.Table
	err   error
}

func (f *fixedTable) Query(_ context.Context, q *store.Query) (*store.Table, error) {
	f.asked = q
	table := f.table
	return &table, f.err
}

// Every query has an answer from the real store, with the parameters that it lists.
func TestReadyQueriesAnswer(t *testing.T) {
	h := start(t, nil)
	h.want(http.StatusCreated, nil, http.MethodPost, "/v1/snapshots?cluster=demo", small())
	var list rest.QueryList
	h.want(http.StatusOK, &list, http.MethodGet, "/v1/queries", "")
	if len(list.Items) != len(queries.All()) {
		t.Fatalf("%d queries", len(list.Items))
	}
	for _, q := range list.Items {
		address := "/v1/queries/" + q.Name + "?limit=5"
		for _, p := range q.Parameters {
			switch values := map[string][]string{"outcome": {"Scheduled"}, "verb": {"decide"}}[p]; {
			case values != nil:
				address += "&" + p + "=" + values[0]
			case !queries.IsTime(p):
				address += "&" + p + "=demo"
			}
		}
		var answer rest.QueryAnswer
		h.want(http.StatusOK, &answer, http.MethodGet, address, "")
		if answer.Name != q.Name || len(answer.Columns) == 0 || answer.Parameters["cluster"] != "demo" {
			t.Errorf("%s: %+v", address, answer)
		}
		for _, p := range q.Parameters {
			if answer.Parameters[p] == "" {
				t.Errorf("%s: the answer does not name %s", address, p)
			}
		}
	}
	var got rest.QueryAnswer
	h.want(http.StatusOK, &got, http.MethodGet, "/v1/queries/revisions?cluster=demo", "")
	if len(got.Rows) != 1 || got.Rows[0][0] != "demo@1" || got.More {
		t.Errorf("%+v", got)
	}
}

func TestReadyQueriesRefuse(t *testing.T) {
	h := start(t, nil)
	for address, want := range map[string]struct {
		status int
		text   string
	}{
		"/v1/queries/top-reason?cluster=demo":                                                      {http.StatusNotFound, "did you mean top-reasons?"},
		"/v1/queries/top-reasons":                                                                  {http.StatusBadRequest, "cluster: the query needs it"},
		"/v1/queries/top-reasons?cluster=demo&pod=x":                                               {http.StatusBadRequest, "the query takes cluster, since, until, namespace and limit"},
		"/v1/queries/top-reasons?cluster=demo&since=never":                                         {http.StatusBadRequest, "RFC 3339"},
		"/v1/queries/top-reasons?cluster=demo&limit=10001":                                         {http.StatusBadRequest, "want a number from 1 to 10000"},
		"/v1/queries/top-reasons?cluster=demo&format=xml":                                          {http.StatusBadRequest, "want json, csv or ndjson"},
		"/v1/queries/top-reasons?cluster=demo&format=csv&mark=1":                                   {http.StatusBadRequest, "mark: want true or false"},
		"/v1/queries/top-reasons?cluster=demo&mark=true":                                           {http.StatusBadRequest, "mark: JSON has more instead"},
		"/v1/queries/decisions?cluster=demo&outcome=Pending":                                       {http.StatusBadRequest, "outcome: want one of Scheduled, Unschedulable,"},
		"/v1/queries/decisions?cluster=demo&verb=decided":                                          {http.StatusBadRequest, "verb: want one of filter,"},
		"/v1/queries/decisions?cluster=demo&until=2026-01-01T00:00:00Z&since=2026-01-02T00:00:00Z": {http.StatusBadRequest, "until: it is before since"},
		"/v1/decisions?until=2026-01-01T00:00:00Z&since=2026-01-02T00:00:00Z":                      {http.StatusBadRequest, "until: it is before since"},
		"/v1/queries/top-reasons?cluster=no%20name":                                                {http.StatusBadRequest, "cluster"},
		"/v1/queries/top-reasons?cluster=demo&sql=DROP%20TABLE":                                    {http.StatusBadRequest, "unknown parameter"},
	} {
		if got := h.want(want.status, nil, http.MethodGet, address, ""); !strings.Contains(string(got.body), want.text) {
			t.Errorf("%s: %s, want %q", address, got.body, want.text)
		}
	}
}

// TestViewPages reads a view of the real store by pages of one row, and refuses what has none.
func TestViewPages(t *testing.T) {
	h := start(t, nil)
	for _, cpu := range []string{"1", "2", "3"} {
		h.upload("demo", listOf(node("n1", cpu)))
	}
	const address = "/v1/views/revision_log?cluster=demo&since=2020-01-01T00:00:00Z&until=2100-01-01T00:00:00Z"
	var whole, page rest.ViewPage
	h.want(http.StatusOK, &whole, http.MethodGet, address, "")
	number := slices.Index(whole.Columns, "number")
	if len(whole.Rows) < 3 || whole.Cursor != "" || whole.Types[number] != "integer" || whole.Types[slices.Index(whole.Columns, "created_at")] != "time" {
		t.Fatalf("%+v", whole)
	}
	for i, row := range whole.Rows {
		query := address + "&limit=1"
		if i > 0 {
			query += "&cursor=" + url.QueryEscape(page.Cursor)
		}
		page = rest.ViewPage{}
		h.want(http.StatusOK, &page, http.MethodGet, query, "")
		if len(page.Rows) != 1 || page.Rows[0][number] != row[number] || (page.Cursor == "") != (i == len(whole.Rows)-1) {
			t.Errorf("page %d: %+v, want %v", i, page, row)
		}
	}
	for address, want := range map[string]struct {
		status int
		text   string
	}{
		"/v1/views/decision_log?cluster=demo":                                                             {http.StatusBadRequest, "since: a page needs it"},
		"/v1/views/decision_log?since=2020-01-01T00:00:00Z":                                               {http.StatusBadRequest, "cluster"},
		"/v1/views/decision_log?cluster=demo&since=2020-01-01T00:00:00Z&until=2019-01-01T00:00:00Z":       {http.StatusBadRequest, "until: it is before since"},
		"/v1/views/decision_log?cluster=demo&since=2020-01-01T00:00:00Z&cursor=x":                         {http.StatusBadRequest, "cursor: want the cursor"},
		"/v1/views/decision_log?cluster=demo&since=2020-01-01T00:00:00Z&cursor=2020-01-01T00:00:00Z%2B-1": {http.StatusBadRequest, "cursor: want the cursor"},
		"/v1/views/decision_log?cluster=demo&since=2020-01-01T00:00:00Z&limit=0":                          {http.StatusBadRequest, "limit: want a number"},
		"/v1/views/decisions?cluster=demo&since=2020-01-01T00:00:00Z":                                     {http.StatusNotFound, "there is no view decisions"},
		"/v1/views/access_changes?cluster=demo&since=2020-01-01T00:00:00Z":                                {http.StatusNotFound, "about access"},
		"/v1/views/nodes_never_chosen?cluster=demo&since=2020-01-01T00:00:00Z":                            {http.StatusBadRequest, "no time"},
		"/v1/views/decision_log?cluster=other&since=2020-01-01T00:00:00Z":                                 {http.StatusNotFound, "other"},
		"/v1/views/decision_log%3Bdrop?cluster=demo&since=2020-01-01T00:00:00Z":                           {http.StatusNotFound, "there is no view"},
	} {
		if got := h.want(want.status, nil, http.MethodGet, address, ""); !strings.Contains(string(got.body), want.text) {
			t.Errorf("%s: %s, want %q", address, got.body, want.text)
		}
	}
}

// aView is a store whose every query has the view's columns and one row.
type aView struct {
	columns []string
	asked   []string
}

func (v *aView) Query(_ context.Context, q *store.Query) (*store.Table, error) {
	v.asked = append(v.asked, q.SQL)
	row := make([]any, len(v.columns))
	for i := range row {
		row[i] = "2026-01-02T00:00:00Z"
	}
	return &store.Table{Columns: slices.Clone(v.columns), Types: make([]string, len(row)), Rows: [][]any{row}}, nil
}

// TestColumnsOfViews: a view's columns are asked for once, and again once an answer has others.
func TestColumnsOfViews(t *testing.T) {
	from := &aView{columns: []string{"cluster", "created_at"}}
	h := start(t, func(o *admit.Options) { o.Queries = from })
	const address = "/v1/views/decision_log?cluster=demo&since=2020-01-01T00:00:00Z"
	probes := func() (n int) {
		for _, text := range from.asked {
			if strings.HasSuffix(text, "LIMIT 0") {
				n++
			}
		}
		return n
	}
	for round, want := range []int{1, 1, 1, 2, 2} {
		if round == 2 { // another release made it anew
			from.columns = []string{"id", "cluster", "created_at"}
		}
		var page rest.ViewPage
		h.want(http.StatusOK, &page, http.MethodGet, address, "")
		if got := probes(); got != want || !slices.Equal(page.Columns, from.columns) || page.Types[len(page.Types)-1] != "time" {
			t.Errorf("round %d: asked for columns %d times, want %d: %+v", round, got, want, page)
		}
	}
}

func TestReadyQueryAsCSV(t *testing.T) {
	from := &fixedTable{table: store.Table{
		Columns: []string{"pod", "n", "share", "ok", "none"},
		Rows:    [][]any{{"=cmd()", int64(-3), 0.5, true, nil}, {`a "b", c`, int64(1), 2.0, false, nil}, {"third", int64(1), 2.0, false, nil}},
	}}
	h := start(t, func(o *admit.Options) { o.Queries = from })
	file := h.want(http.StatusOK, nil, http.MethodGet, "/v1/queries/top-reasons?cluster=demo&limit=2&format=csv", "")
	want := "pod,n,share,ok,none\n'=cmd(),-3,0.5,true,\n\"a \"\"b\"\", c\",1,2,false,\n"
	if string(file.body) != want || file.Header.Get("Content-Disposition") != `attachment; filename="top-reasons.csv"` {
		t.Errorf("%s\n%s", file.Header, file.body)
	}
	lines := `{"pod":"=cmd()","n":-3,"share":0.5,"ok":true,"none":null}` + "\n" + `{"pod":"a \"b\", c","n":1,"share":2,"ok":false,"none":null}` + "\n"
	third := `{"pod":"third","n":1,"share":2,"ok":false,"none":null}` + "\n"
	for parameters, want := range map[string]struct{ file, truncated string }{
		"limit=2&format=csv&mark=false":   {want, "true"},
		"limit=2&format=csv&mark=true":    {want + "# truncated\n", "true"},
		"limit=3&format=csv&mark=true":    {want + "third,1,2,false,\n", ""},
		"limit=2&format=ndjson":           {lines, "true"},
		"limit=2&format=ndjson&mark=true": {lines + "{\"truncated\":true}\n", "true"},
		"limit=3&format=ndjson&mark=true": {lines + third, ""},
	} {
		got := h.want(http.StatusOK, nil, http.MethodGet, "/v1/queries/top-reasons?cluster=demo&"+parameters, "")
		if string(got.body) != want.file || got.Header.Get(exchange.TruncatedHeader) != want.truncated {
			t.Errorf("%s: truncated %q\n%s", parameters, got.Header.Get(exchange.TruncatedHeader), got.body)
		}
		if kind := got.Header.Get("Content-Type"); strings.Contains(parameters, "ndjson") && kind != "application/x-ndjson" {
			t.Errorf("%s: Content-Type %s", parameters, kind)
		}
	}
	if limit := from.asked.Args["limit"]; limit != int64(3) && limit != int64(4) || from.asked.MaxBytes != 4<<20 {
		t.Errorf("asked %+v", from.asked)
	}
	var answer rest.QueryAnswer
	if h.want(http.StatusOK, &answer, http.MethodGet, "/v1/queries/top-reasons?cluster=demo&limit=2", ""); len(answer.Rows) != 2 || !answer.More {
		t.Errorf("%+v", answer)
	}
	from.err = errors.Join(context.DeadlineExceeded)
	late := string(h.want(http.StatusServiceUnavailable, nil, http.MethodGet, "/v1/queries/top-reasons?cluster=demo", "").body)
	if !strings.Contains(late, "longer than 5s") || !strings.Contains(late, "query-deadline") {
		t.Error(late)
	}
}
