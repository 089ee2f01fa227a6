// Command conformance puts a running berth on trial against kube-scheduler's
// own code, or writes upstream's verdicts to a file for tests that don't build
// Kubernetes.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"berth/test/conformance/gen"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	code, err := run(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		code = 2
	}
	os.Exit(code)
}

// run gives the exit code: 0 all agree, 1 differences were found.
func run(ctx context.Context) (int, error) {
	n := flag.Int("n", 1000, "number of cases")
	seed := flag.Uint64("seed", 1, "seed of the first case; case i has seed+i")
	server := flag.String("server", "", "URL of the berth on trial")
	out := flag.String("out", "conformance-out", "directory for minimised cases")
	vectors := flag.String("vectors", "", "write cases and verdicts to this .json.gz file instead of trying a server")
	nodes := flag.Int("max-nodes", 40, "most nodes in a case, at least 2")
	pods := flag.Int("max-pods", 80, "most existing pods in a case")
	devices := flag.Int("devices", 30, "cases with devices, in a hundred")
	keep := flag.Int("minimise", 20, "how many differing cases to minimise and write")
	preempting := flag.Bool("preempting", false, "with -vectors: keep only cases in which preemption finds a node")
	flag.Parse()
	opts := gen.Options{MaxNodes: max(2, *nodes), MaxPods: *pods, Devices: *devices}
	switch {
	case *vectors != "":
		return 0, writeVectors(ctx, *vectors, *n, *seed, opts, *preempting)
	case *server != "":
		return try(ctx, *server, *n, *seed, opts, *out, *keep)
	}
	return 2, fmt.Errorf("one of -server and -vectors is needed")
}
