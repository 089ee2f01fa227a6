package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"berth/internal/decision/record"
	"berth/internal/report"
	"berth/internal/semantics"
	"berth/internal/upgrade"
	"berth/internal/words"
)

// upgradeAsk is a question for what another release of Kubernetes changes.
type upgradeAsk struct{ to, since string }

// upgradeAnswer is what it changes for the objects of a cluster and for its recorded decisions.
type upgradeAnswer struct {
	report.Upgrade
	History *upgradeHistory `json:"history,omitempty"`
}

// upgradeHistory are recorded decisions that were made again under the other release.
type upgradeHistory struct {
	replayJob
	// Groups are the differences, counted by kind and cause; Differences are they one by one.
	Groups      []upgrade.Group          `json:"groups"`
	Differences []record.BatchDifference `json:"differences"`
}

// replayJob is what a batch replay says of itself.
type replayJob struct {
	ID        string    `json:"id"`
	State     string    `json:"state"`
	Reason    string    `json:"reason,omitempty"`
	Since     time.Time `json:"since"`
	Until     time.Time `json:"until"`
	Total     int64     `json:"total"`
	Done      int64     `json:"done"`
	Identical int64     `json:"identical"`
	Different int64     `json:"different"`
	Errors    int64     `json:"errors"`
}

func (a *app) upgradeCommand() *cobra.Command {
	ask := &upgradeAsk{}
	cmd := &cobra.Command{
		Use:   "upgrade --to RELEASE",
		Short: "What would another release of Kubernetes change here?",
		Long: `Decides under two releases of Kubernetes, the cluster's and another one: on the
pods that wait, and on one that runs of each workload, as if it came now. With
--since a server makes its recorded decisions again, each on the state of its
time. Each difference is shown with the change in kube-scheduler that makes it.
Nothing is recorded or moved.

Exit code 0 if no decision differs, 2 if some do.`,
		Example: "  " + a.name + " upgrade --to v1.37 --snapshot cluster.json\n  " +
			a.name + " upgrade --to v1.37 --server http://127.0.0.1:8080 --cluster prod --since 30d",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return ask.run(cmd.Context(), a) },
	}
	cmd.Flags().StringVar(&ask.to, "to", "", "the release, such as v1.37, or \"v1.37 StorageCapacityScoring=false\"")
	cmd.Flags().StringVar(&ask.since, "since", "", "a server's decisions from then on: an age such as 30d or 12h, or a time")
	return cmd
}

func (u *upgradeAsk) run(ctx context.Context, a *app) error {
	if u.to == "" {
		return &problem{what: "which release?", next: "Give it: --to, one of " + semantics.Known() + "."}
	}
	var since time.Time
	if u.since != "" {
		var err error
		if since, err = words.Since(u.since, a.Now()); err != nil {
			return fmt.Errorf("--since %w", err)
		}
	}
	out, raw, gaps, err := answered[upgradeAnswer](ctx, a, func(s *source) (json.RawMessage, error) {
		if !since.IsZero() && s.dump != nil {
			return nil, &problem{what: "--since is about recorded decisions", next: "Name the server that has them: --server and --cluster."}
		}
		wait := a.progress("deciding under " + u.to)
		defer wait.end()
		raw, err := s.ofCluster(ctx, url.Values{"to": {u.to}}, "upgrade")
		if err != nil || since.IsZero() {
			return raw, err
		}
		var whole upgradeAnswer
		if err := readInto(raw, &whole); err != nil {
			return nil, err
		}
		if whole.History, err = s.upgradeHistory(ctx, u.to, since, wait); err != nil {
			return nil, err
		}
		return json.Marshal(&whole)
	})
	if err != nil {
		return err
	}
	if err := a.show(raw, gaps.about("Node", "Pod"), nil, func(p *page) { p.upgrade(out) }); err != nil {
		return err
	}
	if out.Differ > 0 || len(out.Settings) > 0 || out.History != nil && out.History.Different > 0 {
		return errNo
	}
	return nil
}

// upgradeHistory makes recorded decisions again. The job is cancelled where ctx ends before.
func (s *source) upgradeHistory(ctx context.Context, to string, since time.Time, wait *progress) (*upgradeHistory, error) {
	h := &upgradeHistory{Groups: []upgrade.Group{}, Differences: []record.BatchDifference{}}
	body := map[string]any{"cluster": s.cluster, "since": since.UTC().Format(time.RFC3339Nano), "semantics": to}
	raw, err := s.call(ctx, http.MethodPost, nil, body, "v1", "replays")
	if err != nil {
		return nil, err
	}
	err = s.followJob(ctx, raw, []string{"v1", "replays"}, func(raw json.RawMessage) (jobState, error) {
		err := readInto(raw, &h.replayJob)
		wait.at("decisions", int(h.Done), int(h.Total))
		return jobState{h.ID, h.State, h.Reason}, err
	})
	if err != nil {
		return nil, err
	}
	var tally upgrade.Tally
	for query := (url.Values{}); ; {
		raw, err := s.call(ctx, http.MethodGet, query, nil, "v1", "replays", h.ID, "differences")
		if err != nil {
			return nil, err
		}
		var page struct {
			Items  []record.BatchDifference `json:"items"`
			Cursor string                   `json:"cursor"`
		}
		if err := readInto(raw, &page); err != nil {
			return nil, err
		}
		for _, d := range page.Items {
			tally.Add(d.ID, d.Pod, d.Changes)
		}
		h.Differences = append(h.Differences, page.Items...)
		if page.Cursor == "" {
			h.Groups = tally.Groups()
			return h, nil
		}
		query = url.Values{"cursor": {page.Cursor}}
	}
}

// kindWords are the kinds of differences as people read them.
var kindWords = map[upgrade.Kind]string{
	upgrade.Fails: "fails", upgrade.NoLongerFits: "no longer fits", upgrade.FitsNow: "fits now", upgrade.OtherVictims: "other victims",
	upgrade.OtherNode: "other node", upgrade.OtherDevices: "other devices", upgrade.OtherScores: "other scores", upgrade.OtherMessage: "other message",
}

// upgrade writes what changes: verdicts first, then their causes, then what is worth a look.
func (p *page) upgrade(u *upgradeAnswer) {
	word, c := "SAME DECISIONS", green
	switch {
	case len(u.Settings) > 0:
		word, c = "SETTINGS REFUSED", red
	case u.Differ > 0 || u.History != nil && u.History.Different > 0:
		word, c = "DECISIONS DIFFER", yellow
	}
	p.head(word, c, u.From+" to "+u.To, "", "")
	for _, s := range u.Settings {
		p.labelled("REFUSED", s)
	}
	if asked := u.Asked.Waiting + u.Asked.Running; asked > 0 || len(u.Settings) == 0 {
		p.text(fmt.Sprintf("%s of %s asked now: %s that wait, and one of each of %s that run.",
			count(u.Differ), plural(asked, "pod"), count(u.Asked.Waiting), plural(u.Asked.Running, "workload")))
		p.left(u.Asked.Omitted, "pods")
	}
	p.upgradeGroups("NOW", u.Groups)
	if h := u.History; h != nil {
		p.gap()
		p.text(fmt.Sprintf("%s of %s since %s: %s the same, %s could not be made again.",
			count(int(h.Different)), plural(int(h.Total), "recorded decision"), h.Since.UTC().Format(time.DateOnly), count(int(h.Identical)), count(int(h.Errors))))
		p.upgradeGroups("RECORDED", h.Groups)
	}
	p.upgradeCauses(u)
	p.findings("GOES", u.Gone)
	p.findings("WORTH A LOOK", u.Objects)
	p.gap()
	p.text("A snapshot cannot tell " + strings.Join(u.NotTold, "; ") + ".")
}

func (p *page) findings(what string, list []upgrade.Finding) {
	if len(list) == 0 {
		return
	}
	t := newTable(what, "~WHY", ">OBJECTS", ".SUCH AS")
	for _, f := range list {
		t.add(f.Kind, f.Message, count(f.Objects), strings.Join(f.Sample[:1], ""))
	}
	p.list(t, "kinds of objects")
}

func (p *page) upgradeGroups(what string, groups []upgrade.Group) {
	var sums []string
	for _, k := range upgrade.Kinds {
		n := 0
		for _, g := range groups {
			if g.Kind == k {
				n += g.Decisions
			}
		}
		if n > 0 {
			sums = append(sums, kindWords[k]+" "+count(n))
		}
	}
	if len(sums) > 0 {
		p.text("In kinds: " + strings.Join(sums, ", ") + ".")
	}
	t := newTable("~"+what, ">DECISIONS", "~BECAUSE OF", "~SUCH AS")
	for _, g := range groups {
		example := ""
		if len(g.Examples) > 0 {
			e := g.Examples[0]
			before, after := reasons(e.Before), reasons(e.After)
			if before == after || g.Kind == upgrade.OtherMessage {
				before, after = e.Before, e.After
			}
			if g.Kind != upgrade.NoLongerFits && g.Kind != upgrade.FitsNow {
				before, after = differing(before, after)
			}
			example = fmt.Sprintf("%s/%s: %s; then %s", e.Pod.Namespace, e.Pod.Name, before, after)
		}
		causes := strings.Join(g.Causes, ", ")
		if causes == "" {
			causes = "not found"
		}
		t.add(kindWords[g.Kind], count(g.Decisions), causes, example)
	}
	p.list(t, "kinds of differences")
}

// reasons leaves of the message of a pod that fits nowhere what nodes reject it for.
func reasons(message string) string {
	if _, list, found := strings.Cut(message, " nodes are available: "); found {
		message, _, _ = strings.Cut(list, ". ")
	}
	return message
}

// differing leaves of two texts the words in which they differ, with one on each side.
func differing(a, b string) (string, string) {
	x, y := strings.Fields(a), strings.Fields(b)
	from, to := 0, 0
	for from < min(len(x), len(y)) && x[from] == y[from] {
		from++
	}
	for to < min(len(x), len(y))-from && x[len(x)-1-to] == y[len(y)-1-to] {
		to++
	}
	from, to = max(from-1, 0), max(to-1, 0)
	cut := func(list []string) string {
		text := strings.Join(list[from:len(list)-to], " ")
		if from > 0 {
			text = words.Dots + text
		}
		if to > 0 {
			text += words.Dots
		}
		return text
	}
	return cut(x), cut(y)
}

// upgradeCauses tells what the behaviours are that made a difference.
func (p *page) upgradeCauses(u *upgradeAnswer) {
	groups := u.Groups
	if u.History != nil {
		groups = slices.Concat(groups, u.History.Groups)
	}
	for _, b := range u.Behaviours {
		if !slices.ContainsFunc(groups, func(g upgrade.Group) bool { return slices.Contains(g.Causes, b.Name) }) {
			continue
		}
		name := b.Name
		if b.Gate {
			name = "gate " + name
		}
		text := "It decides " + b.What + "."
		if b.Remedy != "" {
			text += " To do: " + b.Remedy + "."
		}
		p.gap()
		p.text(fmt.Sprintf("%s (%s): %s", name, b.Row, b.Where))
		p.labelled("", text)
	}
}
