package recall

import (
	"runtime"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// Pool decides for callers that come at the same time: each has a Decider for itself until it
// releases the result. Where all are in use, engine.Decide answers.
type Pool struct {
	mu    sync.Mutex
	idle  []*Decider // the one that was used last comes last, and next
	more  int        // how many may still be made
	bytes int        // what each may keep
}

// maxDeciders bounds a pool's Deciders: together they keep DefaultBytes, and one that keeps little
// forgets kinds of pods before they come again.
const maxDeciders = 8

// NewPool makes a pool of as many Deciders as there are processors, 8 at most, each made when it is
// needed.
func NewPool() *Pool {
	n := min(runtime.GOMAXPROCS(0), maxDeciders)
	return &Pool{more: n, bytes: DefaultBytes / n}
}

// Decide is engine.Decide. The result is to be released.
func (p *Pool) Decide(s *state.State, pod *corev1.Pod, profile *engine.Profile, o engine.Options) (*engine.Result, error) {
	d := p.take()
	if d == nil {
		return engine.Decide(s, pod, profile, o)
	}
	r, err := d.Decide(s, pod, profile, o)
	if err != nil {
		p.put(d)
		return nil, err
	}
	r.Released = func() { p.put(d) }
	return r, nil
}

func (p *Pool) take() (d *Decider) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		d, p.idle = p.idle[n-1], p.idle[:n-1]
	} else if p.more > 0 {
		p.more--
		d = NewDecider(p.bytes)
	}
	return d
}

func (p *Pool) put(d *Decider) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, d)
}

// Drop forgets what the Deciders know that are in no use.
func (p *Pool) Drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.more += len(p.idle)
	p.idle = nil
}
