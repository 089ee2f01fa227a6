package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/blame"
	"berth/internal/engine"
	"berth/internal/handlers/rest"
	"berth/internal/report"
	"berth/internal/scenario"
	"berth/internal/world"
)

// explain answers why a pod is pending, or why it went where it went.
type explain struct {
	file, node          string
	all, decision, next bool
	until               time.Duration
}

func (a *app) explainCommand() *cobra.Command {
	e := &explain{}
	cmd := &cobra.Command{
		Use:     "explain POD",
		Aliases: []string{"story"},
		Short:   "Why is it pending, or why that node? What would help?",
		Long: `Why a pod is pending, or why it goes to the node that it goes to: the verdict,
changes that would help (each one tried), the nodes grouped by what rejects
them, and kube-scheduler's own message. Nothing is recorded.

--next says what happens to it by itself from now on, and when: a scenario with
a clock and without events. There deploy/NAME (rs, sts and so on) is all pods of
a workload, and the exit code is 2 if one of them does not run in the end.

POD is NAME, pod/NAME, NAMESPACE/NAME, or - for the output of kubectl get pod
-o json on stdin. Exit code 0 if it has a node or would fit, 2 if not.`,
		Example: "  " + a.name + " explain shop/web --next --snapshot cluster.json\n" +
			"  " + a.name + " explain checkout -n shop --server http://127.0.0.1:8080\n" +
			"  " + a.name + " explain shop/checkout --snapshot cluster.json --node node-a1\n" +
			"  kubectl get pod checkout -o json | " + a.name + " explain - --snapshot cluster.json",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return e.run(cmd.Context(), a, args) },
	}
	cmd.Flags().StringVarP(&e.file, "filename", "f", "", "file with the pod, instead of one from the source")
	cmd.Flags().StringVar(&e.node, "node", "", "why this node rejects it, or how its score is made up")
	cmd.Flags().BoolVar(&e.all, "all", false, "every node, one line each; with -o json one JSON object a line")
	cmd.Flags().BoolVar(&e.decision, "decision", false, "the decision alone, not the story of a named pod")
	cmd.Flags().BoolVar(&e.next, "next", false, "what happens next, and when")
	cmd.Flags().DurationVar(&e.until, "until", 10*time.Minute, "with --next: the time to stop at")
	for _, other := range []string{"node", "all", "decision", "filename"} {
		cmd.MarkFlagsMutuallyExclusive("next", other)
	}
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
	from, err := a.source(ctx)
	if err != nil {
		return err
	}
	if e.next {
		return e.ahead(ctx, a, from, pod)
	}
	if pod, err = a.find(ctx, from, pod); err != nil {
		return err
	}
	if e.node != "" && e.all {
		return errors.New("give one of --node and --all")
	}
	gaps, err := from.gaps(ctx)
	if err != nil {
		return err
	}
	if e.node == "" && !e.all {
		return e.verdict(ctx, a, from, pod, gaps)
	}
	if err := gaps.needNodes(); err != nil {
		return err
	}
	if e.all {
		return e.allNodes(ctx, a, from, pod, gaps)
	}
	return e.oneNode(ctx, a, from, pod)
}

func (e *explain) verdict(ctx context.Context, a *app, from *source, pod target, gaps *gaps) error {
	var st *told
	if !e.decision {
		var err error
		if st, err = from.story(ctx, pod); err != nil {
			return err
		}
	}
	if st == nil || waits(st.State) {
		if err := gaps.needNodes(); err != nil {
			return err
		}
	}
	v := &verdict{page: a.page(), told: st, gaps: gaps, profile: a.o.profile, now: a.Now(), again: a.again(args(pod, e.file))}
	if st == nil || waits(st.State) || st.State == report.StateBound {
		if err := v.decide(ctx, from, pod); err != nil {
			return err
		}
	}
	var err error
	switch {
	case a.o.output == formHTML:
		err = a.html(gaps, v.webAnswer())
	case a.o.output != formJSON:
		if v.gaps, err = gaps.relevantTo(ctx, from, pod, v.got != nil && v.got.Outcome == engine.Preempting); err != nil {
			return err
		}
		if v.lost, err = gaps.lost(ctx, from, pod, v.node); err != nil {
			return err
		}
		if v.state, err = from.stateOf(ctx, v.node, v.now); err != nil {
			return err
		}
		v.show()
		err = v.end(a)
	case st != nil:
		err = a.json(st.raw)
	default:
		err = a.json(v.got.raw)
	}
	if err != nil {
		return err
	}
	if st != nil {
		a.link(ctx, from, "pods", st.Pod.Namespace, st.Pod.Name)
	}
	return v.exit()
}

// decide requests the decision that the page is about. What the story has found
// out is not asked for again.
func (v *verdict) decide(ctx context.Context, from *source, pod target) error {
	q := question{pod: pod, explain: engine.ExplainGroups, suggest: v.told == nil}
	if v.told != nil {
		q.snapshot = v.told.Snapshot
	}
	got, err := from.explained(ctx, q)
	if err != nil {
		return err
	}
	v.got = got
	if v.told == nil {
		is, err := named(ctx, from, pod)
		if err != nil {
			return err
		}
		if err := v.admit(ctx, from, q); err != nil {
			return err
		}
		v.node, v.scheduler = is.Node, is.Scheduler
		if err := v.read(pod.whole); err != nil {
			return err
		}
		return v.ungate(ctx, from, pod)
	}
	v.life = v.told.Lifecycle
	if r := v.told.Readiness; r != nil {
		v.unscheduled = r.Unscheduled
	}
	if v.told.Binding != nil {
		v.node = v.told.Binding.Node
	}
	got.Suggestions = v.told.Suggestions
	if a := v.told.AfterGates; a != nil && a.Error == "" {
		v.after = a
	}
	return nil
}

// explained decides, and explains what is of interest: of a pod that fits its scores, of another
// one what rejects it.
func (s *source) explained(ctx context.Context, q question) (*answer, error) {
	got, err := s.decide(ctx, q)
	if err == nil && got.Outcome == engine.Scheduled {
		q.explain, q.suggest = engine.ExplainFailures, false
		got, err = s.decide(ctx, q)
	}
	return got, err
}

// waits reports whether a pod of this state may yet be placed.
func waits(s report.State) bool {
	return s == report.StatePending || s == report.StateGated || s == report.StateNominated
}

// exit says yes where the pod has a node, or one is free for it now.
func (v *verdict) exit() error {
	switch {
	case v.refusal != "":
		return errNo
	case v.node != "" || v.told != nil && v.told.State == report.StateEnded:
		return nil
	case v.got != nil && v.got.Outcome == engine.Scheduled:
		return nil
	}
	return errNo
}

// blame shows since when a pod does not fit.
func (p *page) blame(out *blame.Blame, b *blameOf) {
	about := out.Pod.Namespace + "/" + out.Pod.Name
	if b.node != "" {
		about += " on " + b.node
	}
	word, c := strings.ToUpper(out.Outcome), red
	switch {
	case b.count > 0:
		word = fmt.Sprintf("%s OF %d", out.Outcome, b.count)
	case b.node != "" && out.Outcome != blame.Fits:
		word = "REJECTED"
	case b.node == "" && out.Outcome == string(engine.Scheduled):
		word = "FITS"
	case out.Outcome == string(engine.UnschedulableOK):
		word = "NO ROOM"
	}
	if b.fits(out) {
		c = green
	}
	p.head(word, c, about, "", plural(out.Revisions, "revision"))
	p.gap()
	if len(out.Turns) == 0 {
		p.text("Its outcome is the same at each of them: " + out.Outcome + ".")
	} else {
		p.text(out.Pod.Namespace + "/" + out.Pod.Name + " " + out.Turns[0].Message + ".")
		p.gap()
		t := newTable("REVISION", "TIME", "SINCE THEN", "~CHANGE")
		if b.between != "" {
			t.head[0], t.head[1] = "UNTIL", "UNTIL THEN"
		}
		for i := range out.Turns {
			x := &out.Turns[i]
			if !p.wide && i == rowsShown {
				break
			}
			at := x.At.UTC().Format(time.DateTime)
			if b.between != "" {
				at = x.From // both dumps are of the time when they were read
			}
			t.add(x.Snapshot, at, x.To, turnWords(x))
		}
		p.table(t)
		p.left(len(out.Turns)-len(t.rows), "turns")
	}
	for _, note := range out.Notes {
		p.gap()
		p.labelled("NOTE", note)
	}
}

// turnWords words what turned an outcome, for a cell.
func turnWords(x *blame.Turn) string {
	c := &x.Change
	out := c.Verb
	switch name := strings.TrimPrefix(c.Namespace+"/"+c.Name, "/"); {
	case c.Kind == "":
		out += " (it cannot be told of what)"
	case c.Name == "":
		out += " " + c.Kind + " (hidden)"
	default:
		out += " " + c.Kind + " " + name
	}
	if c.Node != "" {
		out += " on " + c.Node
	}
	if n := len(x.Also); n > 0 {
		out += fmt.Sprintf(" and %d more", n)
	}
	if x.By != "" {
		out += " by " + x.By
	}
	return out
}

// ahead answers what happens to a pod, or to those of a workload, by itself.
func (e *explain) ahead(ctx context.Context, a *app, from *source, of target) error {
	if of.whole != nil {
		return &problem{what: "--next is about a pod that is there", next: "Name it, or have it come in a scenario: " + a.name + " simulate -f SCENARIO."}
	}
	is, err := concerns(ctx, from, of)
	if err != nil {
		return err
	}
	q := &scenario.Request{Clock: true, Until: scenario.Until{Duration: &metav1.Duration{Duration: e.until}}}
	if err := q.Check(ownBounds); err != nil {
		return fmt.Errorf("--until: %w", err)
	}
	gaps, err := from.gaps(ctx)
	if err == nil {
		err = gaps.needNodes()
	}
	if err != nil {
		return err
	}
	raw, err := from.simulate(ctx, q, a.progress("running"))
	if err != nil {
		return err
	}
	var s scenario.Simulation
	if err := readInto(raw, &s); err != nil {
		return err
	}
	n := nextOf(s.Clock, is)
	if raw, err = json.Marshal(rest.SimulationTimeline{Items: n.moments, Omitted: s.Clock.TimelineOmitted}); err != nil {
		return fmt.Errorf("--next: %w", err)
	}
	if err := a.show(raw, gaps, nil, func(p *page) { p.next(strings.TrimSpace(of.owner+" "+of.String()), &s, &n) }); err != nil {
		return err
	}
	if n.stuck {
		return errNo
	}
	return nil
}

// concerns returns which pods are meant: one, which is there, or those of a workload.
func concerns(ctx context.Context, from *source, of target) (func(pod, owner string) bool, error) {
	if of.owner == "" {
		o, err := from.object(ctx, "Pod", of.namespace, of.name)
		if err == nil && o == nil {
			err = meant(ctx, from, of, &problem{what: fmt.Sprintf("%s has no pod %s", from.snapshot, of)})
		}
		return func(pod, _ string) bool { return pod == of.String() }, err
	}
	makes, err := makers(ctx, from, of)
	if err != nil {
		return nil, err
	}
	c := scenario.Concern{Workload: of.owner + "/" + of.name, Namespace: of.namespace}
	is := func(pod, owner string) bool {
		kind, name, _ := strings.Cut(owner, "/")
		return strings.HasPrefix(pod, of.namespace+"/") && (makes(&metav1.OwnerReference{Kind: kind, Name: name}) || c.Meant(&world.Moment{Pod: pod, Owner: owner}))
	}
	pods := 0
	err = from.objects(ctx, "Pod", func(o *item) error {
		if owner := metav1.GetControllerOf(&o.Metadata); owner != nil && is(o.target().String(), owner.Kind+"/"+owner.Name) {
			pods++
			return errEnough
		}
		return nil
	})
	if err == nil && pods == 0 {
		err = &problem{what: fmt.Sprintf("%s %s has no pods here", of.owner, of), next: "In another namespace: -n NAMESPACE."}
	}
	return is, err
}
