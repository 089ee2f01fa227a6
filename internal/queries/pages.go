package queries

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/migrations"
)

// Page is a part of the rows that a view has of a cluster and a span of time, in the order of their
// time. Pages that follow one another have no row in common and leave none out, as long as nothing
// is written whose time lies before Until.
type Page struct {
	View, Cluster string
	Since, Until  time.Time
	Skip          int // so many rows of the time Since are those of pages before
}

// timeColumns are what the rows of views are ordered by: the first of them that a view has.
var timeColumns = []string{
	"created_at", "measured_at", "met_at", "since", "first_at", "first_attempt_at", "first_decided_at", "seen_at", "hour_at", "day_at",
}

// ofAccess are views about who may call: no page shows them, since who views a cluster need not
// know.
var ofAccess = []string{"access_changes", "token_grants"}

// NoPageError is the error of a view that has no pages.
type NoPageError struct{ Why string }

// Error implements error.
func (e *NoPageError) Error() string { return e.Why }

// Probe returns a query that has no rows but the columns of the page's view.
func (p *Page) Probe() (string, error) {
	docs, err := migrations.Documented()
	if err != nil {
		return "", err
	}
	if docs.View(p.View) == nil || slices.Contains(ofAccess, p.View) {
		return "", &NoPageError{"there is no such view, or it is about access"}
	}
	return "SELECT * FROM " + p.View + " LIMIT 0", nil
}

// Query returns the page's query for a view with these columns, the number in it of the column that
// orders the rows, and its arguments; limit bounds the rows.
func (p *Page) Query(columns []string, limit int) (text string, at int, args map[string]any, err error) {
	i := slices.IndexFunc(timeColumns, func(c string) bool { return slices.Contains(columns, c) })
	if i < 0 {
		return "", 0, nil, &NoPageError{"the view has no time to read it by"}
	}
	by := timeColumns[i]
	docs, err := migrations.Documented()
	if err != nil {
		return "", 0, nil, err
	}
	// The key makes the order of rows of one time the same for each page.
	order := []string{by}
	for _, column := range docs.View(p.View).Key {
		if column != "cluster" && column != by {
			order = append(order, column)
		}
	}
	if docs.View(p.View).Key == nil {
		for n := range columns {
			order = append(order, strconv.Itoa(n+1))
		}
	}
	text = fmt.Sprintf("SELECT * FROM %s WHERE cluster = @cluster AND %s >= @since AND %s < @until ORDER BY %s LIMIT @limit OFFSET @skip",
		p.View, by, by, strings.Join(order, ", "))
	args = map[string]any{"cluster": p.Cluster, Since: p.Since, Until: p.Until, Limit: int64(limit), "skip": int64(p.Skip)}
	return text, slices.Index(columns, by), args, nil
}

// IsTimeColumn reports whether a view's column of this name holds a time. SQLite has those in
// microseconds.
func IsTimeColumn(name string) bool {
	return strings.HasSuffix(name, "_at") || slices.Contains([]string{"since", "until", "decided_as_of", "asked_as_of"}, name)
}

// Next returns the page that follows the page's rows, which are ordered by the column at.
func (p *Page) Next(rows [][]any, at int) (*Page, error) {
	last, err := timeOf(rows[len(rows)-1][at])
	if err != nil {
		return nil, err
	}
	next := *p
	next.Since, next.Skip = last, 0
	for _, row := range slices.Backward(rows) {
		if row[at] != rows[len(rows)-1][at] {
			return &next, nil
		}
		next.Skip++
	}
	if last.Equal(p.Since) {
		next.Skip += p.Skip // all rows are of the time that the page began with
	}
	return &next, nil
}

// timeOf reads a time as either store answers with it.
func timeOf(v any) (time.Time, error) {
	if micros, is := v.(int64); is {
		return time.UnixMicro(micros), nil
	}
	text, _ := v.(string)
	return time.Parse(time.RFC3339Nano, text)
}

// String returns the page as a cursor.
func (p *Page) String() string {
	return p.Since.UTC().Format(time.RFC3339Nano) + "+" + strconv.Itoa(p.Skip)
}

// At sets where the page begins from a cursor.
func (p *Page) At(cursor string) error {
	text, skip, is := strings.Cut(cursor, "+")
	since, err := time.Parse(time.RFC3339Nano, text)
	n, bad := strconv.Atoi(skip)
	if !is || err != nil || bad != nil || n < 0 {
		return errors.New("want the cursor of the page before")
	}
	p.Since, p.Skip = since, n
	return nil
}
