package suggest

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
)

// Narrowed is the nodes that a pod wants, and what those have against it. The filters' own order
// says less: a node that was never meant for the pod fails the first of them.
type Narrowed struct {
	// Of is the number of nodes that the decision was about.
	Of int `json:"of"`
	// Asks are what the pod wants of nodes and not all have, in the order in which people look.
	Asks []Ask `json:"asks,omitempty"`
	// Nodes is how many nodes have all of it.
	Nodes int `json:"nodes"`
	// Obstacles count those nodes by the first reason of their first failing filter, by number.
	Obstacles []Obstacle `json:"obstacles,omitempty"`
}

// AskKind is a kind of what a pod wants of nodes.
type AskKind string

// The kinds, in the order in which people look.
const (
	AskSelector AskKind = "nodeSelector"
	AskAffinity AskKind = "nodeAffinity"
	AskResource AskKind = "resource" // an extended one, of which the node offers some
	AskVolume   AskKind = "volume"   // can be used on the node
	AskTaint    AskKind = "taint"    // all that say keep out are tolerated
)

// Ask is one thing that a pod wants of nodes.
type Ask struct {
	By AskKind `json:"by" enums:"nodeSelector,nodeAffinity,resource,volume,taint" swaggertype:"string"`
	// Detail is the selector, the resource, the volume, or the taint that most nodes have.
	Detail string `json:"detail,omitempty"`
	// Others is how many other taints nodes are left out for.
	Others int `json:"others,omitempty"`
	// Nodes is how many nodes are left that have this and all before it.
	Nodes int `json:"nodes"`
	// Missing are the labels that no node has, where no node is left.
	Missing []Missing `json:"missing,omitempty"`
}

// Missing is a label that a pod wants of nodes and none has.
type Missing struct {
	Key   string `json:"key"`
	Value string `json:"value,omitempty"` // empty where any would do
	// Meant is the label that was most likely meant.
	Meant *NodeLabel `json:"meant,omitempty"`
	// Values are the commonest values of the key, and More how many others there are.
	Values []NodeLabel `json:"values,omitempty"`
	More   int         `json:"more,omitempty"`
}

// NodeLabel is a label of nodes; without a value: a key.
type NodeLabel struct {
	Key   string `json:"key"`
	Value string `json:"value,omitempty"`
	Nodes int    `json:"nodes"`
}

// Obstacle is what some nodes have against the pod.
type Obstacle struct {
	Rule   string `json:"rule"`
	Reason string `json:"reason"`
	Detail string `json:"detail,omitempty"`
	Nodes  int    `json:"nodes"`
	// Never is set where the nodes would lack it without any pod.
	Never bool `json:"never,omitempty"`
	// Holders have what the nodes lack, where they are at most two on all of the nodes; AllHeld is
	// set where none of a resource is left.
	Holders []Holder `json:"holders,omitempty"`
	AllHeld bool     `json:"allHeld,omitempty"`
}

// Cause is the reason that keeps the pod from a node: what none has that it wants, else what
// most lack of those that have it.
func (n *Narrowed) Cause() string {
	if n.Nodes == 0 && len(n.Asks) > 0 {
		switch n.Asks[len(n.Asks)-1].By {
		case AskSelector:
			return engine.CauseSelectorNotMatched
		case AskAffinity:
			return engine.CauseAffinityNotMatched
		case AskResource:
			return engine.CauseInsufficientExtended
		case AskVolume:
			return engine.CauseVolumeElsewhere
		case AskTaint:
			return engine.CauseUntoleratedTaint
		}
	}
	if len(n.Obstacles) == 0 {
		return ""
	}
	return n.Obstacles[0].Reason
}

const (
	maxObstacles = 12 // beyond it, lacks are left out
	maxMissing   = 4
	maxValues    = 5
	leastMeant   = 4 // letters of a value: shorter ones are too much alike
)

// narrowing is a Narrowed that is being worked out.
type narrowing struct {
	r    *engine.Result
	left state.Bits // that have what was looked at so far
	out  *Narrowed
	// names is set where the answer names objects.
	names bool
}

// narrow returns nil where nodes do not decide: for a pod that fits, that is gated, or that is
// rejected before any node is judged.
func narrow(r *engine.Result, c *collection, alone *explain.Alone, names bool) *Narrowed {
	if len(c.groups) == 0 || r.Outcome == engine.Gated || r.PreFilter != nil && r.PreFilter.Plugin != "NodeAffinity" {
		return nil
	}
	q := r.Query
	n := &narrowing{r: r, left: q.Candidates.Clone(), out: &Narrowed{}, names: names}
	n.left.And(r.Nodes().Alive())
	n.out.Of = n.left.Count()
	if sel := q.Pod.Spec.NodeSelector; len(sel) > 0 {
		n.ask(AskSelector, labels.Set(sel).String(), r.Nodes().SelectorRows(sel))
	}
	if required := state.RequiredNodeAffinity(q.Pod); required != nil {
		n.ask(AskAffinity, rules.SelectorWords(required), r.Nodes().NodeSelectorRows(required))
	}
	n.resources()
	if rows := alone.Rejects("VolumeBinding", rules.ReasonVolumeAffinity, "VolumeZone", rules.ReasonVolumeZone); rows != nil {
		rows.And(n.left)
		n.askNot(AskVolume, n.volume(rows, alone), rows)
	}
	n.taints()
	n.out.Nodes = n.left.Count()
	if n.out.Nodes > 0 {
		n.obstacles(c)
	}
	return n.out
}

// ask keeps the rows that have what the pod wants. Once none is left, nothing more is looked at.
func (n *narrowing) ask(by AskKind, detail string, rows state.Bits) {
	if n.left.Empty() || n.left.Within(rows) {
		return
	}
	n.left.And(rows)
	a := Ask{By: by, Detail: detail, Nodes: n.left.Count()}
	if a.Nodes == 0 {
		switch by {
		case AskSelector:
			a.Missing = n.missingOf(n.r.Query.Pod.Spec.NodeSelector)
		case AskAffinity:
			a.Missing = n.missingTerms(state.RequiredNodeAffinity(n.r.Query.Pod))
		default:
		}
	}
	n.out.Asks = append(n.out.Asks, a)
}

// askNot is ask, by the rows that do not have it.
func (n *narrowing) askNot(by AskKind, detail string, rows state.Bits) {
	have := n.left.Clone()
	have.AndNot(rows)
	n.ask(by, detail, have)
}

// resources wants nodes that offer the extended resources.
func (n *narrowing) resources() {
	q := n.r.Query
	for _, s := range q.Request.Scalars {
		name := q.ScalarName(s.ID)
		if s.N == 0 || !state.IsExtended(corev1.ResourceName(name)) || q.State.ExtendedClass(corev1.ResourceName(name)) != nil {
			continue
		}
		rows := state.NewBits(n.r.Nodes().Len())
		for row, have := range n.r.Nodes().ScalarColumn(s.ID) {
			if have > 0 {
				rows.Set(row)
			}
		}
		n.ask(AskResource, name, rows)
	}
}

// volume names the claim and the volume that are out of reach of the first of the rows.
func (n *narrowing) volume(rows state.Bits, alone *explain.Alone) string {
	for row := range n.r.Nodes().ByName(rows) { // the first will do
		v := explain.Verdict(n.r, row)
		failing, _ := alone.Failing(row, true)
		for _, f := range append([]engine.RuleFailure{{Plugin: v.Plugin, Details: v.Details}}, failing...) {
			if (f.Plugin == "VolumeBinding" || f.Plugin == "VolumeZone") && len(f.Details) > 0 && f.Details[0].Volume != "" {
				return fmt.Sprintf("%s of claim %s", f.Details[0].Volume, f.Details[0].Claim)
			}
		}
		break
	}
	return ""
}

// taints wants nodes without a taint that keeps the pod out. Taints that tell a node's state, as
// that it is not Ready, are not what the pod wants: they are among what nodes lack.
func (n *narrowing) taints() {
	of := n.r.Nodes().TaintSetOf()
	sets := n.r.Nodes().TaintSets()
	first := make([]string, len(sets))
	for i, taints := range sets {
		for k := range taints {
			t := &taints[k]
			if !ails(t.Key) && t.Key != corev1.TaintNodeUnschedulable && rules.KeepsOut(n.r.Query.Pod, t) {
				first[i] = rules.TaintWords(&engine.Detail{Key: t.Key, Value: t.Value, Effect: string(t.Effect)})
				break
			}
		}
	}
	count := map[string]int{}
	out := state.NewBits(n.r.Nodes().Len())
	for row := range n.left.All() {
		if taint := first[of[row]]; taint != "" {
			out.Set(row)
			count[taint]++
		}
	}
	most := ""
	for taint, k := range count {
		if most == "" || k > count[most] || k == count[most] && taint < most {
			most = taint
		}
	}
	if most != "" {
		n.askNot(AskTaint, most, out)
		n.out.Asks[len(n.out.Asks)-1].Others = len(count) - 1
	}
}

// obstacles counts the nodes that are left by what they have against the pod.
func (n *narrowing) obstacles(c *collection) {
	scarce := n.scarce()
	for k, g := range c.groups {
		both := g.rows.Clone()
		both.And(n.left)
		if k.Rule == "NodeResourcesFit" {
			both.AndNot(scarce)
		}
		if nodes := both.Count(); nodes > 0 {
			o := Obstacle{
				Rule: k.Rule, Reason: k.Reason, Detail: k.About, Nodes: nodes,
				Never: k.Rule == "NodeResourcesFit" && k.Action != Wait,
			}
			n.held(&o, both, func(v *engine.NodeVerdict, d *engine.Detail) bool { is, _ := causeOf(v, d); return is == k })
			n.out.Obstacles = append(n.out.Obstacles, o)
		}
	}
	slices.SortFunc(n.out.Obstacles, func(a, b Obstacle) int {
		if order := cmp.Or(b.Nodes-a.Nodes, cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Detail, b.Detail)); order != 0 || a.Never == b.Never {
			return order
		}
		if b.Never {
			return -1
		}
		return 1
	})
	n.out.Obstacles = n.out.Obstacles[:min(len(n.out.Obstacles), maxObstacles)]
}

// scarce counts the nodes that offer the extended resources and have too few left, whatever else
// they lack, and returns them: what few nodes have is the cause, rather than cpu.
func (n *narrowing) scarce() state.Bits {
	q := n.r.Query
	all := state.NewBits(n.r.Nodes().Len())
	fit := n.r.RejectedByRule("NodeResourcesFit")
	if fit == nil {
		return all
	}
	for _, s := range q.Request.Scalars {
		name, nodes := q.ScalarName(s.ID), 0
		if s.N == 0 || !state.IsExtended(corev1.ResourceName(name)) {
			continue
		}
		never, rows := true, state.NewBits(n.r.Nodes().Len())
		for row := range n.left.AllAnd(fit.Nodes) {
			have, _ := n.r.Nodes().Offers(s.ID, row)
			if all.Has(row) || have == 0 || s.N <= have-q.State.Requested(s.ID).At(row) {
				continue
			}
			all.Set(row)
			rows.Set(row)
			nodes++
			never = never && s.N > have
		}
		if nodes > 0 {
			o := Obstacle{Rule: "NodeResourcesFit", Reason: engine.CauseInsufficientExtended, Detail: name, Nodes: nodes, Never: never}
			n.held(&o, rows, func(_ *engine.NodeVerdict, d *engine.Detail) bool { return d.Kind == "resource" && d.Name == name })
			n.out.Obstacles = append(n.out.Obstacles, o)
		}
	}
	return all
}
