package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/explain/suggest"
	"berth/internal/handlers/rest"
	"berth/internal/kube/follow"
	"berth/internal/podlife"
	"berth/internal/report"
	"berth/internal/revision"
	"berth/internal/scenario"
)

// gaps are the kinds of which a source knows nothing. A dump that holds no object
// of a kind may be of a cluster without any, or one that was not asked for them.
type gaps struct {
	of    string // the dump, or prod@7
	kinds []string
	// admission are those of report.Unapplied that the cluster's apiserver did not list.
	admission []string
	// refused are those that the cluster's apiserver did not list, and why.
	refused []follow.Unread
	// strays are the pods on nodes that the source does not have.
	strays revision.PodList
	// marks say in a word what is wrong with nodes, by name.
	marks map[string]string
	// unapplied are the kinds that the source has and no answer applies.
	unapplied []report.Gap
}

// gapsIn reads what a snapshot's summary says is missing, and what of it is not applied.
func gapsIn(of string, s *revision.Summary) *gaps {
	g := &gaps{of: of, strays: s.Hygiene.PodsOnUnknownNodes, unapplied: report.UnappliedIn(s.Objects), marks: marksOf(&s.Hygiene)}
	for _, missing := range report.GapsOf(&s.Hygiene) {
		g.kinds = append(g.kinds, missing.Kind)
	}
	return g
}

// marksOf reads which nodes are NotReady or cordoned, as far as a snapshot names them.
func marksOf(h *revision.Hygiene) map[string]string {
	marks := map[string]string{}
	for _, name := range h.NodesCordoned.Sample {
		marks[name] = "cordoned"
	}
	for _, name := range h.NodesNotReady.Sample {
		marks[name] = podlife.NodeNotReady
	}
	return marks
}

// stateOf returns what is wrong with a node; empty for nothing, or where the caller may not see it.
func (s *source) stateOf(ctx context.Context, name string, now time.Time) (string, error) {
	if name == "" {
		return "", nil
	}
	o, err := s.object(ctx, "Node", "", name)
	var r *refused
	if errors.As(err, &r) {
		return "", nil
	}
	if err != nil || o == nil {
		return "", err
	}
	n := &corev1.Node{}
	if err := json.Unmarshal(o.raw, n); err != nil {
		return "", fmt.Errorf("read node %s: %w", name, err)
	}
	h := podlife.HealthOf(n)
	return h.Words(n.Spec.Unschedulable, now), nil
}

// gaps are the kinds of which the source knows nothing: of a dump those that it has nothing of, of
// a cluster those that may not be read. A followed cluster was listed whole, and has none.
func (s *source) gaps(ctx context.Context) (*gaps, error) {
	switch {
	case s.dump == nil:
	case s.dump.live:
		g := s.dump.unreadGaps()
		return g, s.markAll(ctx, g, &s.dump.view.Summary.Hygiene)
	default:
		g := gapsIn("the dump", &s.dump.view.Summary)
		return g, s.markAll(ctx, g, &s.dump.view.Summary.Hygiene)
	}
	raw, err := s.call(ctx, http.MethodGet, nil, nil, "v1", "snapshots", s.snapshot)
	if err != nil {
		return nil, s.hint(ctx, err, target{})
	}
	var snapshot rest.Snapshot
	if err := readInto(raw, &snapshot); err != nil {
		return nil, err
	}
	if snapshot.Followed {
		snapshot.Hygiene.MissingKinds = nil
	}
	g := gapsIn(snapshot.ID, &snapshot.Summary)
	return g, s.markAll(ctx, g, &snapshot.Hygiene)
}

// markAll marks the other nodes that are NotReady or cordoned, where a summary does not name all.
func (s *source) markAll(ctx context.Context, g *gaps, h *revision.Hygiene) error {
	if h.NodesNotReady.Count == len(h.NodesNotReady.Sample) && h.NodesCordoned.Count == len(h.NodesCordoned.Sample) {
		return nil
	}
	raw, err := s.call(ctx, http.MethodGet, url.Values{"snapshot": {s.snapshot}}, nil, "v1", "clusters", s.cluster, "nodes")
	var r *refused
	if errors.As(err, &r) { // the caller may not see nodes
		return nil
	}
	var use scenario.NodesUse
	if err == nil {
		err = readInto(raw, &use)
	}
	for i := range use.Nodes {
		switch n := &use.Nodes[i]; {
		case n.State == podlife.NodeNotReady:
			g.marks[n.Name] = podlife.NodeNotReady
		case n.Cordoned:
			g.marks[n.Name] = "cordoned"
		}
	}
	return err
}

// unreadGaps are what an apiserver does not let its caller list.
func (d *dump) unreadGaps() *gaps {
	g := &gaps{
		of: d.file, refused: d.unread, strays: d.view.Summary.Hygiene.PodsOnUnknownNodes, unapplied: report.UnappliedIn(d.view.Summary.Objects),
		marks: marksOf(&d.view.Summary.Hygiene),
	}
	for _, u := range d.unread {
		switch {
		case u.Invalid > 0:
		case slices.ContainsFunc(report.Unapplied, func(a report.Gap) bool { return a.Kind == u.Kind }):
			g.admission = append(g.admission, u.Kind)
		default:
			g.kinds = append(g.kinds, u.Kind)
		}
	}
	return g
}

// covers reports whether nothing is known of a kind.
func (g *gaps) covers(kind string) bool { return g != nil && slices.Contains(g.kinds, kind) }

// gapsWithNodes returns the gaps of a source, which has to have nodes.
func gapsWithNodes(ctx context.Context, from *source) (*gaps, error) {
	g, err := from.gaps(ctx)
	if err == nil {
		err = g.needNodes()
	}
	return g, err
}

// needNodes returns an error if the source has no nodes: no verdict about a pod could be right.
func (g *gaps) needNodes() error {
	if !g.covers("Node") {
		return nil
	}
	return &problem{what: g.of + " " + g.verb() + " Nodes: no pod can be judged", next: "Include them: " + revision.Collect}
}

// about leaves the gaps of the kinds that an answer reads.
func (g *gaps) about(kinds ...string) *gaps {
	out := *g
	out.kinds, out.unapplied = nil, nil
	for _, k := range slices.Concat(g.kinds, g.admission) {
		if slices.Contains(kinds, k) {
			out.kinds = append(out.kinds, k)
		}
	}
	return &out
}

// relevantTo leaves the gaps that matter for the answer about a pod: storage only for a pod whose
// volumes need any, budgets only for an answer that evicts pods.
func (g *gaps) relevantTo(ctx context.Context, from *source, pod target, evicts bool) (*gaps, error) {
	is, err := named(ctx, from, pod)
	storage := slices.ContainsFunc(is.Volumes, needsStorage)
	out := *g
	kinds := slices.Clone(g.kinds)
	if pod.whole != nil { // an API server has not applied them yet
		kinds = append(kinds, g.admission...)
	}
	out.kinds = slices.DeleteFunc(kinds, func(kind string) bool {
		switch kind {
		case "RuntimeClass":
			return is.RuntimeClass == ""
		case "PersistentVolumeClaim", "PersistentVolume", "StorageClass", "CSINode":
			return !storage
		case "PodDisruptionBudget":
			return !evicts
		}
		return false
	})
	return &out, err
}

// needsStorage reports whether a volume is of a type that a volume plugin may reject a node for.
func needsStorage(volume map[string]json.RawMessage) bool {
	for kind := range volume {
		switch kind {
		case "name", "configMap", "downwardAPI", "emptyDir", "hostPath", "image", "projected", "secret":
		default:
			return true
		}
	}
	return false
}

// lost reports whether a bound pod's node is not among the nodes of the source. The
// node is requested only where there are more such pods than the summary
// names.
func (g *gaps) lost(ctx context.Context, from *source, pod target, node string) (bool, error) {
	if node == "" || g.strays.Count == 0 {
		return false, nil
	}
	for _, p := range g.strays.Sample {
		if p.Namespace == pod.namespace && p.Name == pod.name && p.Node == node {
			return true, nil
		}
	}
	if g.strays.Count <= len(g.strays.Sample) && pod.whole == nil {
		return false, nil
	}
	o, err := from.object(ctx, "Node", "", node)
	return o == nil, err
}

// verb returns the reason why nothing is known.
func (g *gaps) verb() string {
	if len(g.refused) > 0 {
		return "does not let you list"
	}
	return "has no"
}

// gapLines is how many lines the missing kinds may take; those that come later in
// report.KindGaps are counted.
const gapLines = 2

// gaps writes above an answer what it could not know.
func (p *page) gaps(g *gaps) {
	if g == nil {
		return
	}
	p.marks = g.marks
	var words []report.Gap
	for _, kind := range g.kinds {
		words = append(words, report.Gap{Kind: kind, Words: report.WordsFor(kind)})
	}
	text := func(named int) string {
		some := words
		if named < len(words) {
			some = append(slices.Clone(words[:named]), report.Gap{Words: fmt.Sprintf("%d more kinds", len(words)-named)})
		}
		return fmt.Sprintf("(%s %s %s: answers about these are guesses)", g.of, g.verb(), report.Listed(some))
	}
	named := len(words)
	for named > 1 && (named == len(words)-1 || len(p.lines(text(named), 0)) > gapLines) {
		named--
	}
	if len(words) > 0 {
		p.text(text(named))
	}
	if text := report.UnappliedText(g.of, g.unapplied); text != "" {
		p.text("(" + text + ")")
	}
	for _, u := range g.refused {
		if u.Invalid > 0 {
			p.text(fmt.Sprintf("(%s of kind %s left out: %v)", plural(u.Invalid, "invalid object"), u.Kind, u.Err))
		}
	}
}

// unknown returns which missing kind a group of nodes was rejected for; empty: none.
func (g *gaps) unknown(group *suggest.Group) string {
	return g.cannotKnow(report.Unknown(group, g.covers))
}

// cannotKnow words that nothing is known of a kind; empty for none.
func (g *gaps) cannotKnow(kind string) string {
	if kind == "" {
		return ""
	}
	return fmt.Sprintf("could not know: %s %s %s", g.of, g.verb(), report.WordsFor(kind))
}
