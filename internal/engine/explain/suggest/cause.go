package suggest

import (
	"cmp"
	"strings"

	"berth/internal/engine"
	"berth/internal/engine/rules"
)

// groupKey is one cause of one rule against nodes, such as one taint. Causes that differ only in
// amounts are the same.
type groupKey struct {
	Rule, Reason, Message string
	Action                Action
	// About is the resource, the taint or the selector in words; empty where there is none.
	About string
}

// causeOf returns the cause that a detail stands for, and its key; d is nil for a rejection without
// details.
func causeOf(v *engine.NodeVerdict, d *engine.Detail) (k groupKey, c engine.Cause) {
	k.Rule = v.Plugin
	if len(v.Reasons) > 0 {
		k.Message = v.Reasons[0]
	}
	if d == nil {
		d = &engine.Detail{}
		c = undetailed(k.Message)
	} else {
		c = rules.CauseOf(d)
	}
	k.Reason, k.About, k.Message = c.Code, c.About, cmp.Or(c.Message, k.Message)
	unresolvable := v.Code == engine.UnschedulableAndUnresolvable.String()
	if c.Verdict != engine.Success {
		unresolvable = c.Verdict == engine.UnschedulableAndUnresolvable
	}
	k.Action = actionFor(c.Code, d, unresolvable)
	return k, c
}

// undetailed returns the cause of a rejection without details, as where a node cannot take the pods
// nominated to it: only the message is known.
func undetailed(message string) engine.Cause {
	if name, ok := strings.CutPrefix(message, rules.ReasonInsufficient); ok {
		return engine.Cause{Code: rules.InsufficientCause(name), About: name + ", counting the pods nominated to the node"}
	}
	if name := missingClaim(message); name != "" {
		return engine.Cause{Code: engine.CauseClaimMissing, About: name}
	}
	if message == rules.ReasonClaimsUnbound {
		return engine.Cause{Code: engine.CauseClaimUnbound}
	}
	return engine.Cause{Code: engine.CauseRejected}
}
