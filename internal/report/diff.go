package report

import (
	"context"
	"fmt"
	"strings"

	"berth/internal/kube/object"
	"berth/internal/memory"
	"berth/internal/revision"
)

// Diff describes what differs between two states, by object and field.
type Diff struct {
	From string `json:"from" example:"prod@1"`
	To   string `json:"to" example:"prod@2"`
	// Kinds count the objects that differ, by kind.
	Kinds []KindDiff `json:"kinds"`
	// Objects are those that were added or removed, and those that changed in what a
	// scheduling decision reads; by kind, namespace and name.
	Objects []ObjectDiff `json:"objects"`
	// Omitted objects are behind the limit.
	Omitted int `json:"omitted"`
	// Hidden objects are in namespaces that the caller may not see, or in none; the kinds do not
	// count them.
	Hidden int `json:"hidden,omitempty"`
} // @name StateDiff

// KindDiff counts the objects of a kind that differ.
type KindDiff struct {
	Kind    string `json:"kind" example:"Pod"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	// Changed differ in what a scheduling decision reads, or in whether a node is Ready; Other in
	// nothing else than what only the rules of a pod's life read: conditions, container statuses,
	// probes, hooks.
	Changed int `json:"changed"`
	Other   int `json:"other"`
} // @name KindDiff

// ObjectDiff is an object that differs.
type ObjectDiff struct {
	Kind      string `json:"kind" example:"Pod"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Change    string `json:"change" enums:"added,removed,changed"`
	// Fields are those of a changed object that a scheduling decision reads, and the status of a
	// node's conditions; OtherFields counts the rest.
	Fields      []FieldDiff `json:"fields,omitempty"`
	OtherFields int         `json:"otherFields,omitempty"`
} // @name ObjectDiff

// FieldDiff is a field that differs. What is absent on a side has no value there.
type FieldDiff struct {
	Path string `json:"path" example:"spec.containers[web].resources.requests.cpu"`
	From any    `json:"from,omitempty"`
	To   any    `json:"to,omitempty"`
} // @name FieldDiff

// The changes of objects.
const (
	Added   = "added"
	Removed = "removed"
	Changed = "changed"
)

// DiffOf compares two views. Up to limit objects are listed; 0 lists all. With sees, objects of
// other namespaces are counted as hidden.
func DiffOf(ctx context.Context, from, to *revision.View, limit int, sees func(namespace string) bool) (*Diff, error) {
	out := &Diff{From: from.ID(), To: to.ID(), Kinds: []KindDiff{}, Objects: []ObjectDiff{}}
	var failed error
	err := from.Differences(ctx, to, func(k object.Key, before, after []byte) {
		if sees != nil && !sees(k.Namespace) {
			out.Hidden++
			return
		}
		if n := len(out.Kinds); n == 0 || out.Kinds[n-1].Kind != k.Kind {
			out.Kinds = append(out.Kinds, KindDiff{Kind: k.Kind})
		}
		count := &out.Kinds[len(out.Kinds)-1]
		o := ObjectDiff{Kind: k.Kind, Namespace: k.Namespace, Name: k.Name}
		switch {
		case before == nil:
			o.Change = Added
			count.Added++
		case after == nil:
			o.Change = Removed
			count.Removed++
		default:
			o.Change = Changed
			if failed != nil {
				return
			}
			if err := o.compareWithin(ctx, before, after); err != nil {
				failed = fmt.Errorf("%s %s/%s: %w", k.Kind, k.Namespace, k.Name, err)
			}
			if len(o.Fields) == 0 {
				count.Other++
				return
			}
			count.Changed++
		}
		if limit > 0 && len(out.Objects) >= limit {
			out.Omitted++
			return
		}
		// The values of fields, and the text that is made of them.
		if err := memory.Take(ctx, 512+int64(len(o.Fields))*256+4*int64(len(before)+len(after))); err != nil && failed == nil {
			failed = err
		}
		out.Objects = append(out.Objects, o)
	})
	if err != nil {
		return nil, err
	}
	return out, failed
}

// compareWithin is compare within the memory that there is.
func (o *ObjectDiff) compareWithin(ctx context.Context, before, after []byte) error {
	part, end := memory.Within(ctx)
	defer end()
	if err := memory.Take(part, object.Weight(before)+object.Weight(after)); err != nil {
		return err
	}
	return o.compare(before, after)
}

func (o *ObjectDiff) compare(before, after []byte) error {
	return object.Differences(before, after, func(path string, from, to any) {
		if ofLife(path) && !o.ofNode(path) {
			o.OtherFields++
		} else {
			o.Fields = append(o.Fields, FieldDiff{path, from, to})
		}
	})
}

// ofNode reports whether a field is the status of a node's condition: that a node is Ready no more
// is what people look for first, whatever a scheduler reads.
func (o *ObjectDiff) ofNode(path string) bool {
	return o.Kind == "Node" && strings.HasPrefix(path, "status.conditions[") && (strings.HasSuffix(path, "].status") || strings.HasSuffix(path, "]"))
}

// ofLife reports whether a field is read by the rules of a pod's life alone. Taints
// say to the scheduler what a node's conditions say to the kubelet.
func ofLife(path string) bool {
	for _, prefix := range []string{"status.conditions", "status.containerStatuses", "status.initContainerStatuses", "status.ephemeralContainerStatuses", "status.observedGeneration"} {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return strings.Contains(path, "Probe") || strings.Contains(path, "].lifecycle")
}
