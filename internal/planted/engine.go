package planted

// Faults of the engine.
const (
	RowForgotten     Fault = "row-forgotten"
	ReasonUndigested Fault = "reason-undigested"
)

func init() {
	All = append(
		All,
		Plant{RowForgotten, "a Decider overlooks the last row that changed", "./internal/engine", "TestDeciderAnswersAsDecideDoes"},
		Plant{ReasonUndigested, "the digest says which nodes a plugin failed, but not why", "./internal/engine", "TestDigestTellsAnswersApart"},
	)
}
