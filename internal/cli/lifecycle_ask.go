package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/handlers"
	"berth/internal/podlife"
)

// lifeQuestion is the body of the REST call.
type lifeQuestion struct {
	handlers.LifecycleRequest
	// storage is what the pod's input has of claims, if it is a cluster.
	storage podlife.Storage
}

// question makes the question about a pod; a nil node is not known.
func (l *lifecycle) question(pod target, node json.RawMessage, now time.Time) (*lifeQuestion, error) {
	q := &lifeQuestion{LifecycleRequest: handlers.LifecycleRequest{
		Pod: pod.whole, Node: node, MaxContainerRestartPeriod: l.restartPeriod, PreStopSeconds: l.preStop, ExitSeconds: l.exits, ExitCodes: exitCodes(l.codes), Now: &now,
	}}
	if pod.whole == nil {
		q.PodRef = &handlers.PodName{Namespace: pod.namespace, Name: pod.name}
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
