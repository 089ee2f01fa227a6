// Command settings puts random configurations to a running berth and to
// kube-scheduler's own code: what one refuses the other has to refuse, and where
// both accept they have to decide alike.
package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"

	"berth/test/conformance/trial"
)

func main() {
	verbose := flag.Bool("v", false, "print the configurations that differ")
	semantics := flag.String("semantics", "", "the release of Kubernetes that berth is to read as")
	kinds := map[string]int{}
	cases := trial.Cases{Name: "settings", What: "configurations", N: 1000}
	cases.Try = func(ctx context.Context, client *trial.Client, seed uint64) ([]trial.Difference, error) {
		client.Semantics = *semantics
		r, err := trial.ReadSettings(ctx, client, seed)
		switch {
		case err != nil:
			return nil, err
		case len(r.Diffs) == 0:
			kinds[r.Kind]++
		case *verbose:
			fmt.Printf("%s\n", r.Config)
		}
		return r.Diffs, nil
	}
	cases.Counted = func() string {
		var b strings.Builder
		for _, k := range slices.Sorted(maps.Keys(kinds)) {
			fmt.Fprintf(&b, "%d %s, ", kinds[k], k)
		}
		return b.String()
	}
	trial.Main(cases.Name, cases.Run)
}
