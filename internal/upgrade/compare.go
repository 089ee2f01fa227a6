package upgrade

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"berth/internal/decision"
	"berth/internal/engine"
)

// Kind is what is different about an answer.
type Kind string

// The kinds, the weightiest first.
const (
	Fails        Kind = "fails"        // one of the answers is an error
	NoLongerFits Kind = "noLongerFits" // the pod had a node, or would have had one by preemption
	FitsNow      Kind = "fitsNow"
	OtherVictims Kind = "otherVictims" // including none, or a node without preemption
	OtherNode    Kind = "otherNode"    // and not by chance among equally good nodes
	OtherDevices Kind = "otherDevices" // or volumes, of the same node
	OtherScores  Kind = "otherScores"  // of the same node, or of one as good
	OtherMessage Kind = "otherMessage" // words alone
)

// Kinds are all of them, in that order.
var Kinds = []Kind{Fails, NoLongerFits, FitsNow, OtherVictims, OtherNode, OtherDevices, OtherScores, OtherMessage}

// weight is the place of a kind among them: a weightier one has a lower.
func weight(k Kind) int { return slices.Index(Kinds, k) }

// of reports whether a change is of the kind.
func (k Kind) of(c Change) bool { return c.Kind == k }

// Change is a difference between the answers of two releases, with both in a line each.
type Change struct {
	Kind   Kind   `json:"kind" enums:"fails,noLongerFits,fitsNow,otherVictims,otherNode,otherDevices,otherScores,otherMessage"`
	Before string `json:"before"`
	After  string `json:"after"`
	// Causes are the names of the behaviours that make it, together; absent where none of those in
	// which the releases differ does.
	Causes []string `json:"causes,omitempty"`
} // @name UpgradeChange

// Reply is what a question came to: an answer, or why there is none.
type Reply struct {
	*decision.Answer
	Err error
}

// ReplyOf is what a question came to: what is wrong with the question alone is in the reply. Any
// other error is returned.
func ReplyOf(ctx context.Context, a *decision.Answer, err error) (Reply, error) {
	var refused *decision.Error
	switch {
	case err == nil:
		return Reply{Answer: a}, nil
	case ctx.Err() == nil && errors.As(err, &refused):
		return Reply{Err: err}, nil
	}
	return Reply{}, err
}

// Same reports whether two answers are the same but for plugins that give no node anything: a
// release may have one more of these.
func Same(before, after Reply) bool {
	if before.Err != nil || after.Err != nil {
		return before.line() == after.line()
	}
	var both [2]engine.Decision
	for i, a := range []*decision.Answer{before.Answer, after.Answer} {
		d := a.Decision
		d.Digest, d.Nodes = "", slices.Clone(d.Nodes)
		for n := range d.Nodes {
			d.Nodes[n].Scores = slices.DeleteFunc(slices.Clone(d.Nodes[n].Scores), nothing)
		}
		both[i] = d
	}
	return reflect.DeepEqual(both[0], both[1])
}

func nothing(s engine.PluginScore) bool { return s.Raw == 0 && s.Normalized == 0 && s.Weighted == 0 }

// Compare lists the differences between the answers of two releases, the weightiest first. Scores
// are compared where both answers have them, as with explain=full.
func Compare(before, after Reply) (list []Change) {
	add := func(k Kind, b, a string) { list = append(list, Change{Kind: k, Before: b, After: a}) }
	if before.Err != nil || after.Err != nil {
		switch b, a := before.line(), after.line(); {
		case before.Err == nil || after.Err == nil:
			add(Fails, b, a)
		case b != a:
			add(OtherMessage, b, a)
		}
		return list
	}
	b, a := before.Answer, after.Answer
	had, has := rank(b.Outcome), rank(a.Outcome)
	switch {
	case had > 0 && has == 0:
		add(NoLongerFits, before.line(), after.line())
	case had == 0 && has > 0:
		add(FitsNow, before.line(), after.line())
	case had != has, b.NominatedNode != a.NominatedNode, !slices.Equal(victims(b), victims(a)):
		add(OtherVictims, before.line(), after.line())
	case moved(b, a):
		add(OtherNode, before.line(), after.line())
	case had == placed && b.Node == a.Node && !reflect.DeepEqual(allotted(b), allotted(a)):
		add(OtherDevices, strings.Join(allotted(b), ", "), strings.Join(allotted(a), ", "))
	case had == placed:
		if x, y, differ := scores(b, a); differ {
			add(OtherScores, x, y)
		}
	}
	if b.Outcome == a.Outcome {
		if b.Message != a.Message {
			add(OtherMessage, b.Message, a.Message)
		} else if x, y, differ := failures(b, a); differ {
			add(OtherMessage, x, y)
		}
	}
	return list
}

// placed is the rank of an answer with a node.
const placed = 2

func rank(o engine.Outcome) int {
	switch o {
	case engine.Scheduled:
		return placed
	case engine.Preempting:
		return 1
	default:
		return 0
	}
}

// line returns the answer in a line.
func (r Reply) line() string {
	switch {
	case r.Err != nil:
		return "error: " + r.Err.Error()
	case r.Outcome == engine.Scheduled:
		return "node " + r.Node
	case r.Outcome == engine.Preempting:
		list := victims(r.Answer)
		return fmt.Sprintf("preempts on %s: %s", r.NominatedNode, strings.Join(list, ", "))
	default:
		return r.Message
	}
}

// victims lists those of an answer, sorted.
func victims(a *decision.Answer) (list []string) {
	if a.Preemption == nil {
		return nil
	}
	for _, v := range a.Preemption.Victims {
		list = append(list, v.Namespace+"/"+v.Name)
	}
	slices.Sort(list)
	return list
}

// allotted lists the devices and volumes that the pod would get.
func allotted(a *decision.Answer) (list []string) {
	for _, d := range a.Devices {
		list = append(list, fmt.Sprintf("%s/%s: %s/%s/%s", d.Claim, d.Request, d.Driver, d.Pool, d.Device))
	}
	for _, v := range a.Volumes {
		list = append(list, v.Claim+": "+cmp.Or(v.Volume, "a new volume of "+v.Provision))
	}
	return append(list, fmt.Sprintf("%d in all", len(list)))
}

// moved reports whether the node is another one, other than by chance among the best.
func moved(b, a *decision.Answer) bool {
	return b.Node != a.Node && (!slices.Contains(b.Best, a.Node) || !slices.Contains(a.Best, b.Node))
}

// gained is what each plugin gave a node, where it gave anything.
func gained(n *engine.NodeVerdict) map[string][3]int64 {
	out := map[string][3]int64{}
	for _, s := range n.Scores {
		if !nothing(s) {
			out[s.Plugin] = [3]int64{s.Raw, s.Normalized, s.Weighted}
		}
	}
	return out
}

// scores returns a node whose scores differ, both ways: the node of the answer before, or the first
// one.
func scores(b, a *decision.Answer) (before, after string, differ bool) {
	others := make(map[string]*engine.NodeVerdict, len(a.Nodes))
	for i := range a.Nodes {
		others[a.Nodes[i].Name] = &a.Nodes[i]
	}
	var found *engine.NodeVerdict
	for i := range b.Nodes {
		n := &b.Nodes[i]
		if o := others[n.Name]; o != nil && !reflect.DeepEqual(gained(n), gained(o)) && (found == nil || n.Name == b.Node) {
			found = n
		}
	}
	if found == nil {
		return "", "", false
	}
	other := others[found.Name]
	of := func(list []engine.PluginScore, plugin string) string {
		for _, s := range list {
			if s.Plugin == plugin {
				return fmt.Sprint(s.Weighted)
			}
		}
		return "0" // as of a plugin that is not there
	}
	var x, y []string
	for _, s := range slices.Concat(found.Scores, other.Scores) {
		was, is := of(found.Scores, s.Plugin), of(other.Scores, s.Plugin)
		if text := s.Plugin + " " + was; was != is && !slices.Contains(x, text) {
			x, y = append(x, text), append(y, s.Plugin+" "+is)
		}
	}
	total := func(n *engine.NodeVerdict, list []string) string {
		score := int64(0)
		if n.Score != nil {
			score = *n.Score
		}
		return fmt.Sprintf("node %s %d (%s)", n.Name, score, cmp.Or(strings.Join(list, ", "), "other raw scores"))
	}
	return total(found, x), total(other, y), true
}

// failures returns the counted reasons that differ.
func failures(b, a *decision.Answer) (before, after string, differ bool) {
	text := func(list, other []engine.FailureCount) string {
		var out []string
		for _, f := range list {
			if !slices.Contains(other, f) {
				out = append(out, fmt.Sprintf("%d %s: %s", f.Nodes, f.Plugin, f.Reason))
			}
		}
		return strings.Join(out, ", ")
	}
	before, after = text(b.Failures, a.Failures), text(a.Failures, b.Failures)
	return before, after, before != after
}
