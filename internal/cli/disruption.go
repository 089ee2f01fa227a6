package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"berth/internal/scenario"
	"berth/internal/world"
)

// drainCommand answers what a drain of nodes does.
type drainCommand struct {
	q          scenario.DrainQuestion
	noEviction bool
	remove     bool
	grace      int64
	chance     int
}

func (a *app) drainCommand() *cobra.Command {
	d := &drainCommand{}
	cmd := &cobra.Command{
		Use:   "drain [NODE]...",
		Short: "What does draining these nodes do, or which can be emptied?",
		Long: `What draining nodes does: which pods leave, in which waves as their disruption
budgets let them, where those that replace them go, and what is left without a
node. As kubectl drain: all nodes are cordoned first, then drained in turn, and
the flags of the same names mean the same; pods of DaemonSets are left where they
are unless --ignore-daemonsets=false. In memory: the cluster stays as it is.

With --find N as many nodes as can be emptied, up to N: each proven by running
it, emptier nodes first, and removed once it is empty. With --each node what the
drain of each node alone does: of those named or, where none is, of all.

Exit code 0 if all are drained and every pod comes back, 2 otherwise.`,
		Example: "  " + a.name + " drain worker-7 --snapshot cluster.json\n" +
			"  " + a.name + " drain --zone eu-1a --delete-emptydir-data\n" +
			"  " + a.name + " drain --find 5\n" +
			"  " + a.name + " drain --each node",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return d.run(cmd, a, args) },
	}
	f := cmd.Flags()
	f.StringVarP(&d.q.Selector, "selector", "l", "", "the nodes with these labels")
	f.StringVar(&d.q.Zone, "zone", "", "the nodes of a zone")
	f.IntVar(&d.q.Find, "find", 0, "find as many nodes as can be emptied, up to this number")
	d.q.IgnoreDaemonSets = f.Bool("ignore-daemonsets", true, "leave pods of DaemonSets; false refuses nodes that have some, as kubectl drain")
	f.BoolVar(&d.q.DeleteEmptyDirData, "delete-emptydir-data", false, "take pods with local data, which is lost")
	f.BoolVar(&d.q.Force, "force", false, "take pods without a controller, which do not come back")
	f.BoolVar(&d.noEviction, "disable-eviction", false, "delete pods, whatever their budgets allow")
	f.Int64Var(&d.grace, "grace-period", -1, "seconds instead of the pods' own grace periods")
	f.BoolVar(&d.remove, "remove", false, "delete each node once it is drained (with --find: always)")
	f.StringVar(&d.q.Each, "each", "", "drain each node alone: node")
	d.q.StartSeconds = startFlag(cmd)
	timelineFlag(cmd, &d.q.Timeline)
	chanceFlag(cmd, &d.chance)
	ratesFlag(cmd, func(r scenario.ClientRates) { d.q.Rates = &r })
	return cmd
}

func (d *drainCommand) run(cmd *cobra.Command, a *app, args []string) error {
	d.q.Nodes = bare(args)
	if d.noEviction {
		d.q.RespectBudgets = new(bool)
	}
	if d.grace >= 0 {
		d.q.GracePeriodSeconds = &d.grace
	}
	if d.remove {
		d.q.Remove = &d.remove
	}
	d.q.Chancing = chancing(d.chance)
	return (&scenarioCommand[scenario.Drain]{verb: "drains", question: &d.q, doing: "draining", gaps: gapsOfNodes, show: (*page).drain, no: func(out *scenario.Drain) bool {
		return out.Totals.NodesDrained < len(out.Nodes) || out.Totals.Unserved() || out.Find != nil && len(out.Nodes) == 0 || anyNotOK(out.Each)
	}}).run(cmd.Context(), a)
}

// gapsOfNodes returns the gaps that matter where pods leave nodes.
func gapsOfNodes(ctx context.Context, from *source) (*gaps, error) {
	g, err := from.gaps(ctx)
	if err != nil {
		return nil, err
	}
	return g.about("Node", "Pod", "PodDisruptionBudget"), nil
}

// startFlag adds the flag for starts that nothing shows.
func startFlag(cmd *cobra.Command) *int64 {
	return cmd.Flags().Int64("start-seconds", scenario.DefaultStart, "how long pods start whose status does not show it")
}

// nodeName returns the name of a node, which may be written as kubectl does: node/NAME.
func nodeName(s string) string { return strings.TrimPrefix(strings.TrimPrefix(s, "node/"), "no/") }

// bare returns the names of nodes.
func bare(args []string) []string {
	out := make([]string, len(args))
	for i, s := range args {
		out[i] = nodeName(s)
	}
	return out
}

func (p *page) drain(d *scenario.Drain, _ *gaps) {
	if len(d.Each) > 0 {
		p.sweep(d.Each, scenario.EachNode, "drained", d.Warnings)
		p.chance(d.Chance)
		return
	}
	t := d.Totals
	word, c := count(t.NodesDrained)+" DRAINED", green
	if t.NodesDrained < len(d.Nodes) || t.Unserved() {
		c = red
	}
	if kept := keptWords(d.Nodes); kept != "" && d.Find == nil {
		word = kept
	}
	about := "of " + plural(len(d.Nodes), "node")
	if d.Find != nil {
		word, about = count(len(d.Nodes))+" FOUND", "that can be emptied, "+count(d.Find.Tried)+" tried"
	}
	p.head(word, c, about, "in "+span(d.Seconds)+" at most", "")
	p.text(fmt.Sprintf("%s: %s.", plural(t.Evicted, "pod"), replaced(&t.Replaced, t.Preempted)))
	ended := 0
	for _, n := range d.Nodes {
		ended += n.Ended
	}
	p.ended(ended)
	if t.Daemons > 0 {
		p.text("Pods of DaemonSets left on their nodes: " + count(t.Daemons) + ".")
	}
	p.notes(d.Warnings)
	table := newTable("@NODE", "OUTCOME", ">PODS", ">WAVES", ">TAKES", "~BECAUSE")
	for _, n := range d.Nodes {
		table.add(n.Name, n.Outcome, count(n.Evicted), count(n.Waves), span(n.Seconds), p.because(n))
	}
	p.list(table, "nodes")
	p.others(d.Others)
	p.budgetRemedies(d.Nodes)
	p.remedies(d.Remedies)
	if d.Find != nil {
		p.kept(d.Find.Reasons)
	}
	p.disrupted(d.Pods)
	p.moments(d.Timeline, d.TimelineOmitted)
	p.chance(d.Chance)
}

// kept lists why nodes are not to be emptied, those with equal reasons in one line with the pod of
// the first.
func (p *page) kept(list []scenario.KeptReason) {
	t := newTable("@NOT TO BE EMPTIED", ">NODES", "~BECAUSE")
	for _, r := range list {
		why := r.First
		if r.Nodes > 1 {
			why = "on the first, " + why
		}
		t.add(r.Names[0], count(r.Nodes), why)
	}
	p.list(t, "reasons")
}

// ended counts the pods that are deleted and had ended before.
func (p *page) ended(n int) {
	if n > 0 {
		p.text(plural(n, "pod") + " that had ended before: deleted as well.")
	}
}

// whys lists what is as it is, with the reason.
func (p *page) whys(head string, rows [][]string, what string) {
	t := newTable(head, "~BECAUSE")
	for _, row := range rows {
		t.add(row...)
	}
	p.list(t, what)
}

// because returns why a node is not drained, and how many pods of it stay.
func (p *page) because(n *scenario.DrainedNode) string {
	for _, list := range [][]scenario.PodReason{n.Refused, n.Blocked} {
		if len(list) == 0 {
			continue
		}
		text := list[0].Namespace + "/" + list[0].Name + ": " + list[0].Reason
		if len(list) > 1 {
			text += " (and " + plural(len(list)-1, "pod") + " more)"
		}
		return text
	}
	if n.Removed {
		return "and then removed"
	}
	if len(n.Skipped) > 0 {
		return plural(len(n.Skipped), "pod") + " left on it"
	}
	return ""
}

// keptWords counts the nodes that are not drained, by how that is; empty where all are.
func keptWords(nodes []*scenario.DrainedNode) string {
	by := map[string]int{}
	for _, n := range nodes {
		by[n.Outcome]++
	}
	var list []string
	for _, o := range []string{scenario.NodeBlocked, scenario.NodeRefused} {
		if by[o] > 0 {
			list = append(list, count(by[o])+" "+strings.ToUpper(o))
		}
	}
	return strings.Join(list, ", ")
}

// budgetRemedies lists the changes of budgets after which pods that are blocked may go, each once.
func (p *page) budgetRemedies(nodes []*scenario.DrainedNode) {
	known := map[string]bool{}
	for _, n := range nodes {
		for _, pod := range n.Blocked {
			if r := pod.Remedy; r != nil && !known[r.Command] {
				known[r.Command] = true
				p.labelled("TRY", r.Change)
				p.labelled("RUN", r.Command)
			}
		}
	}
}

// replaced writes what becomes of the places of pods that left.
func replaced(r *world.Replaced, preempted int) string {
	text := fmt.Sprintf("%s placed again, %s without a node, %s not replaced", count(r.Placed), count(r.Pending), count(r.NotReplaced))
	if r.NotStarted > 0 {
		text += "; " + count(r.NotStarted) + " of those placed cannot start"
	}
	switch {
	case r.Held == 1:
		text += "; for 1 its controller waits, or has given up"
	case r.Held > 1:
		text += "; for " + count(r.Held) + " their controllers wait, or have given up"
	}
	if preempted > 0 {
		text += "; " + count(preempted) + " more preempted for them"
	}
	return text
}

func (p *page) notes(list []string) {
	for _, note := range list {
		p.text("Note: " + note + ".")
	}
}

func (a *app) loseCommand() *cobra.Command {
	q := &scenario.LossQuestion{}
	var remove int64
	var chance int
	cmd := &cobra.Command{
		Use:   "lose [NODE]...",
		Short: "What happens, and when, if these nodes or a zone die?",
		Long: `What happens when nodes die: when the control plane gives them up and taints
them, which pods it deletes and when, where those that replace them go, and what
waits forever. Times are from the death, by the control plane's defaults. In
memory: the cluster stays as it is.

With --each zone or --each node what the death of each zone or node alone does:
of the nodes named or, where none is, of all.

Exit code 0 if every pod comes back, 2 if one waits for good or stays on a dead
node.`,
		Example: "  " + a.name + " lose --zone eu-1a --snapshot cluster.json\n" +
			"  " + a.name + " lose worker-7 --remove-after 600\n" +
			"  " + a.name + " lose --each zone",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Nodes = bare(args)
			if cmd.Flags().Changed("remove-after") {
				q.RemoveAfterSeconds = &remove
			}
			q.Chancing = chancing(chance)
			return (&scenarioCommand[scenario.Loss]{
				verb: "losses", question: q, doing: "losing nodes", gaps: gapsOfNodes, no: func(l *scenario.Loss) bool { return l.Totals.Unserved() || l.Totals.Stay > 0 },
				show: func(p *page, l *scenario.Loss, _ *gaps) {
					if len(l.Each) > 0 {
						p.sweep(l.Each, q.Each, "lost", l.Warnings)
						p.chance(l.Chance)
					} else {
						p.loss(l)
					}
				},
			}).run(cmd.Context(), a)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&q.Selector, "selector", "l", "", "the nodes with these labels")
	f.StringVar(&q.Zone, "zone", "", "the nodes of a zone")
	f.Int64Var(&remove, "remove-after", 0, "seconds until the Node objects are deleted; never if absent")
	f.StringVar(&q.Each, "each", "", "lose each zone or node alone: zone or node")
	q.StartSeconds = startFlag(cmd)
	timelineFlag(cmd, &q.Timeline)
	chanceFlag(cmd, &chance)
	ratesFlag(cmd, func(r scenario.ClientRates) { q.Rates = &scenario.LossRates{ClientRates: r} })
	return cmd
}

func (p *page) loss(l *scenario.Loss) {
	t := l.Totals
	c := green
	if t.Unserved() || t.Stay > 0 {
		c = red
	}
	p.head(count(t.Nodes)+" LOST", c, "with "+plural(t.Pods, "pod"), "until "+span(l.Seconds), "")
	p.text(fmt.Sprintf("%s deleted: %s. %s.", plural(t.Deleted, "pod"), replaced(&t.Replaced, t.Preempted), stayWords(l)))
	p.ended(t.Ended)
	p.notes(l.Warnings)
	p.gap()
	zones := newTable(".ZONE", "STATE", ">NOT READY", "~TAINTED")
	for _, z := range l.Zones {
		name := z.Zone
		if name == "" {
			name = "(none)"
		}
		var at []int64
		for _, n := range l.Nodes {
			if n.Zone == z.Zone && n.TaintedAfterSeconds != nil {
				at = append(at, *n.TaintedAfterSeconds)
			}
		}
		tainted := "never"
		if len(at) > 0 {
			if tainted = span(slices.Min(at)); len(at) > 1 {
				tainted += " to " + span(slices.Max(at))
			}
		}
		zones.add(name, z.State, fmt.Sprintf("%s of %s", count(z.NotReady), count(z.Nodes)), tainted)
	}
	p.table(zones)
	p.others(l.Others)
	p.remedies(l.Remedies)
	p.disrupted(l.Pods)
	var staying [][]string
	for _, s := range l.Staying {
		staying = append(staying, []string{s.Namespace + "/" + s.Name, s.Reason})
	}
	p.whys(".STAYS", staying, "pods")
	p.moments(l.Timeline, l.TimelineOmitted)
	p.chance(l.Chance)
}

// stayWords writes how many pods stay on dead nodes, and how many of those are being deleted.
func stayWords(l *scenario.Loss) string {
	n, ending := len(l.Staying), 0
	for _, d := range l.Pods {
		if d.GoneAfterSeconds == nil {
			ending++
		}
	}
	var text string
	switch {
	case n == 0 && ending == 1:
		return "1 stays Terminating on its dead node"
	case n == 0 && ending > 0:
		return count(ending) + " stay Terminating on their dead nodes"
	case n == 0:
		return "None stays"
	case n == 1:
		text = "1 stays on its dead node"
	default:
		text = count(n) + " stay on their dead nodes"
	}
	if ending > 0 {
		text += ", and " + count(ending) + " more as Terminating"
	}
	return text
}

// others names the pods that waited before, or were made beside, and got a node meanwhile.
func (p *page) others(list []*world.Replacement) {
	const few = 3
	var names []string
	p.gap()
	for _, r := range list {
		if r.Node != "" {
			names = append(names, r.Namespace+"/"+r.Name+" on "+r.Node)
		}
	}
	if len(names) == 0 {
		return
	}
	more := ""
	if len(names) > few {
		names, more = names[:few], fmt.Sprintf(" and %s more", count(len(names)-few))
	}
	p.labelled("OTHERS", "that waited get a node meanwhile: "+strings.Join(names, ", ")+more)
}
