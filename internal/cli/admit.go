package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/handlers/rest"
	"berth/internal/podlife/admission"
	"berth/internal/report"
)

func (a *app) admitCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "admit -f FILE",
		Short: "Would an API server take this pod, and with which priority?",
		Long: `What an API server would make of a pod that is created: defaults, its priority
by the classes of the source, tolerations, its RuntimeClass, the LimitRanges and
ResourceQuotas of its namespace, scheduling gates and validation, with the API
server's own warnings. A quota that is used up is shown with the pods that use most.
Nothing is stored. -o json shows the pod as it would be stored.

Exit code 0 if it is admitted, 2 if not.`,
		Example:           "  " + a.name + " admit -f pod.json --snapshot cluster.json",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, names []string) error { return a.admit(cmd.Context(), names, file) },
	}
	cmd.Flags().StringVarP(&file, "filename", "f", "", "file with the pod, - for stdin")
	return cmd
}

func (a *app) admit(ctx context.Context, names []string, file string) error {
	if err := a.o.check(); err != nil {
		return err
	}
	if file == "" && (len(names) == 0 || names[0] != stdinName) {
		return &problem{what: "this needs the full pod object", next: "Give it with -f FILE, or - for stdin."}
	}
	pod, err := a.target(names, file)
	if err != nil {
		return err
	}
	from, err := a.source(ctx)
	if err != nil {
		return err
	}
	raw, err := from.admit(ctx, pod)
	if err != nil {
		return err
	}
	v := &rest.Admission{}
	if err := readInto(raw, v); err != nil {
		return err
	}
	gaps, err := from.gaps(ctx)
	if err != nil {
		return err
	}
	kinds := []string{"PriorityClass"}
	for _, u := range report.Unapplied {
		kinds = append(kinds, u.Kind)
	}
	if err := a.show(raw, gaps.about(kinds...), nil, func(p *page) { p.admission(v, pod) }); err != nil {
		return err
	}
	if !v.Allowed {
		return errNo
	}
	return nil
}

func (s *source) admit(ctx context.Context, t target) (json.RawMessage, error) {
	own := *s
	own.semantics = "" // a server answers as any
	if err := own.newest(); err != nil {
		return nil, err
	}
	now := s.now().UTC().Truncate(time.Second)
	q := rest.AdmissionRequest{Cluster: s.cluster, Operation: "CREATE", Pod: t.whole, Now: &now, Semantics: s.semantics}
	return s.call(ctx, http.MethodPost, s.asPosted(), q, "v1", "pods", "admission")
}

func (p *page) admission(v *rest.Admission, t target) {
	defer func() {
		if !v.Allowed {
			p.gap()
		}
		p.warnings(v.Warnings)
		for _, n := range v.NotEvaluated {
			p.labelled("NOTE", n.Reason)
		}
	}()
	if !v.Allowed {
		p.head("REFUSED", red, t.String(), "", "")
		p.gap()
		table := newTable("~FIELD", "~WHY")
		for _, e := range v.Errors {
			table.add(e.Field, e.Message)
		}
		p.table(table)
		p.usedUp(v.Quota)
		return
	}
	p.head("ADMITTED", green, t.String(), "", "")
	p.gap()
	spec := &v.Pod.Spec
	if spec.Priority != nil {
		s := fmt.Sprint(*spec.Priority)
		if spec.PriorityClassName != "" {
			s += ", of class " + spec.PriorityClassName
		}
		if spec.PreemptionPolicy != nil && *spec.PreemptionPolicy == corev1.PreemptNever {
			s += ", preempts nobody"
		}
		p.labelled("PRIO", s)
	}
	p.labelled("QOS", string(v.Pod.Status.QOSClass))
	if class := spec.RuntimeClassName; class != nil && len(spec.Overhead) > 0 {
		var amounts []string
		for _, name := range slices.Sorted(maps.Keys(spec.Overhead)) {
			q := spec.Overhead[name]
			amounts = append(amounts, string(name)+"="+q.String())
		}
		p.labelled("ADDED", "overhead "+strings.Join(amounts, ", ")+" of RuntimeClass "+*class)
	}
	if set, is := strings.CutPrefix(v.Pod.Annotations[admission.LimitRangerSet], "LimitRanger plugin set: "); is {
		p.labelled("ADDED", set+", by LimitRanger")
	}
	if n := len(spec.SchedulingGates); n > 0 {
		p.labelled("GATES", plural(n, "scheduling gate")+": it waits until they are removed")
	}
}

// usedUp lists the pods that use a quota up.
func (p *page) usedUp(q *admission.QuotaUse) {
	if q == nil || len(q.Pods) == 0 {
		return
	}
	p.gap()
	table := newTable("USES QUOTA "+q.Name, "OWNER", "AMOUNT")
	for _, pod := range q.Pods {
		var uses []string
		for _, name := range slices.Sorted(maps.Keys(pod.Uses)) {
			uses = append(uses, name+"="+pod.Uses[name])
		}
		table.add(pod.Namespace+"/"+pod.Name, pod.Owner, strings.Join(uses, ", "))
	}
	p.table(table)
	if q.More > 0 {
		p.text(fmt.Sprintf("and %s more", plural(q.More, "pod")))
	}
}
