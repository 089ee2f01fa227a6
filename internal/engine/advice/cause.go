package advice

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
)

// Cause is one reason of one rule against nodes, such as one taint. Causes that differ only in
// amounts are the same.
type Cause struct {
	Rule, Reason, Message string
	Action                Action
	// About is the resource, the taint or the selector in words; empty where there is none.
	About string
}

// unitOf returns the unit of a resource's amounts.
func unitOf(resource string) string {
	switch corev1.ResourceName(resource) {
	case corev1.ResourceCPU:
		return "millicores"
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return "bytes"
	}
	if strings.HasPrefix(resource, corev1.ResourceHugePagesPrefix) {
		return "bytes"
	}
	return "count"
}

// causeOf makes a cause from a detail, with the amount that is short and its unit. The unit is
// empty where no amount can be short.
func causeOf(v *engine.NodeVerdict, d *engine.Detail) (c Cause, of, unit string, lack int64) {
	c.Rule, c.Reason = v.Plugin, reasonOf(d)
	if len(v.Reasons) > 0 {
		c.Message = v.Reasons[0]
	}
	unresolvable := v.Code == engine.UnschedulableAndUnresolvable.String()
	if d == nil {
		// Without details, as where a node cannot take pods nominated to it, only the message is
		// known.
		if name, ok := strings.CutPrefix(c.Message, "Insufficient "); ok {
			c.Reason, c.About = shortOf(name), name+", counting the pods nominated to the node"
		}
		if name := missingClaim(c.Message); name != "" {
			c.Reason, c.About = ClaimMissing, name
		}
		if c.Message == unboundClaims {
			c.Reason = ClaimUnbound
		}
		c.Action = actionFor(c.Reason, &engine.Detail{}, unresolvable)
		return c, "", "", 0
	}
	switch d.Kind {
	case "taint":
		c.About = taintWords(d.Key, d.Value, d.Effect)
	case "resource":
		c.About, of, unit, lack = d.Name, d.Name, unitOf(d.Name), *d.Requested-*d.Available
		c.Message = "Insufficient " + d.Name
		if c.Reason == TooManyPods {
			c.Message = "Too many pods"
		}
		unresolvable = d.Capacity != nil && *d.Requested > *d.Capacity
	case "volumeLimit":
		c.About = d.Name
		if d.Requested != nil && d.Available != nil {
			of, unit, lack = "volumes", "count", *d.Requested-*d.Available
		}
	case "topologySpread":
		c.About = d.TopologyKey
		if d.Skew != nil && d.MaxSkew != nil {
			c.About = fmt.Sprintf("%s, maxSkew %d", d.TopologyKey, *d.MaxSkew)
			of, unit, lack = "skew", "skew", *d.Skew-*d.MaxSkew
		}
	case "port":
		c.About = fmt.Sprintf("%d/%s", d.Port, d.Protocol)
	case "nodeAffinity", "podAffinity", "podAntiAffinity", "existingAntiAffinity":
		c.About = d.Term
	default:
		c.About = d.Name
	}
	c.Action = actionFor(c.Reason, d, unresolvable)
	return c, of, unit, lack
}

func taintWords(key, value, effect string) string {
	if value == "" {
		return key + ":" + effect
	}
	return key + "=" + value + ":" + effect
}
