package lists

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"berth/internal/store"
)

// Row is a decision on its way to the table.
type Row struct {
	*store.Decision
	Stamp Stamp
	// StampID is the stamp's number in the store, Seq the place in the cluster's log.
	StampID, Seq int64

	lists *encoded
}

// NewRow returns the row of a valid decision; StampID and Seq are the caller's to set.
func NewRow(d *store.Decision) *Row {
	l := encodedOf(d)
	return &Row{Decision: d, lists: l, Stamp: Stamp{d.Profile, d.ProfileDigest, d.Engine, d.Semantics, l.plugins}}
}

// Columns are some columns, in the order of a statement.
type Columns []store.Column

// The columns that backends write, that a list shows, that make a whole record, that are read to
// fill in what is missing, that roll-ups are made of, and that a replay needs.
var (
	Stored = where(func(c *store.Column) bool { return !c.Stamped })
	Listed = where(func(c *store.Column) bool {
		return c.Kind != store.Stamp && c.Kind != store.List && c.Kind != store.Blob
	})
	Whole = where(func(c *store.Column) bool { return c.Kind != store.Stamp })

	Backfilled = where(func(c *store.Column) bool { return slices.Contains(store.BackfillColumns, c.Name) })

	RolledUp = where(func(c *store.Column) bool { return slices.Contains(store.RollupColumns, c.Name) })
	Replayed = where(func(c *store.Column) bool { return slices.Contains(store.ReplayColumns, c.Name) })
	// ReplayedOwn are those of them that the table decisions has itself.
	ReplayedOwn = where(func(c *store.Column) bool { return slices.Contains(store.ReplayColumns, c.Name) && !c.Stamped })
)

func where(keep func(*store.Column) bool) (out Columns) {
	for i := range store.DecisionColumns {
		if c := &store.DecisionColumns[i]; keep(c) {
			out = append(out, *c)
		}
	}
	return out
}

// Names returns the columns' names.
func (cs Columns) Names() []string {
	names := make([]string, len(cs))
	for i := range cs {
		names[i] = cs[i].Name
	}
	return names
}

// List returns the columns as an INSERT names them.
func (cs Columns) List() string { return strings.Join(cs.Names(), ", ") }

// Select returns the columns as a SELECT reads them from decisions d and stamps t. A stamp that is
// missing hides no decision.
func (cs Columns) Select() string {
	expressions := make([]string, 0, len(cs)+1)
	for i := range cs {
		switch c := &cs[i]; {
		case c.Stamped:
			expressions = append(expressions, "coalesce(t."+c.Name+", '')")
		case c.Name == "scores":
			expressions = append(expressions, "coalesce(t.plugins, '')", "d.scores")
		default:
			expressions = append(expressions, "d."+c.Name)
		}
	}
	return strings.Join(expressions, ", ")
}

// Texts returns the columns that are texts as they are, and the others.
func (cs Columns) Texts() (texts, others Columns) {
	for i := range cs {
		if c := &cs[i]; (c.Kind == store.Text || c.Kind == store.Key) && !c.Null {
			texts = append(texts, *c)
			continue
		}
		others = append(others, cs[i])
	}
	return texts, others
}

// Joined returns texts as a SELECT of SQLite reads them in one expression, for Cut.
func (cs Columns) Joined() string { return "d." + strings.Join(cs.Names(), "||char(0)||d.") }

// Cut writes joined texts into the fields of a decision. None has a NUL itself: the last one takes
// the rest where one was given that.
func (cs Columns) Cut(joined string, d *store.Decision) {
	for i := range cs {
		into := cs[i].Field(d).(*string)
		if i == len(cs)-1 {
			*into = joined
			return
		}
		*into, joined, _ = strings.Cut(joined, "\x00")
	}
}

// Values returns what the columns of a row hold. instant returns a time as the backend writes it.
func (cs Columns) Values(r *Row, instant func(time.Time) any) []any {
	values := make([]any, len(cs))
	for i := range cs {
		values[i] = r.value(&cs[i], instant)
	}
	return values
}

// value returns what a column of the row holds.
func (r *Row) value(c *store.Column, instant func(time.Time) any) any {
	switch c.Kind {
	case store.Stamp:
		return r.StampID
	case store.Place:
		return r.Seq
	}
	switch field := c.Field(r.Decision).(type) {
	case *string:
		switch {
		case c.Kind == store.UID:
			return packUID([]byte{}, *field)
		case c.Kind == store.Digest:
			return packDigest([]byte{}, *field)
		case c.Null:
			return OrNull(*field)
		}
		return *field
	case *int64:
		return *field
	case **int64:
		if *field == nil {
			return nil
		}
		return **field
	case *int32:
		return int64(*field)
	case *int:
		return int64(*field)
	case *time.Time:
		if c.Null && field.IsZero() {
			return nil
		}
		return instant(*field)
	case *[]byte:
		if *field == nil {
			return nil
		}
		return *field
	case *[]store.Failure:
		return r.lists.failures
	case *[]store.Score:
		return r.lists.scores
	case *[]store.Victim:
		return OrNull(encodeVictims(*field))
	}
	panic("no backend can write the column " + c.Name)
}

// Targets returns where a row that Select reads goes: into the fields of a decision.
func (cs Columns) Targets(d *store.Decision) []any {
	into := make([]any, 0, len(cs)+1)
	for i := range cs {
		c := &cs[i]
		switch field := c.Field(d).(type) {
		case *string:
			switch c.Kind {
			case store.UID:
				into = append(into, unpacked(field, UnpackUID))
			case store.Digest:
				into = append(into, unpacked(field, unpackDigest))
			default:
				if c.Null {
					into = append(into, TextOrNull(field))
					continue
				}
				into = append(into, field)
			}
		case *time.Time:
			if c.Null {
				into = append(into, InstantOrNull(field))
				continue
			}
			into = append(into, Instant(field))
		case *[]store.Failure:
			into = append(into, decoded(field, decodeFailures))
		case *[]store.Score:
			var plugins string // read before the scores, which refer to it
			into = append(into, &plugins, decoded(field, func(column string) ([]store.Score, error) { return decodeScores(column, plugins) }))
		case *[]store.Victim:
			into = append(into, decoded(field, decodeVictims))
		default:
			into = append(into, field)
		}
	}
	return into
}

// scanFunc is a sql.Scanner, which both backends' drivers take.
type scanFunc func(src any) error

// Scan implements sql.Scanner.
func (f scanFunc) Scan(src any) error { return f(src) }

// Instant reads a time as either backend stores it, in UTC. Infinity, which no program of ours
// writes, becomes the zero time rather than an error that would take all other rows of the answer
// with it.
func Instant(into *time.Time) scanFunc {
	return func(src any) error {
		switch v := src.(type) {
		case int64:
			*into = time.UnixMicro(v).UTC()
		case time.Time:
			*into = v.UTC()
		case string:
			*into = time.Time{}
		default:
			return errors.New("a time is missing")
		}
		return nil
	}
}

func unpacked(into *string, unpack func([]byte) string) scanFunc {
	return func(src any) error {
		b, ok := src.([]byte)
		if !ok {
			return fmt.Errorf("bytes are %T", src)
		}
		*into = unpack(b)
		return nil
	}
}

// OrNull returns a text as a column holds it that has NULL for the empty one.
func OrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// TextOrNull reads such a column.
func TextOrNull(into *string) scanFunc {
	return func(src any) error {
		*into, _ = src.(string)
		return nil
	}
}

// InstantOrNull reads a time that may be NULL, which is the zero time.
func InstantOrNull(into *time.Time) scanFunc {
	return func(src any) error {
		if src == nil {
			*into = time.Time{}
			return nil
		}
		return Instant(into)(src)
	}
}

// decoded leaves an empty list where the column is NULL.
func decoded[T any](into *[]T, decode func(string) ([]T, error)) scanFunc {
	return func(src any) (err error) {
		switch column := src.(type) {
		case nil:
			*into = nil
		case string:
			*into, err = decode(column)
		default:
			err = fmt.Errorf("a list is %T", src)
		}
		return err
	}
}
