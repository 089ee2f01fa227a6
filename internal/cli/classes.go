package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/podlife"
	"berth/internal/report"
)

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
			t := newTable(1, "CLASS", "FINDING", ">PODS", "SUCH AS")
			t.folds = true
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
		t := newTable(none, "CLASS", ">VALUE", "PREEMPTS", "DEFAULT", ">PODS", ">WAITING", "SOURCE")
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
