package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"berth/internal/handlers"
	"berth/internal/kube/follow"
	"berth/internal/podlife"
)

// question makes the question about the one pod of an input.
func (t *termination) question(ctx context.Context, a *app, in *input, now time.Time) (*handlers.TerminationRequest, error) {
	q := &handlers.TerminationRequest{
		Pod: in.pods[0].whole, Cause: t.cause, Force: t.force, Container: t.container, PreStopSeconds: t.preStop,
		EvictionMaxPodGracePeriod: t.softMax, Node: in.nodeOf(in.pods[0], t.nodeGone), ExitSeconds: t.exits, ExitCodes: exitCodes(t.codes), HookFails: t.hookFails, Now: &now,
	}
	if q.Pod == nil {
		q.PodRef = &handlers.PodName{Namespace: in.pods[0].namespace, Name: in.pods[0].name}
	}
	if t.hasGrace {
		q.GracePeriodSeconds = &t.grace
	}
	if t.lostSince != "" {
		since, err := time.Parse(time.RFC3339, t.lostSince)
		if err != nil {
			return nil, fmt.Errorf("--node-lost-since %q: want a time such as 2026-01-31T12:00:00Z", t.lostSince)
		}
		q.NodeLostSince = &since
	}
	evicts := t.cause == string(podlife.CauseAPIEviction)
	for _, text := range t.then {
		f, err := parseFollowing(text)
		if err != nil {
			return nil, err
		}
		q.Then, evicts = append(q.Then, f), evicts || f.Cause == podlife.CauseAPIEviction
	}
	if !evicts {
		return q, nil
	}
	if l, err := a.live(); err == nil && l != nil && in.budgets == nil && in.whole {
		if err := follow.Whole(ctx, l.config, kindBudget, in.pods[0].namespace, "", func(js []byte) error { return in.add(kindBudget, js) }); err != nil {
			return nil, l.cannot(err)
		}
	}
	q.Budgets = in.budgets
	return q, nil
}

// exitCodes are those of a question; one that is no exit code is refused as such.
func exitCodes(codes map[string]int64) map[string]int32 {
	out := make(map[string]int32, len(codes))
	for name, code := range codes {
		out[name] = int32(max(min(code, math.MaxInt32), math.MinInt32))
	}
	return out
}

// parseFollowing reads CAUSE@SECONDS, with grace-period=N or force behind commas.
func parseFollowing(text string) (f podlife.Following, err error) {
	bad := fmt.Errorf("--then %q: want a cause and when, such as evict-hard@10s or delete@10s,grace-period=5", text)
	parts := strings.Split(text, ",")
	cause, when, found := strings.Cut(parts[0], "@")
	after, err := time.ParseDuration(when)
	if !found || err != nil || after%time.Second != 0 {
		return f, bad
	}
	f.Cause, f.AfterSeconds = podlife.Cause(cause), int64(after/time.Second)
	for _, part := range parts[1:] {
		switch name, value, _ := strings.Cut(part, "="); name {
		case "force":
			f.Force = true
		case "grace-period":
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return f, bad
			}
			if n >= 0 || f.Cause == podlife.CauseShutdown {
				f.GracePeriodSeconds = &n
			}
		default:
			return f, bad
		}
	}
	return f, nil
}

// terminate puts the question to the server, or to the API in this process.
func (a *app) terminate(ctx context.Context, q *handlers.TerminationRequest) (json.RawMessage, error) {
	ask := newServer
	if a.o.server == "" {
		ask = func(a *app) (*source, error) { return a.here(&dump{}, nil) }
	}
	s, err := ask(a)
	if err != nil {
		return nil, err
	}
	if q.PodRef == nil {
		return s.call(ctx, http.MethodPost, s.asPosted(), q, "v1", "pods", "termination")
	}
	q.Snapshot = s.snapshot
	raw, err := s.call(ctx, http.MethodPost, nil, q, "v1", "pods", "termination")
	return raw, s.hintOf(ctx, err, target{namespace: q.PodRef.Namespace, name: q.PodRef.Name}, "termination")
}
