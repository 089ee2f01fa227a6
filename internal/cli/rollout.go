package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"berth/internal/decision"
	"berth/internal/scenario"
	"berth/internal/world"
)

func (a *app) rolloutCommand() *cobra.Command {
	var file string
	start, chance, q := int64(-1), 0, &scenario.RolloutQuestion{}
	cmd := &cobra.Command{
		Use:   "rollout [KIND/NAME] -f FILE",
		Short: "How would this update go, and would it get stuck?",
		Long: `How the update to the Deployment, StatefulSet or DaemonSet in a file goes: the
steps of its ReplicaSets, or its pods or nodes in turn, new pods that find no
node and why, how long it takes, and where its pods are then.
It runs in memory, in virtual seconds, as the controllers and the scheduler act;
each pod takes its whole grace period to end. The cluster stays as it is.

Exit code 0 if it completes, or if updateStrategy OnDelete leaves all pods as
they are; 2 if it gets stuck or leaves a pod without a node.`,
		Example: "  " + a.name + " rollout -f deployment.yaml --snapshot cluster.json\n" +
			"  " + a.name + " rollout sts/db -f db.yaml",
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
	cmd.Flags().StringVarP(&file, "filename", "f", "", "file with the workload, - for stdin")
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
	pod, err := a.rolled(args, file)
	if err != nil {
		return err
	}
	switch pod.from.kind {
	case "Deployment":
		q.Deployment = pod.from.raw
	case "StatefulSet":
		q.StatefulSet = pod.from.raw
	default:
		q.DaemonSet = pod.from.raw
	}
	return (&scenarioCommand[scenario.Rollout]{
		verb: "rollouts", question: q, doing: "following the rollout",
		gaps: func(ctx context.Context, from *source) (*gaps, error) {
			_, g, err := a.gapsAbout(ctx, from, *pod)
			return g, err
		},
		show: (*page).rollout, no: func(r *scenario.Rollout) bool { return r.Outcome == scenario.RolloutStuck || r.Displaced > 0 },
	}).run(ctx, a)
}

// rollable are the kinds whose updates are followed.
var rollable = []string{"Deployment", "StatefulSet", "DaemonSet"}

// rolled reads a workload of a file: the one that is named, or the only one.
func (a *app) rolled(args []string, file string) (*target, error) {
	if file == "" {
		return nil, &problem{what: "which Deployment, StatefulSet or DaemonSet?", next: "Give it with its new template: -f FILE, or - for stdin."}
	}
	in, err := a.readInput(file)
	if err != nil {
		return nil, err
	}
	a.besides(in, file)
	kind, name, named := "", "", len(args) > 0
	if named {
		if word, rest, is := strings.Cut(args[0], "/"); is {
			kind, name = owners[strings.ToLower(word)], rest
			if !slices.Contains(rollable, kind) {
				return nil, &problem{what: args[0] + " is none of " + strings.Join(rollable, ", "), next: "Write deploy/NAME, sts/NAME or ds/NAME."}
			}
		} else {
			name = args[0]
		}
	}
	var found []*target
	for i := range in.pods {
		p := &in.pods[i]
		if p.from != nil && slices.Contains(rollable, p.from.kind) && (!named || p.from.name == name && (kind == "" || p.from.kind == kind)) {
			found = append(found, p)
		}
	}
	switch {
	case len(found) == 0 && named:
		return nil, &problem{what: fmt.Sprintf("%s has no %s %s", nameOfFile(file), cmp.Or(kind, "Deployment, StatefulSet or DaemonSet"), args[0])}
	case len(found) == 0:
		return nil, &problem{what: nameOfFile(file) + " has no Deployment, StatefulSet or DaemonSet", next: "Give one with its new template: -f FILE, or - for stdin."}
	case len(found) > 1:
		if one := slices.DeleteFunc(slices.Clone(found), func(p *target) bool { return p.from.kind != rollable[0] }); len(one) == 1 && !named {
			a.note("%s: this is about deployment/%s", nameOfFile(file), one[0].from.name)
			return one[0], nil
		}
		return nil, &problem{what: fmt.Sprintf("%s holds %s that could be meant", nameOfFile(file), plural(len(found), "workload")), next: "Name one of them, such as " + strings.ToLower(found[0].from.kind) + "/" + found[0].from.name + ", and -f " + file}
	}
	return found[0], nil
}

// rolledName is the workload of an answer, as text.
func rolledName(r *scenario.Rollout) string {
	for _, of := range []struct {
		kind string
		ref  *decision.PodRef
	}{{"deployment", r.Deployment}, {"statefulset", r.StatefulSet}, {"daemonset", r.DaemonSet}} {
		if of.ref != nil {
			return of.kind + " " + of.ref.Namespace + "/" + of.ref.Name
		}
	}
	return ""
}

// howRolled writes by which rules pods are replaced.
func howRolled(r *scenario.Rollout) string {
	switch {
	case r.Strategy == "OnDelete":
		return "OnDelete: a pod is replaced once it is deleted"
	case r.StatefulSet != nil && r.Partition != nil && *r.Partition > 0:
		return fmt.Sprintf("%s of %s, %s, down to partition %d", r.Strategy, plural(r.Replicas, "replica"), r.PodManagementPolicy, *r.Partition)
	case r.StatefulSet != nil:
		return fmt.Sprintf("%s of %s, %s, one at a time", r.Strategy, plural(r.Replicas, "replica"), r.PodManagementPolicy)
	case r.DaemonSet != nil && r.MaxSurge > 0:
		return fmt.Sprintf("%s on %s, a second pod on %d at a time", r.Strategy, plural(r.Replicas, "node"), r.MaxSurge)
	case r.DaemonSet != nil:
		return fmt.Sprintf("%s on %s, %d without a pod at a time", r.Strategy, plural(r.Replicas, "node"), r.MaxUnavailable)
	}
	return fmt.Sprintf("%s of %s, %d more and %d fewer at a time", r.Strategy, plural(r.Replicas, "replica"), r.MaxSurge, r.MaxUnavailable)
}

// turns lists the pods of a StatefulSet, or the nodes of a DaemonSet, in turn.
func (p *page) turns(r *scenario.Rollout) {
	ready := func(at *int64) string {
		if at == nil {
			return "never"
		}
		return span(*at)
	}
	if r.DaemonSet != nil {
		t := newTable(">AFTER", ".NODE", ".NEW POD", ">READY")
		for _, n := range r.Nodes {
			t.add(span(n.BeginsAfterSeconds), n.Node, n.Pod, ready(n.ReadyAfterSeconds))
		}
		p.list(t, "nodes")
		return
	}
	type made struct { // the answer has a replacement twice
		name string
		at   int64
	}
	moves, replaces := slices.Clone(r.Removed), map[made]bool{}
	for _, l := range r.Removed {
		if c := l.Replacement; c != nil {
			replaces[made{c.Name, c.CreatedAfterSeconds}] = true
		}
	}
	for _, c := range r.Created {
		if !replaces[made{c.Name, c.CreatedAfterSeconds}] {
			moves = append(moves, &world.Left{Name: c.Name, Cause: "new", LeavesAfterSeconds: c.CreatedAfterSeconds, Replacement: c})
		}
	}
	slices.SortStableFunc(moves, func(a, b *world.Left) int { return cmp.Compare(a.LeavesAfterSeconds, b.LeavesAfterSeconds) })
	t := newTable(">AFTER", ".POD", "@FROM", "CAUSE", "~TO", ">READY")
	for _, l := range moves {
		to, at := "", ""
		if c := l.Replacement; c != nil {
			to, at = cmp.Or(c.Node, "(none)"), ready(c.ReadyAfterSeconds)
		}
		t.add(span(l.LeavesAfterSeconds), l.Name, l.Node, l.Cause, to, at)
	}
	p.list(t, "pods")
}

func (p *page) rollout(r *scenario.Rollout, _ *gaps) {
	word, c := "COMPLETES", green
	switch r.Outcome {
	case scenario.RolloutStuck:
		word, c = "GETS STUCK", red
	case scenario.RolloutOnDelete:
		word, c = "REPLACES NONE", yellow
	}
	p.head(word, c, rolledName(r), "after "+span(r.Seconds), "")
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
	p.labelled("HOW", howRolled(r))
	if r.Updated != nil {
		p.labelled("UPDATED", fmt.Sprintf("%d of %d", *r.Updated, r.Replicas))
	}
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
	if r.Deployment == nil {
		p.turns(r)
	} else {
		t := newTable(">AFTER", ".REPLICASET", ">FROM", ">TO")
		for _, s := range r.Steps {
			t.add(span(s.AfterSeconds), s.Set, count(s.From), count(s.To))
		}
		p.list(t, "steps")
	}
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
