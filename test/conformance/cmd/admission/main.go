// Command admission tries berth's admission of pods against the API server's.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"berth/test/conformance/admit"
	"berth/test/conformance/progress"
)

func main() {
	server := flag.String("server", "http://127.0.0.1:8080", "berth's address")
	n := flag.Int("n", 2000, "pods to create; as many are updated")
	seed := flag.Uint64("seed", 1, "seed")
	show := flag.Int("show", 10, "differences to show")
	draw := flag.Bool("draw", false, "only write n cases and those of each field, a line each")
	judge := flag.Bool("judge", false, "only write what the release of this build says of the cases that it reads, a line each")
	flag.Parse()
	var differ int
	var err error
	switch {
	case *draw:
		err = drawn(*n, *seed)
	case *judge:
		err = judged()
	default:
		differ, err = run(*server, *n, *seed, *show)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if differ > 0 {
		os.Exit(1)
	}
}

func drawn(n int, seed uint64) error {
	out := json.NewEncoder(os.Stdout)
	for _, c := range admit.Draw(n, seed) {
		if err := out.Encode(c); err != nil {
			return err
		}
	}
	return nil
}

func judged() error {
	o, err := admit.NewOracle(append(admit.Classes(true), admit.SystemClasses()...))
	if err != nil {
		return err
	}
	return o.Serve(os.Stdin, os.Stdout)
}

func run(server string, n int, seed uint64, show int) (differ int, err error) {
	client := &admit.Client{Base: server, Cluster: fmt.Sprint("admission-", seed%2)}
	// Half of the time with a default class: the API server's side is told the
	// built-in classes by their names, berth knows them.
	classes := admit.Classes(seed%2 == 0)
	known, err := admit.NewOracle(append(classes, admit.SystemClasses()...))
	if err != nil {
		return 0, err
	}
	oracle, err := known.In(&admit.Scene{})
	if err != nil {
		return 0, err
	}
	for _, c := range classes {
		if err := client.Class(c); err != nil {
			return 0, err
		}
	}
	if err := client.Upload((&admit.Scene{}).Objects()); err != nil {
		return 0, err
	}
	g := admit.NewGenerator(seed)
	allowed, updates, allowedUpdates := 0, 0, 0
	kinds := map[string]int{}
	check := func(what string, pod, old json.RawMessage, want admit.Verdict) error {
		got, err := client.Judge(pod, old)
		if err != nil {
			return fmt.Errorf("%s %s: %w", what, pod, err)
		}
		for _, t := range want.Types {
			kinds[t]++
		}
		if d := admit.Compare(want, got); d != "" {
			if differ++; differ <= show {
				fmt.Printf("%s %.3000s\n%s\n", what, pod, d)
			}
		}
		return nil
	}
	meter := progress.Of(n, "creates")
	for range n {
		pod := g.Create()
		want, err := oracle.Create(pod)
		if err != nil {
			return differ, fmt.Errorf("oracle: %s: %w", pod, err)
		}
		if err := check("CREATE", pod, nil, want); err != nil {
			return differ, err
		}
		meter.Step(differ)
		if !want.Allowed {
			continue
		}
		allowed++
		old := admit.Stored(want.Pod)
		for range 3 {
			next := g.Update(old)
			want, err := oracle.Update(next, old)
			if err != nil {
				return differ, fmt.Errorf("oracle: %s: %w", next, err)
			}
			if err := check("UPDATE", next, old, want); err != nil {
				return differ, err
			}
			if updates++; want.Allowed {
				allowedUpdates++
			}
		}
	}
	fmt.Printf("seed %d: %d creates (%d allowed), %d updates (%d allowed), %d kinds of errors (field and type), %d differences\n",
		seed, n, allowed, updates, allowedUpdates, len(kinds), differ)
	under := &scenes{client: client, oracle: known, g: g, show: show}
	if err := under.run(n); err != nil {
		return differ, err
	}
	return differ + under.differ, nil
}
