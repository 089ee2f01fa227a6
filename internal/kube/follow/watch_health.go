package follow

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

// watchHealth records since when each watch is down, and when the apiserver last answered: a
// connection that hangs reports no error.
type watchHealth struct {
	now  func() time.Time
	ping time.Duration // interval of the probe

	mu      sync.Mutex
	down    map[string]time.Time // by kind: since when; a kind without an entry is up
	streams map[string]bool      // by kind: its list comes over its watch (WatchList)
	alive   time.Time            // when the apiserver last answered
	errs    map[string]string    // by kind: the last error
}

func newWatchHealth(now func() time.Time, ping time.Duration) *watchHealth {
	return &watchHealth{now: now, ping: ping, down: map[string]time.Time{}, streams: map[string]bool{}, errs: map[string]string{}, alive: now()}
}

func (l *watchHealth) lost(kind string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.streams, kind)
	if _, known := l.down[kind]; !known {
		l.down[kind] = l.now()
	}
}

func (l *watchHealth) found(kind string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.down, kind)
	delete(l.errs, kind)
	l.alive = l.now()
}

// listed is called when a kind was read whole. If the list came over the watch, the watch is up.
// Otherwise it is up once it opens, which may hang.
func (l *watchHealth) listed(kind string) {
	l.mu.Lock()
	streams := l.streams[kind]
	l.mu.Unlock()
	if streams {
		l.found(kind)
	}
}

func (l *watchHealth) streaming(kind string, is bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.streams[kind] = is
}

func (l *watchHealth) failed(kind string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.errs[kind] = err.Error()
}

// problem returns the first kind, in alphabetical order, that cannot be listed or watched, and why.
// It returns empty strings if there is none.
func (l *watchHealth) problem() (kind, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, text := range l.errs {
		if kind == "" || k < kind {
			kind, why = k, text
		}
	}
	return kind, why
}

// stale returns for how long events may have been missed.
func (l *watchHealth) stale() time.Duration {
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

// probe reads the apiserver's version at each interval until ctx ends.
func (l *watchHealth) probe(ctx context.Context, r rest.Interface) {
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

// listWatch returns what lists and watches a kind, and records how its watch fares. It never
// accepts a list from the past: a lagging apiserver would take berth back in time.
func (l *watchHealth) listWatch(k Kind, r rest.Interface) cache.ListerWatcher {
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

// watch runs a kind's reflector until ctx ends. The reflector lists again only where the watch
// cannot resume at the version at which it broke.
func (l *watchHealth) watch(ctx context.Context, kind string, r *cache.Reflector) {
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

// notifyingWatch is a watch that calls a function when it ends.
type notifyingWatch struct {
	watch.Interface
	results chan watch.Event
	stopped chan struct{}
	stop    func()
}

func watchOver(w watch.Interface, ended func()) watch.Interface {
	o := &notifyingWatch{Interface: w, results: make(chan watch.Event), stopped: make(chan struct{})}
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
func (o *notifyingWatch) Stop() {
	o.stop()
	o.Interface.Stop()
}

// ResultChan implements watch.Interface.
func (o *notifyingWatch) ResultChan() <-chan watch.Event { return o.results }
