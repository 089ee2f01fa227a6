// Command controllers tries how berth's scenarios with a clock have controllers act against the
// controllers of Kubernetes.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"berth/test/conformance/controllers"
	"berth/test/conformance/progress"
)

func main() {
	server := flag.String("server", "http://127.0.0.1:8080", "berth's address")
	part := flag.String("part", "", "parts to try, with commas between them; all if empty")
	n := flag.Int("n", 5000, "cases of each part")
	seed := flag.Uint64("seed", 1, "seed of the first case; case i has seed+i")
	show := flag.Int("show", 5, "differences to show of each part")
	out := flag.String("out", "", "directory for the first unexplained case of each part, minimised; none if empty")
	flag.Parse()
	klog.SetLogger(logr.Discard())
	t := &trial{client: &controllers.Client{Base: *server}, n: *n, seed: *seed, show: *show, out: *out}
	names := strings.Split(*part, ",")
	for _, p := range controllers.Parts {
		if *part != "" && !slices.Contains(names, p.Name) {
			continue
		}
		if err := t.part(p); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	if t.tried == 0 {
		fmt.Fprintf(os.Stderr, "no part is called %q\n", *part)
		os.Exit(2)
	}
	if t.unexplained > 0 {
		os.Exit(1)
	}
}

type trial struct {
	client             *controllers.Client
	n                  int
	seed               uint64
	show               int
	out                string
	tried, unexplained int
}

// part tries the cases of one part, some at once, and prints how many differ.
func (t *trial) part(p *controllers.Part) error {
	begun, differ, by, tags := time.Now(), 0, map[string]int{}, map[string]int{}
	meter := progress.Of(t.n, p.Name+" cases")
	type outcome struct {
		k     *controllers.Case
		lines []string
		err   error
	}
	outcomes := make([]outcome, t.n)
	var wg sync.WaitGroup
	var found atomic.Int64
	places := make(chan struct{}, 3) // as many as may be uploaded at once
	for i := range outcomes {
		places <- struct{}{}
		wg.Go(func() {
			o := &outcomes[i]
			o.k = p.DrawCase(t.seed + uint64(i))
			o.lines, o.err = p.Try(t.client, o.k)
			if len(o.lines) > 0 && controllers.Explain(p, o.k, o.lines) == "" {
				found.Add(1)
			}
			meter.Step(int(found.Load()))
			<-places
		})
	}
	wg.Wait()
	for i := range outcomes {
		o := &outcomes[i]
		if o.err != nil {
			js, _ := json.Marshal(o.k)
			return fmt.Errorf("%s, seed %d: %w\n%.4000s", p.Name, o.k.Seed, o.err, js)
		}
		for _, tag := range strings.Split(o.k.Tags(), ",") {
			tags[tag]++
		}
		t.tried++
		switch why := controllers.Explain(p, o.k, o.lines); {
		case len(o.lines) == 0:
		case why != "":
			by[why]++
		default:
			if differ++; differ <= t.show {
				if err := t.print(p, o.k); err != nil {
					return err
				}
			}
		}
	}
	t.unexplained += differ
	delete(tags, "")
	fmt.Printf("%s: seed %d, %d cases, %d explained differences %v, %d unexplained, %.0f s; cases with %v\n",
		p.Name, t.seed, t.n, sum(by), by, differ, time.Since(begun).Seconds(), tags)
	return nil
}

func sum(m map[string]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}

// print prints a difference, made small.
func (t *trial) print(p *controllers.Part, k *controllers.Case) error {
	k, lines, err := p.Minimise(t.client, k)
	if err != nil {
		return err
	}
	js, err := json.MarshalIndent(map[string]any{"seed": k.Seed, "start": k.Start, "events": k.Events, "objects": k.Objects}, "", " ")
	if err != nil {
		return err
	}
	fmt.Printf("%s, seed %d (%s): %s\n%s\n", p.Name, k.Seed, k.Tags(), k.Describe(), strings.Join(lines, "\n"))
	if t.out == "" {
		return nil
	}
	if err := os.MkdirAll(t.out, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(t.out, fmt.Sprintf("%s-%d.json", p.Name, k.Seed)), js, 0o644)
}
