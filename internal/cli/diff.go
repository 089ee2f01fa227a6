package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"berth/internal/report"
	"berth/internal/revision"
)

func (a *app) diffCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "diff A B",
		Short: "What changed between two dumps, or two revisions?",
		Long: `What changed from A to B, by object and field: two files as kubectl prints them,
or with --server two revisions, such as prod@1 and prod@2. It shows the fields
that scheduling decisions read, and counts the others.

Exit code 0 if nothing differs, 2 if something does.`,
		Example: "  " + a.name + " diff yesterday.json today.json\n" +
			"  " + a.name + " diff prod@1 prod@latest --server http://127.0.0.1:8080",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 2 {
				return nil
			}
			return &problem{what: fmt.Sprintf("diff compares two, not %d", len(args)), next: "Give two files, or with --server two revisions: " + a.name + " diff A B"}
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.diff(cmd.Context(), args[0], args[1]) },
	}
}

func (a *app) diff(ctx context.Context, from, to string) error {
	if err := a.o.check(); err != nil {
		return err
	}
	raw, err := a.difference(ctx, from, to)
	if err != nil {
		return err
	}
	d := &report.Diff{}
	if err := readInto(raw, d); err != nil {
		return err
	}
	if err := a.show(raw, nil, nil, func(p *page) { p.diff(d, from, to) }); err != nil {
		return err
	}
	if len(d.Kinds) > 0 {
		return errNo
	}
	return nil
}

// difference calls the server about revisions, or the API here about files.
func (a *app) difference(ctx context.Context, from, to string) (json.RawMessage, error) {
	if a.o.server == "" {
		return a.fileDifference(ctx, from, to)
	}
	s, err := newServer(a)
	if err != nil {
		return nil, err
	}
	raw, err := s.difference(ctx, from, to)
	var r *refused
	if errors.As(err, &r) && r.Status == http.StatusBadRequest {
		return nil, &problem{what: r.Error(), next: "A server compares revisions, such as prod@1 and prod@latest."}
	}
	return raw, s.hint(ctx, err, target{})
}

func (s *source) difference(ctx context.Context, from, to string) (json.RawMessage, error) {
	return s.call(ctx, http.MethodGet, url.Values{"to": {to}}, nil, "v1", "snapshots", from, "diff")
}

func (a *app) fileDifference(ctx context.Context, from, to string) (json.RawMessage, error) {
	var views [2]*revision.View
	for i, file := range []string{from, to} {
		a.o.snapshot = file
		var err error
		if views[i], err = a.readSnapshot(); err != nil {
			return nil, err
		}
	}
	s, err := a.here(&dump{}, nil, views[:]...)
	if err != nil {
		return nil, err
	}
	raw, err := s.difference(ctx, views[0].ID(), views[1].ID())
	if err != nil {
		return nil, err
	}
	var d report.Diff
	if err := readInto(raw, &d); err != nil {
		return nil, err
	}
	d.From, d.To = nameOfFile(from), nameOfFile(to)
	return json.Marshal(&d)
}

func (p *page) diff(d *report.Diff, from, to string) {
	if len(d.Kinds) == 0 {
		p.head("SAME", green, from+" and "+to, "", "")
		return
	}
	p.head("DIFFERENT", yellow, from+" and "+to, "", "")
	p.gap()
	t := newTable("KIND", ">ADDED", ">REMOVED", ">CHANGED", ">ONLY STATUS OR PROBES")
	for _, k := range d.Kinds {
		t.add(k.Kind, count(k.Added), count(k.Removed), count(k.Changed), count(k.Other))
	}
	p.table(t)
	if len(d.Objects) == 0 {
		return
	}
	p.gap()
	t = newTable(".OBJECT", "~FIELD", "~BEFORE", "~AFTER")
	const most = 5 * rowsShown
	left := d.Omitted
	for i := range d.Objects {
		o := &d.Objects[i]
		if !p.wide && len(t.rows) >= most {
			left += len(d.Objects) - i
			break
		}
		name := strings.TrimPrefix(o.Namespace+"/"+o.Name, "/")
		if o.Change != report.Changed {
			t.add(o.Kind+" "+name, o.Change)
			continue
		}
		for _, f := range o.Fields {
			t.add(o.Kind+" "+name, f.Path, valueWords(f.From), valueWords(f.To))
		}
		if o.OtherFields > 0 {
			t.add(o.Kind+" "+name, "and "+plural(o.OtherFields, "field")+" of status or probes")
		}
	}
	p.table(t)
	p.left(left, "objects")
}

// valueWords shows a value as it is; a text without its quotes.
func valueWords(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case string:
		return v
	}
	js, _ := json.Marshal(v) // it came from JSON
	return string(js)
}
