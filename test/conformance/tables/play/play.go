package play

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"berth/test/conformance/oracle"
	"berth/test/conformance/tables/record"
	"berth/test/conformance/trial"
)

// Outcome of a scenario.
type Outcome string

// The outcomes: berth said the same; it said something else; the scenario can't
// be put into objects; berth leaves the plugin out and says so, or something else
// came out of objects that the oracle has no place for.
const (
	Agreed   Outcome = "agreed"
	Differs  Outcome = "differs"
	LeftOut  Outcome = "left out"
	Abstains Outcome = "not evaluated"
)

// Result is what came of a scenario. Why says the reason of a LeftOut; Case is
// that of the first question that differs.
type Result struct {
	Name    string
	Plugin  string
	Outcome Outcome
	Checks  int
	Why     string
	Diffs   []string
	Case    *oracle.Case
}

// Play puts a scenario to berth. An error means that berth can't be reached.
func Play(ctx context.Context, client *trial.Client, s *record.Scenario) (*Result, error) {
	r := &Result{Name: s.Name, Outcome: LeftOut}
	switch {
	case s.Failed:
		r.Why = "upstream's own test fails here"
		return r, nil
	case len(s.Calls) == 0:
		r.Why = noVerdict(s.Name)
		return r, nil
	}
	r.Plugin = s.Calls[0].Plugin
	for i, q := range questions(s) {
		one, err := ask(ctx, client, q, fmt.Sprintf("%s-%d", s.Name, i))
		if err != nil {
			return nil, err
		}
		r.Checks += one.Checks
		switch {
		case r.Outcome == Differs:
		case one.Outcome == Differs, one.Outcome == Abstains && r.Outcome != Differs, one.Outcome == Agreed && r.Outcome == LeftOut:
			r.Outcome, r.Diffs, r.Case = one.Outcome, one.Diffs, one.Case
		case one.Outcome == LeftOut && r.Why == "":
			r.Why = one.Why
			if r.Outcome == LeftOut {
				r.Diffs = one.Diffs
			}
		}
	}
	return r, nil
}

// about tells by a test's name what one that calls no extension point looks at.
var about = []struct {
	name *regexp.Regexp
	why  string
}{
	{regexp.MustCompile(`(?i)schedulableafter|qhint|enqueueextensions|eventstoregister`), "the test looks at a queueing hint or an event, which wake a pod up and are no verdict"},
	{regexp.MustCompile(`(?i)bindpodvolumes|bindapiupdate|checkbindings|assume|prebind|reserve`), "the test looks at what follows the decision: assuming, reserving and binding"},
	{regexp.MustCompile(`Signature`), "the test looks at a pod's signature, by which kube-scheduler groups pods"},
}

// noVerdict returns what a test without a call looks at.
func noVerdict(name string) string {
	for _, a := range about {
		if a.name.MatchString(name) {
			return a.why
		}
	}
	return "the test looks at an inner function, and asks for no verdict"
}

func leftOut(why string) *Result { return &Result{Outcome: LeftOut, Why: why} }

// ask puts one question.
func ask(ctx context.Context, client *trial.Client, q *question, name string) (*Result, error) {
	if why := q.build(name); why != "" {
		return leftOut(why), nil
	}
	pod, err := q.kase.FindPod()
	if err != nil {
		return nil, err
	}
	request := map[string]any{"pod": pod, "preempt": q.phase == preempting}
	if q.only != nil {
		request["nodeNames"] = q.only
	}
	a, err := client.Decide(ctx, q.kase, request)
	var refused *trial.Refused
	switch {
	case errors.As(err, &refused):
		if q.fails(refused) {
			return &Result{Outcome: Agreed, Checks: 1, Case: q.kase}, nil
		}
		if why := invalid(q.kase); why != "" {
			return leftOut("an API server would refuse the objects: " + why), nil
		}
		return &Result{Outcome: Differs, Diffs: []string{err.Error()}, Case: q.kase}, nil
	case err != nil:
		return nil, err
	}
	c := q.compare(a)
	r := &Result{Outcome: Agreed, Checks: c.seen, Diffs: c.diffs, Case: q.kase}
	switch {
	case c.seen == 0 && c.why != "":
		return leftOut(c.why), nil
	case c.seen == 0:
		return leftOut("the test calls the plugin in an order that no cycle has"), nil
	}
	for _, n := range a.NotEvaluated {
		if n.Plugin == q.calls[0].Plugin { // that it agrees would be luck
			r.Outcome = Abstains
			return r, nil
		}
	}
	if len(c.diffs) == 0 {
		return r, nil
	}
	r.Outcome = Differs
	why, err := q.excuse(ctx, a)
	switch {
	case err != nil && noPlace(err):
		r.Outcome = Abstains
	case err != nil:
		r.Diffs = append(r.Diffs, "kube-scheduler as a whole can't be asked: "+err.Error())
	case why != "":
		out := leftOut(why)
		out.Diffs = c.diffs
		return out, nil
	}
	return r, nil
}

// fails reports whether the plugin failed with an error, which ends a cycle of
// kube-scheduler's without a verdict, and that berth gives none either and names
// the same error.
func (q *question) fails(r *trial.Refused) bool {
	var body struct{ Detail string }
	if json.Unmarshal([]byte(r.Body), &body) != nil {
		return false
	}
	return slices.ContainsFunc(q.calls, func(c *record.Call) bool {
		text := strings.Join(c.Reasons, ", ")
		return c.Code == "Error" && text != "" && strings.Contains(body.Detail, text)
	})
}

// noPlace reports whether the oracle doesn't know a kind of object.
func noPlace(err error) bool {
	return strings.Contains(err.Error(), "the oracle has no place") || strings.Contains(err.Error(), "is registered for version")
}

// excuse asks kube-scheduler as a whole, with its default gates and over what the
// case really holds. Where that describes what berth says, the test has put its plugin
// into a world that no cluster has; nothing else excuses a difference. It is not
// judged where the oracle has no place for a kind of object.
func (q *question) excuse(ctx context.Context, a *trial.Answer) (string, error) {
	if why := invalid(q.kase); why != "" {
		return "an API server would refuse the objects: " + why, nil
	}
	v, err := oracle.Judge(ctx, q.kase)
	if err != nil {
		return "", err
	}
	unordered(v, a)
	if v.Outcome == oracle.Failed || len(trial.Compare(v, a, q.phase == preempting)) > 0 {
		return "", nil
	}
	return "under gates, statuses or snapshots of the test's own; kube-scheduler as a whole says what berth says", nil
}

// unordered forgets the order of victims: that of pods without a start time,
// which tests rarely give, is left to chance upstream.
func unordered(v *oracle.Verdict, a *trial.Answer) {
	if v.Preemption != nil {
		for i := range v.Preemption.Candidates {
			slices.Sort(v.Preemption.Candidates[i].Victims)
		}
	}
	if a.Preemption != nil {
		for i := range a.Preemption.Candidates {
			slices.SortFunc(a.Preemption.Candidates[i].Victims, func(x, y oracle.Key) int {
				return strings.Compare(x.Namespace+"/"+x.Name, y.Namespace+"/"+y.Name)
			})
		}
	}
}

var values = regexp.MustCompile(`"[^"]*"|\[[^\]]*\]|\d+`)

// invalid returns what upstream's own validation refuses, without names.
func invalid(c *oracle.Case) string {
	// The oracle may have no place for what else the world holds.
	only := *c
	only.Objects = nil
	for _, raw := range c.Objects {
		var o struct{ Kind string }
		if json.Unmarshal(raw, &o) == nil && (o.Kind == "Pod" || o.Kind == "Node" || o.Kind == "PriorityClass") {
			only.Objects = append(only.Objects, raw)
		}
	}
	list, err := oracle.Invalid(&only)
	if err != nil || len(list) == 0 {
		return ""
	}
	_, what, _ := strings.Cut(slices.Min(list), ": ")
	return values.ReplaceAllString(what, "·")
}
