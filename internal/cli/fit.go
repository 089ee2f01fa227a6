package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"berth/internal/decision"
	"berth/internal/scenario"
)

// fitCommand answers how many more replicas of a pod there is room for.
type fitCommand struct {
	file, by, like string
	most, add      int
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
source. Exit code 0 if one fits, 2 if none does.`,
		Example: "  " + a.name + " fit -f checkout.yaml --by zone --snapshot cluster.json\n" +
			"  " + a.name + " fit shop/checkout --like node-a1 --add 3",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), a, args) },
	}
	cmd.Flags().StringVarP(&f.file, "filename", "f", "", "file with the pod or a workload")
	cmd.Flags().StringVar(&f.by, "by", "", "count apart by zone, region, node, pool or a node label")
	cmd.Flags().IntVar(&f.most, "max", 10_000, "stop counting there")
	cmd.Flags().StringVar(&f.like, "like", "", "with more nodes like this one")
	cmd.Flags().IntVar(&f.add, "add", 1, "how many of them")
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
	q := &scenario.FitQuestion{Max: &f.most, By: f.by}
	h := &scenarioCommand[scenario.Fit]{
		verb: "fit", question: q, doing: "counting replicas",
		gaps: func(ctx context.Context, from *source) (g *gaps, err error) {
			q.Pod, g, err = a.gapsAbout(ctx, from, pod)
			return g, err
		},
		show: (*page).fit, no: func(fit *scenario.Fit) bool { return fit.Count == 0 },
	}
	if f.like != "" {
		h.edits = &scenario.Edits{AddNodes: []scenario.AddNodes{{Like: f.like, Count: &f.add}}}
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
	t := newTable(none, prefixes.Replace(f.By), ">NODES", ">FIT")
	for _, d := range f.Domains {
		name := d.Domain
		if name == "" {
			name = "(without)"
		}
		t.add(name, count(d.Nodes), count(d.Count))
	}
	p.list(t, "with fewer")
	if l := f.LimitedBy; l != nil {
		p.gap()
		p.labelled("NEXT", l.Message)
		(&verdict{page: p, got: &answer{Answer: decision.Answer{Groups: l.Groups}}, gaps: gaps}).why()
	}
	if len(f.Sensitivity) > 0 {
		p.gap()
		t := newTable(none, "WITH", ">FIT", ">MORE")
		for _, s := range f.Sensitivity {
			t.add(s.Change, count(s.Count), fmt.Sprintf("%+d", s.Gain))
		}
		p.table(t)
	}
}
