package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"berth/internal/handlers/rest"
	"berth/internal/kube/follow"
	"berth/internal/podlife"
)

// causes are what ends a pod, in the words of the API.
var causes = []string{"delete", "evict-soft", "evict-hard", "preempt", "liveness", "startup", "shutdown", "api-eviction", "taint", "kubelet-preempt"}

// termination answers how a pod ends, and when.
type termination struct {
	file, cause, container, now string
	lostSince                   string
	grace                       int64
	hasGrace, force, nodeGone   bool
	preStop, exits, codes       map[string]int64
	hookFails, then             []string
	softMax                     int32
}

func (a *app) terminationCommand() *cobra.Command {
	t := &termination{}
	cmd := &cobra.Command{
		Use:   "termination [POD]",
		Short: "How does it end, in which time, and which period counts?",
		Long: `How a pod ends: the grace period and its origin, the time of each container, and
the events in order, if every container uses all its time. Nodes and
PodDisruptionBudgets in the same input are used: a pod on a node that is not
Ready stays Terminating, and an api-eviction checks the budgets.

As with kubectl, --grace-period 0 without --force is sent as 1, and a negative
one counts as not given.

Exit code 0 if no container keeps running, 2 if one may (a forced delete).`,
		Example: "  kubectl get pod checkout -o json | " + a.name + " termination -\n" +
			"  " + a.name + " termination -f pod.json --cause evict-soft --eviction-max-pod-grace-period 60\n" +
			"  " + a.name + " termination shop/checkout --snapshot cluster.json --grace-period 5",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, names []string) error {
			// kubectl's default is -1, and it sends no negative one (k8s.io/kubectl/pkg/cmd/delete
			// DeleteOptions.deleteResource); a node's share is not kubectl's.
			t.hasGrace = cmd.Flags().Changed("grace-period") && (t.grace >= 0 || t.cause == string(podlife.CauseShutdown))
			return t.run(cmd.Context(), a, names)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&t.file, "filename", "f", "", "file with the pod")
	f.StringVar(&t.cause, "cause", "delete", "what ends it: "+strings.Join(causes, ", "))
	f.Int64Var(&t.grace, "grace-period", -1, "grace period of the delete in seconds")
	f.BoolVar(&t.force, "force", false, "a forced delete, as kubectl delete --force")
	f.StringVar(&t.container, "container", "", "the container whose probe failed, if several have one")
	f.StringToInt64Var(&t.preStop, "pre-stop", nil, "seconds that a container's preStop hook runs, such as web=5")
	f.Int32Var(&t.softMax, "eviction-max-pod-grace-period", 0, "the kubelet's setting for soft evictions, in seconds")
	f.StringToInt64Var(&t.exits, "exit", nil, "seconds that a container takes to exit after the signal, such as web=3")
	f.StringToInt64Var(&t.codes, "exit-code", nil, "what it exits with then if not 0, such as web=143")
	f.StringSliceVar(&t.hookFails, "hook-fails", nil, "containers whose preStop hook fails")
	f.BoolVar(&t.nodeGone, "node-gone", false, "assume the pod's node has been deleted")
	f.StringVar(&t.lostSince, "node-lost-since", "", "last heartbeat of the node's kubelet, such as 2026-01-31T12:00:00Z")
	f.StringArrayVar(&t.then, "then", nil, "what happens later, such as evict-hard@10s or delete@10s,grace-period=5")
	f.StringVar(&t.now, "now", "", "when it happens, such as 2026-01-31T12:00:00Z")
	_ = cmd.RegisterFlagCompletionFunc("cause", cobra.FixedCompletions(causes, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	return cmd
}

func (t *termination) run(ctx context.Context, a *app, names []string) error {
	if err := a.o.check(); err != nil {
		return err
	}
	if !slices.Contains(causes, t.cause) {
		return fmt.Errorf("--cause %s: want one of %s", t.cause, strings.Join(causes, ", "))
	}
	now, err := a.moment(t.now)
	if err != nil {
		return err
	}
	asKubectl := t.cause == "delete" && t.hasGrace && t.grace == 0 && !t.force
	if asKubectl {
		t.grace = 1 // k8s.io/kubectl/pkg/cmd/delete DeleteOptions.Complete
	}
	in, err := a.wholePods(ctx, names, t.file)
	if err != nil {
		return err
	}
	if len(in.pods) != 1 {
		return &problem{what: fmt.Sprintf("there are %d pods in it", len(in.pods)), next: "Say which: the name of one of them."}
	}
	q, err := t.question(ctx, a, in, now)
	if err != nil {
		return err
	}
	raw, err := a.terminate(ctx, q)
	if err != nil && q.PodRef == nil {
		err = fmt.Errorf("pod %s: %w", in.pods[0], err)
	}
	if err != nil {
		return err
	}
	e := &podlife.Termination{}
	if err := readInto(raw, e); err != nil {
		return err
	}
	if asKubectl {
		e.Notes = append(e.Notes, "kubectl sends --grace-period 0 without --force as 1; with --force the object goes at once")
	}
	if a.o.output == formJSON {
		err = a.json(raw)
	} else {
		p := a.page()
		p.ending(in.pods[0], t.cause, e, now)
		err = p.end(a)
	}
	if err == nil && (len(e.LeftRunning) > 0 || e.Refused != nil || e.Eviction != nil && !e.Eviction.Allowed) {
		return errNo
	}
	return err
}

// question makes the question about the one pod of an input.
func (t *termination) question(ctx context.Context, a *app, in *input, now time.Time) (*rest.TerminationRequest, error) {
	q := &rest.TerminationRequest{
		Pod: in.pods[0].whole, Cause: t.cause, Force: t.force, Container: t.container, PreStopSeconds: t.preStop,
		EvictionMaxPodGracePeriod: t.softMax, Node: in.nodeOf(in.pods[0], t.nodeGone), ExitSeconds: t.exits, ExitCodes: exitCodes(t.codes), HookFails: t.hookFails, Now: &now,
		Semantics: a.o.semantics,
	}
	if q.Pod == nil {
		q.PodRef = &rest.PodName{Namespace: in.pods[0].namespace, Name: in.pods[0].name}
	}
	if t.hasGrace {
		q.GracePeriodSeconds = &t.grace
	}
	if t.lostSince != "" {
		since, err := time.Parse(time.RFC3339, t.lostSince)
		if err != nil {
			return nil, fmt.Errorf("--node-lost-since %q: want a time such as 2026-01-31T12:00:00Z", t.lostSince)
		}
		q.NodeLostSince = &since
	}
	evicts := t.cause == string(podlife.CauseAPIEviction)
	for _, text := range t.then {
		f, err := parseFollowing(text)
		if err != nil {
			return nil, err
		}
		q.Then, evicts = append(q.Then, f), evicts || f.Cause == podlife.CauseAPIEviction
	}
	if !evicts {
		return q, nil
	}
	if l, err := a.live(); err == nil && l != nil && in.budgets == nil && in.whole {
		if err := follow.Whole(ctx, l.config, kindBudget, in.pods[0].namespace, "", func(js []byte) error { return in.add(kindBudget, js) }); err != nil {
			return nil, l.cannot(err)
		}
	}
	q.Budgets = in.budgets
	return q, nil
}

// exitCodes are those of a question; one that is no exit code is refused as such.
func exitCodes(codes map[string]int64) map[string]int32 {
	out := make(map[string]int32, len(codes))
	for name, code := range codes {
		out[name] = int32(max(min(code, math.MaxInt32), math.MinInt32))
	}
	return out
}

// parseFollowing reads CAUSE@SECONDS, with grace-period=N or force behind commas.
func parseFollowing(text string) (f podlife.Following, err error) {
	bad := fmt.Errorf("--then %q: want a cause and when, such as evict-hard@10s or delete@10s,grace-period=5", text)
	parts := strings.Split(text, ",")
	cause, when, found := strings.Cut(parts[0], "@")
	after, err := time.ParseDuration(when)
	if !found || err != nil || after%time.Second != 0 {
		return f, bad
	}
	f.Cause, f.AfterSeconds = podlife.Cause(cause), int64(after/time.Second)
	for _, part := range parts[1:] {
		switch name, value, _ := strings.Cut(part, "="); name {
		case "force":
			f.Force = true
		case "grace-period":
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return f, bad
			}
			if n >= 0 || f.Cause == podlife.CauseShutdown {
				f.GracePeriodSeconds = &n
			}
		default:
			return f, bad
		}
	}
	return f, nil
}

// terminate puts the question to the server, or to the API in this process.
func (a *app) terminate(ctx context.Context, q *rest.TerminationRequest) (json.RawMessage, error) {
	ask := newServer
	if a.o.server == "" {
		ask = func(a *app) (*source, error) { return a.here(&dump{}, nil) }
	}
	s, err := ask(a)
	if err != nil {
		return nil, err
	}
	if q.PodRef == nil {
		return s.call(ctx, http.MethodPost, s.asPosted(), q, "v1", "pods", "termination")
	}
	q.Snapshot = s.snapshot
	raw, err := s.call(ctx, http.MethodPost, nil, q, "v1", "pods", "termination")
	return raw, s.hintOf(ctx, err, target{namespace: q.PodRef.Namespace, name: q.PodRef.Name}, "termination")
}

// endWord says when the pod is gone, or why that cannot be said.
func endWord(e *podlife.Termination, now time.Time) (string, colour) {
	switch {
	case (e.Refused != nil || e.Eviction != nil && !e.Eviction.Allowed) && e.GoneAfterSeconds == nil:
		return "REFUSED", red
	case e.StaysTerminating:
		return "STAYS TERMINATING", red
	case e.NodeDeletion != nil && e.NodeDeletion.Rule.ID == "node-deletion/since-unknown" && e.GoneAfterSeconds == nil:
		return "NOT KNOWN", yellow
	case e.OverdueSince != nil:
		return overdueBy(*e.OverdueSince, now), yellow
	case e.NodeDeletion != nil && e.GoneAfterSeconds == nil && len(e.Timeline) == 0:
		return "STAYS", green
	case len(e.LeftRunning) > 0:
		return "MAY RUN ON", red
	case e.GoneAfterSeconds == nil:
		return "ENDS", green
	case e.DeletionTimestamp != nil:
		return "GONE AFTER " + span(*e.GoneAfterSeconds), green
	}
	return "OVER AFTER " + span(*e.GoneAfterSeconds), green
}

// overdueBy is the verdict on a pod that was to be gone before.
func overdueBy(since, now time.Time) string {
	return "OVERDUE BY " + span(int64(now.Sub(since).Seconds()))
}

// expected writes the end with the exits that were given.
func (p *page) expected(e *podlife.Termination) {
	x := e.Expected
	if x == nil {
		return
	}
	s := "With these exits its phase is " + x.Phase
	if x.GoneAfterSeconds != nil {
		s += fmt.Sprintf(", after %s", span(*x.GoneAfterSeconds))
	}
	p.text(s + ".")
	p.gap()
	t := newTable(".CONTAINER", ">SIGNAL AT", ">ENDS AT", ">EXIT CODE")
	for _, c := range x.Containers {
		t.add(c.Name, offset(c.SignalAt), offset(c.EndsAt), fmt.Sprint(c.ExitCode))
	}
	p.table(t)
}

func (p *page) ending(pod target, cause string, e *podlife.Termination, now time.Time) {
	word, c := endWord(e, now)
	beside := cause + " (grace period " + span(e.GracePeriodSeconds)
	if len(e.Containers) == 0 && len(e.LeftRunning) == 0 && e.GoneAfterSeconds != nil {
		beside += ", nothing runs"
	}
	p.head(word, c, pod.String(), beside+")", "")
	p.gap()
	switch {
	case len(e.LeftRunning) == 0:
	case e.GoneAfterSeconds != nil && *e.GoneAfterSeconds == 0:
		p.text("The object is gone at once; these containers may run on: " + someNames(e.LeftRunning) + ".")
	default:
		p.text("No kubelet stops these containers: " + someNames(e.LeftRunning) + ".")
	}
	if e.OverdueSince != nil {
		p.text(byForce)
		p.labelled("RUN", forceDelete(pod))
		p.gap()
	}
	if e.Refused != nil {
		p.text(e.Refused.Text)
	}
	if e.Eviction != nil {
		s := fmt.Sprintf("The Eviction API answers %d. %s", e.Eviction.Code, e.Eviction.Rule.Text)
		if r := e.Eviction.Remedy; r != nil {
			defer func() { p.labelled("TRY", r.Change); p.labelled("RUN", r.Command) }()
		}
		if !e.Eviction.Allowed {
			s = fmt.Sprintf("The Eviction API answers %d: %s", e.Eviction.Code, cmp.Or(e.Eviction.Cause, e.Eviction.Message))
		}
		p.text(s)
	}
	if e.NodeDeletion != nil {
		p.text(e.NodeDeletion.Rule.Text)
	}
	if e.Phase != "" {
		s := "At the end its phase is " + e.Phase
		if e.PhaseIfAllExitZero != "" && e.PhaseIfAllExitZero != e.Phase {
			s += ", or " + e.PhaseIfAllExitZero + " if all containers end with 0 in time"
		}
		p.text(s + ".")
	}
	if e.EvictionTimeoutSeconds != nil {
		p.text(fmt.Sprintf("The kubelet waits %s for it to be gone.", span(*e.EvictionTimeoutSeconds)))
	}
	p.expected(e)
	p.numbers(e)
	p.stops(e)
	p.timeline(e)
	p.gap()
	for _, n := range e.Notes {
		p.labelled("NOTE", n)
	}
	p.kubelet(e.Followed)
}

// numbers writes where the grace period comes from.
func (p *page) numbers(e *podlife.Termination) {
	if len(e.Steps) == 0 {
		return
	}
	p.gap()
	t := newTable(">SECONDS", "FROM", "~RULE")
	for _, s := range e.Steps {
		from := s.Source
		if s.Container != "" {
			from = s.Container + ": " + from
		}
		t.add(fmt.Sprint(s.Value), from, s.Rule)
	}
	p.table(t)
}

func (p *page) stops(e *podlife.Termination) {
	if len(e.Containers) == 0 {
		return
	}
	p.gap()
	t := newTable(".CONTAINER", "KIND", ">PRESTOP", ">SIGNAL AT", "SIGNAL", ">KILLED AT", ">STOP TIMEOUT")
	for _, c := range e.Containers {
		hook := "-"
		if c.PreStopSeconds != nil {
			if hook = span(*c.PreStopSeconds); c.PreStopUnknown {
				hook = "up to " + hook
			}
		}
		t.add(c.Name, c.Kind, hook, offset(c.SignalAt), c.Signal, offset(c.KillAt), span(c.StopTimeoutSeconds))
	}
	p.table(t)
}

func (p *page) timeline(e *podlife.Termination) {
	t := newTable(">AFTER", "AT (UTC)", "WHO", "~WHAT")
	for _, v := range e.Timeline {
		at, what := "", v.Event
		if v.At != nil {
			at = v.At.UTC().Format("15:04:05")
		}
		if v.Container != "" {
			what = v.Container + ": " + what
		}
		t.add(offset(v.OffsetSeconds), at, v.Actor, what)
	}
	p.list(t, "events")
}
