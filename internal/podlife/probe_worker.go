package podlife

import "time"

// probeWorker sends one probe of a container, once a period, for as long as its
// pod is there; restarts of the container do not move it
// (pkg/kubelet/prober/worker.go run, doProbe).
type probeWorker struct {
	Probe
	next time.Time // when it is sent next
	// last came run times in a row; both outlive the container.
	last string
	run  int32
	// held: nothing is sent until the container is another one.
	held bool
	// result is what counts.
	result string
}

// probe sends the probe at a time to a container that runs since another, and
// reports whether the result that counts has changed. Started containers get no
// startup probes, others nothing else.
func (w *probeWorker) probe(at, since time.Time, started bool, answer string) (changed bool) {
	startup := w.Kind == "startup"
	if w.held || int64(at.Sub(since)/time.Second) < int64(w.InitialDelaySeconds) || started == startup {
		return false
	}
	if w.last != answer {
		w.last, w.run = answer, 0
	}
	if w.run++; w.run < w.threshold() {
		return false
	}
	changed, w.result = w.result != answer, answer
	if startup || w.Kind == "liveness" && answer == probeFailure {
		w.held, w.run = true, 0
	}
	return changed
}

// threshold is how often in a row the last answer has to come.
func (w *probeWorker) threshold() int32 {
	if w.last == probeSuccess {
		return w.SuccessThreshold
	}
	return w.FailureThreshold
}

// reset begins with a new container.
func (w *probeWorker) reset() {
	w.held, w.result = false, map[string]string{"startup": probeUnknown, "liveness": probeSuccess, "readiness": probeFailure}[w.Kind]
}

func (w *probeWorker) period() time.Duration { return time.Duration(w.PeriodSeconds) * time.Second }

// from moves the next probe to the first of the worker's instants at or after a
// time.
func (w *probeWorker) from(at time.Time) {
	if late := at.Sub(w.next); late > 0 {
		w.next = w.next.Add((late + w.period() - 1) / w.period() * w.period())
	}
}
