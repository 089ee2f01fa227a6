// Command tenancy measures what three tenants notice of a fourth that sends twenty times its share.
// A real server answers all four by their tokens. Rounds in which the fourth keeps to its share and
// rounds in which it does not take turns; of each kind of call, the others' p99 may at most double.
// Then two of them take memory, in processes of 1 and of 4 GiB.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

type options struct {
	length  time.Duration
	rounds  int
	nodes   int
	times   int
	most    float64
	only    string
	program string
	slowest time.Duration
	pods    int
}

// tenants is how many there are; the last one is the noisy one.
const tenants = 4

func main() {
	var o options
	flag.DurationVar(&o.length, "for", 4*time.Second, "how long a round takes")
	flag.IntVar(&o.rounds, "rounds", 6, "rounds of each kind, quiet and noisy ones taking turns")
	flag.IntVar(&o.nodes, "nodes", 1000, "nodes of each tenant's cluster")
	flag.IntVar(&o.times, "times", 20, "how many times its share the noisy tenant sends")
	flag.Float64Var(&o.most, "most", 2, "by how much the others' p99 may grow")
	flag.StringVar(&o.only, "only", "", "one kind of calls: decide, dry, filter, read, replay, scenario; or memory")
	flag.IntVar(&o.pods, "pods", 30_000, "pods of a simulation of the tenants that take memory")
	flag.DurationVar(&o.slowest, "slowest", 100*time.Millisecond, "the p99 of /filter beside tenants that take memory, at most")
	flag.StringVar(&o.program, "program", "", "a server that is built already")
	asNoise := flag.Bool("noise", false, "be the noisy tenant, as standard input has it")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "tenancy [FLAGS] [-- FLAGS OF THE SERVER]")
		flag.PrintDefaults()
	}
	flag.Parse()
	do := func() error { return run(o) }
	if *asNoise {
		do = noise
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "tenancy:", err)
		os.Exit(1)
	}
}

func run(o options) (err error) {
	dir, err := os.MkdirTemp("", "berth-tenancy-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if o.program == "" {
		o.program = filepath.Join(dir, "server")
		if out, err := exec.Command("go", "build", "-o", o.program, "./cmd/server").CombinedOutput(); err != nil {
			return fmt.Errorf("build the server: %w\n%s", err, out)
		}
	}
	if o.only != "memory" {
		err = processors(o, dir)
	}
	if o.only == "" || o.only == "memory" {
		for _, gib := range []int{1, 4} {
			err = errors.Join(err, besideMemory(o, dir, gib))
		}
	}
	return err
}

// processors measures what tenants notice of one that sends too many calls.
func processors(o options, dir string) error {
	s, err := launch(o.program, filepath.Join(dir, "calls"), 0, flag.Args())
	if err != nil {
		return err
	}
	defer s.stop()
	kinds, err := s.prepare(o.nodes)
	if err != nil {
		return err
	}
	fmt.Printf("%d tenants with %d nodes each, the last one at 1 and at %d times its share, %d rounds of %s each\n", tenants, o.nodes, o.times, o.rounds, o.length)
	var errs []error
	for _, k := range kinds {
		if o.only == "" || o.only == k.name {
			errs = append(errs, s.compare(o, k))
		}
	}
	return errors.Join(errs...)
}

// compare measures one kind of calls, and prints and judges it.
func (s *server) compare(o options, k kind) error {
	capacity, err := s.capacity(k, o.length)
	if err != nil {
		return fmt.Errorf("%s: %w", k.name, err)
	}
	// Four at their share are half of what the server takes.
	share := capacity / (2 * tenants)
	var quiet, noisy [tenants]result
	for range o.rounds {
		for _, phase := range []struct {
			into  *[tenants]result
			times int
		}{{&quiet, 1}, {&noisy, o.times}} {
			got, err := s.round(k, share, phase.times, o.length)
			if err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
			for i := range got {
				phase.into[i].add(got[i])
			}
		}
	}
	var before, after result
	for i := range tenants - 1 {
		before.add(quiet[i])
		after.add(noisy[i])
	}
	loud := noisy[tenants-1]
	seconds := float64(o.rounds) * o.length.Seconds()
	ratio := float64(after.at(0.99)) / float64(before.at(0.99))
	fmt.Printf("%-8s takes %5.0f/s, share %4.0f/s; the others: p50 %s to %s, p99 %s to %s, %.2f times, refused %.1f to %.1f %%; the noisy one: %.0f/s sent, %.0f/s answered, p99 %s\n",
		k.name, capacity, share, show(before.at(0.5)), show(after.at(0.5)), show(before.at(0.99)), show(after.at(0.99)), ratio, before.refused(), after.refused(),
		float64(len(loud.Took)+loud.Refused)/seconds, float64(len(loud.Took))/seconds, show(loud.at(0.99)))
	switch {
	case after.refused() > before.refused()+1:
		return fmt.Errorf("%s: of the calls of tenants that keep to their share %.1f %% were refused, %.1f %% without the noisy one", k.name, after.refused(), before.refused())
	case float64(len(loud.Took)+loud.Refused) < 2*share*seconds:
		return fmt.Errorf("%s: the noisy tenant sent too little to mean anything", k.name)
	case ratio > o.most:
		return fmt.Errorf("%s: the others' p99 is %.2f times what it is without the noisy tenant, more than %.2f", k.name, ratio, o.most)
	}
	return nil
}

func show(d time.Duration) string { return d.Round(10 * time.Microsecond).String() }

// result is what one tenant's calls came to.
type result struct {
	Took    []time.Duration // from when a call was due
	Refused int
}

func (r *result) add(more result) {
	r.Took = append(r.Took, more.Took...)
	r.Refused += more.Refused
}

// refused is the part of the calls that were, in percent.
func (r *result) refused() float64 {
	return 100 * float64(r.Refused) / float64(max(1, r.Refused+len(r.Took)))
}

func (r *result) at(part float64) time.Duration {
	if len(r.Took) == 0 {
		return 0
	}
	slices.Sort(r.Took)
	return r.Took[int(part*float64(len(r.Took)-1))]
}
