package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"berth/internal/scenario"
	"berth/internal/world"
)

func (a *app) rolloutCommand() *cobra.Command {
	var file string
	start, chance, q := int64(-1), 0, &scenario.RolloutQuestion{}
	cmd := &cobra.Command{
		Use:   "rollout -f FILE",
		Short: "How would this Deployment's update go, and would it get stuck?",
		Long: `How the update to the Deployment in a file goes: the steps of its ReplicaSets, new
pods that find no node and why, how long it takes, and where its pods are then.
It runs in memory, in virtual seconds, as the controllers and the scheduler act;
each pod takes its whole grace period to end. The cluster stays as it is.

Exit code 0 if it completes, 2 if it gets stuck or leaves others without a node.`,
		Example:           "  " + a.name + " rollout -f deployment.yaml --snapshot cluster.json",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("start-seconds") {
				q.StartSeconds = &start
			}
			q.Chancing = chancing(chance)
			return a.rollout(cmd.Context(), q, args, file)
		},
	}
	cmd.Flags().StringVarP(&file, "filename", "f", "", "file with the Deployment, - for stdin")
	cmd.Flags().Int64Var(&start, "start-seconds", 0, "how long a pod takes until it is ready; by default as its pods took")
	timelineFlag(cmd, &q.Timeline)
	chanceFlag(cmd, &chance)
	ratesFlag(cmd, func(r scenario.ClientRates) { q.Rates = &r })
	return cmd
}

// ratesFlag adds the flag for how fast clients of the API server are.
func ratesFlag(cmd *cobra.Command, set func(scenario.ClientRates)) {
	cmd.Flags().Func("client-rates", "how fast controllers, scheduler and kubectl call: upstream, or none (at once)", func(text string) error {
		set(scenario.ClientRates{Clients: text})
		return nil
	})
}

func (a *app) rollout(ctx context.Context, q *scenario.RolloutQuestion, args []string, file string) error {
	pod, err := a.deployment(args, file)
	if err != nil {
		return err
	}
	q.Deployment = pod.from.raw
	return (&scenarioCommand[scenario.Rollout]{
		verb: "rollouts", question: q, doing: "following the rollout",
		gaps: func(ctx context.Context, from *source) (*gaps, error) {
			_, g, err := a.gapsAbout(ctx, from, *pod)
			return g, err
		},
		show: (*page).rollout, no: func(r *scenario.Rollout) bool { return r.Outcome == scenario.RolloutStuck || r.Displaced > 0 },
	}).run(ctx, a)
}

// deployment reads a Deployment of a file: the one that is named, or the only one.
func (a *app) deployment(args []string, file string) (*target, error) {
	if file == "" {
		return nil, &problem{what: "which Deployment?", next: "Give it with its new template: -f FILE, or - for stdin."}
	}
	in, err := a.readInput(file)
	if err != nil {
		return nil, err
	}
	a.besides(in, file)
	var found []*target
	for i := range in.pods {
		if p := &in.pods[i]; p.from != nil && p.from.kind == "Deployment" && (len(args) == 0 || p.from.name == strings.TrimPrefix(args[0], "deploy/")) {
			found = append(found, p)
		}
	}
	switch {
	case len(found) == 0 && len(args) > 0:
		return nil, &problem{what: fmt.Sprintf("%s has no Deployment %s", nameOfFile(file), args[0])}
	case len(found) == 0:
		return nil, &problem{what: nameOfFile(file) + " has no Deployment", next: "Give one with its new template: -f FILE, or - for stdin."}
	case len(found) > 1:
		return nil, &problem{what: fmt.Sprintf("%s holds %s that could be meant", nameOfFile(file), plural(len(found), "Deployment")), next: "Name one of them, and -f " + file}
	}
	return found[0], nil
}

func (p *page) rollout(r *scenario.Rollout, _ *gaps) {
	word, c := "COMPLETES", green
	if r.Outcome == scenario.RolloutStuck {
		word, c = "GETS STUCK", red
	}
	p.head(word, c, "deployment "+r.Deployment.Namespace+"/"+r.Deployment.Name, "after "+span(r.Seconds), "")
	if r.Why != "" {
		p.text("Because " + r.Why)
	}
	if len(r.Remedies) == 0 && r.Try != "" {
		p.labelled("TRY", r.Try)
	}
	p.remedies(r.Remedies)
	if r.DeadlineExceededAfterSeconds != nil {
		p.line("Progress deadline exceeded after %s", span(*r.DeadlineExceededAfterSeconds))
	}
	p.gap()
	p.labelled("HOW", fmt.Sprintf("%s of %s, %d more and %d fewer at a time", r.Strategy, plural(r.Replicas, "replica"), r.MaxSurge, r.MaxUnavailable))
	p.labelled("PODS", fmt.Sprintf("at least %d available, at most %d at once with those that end", r.LeastAvailable, r.MostPods))
	if r.Waited > 0 {
		p.labelled("WAITED", plural(r.Waited, "new pod")+" found no node at once")
		for _, c := range r.Created {
			if c.WaitedFor != "" {
				p.labelled("", c.Name+": "+c.WaitedFor)
				break
			}
		}
	}
	if len(r.Preempted) > 0 {
		p.labelled("EVICTED", plural(len(r.Preempted), "pod")+" of lower priority"+displaced(r.Displaced))
	}
	if r.Others > 0 {
		p.labelled("OTHERS", plural(r.Others, "pod")+" that waited got a node meanwhile")
	}
	t := newTable(">AFTER", ".REPLICASET", ">FROM", ">TO")
	for _, s := range r.Steps {
		t.add(span(s.AfterSeconds), s.Set, count(s.From), count(s.To))
	}
	p.list(t, "steps")
	for _, s := range r.Spread {
		t := newTable(nodeIf(s.Key)+prefixes.Replace(s.Key), ">BEFORE", ">AFTER")
		for _, d := range s.Domains {
			t.add(d.Domain, count(d.Before), count(d.After))
		}
		t.foot = []string{"(skew)", count(s.SkewBefore), count(s.SkewAfter)}
		p.list(t, "domains")
	}
	p.moments(r.Timeline, r.TimelineOmitted)
	p.chance(r.Chance)
	p.gap()
	for _, s := range r.Assumed {
		p.labelled("ASSUMED", s)
	}
}

// displaced writes how many of the evicted pods find no other node.
func displaced(n int) string {
	if n == 0 {
		return ""
	}
	return ", " + count(n) + " of which without another node"
}

// remedies lists changes that help, each with its command: TRY, and OR for another one that helps
// the same.
func (p *page) remedies(list []scenario.Remedy) {
	for i, r := range list {
		text := r.Change
		if kind, name, _ := strings.Cut(r.For, " "); kind == "pod" {
			text += ": for " + name
			if r.Pods > 0 {
				text += " and " + plural(r.Pods, "other pod")
			}
		}
		if r.Warning != "" {
			text += "; " + r.Warning
		}
		label := "TRY"
		if i > 0 && list[i-1].For == r.For {
			label = "OR"
		}
		p.labelled(label, text)
		if r.Command != "" {
			p.labelled("RUN", r.Command)
		}
	}
}

// disrupted lists the pods that left: those whose replacements wait first, with kube-scheduler's
// message, then all in order.
func (p *page) disrupted(list []*world.Left) {
	var stuck, still [][]string
	rows := map[string]int{} // of stuck, by message
	for _, d := range list {
		if r := d.Replacement; r != nil && r.NotStarted != "" {
			still = append(still, []string{d.Namespace + "/" + r.Name, "on " + r.Node + ": " + r.NotStarted})
		}
		if r := d.Replacement; r != nil && r.Node == "" {
			at, known := rows[r.Message]
			if !known {
				at, rows[r.Message] = len(stuck), len(stuck)
				stuck = append(stuck, []string{d.Namespace + "/" + r.Name, "0", r.Message})
			}
			n, _ := strconv.Atoi(stuck[at][1])
			stuck[at][1] = strconv.Itoa(n + 1)
		}
	}
	without := newTable(".WITHOUT A NODE", ">PODS", "~BECAUSE")
	for _, row := range stuck {
		without.add(row...)
	}
	p.list(without, "reasons")
	p.whys(".CANNOT START", still, "pods")
	t := newTable(".POD", "@FROM", "CAUSE", ">LEAVES", ">GONE", "~TO", ">READY")
	for _, d := range list {
		gone, to, ready := "never", d.NotReplaced, ""
		if d.GoneAfterSeconds != nil {
			gone = span(*d.GoneAfterSeconds)
		}
		if r := d.Replacement; r != nil {
			if to = r.Node; to == "" {
				to = "(none)"
			}
			if r.ReadyAfterSeconds != nil {
				ready = span(*r.ReadyAfterSeconds)
			}
		}
		t.add(d.Namespace+"/"+d.Name, d.Node, d.Cause, span(d.LeavesAfterSeconds), gone, to, ready)
	}
	p.list(t, "pods")
}
