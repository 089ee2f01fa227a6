package trial

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"berth/test/conformance/gen"
	"berth/test/conformance/oracle"
)

// failsEveryPod is how berth refuses a configuration under which upstream starts
// and no cycle ends well.
const failsEveryPod = "kube-scheduler would fail every pod"

// named are the words in which berth refuses by name what kube-scheduler starts
// with: it could not answer for it.
var named = []string{
	", and berth runs no others", // a plugin from outside, and so unknown
	failsEveryPod,
}

const plainPod = `{"metadata":{"name":"plain"},"spec":{"containers":[{"name":"c"}]}}`

// Reading is what came of one configuration. Kind describes how both took it.
type Reading struct {
	Kind   string
	Config []byte
	Diffs  []Difference
}

// ReadSettings draws the configuration of a seed and compares whether both accept
// it, and where they do what they decide under it.
func ReadSettings(ctx context.Context, client *Client, seed uint64) (*Reading, error) {
	out := &Reading{Config: gen.Settings(seed)}
	want := oracle.Accept(ctx, out.Config)
	c, err := gen.Case(seed, gen.Options{MaxNodes: 8, MaxPods: 12})
	if err != nil {
		return nil, err
	}
	if c.Config, err = document(out.Config); err != nil {
		return nil, err
	}
	// A pod that nothing can be said against, so that a refusal is about the configuration.
	_, err = client.Decide(ctx, &oracle.Case{Config: c.Config}, map[string]any{"pod": json.RawMessage(plainPod)})
	var refused *Refused
	if err != nil && !errors.As(err, &refused) {
		return nil, err
	}
	about := refused != nil && refused.Status == http.StatusUnprocessableEntity && strings.Contains(refused.Body, `"detail":"config:`)
	switch {
	case refused != nil && !about:
		out.differ("status", "an answer or 422 about the configuration", refused.Error())
	case want.Refused != nil && about:
		out.Kind = "both refuse"
	case want.Refused != nil:
		out.differ("accepted", want.Refused.Error(), "accepted")
	case about && want.Overlooked != nil:
		out.Kind = "berth refuses arguments that kube-scheduler overlooks"
	case about && isNamed(refused.Body):
		out.Kind = "berth refuses by name"
	case about:
		out.differ("refused", "accepted", refused.Body)
	case want.Ignoring:
		out.Kind = "both accept, resources are left to extenders"
	default:
		return out.decide(ctx, client, c)
	}
	return out, nil
}

func (r *Reading) differ(class, want, got string) {
	r.Diffs = append(r.Diffs, Difference{Class: class, Path: class, Want: want, Got: got})
}

// decide compares what both decide under a configuration that both accept.
func (r *Reading) decide(ctx context.Context, client *Client, c *oracle.Case) (*Reading, error) {
	invalid, err := oracle.Invalid(c)
	if err != nil {
		return nil, err
	}
	if len(invalid) > 0 {
		r.Kind = "both accept, the case is invalid"
		return r, nil
	}
	answer, err := client.Ask(ctx, c)
	var refused *Refused
	if err != nil && !errors.As(err, &refused) {
		return nil, err
	}
	c.Config = r.Config // upstream reads the document itself
	verdict, err := oracle.Judge(ctx, c)
	if err != nil {
		return nil, err
	}
	switch {
	case verdict.Outcome == oracle.Failed:
		r.Kind = "both accept, the cycle fails"
	case refused != nil:
		r.differ("http", verdict.Outcome, refused.Error())
	default:
		r.Kind = "both accept and decide"
		r.Diffs = Compare(verdict, answer, Preempts(c))
	}
	return r, nil
}

func isNamed(body string) bool {
	for _, words := range named {
		if strings.Contains(body, words) {
			return true
		}
	}
	return false
}

// document returns a configuration as the API takes it: an object, or YAML in a string.
func document(raw []byte) (json.RawMessage, error) {
	if json.Valid(raw) {
		return raw, nil
	}
	return json.Marshal(string(raw))
}
