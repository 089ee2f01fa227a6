// Package access knows who asks and what they may: rights and roles, API tokens, the access file,
// and the sources of identities. It decides by what a caller's bindings say and the names in the
// request alone, so that a refusal tells nothing about what is stored.
package access

import (
	"fmt"
	"slices"
	"strings"
)

// Right is what a route needs. A greater one includes those below it.
type Right int

// The rights. Binding writes a decision into its cluster. Administer replaces states, deletes, and
// writes priority classes and tokens.
const (
	View Right = iota + 1
	Decide
	Bind
	Administer
)

// roles are the names of rights in bindings.
var roles = map[string]Right{"viewer": View, "decider": Decide, "binder": Bind, "admin": Administer}

// Roles are the names of the roles, the weakest first.
var Roles = []string{"viewer", "decider", "binder", "admin"}

// String returns the role that has the right.
func (r Right) String() string {
	if r < View || r > Administer {
		return "none"
	}
	return Roles[r-1]
}

// Grant is a role in some clusters and some of their namespaces. A pattern is a name in which * may
// stand once, for any text; "*" alone is all.
type Grant struct {
	// Role is viewer, decider, binder or admin; each includes those before it.
	Role string `json:"role" enums:"viewer,decider,binder,admin" example:"decider"`
	// Clusters are patterns of cluster names.
	Clusters []string `json:"clusters" example:"prod-*"`
	// Namespaces are patterns of namespaces; "*" stands for all, and for what has none.
	Namespaces []string `json:"namespaces" example:"*"`
} // @name Grant

// Grants are all that a caller may.
type Grants []Grant

// All grants everything.
var All = Grants{{Role: "admin", Clusters: []string{"*"}, Namespaces: []string{"*"}}}

// May reports whether the right is granted in a namespace of a cluster. An empty cluster stands for
// all of them, an empty namespace for the whole cluster.
func (g Grants) May(r Right, cluster, namespace string) bool {
	return slices.ContainsFunc(g, func(b Grant) bool {
		return roles[b.Role] >= r && matches(b.Clusters, cluster) && matches(b.Namespaces, namespace)
	})
}

// MaySome reports whether the right is granted in some namespace of a cluster; an empty cluster
// stands for any.
func (g Grants) MaySome(r Right, cluster string) bool {
	return slices.ContainsFunc(g, func(b Grant) bool {
		return roles[b.Role] >= r && (cluster == "" || matches(b.Clusters, cluster))
	})
}

// OneNamespace returns the only namespace of a cluster in which the right may be granted, where it
// is one.
func (g Grants) OneNamespace(r Right, cluster string) (name string, ok bool) {
	for _, b := range g {
		if roles[b.Role] < r || !matches(b.Clusters, cluster) {
			continue
		}
		for _, n := range b.Namespaces {
			if strings.Contains(n, "*") || name != "" && n != name {
				return "", false
			}
			name = n
		}
	}
	return name, name != ""
}

// matches reports whether a pattern fits a name; only "*" fits the empty one.
func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		before, after, star := strings.Cut(p, "*")
		switch {
		case p == "*":
			return true
		case name == "" || !star:
			return p == name && name != ""
		}
		return len(name) >= len(before)+len(after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after)
	})
}

// Most of what bindings hold, so that a check stays cheap.
const (
	maxGrants   = 100
	maxPatterns = 100
	maxPattern  = 253
)

// FieldError is what is wrong with a field.
type FieldError struct{ Field, Detail string }

// Error implements error.
func (e *FieldError) Error() string { return e.Field + ": " + e.Detail }

// Validate checks grants; field is the path of the list in errors.
func (g Grants) Validate(field string) error {
	if len(g) == 0 {
		return &FieldError{field, "is empty: want at least one grant, such as {role: viewer, clusters: [\"*\"], namespaces: [\"*\"]}"}
	}
	if len(g) > maxGrants {
		return &FieldError{field, fmt.Sprintf("has %d grants, and %d are the most", len(g), maxGrants)}
	}
	for i := range g {
		if err := g[i].validate(fmt.Sprintf("%s[%d]", field, i)); err != nil {
			return err
		}
	}
	return nil
}

func (b *Grant) validate(field string) error {
	if roles[b.Role] == 0 {
		return &FieldError{field + ".role", fmt.Sprintf("%.60q is no role: want %s", b.Role, strings.Join(Roles, ", "))}
	}
	for _, list := range []struct {
		name     string
		patterns []string
	}{{"clusters", b.Clusters}, {"namespaces", b.Namespaces}} {
		if len(list.patterns) == 0 || len(list.patterns) > maxPatterns {
			return &FieldError{field + "." + list.name, fmt.Sprintf("want 1 to %d patterns, such as \"prod\", \"prod-*\" or \"*\"", maxPatterns)}
		}
		for i, p := range list.patterns {
			if err := checkPattern(p); err != nil {
				return &FieldError{fmt.Sprintf("%s.%s[%d]", field, list.name, i), err.Error()}
			}
		}
	}
	return nil
}

// checkPattern wants what a name can be, with one * at most.
func checkPattern(p string) error {
	if p == "" || len(p) > maxPattern || strings.Count(p, "*") > 1 {
		return fmt.Errorf("%.60q is no pattern: want a name of %d characters at most, in which * may stand once", p, maxPattern)
	}
	for _, c := range p {
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_' || c == '*') {
			return fmt.Errorf("%.60q holds %q, which is in no name of a cluster or a namespace", p, c)
		}
	}
	return nil
}
