package blame

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"berth/internal/engine"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/store"
)

// The causes of revisions, and the verbs of changes.
const (
	upload = "upload"
	bind   = "bind"
	apply  = "apply"
	remove = "delete"
	watch  = "watch"
)

// tell words a turn.
func (w *walk) tell(t *Turn, head *store.Revision, f found, was, is *verdict) {
	var did []string
	for i := range f.objects {
		if i == maxNamed {
			did = append(did, fmt.Sprintf("%d more objects changed", len(f.objects)-i))
			break
		}
		c, what := w.change(head, &f.objects[i])
		if did = append(did, what); i == 0 {
			t.Change = c
		} else {
			t.Also = append(t.Also, c)
		}
	}
	switch {
	case f.own:
		t.Change = Change{Verb: w.verb(head, apply), Kind: "Pod", Namespace: w.ask.Namespace, Name: w.ask.Name, Node: w.judge.nominated}
		did = []string{"it lost its nomination"}
		if t.Change.Node != "" {
			did = []string{"it was nominated to " + t.Change.Node}
		}
	case f.untold > 0:
		t.Change = Change{Verb: w.verb(head, apply)}
		did = []string{fmt.Sprintf("%d objects changed, of which it cannot be told which ones turned it", f.untold)}
	case len(did) == 0:
		t.Change = Change{Verb: w.verb(head, apply)}
		did = []string{"nothing changed that the revision shows: time passed, or a stored priority class is another one"}
	}
	at := t.Snapshot + ", " + w.clock(t.At)
	when := "when " + strings.Join(did, " and ")
	if head.Cause == upload {
		when += " by an upload"
	}
	if t.By != "" {
		when += " (" + t.By + ")"
	}
	t.Message = w.sentence(at, when, was, is)
}

// clock words a time; of another day than the last revision's with the date.
func (w *walk) clock(at time.Time) string {
	if last := w.newest.UTC(); at.YearDay() == last.YearDay() && at.Year() == last.Year() {
		return at.Format(time.TimeOnly)
	}
	return at.Format(time.DateTime)
}

// sentence words what turned, and when.
func (w *walk) sentence(at, when string, was, is *verdict) string {
	scheduled := string(engine.Scheduled)
	switch {
	case w.ask.Count > 0:
		return fmt.Sprintf("%s of %d would have fit until %s, %s; since then %s", was.outcome, w.ask.Count, at, when, is.outcome) + because(is)
	case w.ask.Node != "":
		return w.ofNode(at, when, was, is)
	case is.outcome == scheduled:
		return fmt.Sprintf("would have fit from %s, on, %s", at, when)
	case preempts(is.outcome):
		whom := w.evictions(is)
		switch {
		case preempts(was.outcome):
			return fmt.Sprintf("would have evicted others until %s, %s: %s, and since then %s", at, when, w.evictions(was), whom)
		case was.outcome == scheduled:
			return fmt.Sprintf("would have fit without an eviction until %s, %s; since then it evicts %s", at, when, whom)
		}
		return fmt.Sprintf("would have fit by evicting others from %s, on, %s: %s", at, when, whom)
	case was.outcome == scheduled:
		return fmt.Sprintf("would have fit until %s, %s", at, when) + because(is)
	case preempts(was.outcome):
		return fmt.Sprintf("would have fit by evicting others until %s, %s", at, when) + because(is)
	}
	return fmt.Sprintf("was %s until %s, %s; since then %s", was.outcome, at, when, is.outcome) + because(is)
}

func (w *walk) ofNode(at, when string, was, is *verdict) string {
	node := w.ask.Node
	switch {
	case is.outcome == Fits:
		return fmt.Sprintf("would have fit on %s from %s, on, %s", node, at, when)
	case was.outcome == Fits && is.outcome == absent:
		return fmt.Sprintf("would have fit on %s until %s, %s; since then there is no such node", node, at, when)
	case was.outcome == Fits:
		return fmt.Sprintf("would have fit on %s until %s, %s", node, at, when) + because(is)
	case was.outcome == absent:
		return fmt.Sprintf("there was no node %s until %s, %s; it is rejected there by %s", node, at, when, is.outcome) + because(is)
	case is.outcome == absent:
		return fmt.Sprintf("rejected on %s by %s until %s, %s; since then there is no such node", node, was.outcome, at, when)
	}
	return fmt.Sprintf("rejected on %s by %s until %s, %s; since then by %s", node, was.outcome, at, when, is.outcome) + because(is)
}

func because(is *verdict) string {
	if is.text == "" {
		return ""
	}
	return ": " + strings.TrimSuffix(is.text, ".")
}

// evictions words whom a preemption evicts. Pods that the caller may not see are counted.
func (w *walk) evictions(v *verdict) string {
	var names []string
	hidden := 0
	for i := range v.evicts {
		e := &v.evicts[i]
		if w.sees("Pod", e.Namespace) {
			names = append(names, e.Namespace+"/"+e.Name)
		} else {
			hidden++
		}
	}
	if more := len(names) - maxNamed; more > 0 {
		names = append(names[:maxNamed], plural(more, "more pod"))
	}
	if hidden > 0 {
		names = append(names, plural(hidden, "pod")+" of other namespaces")
	}
	out := strings.Join(names, ", ") + " on " + v.node
	if n := v.violations(); n > 0 {
		out += ", against " + plural(n, "budget")
	}
	return out
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// sees reports whether objects of a namespace are named. Nodes are.
func (w *walk) sees(kind, namespace string) bool {
	return kind == "Node" || w.ask.Sees == nil || w.ask.Sees(namespace)
}

// verb returns how a revision's changes came; of is their verb in a change that a caller made.
func (w *walk) verb(head *store.Revision, of string) string {
	switch {
	case w.ask.Followed && head.Asked == (store.Asked{}):
		return watch
	case head.Cause == upload:
		return upload
	}
	return of
}

// change describes what a revision did to an object, and words it.
func (w *walk) change(head *store.Revision, o *revision.Changed) (Change, string) {
	before, after := o.Before(), o.After()
	from, to := text(before, "spec", "nodeName"), text(after, "spec", "nodeName")
	c := Change{Verb: apply, Kind: o.Key.Kind}
	var did string
	switch pod := c.Kind == "Pod"; {
	case after == nil && pod && from != "":
		c.Verb, c.Node, did = remove, from, "was deleted from "+from
	case after == nil:
		c.Verb, did = remove, "was deleted"
	case pod && to != "" && to != from:
		if c.Node = to; head.Cause == bind {
			c.Verb = bind
		}
		if did = "was bound to " + to; before == nil && head.Cause != bind {
			did = "came to " + to
		}
	case before == nil:
		did = "was created"
	default:
		did = "changed"
	}
	c.Verb = w.verb(head, c.Verb)
	if !w.sees(c.Kind, o.Key.Namespace) {
		return c, hiddenName(c.Kind, o.Key.Namespace) + " " + did
	}
	c.Namespace, c.Name = o.Key.Namespace, o.Key.Name
	if did == "changed" {
		did += fields(before, after)
	}
	return c, nameOf(o.Key) + " " + did
}

func nameOf(k object.Key) string {
	switch k.Kind {
	case "Pod":
		return k.Namespace + "/" + k.Name
	case "Node":
		return "node " + k.Name
	}
	return k.Kind + " " + strings.TrimPrefix(k.Namespace+"/"+k.Name, "/")
}

func hiddenName(kind, namespace string) string {
	article := "a "
	if strings.ContainsAny(kind[:min(1, len(kind))], "AEIOU") {
		article = "an "
	}
	if kind == "Pod" {
		kind = "pod"
	}
	if namespace == "" {
		return article + kind
	}
	return article + cmp.Or(kind, "object") + " of another namespace"
}

// maxFields is how many fields of an object are named.
const maxFields = 3

// fields names those in which an object changed.
func fields(before, after []byte) string {
	var list []string
	err := object.Differences(before, after, func(path string, _, _ any) { list = append(list, path) })
	if err != nil || len(list) == 0 {
		return ""
	}
	if more := len(list) - maxFields; more > 0 {
		list = append(list[:maxFields], plural(more, "more field"))
	}
	return " in " + strings.Join(list, ", ")
}
