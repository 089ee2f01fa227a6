package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"berth/internal/blame"
	"berth/internal/engine"
	"berth/internal/report"
	"berth/internal/revision"
	"berth/internal/words"
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

// filesHere returns a source of two files as revisions 1 and 2.
func (a *app) filesHere(list []*engine.Profile, from, to string) (*source, error) {
	var views [2]*revision.View
	for i, file := range []string{from, to} {
		a.o.snapshot = file
		var err error
		if views[i], err = a.readSnapshot(); err != nil {
			return nil, err
		}
	}
	return a.here(&dump{view: views[1], file: nameOfFile(to)}, list, views[:]...)
}

func (a *app) fileDifference(ctx context.Context, from, to string) (json.RawMessage, error) {
	s, err := a.filesHere(nil, from, to)
	if err != nil {
		return nil, err
	}
	raw, err := s.difference(ctx, revision.FormatID(inMemory, 1), revision.FormatID(inMemory, 2))
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
	p.turned(d)
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

// turned says first which nodes are Ready no more, and which are again.
func (p *page) turned(d *report.Diff) {
	var lost, back []string
	for i := range d.Objects {
		o := &d.Objects[i]
		for _, f := range o.Fields {
			if o.Kind != "Node" || f.Path != "status.conditions[Ready].status" {
				continue
			}
			if f.To == "True" {
				back = append(back, o.Name)
			} else if f.From == "True" {
				lost = append(lost, o.Name)
			}
		}
	}
	p.nodes = slices.Concat(lost, back)
	if len(lost) > 0 {
		p.labelled("LOST", fmt.Sprintf("%s NotReady now: %s", isAre(len(lost), "node"), firstNames(lost)))
	}
	if len(back) > 0 {
		p.labelled("BACK", fmt.Sprintf("%s Ready again: %s", isAre(len(back), "node"), firstNames(back)))
	}
}

// namesShown is how many names a sentence has.
const namesShown = 10

// firstNames lists the first few names, and how many more there are.
func firstNames(names []string) string {
	s := strings.Join(names[:min(len(names), namesShown)], ", ")
	if more := len(names) - namesShown; more > 0 {
		s += " and " + count(more) + " more"
	}
	return s
}

// isAre writes "1 node is" or "3 nodes are".
func isAre(n int, one string) string {
	if n == 1 {
		return plural(n, one) + " is"
	}
	return plural(n, one) + " are"
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

// blameOf answers since when a pod does not fit.
type blameOf struct {
	node, since, until, between string
	count                       int
}

func (a *app) blameCommand() *cobra.Command {
	b := &blameOf{}
	cmd := &cobra.Command{
		Use:   "blame POD",
		Short: "Since when does it not fit, and which change did it?",
		Long: `When the verdict about a pod turned: each revision of the server's history is
decided on exactly, and where the outcome became another one, the change, its
time and who asked for it are shown, the newest first. Of a change of many
objects those that turned it are found by leaving them out. With --between the
history is two dumps: what differs is one change.

POD is NAME, pod/NAME or NAMESPACE/NAME, as the newest revision has it that has
it at all. A pod that is bound is judged as if it were not.

Exit code 0 if it fits now, on the node or as often as --node and --count say,
2 if not.`,
		Example: "  " + a.name + " blame shop/checkout --server http://127.0.0.1:8080 --cluster prod\n" +
			"  " + a.name + " blame shop/checkout --node node-a1 --since 7d\n" +
			"  " + a.name + " blame shop/checkout --between yesterday.json today.json",
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return b.run(cmd.Context(), a, args) },
	}
	f := cmd.Flags()
	f.StringVar(&b.node, "node", "", "since when it does not fit on this node")
	f.IntVar(&b.count, "count", 0, "since when fewer than so many copies of it fit")
	f.StringVar(&b.since, "since", "", "what to begin with: an age such as 7d, a time, or a revision such as prod@3")
	f.StringVar(&b.until, "until", "", "what to end with, as --since")
	f.StringVar(&b.between, "between", "", "two dumps instead of a server's history: --between A B")
	return cmd
}

func (b *blameOf) run(ctx context.Context, a *app, args []string) error {
	if err := a.o.check(); err != nil {
		return err
	}
	b.node = nodeName(b.node)
	var to string
	if b.between != "" {
		if len(args) != 2 {
			return &problem{what: "--between needs two dumps and a pod", next: a.name + " blame NAMESPACE/NAME --between A.json B.json"}
		}
		if args, to = args[:1], args[1]; !isFile(to) && isFile(args[0]) { // the flag came first
			args[0], to = to, args[0]
		}
	}
	if len(args) > 1 {
		return &problem{what: fmt.Sprintf("blame is about one pod, not %d", len(args))}
	}
	pod, err := a.target(args, "")
	if err != nil {
		return err
	}
	from, err := b.source(ctx, a, to)
	if err != nil {
		return err
	}
	if pod, err = a.find(ctx, from, pod); err != nil {
		return err
	}
	if b.node != "" {
		if err := from.fullNames(ctx, &b.node); err != nil {
			return err
		}
	}
	query, err := b.query(from, a.Now())
	if err != nil {
		return err
	}
	end := a.waiting("deciding at each revision")
	raw, err := from.call(ctx, http.MethodGet, query, nil, "v1", "clusters", from.cluster, "pods", pod.namespace, pod.name, "blame")
	end()
	var r *refused
	if errors.As(err, &r) && r.Status == http.StatusNotFound {
		return meant(ctx, from, pod, &problem{what: r.Error()})
	}
	if err != nil {
		return err
	}
	out := &blame.Blame{}
	if err := readInto(raw, out); err != nil {
		return err
	}
	if to != "" {
		b.nameFiles(out, to)
		if raw, err = json.Marshal(out); err != nil {
			return fmt.Errorf("encode: %w", err)
		}
	}
	if err := a.show(raw, nil, nil, func(p *page) { p.blame(out, b) }); err != nil {
		return err
	}
	if !b.fits(out) {
		return errNo
	}
	return nil
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.IsDir()
}

// source is a server, or the two files.
func (b *blameOf) source(ctx context.Context, a *app, to string) (*source, error) {
	if to != "" {
		list, err := a.profiles()
		if err != nil {
			return nil, err
		}
		return a.filesHere(list, b.between, to)
	}
	if a.o.server == "" && a.o.snapshot != "" {
		return nil, &problem{what: "one dump has no history", next: "Two dumps: " + a.name + " blame POD --between A.json B.json. A server's history: --server."}
	}
	from, err := a.source(ctx)
	if err != nil {
		return nil, err
	}
	if from.dump != nil {
		return nil, &problem{what: "a cluster's apiserver has no history", next: "Name a berth server that follows it: --server. Two dumps: --between A.json B.json."}
	}
	return from, from.ownConfig()
}

func (b *blameOf) query(from *source, now time.Time) (url.Values, error) {
	q := url.Values{}
	if from.older() && from.dump == nil {
		q.Set("until", from.snapshot)
	}
	for name, text := range map[string]string{"since": b.since, "until": b.until} {
		if text == "" {
			continue
		}
		if !strings.Contains(text, "@") {
			at, err := words.Since(text, now)
			if err != nil {
				return nil, fmt.Errorf("--%s %w, or a revision such as prod@3", name, err)
			}
			text = at.UTC().Format(time.RFC3339Nano)
		}
		q.Set(name, text)
	}
	if b.node != "" {
		q.Set("node", b.node)
	}
	if b.count != 0 {
		q.Set("count", strconv.Itoa(b.count))
	}
	return q, nil
}

// nameFiles writes the second file in place of its revision.
func (b *blameOf) nameFiles(out *blame.Blame, to string) {
	for i := range out.Turns {
		t := &out.Turns[i]
		before, after, ok := strings.Cut(t.Message, t.Snapshot+", ")
		if _, rest, more := strings.Cut(after, ", "); ok && more {
			t.Message = before + nameOfFile(to) + ", " + rest
		}
		t.Snapshot = nameOfFile(to)
	}
}

// fits reports whether the pod fits now, as it was asked for.
func (b *blameOf) fits(out *blame.Blame) bool {
	switch {
	case b.count > 0:
		return out.Outcome == strconv.Itoa(b.count)
	case b.node != "":
		return out.Outcome == blame.Fits
	}
	return out.Outcome == string(engine.Scheduled)
}
