// Command soak runs one server for an hour over some thousand clusters. They are created, changed,
// queried and deleted, with names that were never used before. It fails if the live heap or the
// goroutines grow, or if any answer is a 5xx.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// options are what a run is told.
type options struct {
	length   time.Duration
	window   time.Duration
	clusters int
	rate     int
	program  string
	dir      string
	seed     uint64
}

func main() {
	var o options
	flag.DurationVar(&o.length, "for", time.Hour, "how long the traffic goes on")
	flag.DurationVar(&o.window, "window", 0, "time between two lines of figures; 30s, or a twelfth of the run where that is less, if absent")
	flag.IntVar(&o.clusters, "clusters", 2000, "clusters at a time")
	flag.IntVar(&o.rate, "rate", 40, "requests a second")
	flag.StringVar(&o.program, "program", "", "a server that is built already")
	flag.StringVar(&o.dir, "dir", "", "where the data goes; a temporary folder, removed at the end, if absent")
	flag.Uint64Var(&o.seed, "seed", 1, "of the traffic")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func run(o options) (err error) {
	if o.window == 0 {
		o.window = min(30*time.Second, o.length/12)
	}
	if o.clusters < 1 || o.rate < 1 || o.window <= 0 || o.length < 6*o.window {
		return errors.New("want clusters and a rate above 0, and six windows at least")
	}
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "berth-soak-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(o.dir)) }()
	}
	if o.program == "" {
		o.program = filepath.Join(o.dir, "server")
		if out, err := exec.Command("go", "build", "-o", o.program, "./cmd/server").CombinedOutput(); err != nil {
			return fmt.Errorf("build the server: %w\n%s", err, out)
		}
	}
	s, err := launch(o.program, o.dir)
	if err != nil {
		return err
	}
	defer s.Stop()
	fmt.Printf("%s of traffic, %d requests a second over %d clusters, seed %d\n", o.length, o.rate, o.clusters, o.seed)
	ctx, cancel := context.WithTimeout(context.Background(), o.length)
	defer cancel()
	t := newTraffic(s.url, o)
	done := make(chan struct{})
	go func() { t.run(ctx); close(done) }()
	windows, err := watch(ctx, s, t, o.window)
	<-done
	if err != nil {
		return err
	}
	return judge(windows, t.errors())
}
