package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/handlers/rest"
	"berth/internal/podlife"
	"berth/internal/semantics"
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
		q.storage, q.Semantics = storage, a.o.semantics
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
	q.Semantics = a.o.semantics
	var one *podlife.Life
	var raw json.RawMessage
	if l.asIs() && !s.older() && q.Semantics == "" {
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

// lifeQuestion is the body of the REST call.
type lifeQuestion struct {
	rest.LifecycleRequest
	// storage is what the pod's input has of claims, if it is a cluster.
	storage podlife.Storage
}

// question makes the question about a pod; a nil node is not known.
func (l *lifecycle) question(pod target, node json.RawMessage, now time.Time) (*lifeQuestion, error) {
	q := &lifeQuestion{LifecycleRequest: rest.LifecycleRequest{
		Pod: pod.whole, Node: node, MaxContainerRestartPeriod: l.restartPeriod, PreStopSeconds: l.preStop, ExitSeconds: l.exits, ExitCodes: exitCodes(l.codes), Now: &now,
	}}
	if pod.whole == nil {
		q.PodRef = &rest.PodName{Namespace: pod.namespace, Name: pod.name}
	}
	if l.lost != "" {
		t, err := time.Parse(time.RFC3339, l.lost)
		if err != nil {
			return nil, fmt.Errorf("--node-lost-since %q: want a time such as 2026-01-31T12:00:00Z", l.lost)
		}
		q.NodeLostSince = &t
	}
	if l.until != "" {
		t, err := when(l.until, now)
		if err != nil {
			return nil, fmt.Errorf("--until %q: %w", l.until, err)
		}
		q.Until = &t
	}
	for _, text := range l.events {
		e, err := parseEvent(text, now)
		if err != nil {
			return nil, err
		}
		q.Events = append(q.Events, e)
	}
	return q, nil
}

// when reads a time, or how long after now.
func when(text string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil {
		return now.Add(d), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fmt.Errorf("want a duration from now such as 90s, or a time such as 2026-01-31T12:00:00Z")
	}
	return t, nil
}

// parseEvent reads WHAT=VALUE@WHEN with container=NAME and until=WHEN behind commas.
func parseEvent(text string, now time.Time) (e podlife.LifeEvent, err error) {
	parts := strings.Split(text, ",")
	happens, at, found := strings.Cut(parts[0], "@")
	what, value, is := strings.Cut(happens, "=")
	if !found || !is {
		return e, fmt.Errorf("--event %q: want what happens and when, such as exit=1@30s,container=web, liveness=Failure@1m,container=web,until=5m or node=lost@2m", text)
	}
	if e.At, err = when(at, now); err != nil {
		return e, fmt.Errorf("--event %q: %w", text, err)
	}
	switch what {
	case "exit":
		code, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			return e, fmt.Errorf("--event %q: exit=%s: want a whole number", text, value)
		}
		e.ExitCode = new(int32(code))
	case "node":
		e.Node = value
	default:
		e.Probe, e.Result = what, value
	}
	for _, part := range parts[1:] {
		switch name, value, _ := strings.Cut(part, "="); name {
		case "container":
			e.Container = value
		case "until":
			t, err := when(value, now)
			if err != nil {
				return e, fmt.Errorf("--event %q: until: %w", text, err)
			}
			e.Until = &t
		default:
			return e, fmt.Errorf("--event %q: %s: want container=NAME or until=WHEN", text, part)
		}
	}
	return e, nil
}

// ask puts the question to the server. Without one the claims that are beside the pod count, which
// a server takes from its snapshot, and so the rules are asked here.
func (q *lifeQuestion) ask(ctx context.Context, a *app) (*podlife.Life, json.RawMessage, error) {
	if a.o.server == "" {
		return q.here()
	}
	s, err := newServer(a)
	if err != nil {
		return nil, nil, err
	}
	if q.PodRef != nil {
		q.Snapshot = s.snapshot
	}
	raw, err := s.call(ctx, http.MethodPost, nil, q.LifecycleRequest, "v1", "pods", "lifecycle")
	if err != nil {
		return nil, nil, err
	}
	life := &podlife.Life{}
	return life, raw, readInto(raw, life)
}

func (q *lifeQuestion) here() (*podlife.Life, json.RawMessage, error) {
	pod := &corev1.Pod{}
	if err := decodeWhole(q.Pod, pod); err != nil {
		return nil, nil, err
	}
	if bad := podlife.NotTaken(pod, field.NewPath("pod")); bad != nil {
		return nil, nil, bad
	}
	ask := podlife.LifeQuestion{
		Pod: pod, NodeGiven: q.Node != nil, NodeLostSince: q.NodeLostSince, MaxContainerRestartPeriod: q.MaxContainerRestartPeriod, Now: *q.Now,
		Events: q.Events, Until: q.Until, PreStopSeconds: q.PreStopSeconds, ExitSeconds: q.ExitSeconds, ExitCodes: q.ExitCodes,
		Storage: q.storage,
	}
	if q.Semantics != "" {
		var err error
		if ask.Release, err = semantics.Parse(q.Semantics); err != nil {
			return nil, nil, fmt.Errorf("--semantics: %w", err)
		}
	}
	if q.Node != nil && string(q.Node) != "null" {
		ask.Node = &corev1.Node{}
		if err := decodeWhole(q.Node, ask.Node); err != nil {
			return nil, nil, fmt.Errorf("node: %w", err)
		}
	}
	life, errs := podlife.Live(ask)
	if len(errs) > 0 {
		return nil, nil, errs.ToAggregate()
	}
	raw, err := json.Marshal(life)
	return life, raw, err
}
