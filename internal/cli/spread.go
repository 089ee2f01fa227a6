package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"berth/internal/engine"
	"berth/internal/engine/explain/suggest"
	"berth/internal/report"
)

func (a *app) spreadCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "spread POD",
		Short: "How are pods like it spread, and which domains can still take it?",
		Long: `The table of topology spread: for each constraint the domains with the pods
that count in them, the skew if the pod is placed there, the limit, and the
domains that do not count with the reason.

Exit code 0 if a node is in domains that all hard constraints allow, 2 if not.`,
		Example:           "  " + a.name + " spread shop/web-4 --snapshot cluster.json",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, names []string) error { return a.spread(cmd.Context(), names, file) },
	}
	cmd.Flags().StringVarP(&file, "filename", "f", "", "file with the pod, instead of one from the source")
	return cmd
}

func (a *app) spread(ctx context.Context, names []string, file string) error {
	got, _, gaps, err := a.ask(ctx, names, file, question{explain: engine.ExplainGroups, suggest: true})
	if err != nil {
		return err
	}
	if a.o.output == formJSON {
		if err := a.json(got.raw); err != nil {
			return err
		}
		return exitForSpread(got)
	}
	p := a.page()
	p.gaps(gaps.about("Pod", "Namespace", report.SpreadKinds))
	p.spreadTable(got)
	if err := p.end(a); err != nil {
		return err
	}
	return exitForSpread(got)
}

// hard is what kube-scheduler calls a constraint that rejects nodes.
const hard = "DoNotSchedule"

func exitForSpread(got *answer) error {
	if conflicts(got) {
		return errNo
	}
	for i := range got.Spread {
		if c := &got.Spread[i]; c.WhenUnsatisfiable == hard && !leavesDomain(c) {
			return errNo
		}
	}
	return nil
}

// conflicts reports whether each hard constraint allows domains and yet no node is in domains that
// all of them allow. A node that another rule rejects first is counted where spreading would reject
// it, too.
func conflicts(got *answer) bool {
	hardOnes := 0
	for i := range got.Spread {
		if c := &got.Spread[i]; c.WhenUnsatisfiable == hard {
			hardOnes++
		}
	}
	if hardOnes < 2 || got.Outcome != engine.UnschedulableOK && got.Outcome != engine.Preempting || len(got.Groups) == 0 {
		return false
	}
	for i := range got.Groups {
		g := &got.Groups[i]
		left := g.Nodes
		if g.Rule == spreadRule {
			left = 0
		}
		for _, f := range g.AlsoFailing {
			if f.Rule == spreadRule {
				left -= f.Nodes
			}
		}
		if left > 0 {
			return false
		}
	}
	return true
}

// spreadRule is the plugin of topology spread.
const spreadRule = "PodTopologySpread"

// leavesDomain reports whether the pod may go to some domain. Where domains were left
// out, one of them may be it.
func leavesDomain(c *engine.SpreadConstraint) bool {
	return c.DomainsOmitted > 0 || slices.ContainsFunc(c.Domains, func(d engine.SpreadDomain) bool { return mayGo(c, &d) })
}

func mayGo(c *engine.SpreadConstraint, d *engine.SpreadDomain) bool {
	return d.Eligible && (c.WhenUnsatisfiable != hard || d.SkewIfPlaced <= int(c.MaxSkew))
}

func (p *page) spreadTable(got *answer) {
	name := got.Pod.Namespace + "/" + got.Pod.Name
	word, c := "PREFERENCE", green
	each := slices.ContainsFunc(got.Spread, func(c engine.SpreadConstraint) bool { return c.WhenUnsatisfiable == hard && !leavesDomain(&c) })
	switch {
	case got.Outcome == engine.Gated:
		word, c = "GATED", yellow
	case len(got.Spread) == 0:
		word = "NO LIMIT"
	case conflicts(got) && !each:
		word, c = "CONFLICT", red
	case exitForSpread(got) != nil:
		word, c = "BLOCKED", red
	case slices.ContainsFunc(got.Spread, func(c engine.SpreadConstraint) bool { return c.WhenUnsatisfiable == hard }):
		word = "ROOM"
	}
	p.head(word, c, name, "", "")
	if len(got.Spread) == 0 {
		p.gap()
		if got.Outcome == engine.Gated {
			p.text("It is gated: spreading is checked once its gates are gone.")
			p.labelled("NEXT", gateWords(got.Gates))
			return
		}
		p.text("No spread constraint is on it, neither its own nor a default one.")
	}
	switch word {
	case "CONFLICT":
		p.gap()
		p.text("Each constraint allows some domain, but no node is in domains that all of them allow.")
		p.relax(got)
	case "BLOCKED":
		p.relax(got)
	case "PREFERENCE":
		p.gap()
		p.text("Each constraint is a preference (ScheduleAnyway): it rejects no node, and nothing moves pods that run.")
	}
	if got.BoundTo != "" && len(got.Spread) > 0 {
		p.gap()
		p.text(fmt.Sprintf("It is on %s, and PODS has it there. SKEW THEN is without it, as if it came now.", got.BoundTo))
	}
	for i := range got.Spread {
		p.gap()
		p.constraint(&got.Spread[i])
	}
}

// relax offers the change that people would make first of those that let the pod be placed: of one
// of its constraints, where there is such a one.
func (p *page) relax(got *answer) {
	at := slices.IndexFunc(got.Suggestions, func(s suggest.Suggestion) bool { return s.Kind == "topologySpread" })
	if at < 0 && (len(got.Suggestions) == 0 || got.Outcome != engine.UnschedulableOK) {
		return
	}
	s := &got.Suggestions[max(at, 0)]
	p.gap()
	p.labelled("TRY", fmt.Sprintf("%s: then it fits %s", changeWords(s), plural(s.Fits, "node")))
	p.labelled("RUN", s.Command)
}

// constraint writes one constraint and its domains.
func (p *page) constraint(c *engine.SpreadConstraint) {
	own := "the pod's own"
	if c.Source != "pod" {
		own = "the default, " + c.Source
	}
	p.line("%s", c.TopologyKey)
	about := fmt.Sprintf("%s, maxSkew %d, %s; counts pods with %s", c.WhenUnsatisfiable, c.MaxSkew, own, orAll(c.LabelSelector))
	if !c.SelfMatch {
		about += ", which it is none of itself"
	}
	if c.MinDomains != nil {
		about += fmt.Sprintf("; minDomains %d", *c.MinDomains)
	}
	p.text(about)
	if least, most, ok := present(c); ok {
		p.text(fmt.Sprintf("now: %d to %d in a domain, a skew of %d", least, most, most-least))
	}
	limit := -1
	if c.GlobalMinimum != nil {
		limit = *c.GlobalMinimum + int(c.MaxSkew)
		if slices.ContainsFunc(c.Domains, func(d engine.SpreadDomain) bool { return d.Eligible }) || c.DomainsOmitted > 0 {
			p.text(fmt.Sprintf("limit: %d, %s and maxSkew %d", limit, emptiest(c), c.MaxSkew))
		} else {
			p.text("no domain counts")
		}
	}
	p.domains(c, limit)
	p.leftOut(c)
}

// present returns the fewest and the most pods of the domains that count; ok is false where there
// is none, or not all are known.
func present(c *engine.SpreadConstraint) (least, most int, ok bool) {
	for i := range c.Domains {
		d := &c.Domains[i]
		if !d.Eligible {
			continue
		}
		n := pods(c, &fold{SpreadDomain: *d})
		if !ok || n < least {
			least = n
		}
		most, ok = max(most, n), true
	}
	return least, most, ok && c.DomainsOmitted == 0
}

// domainLabel writes the value of a topology key; an empty one is a domain as well.
func domainLabel(value string) string {
	if value == "" {
		return `"" (empty)`
	}
	return value
}

// leftOut names the pods that the selector matches and that count nowhere, with why.
func (p *page) leftOut(c *engine.SpreadConstraint) {
	for i := range c.Domains {
		d := &c.Domains[i]
		var whys []string
		by := map[string][]string{}
		for _, o := range d.LeftOut {
			if by[o.Why] == nil {
				whys = append(whys, o.Why)
			}
			by[o.Why] = append(by[o.Why], o.Name+" on "+o.Node)
		}
		for _, why := range whys {
			p.text(fmt.Sprintf("Not counted in %s: %s (%s).", domainLabel(d.Value), strings.Join(by[why], ", "), why))
		}
		if d.LeftOutOmitted > 0 {
			p.text(fmt.Sprintf("Not counted in %s: %s more.", domainLabel(d.Value), count(d.LeftOutOmitted)))
		}
	}
}

// emptiest returns what the limit is counted from.
func emptiest(c *engine.SpreadConstraint) string {
	least := *c.GlobalMinimum
	if c.MinDomains != nil && least == 0 && !slices.ContainsFunc(c.Domains, func(d engine.SpreadDomain) bool { return d.Eligible && d.Matching == 0 }) {
		return fmt.Sprintf("0 since there are fewer domains than %d", *c.MinDomains)
	}
	return fmt.Sprintf("the emptiest domain's %d", least)
}

func orAll(selector string) string {
	if selector == "" {
		return "any labels"
	}
	return selector
}

// foldAbove is how many domains are listed one by one; more are counted by what
// is the same about them.
const foldAbove = 16

func (p *page) domains(c *engine.SpreadConstraint, limit int) {
	rows := make([]fold, 0, len(c.Domains))
	for _, d := range c.Domains {
		rows = append(rows, fold{SpreadDomain: d, label: domainLabel(d.Value), domains: 1})
	}
	if len(rows) > foldAbove && !p.wide {
		rows = folded(rows)
	}
	most := 1
	for _, r := range rows {
		most = max(most, r.Matching+1, limit)
	}
	t := newTable(nodeIf(c.TopologyKey)+"DOMAIN", ">NODES", ">PODS", ">SKEW THEN", "", "~PODS, + THIS ONE, | LIMIT")
	if limit < 0 {
		t.head[5] = "PODS, + THIS ONE"
	}
	t.colour = func(r, col int) colour {
		if col != 4 || c.WhenUnsatisfiable != hard {
			return ""
		}
		if mayGo(c, &rows[r].SpreadDomain) {
			return green
		}
		return red
	}
	for i := range rows {
		d := &rows[i]
		switch {
		case !d.Eligible:
			t.add(d.label, count(d.Nodes), count(pods(c, d)), "-", "out", d.Why)
		case mayGo(c, &d.SpreadDomain):
			t.add(d.label, count(d.Nodes), count(pods(c, d)), count(d.SkewIfPlaced), "ok", bar(d.Matching, limit, most, c.SelfMatch))
		default:
			t.add(d.label, count(d.Nodes), count(pods(c, d)), count(d.SkewIfPlaced), "full", bar(d.Matching, limit, most, c.SelfMatch))
		}
	}
	p.first(t, "rows")
	if len(rows) < len(c.Domains) {
		p.line("Equal domains are one row, with the pods of each: -o wide")
	}
	if c.DomainsOmitted > 0 {
		p.line("and %s that the answer leaves out", plural(c.DomainsOmitted, "domain"))
	}
}

// pods counts those of a domain, and the pod itself where it is already.
func pods(c *engine.SpreadConstraint, d *fold) int {
	if d.HoldsPod && c.SelfMatch {
		return d.Matching + 1
	}
	return d.Matching
}

// fold is domains that are alike.
type fold struct {
	engine.SpreadDomain
	label   string
	domains int
}

// folded puts domains together that hold as many pods and count alike, the
// emptiest first.
func folded(rows []fold) []fold {
	slices.SortStableFunc(rows, func(a, b fold) int {
		return cmp.Or(cmp.Compare(boolean(b.Eligible), boolean(a.Eligible)), cmp.Compare(a.Why, b.Why), cmp.Compare(a.Matching, b.Matching))
	})
	var out []fold
	for _, r := range rows {
		if n := len(out); n > 0 && !r.HoldsPod && !out[n-1].HoldsPod && out[n-1].Eligible == r.Eligible && out[n-1].Why == r.Why && out[n-1].Matching == r.Matching {
			out[n-1].domains++
			out[n-1].Nodes += r.Nodes
			continue
		}
		out = append(out, r)
	}
	for i := range out {
		if n := out[i].domains; n > 1 {
			out[i].label = fmt.Sprintf("%s like %s", count(n), out[i].Value)
		}
	}
	return out
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// barWidth is how many columns the longest bar has.
const barWidth = 24

// bar draws a domain's pods, the pod that would come, and the limit.
func bar(pods, limit, most int, comes bool) string {
	scale := func(n int) int {
		if most <= barWidth {
			return n
		}
		return (n*barWidth + most - 1) / most
	}
	b := []byte(strings.Repeat("#", scale(pods)))
	if comes {
		b = append(b, '+')
	}
	if limit < 0 {
		return string(b)
	}
	at := scale(limit)
	for len(b) < at {
		b = append(b, ' ')
	}
	return string(slices.Insert(b, at, '|'))
}
