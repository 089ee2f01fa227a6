package web

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"berth/internal/handlers/rest"
	"berth/internal/queries"
	"berth/internal/words"
)

// sqlView is the ready queries, or one of them with its form and its answer.
type sqlView struct {
	Queries []queries.Query
	Query   *queries.Query
	Fields  []sqlField
	// Missing are the parameters without which the query is not run.
	Missing []string
	Answer  *rest.QueryAnswer
	Summary string
	Rows    [][]sqlCell
	// API is the address of the answer as JSON, CSV that of the file.
	API, CSV string
}

// sqlField is a parameter in the form.
type sqlField struct{ Name, Hint, List string }

// sqlCell is a value of the answer, with the page about what it names.
type sqlCell struct {
	Text, Link string
	Number     bool
}

// sqlLists are what the parameters of queries offer.
var sqlLists = map[string]string{"namespace": "namespaces", "node": "nodes", "since": "times", "until": "times"}

func queryData(v *visit) string {
	name := v.query.Get("query")
	if name == "" {
		return "/v1/queries"
	}
	return "/v1/queries/" + url.PathEscape(name) + v.queryParams()
}

// queryParams are the parameters of the query that the page is about.
func (v *visit) queryParams() string {
	names := []string{"limit"}
	if q, ok := queries.Named(v.query.Get("query")); ok {
		names = append(names, q.Parameters...)
	}
	if slices.Contains(names, "cluster") {
		v.query.Set("cluster", v.cluster)
	}
	return v.params(names...)
}

func loadSQL(v *visit) (string, any, error) {
	list := &rest.QueryList{}
	if err := v.get("/v1/queries", list); err != nil {
		return "", nil, err
	}
	view := &sqlView{Queries: list.Items}
	name := v.query.Get("query")
	if name == "" || v.cluster == "" {
		return "SQL", view, nil
	}
	i := slices.IndexFunc(list.Items, func(q queries.Query) bool { return q.Name == name })
	if i < 0 {
		return "SQL", nil, v.get(queryData(v), &struct{}{})
	}
	view.Query, view.API = &list.Items[i], queryData(v)
	for _, p := range view.Query.Parameters {
		if value := v.query.Get(p); p != "cluster" {
			view.Fields = append(view.Fields, sqlField{p, "", sqlLists[p]})
			if value == "" && !queries.IsTime(p) && view.Query.Needs(p) {
				view.Missing = append(view.Missing, p)
			}
		}
	}
	if len(view.Missing) > 0 {
		return view.Query.Title, view, nil
	}
	view.Answer = &rest.QueryAnswer{}
	err := v.times()
	if view.API = queryData(v); err == nil {
		err = v.get(view.API, view.Answer)
	}
	if err != nil {
		view.Answer = nil
		return view.Query.Title, view, err
	}
	for i := range view.Fields {
		f := &view.Fields[i]
		f.Hint = view.Answer.Parameters[f.Name]
	}
	view.CSV = view.API + "&format=csv"
	view.Summary = words.Plural(len(view.Answer.Rows), "row") + "."
	if view.Answer.More {
		view.Summary = fmt.Sprintf("%s; there are more.", words.Plural(len(view.Answer.Rows), "row"))
	}
	view.Rows = v.cells(view.Answer)
	return view.Query.Title, view, nil
}

// cells writes an answer's values; pods and snapshots are linked to their pages.
func (v *visit) cells(a *rest.QueryAnswer) [][]sqlCell {
	f := frame{visit: v}
	namespace, pod := slices.Index(a.Columns, "namespace"), slices.Index(a.Columns, "pod")
	out := make([][]sqlCell, 0, len(a.Rows))
	for _, row := range a.Rows {
		cells := make([]sqlCell, len(row))
		for i, value := range row {
			number, isNumber := value.(float64)
			text := valueText(value)
			if isNumber {
				text = strconv.FormatFloat(number, 'f', -1, 64)
			}
			cells[i] = sqlCell{Text: text, Number: isNumber}
			of, _, named := strings.Cut(text, "@")
			switch {
			case i == pod && namespace >= 0 && namespace < len(row):
				cells[i].Link = f.To("pods", valueText(row[namespace]), text)
			case a.Columns[i] == "decision_id":
				cells[i].Link = f.To("decisions", text)
			case a.Columns[i] == "snapshot" && named && of == v.cluster:
				cells[i].Link = f.To("snapshots", text)
			}
		}
		out = append(out, cells)
	}
	return out
}
