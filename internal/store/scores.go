package store

import (
	"encoding/json"
	"fmt"
)

// PluginScores are the scores of a node, plugin by plugin.
type PluginScores []PluginScore

// PluginScore is what a plugin gave a node. Weighted is Normalized times Weight.
type PluginScore struct {
	Plugin     string `json:"plugin"`
	Raw        int64  `json:"raw"`
	Normalized int64  `json:"normalized"`
	Weight     int64  `json:"weight"`
	Weighted   int64  `json:"weighted"`
}

// MarshalJSON writes the scores as the spool has always held them: their JSON as bytes, in base64.
// Programs of other versions read the same segments.
func (ps PluginScores) MarshalJSON() ([]byte, error) {
	var text []byte
	if ps != nil {
		var err error
		if text, err = json.Marshal([]PluginScore(ps)); err != nil {
			return nil, err
		}
	}
	return json.Marshal(text)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (ps *PluginScores) UnmarshalJSON(js []byte) error {
	var text []byte
	if err := json.Unmarshal(js, &text); err != nil {
		return err
	}
	*ps = nil
	if text == nil {
		return nil
	}
	if err := json.Unmarshal(text, (*[]PluginScore)(ps)); err != nil {
		return fmt.Errorf("read plugins' scores: %w", err)
	}
	return nil
}
