package events

import (
	"context"
	"sync"
	"time"

	"berth/internal/handlers/admit"
)

// pulseEvery is how often the ends of the chains are read while a reader waits.
const pulseEvery = 200 * time.Millisecond

// pulse reads the ends of the chains of clusters that readers wait for, once for all of them. It is
// what finds commits of other processes too. The zero value with a log is ready.
type pulse struct {
	log admit.EventLog

	mu      sync.Mutex
	waiting map[string]map[chan struct{}]int64 // by cluster: readers, and the seal that each knows
	running bool
}

// wait blocks until a cluster's chain has another end than the seal of a number, or ctx ends.
func (p *pulse) wait(ctx context.Context, cluster string, seal int64) {
	moved := make(chan struct{})
	p.mu.Lock()
	if p.waiting == nil {
		p.waiting = map[string]map[chan struct{}]int64{}
	}
	if p.waiting[cluster] == nil {
		p.waiting[cluster] = map[chan struct{}]int64{}
	}
	p.waiting[cluster][moved] = seal
	if !p.running {
		p.running = true
		go p.run()
	}
	p.mu.Unlock()
	defer p.leave(cluster, moved)
	select {
	case <-moved:
	case <-ctx.Done():
	}
}

func (p *pulse) leave(cluster string, moved chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waiting[cluster], moved)
	if len(p.waiting[cluster]) == 0 {
		delete(p.waiting, cluster)
	}
}

// run looks at the chains until no reader waits.
func (p *pulse) run() {
	for {
		p.mu.Lock()
		if p.running = len(p.waiting) > 0; !p.running {
			p.mu.Unlock()
			return
		}
		clusters := make([]string, 0, len(p.waiting))
		for cluster := range p.waiting {
			clusters = append(clusters, cluster)
		}
		p.mu.Unlock()
		for _, cluster := range clusters {
			p.look(cluster)
		}
		time.Sleep(pulseEvery)
	}
}

// look wakes the readers of a cluster whose chain has moved. Where it cannot be read they find out
// themselves.
func (p *pulse) look(cluster string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	heads, err := p.log.SealHeads(ctx, cluster)
	p.mu.Lock()
	defer p.mu.Unlock()
	for moved, seal := range p.waiting[cluster] {
		if err != nil || len(heads) == 0 || heads[0].Number != seal {
			close(moved)
			delete(p.waiting[cluster], moved)
		}
	}
}
