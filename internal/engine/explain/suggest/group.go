package suggest

import (
	"cmp"
	"slices"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/state"
)

// Group is the nodes with one verdict. A node is in one group only: that of its first failing rule
// and of that rule's first reason. The groups therefore add up to the rejected nodes.
type Group struct {
	// Rule is the first failing plugin in kube-scheduler's order.
	Rule string `json:"rule" example:"NodeResourcesFit"`
	// Reason is a stable code, such as InsufficientCPU or UntoleratedTaint.
	Reason string `json:"reason" example:"InsufficientCPU"`
	// Message is kube-scheduler's sentence.
	Message string `json:"message" example:"Insufficient cpu"`
	// Detail names the taint, the selector, the domain or the amount that is short.
	Detail string `json:"detail,omitempty"`
	Action Action `json:"action" enums:"wait,changePod,askPlatform" swaggertype:"string"`
	Nodes  int    `json:"nodes"`
	// Short is how much the nodes of the group lack; absent for what has no amount.
	Short *Short `json:"short,omitempty"`
	// Nearest is the node that lacks least, with the objects that are in the way there.
	Nearest *Nearest `json:"nearest,omitempty"`
	// Sample is the first few of the nodes, by name.
	Sample []string `json:"sample"`
	// Also counts further reasons of the same rule against nodes of the group.
	Also []Also `json:"also,omitempty"`
	// AlsoFailing counts the other rules that reject nodes of the group when each is run on its
	// own. They would still reject them after the first cause is removed.
	AlsoFailing []AlsoFailing `json:"alsoFailing,omitempty"`
	// Merged is how many small groups this one stands for; absent for one.
	Merged int `json:"merged,omitempty"`
}

// Nearest is the node of a group that lacks least, the first of equals by name, and the detail that
// the group is about. A node that no other rule rejects comes before one that another does.
type Nearest struct {
	Node   string        `json:"node"`
	Detail engine.Detail `json:"detail"`
}

// AlsoFailing is another rule that rejects nodes of a group. A node counts once for a rule, by the
// rule's first reason.
type AlsoFailing struct {
	Rule    string `json:"rule" example:"VolumeBinding"`
	Reason  string `json:"reason" example:"VolumeElsewhere"`
	Message string `json:"message"`
	Nodes   int    `json:"nodes"`
}

// Short is the distribution of the amounts by which nodes are short. The median is the lower one.
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
	// maxGroups is the most groups answered. Where there are more, all but the largest keptGroups
	// are merged by rule and reason.
	maxGroups  = 24
	keptGroups = 12
)

// Groups groups the nodes that a decision rejected by their verdict, the largest group first, and
// returns which of them the pod wants. Each group names up to sample nodes. A pod that fits has
// none.
func Groups(r *engine.Result, sample int) ([]Group, *Narrowed) { return groups(r, sample, false) }

// NamedGroups is Groups with the objects that are in the way.
func NamedGroups(r *engine.Result, sample int) ([]Group, *Narrowed) { return groups(r, sample, true) }

func groups(r *engine.Result, sample int, names bool) ([]Group, *Narrowed) {
	c := collect(r, r.CheckContext)
	list := c.list()
	if len(list) > maxGroups {
		list = append(list[:keptGroups:keptGroups], mergeTail(list[keptGroups:])...)
	}
	out := make([]Group, 0, len(list))
	for _, b := range list {
		out = append(out, b.group(r, sample))
	}
	if len(list) == 0 {
		return out, nil
	}
	alone, err := explain.RunAlone(r)
	r.CheckContext()
	if err != nil { // the caller's context has ended
		return out, nil
	}
	defer alone.Release()
	for i, b := range list {
		var only state.Bits
		out[i].AlsoFailing, only = alsoFailing(alone, b.rows)
		if names {
			b.name(r, &out[i], only)
		}
	}
	return out, narrow(r, c, alone, names)
}

// alsoFailing counts the other rules that reject the rows of a group, the one that rejects most
// first, and returns the rows that none of them rejects.
func alsoFailing(alone *explain.Alone, rows state.Bits) (out []AlsoFailing, only state.Bits) {
	type key struct{ rule, message string }
	at := map[key]int{}
	only = rows.Clone()
	for row := range rows.All() {
		failing, _ := alone.Failing(row, false)
		if len(failing) > 0 {
			only.Clear(row)
		}
		for i := range failing {
			k := key{failing[i].Plugin, failing[i].Reasons[0]}
			n, known := at[k]
			if !known {
				n, at[k] = len(out), len(out)
				out = append(out, AlsoFailing{Rule: k.rule, Reason: reasonAlone(alone, row, i), Message: k.message})
			}
			out[n].Nodes++
		}
	}
	slices.SortFunc(out, func(a, b AlsoFailing) int {
		return cmp.Or(b.Nodes-a.Nodes, cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
	})
	return out, only
}

// reasonAlone is the code of a rule's reason against a row.
func reasonAlone(alone *explain.Alone, row, i int) string {
	failing, _ := alone.Failing(row, true)
	return failureCause(&failing[i]).Reason
}

// failureCause is a rule's first cause against a node.
func failureCause(f *engine.RuleFailure) groupKey {
	v := engine.NodeVerdict{Plugin: f.Plugin, Code: f.Code, Reasons: f.Reasons}
	var first *engine.Detail
	if len(f.Details) > 0 {
		first = &f.Details[0]
	}
	k, _ := causeOf(&v, first)
	return k
}
