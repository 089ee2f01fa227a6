package wire

// filterLimits are bounds for /filter and /prioritize that are wide enough for Nodes mode.
func filterLimits() Limits {
	return Limits{Bytes: 128 << 20, Depth: 64, Tokens: 5_000_000, Names: 15_000, Nodes: 5_000}
}

// preemptLimits are bounds for /preempt.
func preemptLimits() Limits {
	return Limits{Bytes: 16 << 20, Depth: 64, Tokens: 1_000_000, Nodes: 5_000, VictimsPerNode: 110, Victims: 50_000}
}

// parseFilterArgs reads the body of /filter or /prioritize without a table of names or a cache of
// nodes. The error is a *SyntaxError, *TypeError or *LimitError.
func parseFilterArgs(body []byte, lim Limits) (FilterArgs, error) {
	var args FilterArgs
	err := (&Parser{Limits: lim}).FilterArgs(body, &args)
	return args, err
}

// outcome is what became of an asked node, in a table of verdicts on all of them.
type outcome uint8

const (
	passed outcome = iota
	failed
	unresolvable
)

type verdict struct {
	outcome outcome
	reason  string
}

// failures are the verdicts that do not keep their node.
func failures(verdicts []verdict) (out []Failure) {
	for i, v := range verdicts {
		if v.outcome != passed {
			out = append(out, Failure{At: i, Unresolvable: v.outcome != failed, Reason: v.reason})
		}
	}
	return out
}
