package main

import (
	"strings"
	"testing"
)

func TestJudge(t *testing.T) {
	series := func(heap, goroutines func(i int) float64) (list []window) {
		for i := range 30 {
			list = append(list, window{heap: heap(i), goroutines: int(goroutines(i))})
		}
		return list
	}
	flat := func(i int) float64 { return 100 + float64(i%3) }
	slope := func(i int) float64 { return 100 + 5*float64(i) }
	for _, c := range []struct {
		name    string
		windows []window
		failed  []string
		want    string
	}{
		{"flat", series(flat, flat), nil, ""},
		{"heap", series(slope, flat), nil, "the live heap grew"},
		{"goroutines", series(flat, slope), nil, "the goroutines grew"},
		{"answers", series(flat, flat), []string{"POST /v1/decisions: 500"}, "500"},
		{"short", series(flat, flat)[:5], nil, "too few"},
	} {
		err := judge(c.windows, c.failed)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestReadFigures(t *testing.T) {
	const text = "# HELP x\ngo_memstats_heap_alloc_bytes 2.5e+06\ngo_goroutines 12\nprocess_open_fds 9\nprocess_resident_memory_bytes 3e+07\nprocess_cpu_seconds_total 1.5\n"
	f, err := readFigures(strings.NewReader(text))
	if want := (figures{heap: 2.5, goroutines: 12, files: 9, rss: 30, cpu: 1.5}); err != nil || f != want {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := readFigures(strings.NewReader(text[:60])); err == nil {
		t.Error("figures that are missing are not noticed")
	}
}
