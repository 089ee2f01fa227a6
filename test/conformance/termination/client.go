package termination

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	corev1 "k8s.io/api/core/v1"
)

// Client is berth's side.
type Client struct{ Base string }

func (c *Client) post(path string, body, into any) error {
	js, err := json.Marshal(body)
	if err != nil {
		return err
	}
	resp, err := http.Post(c.Base+path, "application/json", bytes.NewReader(js))
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("POST %s: %d %s", path, resp.StatusCode, out)
	}
	return json.Unmarshal(out, into)
}

// End asks berth how a pod ends, and holds the answer's timeline to its numbers.
func (c *Client) End(q Question) (e Ending, err error) {
	var a struct {
		GracePeriodSeconds     int64
		DeletionTimestamp      string
		EvictionTimeoutSeconds int64
		Refused                *struct{ ID string }
		Phase                  string
		PhaseIfAllExitZero     string
		Reason                 string
		Containers             []struct {
			Name                           string
			StopTimeoutSeconds             int64
			SignalAtSeconds, KillAtSeconds int64
			PreStopSeconds                 *int64
		}
		Timeline []struct {
			OffsetSeconds           int64
			Actor, Event, Container string
		}
	}
	if err := c.post("/v1/pods/termination", q, &a); err != nil {
		return e, err
	}
	e = Ending{Period: a.GracePeriodSeconds, Deletion: a.DeletionTimestamp, Eviction: a.EvictionTimeoutSeconds, Timeouts: map[string]int64{}}
	if e.Reason = a.Reason; a.Refused != nil {
		return Ending{Refused: true, Timeouts: e.Timeouts}, nil
	}
	e.Phase, e.Zero = last(a.Phase), last(cmp.Or(a.PhaseIfAllExitZero, a.Phase))
	for _, s := range a.Containers {
		e.Timeouts[s.Name] = s.StopTimeoutSeconds
		if s.KillAtSeconds-s.SignalAtSeconds != s.StopTimeoutSeconds {
			return e, fmt.Errorf("%s: signal at %d, killed at %d, timeout %d", s.Name, s.SignalAtSeconds, s.KillAtSeconds, s.StopTimeoutSeconds)
		}
		found := false
		for i, ev := range a.Timeline {
			if i > 0 && ev.OffsetSeconds < a.Timeline[i-1].OffsetSeconds {
				return e, fmt.Errorf("the timeline goes back at %d", i)
			}
			found = found || ev.Container == s.Name && ev.Event == "SIGKILL" && ev.OffsetSeconds == s.KillAtSeconds
		}
		if !found {
			return e, fmt.Errorf("%s: no SIGKILL at %d", s.Name, s.KillAtSeconds)
		}
	}
	return e, nil
}

// last is a phase that a pod ends in; "" for any other.
func last(phase string) string {
	if phase == string(corev1.PodSucceeded) || phase == string(corev1.PodFailed) {
		return phase
	}
	return ""
}

// Compare says in words how two sides differ; "" where they agree. The stop
// timeouts are compared where they were measured, else the containers' names.
func Compare(q Question, want, got Ending) string {
	out := ""
	differ := func(what string, w, g any) {
		if fmt.Sprint(w) != fmt.Sprint(g) {
			out += fmt.Sprintf("%s: want %v, got %v\n", what, w, g)
		}
	}
	if differ("refused", want.Refused, got.Refused); want.Refused || got.Refused {
		return out
	}
	differ("gracePeriodSeconds", want.Period, got.Period)
	differ("deletionTimestamp", want.Deletion, got.Deletion)
	differ("evictionTimeoutSeconds", want.Eviction, got.Eviction)
	if want.Judged {
		differ("phase", want.Phase, got.Phase)
		differ("phaseIfAllExitZero", want.Zero, got.Zero)
		differ("reason", want.Reason, got.Reason)
	}
	if want.Timeouts != nil {
		differ("stopTimeoutSeconds", want.Timeouts, got.Timeouts)
		return out
	}
	names := map[string]bool{}
	for _, n := range Running(q) {
		names[n] = true
	}
	if q.Container != "" {
		names = map[string]bool{q.Container: true}
	}
	has := map[string]bool{}
	for n := range got.Timeouts {
		has[n] = true
	}
	differ("containers", names, has)
	return out
}
