package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

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
inodes or processes. The pods' usage comes from --usage: for memory the output
of the metrics API. Pods without usage are evicted first, as by a kubelet
without statistics.

Exit code 0 if pods could be evicted, 2 if none could.`,
		Example: "  kubectl get --raw /apis/metrics.k8s.io/v1beta1/pods > usage.json\n" +
			"  " + a.name + " evictions node-a1 --usage usage.json --snapshot cluster.json",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return e.run(cmd.Context(), a, args[0]) },
	}
	cmd.Flags().StringVar(&e.signal, "signal", string(podlife.SignalMemory), "what runs out: memory, disk, inodes or pids")
	cmd.Flags().StringVar(&e.usage, "usage", "", "file with the pods' usage: a PodMetricsList, - for stdin")
	return cmd
}

// candidate is a pod as the API takes it.
type candidate struct {
	Pod   json.RawMessage     `json:"pod"`
	Usage corev1.ResourceList `json:"usage,omitempty"`
}

// ranking is the API's answer.
type ranking struct {
	Ranking   []podlife.Ranked    `json:"ranking"`
	Protected []podlife.Protected `json:"protected"`
}

func (e *evictions) run(ctx context.Context, a *app, node string) error {
	if err := a.o.check(); err != nil {
		return err
	}
	node = nodeName(node)
	usage, err := a.readUsage(e.usage)
	if err != nil {
		return err
	}
	from, err := a.source(ctx)
	if err != nil {
		return err
	}
	if o, err := from.object(ctx, "Node", "", node); err != nil {
		return err
	} else if o == nil {
		return &problem{what: "there is no node " + node}
	}
	var pods []candidate
	err = from.objects(ctx, "Pod", func(o *item) error {
		if o.Spec.Node == node {
			pods = append(pods, candidate{o.raw, usage[types.NamespacedName{Namespace: o.Metadata.Namespace, Name: o.Metadata.Name}]})
		}
		return nil
	})
	if err != nil {
		return err
	}
	raw, err := from.rank(ctx, e.signal, pods)
	if err != nil {
		return err
	}
	r := &ranking{}
	if err := json.Unmarshal(raw, r); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if err := a.show(raw, nil, nil, func(p *page) { p.ranking(r, node, e.signal) }); err != nil {
		return err
	}
	if len(r.Ranking) == 0 {
		return errNo
	}
	return nil
}

func (s *server) rank(ctx context.Context, signal string, pods []candidate) (json.RawMessage, error) {
	if pods == nil {
		pods = []candidate{}
	}
	return s.callWith(ctx, http.MethodPost, nil, map[string]any{"signal": signal, "pods": pods}, "v1", "nodes", "eviction-ranking")
}

func (s *offline) rank(_ context.Context, signal string, pods []candidate) (json.RawMessage, error) {
	consumers := make([]podlife.Consumer, len(pods))
	for i, c := range pods {
		pod := &corev1.Pod{}
		if err := decodeWhole(c.Pod, pod); err != nil {
			return nil, err
		}
		consumers[i] = podlife.Consumer{Pod: pod, Usage: c.Usage}
	}
	ranked, protected, bad := podlife.RankForEviction(podlife.Signal(signal), consumers)
	if bad != nil {
		return nil, bad
	}
	return json.Marshal(ranking{ranked, protected})
}

// readUsage reads what the metrics API prints: the containers' usage of each pod,
// added up.
func (a *app) readUsage(file string) (map[types.NamespacedName]corev1.ResourceList, error) {
	if file == "" {
		return nil, nil
	}
	r, done, err := a.open(file)
	if err != nil {
		return nil, err
	}
	defer done()
	var list struct {
		Items []struct {
			Metadata   struct{ Namespace, Name string } `json:"metadata"`
			Containers []struct {
				Usage corev1.ResourceList `json:"usage"`
			} `json:"containers"`
		} `json:"items"`
	}
	if err := json.NewDecoder(r).Decode(&list); err != nil {
		return nil, &problem{what: "--usage " + nameOfFile(file), why: err, next: "Expected the output of kubectl get --raw /apis/metrics.k8s.io/v1beta1/pods."}
	}
	out := map[types.NamespacedName]corev1.ResourceList{}
	for _, p := range list.Items {
		sum := corev1.ResourceList{}
		for _, c := range p.Containers {
			for name, q := range c.Usage {
				total := sum[name]
				if total.Sign() == 0 {
					total = resource.Quantity{Format: q.Format}
				}
				total.Add(q)
				sum[name] = total
			}
		}
		out[types.NamespacedName{Namespace: p.Metadata.Namespace, Name: p.Metadata.Name}] = sum
	}
	return out, nil
}

func (p *page) ranking(r *ranking, node, signal string) {
	p.head("EVICTION ORDER", yellow, fmt.Sprintf("of %s on %s, out of %s", plural(len(r.Ranking), "pod"), node, signal), "", "")
	t := newTable(5, ">#", "POD", ">PRIORITY", ">USAGE", ">REQUESTS", "BEHIND THE ONE BEFORE BECAUSE")
	t.name = 1
	for i := range r.Ranking {
		o := &r.Ranking[i]
		usage, requests := "?", "-"
		if o.Usage != nil {
			usage = o.Usage.String()
		}
		if o.Requests != nil {
			requests = o.Requests.String()
		}
		t.add(count(i+1), o.Namespace+"/"+o.Name, fmt.Sprint(o.Priority), usage, requests, o.Why)
	}
	p.list(t, "pods")
	if len(r.Protected) > 0 {
		p.gap()
		t := newTable(1, "NOT EVICTED", "WHY")
		for _, o := range r.Protected {
			t.add(o.Namespace+"/"+o.Name, o.Why)
		}
		p.table(t)
	}
}
