package decision

import (
	"context"
	"encoding/json"

	"berth/internal/engine/explain/suggest"
	"berth/internal/kube/object"
)

// suggest returns the single changes that would let the pod fit, cheapest first; none for a pod
// that fits.
func (o *Outcome) suggest(ctx context.Context) []suggest.Suggestion {
	return suggest.Suggest(suggest.Question{
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
	js, _ := p.View.Object(object.Key{Kind: kind, Namespace: namespace, Name: name})
	return js
}
