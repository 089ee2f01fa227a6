package cli

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/report"
)

func (a *app) pendingCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pending",
		Short: "Which pods wait, since when, why, and what would help?",
		Long: `Every pending pod in the order of scheduling, gated ones last: its age, why it
waits, and the cheapest change that would help (each one tried). Every pod is
judged as if it were the next; equal pods are judged once, and share a row where
it is not -o wide. Nothing is recorded.
Pods that have a node and cannot start there, since nothing will bind a claim of
theirs, are listed below them.

Without -A it lists one namespace: -n, or the context's. Exit code 0 if no pod
waits, 2 if one does.`,
		Example: "  " + a.name + " pending -A\n" +
			"  " + a.name + " pending -n shop --snapshot cluster.json",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return a.pending(cmd.Context()) },
	}
	a.forAll(cmd)
	return cmd
}

// forAll adds the flag -A to a command.
func (a *app) forAll(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&a.o.all, "all-namespaces", "A", false, "pods of all namespaces")
}

// forAllAnyway lets a command that is about all namespaces take the flag -A.
func forAllAnyway(cmd *cobra.Command) {
	cmd.Flags().BoolP("all-namespaces", "A", false, "pods of all namespaces, as without it")
}

// scope is the namespace that a list is about; empty: all.
func (a *app) scope() (string, error) {
	if a.o.all {
		return "", nil
	}
	return a.namespace()
}

func (a *app) pending(ctx context.Context) error {
	if err := a.o.check(); err != nil {
		return err
	}
	from, err := a.source(ctx)
	if err != nil {
		return err
	}
	namespace, err := a.scope()
	if err != nil {
		return err
	}
	gaps, err := from.gaps(ctx)
	if err == nil {
		err = gaps.needNodes()
	}
	if err != nil {
		return err
	}
	p := a.progress("judging pods that wait")
	if from.dump != nil {
		from.dump.judged = p.tick
	}
	query := from.asOf()
	if namespace != "" {
		query.Set("namespace", namespace)
	}
	raw, err := from.ofCluster(ctx, query, "pending")
	p.end()
	if err != nil {
		return err
	}
	list := &report.Pending{}
	if err := readInto(raw, list); err != nil {
		return err
	}
	err = a.show(raw, gaps, list, func(p *page) { p.pending(a, list, namespace) })
	a.link(ctx, from)
	if c := list.Counts; err == nil && c.Active+c.Gated+c.Unstarted > 0 {
		err = errNo
	}
	return err
}

func (p *page) pending(a *app, list *report.Pending, namespace string) {
	where := "in all namespaces"
	if namespace != "" {
		where = "in namespace " + namespace
	}
	c := list.Counts
	switch {
	case c.Active+c.Gated+c.Unstarted == 0:
		p.head("NONE WAIT", green, where, "", "")
	default:
		p.head(strings.ToUpper(waiting(c)), yellow, where, "of "+plural(c.Nodes, "node"), "")
	}
	if len(list.Pods) > 0 {
		p.gap()
		p.waiting(a, list.Pods, namespace)
		if c.Omitted > 0 {
			p.line("and %s more that were not judged", count(c.Omitted))
		}
		if c.WithoutRemedy > 0 {
			p.line("No changes were tried for %s: explain tries them for one pod.", plural(c.WithoutRemedy, "pod"))
		}
	}
	if len(list.Unstarted) > 0 {
		p.gap()
		p.text(plural(c.Unstarted, "pod") + " with a node, and a claim that nothing will bind:")
		p.gap()
		t := newTable(".POD", "@NODE", ".CLAIM", "~WHY")
		for _, o := range list.Unstarted {
			t.add(o.Namespace+"/"+o.Name, o.Node, o.Claim, o.Why)
		}
		p.table(t)
		p.left(c.Unstarted-len(list.Unstarted), "that cannot start")
	}
	p.gap()
	if c.Elsewhere > 0 {
		p.line("%s in other namespaces: -A", plural(c.Elsewhere, "pod")+" "+wait(c.Elsewhere))
	}
	switch {
	case len(list.Pods) > 0:
		o := &list.Pods[0]
		p.commands(a.again([]string{o.Namespace + "/" + o.Name})("explain"))
	case len(list.Unstarted) > 0:
		o := &list.Unstarted[0]
		p.commands(a.again([]string{o.Namespace + "/" + o.Name})("lifecycle"))
	}
}

// waiting lists pods that wait, equal ones in one row with their number.
func (p *page) waiting(a *app, list []report.PendingPod, namespace string) {
	rows, left := equalPods(list, p.wide), 0
	head, shared := []string{".POD", ">AGE", "~WHY", "~TRY"}, len(rows) < len(list)
	if shared {
		head = slices.Insert(head, 1, ">PODS")
	}
	t := newTable(head...)
	if !p.wide && len(rows) > pendingShown {
		for _, row := range rows[pendingShown:] {
			left += row.pods
		}
		rows = rows[:pendingShown]
	}
	for _, o := range rows {
		name, age := o.Name, "?"
		if namespace == "" {
			name = o.Namespace + "/" + name
		}
		if o.Since != nil {
			age = span(int64(a.Now().Sub(*o.Since).Seconds()))
		}
		why, remedy := p.whyWaits(o.PendingPod), p.remedyWords(o.PendingPod)
		for _, m := range nodeNamed.FindAllStringSubmatch(why+"\n"+remedy, -1) {
			p.nodes = append(p.nodes, m[1])
		}
		cells := []string{name, age, why, remedy}
		if shared {
			cells = slices.Insert(cells, 1, count(o.pods))
		}
		t.add(cells...)
	}
	p.table(t)
	p.left(left, "that wait")
}

// pendingRow is a pod that waits, and how many are equal to it.
type pendingRow struct {
	*report.PendingPod
	pods int
}

// equalPods puts pods that were judged as one into one row, unless each is wanted.
func equalPods(list []report.PendingPod, each bool) (rows []*pendingRow) {
	of := map[decision.PodRef]*pendingRow{}
	for i := range list {
		o := &list[i]
		if o.Like != nil && !each {
			if row := of[decision.PodRef{Namespace: o.Like.Namespace, Name: o.Like.Name}]; row != nil {
				row.pods++
				continue
			}
		}
		row := &pendingRow{o, 1}
		of[decision.PodRef{Namespace: o.Namespace, Name: o.Name}] = row
		rows = append(rows, row)
	}
	return rows
}

// nodeNamed finds the names of nodes in sentences, where they have several labels.
var nodeNamed = regexp.MustCompile(`\b(?:node|like|on) ([a-z0-9-]+(?:\.[a-z0-9-]+){2,})(?:[ ,;]|$|\n)`)

// pendingShown is how many pods a page lists unless it is wide.
const pendingShown = 200

func wait(n int) string {
	if n == 1 {
		return "waits"
	}
	return "wait"
}

func waiting(c report.PendingCounts) string {
	if c.Unstarted > 0 {
		stuck := c.Unstarted
		if c.Unstarted = 0; c.Active+c.Gated == 0 {
			return plural(stuck, "pod") + " cannot start"
		}
		return waiting(c) + ", " + count(stuck) + " cannot start"
	}
	switch {
	case c.Gated == 0:
		return plural(c.Active, "pod") + " " + wait(c.Active)
	case c.Active == 0:
		return plural(c.Gated, "pod") + " gated"
	}
	return plural(c.Active, "pod") + " " + wait(c.Active) + ", " + count(c.Gated) + " gated"
}

// whyWaits is the pod's sentence, without what all of them begin with where room
// is short.
func (p *page) whyWaits(o *report.PendingPod) string {
	if p.wide {
		return o.Why
	}
	if o.State == report.StateGated {
		return "gated: " + strings.Join(o.Gates, ", ")
	}
	why := o.Why
	for _, cut := range []struct{ long, short string }{
		{"It is not placed yet; a decision now puts it on node ", "fits on "},
		{"No node has room; it fits on ", "fits on "},
		{"No node fits: ", ""},
	} {
		if rest, ok := strings.CutPrefix(why, cut.long); ok {
			why = cut.short + rest
		}
	}
	if _, rest, ok := strings.Cut(why, " nodes "); ok && strings.HasPrefix(why, "of ") {
		why = rest
	}
	return strings.TrimSuffix(why, ".")
}

// ofContainer is left out where room is short: most pods have one.
var ofContainer = regexp.MustCompile(` of container \S+`)

func (p *page) remedyWords(o *report.PendingPod) string {
	switch {
	case o.Remedy != nil && p.wide:
		return o.Remedy.Change
	case o.Remedy != nil:
		return prefixes.Replace(strings.Replace(ofContainer.ReplaceAllString(o.Remedy.Change, ""), "lower the ", "lower ", 1))
	case o.Outcome == engine.Scheduled:
		return "wait: it fits"
	case o.Outcome == engine.Preempting:
		return "wait: it evicts others"
	case o.Outcome == engine.Gated && len(o.Reasons) == 0:
		return "wait: it fits without its gates"
	}
	return "-"
}
