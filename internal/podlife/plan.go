package podlife

import (
	"slices"
)

// plan is what a kubelet would start next.
type plan struct {
	// start marks the init containers that are to run now.
	start []bool
	// last is the last init container that the runtime knows; -1 without one.
	last int
	// initialized lets main containers run.
	initialized bool
	// mainsDone: no main container runs or will run, so the pod is stopped.
	mainsDone bool
	// failed is the init container whose end stops the pod; "" without one.
	failed string
}

// plan goes over the init containers from the last to the first: what is behind
// one that has run is never revisited, since old containers may have been
// cleaned away (pkg/kubelet/kuberuntime/kuberuntime_container.go
// computeInitContainerActions; kuberuntime_manager.go computePodActions).
//
// A sidecar counts as up once its status says started; the kubelet asks its
// startup probe, and writes that into the status.
func (r *reading) plan() plan {
	p := plan{start: make([]bool, len(r.inits)), last: -1, initialized: len(r.inits) == 0}
	ended := r.by.ExitedInitialized && !r.initAgain() // main containers count that have ended
	for i := range r.mains {
		p.initialized = p.initialized || r.mains[i].is == running || ended && r.mains[i].ran()
	}
	mainRuns := p.initialized && len(r.inits) > 0
	final := len(r.inits) - 1
	// through reports whether the one after place i may start, if it is new.
	through := func(i int, first bool) {
		if i == final {
			p.initialized = true
		} else if first {
			p.start[i+1] = true
		}
	}
	for i := final; i >= 0; i-- {
		s := &r.inits[i]
		looked := mainRuns || p.last >= 0
		if !s.ran() {
			p.start[i] = p.start[i] || looked && s.kind == KindSidecar
			continue
		}
		switch {
		case looked && s.kind == KindInit:
		case s.is == running:
			if s.kind == KindSidecar && s.started() {
				through(i, !looked)
			}
		case s.kind == KindSidecar:
			p.start[i] = true
		case initFailed(s.end):
			p.start[i] = true
			if yes, _ := mayRestart(&r.pod.Spec, s.c, s.end.ExitCode); !yes {
				p.failed = s.c.Name
				return p
			}
		default:
			through(i, true)
		}
		if p.last < 0 {
			p.last = i
		}
	}
	if p.last < 0 && !mainRuns && final >= 0 {
		p.start[0] = true
	}
	if p.mainsDone = p.initialized && r.mainsDone(); p.mainsDone {
		clear(p.start)
	}
	return p
}

// initAgain reports whether a plain init container runs or has failed: main containers that ended
// did so in a sandbox before this one, and tell nothing of its init containers.
func (r *reading) initAgain() bool {
	return slices.ContainsFunc(r.inits, func(s seen) bool { return s.kind == KindInit && s.ran() && !s.through() })
}

// mainsDone reports whether no main container runs or will be started.
func (r *reading) mainsDone() bool {
	return !slices.ContainsFunc(r.mains, func(s seen) bool {
		if s.is != exited || s.removed {
			return true
		}
		yes, _ := mayRestart(&r.pod.Spec, s.c, s.end.ExitCode)
		return yes
	})
}
