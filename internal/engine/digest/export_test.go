package digest

import (
	"berth/internal/engine"
	"berth/internal/engine/state"
)

// For tests, which draw scores that no rule gives.
var (
	AppendScores = appendScores
	InNameOrder  = inNameOrder
)

// AppendPairs appends the scores of the k-th rule, with a memory or none.
func AppendPairs(b []byte, r *engine.Result, rows state.Bits, s *engine.Scores, m *Memory, k int) []byte {
	return appendPairs(b, r, rows, s, m.of(k))
}
