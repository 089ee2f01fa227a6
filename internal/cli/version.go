package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"berth/internal/engine"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Which version is this?", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := a.o.check(); err != nil {
				return err
			}
			v := a.version
			if a.o.output != formJSON {
				_, err := fmt.Fprintf(a.Out, "berth %s (engine %s, Kubernetes %s semantics)\ncommit %s, %s, %s\n", v.Version, engine.Version, engine.Semantics, v.Commit, v.Go, v.Platform)
				return err
			}
			raw, err := json.Marshal(struct {
				Version
				Engine    string `json:"engine"`
				Semantics string `json:"semantics"`
			}{v, engine.Version, engine.Semantics})
			if err != nil {
				return err
			}
			return a.json(raw)
		},
	}
}
