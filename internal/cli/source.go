package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"berth/internal/audit"
	"berth/internal/engine"
)

// source is where answers come from: a server, or a snapshot in the process.
type source interface {
	// decide answers a question without recording it.
	decide(ctx context.Context, q question) (*answer, error)
	// describe says in a word or two what was asked.
	describe() string
}

// question asks where a pod goes.
type question struct {
	pod     target
	explain engine.Explain
	suggest bool
}

// answer is a decision, and its JSON as the API gives it.
type answer struct {
	audit.Answer
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
		next: fmt.Sprintf(`Without a server:  kubectl get nodes,pods,ns,svc,rs,sts,pdb,pc -A -o json > cluster.json
                   %s explain POD --snapshot cluster.json
With one:          --server http://127.0.0.1:8080, or BERTH_SERVER in the environment`, a.name),
	}
}
