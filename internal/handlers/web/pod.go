package web

import (
	"fmt"
	"html/template"
	"slices"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/handlers/rest"
	"berth/internal/report"
)

// podView is one pod's story with the decision that it would get now.
type podView struct {
	report.Story
	// Verdict is a decision now, nil where there is none to make; VerdictError is why not.
	Verdict      *verdictView
	VerdictError string
	// After is the decision without the pod's gates.
	After *report.Verdict
	Strip template.HTML
}

func podPath(v *visit) []string { return []string{"pods", v.param("namespace"), v.param("name")} }

func podData(v *visit) string {
	return v.ofCluster(podPath(v), "attempts", "suggest", "snapshot", "now")
}

func loadPod(v *visit) (string, any, error) {
	st := &report.Story{}
	if err := v.get(podData(v), st); err != nil {
		return "", nil, err
	}
	view := podOf(st)
	if now := view.Now; now != nil && now.Error != "" {
		view.VerdictError = now.Error
	} else if now != nil {
		answer, err := v.dryRun(&view.Story)
		if forbids(err) { // viewers may not ask for decisions, and the story has one
			answer, err = answerOf(&view.Story), nil
		}
		if err != nil {
			return "", nil, err
		}
		answer.Suggestions = view.Suggestions
		view.Verdict = verdictOf(answer)
	}
	return view.Pod.Namespace + "/" + view.Pod.Name, view, nil
}

func podOf(st *report.Story) *podView {
	return &podView{Story: *st, Strip: stripOf(st.Attempts), After: st.AfterGates}
}

// dryRun decides about the pod of a story on the story's revision: with groups, and with the scores
// of the best nodes where it fits.
func (v *visit) dryRun(st *report.Story) (*decision.Answer, error) {
	ask := rest.DecisionRequest{
		Snapshot: st.Snapshot, PodRef: &rest.PodName{Namespace: st.Pod.Namespace, Name: st.Pod.Name},
		Explain: string(engine.ExplainGroups), DryRun: true, Now: &st.At,
	}
	if st.Now.Outcome == engine.Scheduled {
		ask.Explain = string(engine.ExplainFailures)
		if v.query.Get("scores") == "all" {
			ask.Explain = string(engine.ExplainFull)
		}
	}
	answer := &decision.Answer{}
	return answer, v.post("/v1/decisions", ask, answer)
}

// answerOf returns what a story says of a decision now.
func answerOf(st *report.Story) *decision.Answer {
	n := st.Now
	return &decision.Answer{
		Cluster: st.Cluster, Snapshot: st.Snapshot, Groups: n.Groups, Decision: engine.Decision{
			Outcome: n.Outcome, Node: n.Node, NominatedNode: n.NominatedNode, Message: n.Message, Counts: n.Counts, NotEvaluated: n.NotEvaluated,
			Preemption: &engine.Preemption{Node: n.NominatedNode, Victims: n.Victims, StartsWithinSeconds: n.StartsWithinSeconds},
		},
	}
}

// stripOf draws a story's attempts, the oldest first.
func stripOf(attempts []report.Attempt) template.HTML {
	cells := make([]stripCell, 0, len(attempts))
	for _, a := range slices.Backward(attempts) {
		title := fmt.Sprintf("%s, %d times until %s", a.Outcome, a.Count, a.Last.UTC().Format("2006-01-02 15:04:05"))
		cells = append(cells, stripCell{Class: outcomeClass(a.Outcome), Title: title, Count: a.Count})
	}
	return strip(cells)
}

// outcomeClass is the colour of an outcome; its word always stands beside it.
func outcomeClass(outcome string) string {
	switch engine.Outcome(outcome) {
	case engine.Scheduled:
		return "good"
	case engine.Preempting:
		return "warn"
	case engine.Gated:
		return "out"
	}
	return "bad"
}
