package digest

// For tests, which draw scores that no rule gives.
var (
	AppendScores = appendScores
	InNameOrder  = inNameOrder
)
