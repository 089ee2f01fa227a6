package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// causes are what ends a pod, in the words of the API.
var causes = []string{"delete", "evict-soft", "evict-hard", "preempt", "liveness", "startup", "shutdown"}

// termination answers how a pod ends, and when.
type termination struct {
	file, cause, container, now string
	grace                       int64
	hasGrace, force             bool
	preStop                     map[string]int64
	softMax                     int32
}

func (a *app) terminationCommand() *cobra.Command {
	t := &termination{}
	cmd := &cobra.Command{
		Use:   "termination [POD]",
		Short: "How does it end, in which time, and which number counts?",
		Long: `How a pod ends: the grace period and where it comes from, what each container
gets, and what happens when, if everything takes all the time it has.

Ends with 0 if nothing of the pod runs on, 2 if something may (a forced delete).`,
		Example: "  kubectl get pod checkout -o json | " + a.name + " termination -\n" +
			"  " + a.name + " termination -f pod.json --cause evict-soft --eviction-max-pod-grace-period 60\n" +
			"  " + a.name + " termination shop/checkout --snapshot cluster.json --grace-period 5",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, names []string) error {
			t.hasGrace = cmd.Flags().Changed("grace-period")
			return t.run(cmd.Context(), a, names)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&t.file, "filename", "f", "", "file with the pod")
	f.StringVar(&t.cause, "cause", "delete", "what ends it: "+strings.Join(causes, ", "))
	f.Int64Var(&t.grace, "grace-period", 0, "grace period of the delete in seconds")
	f.BoolVar(&t.force, "force", false, "a forced delete, as kubectl delete --force")
	f.StringVar(&t.container, "container", "", "the one whose probe failed, where several have one")
	f.StringToInt64Var(&t.preStop, "pre-stop", nil, "seconds that a container's preStop hook runs, such as web=5")
	f.Int32Var(&t.softMax, "eviction-max-pod-grace-period", 0, "the kubelet's setting for soft evictions, in seconds")
	f.StringVar(&t.now, "now", "", "when it happens, such as 2026-01-31T12:00:00Z")
	_ = cmd.RegisterFlagCompletionFunc("cause", cobra.FixedCompletions(causes, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	return cmd
}

// ending is what is shown of an answer.
type ending struct {
	GracePeriodSeconds     int64      `json:"gracePeriodSeconds"`
	DeletionTimestamp      *time.Time `json:"deletionTimestamp"`
	EvictionTimeoutSeconds *int64     `json:"evictionTimeoutSeconds"`
	Steps                  []struct {
		Source    string `json:"source"`
		Rule      string `json:"rule"`
		Value     int64  `json:"value"`
		Container string `json:"container"`
	} `json:"steps"`
	Containers []struct {
		Name               string `json:"name"`
		Kind               string `json:"kind"`
		StopTimeoutSeconds int64  `json:"stopTimeoutSeconds"`
		PreStopSeconds     *int64 `json:"preStopSeconds"`
		WaitSeconds        int64  `json:"waitSeconds"`
		Signal             string `json:"signal"`
		SignalAt           int64  `json:"signalAtSeconds"`
		KillAt             int64  `json:"killAtSeconds"`
	} `json:"containers"`
	Timeline []struct {
		At            *time.Time `json:"at"`
		OffsetSeconds int64      `json:"offsetSeconds"`
		Actor         string     `json:"actor"`
		Event         string     `json:"event"`
		Container     string     `json:"container"`
	} `json:"timeline"`
	Phase              string   `json:"phase"`
	PhaseIfAllExitZero string   `json:"phaseIfAllExitZero"`
	LeftRunning        []string `json:"leftRunning"`
	Notes              []string `json:"notes"`
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
	in, err := a.wholePods(ctx, names, t.file)
	if err != nil {
		return err
	}
	if len(in.pods) != 1 {
		return &problem{what: fmt.Sprintf("there are %d pods in it", len(in.pods)), next: "Say which: the name of one of them."}
	}
	raw, err := t.ask(ctx, a, in.pods[0], now)
	if err != nil {
		return fmt.Errorf("pod %s: %w", in.pods[0], err)
	}
	e := &ending{}
	if err := json.Unmarshal(raw, e); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if a.o.output == formJSON {
		err = a.json(raw)
	} else {
		p := a.page()
		p.ending(in.pods[0], t.cause, e)
		err = p.end(a)
	}
	if err == nil && len(e.LeftRunning) > 0 {
		return errNo
	}
	return err
}

func (t *termination) ask(ctx context.Context, a *app, pod target, now time.Time) (json.RawMessage, error) {
	if a.o.server == "" {
		return t.here(pod.whole, now)
	}
	s, err := newServer(a)
	if err != nil {
		return nil, err
	}
	body := map[string]any{"pod": pod.whole, "cause": t.cause, "now": now}
	if t.hasGrace {
		body["gracePeriodSeconds"] = t.grace
	}
	if t.force {
		body["force"] = true
	}
	if t.container != "" {
		body["container"] = t.container
	}
	if t.preStop != nil {
		body["preStopSeconds"] = t.preStop
	}
	if t.softMax != 0 {
		body["evictionMaxPodGracePeriod"] = t.softMax
	}
	return s.call(ctx, http.MethodPost, body, "v1", "pods", "termination")
}

func (p *page) ending(pod target, cause string, e *ending) {
	word, c := "ENDS", green
	if len(e.LeftRunning) > 0 {
		word, c = "MAY RUN ON", red
	}
	beside := cause + ", grace period " + span(e.GracePeriodSeconds)
	p.head(word, c, pod.String(), beside, "")
	p.gap()
	if len(e.LeftRunning) > 0 {
		p.text("The object is gone at once; these containers may run on: " + someNames(e.LeftRunning) + ".")
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
	p.numbers(e)
	p.stops(e)
	p.timeline(e)
	p.gap()
	for _, n := range e.Notes {
		p.labelled("NOTE", n)
	}
}

// numbers writes where the grace period comes from.
func (p *page) numbers(e *ending) {
	if len(e.Steps) == 0 {
		return
	}
	p.gap()
	t := newTable(2, ">SECONDS", "FROM", "RULE")
	t.folds = true
	for _, s := range e.Steps {
		from := s.Source
		if s.Container != "" {
			from = s.Container + ": " + from
		}
		t.add(fmt.Sprint(s.Value), from, s.Rule)
	}
	p.table(t)
}

func (p *page) stops(e *ending) {
	if len(e.Containers) == 0 {
		return
	}
	p.gap()
	t := newTable(0, "CONTAINER", "KIND", ">PRESTOP", ">SIGNAL AT", "SIGNAL", ">KILLED AT", ">STOP TIMEOUT")
	for _, c := range e.Containers {
		hook := "-"
		if c.PreStopSeconds != nil {
			hook = span(*c.PreStopSeconds)
		}
		t.add(c.Name, c.Kind, hook, "+"+span(c.SignalAt), c.Signal, "+"+span(c.KillAt), span(c.StopTimeoutSeconds))
	}
	p.table(t)
}

func (p *page) timeline(e *ending) {
	if len(e.Timeline) == 0 {
		return
	}
	p.gap()
	t := newTable(3, ">AFTER", "AT (UTC)", "WHO", "WHAT")
	shown, left := p.limit(len(e.Timeline))
	for _, v := range e.Timeline[:shown] {
		at, what := "", v.Event
		if v.At != nil {
			at = v.At.UTC().Format("15:04:05")
		}
		if v.Container != "" {
			what = v.Container + ": " + what
		}
		t.add("+"+span(v.OffsetSeconds), at, v.Actor, what)
	}
	p.table(t)
	p.left(left, "events")
}
