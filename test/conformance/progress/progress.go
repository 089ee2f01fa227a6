// Package progress tells on standard error how far a long trial is.
package progress

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// every is how long a trial is silent at most, while its cases pass.
const every = 10 * time.Second

// Meter counts the cases of one trial. Several callers may use it at once.
type Meter struct {
	mu           sync.Mutex
	out          io.Writer
	now          func() time.Time
	what         string
	total, done  int
	start, spoke time.Time
}

// Of begins to count total cases, which are called what ("cases", "pods").
func Of(total int, what string) *Meter {
	return of(total, what, os.Stderr, time.Now)
}

func of(total int, what string, out io.Writer, now func() time.Time) *Meter {
	m := &Meter{out: out, now: now, what: what, total: total, start: now()}
	m.spoke = m.start
	return m
}

// Step reports that another case is done, and every 10 seconds how many are, of
// which differ differ, and how many were done in a second so far.
func (m *Meter) Step(differ int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done++
	now := m.now()
	if now.Sub(m.spoke) < every {
		return
	}
	m.spoke = now
	fmt.Fprintf(m.out, "%d of %d %s, %d differ, %.1f a second\n", m.done, m.total, m.what, differ, float64(m.done)/now.Sub(m.start).Seconds())
}
