package podlife

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// probe sends one probe and describes what comes of it.
func (s *Run) probe(p *lifePart, w *probeWorker) {
	st := statusOf(s.pod, p.c.Name)
	answer := answers(s.events, p.c.Name, w.Kind, s.now)
	changed := w.probe(s.now, st.State.Running.StartedAt.Time, started(st), answer)
	w.next = w.next.Add(w.period())
	beat := fmt.Sprintf("Its probe is sent every %d s, on a beat that may differ.", w.PeriodSeconds)
	switch {
	case !changed && answer == probeFailure && w.run == 1 && w.FailureThreshold > 1:
		s.say(actorKubelet, w.Kind+" probe fails", p, w.period(), "timeline/probe-fails", fmt.Sprintf("It fails for the first of %d times in a row (failureThreshold). %s", w.FailureThreshold, beat))
	case changed && w.Kind == "readiness" && answer == probeSuccess:
		st.Ready = true
		s.say(actorKubelet, "container ready", p, w.period(), "timeline/ready", fmt.Sprintf("Its readiness probe succeeded %d times in a row (successThreshold). %s", w.SuccessThreshold, beat))
	case changed && w.Kind == "readiness":
		st.Ready = false
		s.say(actorKubelet, "container not ready", p, w.period(), "timeline/not-ready", fmt.Sprintf("Its readiness probe failed %d times in a row (failureThreshold). %s", w.FailureThreshold, beat))
	case changed && answer == probeFailure:
		p.failed = w.Kind
		s.say(actorKubelet, w.Kind+" probe failed", p, w.period(), "timeline/probe-failed", fmt.Sprintf("It failed %d times in a row (failureThreshold), so the container is killed. %s", w.FailureThreshold, beat))
	case changed && w.Kind == "startup":
		s.say(actorKubelet, "container started up", p, w.period(), "timeline/started", "Its startup probe succeeded; its other probes begin. "+beat)
		s.begin(p, st)
	}
}

// begin is the moment from which a container counts as started. The kubelet then
// sends a readiness probe at once (pkg/kubelet/prober/prober_manager.go
// UpdatePodStatus).
func (s *Run) begin(p *lifePart, st *corev1.ContainerStatus) {
	st.Started, st.Ready = new(true), true
	for _, w := range p.workers {
		if w.Kind == "readiness" {
			st.Ready, w.next = w.result == probeSuccess, s.now
		}
	}
}

// sync is a kubelet's pass over the pod: it kills what failed its probe, one after
// the other, and then starts what is due (pkg/kubelet/kuberuntime
// kuberuntime_manager.go SyncPod).
func (s *Run) sync() {
	if s.led && (s.stopping || s.stops()) {
		return
	}
	for _, p := range s.parts {
		if p.failed != "" {
			s.kill(p)
			return
		}
	}
	for changed := true; changed && s.over.ID == ""; {
		changed = s.pass()
	}
	for _, p := range s.parts {
		p.killed = false
	}
}

// pass starts what is due once, and reports whether anything was.
func (s *Run) pass() (changed bool) {
	r := s.reading()
	phase, _ := r.phase()
	if terminal(phase) {
		return false
	}
	if _, yes := r.resetting(); yes {
		s.end("timeline/restarts-all", "A restart rule restarts all containers; the timeline does not go on from there.")
		return false
	}
	fresh := r.sandboxUsed() && r.sandboxGone()
	if fresh && r.makesSandbox() {
		s.purge()
		r = s.reading()
	} else if r.plan().mainsDone {
		s.end("timeline/mains-done", "No main container runs or is started again, so the kubelet stops what still runs and the pod ends.")
		return false
	}
	next := r.next(phase)
	for i, p := range s.parts {
		n := &next[i]
		switch {
		case p.killed && (n.Action == ActionRestart || n.Action == ActionBackoff && n.At != nil) && s.atOnce(p):
			changed = true
		case n.Action == ActionStart || n.Action == ActionRestart:
			s.start(p, n.Rule, s.memory[p.c.Name].started(s.now, s.longest))
			changed = true
		case n.Action == ActionBackoff && n.At != nil && !p.due.Equal(*n.At):
			p.due = *n.At
			s.say(actorKubelet, "back-off", p, 0, n.Rule.ID, n.Rule.Text)
			st := statusOf(s.pod, p.c.Name)
			if st.State.Terminated != nil {
				st.LastTerminationState = st.State
			}
			st.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
		}
	}
	return changed
}

// purge forgets what init containers did in a sandbox that is gone, all but the first, which starts
// now.
func (s *Run) purge() {
	s.fresh = true
	for _, p := range s.parts[min(1, len(s.parts)):] {
		if st := statusOf(s.pod, p.c.Name); st != nil && (p.kind == KindInit || p.kind == KindSidecar) {
			*st = corev1.ContainerStatus{Name: st.Name, RestartCount: st.RestartCount, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}}
		}
	}
}

// atOnce starts a container that was killed for its probe in the pass of the kill,
// unless it has to wait.
func (s *Run) atOnce(p *lifePart) bool {
	if !restartsAfterProbe(s.pod, p.c, killedCode) {
		return false
	}
	m := s.memory[p.c.Name]
	delay, known := m.afterKill(p.before, s.now)
	if delay > 0 {
		return false
	}
	p.killed = false
	rule := Rule{"timeline/restart-after-kill", "It is started in the pass that killed it: its back-off counts from the end of the run before, and is over."}
	next := m.started(s.now, s.longest)
	if !known {
		next = m
		rule = Rule{"timeline/restart-after-first-kill", "It is started in the pass that killed it: no run before it is known, so nothing delays it."}
	}
	s.start(p, rule, next)
	return true
}

// reading is how the pod stands now.
func (s *Run) reading() *reading {
	r := readPod(s.pod, NodeHealthy, s.now, s.q.by)
	r.by.ExitedInitialized = r.by.ExitedInitialized && !s.fresh
	r.longest, r.memories, r.unmounted = s.longest, s.memory, s.unmounted
	return r
}

// start starts a container; next is what the kubelet remembers then of one that
// has run before.
func (s *Run) start(p *lifePart, rule Rule, next memory) {
	st := statusOf(s.pod, p.c.Name)
	if st == nil {
		st = s.newStatus(p)
	}
	event, within := "container started", time.Duration(0)
	if end := endOf(st); end != nil {
		event = "container restarted"
		if !p.due.IsZero() {
			within = min(s.now.Sub(end.FinishedAt.Time), time.Minute) / 2
		}
		if st.State.Terminated != nil {
			st.LastTerminationState = st.State
		}
		p.before = end.FinishedAt.Time
		st.RestartCount++
		s.memory[p.c.Name] = next
	} else {
		s.memory[p.c.Name] = memory{since: s.now}
	}
	s.fresh = s.fresh && p.kind != KindContainer
	if p.due = (time.Time{}); p.each != nil {
		p.exits = s.now.Add(p.each.after)
	}
	st.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(s.now)}}
	s.say(actorKubelet, event, p, within, rule.ID, rule.Text)
	st.Started, st.Ready = new(false), false
	waits := false
	for _, w := range p.workers {
		w.reset()
		waits = waits || w.Kind == "startup"
	}
	if !waits && p.kind != KindInit && p.kind != KindEphemeral {
		s.begin(p, st)
	}
	s.repeats(p)
}

// newStatus adds the status of a container that has none.
func (s *Run) newStatus(p *lifePart) *corev1.ContainerStatus {
	list := &s.pod.Status.ContainerStatuses
	switch p.kind {
	case KindInit, KindSidecar:
		list = &s.pod.Status.InitContainerStatuses
	case KindEphemeral:
		list = &s.pod.Status.EphemeralContainerStatuses
	}
	*list = append(*list, corev1.ContainerStatus{Name: p.c.Name})
	return &(*list)[len(*list)-1]
}

// kill begins to stop a container for its probe.
func (s *Run) kill(p *lifePart) {
	cause := CauseLiveness
	if p.failed == "startup" {
		cause = CauseStartup
	}
	e := &Ending{Pod: s.pod, Cause: cause, Container: p.c.Name, PreStopSeconds: s.q.PreStopSeconds, ExitSeconds: s.q.ExitSeconds, ExitCodes: s.q.ExitCodes, Now: s.now}
	stop := e.answer(len(s.q.ExitSeconds) > 0).Containers[0]
	p.failed, p.killing, p.code = "", addSeconds(s.now, stop.end), stop.code
	s.busy = p.killing
	s.say(actorKubelet, "container stopping", p, 0, "timeline/stopping", fmt.Sprintf(
		"It has %d s from here to its SIGKILL; the kubelet does nothing else in the pod meanwhile.", stop.KillAt))
}

// stopped is the end of a container that was killed.
func (s *Run) stopped(p *lifePart) {
	p.killing = time.Time{}
	code := p.code
	s.saysEnd(actorRuntime, "container stopped", p, code, "timeline/stopped", "It has stopped, with exit code %d here.")
	s.ended(p, code)
	p.killed = true
}

// shownConditions are those whose changes are told.
var shownConditions = []corev1.PodConditionType{corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady}

// refresh writes phase and conditions as the kubelet would, and tells what changed.
func (s *Run) refresh(tell bool) {
	r := s.reading()
	phase, rule := r.phase()
	conditions := r.conditions(phase)
	if tell && phase != s.pod.Status.Phase && !(s.led && terminal(phase) && s.runs()) {
		s.say(actorKubelet, "phase "+string(phase), nil, 0, rule.ID, rule.Text)
	}
	var list []corev1.PodCondition
	for i := range conditions {
		c := &conditions[i]
		for _, shown := range shownConditions {
			if old := r.posted(shown); tell && c.Type == shown && (old == nil || old.Status != c.Status) {
				s.say(actorKubelet, "condition "+string(shown)+" "+string(c.Status), nil, 0, c.Rule.ID, c.Rule.Text)
			}
		}
		made := corev1.PodCondition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message, ObservedGeneration: c.ObservedGeneration}
		if c.LastTransitionTime != nil {
			made.LastTransitionTime = metav1.NewTime(*c.LastTransitionTime)
		}
		list = append(list, made)
	}
	s.pod.Status.Conditions = list
	if s.led && terminal(phase) && s.runs() {
		return // it is written once nothing runs any more (status_manager.go mergePodStatus)
	}
	if s.pod.Status.Phase = phase; rule.ID == ruleDeadline {
		s.pod.Status.Reason, s.pod.Status.Message = deadlineExceeded, pastDeadline
	}
	if terminal(phase) {
		s.end("timeline/pod-ended", "The pod has ended; nothing in it runs again.")
	}
}

// repeats ends the timeline at the start of a container where everything stands as
// at a start before and no event is ahead.
func (s *Run) repeats(of *lifePart) {
	if len(s.changes) > 0 || s.led && s.repeating != "" {
		return
	}
	ago := func(t time.Time) time.Duration {
		if t.IsZero() {
			return -1
		}
		return min(s.now.Sub(t), steadyRun+time.Second)
	}
	key := of.c.Name
	for _, p := range s.parts {
		m, began := s.memory[p.c.Name], time.Time{}
		if st := statusOf(s.pod, p.c.Name); st != nil && st.State.Running != nil {
			began = st.State.Running.StartedAt.Time
		}
		key += fmt.Sprint("|", m.delay, ago(m.since), ago(p.before), ago(began), ago(p.due), ago(p.killing), ago(p.exits))
		for _, w := range p.workers {
			key += fmt.Sprint(" ", w.next.Sub(s.now)%w.period(), w.last, min(w.run, w.threshold()), w.held, w.result)
		}
	}
	if at, known := s.seen[key]; known {
		text := fmt.Sprintf("From here on everything since %s repeats, every %d s.", at.UTC().Format(time.RFC3339), seconds(s.now.Sub(at)))
		if s.repeating = text; !s.led {
			s.end("timeline/repeats", text)
		}
	}
	s.seen[key] = s.now
}
