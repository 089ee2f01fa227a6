package podlife

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/kube/object/apiserver"
)

// Run leads the life of a pod that is bound to a healthy node on, from instant to instant, as its
// kubelet does (pkg/kubelet/kuberuntime/kuberuntime_manager.go SyncPod, pkg/kubelet/prober). Its
// pod is its own.
type Run struct {
	q       *LifeQuestion
	pod     *corev1.Pod
	events  []LifeEvent
	changes []time.Time // when events begin or end
	longest time.Duration
	now     time.Time
	parts   []*lifePart
	busy    time.Time // the kubelet's pass over the pod takes until then
	memory  map[string]memory
	// unmounted is why the kubelet cannot mount the pod's volumes.
	unmounted string
	// fresh: no main container has started in the sandbox that was made last.
	fresh bool
	seen  map[string]time.Time // where the pod stood before, to find what repeats
	// entries are what happened. over is why the run goes no further; its zero value: it goes on.
	entries []LifeMoment
	over    Rule
	// led: it goes on where a timeline ends. stopping: the kubelet ends the pod.
	led, stopping bool
	repeating     string // a sentence, where what happens from here on has happened before
}

// lifePart is a container of a Run.
type lifePart struct {
	c       *corev1.Container
	kind    ContainerKind
	workers []*probeWorker
	before  time.Time // the end of the run before the present one
	failed  string    // the probe for which it is to be killed
	killing time.Time // when the kill is over
	code    int32     // what it ends with then
	killed  bool
	due     time.Time // when its back-off ends
	each    *exits    // what it does after each start; nil: it runs on
	exits   time.Time // when it does so next
}

// exits is that a container ends with a code when it has run for some time.
type exits struct {
	after time.Duration
	code  int32
}

// run begins to lead the question's pod, from Now on.
func (q *LifeQuestion) run(longest time.Duration, led bool) *Run {
	s := &Run{led: led, q: q, pod: q.Pod.DeepCopy(), longest: longest, now: q.Now, memory: map[string]memory{}, seen: map[string]time.Time{}, entries: []LifeMoment{}}
	apiserver.SetPodDefaults(s.pod)
	if led {
		s.assume()
	}
	_, s.unmounted, _ = q.Storage.Unmounted(q.Pod)
	for i := range q.Events {
		s.Happen(q.Events[i])
	}
	s.prepare()
	s.refresh(false)
	return s
}

// Happen has something happen to the pod, now or later.
func (s *Run) Happen(e LifeEvent) {
	at, _ := slices.BinarySearchFunc(s.events, e, func(have, e LifeEvent) int {
		return cmp.Or(have.At.Compare(e.At), -1) // behind those of the same time
	})
	s.events, s.repeating = slices.Insert(s.events, at, e), ""
	clear(s.seen)
	if s.changes = append(s.changes, e.At); e.Until != nil {
		s.changes = append(s.changes, *e.Until)
	}
}

func (s *Run) end(id, text string) { s.over = Rule{id, text} }

func (s *Run) say(actor, event string, p *lifePart, within time.Duration, id, text string) {
	m := LifeMoment{At: s.now.UTC(), WithinSeconds: seconds(within), Actor: actor, Event: event, Rule: Rule{id, text}}
	if p != nil {
		m.Container = p.c.Name
	}
	s.entries = append(s.entries, m)
}

// saysEnd is say of a container that ended.
func (s *Run) saysEnd(actor, event string, p *lifePart, code int32, id, text string) {
	s.say(actor, event, p, 0, id, fmt.Sprintf(text, code))
	s.entries[len(s.entries)-1].ExitCode = &code
}

// prepare reads what is there.
func (s *Run) prepare() {
	r := readPod(s.pod, NodeHealthy, s.now, s.q.by)
	r.longest = s.longest
	for _, list := range [][]seen{r.inits, r.mains, r.extra} {
		for i := range list {
			c := &list[i]
			p := &lifePart{c: c.c, kind: c.kind}
			s.parts = append(s.parts, p)
			if c.is == running || c.is == exited {
				s.memory[c.c.Name] = r.memory(c)
			}
			if c.is == running && c.status.LastTerminationState.Terminated != nil {
				p.before = c.status.LastTerminationState.Terminated.FinishedAt.Time
			}
			if c.kind == KindInit || c.kind == KindEphemeral {
				continue
			}
			for _, kind := range probeKinds {
				if spec := specProbes(c.c)[kind]; spec != nil {
					p.workers = append(p.workers, s.worker(c, probeOf(kind, spec)))
				}
			}
		}
	}
}

// worker begins with what the status tells of a probe: what counts has come often
// enough to count.
func (s *Run) worker(c *seen, probe Probe) *probeWorker {
	w := &probeWorker{Probe: probe, next: s.now}
	w.reset()
	switch start := s.pod.Status.StartTime; {
	case !start.IsZero() && !start.After(s.now):
		w.next = start.Time
	case c.is == running && !c.began().IsZero() && !c.began().After(s.now):
		w.next = c.began()
	}
	w.from(s.now)
	if c.is != running {
		return w
	}
	switch {
	case probe.Kind == "startup" && c.started():
		w.result, w.held = probeSuccess, true
	case probe.Kind == "readiness" && c.ready(), probe.Kind == "liveness" && c.started():
		w.result, w.last, w.run = probeSuccess, probeSuccess, probe.SuccessThreshold
	}
	return w
}

// next is the next instant at which something happens; zero without one.
func (s *Run) next() (at time.Time) {
	sooner := func(t time.Time) {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	if s.over.ID != "" {
		return at
	}
	for _, t := range s.changes {
		sooner(t)
	}
	if s.led && !s.stopping && s.pod.Spec.ActiveDeadlineSeconds != nil {
		if d := s.reading().deadlineAhead(s.pod.Status.Phase); d != nil {
			sooner(later(*d, s.busy))
		}
	}
	for _, p := range s.parts {
		sooner(p.exits)
		if !p.killing.IsZero() {
			sooner(p.killing)
		} else if !p.due.IsZero() {
			sooner(later(p.due, s.busy))
		}
		for _, w := range p.workers {
			if s.awake(p, w) {
				sooner(w.next)
			}
		}
	}
	if at.IsZero() {
		return at
	}
	return later(at, s.now)
}

// awake reports whether a worker's next probe can change anything, and moves it
// to when it can.
func (s *Run) awake(p *lifePart, w *probeWorker) bool {
	st := statusOf(s.pod, p.c.Name)
	if st == nil || st.State.Running == nil || w.held || started(st) == (w.Kind == "startup") {
		return false
	}
	w.from(later(s.now, st.State.Running.StartedAt.Add(time.Duration(w.InitialDelaySeconds)*time.Second)))
	answer := answers(s.events, p.c.Name, w.Kind, w.next)
	return w.result != answer || w.last != answer || w.run < w.threshold()
}

func started(st *corev1.ContainerStatus) bool { return st.Started != nil && *st.Started }

// step does all that happens now.
func (s *Run) step() {
	s.changes = slices.DeleteFunc(s.changes, func(t time.Time) bool { return !t.After(s.now) })
	for i := 0; i < len(s.events) && s.over.ID == ""; i++ {
		if e := &s.events[i]; !e.At.After(s.now) && e.Probe == "" {
			s.happen(e)
		}
	}
	for _, p := range s.parts {
		if !p.exits.IsZero() && !p.exits.After(s.now) {
			s.happen(&LifeEvent{Container: p.c.Name, ExitCode: &p.each.code})
		}
	}
	if s.over.ID != "" {
		return
	}
	s.events = slices.DeleteFunc(s.events, func(e LifeEvent) bool { return e.Probe == "" && !e.At.After(s.now) })
	for _, p := range s.parts {
		if !p.killing.IsZero() && !p.killing.After(s.now) {
			s.stopped(p)
		}
	}
	for _, p := range s.parts {
		for _, w := range p.workers {
			if s.awake(p, w) && !w.next.After(s.now) {
				s.probe(p, w)
			}
		}
	}
	if !s.busy.After(s.now) {
		s.sync()
	}
	if s.over.ID == "" {
		s.refresh(true)
	}
}

// happen is an event that is no probe's.
func (s *Run) happen(e *LifeEvent) {
	if e.Node != "" {
		s.lose()
		return
	}
	for _, p := range s.parts {
		if p.c.Name != e.Container {
			continue
		}
		if st := statusOf(s.pod, p.c.Name); st == nil || st.State.Running == nil {
			s.say(actorApplication, "ignored", p, 0, "timeline/not-running", "The event ends a container that does not run now.")
			return
		}
		s.saysEnd(actorApplication, "container ended", p, *e.ExitCode, "timeline/ended", "The event ends it with exit code %d; the kubelet hears of it within a second.")
		s.ended(p, *e.ExitCode)
		p.failed, p.killing, p.killed = "", time.Time{}, false
		return
	}
}

// ended writes the end of a run.
func (s *Run) ended(p *lifePart, code int32) {
	st := statusOf(s.pod, p.c.Name)
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	st.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, StartedAt: st.State.Running.StartedAt, FinishedAt: metav1.NewTime(s.now),
	}}
	st.Started, st.Ready = new(false), p.kind == KindInit && code == 0
	p.due, p.exits = time.Time{}, time.Time{}
}

// lose is the end of the kubelet: what follows is the control plane's.
func (s *Run) lose() {
	s.say(actorKubelet, "node lost", nil, 0, "timeline/node-lost", "The kubelet stops: the pod is no longer updated, and nothing in it is restarted.")
	node := s.q.Node
	if node == nil {
		node = &corev1.Node{}
	}
	since := s.now
	d := DeletionByNode(s.pod, node, &since, s.now)
	s.now = since.Add(lostEarliest * time.Second)
	s.say("node-lifecycle-controller", "condition Ready False", nil, (lostLatest-lostEarliest)*time.Second, "condition/node-lost", "The node does not report, so it is Unknown and its pods are not Ready.")
	if d.At != nil {
		s.now = *d.At
		within := time.Duration(0)
		if d.Latest != nil {
			within = d.Latest.Sub(*d.At)
		}
		s.say(d.By, "pod deleted", nil, within, d.Rule.ID, d.Rule.Text)
	}
	s.end("timeline/node-lost", strings.TrimSpace("The pod's object stays until the node is back or gone."))
}
