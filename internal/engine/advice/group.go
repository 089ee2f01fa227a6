package advice

import (
	"berth/internal/engine"
)

// Group is nodes that the same verdict keeps the pod off. A node is in one group
// only, that of its first failing rule and of the first reason of that, so that
// groups add up to the nodes that were rejected.
type Group struct {
	// Rule is the first failing plugin, as kube-scheduler orders them.
	Rule string `json:"rule" example:"NodeResourcesFit"`
	// Reason is a stable code, such as InsufficientCPU or UntoleratedTaint.
	Reason string `json:"reason" example:"InsufficientCPU"`
	// Message is kube-scheduler's sentence.
	Message string `json:"message" example:"Insufficient cpu"`
	// Detail says what it is about: the taint, the selector, the domain, how much
	// is short.
	Detail string `json:"detail,omitempty"`
	Action Action `json:"action" enums:"wait,changePod,askPlatform" swaggertype:"string"`
	Nodes  int    `json:"nodes"`
	// Short is how much the nodes of the group lack; absent for what has no amount.
	Short *Short `json:"short,omitempty"`
	// Sample is the first few of the nodes, by name.
	Sample []string `json:"sample"`
	// Also counts further reasons that the same rule has against nodes of the group.
	Also []Also `json:"also,omitempty"`
	// Merged is how many groups of few nodes each this one stands for; absent: one.
	Merged int `json:"merged,omitempty"`
}

// Short is a distribution of what nodes lack. The median is the lower one.
type Short struct {
	Of     string `json:"of" example:"cpu"` // a resource's name, or skew
	Unit   string `json:"unit" enums:"millicores,bytes,count,skew" example:"millicores"`
	Min    int64  `json:"min"`
	Median int64  `json:"median"`
	Max    int64  `json:"max"`
}

// Also is a further reason against some nodes of a group.
type Also struct {
	Reason string `json:"reason"`
	Detail string `json:"detail,omitempty"`
	Nodes  int    `json:"nodes"`
	Short  *Short `json:"short,omitempty"`
}

const (
	// DefaultSample is how many nodes a group names.
	DefaultSample = 5
	// maxGroups is how many groups are told apart; where there are more, all but
	// the largest keptGroups are merged by rule and reason.
	maxGroups  = 24
	keptGroups = 12
)

// Groups puts the nodes that a decision rejected together by the same verdict,
// the largest group first; each names up to sample nodes. There are none for a
// pod that fits.
func Groups(r *engine.Result, sample int) []Group {
	list := collect(r).list()
	if len(list) > maxGroups {
		list = append(list[:keptGroups:keptGroups], mergeTail(list[keptGroups:])...)
	}
	out := make([]Group, 0, len(list))
	for _, b := range list {
		out = append(out, b.group(r, sample))
	}
	return out
}
