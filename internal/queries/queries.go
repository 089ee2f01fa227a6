// Package queries holds the ready queries about the views of the decision log: their SQL, what they
// answer, and their parameters. The REST API runs them, and the explorer shows them. ready.md,
// beside this file, has them with their answers.
package queries

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed ready.sql
var readyText string

// Query is a ready query.
type Query struct {
	// Name is what the query is run by.
	Name string `json:"name" example:"top-reasons"`
	// Title is the question that it answers.
	Title string `json:"title"`
	// Description adds what to know of the answer.
	Description string `json:"description"`
	// Parameters are those that it takes beside limit, cluster first; all are needed but since,
	// until and those of Optional.
	Parameters []string `json:"parameters" example:"cluster,since"`
	// Optional are the parameters that filter nothing where they are empty.
	Optional []string `json:"optional,omitempty"`
	// Admin reports that the query is about access: only admins of all clusters may run it.
	Admin bool `json:"admin,omitempty"`
	// Chart has the columns of a time series.
	Chart *Chart `json:"chart,omitempty"`
	// SQL is the query as both backends run it, with @name for a parameter.
	SQL string `json:"sql"`
	// Example has a value of each parameter, as in the examples of ready.md.
	Example map[string]string `json:"-"`
} // @name Query

// Chart has the columns of a query's rows that a chart of them draws.
type Chart struct {
	// Time is the column of the times, which are texts; a day where it is named so.
	Time string `json:"time" example:"hour"`
	// Series is the column that has a line a value; absent where there is one line.
	Series string `json:"series,omitempty" example:"cause"`
	// Value is the column of the values.
	Value string `json:"value" example:"pods"`
	// Grafana is the query for a panel of Grafana on PostgreSQL: time, metric and value of each
	// point. Its variables are cluster_of_log and namespace.
	Grafana string `json:"grafana"`
} // @name QueryChart

// All returns the ready queries in the order of docs/sql.md. Not to be changed.
func All() []Query { return ready }

// Named returns the query of a name.
func Named(name string) (*Query, bool) {
	i := slices.IndexFunc(ready, func(q Query) bool { return q.Name == name })
	if i < 0 {
		return nil, false
	}
	return &ready[i], true
}

// The parameters that are no texts.
const (
	Since = "since"
	Until = "until"
	Limit = "limit"
)

// IsTime reports whether a parameter is a time.
func IsTime(parameter string) bool { return parameter == Since || parameter == Until }

// Needs reports whether the query has no answer without a value of the parameter.
func (q *Query) Needs(parameter string) bool { return !slices.Contains(q.Optional, parameter) }

var ready = mustParse(readyText)

var placeholder = regexp.MustCompile(`@([a-z]+)`)

// mustParse reads the file of queries, which are separated by empty lines. It panics where the file
// is not as its head describes: the file is part of the program.
func mustParse(text string) []Query {
	_, text, _ = strings.Cut(text, "\n\n")
	var out []Query
	var parts []string // {name}, text, ...
	for section := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if part, ok := strings.CutPrefix(section, "-- part "); ok {
			name, rest, _ := strings.Cut(part, ":")
			parts = append(parts, "{"+name+"}", strings.NewReplacer(parts...).Replace(withoutComments(rest)))
			continue
		}
		q := Query{}
		head := true
		var description []string
		for line := range strings.Lines(section) {
			note, isNote := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "-- ")
			example, isExample := strings.CutPrefix(note, "example: ")
			optional, isOptional := strings.CutPrefix(note, "optional: ")
			chart, isChart := strings.CutPrefix(note, "chart: ")
			switch {
			case isOptional:
				q.Optional = strings.Fields(optional)
			case note == "right: admin":
				q.Admin = true
			case isChart:
				columns := pairs(chart)
				q.Chart = &Chart{Time: columns["time"], Series: columns["series"], Value: columns["value"]}
			case isNote && head:
				q.Name, q.Title, _ = strings.Cut(note, ": ")
				head = false
			case isExample:
				q.Example = pairs(example)
			case isNote:
				description = append(description, note)
			default:
				q.SQL += line
			}
		}
		q.SQL = strings.NewReplacer(parts...).Replace(q.SQL)
		q.Description = strings.Join(description, " ")
		for _, m := range placeholder.FindAllStringSubmatch(q.SQL, -1) {
			if q.Example[m[1]] == "" && !slices.Contains(q.Optional, m[1]) {
				panic(fmt.Sprintf("query %q has no example of %s", q.Name, m[1]))
			}
			if m[1] != Limit && !slices.Contains(q.Parameters, m[1]) {
				q.Parameters = append(q.Parameters, m[1])
			}
		}
		if q.Chart != nil {
			q.Chart.Grafana = q.grafana()
		}
		out = append(out, q)
	}
	return out
}

// withoutComments returns the lines of a part that are SQL.
func withoutComments(part string) string {
	_, lines, _ := strings.Cut(part, "\n")
	for strings.HasPrefix(lines, "-- ") {
		_, lines, _ = strings.Cut(lines, "\n")
	}
	return lines
}

// grafana returns Chart.Grafana. Points that have a time and a series in common are added up.
func (q *Query) grafana() string {
	text := placeholder.ReplaceAllStringFunc(q.SQL, func(at string) string {
		switch name := at[1:]; name {
		case Since:
			return "$__timeFrom()"
		case Until:
			return "$__timeTo()"
		case Limit:
			return "10000"
		case "cluster":
			return "${cluster_of_log:sqlstring}"
		case "namespace":
			return "${namespace:sqlstring}"
		default:
			return "'" + q.Example[name] + "'"
		}
	})
	at, metric := "q."+q.Chart.Time, "'"+q.Chart.Value+"'"
	if q.Chart.Time == "day" {
		at += " || ' 00:00Z'"
	}
	if q.Chart.Series != "" {
		metric = "coalesce(q." + q.Chart.Series + ", 'none')"
	}
	return fmt.Sprintf("SELECT CAST(%s AS timestamptz) AS time, %s AS metric, sum(q.%s) AS value\nFROM (\n%s\n) q\nGROUP BY 1, 2\nORDER BY 1, 2", at, metric, q.Chart.Value, strings.TrimSuffix(text, "\n"))
}

// pairs reads name=value, with spaces between.
func pairs(text string) map[string]string {
	out := map[string]string{}
	for pair := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(pair, "=")
		out[name] = value
	}
	return out
}

// Literal returns the query with values in the place of its parameters, as a person would write it
// for a backend: sqlite or postgres.
func (q *Query) Literal(backend string, values map[string]string) string {
	return placeholder.ReplaceAllStringFunc(q.SQL, func(at string) string {
		name := at[1:]
		value := values[name]
		if name == Limit {
			return value
		}
		text := "'" + strings.ReplaceAll(value, "'", "''") + "'"
		if backend == "sqlite" && IsTime(name) {
			return "unixepoch(" + text + ") * 1000000"
		}
		return text
	}) + ";"
}

// Bind returns the values of the query's parameters as a store takes them. The error names the
// parameter.
func (q *Query) Bind(values map[string]string, limit int) (map[string]any, error) {
	out := map[string]any{Limit: int64(limit)}
	for _, name := range q.Parameters {
		value := values[name]
		switch {
		case value == "" && q.Needs(name):
			return nil, &ValueError{name, "the query needs it"}
		case IsTime(name):
			at, err := time.Parse(time.RFC3339, value)
			if err != nil {
				return nil, &ValueError{name, "want a time as in RFC 3339, such as 2026-01-31T12:00:00Z, not " + strconv.Quote(value)}
			}
			out[name] = at
		default:
			out[name] = value
		}
	}
	return out, nil
}

// ValueError reports what is wrong with the value of a parameter.
type ValueError struct{ Parameter, Message string }

// Error implements error.
func (e *ValueError) Error() string { return e.Parameter + ": " + e.Message }
