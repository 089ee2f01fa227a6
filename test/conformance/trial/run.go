package trial

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"berth/test/conformance/gen"
	"berth/test/conformance/oracle"
)

// timedOut is the reason of a node on which a search for devices took too long, until v1.35.
const timedOut = "timed out trying to allocate devices"

// Result is what came of one seed.
type Result struct {
	Case    *oracle.Case
	Diffs   []Difference
	Skipped string // why the case was not tried
}

// One draws the case of a seed, judges it and tries the server.
func One(ctx context.Context, client *Client, seed uint64, opts gen.Options) (*Result, error) {
	c, err := gen.Case(seed, opts)
	if err != nil {
		return nil, err
	}
	return Try(ctx, client, c)
}

// Try judges a case and compares. An error means that the trial itself broke:
// the server can't be reached or upstream couldn't be asked.
func Try(ctx context.Context, client *Client, c *oracle.Case) (*Result, error) {
	r := &Result{Case: c}
	invalid, err := oracle.Invalid(c)
	if err != nil {
		return nil, err
	}
	if len(invalid) > 0 {
		r.Skipped = "invalid: " + invalid[0]
		return r, nil
	}
	if c.Verdict, err = oracle.Judge(ctx, c); err != nil {
		return nil, err
	}
	devices := strings.Contains(c.Verdict.Message, "DynamicResources") && !strings.HasPrefix(c.Verdict.Message, "dry run") && !strings.Contains(c.Verdict.Message, "timed out")
	if c.Verdict.Outcome == oracle.Failed && (devices || strings.Contains(c.Verdict.Message, " panics: ")) {
		// Upstream retries such a cycle; berth must not answer it either. Where only the search for
		// victims fails the pod is unschedulable all the same.
		var refused *Refused
		answer, err := client.Ask(ctx, c)
		switch {
		case err == nil:
			r.Diffs = []Difference{{Class: "http", Path: "http", Want: c.Verdict.Message, Got: answer.Outcome}}
			return r, nil
		case !errors.As(err, &refused):
			return nil, err
		}
	}
	if c.Verdict.Outcome == oracle.Failed {
		r.Skipped = "cycle failed: " + c.Verdict.Message
		return r, nil
	}
	if slices.ContainsFunc(c.Verdict.Failures, func(f oracle.Failure) bool { return slices.Contains(f.Reasons, timedOut) }) {
		r.Skipped = timedOut // how long a search takes is for the machine to say
		return r, nil
	}
	answer, err := client.Ask(ctx, c)
	var refused *Refused
	switch {
	case errors.As(err, &refused) && strings.Contains(err.Error(), "gave up trying to allocate devices"):
		// Bounded by steps where upstream has a timeout: rules/plugins.md says so.
		r.Skipped = "cycle failed: berth gave up a search for devices"
	case errors.As(err, &refused) && len(c.Odd) > 0 && strings.Contains(refused.Body, failsEveryPod):
		// Upstream fails a cycle only where it comes to the filter or score that lacks what it
		// reads.
		r.Skipped = "berth refuses the configuration: " + failsEveryPod
	case errors.As(err, &refused):
		r.Diffs = []Difference{{Class: "http", Path: "http", Want: c.Verdict.Outcome, Got: err.Error()}}
	case err != nil:
		return nil, err
	default:
		r.Diffs = Compare(c.Verdict, answer, Preempts(c))
		if client.All {
			alone, err := oracle.Alone(ctx, c)
			if err != nil {
				return nil, err
			}
			r.Diffs = append(r.Diffs, CompareAlone(alone, answer)...)
		}
	}
	return r, nil
}

// Shrink makes a differing case small, as long as holds is true of its differences.
func Shrink(ctx context.Context, client *Client, r *Result, holds func([]Difference) bool) (*Result, error) {
	small := Minimise(ctx, r.Case, func(ctx context.Context, c *oracle.Case) bool {
		got, err := Try(ctx, client, c)
		if err != nil {
			return false
		}
		return holds(got.Diffs)
	})
	out, err := Try(ctx, client, small)
	if err != nil {
		return nil, fmt.Errorf("try the minimised case: %w", err)
	}
	return out, nil
}
