package digest

// For tests, which draw scores that no rule gives.
var (
	AppendScores = appendScores
	AppendPairs  = appendPairs
	InNameOrder  = inNameOrder
)
