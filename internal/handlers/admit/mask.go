package admit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/access"
	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/engine/explain/suggest"
	"berth/internal/engine/state"
	"berth/internal/handlers/exchange"
	"berth/internal/revision"
)

// MayPod is MayIn for what is about one pod: a grant for the pod's namespace is enough where the
// route masks.
func MayPod(ctx context.Context, right access.Right, name, namespace string) error {
	if err := mayDo(ctx, right, exchange.NeedOf(ctx).Scope == exchange.SomeNamespaces, name); err != nil || access.From(ctx).Grants.May(right, name, namespace) {
		return err
	}
	if namespace == "" {
		return forbidden(right, fmt.Sprintf("all namespaces of cluster %q, since what you ask for is in none", name))
	}
	return forbidden(right, fmt.Sprintf("namespace %q of cluster %q", namespace, name))
}

// StoryLog has decisions and the queue whole, since a story counts what it does not name.
type StoryLog struct{ guardedDecisions }

// Decide implements report.Log: dry runs about pods that the caller may see.
func (l StoryLog) Decide(ctx context.Context, q decision.Question) (*decision.Answer, error) {
	if !q.DryRun {
		return nil, exchange.Internal(errors.New("a story that would record a decision"))
	}
	if err := MayPod(ctx, access.View, q.Cluster, namespaceOf(&q)); err != nil {
		return nil, err
	}
	return l.all.Decide(ctx, q)
}

// Queue implements report.Log.
func (l StoryLog) Queue(ctx context.Context, v *revision.View, runs state.Runs, class func(name string) *schedulingv1.PriorityClass, when record.When) (*record.Queue, error) {
	if err := MayIn(ctx, v.Cluster); err != nil {
		return nil, err
	}
	return l.all.Queue(ctx, v, runs, class, when)
}

// seesAll reports whether the caller may see all of a cluster: mask takes nothing out.
func seesAll(ctx context.Context, cluster string) bool {
	return access.From(ctx).Grants.May(access.View, cluster, "")
}

// Mask takes out of an answer what is about pods of namespaces that the caller may not see: it
// counts victims, and leaves out changes of others' objects, other lists, and terms of other pods.
// What is left is the pod's own and the nodes'.
func Mask(ctx context.Context, ans *decision.Answer) {
	if seesAll(ctx, ans.Cluster) {
		return
	}
	who := access.From(ctx)
	hidden := func(namespace string) bool { return !who.Grants.May(access.View, ans.Cluster, namespace) }
	note := func(n int, what string) {
		if n > 0 {
			ans.Notes = append(ans.Notes, fmt.Sprintf("%s: %d pods of other namespaces", what, n))
		}
	}
	if ans.Preemption != nil {
		p := *ans.Preemption
		victims := slices.DeleteFunc(slices.Clone(p.Victims), func(v engine.Victim) bool { return hidden(v.Namespace) })
		note(len(p.Victims)-len(victims), "victims")
		cleared := slices.DeleteFunc(slices.Clone(p.ClearedNominations), func(r engine.PodRef) bool { return hidden(r.Namespace) })
		note(len(p.ClearedNominations)-len(cleared), "cleared nominations")
		waitsFor := slices.DeleteFunc(slices.Clone(p.WaitsFor), func(r engine.PodRef) bool { return hidden(r.Namespace) })
		note(len(p.WaitsFor)-len(waitsFor), "earlier victims")
		p.Victims, p.ClearedNominations, p.WaitsFor = victims, cleared, waitsFor
		p.CandidatesOmitted += len(p.Candidates)
		p.Reprieved, p.Candidates, p.Rounds, p.NotCandidates = nil, nil, nil, nil
		ans.Preemption = &p
	}
	ans.Groups = slices.Clone(ans.Groups)
	for i := range ans.Groups {
		g := &ans.Groups[i]
		g.Detail, g.Also = maskTerm(g.Reason, g.Detail), slices.Clone(g.Also)
		if g.Nearest != nil {
			near := *g.Nearest
			near.Detail = maskDetails([]engine.Detail{near.Detail}, hidden)[0]
			g.Nearest = &near
		}
		for j := range g.Also {
			g.Also[j].Detail = maskTerm(g.Also[j].Reason, g.Also[j].Detail)
		}
	}
	if n := ans.Narrowed; n != nil {
		masked := *n
		masked.Obstacles = slices.Clone(n.Obstacles)
		for i := range masked.Obstacles {
			o := &masked.Obstacles[i]
			o.Detail = maskTerm(o.Reason, o.Detail)
			if slices.ContainsFunc(o.Holders, func(h suggest.Holder) bool { return hidden(h.Namespace) }) {
				o.Holders, o.AllHeld = nil, false
			}
		}
		ans.Narrowed = &masked
	}
	suggested := len(ans.Suggestions)
	ans.Suggestions = slices.DeleteFunc(slices.Clone(ans.Suggestions), func(s suggest.Suggestion) bool {
		return slices.ContainsFunc(append(slices.Clone(s.Edits), s.Edit), func(e suggest.Edit) bool { return e.Namespace != "" && hidden(e.Namespace) })
	})
	if n := suggested - len(ans.Suggestions); n > 0 {
		ans.Notes = append(ans.Notes, fmt.Sprintf("suggestions: %d change objects of other namespaces", n))
	}
	for i := range ans.Suggestions {
		s := &ans.Suggestions[i]
		s.Cures = slices.Clone(s.Cures)
		for j := range s.Cures {
			s.Cures[j].Detail = maskTerm(s.Cures[j].Reason, s.Cures[j].Detail)
		}
	}
	ans.Nodes = slices.Clone(ans.Nodes)
	for i := range ans.Nodes {
		n := &ans.Nodes[i]
		n.Details = maskDetails(n.Details, hidden)
		n.AlsoFailing, n.Scores = slices.Clone(n.AlsoFailing), maskParts(n.Scores)
		for j := range n.AlsoFailing {
			n.AlsoFailing[j].Details = maskDetails(n.AlsoFailing[j].Details, hidden)
		}
	}
}

// maskTerm returns what a group says of its cause, unless that is the term of another pod.
func maskTerm(reason, detail string) string {
	if reason == engine.CauseOthersAntiAffinityViolated {
		return ""
	}
	return detail
}

// maskParts leaves out the terms of other pods.
func maskParts(list []engine.PluginScore) []engine.PluginScore {
	list = slices.Clone(list)
	for i := range list {
		list[i].Parts = slices.Clone(list[i].Parts)
		for k := range list[i].Parts {
			if p := &list[i].Parts[k]; p.By == engine.PartOthersAffinity || p.By == engine.PartOthersAntiAffin {
				p.Term = ""
			}
		}
	}
	return list
}

// maskReplay masks a replay's answer, and leaves out the differences that may name other pods.
func maskReplay(ctx context.Context, out *record.Replay) {
	if seesAll(ctx, out.Decision.Cluster) {
		return
	}
	Mask(ctx, out.Decision)
	before := len(out.Differences)
	out.Differences = slices.DeleteFunc(out.Differences, func(d record.Difference) bool {
		return !plainValue(d.Recorded) || !plainValue(d.Replayed) || strings.HasPrefix(d.Path, "preemption") || strings.Contains(d.Path, "details")
	})
	out.DifferencesOmitted += before - len(out.Differences)
}

// plainValue reports whether a value of JSON is neither an object nor a list.
func plainValue(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

// existingAntiAffinity is the kind of details whose term is another pod's.
const existingAntiAffinity = "existingAntiAffinity"

// maskDetails leaves out the terms of other pods, and counts the objects of hidden namespaces.
func maskDetails(list []engine.Detail, hidden func(namespace string) bool) []engine.Detail {
	list = slices.Clone(list)
	for i := range list {
		d := &list[i]
		all := len(d.Blockers)
		d.Blockers = slices.DeleteFunc(slices.Clone(d.Blockers), func(b engine.Blocker) bool { return b.Namespace != "" && hidden(b.Namespace) })
		d.BlockersOmitted += all - len(d.Blockers)
		if list[i].Kind == existingAntiAffinity {
			list[i].Term = ""
		}
	}
	return list
}

// LogOfStories returns the log as stories read it.
func LogOfStories(all Decisions) StoryLog { return StoryLog{guardedDecisions{all}} }
