package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"berth/test/differences"
)

// different is a decision that is another one under another release.
type different struct {
	ID      string
	Error   string
	Changes []change
}

// upgraded is what another release changes of a history.
type upgraded struct {
	release string
	batch   *batch
	list    []different
}

// runUpgrade plays the trace, with decisions planted between its tasks, and has all decisions made
// again under other releases. Each planted one has to be found, with its causes and no others.
func runUpgrade(ctx context.Context, o options, c *client, machines []machine, tasks []task, w io.Writer) error {
	began := time.Now()
	if _, err := c.upload(ctx, o.Cluster, machines); err != nil {
		return err
	}
	p := newPlayer([]*client{c}, o.Cluster, newReport(machines))
	pair := &differences.Pairs[slices.IndexFunc(differences.Pairs, func(p differences.Pair) bool { return p.To == "v1.37" })]
	list, err := plants(o.Plant, o.Seed, pair, len(machines), len(tasks))
	if err != nil {
		return err
	}
	p.before = func(ctx context.Context, task int) error {
		for _, x := range list {
			if x.task != task {
				continue
			}
			if err := x.plant(ctx, c, o.Cluster); err != nil {
				return err
			}
		}
		return nil
	}
	if err := p.play(ctx, tasks); err != nil {
		return err
	}
	fmt.Fprintf(w, "%d tasks decided, %d scheduled, and %d decisions planted between them\n", p.r.decisions, p.r.scheduled, len(list))
	var wrong error
	var all []*upgraded
	for _, release := range o.Upgrade {
		u, err := c.upgrade(ctx, o.Cluster, began, release)
		if err != nil {
			return err
		}
		if release == pair.To && len(list) > 0 {
			wrong = u.compare(w, list)
		}
		u.list = slices.DeleteFunc(u.list, func(d different) bool {
			return slices.ContainsFunc(list, func(x *planted) bool { return x.id == d.ID })
		})
		all = append(all, u)
	}
	beyond(w, all, len(list))
	return wrong
}

// upgrade has all decisions since a time made again under a release.
func (c *client) upgrade(ctx context.Context, cluster string, since time.Time, release string) (*upgraded, error) {
	u := &upgraded{release: release}
	var err error
	// The server's clock may be another's.
	if u.batch, err = c.startReplay(ctx, cluster, since.Add(-time.Minute), release); err != nil {
		return nil, err
	}
	if u.batch, err = followReplay(ctx, c, u.batch); err != nil {
		return nil, err
	}
	for query := ""; ; {
		var page struct {
			Items  []different
			Cursor string
		}
		if err := c.call(ctx, http.MethodGet, "/v1/replays/"+u.batch.ID+"/differences"+query, nil, &page, http.StatusOK); err != nil {
			return nil, err
		}
		u.list = append(u.list, page.Items...)
		if page.Cursor == "" {
			return u, nil
		}
		query = "?cursor=" + url.QueryEscape(page.Cursor)
	}
}

// compare writes what was found of the planted decisions, by row. Its error names those that were
// not found as they were planted.
func (u *upgraded) compare(w io.Writer, list []*planted) error {
	found := map[string][]string{}
	for _, d := range u.list {
		found[d.ID] = []string{} // also without a cause
		for i := range d.Changes {
			found[d.ID] = append(found[d.ID], d.Changes[i].String())
		}
	}
	type count struct {
		planted, found int
		change         string
	}
	rows := map[string]*count{}
	var wrong []string
	for _, x := range list {
		got := found[x.id]
		for i, row := range x.rows {
			if rows[row] == nil {
				rows[row] = &count{change: strings.TrimSpace(x.want[i])}
			}
			rows[row].planted++
			if slices.Contains(got, x.want[i]) {
				rows[row].found++
			}
		}
		if diff := append(slices.Clone(got), x.want...); len(got) != len(x.want) || len(slices.Compact(slices.Sorted(slices.Values(diff)))) != len(x.want) {
			wrong = append(wrong, fmt.Sprintf("%v before task %d, decision %s: got %q, want %q", x.rows, x.task, x.id, got, x.want))
		}
	}
	t := tabwriter.NewWriter(w, 2, 4, 2, ' ', 0)
	fmt.Fprintf(t, "\nrow\tplanted\tfound\tas\n")
	names := slices.SortedFunc(maps.Keys(rows), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	for _, row := range names {
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\n", row, rows[row].planted, rows[row].found, rows[row].change)
	}
	_ = t.Flush()
	if wrong != nil {
		return fmt.Errorf("planted and not found as such:\n%s", strings.Join(wrong, "\n"))
	}
	return nil
}

// beyond writes how the trace's own decisions are under each release.
func beyond(w io.Writer, all []*upgraded, planted int) {
	t := tabwriter.NewWriter(w, 2, 4, 2, ' ', 0)
	fmt.Fprintf(t, "\nrelease\tthe trace's decisions\tthe same\tdiffer\tas\tfor instance\n")
	for _, u := range all {
		groups, example := map[string]int{}, map[string]string{}
		for _, d := range u.list {
			if d.Error != "" {
				groups["error: "+d.Error]++
			}
			for i := range d.Changes {
				key := strings.TrimSpace(d.Changes[i].String())
				groups[key]++
				if example[key] == "" {
					example[key] = d.Changes[i].Before + "; then " + d.Changes[i].After
				}
			}
		}
		total := int(u.batch.Done) - planted
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t\t\n", u.release, total, total-len(u.list), len(u.list))
		keys := slices.SortedFunc(maps.Keys(groups), func(a, b string) int { return cmp.Or(cmp.Compare(groups[b], groups[a]), cmp.Compare(a, b)) })
		for _, key := range keys {
			fmt.Fprintf(t, "\t\t\t%d\t%s\t%s\n", groups[key], key, example[key])
		}
	}
	_ = t.Flush()
}
