package rules

import "berth/internal/engine"

// abstain stands for a plugin that this version does not evaluate: it rejects
// and scores nobody, and says so where the pod gives the plugin something to
// judge.
type abstain struct {
	name   string
	judges func(*engine.Query) string // what the plugin would have judged; "" for nothing
}

var _ engine.Abstainer = abstain{}

// Name is the plugin's name.
func (a abstain) Name() string { return a.name }

// NotEvaluated says what was left out.
func (a abstain) NotEvaluated(q *engine.Query) (string, bool) {
	what := a.judges(q)
	if what == "" {
		return "", false
	}
	return "this version of berth does not evaluate " + what, true
}

func judgesDevices(q *engine.Query) string {
	if len(q.Pod.Spec.ResourceClaims) > 0 {
		return "resource claims, which the pod has"
	}
	return ""
}
