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
