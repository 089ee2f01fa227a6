package report

import (
	"cmp"
	"context"
	"fmt"

	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/kube/object"
	"berth/internal/kube/object/stored"
	"berth/internal/revision"
	"berth/internal/steps"
)

// Where a class is, in the order in which decisions look for it (engine.State
// ResolvePriority), which is theirs as texts too.
const (
	inSnapshot = "snapshot"
	inStore    = "stored"
	builtIn    = "system"
)

// ClassList is the classes that a cluster has in any place, by name; of those with
// one name the one that counts comes first.
type ClassList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Snapshot        string        `json:"snapshot,omitempty"`
	Items           []ListedClass `json:"items"`
	Warnings        []string      `json:"warnings,omitempty"`
}

// ListedClass is a class with the place that it is in.
type ListedClass struct {
	schedulingv1.PriorityClass `json:",inline"`
	Source                     string `json:"source"`
	OverriddenBy               string `json:"overriddenBy,omitempty"`
}

// ClassListOf joins a view's classes with the stored and built-in ones; v is nil for
// a cluster without a snapshot.
func ClassListOf(ctx context.Context, v *revision.View, stored *schedulingv1.PriorityClassList) (*ClassList, error) {
	out := &ClassList{TypeMeta: stored.TypeMeta, ListMeta: stored.ListMeta, Items: []ListedClass{}}
	s := &classSurvey{uses: map[string]*ClassUse{}}
	add := func(c *schedulingv1.PriorityClass, source string) {
		item := ListedClass{PriorityClass: *c, Source: source}
		s.add(c, source)
		if first := s.uses[c.Name].Source; first != source {
			item.OverriddenBy = first
		}
		out.Items = append(out.Items, item)
	}
	if v != nil {
		out.Snapshot = v.ID()
		list, err := snapshotClasses(ctx, v)
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			add(c, inSnapshot)
		}
	}
	for i := range stored.Items {
		add(&stored.Items[i], sourceOfStored(&stored.Items[i]))
	}
	if err := steps.Sort(steps.Of(ctx), out.Items, func(a, b ListedClass) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Source, b.Source))
	}); err != nil {
		return nil, err //nolint:wrapcheck // the caller's context's own
	}
	s.defaults()
	for _, f := range s.findings {
		out.Warnings = append(out.Warnings, f.Message)
	}
	return out, nil
}

// classSteps is what decoding a class takes, in steps of a Counter.
const classSteps = 20

// snapshotClasses returns the classes that a view holds.
func snapshotClasses(ctx context.Context, v *revision.View) ([]*schedulingv1.PriorityClass, error) {
	var out []*schedulingv1.PriorityClass
	items, _, err := v.List(ctx, "PriorityClass", object.Key{}, 0)
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller's context's own
	}
	count := steps.Of(ctx)
	for _, js := range items {
		if err := count.Take(classSteps); err != nil {
			return nil, err //nolint:wrapcheck // the caller's context's own
		}
		o, err := object.FromCanonical("PriorityClass", js)
		if err != nil {
			return nil, fmt.Errorf("a PriorityClass in %s: %w", v.ID(), err)
		}
		if c, ok := o.Value.(*schedulingv1.PriorityClass); ok {
			out = append(out, c)
		}
	}
	return out, nil
}

// sourceOfStored tells the built-in classes, which are in the list of the stored
// ones, from the others.
func sourceOfStored(c *schedulingv1.PriorityClass) string {
	if stored.SystemClass(c.Name) != nil {
		return builtIn
	}
	return inStore
}
