package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"berth/internal/kube/follow"
	"berth/internal/kube/object"
	"berth/internal/revision"
)

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
