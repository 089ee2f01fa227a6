package rules

import "berth/internal/engine"

// DynamicResources abstains from devices. It does score, as upstream does, and
// gives every node 0 unless a claim asks for a choice between alternatives
// (plugins/dynamicresources).
type DynamicResources struct{ abstain }

var (
	_ engine.Abstainer = DynamicResources{}
	_ engine.Scorer    = DynamicResources{}
	_ engine.Local     = DynamicResources{}
)

func newDynamicResources() DynamicResources {
	return DynamicResources{abstain{"DynamicResources", judgesDevices}}
}

// Locality says that nothing is looked at.
func (DynamicResources) Locality(_ *engine.Query) engine.Locality { return engine.NodesOnly }

// Score gives all nodes 0.
func (DynamicResources) Score(_ *engine.Query, _ engine.Bits, out *engine.Scores) error {
	out.Uniform(0, 0)
	return nil
}
