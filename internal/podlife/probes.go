package podlife

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Results of a probe.
const (
	probeSuccess = "Success"
	probeFailure = "Failure"
	probeUnknown = "Unknown"
)

// Probe is one of a container's three probes, set or not, and what its results
// do.
type Probe struct {
	Kind string `json:"kind" enums:"startup,liveness,readiness"`
	// Set reports whether the container has this probe.
	Set bool `json:"set"`
	// Active reports whether the kubelet runs it now.
	Active bool `json:"active"`
	// Result is what counts now, as far as the statuses show it.
	Result string `json:"result" enums:"Success,Failure,Unknown"`
	// The probe's numbers, with an API server's defaults; absent if it is not
	// set.
	InitialDelaySeconds int32 `json:"initialDelaySeconds,omitempty"`
	PeriodSeconds       int32 `json:"periodSeconds,omitempty"`
	TimeoutSeconds      int32 `json:"timeoutSeconds,omitempty"`
	SuccessThreshold    int32 `json:"successThreshold,omitempty"`
	FailureThreshold    int32 `json:"failureThreshold,omitempty"`
	// FailsAfterSeconds is about how long after its start a container is given
	// up that never passes: initialDelaySeconds + failureThreshold *
	// periodSeconds.
	FailsAfterSeconds int64 `json:"failsAfterSeconds,omitempty"`
	// What a result does; absent if it is not set.
	OnSuccess string `json:"onSuccess,omitempty"`
	OnFailure string `json:"onFailure,omitempty"`
	OnUnknown string `json:"onUnknown,omitempty"`
	// Rule is the reason why Result is what counts.
	Rule Rule `json:"rule"`
} // @name PodLifeProbe

// probes are the probes of a main container or sidecar; others have none
// (pkg/kubelet/prober worker.go newWorker, doProbe; prober_manager.go
// UpdatePodStatus).
func (r *reading) probes(s *seen, phase corev1.PodPhase) []Probe {
	if s.kind == KindInit || s.kind == KindEphemeral {
		return nil
	}
	alive := s.is == running && r.node == NodeHealthy && r.pod.Spec.NodeName != "" && !terminal(phase)
	startup := probeOf("startup", s.c.StartupProbe)
	liveness := probeOf("liveness", s.c.LivenessProbe)
	readiness := probeOf("readiness", s.c.ReadinessProbe)
	for _, p := range []*Probe{&startup, &liveness, &readiness} {
		p.OnUnknown = orNothing(p.Set, "Nothing changes; the kubelet probes again.")
	}
	end := r.probeEnd(s)
	due := s.is == running && r.pastDelay(s, &startup)
	startup.Active = startup.Set && alive && !s.started() && !r.deleted() && due
	startup.OnSuccess = orNothing(startup.Set, "The container counts as started; its other probes begin.")
	startup.OnFailure = orNothing(startup.Set, end)
	switch {
	case !startup.Set:
		startup.say(probeSuccess, "startup-default", "Without a startup probe a running container counts as started.")
	case s.is == running && s.started():
		startup.say(probeSuccess, "started", "The status says that the container has started.")
	default:
		startup.say(probeUnknown, "startup-first", "Until its first result a startup probe counts as Unknown, and the container as not started.")
	}

	liveness.Active = liveness.Set && alive && s.started() && !r.deleted() && r.pastDelay(s, &liveness)
	liveness.OnSuccess = orNothing(liveness.Set, "The container is left as it is.")
	liveness.OnFailure = orNothing(liveness.Set, end)
	if liveness.Set {
		liveness.say(probeSuccess, "liveness-first", "Until it fails a liveness probe counts as Success; a container that failed it is killed.")
	} else {
		liveness.say(probeSuccess, "liveness-default", "Without a liveness probe a running container counts as alive.")
	}

	readiness.Active = readiness.Set && alive && s.started() && r.pastDelay(s, &readiness)
	readiness.OnSuccess = orNothing(readiness.Set, "The container becomes ready; once all are, and the readiness gates are True, the pod gets traffic.")
	readiness.OnFailure = orNothing(readiness.Set, "The container becomes unready and the pod is taken out of its services; nothing is killed.")
	switch {
	case !readiness.Set:
		readiness.say(probeSuccess, "readiness-default", "Without a readiness probe a container is ready once it has started.")
	case s.is == running && s.ready():
		readiness.say(probeSuccess, "ready", "The status says that the container is ready.")
	default:
		readiness.say(probeFailure, "readiness-first", "Until its first success a readiness probe counts as Failure.")
	}
	return []Probe{startup, liveness, readiness}
}

func (p *Probe) say(result, id, text string) {
	p.Result, p.Rule = result, Rule{"probe/" + id, text}
}

func orNothing(set bool, text string) string {
	if set {
		return text
	}
	return ""
}

// probeOf fills in an API server's defaults
// (pkg/apis/core/v1/defaults.go SetDefaults_Probe).
func probeOf(kind string, p *corev1.Probe) Probe {
	out := Probe{Kind: kind}
	if p == nil {
		return out
	}
	otherwise := func(v, standard int32) int32 {
		if v == 0 {
			return standard
		}
		return v
	}
	out.Set = true
	out.InitialDelaySeconds, out.PeriodSeconds = p.InitialDelaySeconds, otherwise(p.PeriodSeconds, 10)
	out.TimeoutSeconds = otherwise(p.TimeoutSeconds, 1)
	out.SuccessThreshold, out.FailureThreshold = otherwise(p.SuccessThreshold, 1), otherwise(p.FailureThreshold, 3)
	out.FailsAfterSeconds = int64(out.InitialDelaySeconds) + int64(out.FailureThreshold)*int64(out.PeriodSeconds)
	return out
}

// pastDelay reports whether a running container is old enough for a probe.
func (r *reading) pastDelay(s *seen, p *Probe) bool {
	run := s.status.State.Running
	return run == nil || r.now.Sub(run.StartedAt.Time) >= time.Duration(p.InitialDelaySeconds)*time.Second
}

// probeEnd returns what a failed startup or liveness probe does. The kubelet kills
// the container, and starts it again by policy alone; once the container has
// ended its rules are asked about the exit code
// (pkg/kubelet/kuberuntime/kuberuntime_manager.go computePodActions).
func (r *reading) probeEnd(s *seen) string {
	policy, whose := string(r.pod.Spec.RestartPolicy), "the pod's"
	if policy == "" {
		policy = string(corev1.RestartPolicyAlways)
	}
	if s.c.RestartPolicy != nil {
		policy, whose = string(*s.c.RestartPolicy), "its own"
	}
	switch {
	case policy != string(corev1.RestartPolicyNever):
		return fmt.Sprintf("The container is killed and started again (%s restartPolicy is %s).", whose, policy)
	case len(s.c.RestartPolicyRules) > 0 && s.c.RestartPolicy != nil:
		return fmt.Sprintf("The container is killed; %s restartPolicy is %s, so it runs again only if a restart rule matches its exit code.", whose, policy)
	}
	return fmt.Sprintf("The container is killed and not started again (%s restartPolicy is %s).", whose, policy)
}

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
