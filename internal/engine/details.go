package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Bounds of the details of one node and one rule: a decision can have as many verdicts as there are
// nodes.
const (
	maxTermWords = 1024 // bytes
	maxDetails   = 64
)

// Details collects the details of one node for a rule that may find many. Those beyond the bound
// of an answer are counted only.
type Details struct {
	list []Detail
	left int
}

// Add adds the detail that write returns, or counts it.
func (l *Details) Add(write func() Detail) {
	if len(l.list) == maxDetails {
		l.left++
		return
	}
	l.list = append(l.list, write())
}

// List returns the details, the last of which counts those that were left out.
func (l *Details) List() []Detail {
	if l.left == 0 {
		return l.list
	}
	return append(l.list, Detail{Kind: "more", Name: fmt.Sprintf("%d more", l.left)})
}

// clipped holds the details of a rule to the bounds.
func clipped(details []Detail) []Detail {
	for i := range details {
		if text := details[i].Term; len(text) > maxTermWords {
			cut := strings.ToValidUTF8(text[:maxTermWords], "")
			details[i].Term = fmt.Sprintf("%s… (%d bytes more)", cut, len(text)-len(cut))
		}
	}
	if len(details) == maxDetails+1 && details[maxDetails].Kind == "more" {
		return details
	}
	out := Details{list: details[:min(len(details), maxDetails):min(len(details), maxDetails)]}
	out.left = len(details) - len(out.list)
	return out.List()
}

// SelectorKeys returns the keys of the pod's nodeSelector in order.
func (q *Query) SelectorKeys() []string {
	if selector := q.Pod.Spec.NodeSelector; len(q.selectorKeys) != len(selector) {
		q.selectorKeys = slices.Sorted(maps.Keys(selector))
	}
	return q.selectorKeys
}

// Words returns the text that write makes of a part of the question, made once per decision.
func (q *Query) Words(of any, write func() string) string {
	text, known := q.words[of]
	if !known {
		if q.words == nil {
			q.words = map[any]string{}
		}
		text = write()
		q.words[of] = text
	}
	return text
}
