package upgrade

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/semantics"
)

// Gone lists the objects of a view whose version the other release does not have or will not have
// for long, and those with fields that it drops and the release before does not.
func Gone(ctx context.Context, v *revision.View, from, to *semantics.Release) ([]Finding, error) {
	out := []Finding{}
	kinds := to.Versions()
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if err := versions(ctx, v, kind, to, kinds[kind], &out); err != nil {
			return nil, err
		}
	}
	for _, f := range to.Dropped {
		if slices.Contains(from.Dropped, f) {
			continue
		}
		found := Finding{Kind: f.Kind, Message: fmt.Sprintf("%s is dropped by %s at its default gates", f.Path, to.Minor()), Sample: []string{}}
		c := check{kind: f.Kind, over: of(func(o *map[string]any) bool { return has(*o, strings.Split(f.Path, ".")) })}
		if err := c.all(ctx, v, &found); err != nil {
			return nil, err
		}
		if found.Objects > 0 {
			out = append(out, found)
		}
	}
	return out, nil
}

// versions adds what is found of a kind by version.
func versions(ctx context.Context, v *revision.View, kind string, to *semantics.Release, served []semantics.API, out *[]Finding) error {
	var names []string
	for _, a := range served {
		names = append(names, a.Version)
	}
	found := map[string]*Finding{}
	c := check{kind: kind, over: of(func(m *metav1.PartialObjectMetadata) bool {
		i := slices.Index(names, m.APIVersion)
		f := found[m.APIVersion]
		switch {
		case f != nil:
		case i < 0 && names == nil:
			f = &Finding{Message: fmt.Sprintf("%s is in no version in %s", kind, to.Minor())}
		case i < 0:
			f = &Finding{Message: fmt.Sprintf("%s is gone in %s; it has %s", m.APIVersion, to.Minor(), strings.Join(names, ", "))}
		case served[i].Deprecated:
			f = &Finding{Message: fmt.Sprintf("%s is deprecated in %s; it also has %s", m.APIVersion, to.Minor(), names[len(names)-1])}
		default:
			return false
		}
		f.Kind = kind
		f.add(object.Key{Namespace: m.Namespace, Name: m.Name})
		found[m.APIVersion] = f
		return false
	})}
	if err := c.all(ctx, v, &Finding{}); err != nil {
		return err
	}
	for _, version := range slices.Sorted(maps.Keys(found)) {
		*out = append(*out, *found[version])
	}
	return nil
}

// has reports whether an object has a field, in any element where lists are on the way.
func has(o any, path []string) bool {
	switch o := o.(type) {
	case []any:
		return slices.ContainsFunc(o, func(e any) bool { return has(e, path) })
	case map[string]any:
		if len(path) == 0 {
			return true
		}
		below, ok := o[path[0]]
		return ok && has(below, path[1:])
	}
	return len(path) == 0
}
