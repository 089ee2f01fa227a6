package revision

import "sync"

// background counts the goroutines that a manager has begun. A sync.WaitGroup would not do: a call
// that was cut off may begin one while Close waits for none, which a WaitGroup forbids.
type background struct {
	mu      sync.Mutex
	running int
	idle    chan struct{} // to be closed when none is running; nil: no goroutine waits
}

// Go calls f in a new goroutine.
func (b *background) Go(f func()) {
	b.mu.Lock()
	b.running++
	b.mu.Unlock()
	go func() {
		defer b.done()
		f()
	}()
}

func (b *background) done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running--
	if b.running == 0 && b.idle != nil {
		close(b.idle)
		b.idle = nil
	}
}

// Wait ends once no goroutine is running. Others may begin one meanwhile.
func (b *background) Wait() {
	b.mu.Lock()
	if b.running == 0 {
		b.mu.Unlock()
		return
	}
	if b.idle == nil {
		b.idle = make(chan struct{})
	}
	idle := b.idle
	b.mu.Unlock()
	<-idle
}
