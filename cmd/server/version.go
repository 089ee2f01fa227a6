package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"berth/internal/engine"
	"berth/internal/semantics"
	"berth/internal/version"
)

// versionInfo is what a build knows of itself.
type versionInfo struct {
	Version   string `json:"version"`
	Engine    string `json:"engine"`
	Semantics string `json:"semantics"`
	// Releases are those that decisions can follow.
	Releases []string `json:"releases"`
	Commit   string   `json:"commit"`
	Date     string   `json:"date"`
	Modified bool     `json:"modified"`
	Go       string   `json:"go"`
	Platform string   `json:"platform"`
}

func buildVersion() versionInfo {
	v := versionInfo{
		Version: version.Number, Engine: engine.Version, Semantics: semantics.Default().Name, Releases: semantics.Names(), Commit: cmp.Or(version.Revision, "unknown"), Date: "unknown",
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				v.Commit = s.Value
			case "vcs.time":
				v.Date = s.Value
			case "vcs.modified":
				v.Modified = s.Value == "true"
			}
		}
	}
	return v
}

type versionCmd struct {
	Output string `short:"o" default:"text" enum:"text,json" help:"text or json."`
}

// Run prints the version.
func (c *versionCmd) Run(s streams) error {
	v := buildVersion()
	if c.Output == "json" {
		e := json.NewEncoder(s.out)
		e.SetIndent("", "  ")
		return e.Encode(v)
	}
	_, err := fmt.Fprintf(s.out, "berth %s (engine %s, Kubernetes %s semantics, knows %s, commit %s, %s, %s)\n", v.Version, v.Engine, v.Semantics, semantics.Known(), v.Commit, v.Go, v.Platform)
	return err
}
