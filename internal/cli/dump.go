package cli

import (
	"context"
	"fmt"
	"os"

	"berth/internal/config"
	"berth/internal/engine"
	"berth/internal/kube/follow"
	"berth/internal/kube/object"
	"berth/internal/revision"
)

// dump is the state of a source without a server: what kubectl printed, or what the cluster's
// apiserver lists.
type dump struct {
	*states
	view   *revision.View
	unread []follow.Unread // of a cluster
	config bool            // the profiles are not the default ones
	file   string
	live   bool // it was read from an apiserver
}

// newDump reads the snapshot, or the cluster if there is one.
func newDump(ctx context.Context, a *app, l *live) (*source, error) {
	list, err := a.profiles()
	if err != nil {
		return nil, err
	}
	d := &dump{config: a.o.config != "", file: nameOfFile(a.o.snapshot), live: l != nil}
	if l != nil {
		d.file = "the cluster"
		d.view, d.unread, err = a.readCluster(ctx, l)
	} else {
		d.view, err = a.readSnapshot()
	}
	if err != nil {
		return nil, err
	}
	return a.here(d, list, d.view)
}

// here returns a source of states in memory.
func (a *app) here(d *dump, list []*engine.Profile, views ...*revision.View) (_ *source, err error) {
	if d.states, err = newStates(list, views...); err != nil {
		return nil, err
	}
	return &source{client: d.client, cluster: inMemory, snapshot: inMemory + "@latest", profile: a.o.profile, name: a.name, now: a.Now, dump: d}, nil
}

// profiles reads the configuration to decide under.
func (a *app) profiles() ([]*engine.Profile, error) {
	if a.o.config == "" {
		return config.Default(), nil
	}
	raw, err := readConfig(a.o.config)
	if err != nil {
		return nil, err
	}
	c, err := a.parseConfig(a.o.config, raw)
	if err != nil {
		return nil, err
	}
	return c.Profiles, nil
}

func readConfig(file string) ([]byte, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	return raw, nil
}

// parseConfig reads the text of a KubeSchedulerConfiguration, and notes each part that has no
// effect, such as a plugin that is not known among the disabled.
func (a *app) parseConfig(file string, raw []byte) (*config.Config, error) {
	c, err := config.Read(raw)
	if err != nil {
		return nil, fmt.Errorf("--config %s: %w", file, err)
	}
	for _, line := range c.Ignored {
		a.note("--config %s: %s", file, line)
	}
	return c, nil
}

// configuration returns a configuration for others to decide under, who say what is wrong with it.
func (a *app) configuration(file string) ([]byte, error) {
	raw, err := readConfig(file)
	if err == nil {
		_, _ = a.parseConfig(file, raw)
	}
	return raw, err
}

// readSnapshot reads the cluster's state. On a terminal it shows how far it is.
func (a *app) readSnapshot() (*revision.View, error) {
	r, done, err := a.open(a.o.snapshot)
	if err != nil {
		return nil, err
	}
	defer done()
	p := a.progress("reading " + nameOfFile(a.o.snapshot))
	defer p.end()
	skipped := 0
	limits := object.Limits{Input: "the dump", MaxAliases: object.DefaultMaxAliases, Skip: func(e *object.InvalidError) {
		if skipped++; skipped <= maxNotes {
			a.note("%s: %s is left out: %v", nameOfFile(a.o.snapshot), e.Key, e.Errors.ToAggregate())
		}
	}}
	view, err := revision.Standalone(inMemory, a.withBeside(func(yield func(object.Object) error) (map[string]int, error) {
		return object.Read(r, object.YAML, limits, func(o object.Object) error {
			p.step()
			return yield(o)
		})
	}), a.Now())
	if n := skipped - maxNotes; n > 0 {
		a.note("%s: %s left out", nameOfFile(a.o.snapshot), plural(n, "more invalid object"))
	}
	if err != nil {
		return nil, &problem{what: nameOfFile(a.o.snapshot), why: err, next: "Expected the output of kubectl get nodes,pods,… -A -o json (or -o yaml)."}
	}
	return view, nil
}
