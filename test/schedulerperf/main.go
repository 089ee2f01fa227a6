// Command schedulerperf plays the workloads of upstream's scheduler_perf
// (test/integration/scheduler_perf of k8s.io/kubernetes) against a server of berth's, and prints
// pods a second beside the thresholds that upstream's CI holds kube-scheduler to. Those are with an
// apiserver and etcd, on other machines: the ratios are orientation.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"berth/test/pgtest"
)

type options struct {
	Module      string `default:"test/conformance" help:"The module whose release of Kubernetes has the workloads."`
	Only        string `help:"Only cases with this in their name."`
	Store       string `default:"sqlite" enum:"sqlite,postgres" help:"sqlite or postgres."`
	Connections int    `default:"16" help:"Connections of single calls."`
	Batch       int    `default:"1000" help:"Pods of a placement."`
	Rounds      int    `default:"3" help:"Rounds of a row, the ways taking turns; the median counts."`
	List        bool   `help:"List the rows and end."`
}

func main() {
	var o options
	kong.Parse(&o, kong.Name("schedulerperf"), kong.Description("Upstream's scheduler_perf workloads against a server."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "schedulerperf:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	from, version, err := upstream(o.Module)
	if err != nil {
		return err
	}
	list, err := cases(from)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "berth-schedulerperf-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	program, database := filepath.Join(dir, "server"), ""
	if !o.List {
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/server").CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		if o.Store == "postgres" {
			s, err := pgtest.Start(pgtest.Options{})
			if err != nil {
				return err
			}
			defer func() { _ = s.Stop() }()
			database = s.URL()
			migrate := exec.CommandContext(ctx, program, "migrate", "up")
			migrate.Env = append(os.Environ(), "DATABASE_URL="+database)
			if out, err := migrate.CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
		}
	}
	fmt.Printf("scheduler_perf of %s, %s, %d connections, placements of %d, median of %d; pods a second, and times the threshold\n\n", version, o.Store, o.Connections, o.Batch, o.Rounds)
	fmt.Printf("| case | threshold | single calls | placements | simulated |\n| --- | --- | --- | --- | --- |\n")
	var failed error
	for i, c := range list {
		if o.Only != "" && !strings.Contains(c.Name, o.Only) {
			continue
		}
		w := c.chosen()
		title := c.Name + " " + w.Name
		var not unplayed
		s, err := c.compile(w)
		switch {
		case errors.As(err, &not):
			fmt.Printf("| %s | %.0f | not played: %s | | |\n", title, w.pods(), string(not))
			continue
		case err == nil && o.List:
			fmt.Printf("| %s | %.0f | %d nodes, %d pods, %d beside them | | |\n", title, s.threshold, s.nodes, s.measure.count, len(s.beside))
			continue
		case err == nil:
			err = o.row(ctx, title, s, program, filepath.Join(dir, fmt.Sprint(i)), database, fmt.Sprint("w", i))
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", title, err))
		}
	}
	return failed
}

// row measures a workload in each way, in turns.
func (o options) row(ctx context.Context, title string, s *scene, program, dir, database, cluster string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	st, err := o.set(s, program, dir, database, cluster)
	if err != nil {
		return err
	}
	defer st.Stop()
	ways := []func(context.Context) (float64, error){st.single, st.placed, st.simulated}
	rates := make([][]float64, len(ways))
	for range o.Rounds {
		for i, way := range ways {
			r, err := way(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", []string{"single calls", "placements", "simulated"}[i], err)
			}
			rates[i] = append(rates[i], r)
		}
	}
	threshold := "–"
	if s.threshold > 0 {
		threshold = fmt.Sprintf("%.0f", s.threshold)
	}
	fmt.Printf("| %s | %s |", title, threshold)
	for _, list := range rates {
		slices.Sort(list)
		r := list[len(list)/2]
		if r == 0 {
			fmt.Print(" too many events |")
			continue
		}
		if fmt.Printf(" %.0f", r); s.threshold > 0 {
			fmt.Printf(" (%.0fx)", r/s.threshold)
		}
		fmt.Print(" |")
	}
	fmt.Println()
	return nil
}
