//go:build linux

package main

import (
	"slices"
	"sync"
	"time"
)

// Classes of calls, for figures and for the question whether a replica is well.
const (
	classExtender = "extender" // filter, prioritize
	classDecide   = "decide"   // without bind
	classWrite    = "write"    // whatever makes a revision
	classRead     = "read"
)

// How a call ended.
const (
	endOK      = "ok"
	endRefused = "refused" // 503, 429: said so in time
	endLost    = "lost race"
	endBroken  = "no answer"
)

// sample is one call.
type sample struct {
	phase, class, end string
	replica           int
	began             time.Time
	took              time.Duration
}

// meter counts calls by what was broken while they ran.
type meter struct {
	replicas []string

	mu       sync.Mutex
	phase    string
	since    time.Time // when the phase began
	samples  []sample
	inFlight int
	okAt     map[okKey]time.Time // of the start of the last call that was answered
}

type okKey struct {
	replica int
	class   string
}

// calm is the phase in which nothing is broken; settling is between a fault's
// end and the recovery from it.
const (
	calm     = "calm"
	settling = "after a fault"
)

func newMeter(replicas []string) *meter {
	return &meter{replicas: replicas, phase: calm, since: time.Now(), okAt: map[okKey]time.Time{}}
}

func (m *meter) enter(phase string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.phase, m.since = phase, time.Now()
}

// begin notes that a call is on its way.
func (m *meter) begin() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inFlight++
	return m.phase
}

// end notes how it went. A call that saw two phases belongs to the one that is
// not calm.
func (m *meter) end(phase, class, end string, replica int, began time.Time) (now string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inFlight--
	if phase == calm {
		phase = m.phase
	}
	m.samples = append(m.samples, sample{phase, class, end, replica, began, time.Since(began)})
	if end == endOK || end == endLost {
		k := okKey{replica, class}
		if m.okAt[k].Before(began) {
			m.okAt[k] = began
		}
	}
	return phase
}

// load is what is going on right now: decisions answered in the last second, and
// calls in flight.
func (m *meter) load() (decisions, inFlight int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	after := time.Now().Add(-time.Second)
	for i := len(m.samples) - 1; i >= 0 && m.samples[i].began.After(after.Add(-time.Second)); i-- {
		s := &m.samples[i]
		if s.end == endOK && s.class != classRead && s.began.Add(s.took).After(after) {
			decisions++
		}
	}
	return decisions, m.inFlight
}

// answeredSince reports whether a replica answered a call of the class that began
// after the moment.
func (m *meter) answeredSince(replica int, class string, at time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.okAt[okKey{replica, class}].After(at)
}

// figures are what a phase's calls of a class came to.
type figures struct {
	calls, ok, refused, lost, broken int
	p50, p99, max                    time.Duration // of those answered
}

func (m *meter) figures(pick func(*sample) bool) figures {
	m.mu.Lock()
	defer m.mu.Unlock()
	var f figures
	var took []time.Duration
	for i := range m.samples {
		s := &m.samples[i]
		if !pick(s) {
			continue
		}
		f.calls++
		switch s.end {
		case endOK:
			f.ok++
			took = append(took, s.took)
		case endRefused:
			f.refused++
		case endLost:
			f.lost++
		case endBroken:
			f.broken++
		}
	}
	f.p50, f.p99, f.max = quantiles(took)
	return f
}

func quantiles(took []time.Duration) (p50, p99, most time.Duration) {
	if len(took) == 0 {
		return 0, 0, 0
	}
	slices.Sort(took)
	return took[len(took)/2], took[len(took)*99/100], took[len(took)-1]
}

// phases lists the phases that there were, in order.
func (m *meter) phases() (list []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.samples {
		if p := m.samples[i].phase; !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}
