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
		details[i].Term = ClipTerm(details[i].Term)
	}
	if len(details) == maxDetails+1 && details[maxDetails].Kind == "more" {
		return details
	}
	out := Details{list: details[:min(len(details), maxDetails):min(len(details), maxDetails)]}
	out.left = len(details) - len(out.list)
	return out.List()
}

// ClipTerm holds a term to the bound of a detail.
func ClipTerm(text string) string {
	if len(text) <= maxTermWords {
		return text
	}
	cut := strings.ToValidUTF8(text[:maxTermWords], "")
	return fmt.Sprintf("%s… (%d bytes more)", cut, len(text)-len(cut))
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

// The causes of rejections: stable codes for programs, where the reasons are kube-scheduler's
// sentences.
const (
	CauseGated                        = "Gated"
	CauseCordoned                     = "Cordoned"
	CauseOtherNode                    = "OtherNode"
	CauseUntoleratedTaint             = "UntoleratedTaint"
	CauseSelectorNotMatched           = "SelectorNotMatched"
	CauseAffinityNotMatched           = "AffinityNotMatched"
	CauseAddedAffinityNotMatched      = "AddedAffinityNotMatched"
	CausePortTaken                    = "PortTaken"
	CauseTooManyPods                  = "TooManyPods"
	CauseInsufficientCPU              = "InsufficientCPU"
	CauseInsufficientMemory           = "InsufficientMemory"
	CauseInsufficientEphemeralStorage = "InsufficientEphemeralStorage"
	CauseInsufficientExtended         = "InsufficientExtended" // short.of names the resource
	CauseSkewExceeded                 = "SkewExceeded"
	CauseTopologyLabelMissing         = "TopologyLabelMissing"
	CausePodAffinityNotMatched        = "PodAffinityNotMatched"
	CausePodAntiAffinityViolated      = "PodAntiAffinityViolated"
	CauseOthersAntiAffinityViolated   = "OthersAntiAffinityViolated"
	CauseFeatureMissing               = "FeatureMissing"
	CauseNotNamed                     = "NotNamed" // the pod's affinity names other nodes
	CauseVolumeLimitExceeded          = "VolumeLimitExceeded"
	CauseVolumeInUse                  = "VolumeInUse"
	CauseVolumeElsewhere              = "VolumeElsewhere" // it can be used on other nodes
	CauseVolumeUnavailable            = "VolumeUnavailable"
	CauseClaimMissing                 = "ClaimMissing"
	CauseClaimUnbound                 = "ClaimUnbound" // a claim with immediate binding is not bound yet
	CauseDeviceUnavailable            = "DeviceUnavailable"
	CauseDeviceClaimNotReady          = "DeviceClaimNotReady"
	// CauseRejected is every other reason; the message names it.
	CauseRejected = "Rejected"
)

// Cause is what a detail means to programs.
type Cause struct {
	// Code is one of the codes above.
	Code string
	// About is the resource, the taint or the selector in words; empty where there is none.
	About string
	// Message is kube-scheduler's sentence, and Verdict the status code, for this detail alone.
	// They are those of the node's verdict where they are zero.
	Message string
	Verdict Code
	// Short is how much of Of is short, in Unit. Unit is empty where no amount can be short.
	Of, Unit string
	Short    int64
}

// DetailKind is what a kind of details means. It is declared beside the rule that returns such
// details and listed in the rule's descriptor.
type DetailKind struct {
	Name string
	// Fields names the fields that such details have.
	Fields string
	Cause  func(d *Detail) Cause
	// Words writes a detail in a line for people. It may be nil or return nothing: then the
	// detail's own texts are its words.
	Words func(d *Detail, amounts AmountsFunc) string
	// Named stands between a detail's words and the objects that it names; empty: a colon.
	Named string
}

// AmountsFunc writes amounts of a resource in one unit.
type AmountsFunc func(resource string, list []int64) []string
