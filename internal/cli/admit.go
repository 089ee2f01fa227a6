package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/report"
)

// admission is the API's answer.
type admission struct {
	Allowed bool             `json:"allowed"`
	Pod     json.RawMessage  `json:"pod,omitempty"`
	Errors  []admissionFault `json:"errors"`
	// Warnings are what the source has and admission does not apply.
	Warnings []string `json:"warnings,omitempty"`
}

type admissionFault struct {
	Field   string `json:"field"`
	Type    string `json:"type,omitempty"`
	Message string `json:"message"`
}

func (a *app) admitCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "admit -f FILE",
		Short: "Would an API server take this pod, and with which priority?",
		Long: `What an API server would make of a pod that is created: defaults, its priority
by the classes of the source, tolerations, scheduling gates and validation.
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
	v := &admission{}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("read the answer: %w", err)
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

func (s *server) admit(ctx context.Context, t target) (json.RawMessage, error) {
	if err := s.newest(); err != nil {
		return nil, err
	}
	return s.call(ctx, http.MethodPost, map[string]any{"cluster": s.cluster, "operation": "CREATE", "pod": t.whole, "now": s.now().UTC().Format(time.RFC3339)}, "v1", "pods", "admission")
}

func (s *offline) admit(_ context.Context, t target) (json.RawMessage, error) {
	pod := &corev1.Pod{}
	if err := decodeWhole(t.whole, pod); err != nil {
		return nil, fmt.Errorf("pod %s: %w", t, err)
	}
	v := report.Admit(s.view, pod, nil, s.now)
	out := admission{Allowed: len(v.Errors) == 0, Errors: []admissionFault{}, Warnings: report.AdmitWarnings(s.view, pod)}
	for _, e := range v.Errors {
		out.Errors = append(out.Errors, admissionFault{e.Field, string(e.Type), e.ErrorBody()})
	}
	if v.Pod != nil {
		var err error
		if out.Pod, err = json.Marshal(v.Pod); err != nil {
			return nil, fmt.Errorf("write the answer: %w", err)
		}
	}
	return json.Marshal(out)
}

func (p *page) admission(v *admission, t target) {
	if !v.Allowed {
		p.head("REFUSED", red, t.String(), "", "")
		p.gap()
		table := newTable(1, "FIELD", "WHY")
		table.folds = true
		for _, e := range v.Errors {
			table.add(e.Field, e.Message)
		}
		p.table(table)
		return
	}
	var pod struct {
		Spec struct {
			Priority  *int32                   `json:"priority"`
			ClassName string                   `json:"priorityClassName"`
			Policy    *corev1.PreemptionPolicy `json:"preemptionPolicy"`
			Gates     []struct{ Name string }  `json:"schedulingGates"`
		} `json:"spec"`
		Status struct {
			QOS string `json:"qosClass"`
		} `json:"status"`
	}
	_ = json.Unmarshal(v.Pod, &pod) // it is shown as far as it can be read
	p.head("ADMITTED", green, t.String(), "", "")
	p.gap()
	defer p.notes(v.Warnings)
	if pod.Spec.Priority != nil {
		s := fmt.Sprint(*pod.Spec.Priority)
		if pod.Spec.ClassName != "" {
			s += ", of class " + pod.Spec.ClassName
		}
		if pod.Spec.Policy != nil && *pod.Spec.Policy == corev1.PreemptNever {
			s += ", preempts nobody"
		}
		p.labelled("PRIO", s)
	}
	p.labelled("QOS", pod.Status.QOS)
	if n := len(pod.Spec.Gates); n > 0 {
		p.labelled("GATES", plural(n, "scheduling gate")+": it waits until they are removed")
	}
}
