package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// What the last third may have more than the second. The part in MB is for short runs: it is a
// large state more or less.
const (
	heapMargin      = 1.10
	heapAllowance   = 3
	goroutineMargin = 20
)

// window is what was seen in one stretch of time. A collection cannot be asked for over HTTP, so
// the lowest heap seen stands for what lives.
type window struct {
	heap       float64 // MB, the lowest
	goroutines int     // the lowest
	last       figures
}

// watch looks at the server once a second and prints a line a window, until the traffic ends.
func watch(ctx context.Context, s *server, t *traffic, each time.Duration) ([]window, error) {
	fmt.Println("    time  live MB  goroutines  files  RSS MB    CPU  clusters  requests  errors")
	var windows []window
	began := time.Now()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	w, ends, cpu := window{}, began.Add(each), 0.0
	for {
		select {
		case <-ctx.Done():
			return windows, nil
		case <-s.Ended:
			return nil, errors.New("the server ended")
		case <-tick.C:
		}
		f, err := s.look()
		if err != nil {
			if ctx.Err() != nil {
				return windows, nil
			}
			return nil, fmt.Errorf("read the figures: %w", err)
		}
		if w.heap == 0 || f.heap < w.heap {
			w.heap = f.heap
		}
		if w.goroutines == 0 || f.goroutines < w.goroutines {
			w.goroutines = f.goroutines
		}
		if w.last = f; time.Now().Before(ends) {
			continue
		}
		clusters, requests, bad := t.count()
		fmt.Printf("%8s  %7.1f  %10d  %5d  %6.0f  %4.0f%%  %8d  %8d  %6d\n", time.Since(began).Truncate(time.Second),
			w.heap, w.goroutines, f.files, f.rss, 100*(f.cpu-cpu)/each.Seconds(), clusters, requests, bad)
		windows, w, ends, cpu = append(windows, w), window{}, ends.Add(each), f.cpu
	}
}

// judge holds the last third against the second, by their lowest windows: requests that are in
// flight for long on a busy machine keep memory, too, and what leaks raises even the lowest.
func judge(windows []window, failed []string) error {
	n := len(windows) / 3
	if n < 2 {
		return fmt.Errorf("%d windows are too few", len(windows))
	}
	of := func(list []window, f func(window) float64) float64 {
		lowest := f(list[0])
		for _, w := range list {
			lowest = min(lowest, f(w))
		}
		return lowest
	}
	heap := func(w window) float64 { return w.heap }
	goroutines := func(w window) float64 { return float64(w.goroutines) }
	second, last := windows[len(windows)-2*n:len(windows)-n], windows[len(windows)-n:]
	a, b, g, h := of(second, heap), of(last, heap), of(second, goroutines), of(last, goroutines)
	fmt.Printf("lowest windows of the second third and the last: live heap %.1f and %.1f MB, goroutines %.0f and %.0f\n", a, b, g, h)
	var errs []error
	if b > heapMargin*a+heapAllowance {
		errs = append(errs, fmt.Errorf("the live heap grew from %.1f to %.1f MB", a, b))
	}
	if h > g+goroutineMargin {
		errs = append(errs, fmt.Errorf("the goroutines grew from %.0f to %.0f", g, h))
	}
	for _, f := range failed {
		errs = append(errs, errors.New(f))
	}
	return errors.Join(errs...)
}
