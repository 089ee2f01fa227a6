package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"berth/internal/config"
	"berth/internal/engine"
	"berth/internal/kube/follow"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/semantics"
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
	d := &dump{config: a.o.config != "" || a.o.semantics != "", file: nameOfFile(a.o.snapshot), live: l != nil}
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

// release is the one to decide as.
func (a *app) release() (*semantics.Release, error) {
	if a.o.semantics == "" {
		return semantics.Default(), nil
	}
	r, err := semantics.Parse(a.o.semantics)
	if err != nil {
		return nil, fmt.Errorf("--semantics: %w", err)
	}
	return r, nil
}

// profiles reads the configuration to decide under.
func (a *app) profiles() ([]*engine.Profile, error) {
	under, err := a.release()
	if err != nil {
		return nil, err
	}
	if a.o.config == "" {
		return config.Default(under), nil
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
	under, err := a.release()
	if err != nil {
		return nil, err
	}
	c, err := config.Read(raw, under)
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

// live is the cluster that kubectl points at.
type live struct {
	config    *rest.Config
	namespace string // of the context
}

// live reads the kubeconfig as kubectl does: --kubeconfig, else the files of
// KUBECONFIG, else ~/.kube/config (client-go/tools/clientcmd loader.go
// NewDefaultClientConfigLoadingRules). It is nil where there is none. The answer
// is remembered.
func (a *app) live() (*live, error) {
	if a.points != nil || a.o.server != "" || a.o.snapshot != "" {
		return a.points, nil
	}
	files := []string{a.o.kubeconfig}
	if a.o.kubeconfig == "" {
		files = filepath.SplitList(a.Env("KUBECONFIG"))
	}
	if len(files) == 0 && a.Env("HOME") != "" {
		files = []string{filepath.Join(a.Env("HOME"), ".kube", "config")}
	}
	c, namespace, found, err := follow.UserConfig(files, a.o.context)
	switch {
	case err != nil:
		return nil, &problem{what: err.Error(), next: "List the contexts: kubectl config get-contexts"}
	case !found && a.o.kubeconfig != "":
		return nil, &problem{what: "there is no kubeconfig " + a.o.kubeconfig}
	case !found:
		return nil, nil
	}
	a.points = &live{config: c, namespace: namespace}
	return a.points, nil
}

// namespace is that of pods which are named without one: -n, else the context's,
// as for kubectl.
func (a *app) namespace() (string, error) {
	if a.o.set.Changed("namespace") {
		return a.o.namespace, nil
	}
	l, err := a.live()
	if err != nil || l == nil || l.namespace == "" {
		return a.o.namespace, err
	}
	return l.namespace, nil
}

// readCluster lists what decisions read. What may not be listed is told with the
// answer.
func (a *app) readCluster(ctx context.Context, l *live) (*revision.View, []follow.Unread, error) {
	p := a.progress("reading " + l.config.Host)
	defer p.end()
	var unread []follow.Unread
	view, err := revision.Standalone("snapshot", a.withBeside(func(yield func(object.Object) error) (map[string]int, error) {
		var err error
		unread, err = follow.Read(ctx, l.config, func(o object.Object) error {
			p.step()
			return yield(o)
		})
		return nil, err
	}), a.Now())
	if err != nil {
		return nil, nil, l.cannot(err)
	}
	return view, unread, nil
}

// cannot returns what to do where the cluster does not answer.
func (l *live) cannot(err error) error {
	p := &problem{what: "ask the cluster at " + l.config.Host, why: err, next: "Does kubectl get nodes work? --context picks another cluster, --snapshot a dump."}
	if apierrors.IsForbidden(err) {
		p.next = "Decisions need every node and every pod. A user who may list them can make a dump:\n  " + revision.Collect + " > cluster.json"
	}
	return p
}

// wholeFrom reads pods, and the nodes that they are on, as their apiserver has
// them: one pod, or all of a namespace.
func (a *app) wholeFrom(ctx context.Context, l *live, pod target) (*input, error) {
	in := &input{nodes: map[string]json.RawMessage{}, whole: true}
	err := follow.Whole(ctx, l.config, "Pod", pod.namespace, pod.name, func(js []byte) error { return in.add("Pod", js) })
	if err != nil {
		return nil, l.cannot(err)
	}
	only := ""
	if len(in.pods) == 1 {
		is, err := namedIn(in.pods[0].whole)
		if err != nil {
			return nil, fmt.Errorf("pod %s: %w", in.pods[0], err)
		}
		only = is.Node
	}
	err = follow.Whole(ctx, l.config, "Node", "", only, func(js []byte) error { return in.add("Node", js) })
	if apierrors.IsForbidden(err) {
		err, in.whole = nil, false // the rules then take the node as healthy, as for any pod without its node
	}
	if err != nil {
		return nil, l.cannot(err)
	}
	if len(in.pods) == 0 {
		return nil, &problem{what: "the cluster at " + l.config.Host + " has no pod in namespace " + pod.namespace}
	}
	return in, nil
}

// errTwoSources is told where two sources are named on the command line.
var errTwoSources = errors.New("give one of --server, --snapshot and --kubeconfig/--context")
