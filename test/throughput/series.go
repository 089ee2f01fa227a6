//go:build unix

package main

import (
	"fmt"
	"slices"
	"syscall"
	"time"
)

// series is what the rounds of one candidate came to.
type series struct {
	rates []float64 // a second
	cpus  []float64 // microseconds of this process, each
}

// add measures one round.
func (s *series) add(measure func() (float64, error)) error {
	before, err := processTime()
	if err != nil {
		return err
	}
	began := time.Now()
	rate, err := measure()
	if err != nil {
		return err
	}
	spent := time.Since(began)
	after, err := processTime()
	if err != nil {
		return err
	}
	s.rates = append(s.rates, rate)
	s.cpus = append(s.cpus, float64((after-before).Microseconds())/(rate*spent.Seconds()))
	return nil
}

func (s *series) rate() float64 { return median(s.rates) }
func (s *series) cpu() float64  { return median(s.cpus) }

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

// processTime is the time that this process has had of the processors.
func processTime() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, fmt.Errorf("ask for the process's time: %w", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
