package revision

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/jsonscan"
	"berth/internal/kube/object"
	"berth/internal/steps"
	"berth/internal/store"
)

const (
	// maxObjects is how many of the objects that a revision changed are kept, and likewise of its
	// priority classes: an upload may replace all there are.
	maxObjects = 1000
	// maxPaths is how many of the paths that differ are kept of an object, maxPath how long one is.
	maxPaths, maxPath = 10, 200
	// maxText bounds a text of an object. Names have 253 bytes at the most.
	maxText = 512
)

// changes collect what a revision does to the objects of its parent. Of more than are kept, those
// that were deleted and priority classes come first: they say what is gone and who is evicted.
type changes struct {
	first, rest []store.RevisionObject
	classes     []store.ClassChange
	count       int
}

// note adds an object: before is nil where it is new, after where it is deleted.
func (c *changes) note(k object.Key, before, after []byte) {
	if bytes.Equal(before, after) {
		return
	}
	c.count++
	class := k.Kind == "PriorityClass"
	if class && len(c.classes) < maxObjects {
		c.classes = append(c.classes, store.ClassChange{Name: bounded(k.Name), Old: factsOf(before), New: factsOf(after)})
	}
	into := &c.rest
	if class || after == nil {
		into = &c.first
	}
	if len(*into) >= maxObjects {
		return
	}
	o := store.RevisionObject{
		Action: store.Applied, Kind: bounded(k.Kind), Namespace: bounded(k.Namespace), Name: bounded(k.Name),
	}
	now := after
	if after == nil {
		o.Action, now = store.Deleted, before
	}
	o.UID = bounded(uidOf(now))
	if k.Kind == "Pod" {
		// A pod with a node waits no more, also where another scheduler bound it.
		if node := nodeOf(after); node != nodeOf(before) {
			o.Node = bounded(node)
		}
	}
	if before != nil && after != nil {
		o.Changed = encodePaths(differing(nil, "", before, after))
	}
	*into = append(*into, o)
}

// noteEntries is note of entries of inventories.
func (c *changes) noteEntries(before, after *entry) {
	if before == nil {
		c.note(after.key, nil, after.json())
		return
	}
	if after == nil {
		c.note(before.key, before.json(), nil)
		return
	}
	c.note(after.key, before.json(), after.json())
}

// bound adds a pod that a bind gave a node, and nothing else.
func (c *changes) bound(b *boundTo, uid string) {
	c.count++
	c.rest = append(c.rest, store.RevisionObject{
		Action: store.Applied, Kind: "Pod", Namespace: bounded(b.Namespace), Name: bounded(b.Name), UID: bounded(uid), Node: bounded(b.Node),
		Changed: nodeNamed,
	})
}

var nodeNamed = []byte(`["spec.nodeName"]`)

// into puts what was collected into a revision.
func (c *changes) into(r *store.Revision) {
	r.Objects = append(c.first, c.rest...)
	r.Objects = slices.Clip(r.Objects[:min(len(r.Objects), maxObjects)])
	r.Changes, r.Classes = c.count, c.classes
}

// changesOf are what a difference does to the objects of an inventory. bind is its short form.
func changesOf(inv *inventory, x *difference, bound object.Object, bind *boundTo) *changes {
	c := &changes{}
	gone := make(map[object.Key]bool, len(x.del))
	for _, k := range x.del {
		c.noteEntries(inv.get(k), nil)
		gone[k] = true
	}
	text := func(k object.Key) []byte {
		// What the same revision deleted is new again.
		if e := inv.get(k); e != nil && !gone[k] {
			return e.json()
		}
		return nil
	}
	last := map[object.Key]int{} // of a placement, which may put an object more than once
	for i := range x.apply {
		if x.placed != nil {
			last[x.apply[i].Key] = i
		}
	}
	for i, o := range x.apply {
		switch {
		case x.placed != nil && last[o.Key] != i:
		case x.placed[o.Key] && (i < len(x.apply)-1 || len(c.first)+len(c.rest) > 0):
			c.count++ // the decision's row has it, and another one the count
		default:
			c.note(o.Key, text(o.Key), o.JSON)
		}
	}
	switch {
	case x.bind != nil && x.recorded:
		c.count++ // its row is the decision's: a second one would cost each bind a tenth of its write
	case bind != nil:
		c.bound(bind, string(x.bind.Pod.UID))
	case x.bind != nil:
		c.note(bound.Key, text(bound.Key), bound.JSON)
	}
	return c
}

// replaced are what a whole state does to another; from is nil for the first.
func replaced(count *steps.Counter, from, to *inventory) (*changes, error) {
	if from == nil {
		from = new(inventory)
	}
	c := &changes{}
	return c, diff(count, from, to, c.noteEntries)
}

// bounded returns a text that every store takes, and no longer than it may be.
func bounded(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// factsOf reads what of a priority class decides; nil where there is none.
func factsOf(js []byte) *store.ClassFacts {
	if js == nil {
		return nil
	}
	c := &schedulingv1.PriorityClass{}
	if err := json.Unmarshal(js, c); err != nil {
		return &store.ClassFacts{} // canonical text is JSON
	}
	policy := corev1.PreemptLowerPriority
	if c.PreemptionPolicy != nil {
		policy = *c.PreemptionPolicy
	}
	return &store.ClassFacts{
		Value: c.Value, Policy: string(policy), GlobalDefault: c.GlobalDefault,
	}
}

func uidOf(js []byte) string { return textOf(js, "metadata", "uid") }

func nodeOf(js []byte) string { return textOf(js, "spec", "nodeName") }

func textOf(js []byte, part, name string) string {
	if text := jsonscan.Member(jsonscan.Member(js, part), name); len(text) > 2 {
		return string(jsonscan.Unquote(text))
	}
	return ""
}

// differing adds the paths at which two values in canonical form differ, up to maxPaths.
func differing(out []string, path string, a, b []byte) []string {
	if len(out) >= maxPaths || bytes.Equal(a, b) {
		return out
	}
	x, y := parts(a), parts(b)
	if x == nil || y == nil || a[0] != b[0] {
		return append(out, path)
	}
	was, is := values(x), values(y)
	for i := range x {
		out = differing(out, join(path, x[i].name), x[i].value, is(x[i].name, i))
	}
	for i := range y {
		if was(y[i].name, i) == nil {
			out = differing(out, join(path, y[i].name), nil, y[i].value)
		}
	}
	return out
}

// part is a member of an object, or an element of a list: [name], or [index] without one.
type part struct {
	name  string
	value []byte
}

// values returns what returns the value of a name, which most likely is at an index; nil without
// one.
func values(list []part) func(name string, at int) []byte {
	var index map[string][]byte
	return func(name string, at int) []byte {
		if at < len(list) && list[at].name == name {
			return list[at].value
		}
		if index == nil {
			index = make(map[string][]byte, len(list))
			for _, p := range list {
				index[p.name] = p.value
			}
		}
		return index[name]
	}
}

// parts returns the parts of an object or a list; nil for another value, and for an empty one.
func parts(js []byte) (list []part) {
	if len(js) == 0 {
		return nil
	}
	if js[0] == '{' {
		jsonscan.Members(js, 0, func(key []byte, at int) bool {
			end := jsonscan.ValueEnd(js, at)
			if end >= 0 {
				list = append(list, part{string(key), js[at:end]})
			}
			return end >= 0
		})
		return list
	}
	for at := 1; js[0] == '[' && at < len(js) && js[at] != ']'; at++ {
		end := jsonscan.ValueEnd(js, at)
		if end < 0 {
			return nil
		}
		value := js[at:end]
		name := strconv.Itoa(len(list))
		if n := jsonscan.Member(value, "name"); len(n) > 2 {
			name = string(n[1 : len(n)-1])
		}
		list = append(list, part{"[" + name + "]", value})
		if at = end; at < len(js) && js[at] != ',' {
			break
		}
	}
	return list
}

// join adds a name to a path: in brackets where it has what separates others.
func join(path, name string) string {
	switch {
	case name[:min(1, len(name))] == "[" || path == "":
	case strings.ContainsAny(name, "./"):
		name = "[" + name + "]"
	default:
		name = "." + name
	}
	return path + name
}

func encodePaths(paths []string) []byte {
	for i, p := range paths {
		if len(p) > maxPath {
			paths[i] = p[:maxPath]
		}
	}
	var out []byte
	for i, p := range paths {
		sep := byte(',')
		if i == 0 {
			sep = '['
		}
		out = jsonscan.AppendString(append(out, sep), strings.ReplaceAll(p, "\x00", "\uFFFD"))
	}
	return append(out, ']')
}
