// Command hostile runs a server with 1 GiB of memory under requests that are made to end it, one kind after the other
// and all together, while a good caller goes on asking. It fails if the server is gone, takes more than the 1 GiB, or
// leaves the good caller without an answer.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

func main() {
	each := flag.Duration("each", 15*time.Second, "time for each vector at most")
	only := flag.String("only", "", "run the vectors whose name holds this")
	flag.Parse()
	if err := run(*each, *only); err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(1)
	}
}

func run(each time.Duration, only string) (err error) {
	dir, err := os.MkdirTemp("", "berth-hostile-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	program := filepath.Join(dir, "server")
	if out, err := exec.Command("go", "build", "-o", program, "./cmd/server").CombinedOutput(); err != nil {
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
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(table, "memory: %s\n", s.bound)
	_, _ = fmt.Fprintln(table, "vector\tstatuses\ttime\tCPU s\tpeak RSS MB\tgood answers\tlongest")
	failed := 0
	try := func(name string, attack func(a *attack)) {
		if !strings.Contains(name, only) {
			return
		}
		row, ok := s.suffer(name, each, attack)
		_, _ = fmt.Fprintln(table, row)
		_, _ = fmt.Fprintln(os.Stderr, row)
		if !ok {
			failed++
		}
	}
	for _, v := range vectors {
		try(v.name, v.run)
	}
	try("all together", func(a *attack) {
		var group sync.WaitGroup
		for _, v := range vectors {
			group.Go(func() { v.run(a) })
		}
		group.Wait()
	})
	if err := table.Flush(); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d vectors did harm", failed)
	}
	return nil
}

// suffer runs one vector beside a good caller and gives its row.
func (s *server) suffer(name string, each time.Duration, run func(a *attack)) (row string, ok bool) {
	a := &attack{server: s, until: time.Now().Add(each), statuses: map[int]int{}}
	began, cpu := time.Now(), s.cpu()
	s.forgetPeak()
	done := make(chan struct{})
	go func() { run(a); close(done) }()
	good, bad, longest := 0, 0, time.Duration(0)
	for running := true; running && s.alive(); {
		at := time.Now()
		if status := s.good(); status == http.StatusOK {
			good++
		} else {
			bad++
		}
		longest = max(longest, time.Since(at))
		select {
		case <-done:
			running = false
		case <-time.After(100 * time.Millisecond):
		}
	}
	<-done
	took := time.Since(began)
	for _, c := range a.conns {
		_ = c.Close()
	}
	peak := s.peak()
	ok = s.alive() && peak <= memory>>20 && good > 0 && s.good() == http.StatusOK
	verdict := ""
	if !ok {
		verdict = "\tHARM"
	}
	return fmt.Sprintf("%s\t%s\t%.1f s\t%.1f\t%d\t%d of %d\t%d ms%s", name, a, took.Seconds(), s.cpu()-cpu, peak, good, good+bad, longest.Milliseconds(), verdict), ok
}

// good is what a kube-scheduler asks all the time.
func (s *server) good() int {
	res, err := (&http.Client{Timeout: 5 * time.Second}).Post(s.url+"/clusters/good/filter", "application/json", strings.NewReader(goodCall))
	if err != nil {
		return 0
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil || !strings.Contains(string(body), `"NodeNames":["n0"`) {
		return 0
	}
	return res.StatusCode
}
