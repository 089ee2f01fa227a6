package decisionlog

import (
	"context"
	"encoding/json"

	"berth/internal/engine"
	"berth/internal/engine/advice"
	"berth/internal/objects"
)

// suggest gives the single changes that would let the pod fit, cheapest first.
// There is nothing to suggest for a pod that fits.
func (c *matter) suggest(ctx context.Context, r *engine.Result) []advice.Suggestion {
	return advice.Suggest(advice.Question{
		State: c.state, Pod: c.pod, Profile: c.profile, Options: c.options(ctx), Object: c.object,
	}, r)
}

// object gives an object as the decision had it: the question's nodes stand in
// for the snapshot's.
func (c *matter) object(kind, namespace, name string) []byte {
	if kind == "Node" {
		for _, n := range c.q.Nodes {
			if n.Name == name {
				js, err := json.Marshal(n)
				if err != nil {
					return nil
				}
				return js
			}
		}
	}
	js, _ := c.view.Object(objects.Key{Kind: kind, Namespace: namespace, Name: name})
	return js
}
