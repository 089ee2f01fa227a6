package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/handlers/rest"
	"berth/internal/podlife"
)

// evictions asks in which order a kubelet would evict the pods of a node.
type evictions struct{ signal, usage string }

func (a *app) evictionsCommand() *cobra.Command {
	e := &evictions{}
	cmd := &cobra.Command{
		Use:   "evictions NODE",
		Short: "In which order would the node's kubelet evict its pods?",
		Long: `The order in which a kubelet evicts pods when its node runs out of memory, disk,
inodes or processes. The pods' usage comes from --usage: the kubelet's own
statistics (stats/summary) or, for memory alone, the metrics API. Pods without
usage are evicted first, as by a kubelet without statistics of them. Without
any usage nothing but the priorities is known.

Exit code 0 if pods could be evicted, 2 if none could.`,
		Example: "  kubectl get --raw /api/v1/nodes/node-a1/proxy/stats/summary > usage.json\n" +
			"  " + a.name + " evictions node-a1 --signal disk --usage usage.json --snapshot cluster.json\n" +
			"  kubectl get --raw /apis/metrics.k8s.io/v1beta1/pods > usage.json\n" +
			"  " + a.name + " evictions node-a1 --usage usage.json --snapshot cluster.json",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return e.run(cmd.Context(), a, args[0]) },
	}
	cmd.Flags().StringVar(&e.signal, "signal", string(podlife.SignalMemory), "what runs out: memory, disk, inodes, pids, or a signal of the kubelet such as nodefs.available")
	cmd.Flags().StringVar(&e.usage, "usage", "", "file with the pods' usage: the kubelet's stats/summary, or a PodMetricsList; - for stdin")
	_ = cmd.RegisterFlagCompletionFunc("signal", cobra.FixedCompletions(podlife.SignalNames, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	return cmd
}

func (e *evictions) run(ctx context.Context, a *app, node string) error {
	if err := a.o.check(); err != nil {
		return err
	}
	node = nodeName(node)
	signal, fs, bad := podlife.SignalOf(e.signal)
	if bad != nil {
		return fmt.Errorf("--signal %s: want one of %s", e.signal, strings.Join(podlife.SignalNames, ", "))
	}
	from, err := a.source(ctx)
	if err == nil {
		err = from.fullNames(ctx, &node)
	}
	if err != nil {
		return err
	}
	usage, err := a.readUsage(e.usage, node, signal)
	if err != nil {
		return err
	}
	if usage != nil && usage.Apart() && fs == "" && (signal == podlife.SignalDisk || signal == podlife.SignalInodes) {
		a.note("%s has its images on a filesystem of their own: nodefs.available and imagefs.available rank pods by other parts of their usage", node)
	}
	pods, err := candidates(ctx, from, node, e.usage, usage, func(o *item) corev1.ResourceList {
		return usage.Of(signal, fs, o.Metadata.Namespace, o.Metadata.Name, string(o.Metadata.UID))
	})
	if err != nil {
		return err
	}
	q := rest.EvictionRankingRequest{Signal: string(signal), Pods: pods}
	raw, err := from.call(ctx, http.MethodPost, from.asPosted(), q, "v1", "nodes", "eviction-ranking")
	if err != nil {
		return err
	}
	r := &rest.EvictionRanking{}
	if err := readInto(raw, r); err != nil {
		return err
	}
	if err := a.show(raw, nil, nil, func(p *page) { p.ranking(r, node, e.signal, usageCommand(signal, node)) }); err != nil {
		return err
	}
	if len(r.Ranking) == 0 {
		return errNo
	}
	return nil
}

// candidates are the pods of a node, each with what the usage of a file has of it.
func candidates(ctx context.Context, from *source, node, file string, usage *podlife.NodeUsage, of func(*item) corev1.ResourceList) ([]rest.EvictionCandidate, error) {
	if o, err := from.object(ctx, "Node", "", node); err != nil {
		return nil, err
	} else if o == nil {
		return nil, &problem{what: "there is no node " + node}
	}
	pods, known := []rest.EvictionCandidate{}, false
	err := from.objects(ctx, "Pod", func(o *item) error {
		if o.Spec.Node == node {
			c := rest.EvictionCandidate{Pod: o.raw}
			if usage != nil {
				used := of(o)
				known = known || used != nil
				var err error
				if c.Usage, err = json.Marshal(used); err != nil {
					return err
				}
			}
			pods = append(pods, c)
		}
		return nil
	})
	if err == nil && usage != nil && !known && len(pods) > 0 {
		err = noUsage(file, node, fmt.Errorf("it has none of the %s on %s", plural(len(pods), "pod"), node))
	}
	return pods, err
}

func (p *page) ranking(r *rest.EvictionRanking, node, signal, get string) {
	known := 0
	for i := range r.Ranking {
		if !r.Ranking[i].NoStats {
			known++
		}
	}
	word, about := "EVICTION ORDER", fmt.Sprintf("of %s on %s, out of %s", plural(len(r.Ranking), "pod"), node, signal)
	if known == 0 && len(r.Ranking) > 0 {
		word = "PRIORITIES ALONE"
	}
	p.head(word, yellow, about, "", "")
	switch {
	case len(r.Ranking) == 0:
	case known == 0:
		p.text("This is not the order of eviction: without usage nothing but the priority is known. A kubelet ranks by what the pods use. Get it, and pass it as --usage: " + get)
	case known < len(r.Ranking):
		p.text(fmt.Sprintf("The usage of %s of %s is known; a kubelet without statistics of the others evicts them first.", count(known), plural(len(r.Ranking), "pod")))
	}
	t := newTable(">#", ".POD", ">PRIORITY", ">USAGE", ">REQUESTS", "~BEHIND THE ONE BEFORE BECAUSE")
	place := 0
	for i := range r.Ranking {
		o := &r.Ranking[i]
		usage, requests, why := "?", "-", o.Why
		if o.Usage != nil {
			usage = o.Usage.String()
		}
		if o.Requests != nil {
			requests = o.Requests.String()
		}
		if known > 0 || i == 0 || o.Priority != r.Ranking[i-1].Priority {
			place = i + 1
		} else {
			why = "its priority is the same" // so that they share a place
		}
		t.add(count(place), o.Namespace+"/"+o.Name, fmt.Sprint(o.Priority), usage, requests, why)
	}
	p.list(t, "pods")
	if len(r.Protected) > 0 {
		p.gap()
		t := newTable(".NOT EVICTED", "~WHY")
		for _, o := range r.Protected {
			t.add(o.Namespace+"/"+o.Name, o.Why)
		}
		p.table(t)
	}
}

// usageCommand prints the usage that a signal ranks by.
func usageCommand(s podlife.Signal, node string) string {
	if s == podlife.SignalMemory {
		return "kubectl get --raw /apis/metrics.k8s.io/v1beta1/pods"
	}
	return "kubectl get --raw /api/v1/nodes/" + node + "/proxy/stats/summary"
}

// readUsage reads the file of --usage, which has to be of the node and to measure the signal, if
// one is given; nil without a file.
func (a *app) readUsage(file, node string, s podlife.Signal) (*podlife.NodeUsage, error) {
	if file == "" {
		return nil, nil
	}
	r, done, err := a.open(file)
	if err != nil {
		return nil, err
	}
	defer done()
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, noUsage(file, node, err)
	}
	u, err := podlife.ReadNodeUsage(raw)
	switch {
	case err != nil:
	case u.Node != "" && u.Node != node:
		err = fmt.Errorf("it is the summary of node %s", u.Node)
	case s == "":
	case !u.Measures(s) && !u.Summary:
		err = fmt.Errorf("metrics.k8s.io measures memory, not %s", s)
	case !u.Measures(s):
		err = errors.New("no pod in it was measured by " + string(s.UsageKey()))
	}
	if err != nil {
		return nil, noUsage(file, node, err)
	}
	return u, nil
}

// noUsage returns what is wrong with a file of usage, and what is read.
func noUsage(file, node string, why error) error {
	return &problem{what: "--usage " + nameOfFile(file), why: why, next: "Read are the kubelet's statistics: " + usageCommand(podlife.SignalDisk, node) +
		"\nand, for memory alone, those of pods: " + usageCommand(podlife.SignalMemory, node)}
}
