package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"berth/test/process"
)

// row is a call that users make.
type row struct {
	name  string
	nodes int // of its cluster; 0: of its own making
	// prepare fills a server that nothing else uses.
	prepare func(s *side) error
	// call makes one call; i differs in each.
	call func(s *side, i int) error
	// connections make calls at once; 0 is one.
	connections int
	// memory has the row measure resident bytes after prepare in place of calls.
	memory bool
}

func (r *row) title() string {
	if r.nodes == 0 {
		return r.name
	}
	return fmt.Sprintf("%s, %d nodes", r.name, r.nodes)
}

// sample is what one measurement came to, for one call.
type sample struct{ p50, cpu float64 } // nanoseconds, or bytes

// figures are the medians of a row.
type figures struct {
	before, now  sample
	ratio, cheap float64 // medians of the pairs' ratios, of time and of CPU
}

// worse is the ratio that counts.
func (f *figures) worse() float64 { return min(f.ratio, f.cheap) }

func (f *figures) line(r *row) string {
	show := func(v float64) string {
		if r.memory {
			return fmt.Sprintf("%.0f MiB", v/(1<<20))
		}
		return time.Duration(v).Round(time.Duration(max(1, v/1000))).String()
	}
	return fmt.Sprintf("%-44s %10s %10s %6.3f %10s %10s %6.3f", r.title(), show(f.before.p50), show(f.now.p50), f.ratio, show(f.before.cpu), show(f.now.cpu), f.cheap)
}

// compare measures a row: each side on a fresh server, in turns, the first of a pair alternating.
func compare(ctx context.Context, o options, dir string, r *row, old, now *programs) (f *figures, err error) {
	var sides [2]*side
	for i, p := range []*programs{old, now} {
		at := filepath.Join(dir, fmt.Sprint("row", i))
		if err := errors.Join(os.RemoveAll(at), os.MkdirAll(at, 0o755)); err != nil {
			return nil, err
		}
		s, err := p.start(at)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.commit, err)
		}
		defer s.stop()
		if err := r.prepare(s); err != nil {
			return nil, fmt.Errorf("%s: %w", p.commit, err)
		}
		sides[i] = s
	}
	if r.memory {
		return remembered(sides)
	}
	var samples [2][]sample
	var ratios, cheap []float64
	for pair := range o.pairs + 1 { // the first one warms up
		var got [2]sample
		for k := range sides {
			i := (k + pair) % 2
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if got[i], err = r.measure(sides[i], o.length); err != nil && i == 0 {
				return nil, fmt.Errorf("%w: %w", errNoAnswer, err)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", sides[i].commit, err)
			}
		}
		if pair == 0 && o.pairs > 1 {
			continue
		}
		for i := range samples {
			samples[i] = append(samples[i], got[i])
		}
		ratios, cheap = append(ratios, got[0].p50/got[1].p50), append(cheap, got[0].cpu/got[1].cpu)
	}
	return &figures{middle(samples[0]), middle(samples[1]), median(ratios), median(cheap)}, nil
}

// errNoAnswer is of a row that the commit before could not answer, which has no ratio.
var errNoAnswer = errors.New("no answer before")

// remembered compares what two servers keep resident.
func remembered(sides [2]*side) (*figures, error) {
	var bytes [2]float64
	for i, s := range sides {
		time.Sleep(2 * time.Second) // what the upload left is collected
		n, err := s.resident()
		if err != nil {
			return nil, err
		}
		bytes[i] = float64(n)
	}
	return &figures{sample{bytes[0], bytes[0]}, sample{bytes[1], bytes[1]}, bytes[0] / bytes[1], bytes[0] / bytes[1]}, nil
}

// legible is how much CPU a measurement has to see, since the system counts it in ticks.
const legible = 5 * time.Second / process.Ticks

// measure calls for a while, on all connections, and goes on where the CPU is too little to be
// read.
func (r *row) measure(s *side, length time.Duration) (sample, error) {
	before, err := s.cpu()
	if err != nil {
		return sample{}, err
	}
	var took []time.Duration
	after := before
	for phase := 0; phase < 4 && after-before < legible; phase++ {
		more, err := r.calls(s, length)
		if err != nil {
			return sample{}, err
		}
		took = append(took, more...)
		if after, err = s.cpu(); err != nil {
			return sample{}, err
		}
	}
	slices.Sort(took)
	return sample{float64(took[len(took)/2]), float64(max(after-before, 1)) / float64(len(took))}, nil
}

// calls makes one call at least on each connection, and more until the time is over.
func (r *row) calls(s *side, length time.Duration) (took []time.Duration, err error) {
	var mu sync.Mutex
	var group sync.WaitGroup
	began := time.Now()
	for range max(1, r.connections) {
		group.Go(func() {
			for first := true; first || time.Since(began) < length; first = false {
				mu.Lock()
				i, failed := s.count, err != nil
				s.count++
				mu.Unlock()
				if failed {
					return
				}
				at := time.Now()
				callErr := r.call(s, i)
				mu.Lock()
				took, err = append(took, time.Since(at)), errors.Join(err, callErr)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return took, err
}

func middle(list []sample) (m sample) {
	var p50, cpu []float64
	for _, s := range list {
		p50, cpu = append(p50, s.p50), append(cpu, s.cpu)
	}
	return sample{median(p50), median(cpu)}
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}
