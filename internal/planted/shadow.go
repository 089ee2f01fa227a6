package planted

// Faults of what looks on and decides nothing.
const ShadowReadsStale Fault = "shadow-reads-stale-names"

func init() {
	All = append(All,
		Plant{ShadowReadsStale, "a shadow takes rows of a table of names for rows of the nodes that are there now", "./internal/handlers", "TestShadowReadsAhead"},
	)
}
