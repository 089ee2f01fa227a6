package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/explain/suggest"
	"berth/internal/handlers/rest"
	"berth/internal/podlife"
	"berth/internal/report"
)

// attempts returns how often it was tried, and since when it has been waiting.
func (v *verdict) attempts() string {
	st := v.told
	if st.Decisions == 0 {
		return ""
	}
	n := count(st.Decisions)
	if st.More {
		n += "+"
	}
	first := st.Attempts[len(st.Attempts)-1].First
	if st.Pod.Created != nil && st.Pod.Created.Before(first) {
		first = *st.Pod.Created
	}
	return fmt.Sprintf("attempt %s, %s", n, span(int64(v.now.Sub(first).Seconds())))
}

// pastShown is how many earlier answers a page tells.
const pastShown = 3

// past tells what the server knows beside the decision now.
func (v *verdict) past() {
	st := v.told
	if st == nil {
		return
	}
	if q := st.Queue; q != nil {
		s := fmt.Sprintf("%s of %s %s: %s of higher priority, %s older", count(q.Position), count(q.Of), q.List, count(q.HigherPriority), count(q.Older))
		if q.Sooner > 0 {
			s += fmt.Sprintf(", %s tried before", count(q.Sooner))
		}
		if q.NextTry != nil {
			s += fmt.Sprintf("; %s until %s", q.Queue, clock(*q.NextTry, v.now))
		}
		if q.Woken != nil {
			s += "; woken by " + q.Woken.String()
		}
		v.labelled("QUEUE", s)
	}
	if n := st.Nomination; n != nil {
		s := n.Node
		if n.Since != nil {
			s += " since " + clock(*n.Since, v.now)
		}
		var names []string
		for _, w := range n.WaitsFor {
			names = append(names, w.Namespace+"/"+w.Name)
		}
		if len(names) > 0 {
			s += ", waiting for " + someNames(names) + " to go"
		}
		v.labelled("HELD", s)
	}
	if b := st.Binding; b != nil && b.At != nil {
		v.labelled("SINCE", fmt.Sprintf("%s on %s, by decision %s", clock(*b.At, v.now), b.Node, b.Decision))
	}
	v.attemptLines()
	for _, e := range st.EvictedFor {
		v.labelled("EVICTED", fmt.Sprintf("%s for %s/%s, from %s (decision %s)", clock(e.At, v.now), e.For.Namespace, e.For.Name, e.Node, e.Decision))
	}
}

// attemptLines tells the answers on record, those that came out alike once.
func (v *verdict) attemptLines() {
	list := v.told.Attempts
	for i := range list[:min(len(list), pastShown)] {
		a := &list[i]
		label := "BEFORE"
		s := clock(a.First, v.now)
		if i == 0 {
			label = "LAST"
		}
		if a.Count > 1 {
			s += fmt.Sprintf(" to %s, %s times", clock(a.Last, v.now), count(a.Count))
		}
		s += ": " + a.Outcome
		switch {
		case a.Node != "":
			s += " on " + a.Node
		case a.NominatedNode != "":
			s += " on " + a.NominatedNode
		}
		var reasons []string
		most := slices.Clone(a.Reasons)
		slices.SortStableFunc(most, func(a, b report.Reason) int { return cmp.Compare(b.Nodes, a.Nodes) })
		if a.Outcome != string(engine.UnschedulableOK) {
			most = nil // it has found a node
		}
		for _, r := range most[:min(len(most), pastShown)] {
			reasons = append(reasons, fmt.Sprintf("%s %s", count(r.Nodes), r.Reason))
		}
		if len(reasons) > 0 {
			s += " (" + strings.Join(reasons, ", ") + ")"
		}
		v.labelled(label, s)
	}
	if left := len(list) - pastShown; left > 0 {
		v.labelled("", fmt.Sprintf("and %s earlier ones: -o json", count(left)))
	}
}

// admit judges a pod that was given whole as an API server would store it, where that makes a
// difference.
func (v *verdict) admit(ctx context.Context, from *source, q question) error {
	if q.pod.whole == nil || !slices.ContainsFunc(v.got.Notes, decision.OfAdmission) {
		return nil
	}
	raw, err := from.admit(ctx, q.pod)
	var r *refused
	var p *problem
	if errors.As(err, &r) || errors.As(err, &p) { // the caller may not ask that, or not of an older revision
		return nil
	}
	var a struct {
		rest.Admission
		Pod json.RawMessage `json:"pod"`
	}
	if err == nil {
		err = readInto(raw, &a)
	}
	switch {
	case err != nil:
		return err
	case !a.Allowed && len(a.Errors) > 0:
		v.refusal = cmp.Or(a.Forbidden, a.Errors[0].Message)
		return nil
	}
	before := v.got.Notes
	q.pod.whole = a.Pod
	got, err := from.explained(ctx, q)
	if err != nil {
		return err
	}
	for _, note := range before {
		if decision.OfAdmission(note) && !slices.Contains(got.Notes, note) {
			v.admitted = append(v.admitted, decision.Counted(note))
		}
	}
	v.got = got
	return nil
}

// read takes from a pod that was given whole what the cluster and its kubelet report.
func (v *verdict) read(whole json.RawMessage) error {
	if whole == nil {
		return nil
	}
	pod := &corev1.Pod{}
	if err := json.Unmarshal(whole, pod); err != nil {
		return fmt.Errorf("read the pod: %w", err)
	}
	life := podlife.Lifecycle(pod, podlife.NodeHealthy, v.now)
	v.unscheduled, v.life = report.UnscheduledOf(pod), &life
	return nil
}

// trouble prints how a bound pod stands, where not all is well.
func (v *verdict) trouble() {
	l := v.life
	if l == nil || v.node == "" {
		return
	}
	if l.PhaseRule.ID == ruleNodeLost && v.state == "" {
		v.text("Its node " + v.node + " is not Ready: what it shows of the pod is from before, and nothing is started there.")
	}
	for i := range l.Containers {
		if n := &l.Containers[i].Next; n.Rule.ID == "next/volumes" {
			v.text("It cannot start. " + n.Rule.Text)
			return
		}
	}
	s := l.Status
	if l.StatusAfter != "" {
		s += " after " + l.StatusAfter
	}
	if slices.Contains([]string{string(corev1.PodPending), string(corev1.PodRunning), string(corev1.PodSucceeded), "Completed", "ContainerCreating", "PodInitializing"}, s) {
		return
	}
	v.text("Its status is " + s + ": " + l.StatusRule.Text)
}

// nodeIs returns what is wrong with the pod's node, in the headline.
func (v *verdict) nodeIs() string {
	if v.state == "" {
		return ""
	}
	return "its node is " + v.state
}

// where returns on which node the pod is, and what that means for it where the node is not well.
func (v *verdict) where() string {
	s := "It is on " + v.node
	if v.state == "" {
		return s
	}
	s += ", which is " + v.state
	if v.life == nil || v.life.PhaseRule.ID != ruleNodeLost {
		return s
	}
	s += ": what it shows of the pod is from before, and nothing is started there"
	if d := v.life.NodeDeletion; d != nil && d.At != nil {
		if d.At.After(v.now) {
			s += fmt.Sprintf("; the pod is deleted for it at %s", clock(*d.At, v.now))
		} else {
			s += fmt.Sprintf("; the pod was to be deleted for it at %s, %s ago", clock(*d.At, v.now), span(int64(v.now.Sub(*d.At).Seconds())))
		}
	}
	return s
}

// ruleNodeLost is the rule of the phase of pods whose node does not answer.
const ruleNodeLost = "phase/node-lost"

// nodesIn are the nodes that an answer names.
func nodesIn(d *decision.Answer) (names []string) {
	for _, n := range []string{d.Node, d.NominatedNode} {
		if n != "" {
			names = append(names, n)
		}
	}
	for i := range d.Groups {
		names = append(names, d.Groups[i].Sample...)
	}
	for i := range d.Nodes {
		names = append(names, d.Nodes[i].Name)
	}
	return names
}

// zonesShown is how many domains a line names.
const zonesShown = 6

// zones prints how the nodes are spread over the zones, where the decision looked.
func (v *verdict) zones() {
	for _, c := range v.got.Spread {
		if c.TopologyKey != "topology.kubernetes.io/zone" {
			continue
		}
		var parts []string
		for _, d := range c.Domains[:min(len(c.Domains), zonesShown)] {
			parts = append(parts, fmt.Sprintf("%s %s", domainLabel(d.Value), count(d.Nodes)))
		}
		if rest := len(c.Domains) + c.DomainsOmitted - len(parts); rest > 0 {
			parts = append(parts, fmt.Sprintf("and %s more", count(rest)))
		}
		v.labelled("ZONE", strings.Join(parts, ", "))
		return
	}
}

// ungate decides where a gated pod would go without its gates, so that its owner need not remove
// them in vain.
func (v *verdict) ungate(ctx context.Context, from *source, pod target) error {
	if v.got.Outcome != engine.Gated {
		return nil
	}
	after, err := from.decide(ctx, question{pod: pod, explain: engine.ExplainGroups, suggest: true, ungated: true})
	if err != nil {
		return err
	}
	v.after = &report.Verdict{Outcome: after.Outcome, Node: after.Node, NominatedNode: after.NominatedNode, Groups: after.Groups}
	if len(v.got.Suggestions) == 0 {
		v.got.Suggestions = after.Suggestions
	}
	return nil
}

// disagreement returns what the cluster says of a pod that would fit.
func (v *verdict) disagreement() string {
	u := v.unscheduled
	if u == nil {
		return ""
	}
	s := " The cluster says " + u.Reason
	if u.Since != nil {
		s += " since " + clock(*u.Since, v.now)
	}
	return s + ": kube-scheduler has not tried it on this state, or has not heard of what changed."
}

// afterwards returns what comes after the gates.
func (v *verdict) afterwards() string {
	if v.after == nil {
		return ""
	}
	switch v.after.Outcome {
	case engine.Scheduled:
		return "Without gates it goes to " + v.after.Node + "."
	case engine.Preempting:
		return "Without gates no node is free, and others would have to leave " + v.after.NominatedNode + "."
	case engine.UnschedulableOK:
		return "Without gates no node fits either; what is below is for then."
	}
	return ""
}

// changeWords is a change, whether others have to leave for it, and what speaks against it.
func changeWords(s *suggest.Suggestion) string {
	text := s.Change
	if s.Outcome == engine.Preempting {
		text += " (evicts others)"
	}
	if s.Warning != "" {
		text += "; but " + s.Warning
	}
	return text
}

// nothingToTry reports that changes were looked for, where that was so. Not all that
// there are: their number is bounded, and of nodes the first is changed.
func (v *verdict) nothingToTry() {
	if v.got.Outcome != engine.UnschedulableOK || v.node != "" || v.told != nil && !waits(v.told.State) || v.got.Counts.Nodes == 0 {
		return
	}
	v.gap()
	v.labelled("TRY", "none of the changes that were tried, one by one and in pairs, makes it fit.")
}

// ungated asks about a pod without its scheduling gates.
func (s *source) ungated(ctx context.Context, t target, body *rest.DecisionRequest) error {
	if body.Pod == nil {
		o, err := s.object(ctx, "Pod", t.namespace, t.name)
		if err != nil || o == nil {
			return err
		}
		body.Pod = o.raw
	}
	var pod, spec map[string]json.RawMessage
	if err := json.Unmarshal(body.Pod, &pod); err != nil {
		return fmt.Errorf("read the pod: %w", err)
	}
	err := json.Unmarshal(pod["spec"], &spec)
	if err != nil {
		return fmt.Errorf("read the pod's spec: %w", err)
	}
	delete(spec, "schedulingGates")
	if pod["spec"], err = json.Marshal(spec); err == nil {
		body.Pod, err = json.Marshal(pod)
	}
	return err
}

// oneRejected names a node of the largest group, for a look at it.
func (v *verdict) oneRejected() string {
	for _, g := range v.got.Groups {
		if len(g.Sample) > 0 {
			return g.Sample[0]
		}
	}
	for _, n := range v.got.Nodes {
		if !n.Feasible {
			return n.Name
		}
	}
	return v.got.Node
}

// likeIn returns the first node to add of suggestions, as flags name it; empty without.
func likeIn(list []suggest.Suggestion) string {
	for i := range list {
		if like := list[i].Pool(); like != "" {
			return like
		}
	}
	return ""
}
