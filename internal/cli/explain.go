package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"berth/internal/engine"
)

// explain answers why a pod is pending, or why it went where it went.
type explain struct {
	file, node string
	all        bool
}

func (a *app) explainCommand() *cobra.Command {
	e := &explain{}
	cmd := &cobra.Command{
		Use:   "explain POD",
		Short: "Why is it pending, or why that node? What would help?",
		Long: `Why a pod is pending, or why it goes to the node that it goes to: the verdict,
changes that would help (each one tried), the nodes grouped by what rejects
them, and kube-scheduler's own words. Nothing is recorded.

POD is NAME, pod/NAME, NAMESPACE/NAME, or - for what kubectl get pod -o json
prints on stdin. Ends with 0 if it fits, 2 if not.`,
		Example: "  " + a.name + " explain checkout -n shop --server http://127.0.0.1:8080\n" +
			"  " + a.name + " explain shop/checkout --snapshot cluster.json --node node-a1\n" +
			"  kubectl get pod checkout -o json | " + a.name + " explain - --snapshot cluster.json",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return e.run(cmd.Context(), a, args) },
	}
	cmd.Flags().StringVarP(&e.file, "filename", "f", "", "file with the pod, instead of one that the source knows")
	cmd.Flags().StringVar(&e.node, "node", "", "what is it about this node?")
	cmd.Flags().BoolVar(&e.all, "all", false, "every node, one line each; with -o json one JSON object a line")
	return cmd
}

func (e *explain) run(ctx context.Context, a *app, args []string) error {
	if err := a.o.check(); err != nil {
		return err
	}
	pod, err := a.target(args, e.file)
	if err != nil {
		return err
	}
	from, err := a.source()
	if err != nil {
		return err
	}
	switch {
	case e.node != "" && e.all:
		return errors.New("give one of --node and --all")
	case e.node != "":
		return e.oneNode(ctx, a, from, pod)
	case e.all:
		return e.allNodes(ctx, a, from, pod)
	}
	return e.verdict(ctx, a, from, pod)
}

func (e *explain) verdict(ctx context.Context, a *app, from source, pod target) error {
	got, err := from.decide(ctx, question{pod: pod, explain: engine.ExplainGroups, suggest: true})
	if err == nil && got.Outcome == engine.Scheduled { // then the scores are of interest, and nothing is to be changed
		got, err = from.decide(ctx, question{pod: pod, explain: engine.ExplainFailures})
	}
	if err != nil {
		return err
	}
	node, err := from.bound(ctx, pod)
	if err != nil {
		return err
	}
	if a.o.output == formJSON {
		if err := a.json(got.raw); err != nil {
			return err
		}
		return exitFor(got, node)
	}
	v := &verdict{page: a.page(), got: got, node: node, again: a.again(args(pod, e.file))}
	v.show()
	if err := v.end(a); err != nil {
		return err
	}
	return exitFor(got, node)
}

// exitFor says yes where the pod has a node, or one is free for it now.
func exitFor(got *answer, node string) error {
	if node != "" || got.Outcome == engine.Scheduled {
		return nil
	}
	return answerNo
}
