package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// json writes an object of the API as it is, indented.
func (a *app) json(raw []byte) error {
	var out bytes.Buffer
	if err := json.Indent(&out, bytes.TrimSpace(raw), "", "  "); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	out.WriteByte('\n')
	_, err := a.Out.Write(out.Bytes())
	return err
}
