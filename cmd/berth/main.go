// Command berth answers people: why a pod is pending, who would have to go, what comes next. Named
// kubectl-berth it is a plugin of kubectl.
package main

import (
	"cmp"
	"context"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"

	"berth/internal/cli"
	"berth/internal/version"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := cli.Run(ctx, os.Args[0], os.Args[1:], cli.Standard(), build())
	stop()
	os.Exit(code)
}

// build is what the binary knows of itself.
func build() cli.Version {
	v := cli.Version{Version: version.Number, Commit: cmp.Or(version.Revision, "unknown"), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v.Commit = s.Value
			}
		}
	}
	return v
}
