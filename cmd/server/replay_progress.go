package main

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"berth/internal/jobs/replays"
)

// progress shows how far a batch replay is: a bar on a terminal, elsewhere a
// line now and then.
type progress struct {
	w     io.Writer
	bar   *progressbar.ProgressBar // nil: lines
	began time.Time
	first int64 // done when it began
	last  time.Time
}

// lineEvery is after how long a line is due.
const lineEvery = 5 * time.Second

func newProgress(w io.Writer, job *replays.Job) *progress {
	p := &progress{w: w, began: time.Now(), first: job.Done, last: time.Now()}
	if !isTerminal(w) {
		fmt.Fprintf(w, "batch replay %s of %d decisions\n", job.ID, job.Total)
		return p
	}
	p.bar = newBar(w, job)
	return p
}

// newBar has no rate: its clock starts when it is drawn first, at which a quick job may
// be over. The summary has the rate of the job's own times.
func newBar(w io.Writer, job *replays.Job) *progressbar.ProgressBar {
	return progressbar.NewOptions64(max(job.Total, 1), progressbar.OptionSetWriter(w), progressbar.OptionSetDescription("replaying "+job.Cluster),
		progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionFullWidth())
}

func (p *progress) at(job *replays.Job) {
	if p.bar != nil {
		p.bar.ChangeMax64(max(job.Total, 1))
		_ = p.bar.Set64(job.Done) // a terminal that is gone needs no bar
		return
	}
	if time.Since(p.last) < lineEvery && !job.Ended() {
		return
	}
	p.last = time.Now()
	rate := float64(job.Done-p.first) / max(time.Since(p.began).Seconds(), 1e-9)
	line := fmt.Sprintf("replayed %d of %d, %d different, %d errors, %.0f/s", job.Done, job.Total, job.Different, job.Errors, rate)
	if left := job.Total - job.Done; left > 0 && rate > 0 {
		line += fmt.Sprintf(", %s left", time.Duration(float64(left)/rate*float64(time.Second)).Round(time.Second))
	}
	fmt.Fprintln(p.w, line)
}

func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Exit()
		fmt.Fprintln(p.w)
	}
}
