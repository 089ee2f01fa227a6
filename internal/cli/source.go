package cli

import (
	"context"
	"fmt"
)

// source is where answers come from: a server, or a snapshot in the process.
type source interface {
	// decide answers a question without recording it.
	decide(ctx context.Context, q question) (*answer, error)
	// bound names the node that a pod is bound to; empty for one that is not, or
	// where the source cannot tell.
	bound(ctx context.Context, t target) (string, error)
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
With a server:     --server http://127.0.0.1:8080, or BERTH_SERVER in the environment`, a.name),
	}
}
