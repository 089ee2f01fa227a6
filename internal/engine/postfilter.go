package engine

import "strings"

// PostFilterer is called for a pod that fits nowhere. A rule that also has a PreFilter is not
// called where that did not run: another plugin rejected the pod before. Its error then ends the
// phase.
type PostFilterer[S any] interface {
	Rule
	PostFilter(r *Result, state S) PostFilterResult
}

// PostFilterResult is the result of one plugin.
type PostFilterResult struct {
	// Text returns what the plugin adds to the message; it may be nothing.
	Text func() string
	// Search is the search for victims; nil for rules that evict nothing.
	Search Search
}

// Search is a search for victims, as the rest of a decision reads it. Package preemption has the
// only one.
type Search interface {
	// Row is the node of the victims, which the pod is nominated to; -1 without.
	Row() int
	// AppendDigest adds the whole search to the encoding of the answer.
	AppendDigest(b []byte) []byte
	// Release gives back memory.
	Release()
}

// PostFilter is what came of the phase.
type PostFilter struct {
	// FailedPlugin ended the phase with Error before one nominated a node; empty without.
	FailedPlugin, Error string
	// Searched reports whether DefaultPreemption had run when the phase failed.
	Searched bool
	// Search is that of DefaultPreemption; nil without the plugin.
	Search Search

	texts []func() string
	text  string // of Text, once worked out
}

// errNotFound is upstream's error for a PreFilter state that is not there
// (k8s.io/kube-scheduler/framework ErrNotFound).
const errNotFound = "not found"

// postFilter runs the phase for a pod that fits nowhere, until one plugin nominates a node
// (pkg/scheduler/framework/runtime RunPostFilterPlugins).
func (r *Result) postFilter() {
	q, p := r.Query, r.Query.Profile
	if r.Outcome != UnschedulableOK || q.Options.NoPreemption || len(p.PostFilter) == 0 {
		return
	}
	r.PostFilter = &PostFilter{}
	for _, i := range p.PostFilter {
		f := p.Rules[i]
		if f.PostFilter == nil {
			continue
		}
		if f.PreFilter != nil && r.States[i] == nil {
			r.PostFilter.fail(f.Name)
			return
		}
		res := f.PostFilter(r, r.States[i])
		r.PostFilter.texts = append(r.PostFilter.texts, res.Text)
		if res.Search == nil {
			continue
		}
		r.PostFilter.Search = res.Search
		if res.Search.Row() >= 0 {
			r.Outcome = Preempting
			r.PostFilter.texts = append(r.PostFilter.texts[:0], res.Text) // the others' are dropped
			return
		}
	}
}

// fail ends the phase with the error of a plugin whose PreFilter state is not there. What plugins
// before it have found goes with it.
func (p *PostFilter) fail(plugin string) {
	searched := p.Search != nil
	if searched {
		p.Search.Release()
	}
	*p = PostFilter{FailedPlugin: plugin, Error: errNotFound, Searched: searched}
}

// NominatedNode is the node of the victims; empty unless the outcome is Preempting.
func (r *Result) NominatedNode() string {
	if p := r.PostFilter; p != nil && p.Search != nil && p.Search.Row() >= 0 {
		return r.Query.Nodes.Node(p.Search.Row()).Name
	}
	return ""
}

// Text is what the phase adds to the message. The error of a plugin is all of it, and so is the
// text of the one that nominated a node.
func (p *PostFilter) Text() string {
	switch {
	case p == nil:
		return ""
	case p.FailedPlugin != "":
		return p.Error
	}
	if p.text == "" {
		parts := make([]string, 0, len(p.texts))
		for _, text := range p.texts {
			if part := text(); part != "" {
				parts = append(parts, part)
			}
		}
		p.text = strings.Join(parts, ", ")
	}
	return p.text
}
