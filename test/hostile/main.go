// Command hostile runs a server with 1 GiB of memory under requests that are made to end it, one
// kind after the other and all together, while a good caller goes on asking. It fails if the server
// is gone, takes more than the 1 GiB, or leaves the good caller without an answer. go test runs a
// part of it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"text/tabwriter"
	"time"
)

func main() {
	each := flag.Duration("each", 15*time.Second, "time for each vector at most")
	only := flag.String("only", "", "run the vectors whose name matches this regular expression")
	audited := flag.Bool("audit", false, "send each request of the audit to a server of its own, and write a table")
	flag.Parse()
	names, err := regexp.Compile(*only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostile: -only:", err)
		os.Exit(2)
	}
	if *audited {
		if err := audit(os.Stdout, names.MatchString); err != nil {
			fmt.Fprintln(os.Stderr, "hostile:", err)
			os.Exit(1)
		}
		return
	}
	pick := func(v vector) bool { return names.MatchString(v.name) }
	if err := run(os.Stdout, *each, pick, names.MatchString("all together")); err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(1)
	}
}

// vector is one kind of hostile request.
type vector struct {
	name string
	run  func(a *attack)
}

// vectors are all there are.
var vectors = slices.Concat(review, pods, verbs, scenarios, states)

// run runs the vectors that pick picks, and all of these at once.
func run(out io.Writer, each time.Duration, pick func(vector) bool, together bool) (err error) {
	dir, err := os.MkdirTemp("", "berth-hostile-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	program := filepath.Join(dir, "server")
	if out, err := exec.Command("go", "build", "-o", program, "berth/cmd/server").CombinedOutput(); err != nil {
		return fmt.Errorf("build the server: %w\n%s", err, out)
	}
	s, err := launch(program, dir)
	if err != nil {
		return err
	}
	defer s.stop()
	if err := s.prepare(); err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(table, "memory: %s\n", s.bound)
	_, _ = fmt.Fprintln(table, "vector\tstatuses\ttime\tCPU s\tpeak RSS MB\t/filter\tp99\tlongest\treads, decisions\tp99\tlongest")
	failed := 0
	try := func(v vector) {
		row, ok := s.suffer(v.name, each, v.run)
		_, _ = fmt.Fprintln(table, row)
		_, _ = fmt.Fprintln(os.Stderr, row)
		if !ok {
			failed++
		}
	}
	var picked []vector
	for _, v := range vectors {
		if pick(v) {
			picked = append(picked, v)
		}
	}
	for _, v := range picked {
		if s.Alive() {
			try(v)
		}
	}
	if together && s.Alive() {
		try(vector{"all together", func(a *attack) {
			var group sync.WaitGroup
			for _, v := range picked {
				group.Go(func() { v.run(a) })
			}
			group.Wait()
		}})
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d vectors did harm", failed)
	}
	return nil
}

// suffer runs one vector beside a good caller and returns its row.
func (s *server) suffer(name string, each time.Duration, run func(a *attack)) (row string, ok bool) {
	a := &attack{server: s, until: time.Now().Add(each), statuses: map[int]int{}}
	began, cpu := time.Now(), s.cpu()
	s.forgetPeak()
	done := make(chan struct{})
	go func() { run(a); close(done) }()
	scheduler, person := s.callers(done)
	<-done
	took := time.Since(began)
	for _, c := range a.conns {
		_ = c.Close()
	}
	peak := s.peak()
	verdict := ""
	// In a cgroup the kernel counts, which leaves out pages of files that the RSS has.
	switch late, well := s.well(); {
	case !s.Alive():
		verdict = "\tHARM: the server is gone"
	case s.cgroup == "" && peak > memory>>20:
		verdict = "\tHARM: too much memory"
	case len(scheduler.took) == 0:
		verdict = "\tHARM: no good answer"
	case !well:
		verdict = "\tHARM: no answer afterwards: " + late
	}
	return fmt.Sprintf("%s\t%s\t%.1f s\t%.1f\t%d\t%s\t%s%s", name, a, took.Seconds(), s.cpu()-cpu, peak,
		scheduler, person, verdict), verdict == ""
}
