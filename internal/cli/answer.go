package cli

import (
	"encoding/json"
	"fmt"

	"berth/internal/audit"
	"berth/internal/engine"
	"berth/internal/engine/advice"
)

// question asks where a pod goes.
type question struct {
	pod     target
	explain engine.Explain
	suggest bool
}

// answer is a decision, and its JSON as the API gives it.
type answer struct {
	audit.Answer
	Groups      []advice.Group `json:"groups"`
	Suggestions []suggestion   `json:"suggestions"`
	raw         json.RawMessage
}

// suggestion is a change that was tried.
type suggestion struct {
	Change string        `json:"change"`
	Target string        `json:"target"`
	Fits   int           `json:"fits"`
	Action advice.Action `json:"action"`
}

func readAnswer(raw []byte) (*answer, error) {
	a := &answer{raw: raw}
	if err := json.Unmarshal(raw, a); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	return a, nil
}
