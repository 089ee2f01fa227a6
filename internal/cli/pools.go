package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"berth/internal/scenario"
)

// poolsCommand answers how many nodes of which pools pods need.
type poolsCommand struct {
	file  string
	count int
	like  []string
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

A pool is --like NODE, with ,cost=1.2 ,max=20 and ,name=large behind it as
needed. Exit code 0 if all pods fit, 2 if not.`,
		Example: "  " + a.name + " pools --like node-a1 --snapshot cluster.json\n" +
			"  " + a.name + " pools --like node-a1,cost=1 --like node-b2,cost=2.5 -f pod.yaml --count 40",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), a, args) },
	}
	cmd.Flags().StringArrayVar(&f.like, "like", nil, "a pool of nodes like this one")
	cmd.Flags().StringVarP(&f.file, "filename", "f", "", "file with a pod or a workload, instead of the pods that wait")
	cmd.Flags().IntVar(&f.count, "count", 1, "how many of that pod")
	return cmd
}

func (f *poolsCommand) run(ctx context.Context, a *app, args []string) error {
	q := &scenario.PoolsQuestion{For: json.RawMessage(`"pending"`)}
	for _, text := range f.like {
		pool, err := readPool(text)
		if err != nil {
			return err
		}
		q.Pools = append(q.Pools, *pool)
	}
	if len(q.Pools) == 0 {
		return &problem{what: "which pools?", next: "Name a node that new ones are like: --like NODE."}
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

// readPool reads NODE,cost=1.2,max=20,name=large.
func readPool(text string) (*scenario.NodePool, error) {
	parts := strings.Split(text, ",")
	pool := &scenario.NodePool{AddNodes: scenario.AddNodes{Like: parts[0]}}
	for _, part := range parts[1:] {
		key, value, _ := strings.Cut(part, "=")
		var err error
		switch key {
		case "name":
			pool.Name = value
		case "cost":
			pool.Cost = new(float64)
			*pool.Cost, err = strconv.ParseFloat(value, 64)
		case "max":
			pool.Max = new(int)
			*pool.Max, err = strconv.Atoi(value)
		default:
			err = strconv.ErrSyntax
		}
		if err != nil || value == "" {
			return nil, fmt.Errorf("--like %s: want cost=NUMBER, max=NUMBER or name=NAME behind the comma, not %q", text, part)
		}
	}
	return pool, nil
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
	t := newTable(none, "POOL", ">COST", ">CHOSEN", ">ALONE", "PLACES", "SMALLEST")
	for i := range out.Pools {
		a, how := &out.Pools[i], "-"
		if a.Nodes > 0 {
			how = a.Smallest
		}
		t.add(a.Name, price(a.Cost), count(c.Pools[i].Nodes), count(a.Nodes), fmt.Sprintf("%s of %s", count(a.Placed), count(out.Waiting)), how)
	}
	p.table(t)
	p.gap()
	if out.Bound.Cost > 0 {
		p.labelled("BOUND", fmt.Sprintf("any choice that places as many costs %s or more, for %s", price(out.Bound.Cost), out.Bound.Resource))
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
