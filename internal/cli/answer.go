package cli

import (
	"encoding/json"
	"fmt"

	"berth/internal/decision"
	"berth/internal/engine"
)

// question asks where a pod goes.
type question struct {
	pod     target
	explain engine.Explain
	suggest bool
	// ungated asks about the pod without its scheduling gates.
	ungated bool
	// snapshot is the one to ask about; empty: as the flags say.
	snapshot string
}

// answer is a decision, and its JSON as the API gives it.
type answer struct {
	decision.Answer
	raw json.RawMessage
}

func readAnswer(raw []byte) (*answer, error) {
	a := &answer{raw: raw}
	if err := json.Unmarshal(raw, a); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	return a, nil
}
