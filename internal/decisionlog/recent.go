package decisionlog

import "sync"

// maxRecent bounds each generation of recent answers.
const maxRecent = 4096

// podUID names a pod across the names that pods share one after the other.
type podUID struct{ cluster, uid string }

// recent remembers the last value of each pod. What is forgotten is read from the
// records. Two generations are kept, so that a pod that was noted is found again
// while fewer than maxRecent others are.
type recent[V any] struct {
	mu         sync.Mutex
	last, past map[podUID]V
}

func (r *recent[V]) note(k podUID, v V) {
	if k.uid == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil || len(r.last) >= maxRecent {
		r.last, r.past = map[podUID]V{}, r.last
	}
	r.last[k] = v
}

func (r *recent[V]) get(k podUID) (v V, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, ok = r.last[k]; !ok {
		v, ok = r.past[k]
	}
	return v, ok
}
