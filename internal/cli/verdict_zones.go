package cli

import (
	"fmt"
	"strings"
)

// zonesShown is how many domains a line names.
const zonesShown = 6

// zones prints how the nodes are spread over the zones, where the decision looked.
func (v *verdict) zones() {
	for _, c := range v.got.Spread {
		if c.TopologyKey != "topology.kubernetes.io/zone" {
			continue
		}
		var parts []string
		for _, d := range c.Domains[:min(len(c.Domains), zonesShown)] {
			parts = append(parts, fmt.Sprintf("%s %s", d.Value, count(d.Nodes)))
		}
		if rest := len(c.Domains) + c.DomainsOmitted - len(parts); rest > 0 {
			parts = append(parts, fmt.Sprintf("and %s more", count(rest)))
		}
		v.labelled("ZONE", strings.Join(parts, ", "))
		return
	}
}
