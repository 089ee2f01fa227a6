package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"berth/internal/handlers/limits"
)

// refuseGone returns an error that names the flag, or the environment variable, of a limit that can
// be set no more, and its value.
func refuseGone(args []string, getenv func(string) string) error {
	gone := limits.FixedValues()
	for _, name := range slices.Sorted(maps.Keys(gone)) {
		given := "--" + name
		if env := "BERTH_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")); getenv(env) != "" {
			given = env
		} else if !slices.ContainsFunc(args, func(arg string) bool { return arg == given || strings.HasPrefix(arg, given+"=") }) {
			continue
		}
		return fmt.Errorf("%s is gone: it is %s for every server now; leave it out (docs/configuration.md#limits)", given, gone[name])
	}
	return nil
}
