package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"berth/internal/cluster"
	"berth/internal/story"
)

// source is where answers come from: a server, or a snapshot in the process.
type source interface {
	// decide answers a question without recording it.
	decide(ctx context.Context, q question) (*answer, error)
	// story tells of a pod by name; nil where the source knows no past, or where
	// something else than the cluster as it is was asked for.
	story(ctx context.Context, t target) (*told, error)
	// named gives the names in a pod's spec; empty where the source cannot tell.
	named(ctx context.Context, t target) (names, error)
}

// names are what a pod's spec names: the node that it is bound to, and its
// scheduler.
type names struct {
	Node      string `json:"nodeName"`
	Scheduler string `json:"schedulerName"`
}

// told is a story, and its JSON as the API gives it.
type told struct {
	story.Story
	raw json.RawMessage
}

// source chooses where to ask.
func (a *app) source() (source, error) {
	switch {
	case a.o.server != "":
		return newServer(a)
	case a.o.snapshot != "":
		return newOffline(a)
	}
	return nil, &problem{
		what: "there is nobody to ask: neither a server nor a snapshot is given",
		next: fmt.Sprintf(`Without a server:  %s > cluster.json
                   %s explain POD --snapshot cluster.json
With a server:     --server http://127.0.0.1:8080, or BERTH_SERVER in the environment`, cluster.Collect, a.name),
	}
}
