package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"berth/internal/report"
	"berth/internal/revision"
	"berth/internal/scenario"
)

// source is where answers come from: a server, or a snapshot in the process.
type source interface {
	overviews
	// decide answers a question without recording it.
	decide(ctx context.Context, q question) (*answer, error)
	// story tells of a pod by name; nil where the source knows no past, or where
	// something else than the cluster as it is was asked for.
	story(ctx context.Context, t target) (*told, error)
	// pending lists the pods that wait, as the API does; step is called for each
	// that was judged here.
	pending(ctx context.Context, namespace string, step func()) (json.RawMessage, error)
	// capacity measures the cluster; pool is the label of pools, or empty.
	capacity(ctx context.Context, pool string) (json.RawMessage, error)
	// scenario answers a question about what comes next.
	scenario(ctx context.Context, q scenarioQuestion) (json.RawMessage, error)
	// simulate runs a scenario; the progress is of attempts that are made here.
	simulate(ctx context.Context, q *scenario.Request, wait *progress) (json.RawMessage, error)
	// gaps are the kinds of which the source knows nothing.
	gaps(ctx context.Context) (*gaps, error)
	// object returns the object of a name; nil where there is none.
	object(ctx context.Context, kind, namespace, name string) (*item, error)
	// objects calls f for every object of a kind, by namespace and name, until f
	// returns errEnough.
	objects(ctx context.Context, kind string, f func(*item) error) error
}

// names are what a pod's spec names: the node that it is bound to, its scheduler, and its volumes,
// each by its name and its type.
type names struct {
	Node      string `json:"nodeName"`
	Scheduler string `json:"schedulerName"`
	// RuntimeClass is empty in most pods.
	RuntimeClass string `json:"runtimeClassName"`

	Volumes []map[string]json.RawMessage `json:"volumes"`
}

// told is a story, and its JSON as the API gives it.
type told struct {
	report.Story
	raw json.RawMessage
}

// source chooses where to ask.
func (a *app) source(ctx context.Context) (source, error) {
	switch {
	case a.o.server != "":
		return newServer(a)
	case a.o.snapshot != "":
		return newOffline(ctx, a, nil)
	}
	l, err := a.live()
	if err != nil {
		return nil, err
	}
	if l != nil {
		return newOffline(ctx, a, l)
	}
	return nil, a.noSource()
}

// noSource returns how to name one.
func (a *app) noSource() error {
	return &problem{
		what: "no data source: pass --server, --snapshot or --kubeconfig",
		next: fmt.Sprintf(`From a dump:      %s > cluster.json
                  %s explain POD --snapshot cluster.json
From a cluster:   --kubeconfig FILE, or KUBECONFIG in the environment
From a server:    --server http://127.0.0.1:8080, or BERTH_SERVER`, revision.Collect, a.name),
	}
}
