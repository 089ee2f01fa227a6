package lifecycle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Client is berth's side.
type Client struct {
	Base string
	HTTP *http.Client
}

// Judge asks berth. Broken promises of an answer by itself, such as a statement
// without a rule, are an error.
func (c *Client) Judge(q *Case) (v Verdict, err error) {
	body, err := q.Body()
	if err != nil {
		return v, err
	}
	resp, err := c.HTTP.Post(c.Base+"/v1/pods/lifecycle", "application/json", bytes.NewReader(body))
	if err != nil {
		return v, err
	}
	defer func() { _ = resp.Body.Close() }()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		return v, err
	}
	if resp.StatusCode != http.StatusOK {
		return v, fmt.Errorf("%d %s", resp.StatusCode, out)
	}
	return read(out, q.Now)
}

type rule struct{ ID, Text string }

func (r rule) check(of string) error {
	if r.ID == "" || r.Text == "" || !strings.Contains(r.ID, "/") || strings.Contains(r.Text, "%!") {
		return fmt.Errorf("%s has no rule: %+v", of, r)
	}
	return nil
}

func read(body []byte, now time.Time) (v Verdict, err error) {
	var a struct {
		Phase, Status, Ready, Restarts string
		Reason, Message                string
		PhaseRule, StatusRule          rule
		Conditions                     []struct {
			Type, Status, Reason, Message string
			ObservedGeneration            int64
			LastTransitionTime            time.Time
			Rule                          rule
		}
		Containers []struct {
			Name, Kind, State, Reason string
			RestartCount              int32
			Rule                      rule
			Next                      struct {
				Action                           string
				At                               *time.Time
				BackoffSeconds, RemainingSeconds int64
				For                              []string
				Rule                             rule
			}
		}
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return v, err
	}
	v = Verdict{Phase: a.Phase, Status: a.Status, Ready: a.Ready, Restarts: a.Restarts, Reason: a.Reason, Message: a.Message}
	rules := map[string]rule{"the phase": a.PhaseRule, "the status": a.StatusRule}
	for _, c := range a.Conditions {
		rules["condition "+c.Type] = c.Rule
		v.Conditions = append(v.Conditions, Condition{c.Type, c.Status, c.Reason, c.Message, c.ObservedGeneration, shown(c.LastTransitionTime)})
	}
	for _, c := range a.Containers {
		rules["container "+c.Name], rules["next of "+c.Name] = c.Rule, c.Next.Rule
		out := Container{Name: c.Name, Kind: c.Kind, State: c.State, Reason: c.Reason, Action: c.Next.Action, RestartCount: c.RestartCount}
		if c.Next.Rule.ID == "next/restart-of-all" && c.Kind != "ephemeral" {
			out.Action = "reset"
		}
		if at := c.Next.At; at != nil {
			out.At = shown(*at)
			if left := at.Sub(now); c.Next.BackoffSeconds < 10 || c.Next.RemainingSeconds != int64((left+time.Second-1)/time.Second) {
				return v, fmt.Errorf("back-off of %s: %+v at %s", c.Name, c.Next, now)
			}
		}
		v.Containers = append(v.Containers, out)
	}
	for of, r := range rules {
		if err := r.check(of); err != nil {
			return v, err
		}
	}
	return v, nil
}
