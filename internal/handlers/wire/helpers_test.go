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

// checkDepth reports whether body is one well-formed JSON value (exactly what json.Valid accepts)
// that nests no deeper than maxDepth and holds at most maxTokens keys and values, an object or
// array counting as one value itself. A bound of zero is none, except that depth 10,000 is never
// passed. The error is a *SyntaxError or a *LimitError. It doesn't allocate unless it fails.
func checkDepth(body []byte, maxDepth, maxTokens int) error {
	var s scanner
	if err := s.init(body, Limits{Depth: maxDepth, Tokens: maxTokens}); err != nil {
		return err
	}
	if err := s.skip(); err != nil {
		return err
	}
	return s.end()
}
