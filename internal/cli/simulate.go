package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"

	"berth/internal/scenario"
	"berth/internal/words"
	"berth/internal/world"
)

func (a *app) simulateCommand() *cobra.Command {
	var file string
	var until time.Duration
	var chance int
	cmd := &cobra.Command{
		Use:   "simulate -f SCENARIO",
		Short: "What becomes of these pods, after these changes of the cluster?",
		Long: `Runs a scenario (docs/scenarios.md): edits are made to the state, pods arrive
and are decided one after the other, each on the state that those before it
left. All in memory: the cluster stays as it is, nothing is recorded.

With "clock: true" in the scenario, or --until, time goes on: victims of
preemptions end by their grace periods, pods take a while to start, controllers
make others, and the scenario's events happen, each at its time: nodes die and
come back, are drained or added, workloads are scaled. --until alone, without
-f, says what happens next by itself.

Exit code 0 if every pod has a node at the end, 2 if one waits.`,
		Example: "  " + a.name + " simulate -f scenario.yaml --snapshot cluster.json\n" +
			"  " + a.name + " simulate --until 10m --snapshot cluster.json",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q := &scenario.Request{}
			switch {
			case file == "" && until == 0:
				return &problem{what: "which scenario?", next: "Give its file with -f, or - for stdin."}
			case file != "":
				var err error
				if q, err = a.readScenario(file); err != nil {
					return err
				}
			}
			if until > 0 {
				q.Clock, q.Until.Idle, q.Until.Duration = true, false, &metav1.Duration{Duration: until}
			}
			if chance > 0 {
				q.Chancing = chancing(chance)
			}
			return a.simulate(cmd.Context(), q)
		},
	}
	cmd.Flags().StringVarP(&file, "filename", "f", "", "file with the scenario, - for stdin")
	cmd.Flags().DurationVar(&until, "until", 0, "with a clock: the time to stop at, such as 10m")
	chanceFlag(cmd, &chance)
	return cmd
}

func (a *app) compareCommand() *cobra.Command {
	var file, against, since, until string
	cmd := &cobra.Command{
		Use:   "compare --config NEW",
		Short: "What would another scheduler configuration do to the cluster?",
		Long: `Has all placed and pending pods arrive again, those of DaemonSets excepted, under
the configuration of --config and under the present one (a server's own, else
upstream's default one, or that of --against): how many find a node, how full
nodes are, which pods go elsewhere, and the first decision that differs. With -f
the pods of a scenario arrive instead, and with --since those that a server's
decisions were about from then on, at the revision of the first one.

Exit code 0 if every pod has the same node under both, 2 if one has not.`,
		Example: "  " + a.name + " compare --config packed.yaml --snapshot cluster.json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, err := a.compared(file, since, until)
			if err != nil {
				return err
			}
			return a.compare(cmd.Context(), q, against)
		},
	}
	cmd.Flags().StringVarP(&file, "filename", "f", "", "file with a scenario whose pods arrive")
	cmd.Flags().StringVar(&against, "against", "", "KubeSchedulerConfiguration to compare with")
	cmd.Flags().StringVar(&since, "since", "", "pods of the decisions since then: an age such as 24h or 7d, or a time")
	cmd.Flags().StringVar(&until, "until", "", "pods of the decisions before then; now if absent")
	cmd.MarkFlagsMutuallyExclusive("filename", "since")
	return cmd
}

// compared returns the scenario that a comparison is of.
func (a *app) compared(file, since, until string) (*scenario.Request, error) {
	switch {
	case file != "":
		return a.readScenario(file)
	case since == "":
		return &scenario.Request{Arrivals: scenario.ArrivalSource{Placed: true}}, nil
	}
	h := &scenario.History{Until: a.Now()}
	for _, f := range []struct {
		name, text string
		to         *time.Time
	}{{"since", since, &h.Since}, {"until", until, &h.Until}} {
		if f.text == "" {
			continue
		}
		var err error
		if *f.to, err = words.Since(f.text, a.Now()); err != nil {
			return nil, fmt.Errorf("--%s %w", f.name, err)
		}
	}
	return &scenario.Request{Arrivals: scenario.ArrivalSource{History: h}}, nil
}

// readOne reads one object in YAML or JSON.
func (a *app) readOne(file string) ([]byte, error) {
	r, done, err := a.open(file)
	if err != nil {
		return nil, err
	}
	defer done()
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return yaml.ToJSON(raw)
}

// readScenario reads a scenario in YAML or JSON.
func (a *app) readScenario(file string) (*scenario.Request, error) {
	raw, err := a.readOne(file)
	q := &scenario.Request{}
	if err == nil {
		var strict []error
		if strict, err = kjson.UnmarshalStrict(raw, q, kjson.DisallowUnknownFields, kjson.DisallowDuplicateFields); err == nil {
			err = errors.Join(strict...)
		}
	}
	if err != nil {
		return nil, &problem{what: nameOfFile(file), why: err, next: "Expected a scenario: see docs/scenarios.md."}
	}
	return q, nil
}

// simulate runs a scenario and shows it.
func (a *app) simulate(ctx context.Context, q *scenario.Request) error {
	s, raw, gaps, err := a.simulated(ctx, q)
	if err != nil {
		return err
	}
	if err := a.show(raw, gaps, s, func(p *page) { p.simulation(s) }); err != nil {
		return err
	}
	if s.Clock != nil && (s.Clock.Totals.Unserved() || s.Clock.Ended == scenario.EndedHotLoop) {
		return errNo
	}
	for i := range s.Profiles {
		if s.Profiles[i].Pending > 0 {
			return errNo
		}
	}
	return nil
}

// clock shows what happened in a scenario with a clock.
func (p *page) clock(s *scenario.Simulation) {
	k := s.Clock
	word, c := "ALL PLACED", green
	switch t := &k.Totals; {
	case k.Waiting > 0:
		word, c = plural(k.Waiting, "POD")+" WITHOUT A NODE", red
	case t.Unserved():
		word, c = plural(t.NotStarted+t.Held, "PLACE")+" WITHOUT A RUNNING POD", red
	}
	after := "when " + span(k.Seconds) + " are over"
	switch k.Ended {
	case scenario.EndedIdle:
		after = "nothing happens any more after " + span(k.Seconds)
	case scenario.EndedHotLoop:
		word, c, after = "HOT LOOP", red, "after "+span(k.Seconds)+", at "+k.HotLoop
	}
	p.head(word, c, "on "+plural(s.Nodes, "node"), after, "")
	if k.Totals.Left > 0 {
		p.text(fmt.Sprintf("%s left their nodes: %s.", plural(k.Totals.Left, "pod"), replaced(&k.Totals.Replaced, k.Totals.Preempted)))
	}
	p.moments(k.Timeline, k.TimelineOmitted)
	p.pendingGroups(&s.Profiles[0], false)
	p.chance(s.Chance)
	p.gap()
	p.notes(append(s.Notes, s.Warnings...))
}

// timelineFlag adds the flag that wants what happens listed.
func timelineFlag(cmd *cobra.Command, to *bool) {
	cmd.Flags().BoolVar(to, "timeline", false, "list what happens, second by second")
}

// chanceFlag adds the flag for how often a question is run.
func chanceFlag(cmd *cobra.Command, to *int) {
	cmd.Flags().IntVar(to, "chance", 0, "say what chance decides, over this number of runs")
}

// chancing is the part of a question that the flag stands for.
func chancing(runs int) scenario.Chancing {
	if runs == 0 {
		return scenario.Chancing{}
	}
	return scenario.Chancing{Chance: &runs}
}

// moments lists what happens.
func (p *page) moments(list []world.Moment, omitted int) {
	if len(list) == 0 {
		return
	}
	t := newTable(">AT", "WHAT", ".POD OR NODE", "@ON", "~WHY")
	for _, m := range grouped(list, p.wide) {
		object, on := cmp.Or(m.object, m.Node), m.Node
		if m.object == "" {
			on = ""
		}
		why := m.Why
		if first, _, more := strings.Cut(why, ". "); more && !p.wide {
			why = first + "." // without what was tried in vain
		}
		t.add(span(m.AfterSeconds), spaced(m.What), object, on, why)
	}
	t.omitted = omitted
	p.list(t, "moments")
}

// momentLine is those of one instant at which the same happens, for the same reason.
type momentLine struct {
	world.Moment
	object string // that it happens to, or how many
}

// fewMoments is how many objects have a line each to which the same happens at one instant.
const fewMoments = 3

// grouped puts the moments together of which there are more, for a reader who does not want all.
func grouped(list []world.Moment, all bool) (out []*momentLine) {
	of := func(m world.Moment) world.Moment {
		return world.Moment{AfterSeconds: m.AfterSeconds, What: m.What, Why: m.Why}
	}
	same := map[world.Moment][]world.Moment{}
	for _, m := range list {
		same[of(m)] = append(same[of(m)], m)
	}
	for _, m := range list {
		many := same[of(m)]
		switch {
		case all || len(many) <= fewMoments:
			out = append(out, &momentLine{m, cmp.Or(m.Pod, m.Owner)})
		case m == many[0]:
			one := &momentLine{of(m), count(len(many)) + " nodes"}
			if m.Pod != "" {
				one.object = count(len(many)) + " pods"
			}
			owner := func(o world.Moment) bool { return o.Owner != m.Owner }
			if m.Owner != "" && !slices.ContainsFunc(many, owner) {
				one.object += " of " + m.Owner
			}
			if !slices.ContainsFunc(many, func(o world.Moment) bool { return o.Node != m.Node }) {
				one.Node = m.Node
			}
			out = append(out, one)
		}
	}
	return out
}

// spaced writes a name such as nodeNotReady in words.
func spaced(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// compare runs a scenario under two configurations.
func (a *app) compare(ctx context.Context, q *scenario.Request, against string) error {
	if a.o.config == "" {
		return &problem{what: "which configuration?", next: "Give its file with --config."}
	}
	var err error
	today := scenario.Configuration{Name: scenario.Today}
	if against != "" {
		if today, err = a.configurationOf(against); err != nil {
			return err
		}
	}
	next, err := a.configurationOf(a.o.config)
	if err != nil {
		return err
	}
	if next.Name == today.Name {
		next.Name += " (new)"
	}
	q.Profiles = []scenario.Configuration{today, next}
	a.o.config = "" // the source answers for today's
	s, raw, gaps, err := a.simulated(ctx, q)
	if err != nil {
		return err
	}
	if err := a.show(raw, gaps, s, func(p *page) { p.simulation(s) }); err != nil {
		return err
	}
	if d := s.Differences[0]; d.Elsewhere+d.Gained+d.Lost > 0 {
		return errNo
	}
	return nil
}

// configurationOf reads a configuration, which has the name of its file.
func (a *app) configurationOf(file string) (scenario.Configuration, error) {
	raw, err := a.configuration(file)
	if err != nil {
		return scenario.Configuration{}, err
	}
	text, err := json.Marshal(string(raw))
	return scenario.Configuration{Name: filepath.Base(file), Config: text}, err
}

// simulated answers a scenario.
func (a *app) simulated(ctx context.Context, q *scenario.Request) (*scenario.Simulation, json.RawMessage, *gaps, error) {
	s, raw, gaps, err := answered[scenario.Simulation](ctx, a, func(from *source) (json.RawMessage, error) {
		if err := q.Check(ownBounds); err != nil {
			return nil, err
		}
		return from.simulate(ctx, q, a.progress("running"))
	})
	if err == nil {
		err = gaps.needNodes()
	}
	return s, raw, gaps, err
}

func (s *source) simulate(ctx context.Context, q *scenario.Request, wait *progress) (json.RawMessage, error) {
	if h := q.Arrivals.History; h != nil {
		h.Cluster = cmp.Or(h.Cluster, s.cluster)
	}
	if s.dump != nil || q.Base == "" && (q.Arrivals.History == nil || s.older()) {
		q.Base = s.snapshot
	}
	if s.profile != "" {
		return nil, errOneProfile
	}
	if s.config != nil && len(q.Profiles) == 0 {
		q.Profiles = []scenario.Configuration{{Name: scenario.Today}}
	}
	for i := range q.Profiles {
		if len(q.Profiles[i].Config) == 0 {
			q.Profiles[i].Config = s.config
		}
	}
	if q.Until.Decisions != nil && *q.Until.Decisions == ownBounds.Attempts {
		q.Until.Decisions = nil // the server has bounds of its own
	}
	body, err := s.body(&scenarioQuestion{Question: q})
	if err != nil {
		return nil, err
	}
	raw, err := s.follow(ctx, wait, s.asPosted(), body, "v1", "simulations")
	return raw, s.hint(ctx, err, target{})
}

var errOneProfile = &problem{what: "a scenario has configurations, not one profile", next: "Without --profile."}
