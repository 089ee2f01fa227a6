package main

import (
	"bytes"
	"strings"
	"testing"

	"berth/internal/jobs/replays"
)

// TestBarOfAQuickJob: a job that is over when the bar is drawn has no rate that the bar
// could know.
func TestBarOfAQuickJob(t *testing.T) {
	var out bytes.Buffer
	job := &replays.Job{Cluster: "prod", Total: 4500, Done: 4500}
	p := &progress{w: &out, bar: newBar(&out, job)}
	p.at(job)
	p.end()
	if !strings.Contains(out.String(), "4500/4500") || strings.Contains(out.String(), "/s") {
		t.Errorf("%q", out.String())
	}
}
