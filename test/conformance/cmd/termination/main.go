// Command termination tries how berth reports that pods end, who is garbage and who
// is evicted first against Kubernetes' own code.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"berth/test/conformance/progress"
	"berth/test/conformance/termination"
)

func main() {
	server := flag.String("server", "http://127.0.0.1:8080", "berth's address")
	semantics := flag.String("semantics", "", "release that berth answers as; its default if empty")
	n := flag.Int("n", 2000, "pods to end, pods to rank, and pods to collect, each")
	kills := flag.Int("kills", 0, "pods to kill in real time, all at once, to measure their stop timeouts; 0: a tenth of n")
	seed := flag.Uint64("seed", 1, "seed")
	show := flag.Int("show", 10, "differences to show")
	flag.Parse()
	klog.SetLogger(logr.Discard())
	if *kills == 0 {
		*kills = max(*n/10, 1)
	}
	t := &trial{client: &termination.Client{Base: *server}, semantics: *semantics, seed: *seed, show: *show}
	for _, step := range []func() error{func() error { return t.ends(*n) }, func() error { return t.killed(*kills) }, func() error { return t.ranks(*n) }, func() error { return t.tainted(*n) }, func() error { return t.pressed(*n / 5) }, func() error { return t.garbage(*n) }} {
		if err := step(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	if t.differ > 0 {
		os.Exit(1)
	}
}

type trial struct {
	client    *termination.Client
	semantics string
	seed      uint64
	show      int
	differ    int
}

// report counts a difference and shows it.
func (t *trial) report(asked any, difference string) {
	if difference == "" {
		return
	}
	if t.differ++; t.differ <= t.show {
		js, _ := json.Marshal(asked)
		fmt.Printf("%.4000s\n%s\n", js, difference)
	}
}

func (t *trial) ends(n int) error {
	g := termination.NewGenerator(t.seed)
	g.Semantics = t.semantics
	causes := map[string]int{}
	before := t.differ
	meter := progress.Of(n, "pods ended")
	for range n {
		q := g.Question()
		want, err := termination.Oracle(q)
		if err != nil {
			return err
		}
		got, err := t.client.End(q)
		if err != nil {
			js, _ := json.Marshal(q)
			return fmt.Errorf("%s: %w", js, err)
		}
		causes[q.Cause]++
		t.report(q, termination.Compare(q, want, got))
		meter.Step(t.differ - before)
	}
	fmt.Printf("seed %d: %d pods ended (%v), %d differences\n", t.seed, n, causes, t.differ-before)
	return nil
}

// killed lets the kubelet's own code kill pods whose periods are short; each
// takes seconds, so all are killed at once.
func (t *trial) killed(n int) error {
	g := termination.NewGenerator(t.seed)
	g.Short, g.Semantics = true, t.semantics
	questions, wants, errs := make([]termination.Question, n), make([]termination.Ending, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		q := g.Question()
		want, err := termination.Oracle(q)
		if err != nil {
			return err
		}
		questions[i], wants[i] = q, want
		wg.Go(func() { errs[i] = termination.Kill(q, &wants[i]) })
	}
	wg.Wait()
	before, containers := t.differ, 0
	for i, q := range questions {
		if errs[i] != nil {
			return errs[i]
		}
		got, err := t.client.End(q)
		if err != nil {
			return err
		}
		containers += len(wants[i].Timeouts)
		t.report(q, termination.Compare(q, wants[i], got))
	}
	fmt.Printf("seed %d: %d pods with %d containers killed by the kubelet's code, %d differences\n", t.seed, n, containers, t.differ-before)
	return nil
}

func (t *trial) ranks(n int) error {
	const each = 20
	g := termination.NewGenerator(t.seed)
	before := t.differ
	for range (n + each - 1) / each {
		node := g.Node(each)
		d, err := termination.TryNode(t.client, node)
		if err != nil {
			return err
		}
		t.report(node, d)
	}
	fmt.Printf("seed %d: %d pods ranked for eviction, %d differences\n", t.seed, n, t.differ-before)
	return nil
}

func (t *trial) tainted(n int) error {
	g := termination.NewGenerator(t.seed)
	before := t.differ
	for range n {
		q := g.Tainted()
		d, err := termination.TryTainted(t.client, q)
		if err != nil {
			return err
		}
		t.report(q, d)
	}
	fmt.Printf("seed %d: %d pods on tainted nodes, %d differences\n", t.seed, n, t.differ-before)
	return nil
}

func (t *trial) pressed(n int) error {
	g := termination.NewGenerator(t.seed)
	before, evicted := t.differ, 0
	for range n {
		q := g.Pressed()
		gone, d, err := termination.TryPressed(t.client, q)
		if err != nil {
			return err
		}
		evicted += gone
		t.report(q, d)
	}
	fmt.Printf("seed %d: %d nodes under pressure, %d pods evicted, %d differences\n", t.seed, n, evicted, t.differ-before)
	return nil
}

func (t *trial) garbage(n int) error {
	const each = 40
	g := termination.NewGenerator(t.seed)
	before := t.differ
	for i := range (n + each - 1) / each {
		c := g.Cluster(each)
		d, err := termination.TryCluster(t.client, fmt.Sprintf("garbage-%d-%d", t.seed, i%8), c)
		if err != nil {
			return err
		}
		t.report(c, d)
	}
	fmt.Printf("seed %d: %d pods swept by PodGC, %d differences\n", t.seed, n, t.differ-before)
	return nil
}
