package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"berth/internal/decision"
	"berth/internal/report"
	"berth/internal/scenario"
)

// fitCommand answers how many more replicas of a pod there is room for.
type fitCommand struct {
	file, by     string
	each, leader string
	most, add    int
	nodes        newNodes
}

func (a *app) fitCommand() *cobra.Command {
	f := &fitCommand{}
	cmd := &cobra.Command{
		Use:   "fit [POD]",
		Short: "How many more of this pod fit, and what runs out first?",
		Long: `How many more replicas of a pod fit: each is decided and bound after the one
before it, in memory, until one gets no node. No pod is evicted for them, no
room is kept for pods that wait, and the cluster stays as it is.

The pod is in a file, or a workload whose pods are meant; POD names one of the
source. Nodes to add are named as for pools. --each node lists what every node
takes by itself; --leader FILE adds whether that pod fits there, and how many
fit beside it. Exit code 0 if one fits, 2 if none does.`,
		Example: "  " + a.name + " fit -f checkout.yaml --by zone --snapshot cluster.json\n" +
			"  " + a.name + " fit shop/checkout --like node-a1 --add 3",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), a, args) },
	}
	cmd.Flags().StringVarP(&f.file, "filename", "f", "", "file with the pod or a workload")
	cmd.Flags().StringVar(&f.by, "by", "", "count apart by zone, region, node, pool or a node label")
	cmd.Flags().StringVar(&f.each, "each", "", "node: what each node takes by itself")
	cmd.Flags().StringVar(&f.leader, "leader", "", "file with a pod that each node has to take first")
	cmd.Flags().IntVar(&f.most, "max", 10_000, "stop counting there")
	f.nodes.flags(cmd, "with more nodes")
	cmd.Flags().IntVar(&f.add, "add", 1, "how many of each of them")
	return cmd
}

func (f *fitCommand) run(ctx context.Context, a *app, args []string) error {
	if f.most < 1 || f.add < 1 {
		return fmt.Errorf("--max and --add: want a number above 0")
	}
	a.counted = true
	pod, err := a.target(args, f.file)
	if err != nil {
		return err
	}
	q := &scenario.FitQuestion{Max: &f.most, By: f.by, Each: f.each}
	if f.leader != "" {
		leader, err := a.target(nil, f.leader)
		if err != nil {
			return err
		}
		if q.Leader = leader.whole; q.Each == "" {
			q.Each = scenario.EachNode
		}
	}
	h := &scenarioCommand[scenario.Fit]{
		verb: "fit", question: q, doing: "counting replicas",
		gaps: func(ctx context.Context, from *source) (g *gaps, err error) {
			q.Pod, g, err = a.gapsAbout(ctx, from, pod)
			return g, err
		},
		show: (*page).fit, no: func(fit *scenario.Fit) bool { return fit.Count == 0 },
	}
	list, err := f.nodes.read(a)
	if err != nil {
		return err
	}
	for _, n := range list {
		if n.Name != "" || n.Cost != nil || n.Max != nil {
			return errors.New("name, cost and max are of pools; fit adds --add nodes")
		}
		if n.Count = &f.add; h.edits == nil {
			h.edits = &scenario.Edits{}
		}
		h.edits.AddNodes = append(h.edits.AddNodes, n.AddNodes)
	}
	return h.run(ctx, a)
}

// gapsAbout returns a pod whole, and the gaps that matter for an answer about it without evictions.
func (a *app) gapsAbout(ctx context.Context, from *source, pod target) (whole json.RawMessage, g *gaps, err error) {
	if pod, err = a.wholeOf(ctx, from, pod); err != nil {
		return nil, nil, err
	}
	if g, err = gapsWithNodes(ctx, from); err == nil {
		g, err = g.relevantTo(ctx, from, pod, false)
	}
	return pod.whole, g, err
}

// wholeOf returns the pod whole: as it was given, or as the source has it.
func (a *app) wholeOf(ctx context.Context, from *source, pod target) (target, error) {
	if pod.whole != nil {
		return pod, nil
	}
	pod, err := a.find(ctx, from, pod)
	if err != nil {
		return pod, err
	}
	o, err := from.object(ctx, "Pod", pod.namespace, pod.name)
	if err != nil {
		return pod, err
	}
	if o == nil {
		return pod, meant(ctx, from, pod, &problem{what: fmt.Sprintf("there is no pod %s", pod), next: "Give one with -f FILE."})
	}
	pod.whole = o.raw
	return pod, nil
}

func (p *page) fit(f *scenario.Fit, gaps *gaps) {
	word, c := count(f.Count)+" FIT", green
	switch {
	case f.Count == 0:
		word, c = "NONE FITS", red
	case f.More:
		word = "AT LEAST " + word
	}
	p.head(word, c, "like pod "+f.Pod.Namespace+"/"+f.Pod.Name, "on "+plural(f.Nodes, "node"), "")
	if f.Waiting > 0 {
		p.text(fmt.Sprintf("No room is kept for %s that %s.", plural(f.Waiting, "pod"), wait(f.Waiting)))
	}
	p.notes(append(f.Notes, f.Warnings...))
	t := newTable(nodeIf(f.By)+prefixes.Replace(f.By), ">NODES", ">FIT")
	for _, d := range f.Domains {
		name := d.Domain
		if name == "" {
			name = "(without)"
		}
		t.add(name, count(d.Nodes), count(d.Count))
	}
	p.list(t, "with fewer")
	p.fitEach(f.Each)
	if l := f.LimitedBy; l != nil {
		p.gap()
		if n := l.Narrowed; n != nil {
			p.labelled("NEXT", report.NoNode(n.Of, l.Groups, n))
		}
		p.labelled("KUBE", l.Message)
		for i := range l.Groups {
			p.nodes = append(p.nodes, l.Groups[i].Sample...)
		}
		(&verdict{page: p, got: &answer{Answer: decision.Answer{Groups: l.Groups}}, gaps: gaps}).why()
	}
	if len(f.Sensitivity) > 0 {
		p.gap()
		t := newTable("~WITH", ">FIT", ">MORE")
		for _, s := range f.Sensitivity {
			t.add(s.Change, count(s.Count), fmt.Sprintf("%+d", s.Gain))
		}
		p.table(t)
	}
}

// fitEach lists what each node takes by itself, most first.
func (p *page) fitEach(list []scenario.FitNode) {
	if len(list) == 0 {
		return
	}
	p.gap()
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b scenario.FitNode) int { return b.Count - a.Count })
	columns := []string{"NODE", ">ALONE"}
	if list[0].Leader != nil {
		columns = append(columns, "LEADER", ">BESIDE IT")
	}
	t := newTable(columns...)
	for _, n := range list {
		cells := []string{n.Node, count(n.Count)}
		switch {
		case n.Leader == nil:
		case *n.Leader:
			cells = append(cells, "fits", count(*n.Beside))
		default:
			cells = append(cells, "no", "")
		}
		t.add(cells...)
	}
	p.list(t, "that take fewer")
}

// poolsCommand answers how many nodes of which pools pods need.
type poolsCommand struct {
	file  string
	count int
	nodes newNodes
}

func (a *app) poolsCommand() *cobra.Command {
	f := &poolsCommand{}
	cmd := &cobra.Command{
		Use:   "pools [POD]",
		Short: "How many nodes of which pools do these pods need?",
		Long: `How many nodes make all pods fit that wait, or --count more of one pod: for each
pool alone the smallest count, and the cheapest choice over all pools beside a
lower bound. Each count is tried by a run in memory, with the daemon pods of the
new nodes. No pod is evicted for another one, and the cluster stays as it is.

A pool is --like NODE, or --template FILE (a Node or a list of them), with what
is otherwise behind it: ,zone=eu-1c ,label=disk=ssd ,taint=team=db:NoSchedule
,cpu=8 ,memory=32Gi ,pods=110 ,nvidia.com/gpu=4 and ,name=large ,cost=1.2
,max=20. Without a file that is the whole node: --template cpu=8,memory=32Gi.
Exit code 0 if all pods fit, 2 if not.`,
		Example: "  " + a.name + " pools --like node-a1 --snapshot cluster.json\n" +
			"  " + a.name + " pools --like node-a1,cost=1 --like node-b2,cost=2.5 -f pod.yaml --count 40\n" +
			"  " + a.name + " pools --template cpu=8,memory=32Gi,zone=eu-1c --template node.yaml",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), a, args) },
	}
	f.nodes.flags(cmd, "a pool of nodes")
	cmd.Flags().StringVarP(&f.file, "filename", "f", "", "file with a pod or a workload, instead of the pods that wait")
	cmd.Flags().IntVar(&f.count, "count", 1, "how many of that pod")
	return cmd
}

func (f *poolsCommand) run(ctx context.Context, a *app, args []string) error {
	a.counted = true
	q := &scenario.PoolsQuestion{For: json.RawMessage(`"pending"`)}
	var err error
	if q.Pools, err = f.nodes.read(a); err != nil {
		return err
	}
	if len(q.Pools) == 0 {
		return &problem{what: "which pools?", next: "Name a node that new ones are like: --like NODE. Or what they have: --template cpu=8,memory=32Gi."}
	}
	h := &scenarioCommand[scenario.Pools]{verb: "pools", question: q, doing: "running", show: (*page).pools, no: func(out *scenario.Pools) bool { return !out.Choice.Fits }}
	h.gaps = func(ctx context.Context, from *source) (*gaps, error) {
		if f.file == "" && len(args) == 0 {
			return gapsWithNodes(ctx, from)
		}
		pod, err := a.target(args, f.file)
		if err != nil {
			return nil, err
		}
		whole, g, err := a.gapsAbout(ctx, from, pod)
		if err != nil {
			return nil, err
		}
		q.For, err = json.Marshal(scenario.Workloads{Workloads: []scenario.Workload{{Pod: whole, Count: &f.count}}})
		return g, err
	}
	return h.run(ctx, a)
}

func (p *page) pools(out *scenario.Pools, _ *gaps) {
	c := &out.Choice
	nodes := 0
	for _, n := range c.Pools {
		nodes += n.Nodes
	}
	word, colour := strings.ToUpper(plural(nodes, "node")), green
	switch {
	case !c.Fits:
		word, colour = "NOT ALL FIT", red
	case nodes == 0:
		word = "NO NODE NEEDED"
	}
	p.head(word, colour, "for "+plural(out.Pods-out.Gated, "pod"), "cost "+price(c.Cost), "")
	if out.Already > 0 {
		p.line("Fit without any new node: %s", plural(out.Already, "pod"))
	}
	if out.Gated > 0 {
		p.line("Held back by scheduling gates, not counted: %s", plural(out.Gated, "pod"))
	}
	p.notes(append(out.Notes, out.Warnings...))
	if out.Waiting == 0 {
		return
	}
	p.gap()
	t := newTable("@POOL", ">COST", ">CHOSEN", ">ALONE", "PLACES", "~SMALLEST")
	for i := range out.Pools {
		a, how := &out.Pools[i], "-"
		if a.Nodes > 0 {
			how = a.Smallest
		}
		t.add(a.Name, price(a.Cost), count(c.Pools[i].Nodes), count(a.Nodes), fmt.Sprintf("%s of %s", count(a.Placed), count(out.Waiting)), how)
	}
	p.table(t)
	p.gap()
	if b := out.Bound; b != nil {
		p.labelled("BOUND", fmt.Sprintf("any choice that places as many costs %s or more%s", price(b.Cost), boundBy(b)))
	}
	if nodes > 0 && c.Minimal {
		p.labelled("PROOF", "with one node fewer of any chosen pool fewer pods fit")
	}
	if c.Crowded > 0 {
		p.labelled("DAEMONS", fmt.Sprintf("%d of %s of the new nodes may find no room: kube-scheduler takes older pods first", c.Crowded, plural(c.Daemons, "daemon pod")))
	}
	for i := range out.Unplaced {
		p.unplaced(&out.Unplaced[i])
	}
	p.left(out.Omitted, "pods that fit nowhere")
}

// boundBy returns what a bound rests on.
func boundBy(b *scenario.PoolBound) string {
	switch {
	case b.Runs:
		return ": the cheaper ones that requests allow were run"
	case b.Resource != "":
		return ", for " + b.Resource
	}
	return ""
}

func (p *page) unplaced(u *scenario.Unplaced) {
	p.gap()
	p.labelled("LEFT", fmt.Sprintf("%s like %s/%s", plural(u.Pods, "pod"), u.Pod.Namespace, u.Pod.Name))
	p.labelled("", u.Message)
	for _, m := range u.More {
		switch {
		case m.Helps:
			p.labelled("", "one more node of "+m.Pool+" helps")
		case m.Reason != "":
			p.labelled("", "one more node of "+m.Pool+" does not help: "+m.Reason)
		default:
			p.labelled("", "one more node of "+m.Pool+" does not help")
		}
	}
}

// price writes a number with at most three decimals.
func price(n float64) string {
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(n, 'f', 3, 64), "0"), ".")
}
