package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"berth/internal/engine"
	"berth/internal/report"
)

func (a *app) victimsCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "victims POD",
		Short: "Which pods would be evicted for it, from which node, and when?",
		Long: `The pods that would be evicted for a pod that fits nowhere: the node, the
victims with their grace periods and disruption budgets, and why other nodes
were not chosen. Nothing is evicted.

Exit code 0 if it fits or evictions make it fit, 2 if not.`,
		Example: "  " + a.name + " victims checkout -n shop --server http://127.0.0.1:8080\n" +
			"  kubectl get pod checkout -o json | " + a.name + " victims - --snapshot cluster.json",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, names []string) error { return a.victims(cmd.Context(), names, file) },
	}
	cmd.Flags().StringVarP(&file, "filename", "f", "", "file with the pod, instead of one from the source")
	return cmd
}

func (a *app) victims(ctx context.Context, names []string, file string) error {
	got, pod, gaps, err := a.ask(ctx, names, file, question{explain: engine.ExplainFailures, suggest: true})
	if err != nil {
		return err
	}
	if a.o.output == formJSON {
		if err := a.json(got.raw); err != nil {
			return err
		}
		return exitForRoom(got)
	}
	p := a.page()
	p.gaps(gaps)
	p.noBudgets = gaps.covers("PodDisruptionBudget")
	p.victims(got)
	if got.Outcome == engine.UnschedulableOK {
		p.commands(a.again(args(pod, file))("explain"))
	}
	if err := p.end(a); err != nil {
		return err
	}
	return exitForRoom(got)
}

// ask reads the common part of a question about a pod, and asks it.
func (a *app) ask(ctx context.Context, names []string, file string, q question) (*answer, target, *gaps, error) {
	if err := a.o.check(); err != nil {
		return nil, target{}, nil, err
	}
	pod, err := a.target(names, file)
	if err != nil {
		return nil, pod, nil, err
	}
	from, err := a.source(ctx)
	if err != nil {
		return nil, pod, nil, err
	}
	if pod, err = a.find(ctx, from, pod); err != nil {
		return nil, pod, nil, err
	}
	gaps, err := from.gaps(ctx)
	if err == nil {
		err = gaps.needNodes()
	}
	if err != nil {
		return nil, pod, nil, err
	}
	q.pod = pod
	got, err := from.decide(ctx, q)
	if err == nil {
		gaps, err = gaps.relevantTo(ctx, from, pod, true)
	}
	return got, pod, gaps, err
}

func exitForRoom(got *answer) error {
	if got.Outcome == engine.Scheduled || got.Outcome == engine.Preempting {
		return nil
	}
	return errNo
}

func (p *page) victims(got *answer) {
	name := got.Pod.Namespace + "/" + got.Pod.Name
	priority := fmt.Sprintf("priority %d", got.Priority)
	pre := got.Preemption
	switch {
	case got.Outcome == engine.Scheduled:
		p.head("ROOM", green, name, priority, "")
		p.gap()
		p.text(fmt.Sprintf("No eviction needed: it fits on %s.", got.Node))
		return
	case got.Outcome == engine.Gated:
		p.head("GATED", yellow, name, priority, "")
		p.gap()
		p.text("No pod needs to be evicted while it is gated by " + strings.Join(got.Gates, ", ") + ".")
		p.labelled("NEXT", gateWords(got.Gates))
		return
	case got.Outcome == engine.Preempting && pre != nil:
		p.head("PREEMPTING", yellow, name, priority, "")
		p.gap()
		p.text(p.whoLeaves(pre))
		p.victimTable(pre.Victims)
		p.replacements(pre.Victims)
		p.reprieved(pre.Reprieved)
		p.losers(pre)
	default:
		p.head("NO VICTIMS", red, name, priority, "")
		p.gap()
		p.text(report.NoVictims(pre))
		(&verdict{page: p, got: got}).try()
	}
	p.notCandidates(pre)
	p.gap()
	if got.Outcome != engine.Preempting {
		p.labelled("KUBE", got.Message)
	}
}

// replacements tells what becomes of the pods that are made instead of victims.
func (p *page) replacements(victims []engine.Victim) {
	said := false
	for i := range victims {
		if v := &victims[i]; v.Replacement != "" {
			if !said {
				p.gap()
			}
			p.labelled("THEN", v.Namespace+"/"+v.Name+": "+v.Replacement)
			said = true
		}
	}
}

func (p *page) whoLeaves(pre *engine.Preemption) string {
	s := fmt.Sprintf("%s would have to leave %s", plural(len(pre.Victims), "pod"), pre.Node)
	if pre.StartsWithinSeconds != nil {
		s += fmt.Sprintf("; then it could start, within %s", span(*pre.StartsWithinSeconds))
	}
	if pre.NumPDBViolations > 0 {
		s += fmt.Sprintf(". %s against a disruption budget", plural(pre.NumPDBViolations, "eviction"))
	}
	if n := len(pre.ClearedNominations); n > 0 {
		s += fmt.Sprintf(". %s of lower priority would no longer wait for the node", plural(n, "pod"))
	}
	return s + "."
}

func (p *page) victimTable(victims []engine.Victim) {
	t := newTable(".VICTIM", ">PRIORITY", ">GRACE", "~BUDGET", "~BECAUSE")
	for i := range victims {
		v := &victims[i]
		grace := span(v.GracePeriodSeconds)
		if v.Terminating {
			grace += ", ending"
		}
		t.add(v.Namespace+"/"+v.Name, fmt.Sprint(v.Priority), grace, p.budgets(v.Budgets), strings.Join(v.Because, "; "))
	}
	p.list(t, "victims")
}

// budgets returns what evictions take from disruption budgets.
func (p *page) budgets(list []engine.Budget) string {
	var parts []string
	for _, b := range list {
		s := fmt.Sprintf("%s %d->%d", b.Name, b.AllowedBefore, b.AllowedAfter)
		if b.Violated {
			s += " VIOLATED"
		}
		if b.Disrupted {
			s = b.Name + " counts it as gone"
		}
		parts = append(parts, s)
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, ", ")
	case p.noBudgets:
		return "?" // none was dumped
	}
	return "-"
}

func (p *page) reprieved(list []engine.Reprieved) {
	t := newTable(".STAYS", ">PRIORITY", "~WHY")
	for _, r := range list {
		t.add(r.Namespace+"/"+r.Name, fmt.Sprint(r.Priority), r.Why)
	}
	p.list(t, "that stay")
}

// losers lists the nodes that others would have to leave instead.
func (p *page) losers(pre *engine.Preemption) {
	var others []engine.PreemptionCandidate
	for _, c := range pre.Candidates {
		if !c.Chosen {
			others = append(others, c)
		}
	}
	t := newTable("@INSTEAD ON", ">PODS", ">AGAINST PDB", "~WHO", "~LOST BY")
	t.omitted = pre.CandidatesOmitted
	for _, c := range others {
		lost := ""
		if c.Lost != nil {
			lost = c.Lost.Criterion
		}
		t.add(c.Node, count(len(c.Victims)), count(c.NumPDBViolations), someVictims(c.Victims), lost)
	}
	p.list(t, "nodes")
}

// someVictims names the first few.
func someVictims(list []engine.Victim) string {
	const few = 2
	var names []string
	for i := range list[:min(len(list), few)] {
		names = append(names, list[i].Namespace+"/"+list[i].Name)
	}
	if more := len(list) - few; more > 0 {
		names = append(names, fmt.Sprintf("+%d", more))
	}
	return strings.Join(names, " ")
}

// notCandidates counts the nodes on which evicting pods would not help.
func (p *page) notCandidates(pre *engine.Preemption) {
	if pre == nil || len(pre.NotCandidates) == 0 {
		return
	}
	t := newTable("NO HELP ON", "@NODES SUCH AS", "~BECAUSE")
	for _, n := range pre.NotCandidates {
		sample := ""
		if len(n.Names) > 0 {
			sample = n.Names[0]
		}
		why := n.Reason
		if n.Plugin != "" {
			why = n.Plugin + ": " + why
		}
		t.add(plural(n.Nodes, "node"), sample, why)
	}
	p.list(t, "reasons")
}
