// Command conformance puts a running berth on trial against kube-scheduler's
// own code, or writes upstream's verdicts to a file for tests that don't build
// Kubernetes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"berth/test/conformance/gen"
	"berth/test/conformance/oracle"
	"berth/test/conformance/trial"
)

func main() { trial.Main("conformance", run) }

// run returns the exit code: 0 all agree, 1 differences were found.
func run(ctx context.Context) (int, error) {
	n := flag.Int("n", 1000, "number of cases")
	seed := flag.Uint64("seed", 1, "seed of the first case; case i has seed+i")
	server := flag.String("server", "", "URL of the berth on trial")
	out := flag.String("out", "conformance-out", "directory for minimised cases")
	vectors := flag.String("vectors", "", "write cases and verdicts to this .json.gz file instead of trying a server")
	differing := flag.String("differing", "", "with -server: write the cases that differ to this .json.gz file instead, -each of each group of differences")
	all := flag.String("write-vectors", "", "write all files of golden vectors to this directory instead")
	nodes := flag.Int("max-nodes", 40, "most nodes in a case, at least 2")
	pods := flag.Int("max-pods", 80, "most existing pods in a case")
	storage := flag.Int("storage", 30, "cases with volumes, in a hundred")
	devices := flag.Int("devices", 30, "cases with devices, in a hundred")
	wide := flag.Int("wide", 40, "of the cases with devices, those with what the vectors don't draw, in a hundred")
	lookalikes := flag.Int("lookalikes", 20, "cases with free texts that could be mistaken for others, in a hundred")
	keep := flag.Int("minimise", 20, "how many differing cases to minimise and write")
	each := flag.Int("each", 0, "with -server: minimise so many cases of each group of differences instead, and print no others")
	releases := flag.Int("releases", 0, "cases with what releases of Kubernetes judge differently, in a hundred")
	named := flag.Bool("named", false, "with -releases: let pods that wait name their node, which berth takes for bound ones")
	semantics := flag.String("semantics", "", "with -server: the release of Kubernetes that berth is to answer as")
	explained := flag.String("explained", "", "with -server: file of known differences")
	listen := flag.String("serve", "", "answer at this address as berth does, with upstream's own verdicts, instead of trying a server")
	preempting := flag.Bool("preempting", false, "with -vectors: keep only cases in which preemption finds a node")
	odd := flag.String("odd", "", "with -server: change each case by some of these mutators, or by any of them with all: "+strings.Join(gen.Mutators(), ", "))
	every := flag.Bool("all", false, "with -server: also run every filter plugin on its own, and compare with what is named beside the first")
	config := flag.String("config", "default", "configuration that the cases are decided under: "+strings.Join(gen.Configs, ", "))
	gates := flag.String("gates", "", "feature gates of upstream's plugins, as kube-scheduler's --feature-gates has them")
	flag.Parse()
	if err := oracle.SetGates(*gates); err != nil {
		return 2, err
	}
	opts := gen.Options{MaxNodes: max(2, *nodes), MaxPods: *pods, Storage: *storage, Devices: *devices, Wide: *wide, Releases: *releases, Named: *named, Lookalikes: *lookalikes, Config: *config}
	opts.Shapes = *releases > 0 && *semantics != "" && oracle.ScoresStorage()
	switch {
	case *odd == "all":
		opts.Odd = gen.Mutators()
	case *odd != "":
		opts.Odd = strings.Split(*odd, ",")
	}
	for _, name := range opts.Odd {
		if !slices.Contains(gen.Mutators(), name) {
			return 2, fmt.Errorf("-odd %q: must be all or some of %q", name, gen.Mutators())
		}
	}
	if *config == "mixed" || *config == "any" {
		// Profiles that score by an extended resource, which some of these do, let
		// kube-scheduler v1.36.3 crash where a device class stands behind it
		// (noderesources deviceMatchesClass, a nil pointer).
		opts.Devices = 0
	}
	if !slices.Contains(gen.Configs, *config) {
		return 2, fmt.Errorf("-config %q: must be one of %q", *config, gen.Configs)
	}
	switch {
	case *all != "":
		return 0, writeAllVectors(ctx, *all)
	case *vectors != "":
		return 0, writeVectors(ctx, *vectors, *n, *seed, opts, *preempting)
	case *listen != "":
		return 0, serve(ctx, *listen)
	case *server != "":
		r := &trials{server: *server, semantics: *semantics, n: *n, seed: *seed, opts: opts, out: *out, keep: *keep, each: *each, every: *every}
		if *explained != "" {
			var err error
			if r.explained, err = trial.ReadExplained(*explained); err != nil {
				return 2, err
			}
		}
		if *differing != "" {
			return 0, r.tally().writeDiffering(ctx, *differing)
		}
		return r.try(ctx)
	}
	return 2, fmt.Errorf("one of -server, -serve, -vectors and -write-vectors is needed")
}

// serve answers until the context ends.
func serve(ctx context.Context, address string) error {
	fail := func(err error) { fmt.Fprintln(os.Stderr, "conformance:", err) }
	server := http.Server{Addr: address, Handler: trial.Serve(fail), ReadHeaderTimeout: time.Minute}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
