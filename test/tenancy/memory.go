package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// pause is how long the small tenant waits between two calls of a kind.
const pause = 80 * time.Millisecond

// besideMemory measures what a tenant with 100 nodes notices of two others, each of which keeps a
// simulation running over 3,000 nodes and 40,000 pods, in a process of so many GiB. At 1 GiB the
// two want more than the budget together.
func besideMemory(o options, dir string, gib int) error {
	dir = filepath.Join(dir, fmt.Sprint("memory", gib))
	s, err := launch(o.program, dir, gib<<30, flag.Args())
	if err != nil {
		return err
	}
	defer s.stop()
	small, large := namesOf(100), namesOf(3000)
	for tenant, text := range []string{state(small, 200), state(large, 40_000), state(large, 40_000)} {
		if _, err := s.send(tenant, "/v1/snapshots?cluster=t"+fmt.Sprint(tenant), text); err != nil {
			return err
		}
	}
	decide := fmt.Sprintf(`{"snapshot":"t0@latest","pod":%s}`, pod)
	calls := []struct {
		name    string
		request []byte
		slowest time.Duration // 0: it is not judged
	}{
		{"filter", s.request(0, "POST", "/clusters/t0/filter", fmt.Sprintf(`{"Pod":%s,"NodeNames":[%s]}`, pod, strings.Join(small, ","))), o.slowest},
		{"dry", s.request(0, "POST", "/v1/decisions", strings.Replace(decide, "{", `{"dryRun":true,`, 1)), 0},
		{"decide", s.request(0, "POST", "/v1/decisions", decide), 0},
	}
	length := time.Duration(o.rounds) * o.length
	measure := func() (out [3]result, err error) {
		errs := make([]error, len(calls))
		var group sync.WaitGroup
		for i, c := range calls {
			group.Go(func() { out[i], errs[i] = s.steadily(c.request, length) })
		}
		group.Wait()
		return out, errors.Join(errs...)
	}
	alone, err := measure()
	if err != nil {
		return err
	}
	over, noise := make(chan struct{}), sync.WaitGroup{}
	answered, refused := atomic.Int64{}, atomic.Int64{}
	for tenant := 1; tenant <= 2; tenant++ {
		simulate := s.request(tenant, "POST", "/v1/simulations", fmt.Sprintf(`{"base":"t%d@latest","wait":"30s","arrivals":{"workloads":[{"pod":%s,"count":%d}]}}`, tenant, pod, o.pods))
		noise.Go(func() { s.simulate(simulate, over, &answered, &refused) })
	}
	beside, err := measure()
	close(over)
	noise.Wait()
	var errs []error
	for i, c := range calls {
		was, is := &alone[i], &beside[i]
		fmt.Printf("%d GiB %-8s p99 %s to %s, longest %s to %s, refused %d of %d\n", gib, c.name, show(was.at(0.99)), show(is.at(0.99)), show(was.at(1)), show(is.at(1)), is.Refused, is.Refused+len(is.Took))
		if is.Refused > 0 {
			errs = append(errs, fmt.Errorf("%s at %d GiB: %d calls were refused beside simulations", c.name, gib, is.Refused))
		}
		if p99 := is.at(0.99); c.slowest > 0 && p99 > c.slowest {
			errs = append(errs, fmt.Errorf("%s at %d GiB: p99 %s beside simulations, more than %s", c.name, gib, show(p99), c.slowest))
		}
	}
	fmt.Printf("%d GiB simulate %d answered, %d refused or a job; most memory%s\n", gib, answered.Load(), refused.Load(), s.peak())
	if answered.Load()+refused.Load() == 0 {
		errs = append(errs, errors.New("no simulation ended, so that nothing was measured"))
	}
	return errors.Join(append(errs, err)...)
}

// steadily sends one call after the other with pauses.
func (s *server) steadily(request []byte, length time.Duration) (all result, err error) {
	c, err := dial(s.Host)
	if err != nil {
		return all, err
	}
	defer func() { _ = c.Close() }()
	for began := time.Now(); time.Since(began) < length; time.Sleep(pause) {
		at := time.Now()
		status, err := c.call(request)
		switch {
		case err != nil:
			return all, err
		case status < 300:
			all.Took = append(all.Took, time.Since(at))
		default:
			all.Refused++
		}
	}
	return all, nil
}

// simulate repeats a simulation until over is closed, on a new connection where one is closed.
func (s *server) simulate(request []byte, over chan struct{}, answered, refused *atomic.Int64) {
	for {
		c, err := dial(s.Host)
		for err == nil {
			var status int
			if status, err = c.call(request); err == nil && status == 200 {
				answered.Add(1)
			} else {
				refused.Add(1)
			}
			select {
			case <-over:
				_ = c.Close()
				return
			default:
			}
		}
		if c != nil {
			_ = c.Close()
		}
		time.Sleep(10 * time.Millisecond)
		select {
		case <-over:
			return
		default:
		}
	}
}

// peak is the most memory that the kernel counted.
func (s *server) peak() string {
	for _, name := range []string{"memory.max_usage_in_bytes", "memory.peak"} {
		if raw, err := os.ReadFile(filepath.Join(s.cgroup, name)); s.cgroup != "" && err == nil {
			return " " + strings.TrimSpace(string(raw)) + " bytes"
		}
	}
	return " is not known without a cgroup"
}
