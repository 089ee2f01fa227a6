package decision

import (
	"context"
	"encoding/json"

	"berth/internal/engine/advice"
	"berth/internal/kubeobj"
)

// suggest returns the single changes that would let the pod fit, cheapest first; none for a pod
// that fits.
func (o *Outcome) suggest(ctx context.Context) []advice.Suggestion {
	return advice.Suggest(advice.Question{
		State: o.State, Pod: o.Pod, Profile: o.Profile, Options: o.options(ctx), Object: o.object,
	}, o.Result)
}

// object returns an object as the decision had it: the question's nodes replace
// the snapshot's.
func (p *Prepared) object(kind, namespace, name string) []byte {
	if kind == "Node" {
		for _, n := range p.Nodes {
			if n.Name == name {
				js, err := json.Marshal(n)
				if err != nil {
					return nil
				}
				return js
			}
		}
	}
	js, _ := p.View.Object(kubeobj.Key{Kind: kind, Namespace: namespace, Name: name})
	return js
}
