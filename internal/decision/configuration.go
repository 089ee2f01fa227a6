package decision

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/semantics"
)

// Configuration is a server's: the profiles that decide where a question brings none, as each
// release of Kubernetes has them. It is safe for concurrent use.
type Configuration struct {
	// Profiles are those of the server's own release, at least one.
	Profiles []*engine.Profile
	// Clusters are those of clusters that follow a release of their own.
	Clusters map[string][]*engine.Profile
	// Read reads the configuration as a release does; nil: Profiles are rebuilt.
	Read func(under *semantics.Release) ([]*engine.Profile, error)

	mu    sync.Mutex
	under map[string][]*engine.Profile // by the release's stamp
}

// maxReleases bounds for how many releases, with their gates, a configuration is kept.
const maxReleases = 32

// Of returns the profiles of a cluster.
func (c *Configuration) Of(cluster string) []*engine.Profile {
	if own, ok := c.Clusters[cluster]; ok {
		return own
	}
	return c.Profiles
}

// Release is the one that decisions of a cluster follow where the question names none: the default
// one where there are no profiles, as in a command that decides nothing.
func (c *Configuration) Release(cluster string) *semantics.Release {
	list := c.Of(cluster)
	if len(list) == 0 {
		return semantics.Default()
	}
	return list[0].Semantics
}

// Named returns the profile that pods of a cluster name by their scheduler; nil without one.
func (c *Configuration) Named(cluster, scheduler string) *engine.Profile {
	for _, p := range c.Of(cluster) {
		if p.Name == scheduler {
			return p
		}
	}
	return nil
}

// All returns the profiles of all clusters.
func (c *Configuration) All() []*engine.Profile {
	out := slices.Clone(c.Profiles)
	for _, cluster := range slices.Sorted(maps.Keys(c.Clusters)) {
		out = append(out, c.Clusters[cluster]...)
	}
	return out
}

// Under returns the profiles as a release has them. It fails where the configuration is none of
// that release.
func (c *Configuration) Under(r *semantics.Release) ([]*engine.Profile, error) {
	stamp := r.Stamp()
	if c.Profiles[0].Semantics.Stamp() == stamp {
		return c.Profiles, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if list := c.under[stamp]; list != nil {
		return list, nil
	}
	list, err := c.read(r)
	if err != nil {
		return nil, Errorf(Invalid, "semantics", "the server's configuration is none of %s: %v", stamp, err)
	}
	if c.under == nil || len(c.under) >= maxReleases {
		c.under = map[string][]*engine.Profile{}
	}
	c.under[stamp] = list
	return list, nil
}

// Refused lists what a release does not take of the configuration.
func (c *Configuration) Refused(r *semantics.Release) (list []string) {
	_, err := c.read(r)
	var many interface{ Errors() []error }
	switch {
	case errors.As(err, &many):
		for _, one := range many.Errors() {
			list = append(list, one.Error())
		}
	case err != nil:
		list = []string{err.Error()}
	}
	return list
}

func (c *Configuration) read(r *semantics.Release) ([]*engine.Profile, error) {
	if c.Read != nil {
		return c.Read(r)
	}
	out := make([]*engine.Profile, len(c.Profiles))
	for i, p := range c.Profiles {
		var err error
		if out[i], err = rules.Under(p, r); err != nil {
			return nil, fmt.Errorf("profile %s: %w", p.Name, err)
		}
	}
	return out, nil
}
