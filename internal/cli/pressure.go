package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"

	"berth/internal/handlers/rest"
	"berth/internal/podlife"
	"berth/internal/words"
)

// pressure asks which pods a kubelet evicts under its configuration, and when.
type pressure struct {
	file, usage, now string
	signals          []string
	// set are the flags of the configuration, which win over the file.
	set                        podlife.EvictionConfig
	hard, soft, grace, reclaim []string
}

func (a *app) pressureCommand() *cobra.Command {
	p := &pressure{}
	cmd := &cobra.Command{
		Use:   "pressure NODE",
		Short: "Which pods does the node's kubelet evict, and when?",
		Long: `What a kubelet does on a node that runs out of memory, disk, inodes or
processes: which of its thresholds are met, which pod it evicts when, and how
long the node has which condition. -f reads the kubelet's configuration (its
defaults without): the file it starts with, or its configz. What the kubelet
observes comes from --usage, its own statistics, or from --signal. Usage stays
the same, except for what evicted pods release.

Exit code 0 if no pod is evicted, 2 if some are.`,
		Example: "  kubectl get --raw /api/v1/nodes/node-a1/proxy/stats/summary > usage.json\n" +
			"  kubectl get --raw /api/v1/nodes/node-a1/proxy/configz > kubelet.json\n" +
			"  " + a.name + " pressure node-a1 --usage usage.json -f kubelet.json --snapshot cluster.json\n" +
			"  " + a.name + " pressure node-a1 --signal memory.available=80Mi,capacity=8Gi --snapshot cluster.json",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return p.run(cmd, a, nodeName(args[0])) },
	}
	f := cmd.Flags()
	f.StringVarP(&p.file, "filename", "f", "", "file with the kubelet's configuration, - for stdin")
	f.StringVar(&p.usage, "usage", "", "file with the kubelet's stats/summary, or a PodMetricsList; - for stdin")
	f.StringArrayVar(&p.signals, "signal", nil, "what the kubelet observes, such as nodefs.available=9Gi,capacity=100Gi,reclaimable=2Gi,since=90s (ago, or a time); wins over --usage")
	f.StringSliceVar(&p.hard, "eviction-hard", nil, "thresholds such as memory.available<300Mi or nodefs.available<10%")
	f.StringSliceVar(&p.soft, "eviction-soft", nil, "thresholds that act after their grace period")
	f.StringSliceVar(&p.grace, "eviction-soft-grace-period", nil, "those periods, such as memory.available=90s")
	f.StringSliceVar(&p.reclaim, "eviction-minimum-reclaim", nil, "what has to be free beyond a threshold, such as nodefs.available=1Gi")
	f.StringVar(&p.set.EvictionPressureTransitionPeriod, "eviction-pressure-transition-period", "", "how long a condition of the node stays; 5m by default")
	f.Int32Var(&p.set.EvictionMaxPodGracePeriod, "eviction-max-pod-grace-period", 0, "longest grace period of a soft eviction, in seconds")
	f.BoolVar(&p.set.MergeDefaultEvictionSettings, "merge-default-eviction-settings", false, "keep the defaults that --eviction-hard does not name")
	f.StringVar(&p.now, "now", "", "when the kubelet looks, such as 2026-01-31T12:00:00Z")
	_ = cmd.RegisterFlagCompletionFunc("signal", cobra.FixedCompletions(podlife.PressureSignals(), cobra.ShellCompDirectiveNoSpace)) // the flag is there
	return cmd
}

// pressureQuestion is a rest.NodePressureRequest with signals that were read.
type pressureQuestion struct {
	Config  podlife.EvictionConfig      `json:"config"`
	Signals map[string]podlife.Observed `json:"signals"`
	Pods    []rest.EvictionCandidate    `json:"pods"`
	Now     time.Time                   `json:"now"`
}

func (p *pressure) run(cmd *cobra.Command, a *app, node string) error {
	ctx := cmd.Context()
	if err := a.o.check(); err != nil {
		return err
	}
	q := &pressureQuestion{Signals: map[string]podlife.Observed{}}
	var err error
	if q.Now, err = a.moment(p.now); err != nil {
		return err
	}
	if q.Config, err = p.config(cmd, a); err != nil {
		return err
	}
	from, err := a.source(ctx)
	if err == nil {
		err = from.fullNames(ctx, &node)
	}
	if err != nil {
		return err
	}
	usage, err := a.readUsage(p.usage, node, "")
	if err != nil {
		return err
	}
	if usage != nil {
		maps.Copy(q.Signals, usage.Signals)
	}
	for _, text := range p.signals {
		if err := observe(q.Signals, text, q.Now); err != nil {
			return fmt.Errorf("--signal %q: %w", text, err)
		}
	}
	if len(q.Signals) == 0 {
		return &problem{what: "nothing is known of what the kubelet observes", next: "Pass its statistics as --usage: " + usageCommand(podlife.SignalDisk, node) + "\nor --signal memory.available=80Mi,capacity=8Gi"}
	}
	if q.Pods, err = candidates(ctx, from, node, p.usage, usage, func(o *item) (all corev1.ResourceList) {
		for _, s := range podlife.Signals {
			if usage.Measures(s) {
				for name, amount := range usage.Of(s, "", o.Metadata.Namespace, o.Metadata.Name, string(o.Metadata.UID)) {
					if all == nil {
						all = corev1.ResourceList{}
					}
					all[name] = amount
				}
			}
		}
		return all
	}); err != nil {
		return err
	}
	raw, err := from.call(ctx, http.MethodPost, from.asPosted(), q, "v1", "nodes", "eviction")
	if err != nil {
		return err
	}
	r := &rest.NodePressure{}
	if err := readInto(raw, r); err != nil {
		return err
	}
	if err := a.show(raw, nil, nil, func(o *page) {
		o.relief(r, node, q.Now)
		if usage == nil && len(r.Evictions) > 0 {
			o.labelled("NOTE", "without usage nothing but the pods' priorities is known: this is not the order of eviction, and no evicted pod gives anything back. Pass --usage")
		}
	}); err != nil {
		return err
	}
	if len(r.Evictions) > 0 {
		return errNo
	}
	return nil
}

// config reads the kubelet's configuration: its file or configz, and the flags over it.
func (p *pressure) config(cmd *cobra.Command, a *app) (c podlife.EvictionConfig, err error) {
	if p.file != "" {
		if c, err = a.readKubelet(p.file); err != nil {
			return c, &problem{what: nameOfFile(p.file), why: err, next: "Expected a KubeletConfiguration, or what kubectl get --raw /api/v1/nodes/NODE/proxy/configz prints."}
		}
	}
	for _, m := range []struct {
		flag string
		from []string
		to   *map[string]string
	}{
		{"eviction-hard", p.hard, &c.EvictionHard},
		{"eviction-soft", p.soft, &c.EvictionSoft},
		{"eviction-soft-grace-period", p.grace, &c.EvictionSoftGracePeriod},
		{"eviction-minimum-reclaim", p.reclaim, &c.EvictionMinimumReclaim},
	} {
		if !cmd.Flags().Changed(m.flag) {
			continue
		}
		*m.to = map[string]string{}
		for _, text := range m.from {
			at := strings.IndexAny(text, "<=") // the kubelet's own flags have one or the other
			if at < 0 {
				return c, fmt.Errorf("--%s %q: want a signal and its value, such as memory.available<300Mi or memory.available=90s", m.flag, text)
			}
			(*m.to)[text[:at]] = text[at+1:]
		}
	}
	if cmd.Flags().Changed("eviction-pressure-transition-period") {
		c.EvictionPressureTransitionPeriod = p.set.EvictionPressureTransitionPeriod
	}
	if cmd.Flags().Changed("eviction-max-pod-grace-period") {
		c.EvictionMaxPodGracePeriod = p.set.EvictionMaxPodGracePeriod
	}
	if cmd.Flags().Changed("merge-default-eviction-settings") {
		c.MergeDefaultEvictionSettings = p.set.MergeDefaultEvictionSettings
	}
	return c, nil
}

// readKubelet reads what a file tells of evictions.
func (a *app) readKubelet(file string) (c podlife.EvictionConfig, err error) {
	r, done, err := a.open(file)
	if err != nil {
		return c, err
	}
	defer done()
	raw, err := io.ReadAll(r)
	if err == nil {
		raw, err = yaml.ToJSON(raw)
	}
	if err != nil {
		return c, err
	}
	of := struct {
		Kind    string          `json:"kind"`
		Configz json.RawMessage `json:"kubeletconfig"`
	}{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &of); err != nil {
		return c, err
	}
	switch {
	case of.Configz != nil:
		raw = of.Configz
	case of.Kind != "KubeletConfiguration":
		return c, fmt.Errorf("kind %q is none of a kubelet's configuration", of.Kind)
	}
	return c, kjson.UnmarshalCaseSensitivePreserveInts(raw, &c)
}

// observe reads SIGNAL=AVAILABLE with capacity, reclaimable and since behind commas.
func observe(into map[string]podlife.Observed, text string, now time.Time) error {
	parts := strings.Split(text, ",")
	signal, available, is := strings.Cut(parts[0], "=")
	if !slices.Contains(podlife.PressureSignals(), signal) || !is {
		return fmt.Errorf("want one of %s, and what is available of it, such as memory.available=200Mi", strings.Join(podlife.PressureSignals(), ", "))
	}
	var o podlife.Observed
	read := func(to *resource.Quantity, text string) (err error) {
		if *to, err = resource.ParseQuantity(text); err != nil || to.Sign() < 0 {
			return fmt.Errorf("%q: want a quantity that is not negative, such as 1Gi", text)
		}
		return nil
	}
	err := read(&o.Available, available)
	for _, part := range parts[1:] {
		name, value, _ := strings.Cut(part, "=")
		var bad error
		switch name {
		case "capacity":
			bad = read(&o.Capacity, value)
		case "reclaimable":
			bad = read(&o.Reclaimable, value)
		case "since":
			at, wrong := words.Since(value, now)
			if o.Since = &at; wrong != nil {
				bad = fmt.Errorf("since=%w", wrong)
			}
		default:
			bad = fmt.Errorf("%s: want capacity=, reclaimable= or since=", part)
		}
		err = errors.Join(err, bad)
	}
	into[signal] = o
	return err
}

// leftOf writes an amount of what a signal measures: bytes, inodes or processes.
func leftOf(signal string, q resource.Quantity) string {
	if strings.HasSuffix(signal, ".inodesFree") || strings.HasPrefix(signal, "pid.") {
		return count(int(q.Value()))
	}
	return words.Size(q.Value())
}

func (p *page) relief(r *rest.NodePressure, node string, now time.Time) {
	met := 0
	for i := range r.Thresholds {
		if r.Thresholds[i].Met {
			met++
		}
	}
	word, colour, about := "CALM", green, "no threshold of "+node+" is met"
	switch {
	case len(r.Evictions) > 0:
		word, colour, about = "EVICTS", red, fmt.Sprintf("%s of %s, %s met", plural(len(r.Evictions), "pod"), node, plural(met, "threshold"))
	case met > 0:
		word, colour, about = "PRESSURE", yellow, fmt.Sprintf("%s of %s met, and no pod is evicted", plural(met, "threshold"), node)
	}
	p.head(word, colour, about, "", "")
	after := func(t time.Time) string { return offset(int64(t.Sub(now) / time.Second)) }
	t := newTable("THRESHOLD", "KIND", ">VALUE", ">AVAILABLE", "MET", "ACTS")
	for i := range r.Thresholds {
		s := &r.Thresholds[i]
		value, available, met, acts := s.Value, "?", "no", ""
		if s.Quantity != nil && strings.HasSuffix(s.Value, "%") {
			value += " = " + leftOf(s.Signal, *s.Quantity)
		}
		if s.Available != nil {
			available = leftOf(s.Signal, *s.Available)
		}
		if s.Met {
			met = "yes"
		}
		if s.ActsAt != nil {
			acts = after(*s.ActsAt)
		}
		t.add(s.Signal, s.Kind, value, available, met, acts)
	}
	p.list(t, "thresholds")
	t = newTable(">AFTER", ".EVICTED", ">GRACE", ">GONE", "OUT OF", "~WHY THE NEXT IS BEHIND IT")
	for i := range r.Evictions {
		e := &r.Evictions[i]
		_, why, _ := strings.Cut(e.Why, ": ")
		t.add(after(e.At), e.Namespace+"/"+e.Name, span(e.GracePeriodSeconds), offset(e.GoneAtSeconds), e.Resource, why)
	}
	p.list(t, "evictions")
	t = newTable("CONDITION", ">FROM", ">UNTIL")
	for _, c := range r.Conditions {
		until := "stays"
		if c.Until != nil {
			until = after(*c.Until)
		}
		t.add(string(c.Type), after(c.From), until)
	}
	p.list(t, "conditions")
	p.gap()
	for _, signal := range slices.Sorted(maps.Keys(r.Available)) {
		p.labelled("LEFT", leftOf(signal, r.Available[signal])+" of "+signal)
	}
	for _, n := range r.Notes {
		p.labelled("NOTE", n)
	}
}
