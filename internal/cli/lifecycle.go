package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/podlife"
)

// lifecycle answers where pods stand and what comes next.
type lifecycle struct {
	file     string
	nodeGone bool
	lost     string // --node-lost-since
	// restartPeriod is the kubelet's maxContainerRestartPeriod.
	restartPeriod         string
	events                []string
	until                 string
	preStop, exits, codes map[string]int64
	now                   string
}

func (a *app) lifecycleCommand() *cobra.Command {
	l := &lifecycle{}
	cmd := &cobra.Command{
		Use:   "lifecycle [POD]",
		Short: "What is its state, and what happens to its containers next?",
		Long: `Phase, kubectl's STATUS column, conditions, and for each container what
happens next and when. Reads the output of kubectl get pod -o json: one pod, or
a List, which is shown as a table. Nodes in the same input are used: a pod on
one that is not Ready is judged accordingly. With --server a pod by name is read
from the server. With --event it is followed from now on: what a container's
end, a probe that fails or the loss of the node leads to, and when.

Exit code 0 if every pod is Ready or has succeeded, 2 if not.`,
		Example: "  kubectl get pod checkout -o json | " + a.name + " lifecycle -\n" +
			"  kubectl get pods,nodes -A -o json | " + a.name + " lifecycle -",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, names []string) error { return l.run(cmd.Context(), a, names) },
	}
	cmd.Flags().StringVarP(&l.file, "filename", "f", "", "file with the pod, or with several")
	cmd.Flags().BoolVar(&l.nodeGone, "node-gone", false, "assume the pod's node has been deleted")
	cmd.Flags().StringVar(&l.lost, "node-lost-since", "", "last heartbeat of the pod's node: shows when the pod is deleted")
	cmd.Flags().StringVar(&l.restartPeriod, "max-container-restart-period", "", "the kubelet's setting: its longest back-off, 1s to 300s")
	cmd.Flags().StringArrayVar(&l.events, "event", nil, "what happens, such as exit=1@30s,container=web, node=lost@2m or liveness=Failure@1m,until=5m")
	cmd.Flags().StringVar(&l.until, "until", "", "up to when events are followed, such as 2h; by default an hour beyond the last")
	cmd.Flags().StringToInt64Var(&l.preStop, "pre-stop", nil, "seconds that a container's preStop hook runs, such as web=5")
	cmd.Flags().StringToInt64Var(&l.exits, "exit", nil, "seconds that a container takes to exit after the signal, such as web=3")
	cmd.Flags().StringToInt64Var(&l.codes, "exit-code", nil, "what it exits with then if not 0, such as web=143")
	cmd.Flags().StringVar(&l.now, "now", "", "time to judge at, such as 2026-01-31T12:00:00Z")
	return cmd
}

// life is an answer as it is shown.
type life struct{ *podlife.Life }

func (l *lifecycle) run(ctx context.Context, a *app, names []string) error {
	if err := a.o.check(); err != nil {
		return err
	}
	now, err := a.moment(l.now)
	if err != nil {
		return err
	}
	if len(names) == 1 && names[0] != stdinName && l.file == "" && a.o.server != "" {
		return l.byName(ctx, a, names[0], now)
	}
	in, err := a.wholePods(ctx, names, l.file)
	if err != nil {
		return err
	}
	lives := make([]life, 0, len(in.pods))
	raws := make([]json.RawMessage, 0, len(in.pods))
	storage := in.storage()
	for _, pod := range in.pods {
		q, err := l.question(pod, in.nodeOf(pod, l.nodeGone), now)
		if err != nil {
			return err
		}
		q.storage = storage
		one, raw, err := q.ask(ctx, a)
		if err != nil {
			return fmt.Errorf("pod %s: %w", pod, err)
		}
		lives, raws = append(lives, life{one}), append(raws, raw)
	}
	return l.show(a, in.pods, lives, raws, now)
}

// byName puts the question about a pod to a server, which knows its node. One about the pod as it
// is now is answered from its story, at the server's time, which needs the role viewer alone.
func (l *lifecycle) byName(ctx context.Context, a *app, name string, now time.Time) error {
	pod, err := a.parse(name)
	if err != nil {
		return err
	}
	s, err := newServer(a)
	if err != nil {
		return err
	}
	var node json.RawMessage
	if l.nodeGone {
		node = json.RawMessage("null")
	}
	q, err := l.question(pod, node, now)
	if err != nil {
		return err
	}
	var one *podlife.Life
	var raw json.RawMessage
	if l.asIs() && !s.older() {
		one, raw, err = l.fromStory(ctx, a, s, pod)
	} else {
		one, raw, err = q.ask(ctx, a)
		err = s.hintOf(ctx, err, pod, "lifecycle")
	}
	if err != nil {
		return err
	}
	return l.show(a, []target{pod}, []life{{one}}, []json.RawMessage{raw}, now)
}

// asIs reports whether the question is about the pod as it is now.
func (l *lifecycle) asIs() bool {
	return !l.nodeGone && l.now == "" && l.lost == "" && l.restartPeriod == "" && len(l.events) == 0 && l.until == "" && len(l.preStop) == 0 && len(l.exits) == 0 && len(l.codes) == 0
}

// fromStory takes the lifecycle out of the server's story of a pod.
func (l *lifecycle) fromStory(ctx context.Context, a *app, s *source, pod target) (*podlife.Life, json.RawMessage, error) {
	st, err := s.story(ctx, pod)
	if err != nil {
		return nil, nil, err
	}
	if st == nil || st.Lifecycle == nil {
		return nil, nil, &problem{
			what: fmt.Sprintf("the server has no pod %s in the newest snapshot of %s", pod, s.cluster),
			next: "Pass the full object: kubectl get pod NAME -o json | " + a.name + " lifecycle -",
		}
	}
	raw, err := json.Marshal(st.Lifecycle)
	return st.Lifecycle, raw, err
}

// show shows the answers, and reports whether all are well.
func (l *lifecycle) show(a *app, pods []target, lives []life, raws []json.RawMessage, now time.Time) error {
	p := a.page()
	var err error
	switch {
	case a.o.output == formJSON && len(raws) == 1:
		err = a.json(raws[0])
	case a.o.output == formJSON:
		err = a.jsonLines(pods, raws)
	case len(lives) == 1:
		p.life(pods[0], lives[0], now)
		err = p.end(a)
	default:
		p.lives(pods, lives, now)
		err = p.end(a)
	}
	if err != nil {
		return err
	}
	for _, one := range lives {
		if !one.well() {
			return errNo
		}
	}
	return nil
}

// jsonLines writes an object a line, each with the name of its pod.
func (a *app) jsonLines(pods []target, raws []json.RawMessage) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	for i, raw := range raws {
		line := struct {
			Namespace string          `json:"namespace"`
			Name      string          `json:"name"`
			Lifecycle json.RawMessage `json:"lifecycle"`
		}{pods[i].namespace, pods[i].name, raw}
		if err := enc.Encode(line); err != nil {
			return fmt.Errorf("write the answer: %w", err)
		}
	}
	_, err := a.Out.Write(out.Bytes())
	return err
}

// condition returns a condition's status; empty without one.
func (l life) condition(name corev1.PodConditionType) corev1.ConditionStatus {
	for i := range l.Conditions {
		if l.Conditions[i].Type == name {
			return l.Conditions[i].Status
		}
	}
	return ""
}

// well reports whether nothing is wrong.
func (l life) well() bool {
	return l.Phase == corev1.PodSucceeded || l.Phase == corev1.PodRunning && l.condition(corev1.PodReady) == corev1.ConditionTrue
}

func (l life) colour() colour {
	switch {
	case l.well():
		return green
	case l.Phase == corev1.PodFailed:
		return red
	}
	return yellow
}

func (p *page) life(pod target, l life, now time.Time) {
	beside := "phase " + string(l.Phase)
	if l.Ready != "" {
		beside += ", ready " + l.Ready
	}
	word := l.Status
	if word == "" { // kubectl prints nothing either; a verdict is a word
		word = strings.ToUpper(string(l.Phase))
	}
	if l.StatusAfter != "" {
		beside = "after " + l.StatusAfter + ", " + beside
	}
	p.head(word, l.colour(), pod.String(), beside, "")
	p.gap()
	p.labelled("PHASE", l.PhaseRule.Text)
	p.labelled("STATUS", l.StatusRule.Text)
	p.lastRuns(l, now)
	if at := l.DeadlineAt; at != nil {
		p.labelled("UNTIL", fmt.Sprintf("%s: then its activeDeadlineSeconds fail it, in %s", clock(*at, now), ahead(at.Sub(now))))
	}
	if d := l.NodeDeletion; d != nil && d.Rule.ID != "node-deletion/none" {
		p.labelled("DELETED", deletionText(d, now))
	}
	if len(l.Containers) > 0 {
		p.gap()
		t := newTable(4, "CONTAINER", "KIND", "STATE", ">RESTARTS", "NEXT")
		for i := range l.Containers {
			c := &l.Containers[i]
			t.add(c.Name, string(c.Kind), stateOf(c), fmt.Sprint(c.RestartCount), nextFor(c, now))
		}
		p.table(t)
	}
	if len(l.Conditions) > 0 {
		p.gap()
		t := newTable(3, "CONDITION", "STATUS", "REASON", "MESSAGE")
		for i := range l.Conditions {
			c := &l.Conditions[i]
			t.add(string(c.Type), string(c.Status), c.Reason, c.Message)
		}
		p.table(t)
	}
	p.gap()
	p.reasons(l)
	p.ends(l)
	p.follows(l.Timeline, now)
	if l.Message != "" {
		p.labelled("SAYS", l.Message)
	}
}

// reasons prints why the next step is what it is, once for containers that are alike.
func (p *page) reasons(l life) {
	names := map[string][]string{}
	var texts []string
	for i := range l.Containers {
		c := &l.Containers[i]
		if c.Next.Rule.Text == "" || c.Next.Rule.ID == "next/running" {
			continue
		}
		if names[c.Next.Rule.Text] == nil {
			texts = append(texts, c.Next.Rule.Text)
		}
		names[c.Next.Rule.Text] = append(names[c.Next.Rule.Text], c.Name)
	}
	for _, text := range texts {
		p.labelled("NEXT", someNames(names[text])+": "+text)
	}
}

func stateOf(c *podlife.LifeContainer) string {
	s := c.State
	if c.Reason != "" {
		s = c.Reason
	}
	if c.ExitCode != nil {
		s += fmt.Sprintf(" (%d)", *c.ExitCode)
	}
	return s
}

// nextFor says in a few words what happens to a container.
func nextFor(c *podlife.LifeContainer, now time.Time) string {
	switch n := &c.Next; n.Action {
	case "backoff":
		if n.At == nil {
			return "tried again later"
		}
		if left := n.At.Sub(now); left > 0 {
			return fmt.Sprintf("restart in %s, at %s", ahead(left), clock(*n.At, now))
		}
		return "restart now"
	case "start", "restart":
		return string(n.Action) + " now"
	case "wait":
		if len(n.For) > 0 {
			return "waits for " + someNames(n.For)
		}
		return "waits"
	case "leave":
		return "-"
	default:
		return string(n.Action)
	}
}
