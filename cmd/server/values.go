package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"berth/internal/semantics"
	"berth/internal/words"
)

// age is a duration that may be given in days: 7d, 1.5d, or as Go writes it, 168h.
type age time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *age) UnmarshalText(text []byte) error {
	d, err := words.Age(string(text))
	*a = age(d)
	return err
}

// String implements fmt.Stringer.
func (a age) String() string { return time.Duration(a).String() }

// releases are those of Kubernetes to decide as: the server's, and those that clusters have.
type releases struct {
	server   *semantics.Release // nil: the default one
	clusters map[string]*semantics.Release
}

// UnmarshalText implements encoding.TextUnmarshaler. The flag may be given again, each time with
// one release or several, with semicolons between them, as in v1.36;prod=v1.37.
func (r *releases) UnmarshalText(text []byte) error {
	for item := range strings.SplitSeq(string(text), ";") {
		cluster, name, of := strings.Cut(strings.TrimSpace(item), "=")
		if of = of && !strings.ContainsAny(cluster, " ,"); !of { // the = is of a gate, or there is none
			cluster, name = "", item
		}
		named, err := semantics.Parse(name)
		switch {
		case err != nil:
			return err
		case !of && r.server == nil:
			r.server = named
		case !of:
			return fmt.Errorf("%.64q: a release of the server is named already, %s; of a cluster it is CLUSTER=RELEASE", item, r.server.Stamp())
		case r.clusters[cluster] != nil:
			return fmt.Errorf("a release of cluster %.64q is named twice", cluster)
		case r.clusters == nil:
			r.clusters = map[string]*semantics.Release{cluster: named}
		default:
			r.clusters[cluster] = named
		}
	}
	return nil
}

// String names the releases as the flag takes them.
func (r releases) String() string {
	short := func(v *semantics.Release) string {
		if v.Stamp() != v.Name {
			return v.Stamp()
		}
		return v.Minor()
	}
	list := []string{short(r.value())}
	for _, cluster := range slices.Sorted(maps.Keys(r.clusters)) {
		list = append(list, cluster+"="+short(r.clusters[cluster]))
	}
	return strings.Join(list, ";")
}

func (r releases) value() *semantics.Release { return cmp.Or(r.server, semantics.Default()) }

// of returns the release of a cluster.
func (r releases) of(cluster string) *semantics.Release {
	return cmp.Or(r.clusters[cluster], r.value())
}
