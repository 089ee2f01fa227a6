package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/podlife"
	"berth/internal/report"
)

func (a *app) queueCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "queue",
		Short: "In which order are pending pods tried, and which are gated?",
		Long: `The scheduling queue of all namespaces: the pods in the order in which they are
tried, those that wait for scheduling gates, and those that are nominated to a
node. Only a server knows earlier attempts. With --cluster prod@3 a server shows
the queue of an older revision, at the time when it was made.

Exit code 0.`,
		Example:           "  " + a.name + " queue --snapshot cluster.json",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, raw, gaps, err := answered[report.Queue](cmd.Context(), a, func(s *source) (json.RawMessage, error) { return s.queue(cmd.Context()) })
			if err != nil {
				return err
			}
			return a.show(raw, gaps.about("Pod", "PriorityClass"), q, func(p *page) { p.queue(a, q) })
		},
	}
	forAllAnyway(cmd)
	return cmd
}

func (p *page) queue(a *app, q *report.Queue) {
	now, revision := a.Now(), ""
	if a.o.server != "" && strings.Contains(a.o.cluster, "@") {
		now, revision = q.Now, q.Snapshot+" at "+q.Now.UTC().Format(time.RFC3339)
	}
	p.head("QUEUE", green, fmt.Sprintf("%s active, %s gated, %s nominated", count(q.Counts.Active), count(q.Counts.Gated), count(q.Counts.Nominated)), revision, "")
	age := func(t *time.Time) string {
		if t == nil {
			return "?"
		}
		return span(int64(now.Sub(*t).Seconds()))
	}
	next := func(t *time.Time) string {
		if t == nil {
			return "now"
		}
		return "in " + ahead(t.Sub(now))
	}
	head := []string{">#", ".POD", ">PRIORITY", ">AGE", "QUEUE", ">ATTEMPTS", "NEXT TRY"}
	woken := slices.ContainsFunc(q.Active, func(o report.QueuedPod) bool { return o.Woken != nil })
	if woken {
		head = append(head, "~WOKEN BY")
	}
	t := newTable(head...)
	for i, o := range q.Active {
		row := []string{count(i + 1), o.Namespace + "/" + o.Name, fmt.Sprint(o.Priority), age(o.Since), o.Queue, count(o.Attempts), next(o.NextTry)}
		if woken {
			row = append(row, o.Woken.String())
		}
		t.add(row...)
	}
	p.list(t, "active pods")
	if tried := func(o report.QueuedPod) bool { return o.Attempts > 0 }; len(q.Active) > 0 && !slices.ContainsFunc(q.Active, tried) {
		p.gap()
		p.text("No attempt is known, and a dump tells of none: NEXT TRY is that of pods that were not tried yet.")
	}
	t = newTable(".GATED", ">PRIORITY", ">AGE", "~GATES")
	for _, o := range q.Gated {
		t.add(o.Namespace+"/"+o.Name, fmt.Sprint(o.Priority), age(o.Since), strings.Join(o.Gates, ", "))
	}
	p.list(t, "gated pods")
	p.ungate(q.Gated)
	t = newTable(".NOMINATED", ">PRIORITY", ">SINCE", "@NODE")
	for _, o := range q.Nominated {
		t.add(o.Namespace+"/"+o.Name, fmt.Sprint(o.Priority), age(o.Since), o.Node)
	}
	p.list(t, "nominated pods")
}

// ungate tells who removes the gates of pods.
func (p *page) ungate(pods []report.GatedPod) {
	var gates []string
	for i := range pods {
		for _, g := range pods[i].Gates {
			if !slices.Contains(gates, g) {
				gates = append(gates, g)
			}
		}
	}
	if len(gates) > 0 {
		p.labelled("NEXT", gateWords(gates))
	}
}

// gatesNamed is how many gates a line names.
const gatesNamed = 4

// gateWords tells who removes gates. A gate is named like a label, after the domain of who sets it
// (pkg/apis/core/validation validateSchedulingGates).
func gateWords(gates []string) string {
	var domains []string
	of := map[string][]string{}
	for _, g := range gates[:min(len(gates), gatesNamed)] {
		domain, _, named := strings.Cut(g, "/")
		if !named {
			domain = ""
		}
		if of[domain] == nil {
			domains = append(domains, domain)
		}
		of[domain] = append(of[domain], g)
	}
	for i, domain := range domains {
		who := "the controller of " + domain
		if domain == "" {
			who = "whoever made the pod"
		}
		domains[i] = who + " removes " + strings.Join(of[domain], " and ")
	}
	if more := len(gates) - gatesNamed; more > 0 {
		domains = append(domains, fmt.Sprintf("%d more are likewise removed by who set them", more))
	}
	return strings.Join(domains, ", ") + ". By hand, what a gate waits for is skipped."
}

func (a *app) garbageCommand() *cobra.Command {
	var threshold int
	cmd := &cobra.Command{
		Use:   "garbage",
		Short: "Which pods would the pod garbage collector delete?",
		Long: `One pass of the pod garbage collector over all namespaces: pods that have ended
beyond the threshold, on nodes that are out of service, of nodes that do not
exist, and deleted ones without a node. Nothing is deleted.

Exit code 0 if it would delete none, 2 if it would delete some.`,
		Example:           "  " + a.name + " garbage --snapshot cluster.json",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return a.garbage(cmd.Context(), threshold) },
	}
	cmd.Flags().IntVar(&threshold, "terminated-pod-gc-threshold", defaultThreshold, "ended pods that may stay, as in kube-controller-manager")
	forAllAnyway(cmd)
	return cmd
}

func (a *app) garbage(ctx context.Context, threshold int) error {
	list, raw, gaps, err := answered[report.GarbageList](ctx, a, func(s *source) (json.RawMessage, error) { return s.garbage(ctx, threshold) })
	if err != nil {
		return err
	}
	err = a.show(raw, gaps.about("Node", "Pod"), nil, func(p *page) {
		if len(list.Pods) == 0 {
			p.head("NO GARBAGE", green, "no pod would be deleted", "", "")
			return
		}
		p.head("GARBAGE", yellow, plural(len(list.Pods), "pod")+" would be deleted", "", "")
		t := newTable(".POD", "REASON", "~WHY")
		for _, g := range list.Pods {
			t.add(g.Namespace+"/"+g.Name, g.Reason, g.Why)
		}
		p.list(t, "pods")
	})
	if err == nil && len(list.Pods) > 0 {
		err = errNo
	}
	return err
}

const defaultThreshold = podlife.DefaultTerminatedPodThreshold

func (a *app) classesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "classes",
		Short: "Which priority classes exist, which pods use them, any problems?",
		Long: `The priority classes by value, with the pods that name them, and findings:
several global defaults, classes that pods name and that do not exist, pods
whose priority differs from their class's. A class with a value above the limit
for users, or with a reserved name, is reported as invalid when it is read.

Exit code 0 if there are no findings, 2 if there are.`,
		Example:           "  " + a.name + " classes --snapshot cluster.json",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return a.classes(cmd.Context()) },
	}
}

func (a *app) classes(ctx context.Context) error {
	list, raw, gaps, err := answered[report.Classes](ctx, a, func(s *source) (json.RawMessage, error) { return s.ofCluster(ctx, url.Values{}, "classes") })
	if err != nil {
		return err
	}
	err = a.show(raw, gaps.about("Pod", "PriorityClass"), nil, func(p *page) {
		if len(list.Findings) == 0 {
			p.head("SANE", green, fmt.Sprintf("%s priority classes", count(len(list.Items))), "", "")
		} else {
			p.head("ODD", yellow, plural(len(list.Findings), "finding"), "", "")
			p.gap()
			t := newTable(".CLASS", "~FINDING", ">PODS", ".SUCH AS")
			for _, f := range list.Findings {
				pods, sample := "", ""
				if f.Pods > 0 {
					pods, sample = count(f.Pods), f.Sample[0].Namespace+"/"+f.Sample[0].Name
				}
				t.add(f.Class, f.Message, pods, sample)
			}
			p.table(t)
		}
		p.gap()
		t := newTable(".CLASS", ">VALUE", "PREEMPTS", "DEFAULT", ">PODS", ">WAITING", "SOURCE")
		for _, c := range list.Items {
			isDefault, preempts := "", "yes"
			if c.PreemptionPolicy == corev1.PreemptNever {
				preempts = "no"
			}
			if c.GlobalDefault {
				isDefault = "yes"
			}
			t.add(c.Name, fmt.Sprint(c.Value), preempts, isDefault, count(c.Pods), count(c.Waiting), c.Source)
		}
		p.table(t)
	})
	if err == nil && len(list.Findings) > 0 {
		err = errNo
	}
	return err
}
