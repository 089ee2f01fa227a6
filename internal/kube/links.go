package kube

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

const (
	shortestPause = 100 * time.Millisecond
	longestPause  = 5 * time.Second
)

// links knows since when which watch is down, and when the apiserver last
// answered at all: a connection that hangs says nothing.
type links struct {
	now  func() time.Time
	ping time.Duration // how often the apiserver is asked for a sign of life

	mu      sync.Mutex
	down    map[string]time.Time // by kind: since when; absent: up
	streams map[string]bool      // by kind: its list comes over the watch that goes on after it
	alive   time.Time            // of the last sign of life
	errs    map[string]string    // by kind: the last thing that went wrong
}

func newLinks(now func() time.Time, ping time.Duration) *links {
	return &links{now: now, ping: ping, down: map[string]time.Time{}, streams: map[string]bool{}, errs: map[string]string{}, alive: now()}
}

func (l *links) lost(kind string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.streams, kind)
	if _, known := l.down[kind]; !known {
		l.down[kind] = l.now()
	}
}

func (l *links) found(kind string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.down, kind)
	delete(l.errs, kind)
	l.alive = l.now()
}

// listed says that a kind was read whole. It is found if that came over a watch;
// else it is found when its watch opens, which may hang.
func (l *links) listed(kind string) {
	l.mu.Lock()
	streams := l.streams[kind]
	l.mu.Unlock()
	if streams {
		l.found(kind)
	}
}

func (l *links) streaming(kind string, is bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.streams[kind] = is
}

func (l *links) failed(kind string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.errs[kind] = err.Error()
}

// problem names a kind that cannot be listed or watched, and why; empty strings
// without any.
func (l *links) problem() (kind, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, text := range l.errs {
		if kind == "" || k < kind {
			kind, why = k, text
		}
	}
	return kind, why
}

// stale is for how long something may have been missed.
func (l *links) stale() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	var longest time.Duration
	if silent := now.Sub(l.alive); silent > 2*l.ping {
		longest = silent
	}
	for _, since := range l.down {
		longest = max(longest, now.Sub(since))
	}
	return longest
}

// probe asks for signs of life until ctx ends.
func (l *links) probe(ctx context.Context, r rest.Interface) {
	tick := time.NewTicker(l.ping)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		limited, cancel := context.WithTimeout(ctx, l.ping)
		err := r.Get().AbsPath("/version").Do(limited).Error()
		cancel()
		if err == nil {
			l.mu.Lock()
			l.alive = l.now()
			l.mu.Unlock()
		}
	}
}

// listWatch lists and watches a kind, and tells links of it. It never takes a
// list from the past: an apiserver that lags behind would take berth back in
// time.
func (l *links) listWatch(k Kind, r rest.Interface) cache.ListerWatcher {
	params := runtime.NewParameterCodec(scheme)
	l.lost(k.Kind)
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			l.streaming(k.Kind, false)
			if o.ResourceVersion == "0" {
				o.ResourceVersion = ""
			}
			return r.Get().Resource(k.Resource).VersionedParams(&o, params).Do(ctx).Get()
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.Watch = true
			w, err := r.Get().Resource(k.Resource).VersionedParams(&o, params).Watch(ctx)
			if err != nil {
				l.lost(k.Kind)
				return nil, err
			}
			if o.SendInitialEvents != nil && *o.SendInitialEvents {
				l.streaming(k.Kind, true) // and found once the whole list has come over it
			} else {
				l.found(k.Kind)
			}
			return watchOver(w, func() { l.lost(k.Kind) }), nil
		},
	}
}

// watch keeps a kind's reflector going until ctx ends. It lists again only where
// the watch cannot go on from where it broke.
func (l *links) watch(ctx context.Context, kind string, r *cache.Reflector) {
	pause := shortestPause
	for ctx.Err() == nil {
		began := l.now()
		err := r.ListAndWatchWithContext(ctx)
		if err != nil && ctx.Err() == nil {
			l.lost(kind)
			l.failed(kind, err)
		}
		if l.now().Sub(began) > longestPause {
			pause = shortestPause
		}
		// At a random time, so that all kinds and all servers do not come back at once.
		sleep(ctx, pause/2+rand.N(pause))
		pause = min(2*pause, longestPause)
	}
}

// overseen is a watch whose end is told.
type overseen struct {
	watch.Interface
	results chan watch.Event
	stopped chan struct{}
	stop    func()
}

func watchOver(w watch.Interface, ended func()) watch.Interface {
	o := &overseen{Interface: w, results: make(chan watch.Event), stopped: make(chan struct{})}
	o.stop = sync.OnceFunc(func() { close(o.stopped) })
	go func() {
		defer close(o.results)
		defer ended()
		for e := range w.ResultChan() {
			select {
			case o.results <- e:
			case <-o.stopped:
				return
			}
		}
	}()
	return o
}

// Stop implements watch.Interface.
func (o *overseen) Stop() {
	o.stop()
	o.Interface.Stop()
}

// ResultChan implements watch.Interface.
func (o *overseen) ResultChan() <-chan watch.Event { return o.results }
