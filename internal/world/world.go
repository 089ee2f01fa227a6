// Package world lets a cluster go on: pods that leave, controllers that make others, and
// kube-scheduler which places them, on virtual time and in memory.
package world

import (
	"cmp"
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine"
	"berth/internal/steps"
	"berth/internal/store"
)

// World is a cluster whose time goes on: pods leave their nodes, their controllers create others,
// which kube-scheduler tries to place and kubelets start. What happens at one instant happens
// before a pod is tried. It is for one goroutine.
type World struct {
	*Fork
	loop
	ctx     context.Context
	steps   *steps.Counter
	budgets *budgets
	sets    *statefulSets
	jobs    *jobs
	volumes *attachments
	quotas  *quotas
	byOwner map[ownerKey][]PodName // the pods of the base; nil: not read yet

	// start is how long pods take until they are ready whose status does not show it; assumed
	// counts them.
	start   time.Duration
	assumed int

	log     []*Left
	others  []*Replacement
	created map[PodName]*created
	leaving map[PodName]*Left // stored as being deleted
	// preempted is how often pods in whose place one stands were preempted.
	preempted map[PodName]int
	nodes     *nodeLifecycle
	counts    map[PodName]*taintCount // until pods are deleted for taints
	unreadied map[PodName]bool        // those that lost their readiness with their node
	led       map[PodName]*ledPod     // pods to which something happens
	toCome    map[PodName][]*PodEvent // what happens to them once they have started
	takes     map[takesKey]time.Duration
	loops     int // pods whose life came to repeat, and the moments of that
	looped    int

	clients clients
	turned  map[PodName]int    // how often pods in whose place one stands were evicted at once
	coming  map[ownerKey]int64 // until which second a ReplicaSet's controller creates pods

	telling bool
	moments []Moment
	untold  int   // moments beyond the bound
	failed  error // what ends the run at the next instant

	replicaSets map[ownerKey]*ReplicaSet // that are followed
	members     map[PodName]*member      // their pods
	rollouts    []*Deployment            // by namespace and name
	daemons     *daemonSets
	crons       []*cronJob
	// admit makes what admission makes of a workload's pod; nil: nothing does.
	admit func(workload []byte) (*corev1.Pod, error)
}

// maxPreempted is how often pods that follow each other may be preempted: there are pods whose
// preemptions never end, as each frees what the other needs.
const maxPreempted = 5

// leaveSteps is what the end of a pod takes, in steps of a Counter.
const leaveSteps = 200

// readSteps is what reading a pod takes, likewise.
const readSteps = 100

// created is a pod of the queue: one that a controller made, or that waited in the snapshot.
type created struct {
	rec  *Replacement
	took time.Duration // from its bind until it is ready
	pod  *corev1.Pod   // on its node; nil before
	runs time.Duration // until it has succeeded, from when it is ready; 0: it does not end
}

// New starts a world at instant 0. start is how long a pod takes to start whose status does not
// show it.
func New(ctx context.Context, f *Fork, start time.Duration) (*World, error) {
	b, err := f.budgets(ctx)
	if err != nil {
		return nil, err
	}
	w := &World{
		Fork: f, ctx: ctx, steps: steps.Of(ctx), budgets: b, start: start, log: []*Left{}, loop: loop{queue: newQueue(ctx, f)},
		created: map[PodName]*created{}, preempted: map[PodName]int{}, counts: map[PodName]*taintCount{}, leaving: map[PodName]*Left{},
		replicaSets: map[ownerKey]*ReplicaSet{}, members: map[PodName]*member{},
	}
	w.queue.each, w.queue.lingers, f.logs = w.attempted, true, true
	w.nodes, w.unreadied = &nodeLifecycle{w: w, rates: DefaultNodeRates(), lost: map[string]*LostNode{}}, map[PodName]bool{}
	w.coming, w.turned = map[ownerKey]int64{}, map[PodName]int{}
	w.led, w.toCome, w.takes = map[PodName]*ledPod{}, map[PodName][]*PodEvent{}, map[takesKey]time.Duration{}
	w.sets, w.jobs, w.volumes = &statefulSets{w: w}, &jobs{w: w}, &attachments{w: w}
	w.daemons = &daemonSets{w: w}
	f.onNode = w.daemons.nodeChanged
	w.quotas, err = quotasOf(ctx, w)
	f.onPod = func(n PodName, after *corev1.Pod) error {
		w.saw(n, after)
		return w.quotas.changed(n, after)
	}
	return w, err
}

// Starts returns how many seconds a pod takes to start whose status does not show it.
func (w *World) Starts() int64 { return seconds(w.start) }

// Seconds returns the seconds since the start.
func (w *World) Seconds() int64 { return seconds(w.now) }

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

// Instant is the time of the current instant.
func (w *World) Instant() time.Time { return w.o.Now.Add(w.now) }

// At has something happen about an object at a second, before controllers and the scheduler act.
func (w *World) At(second int64, object string, do func() error) {
	w.due.schedule(time.Duration(second)*time.Second, writes, object, do)
}

// Waits has the pods that wait in the snapshot take part, each with how long it takes to start.
func (w *World) Waits() error {
	pending, err := w.Pending(w.ctx)
	if err != nil {
		return err
	}
	for _, a := range pending {
		rec := &Replacement{Namespace: a.Pod.Namespace, Name: a.Pod.Name}
		w.created[NameOf(a.Pod)] = &created{rec: rec, took: w.start}
		w.queue.add(w.queue.entry(a))
		w.others = append(w.others, rec)
	}
	return nil
}

// Schedule tries the pods that wait, until no attempt could have another outcome.
func (w *World) Schedule() error { return w.queue.tryAll() }

// NextDue returns the second at which something is due next; false where nothing is.
func (w *World) NextDue() (second int64, ok bool) {
	at, ok := w.due.next()
	return seconds(at + time.Second - 1), ok && w.Due() > 0
}

// Upcoming is NextDue that knows of pods, too, that are tried again by time alone.
func (w *World) Upcoming() (second int64, ok bool) {
	at, ok := w.next()
	return seconds(at + time.Second - 1), ok
}

func (w *World) next() (at time.Duration, ok bool) {
	at, ok = w.due.next()
	if flush, is := w.queue.nextFlush(); is && (!ok || flush < at) {
		return flush, true
	}
	return at, ok
}

// Next returns the second at which something happens next; false where nothing does. Where nothing
// but that is to come, pods are tried again by time alone if that changes anything.
func (w *World) Next() (second int64, ok bool) {
	if loops, _ := w.Looping(); w.Due() <= loops+w.CronStarts() {
		helps, err := w.queue.helps(w.futile)
		if w.failed = cmp.Or(w.failed, err); !helps && err == nil {
			return w.NextDue()
		}
	}
	return w.Upcoming()
}

// TriesAgain reports whether a pod is tried again by time alone.
func (w *World) TriesAgain() bool { return w.queue.triesAgain() }

// futile writes down what another attempt at a pod would say.
func (w *World) futile(e *entry, message string) {
	if c := w.created[NameOf(e.Pod)]; c != nil && message != c.rec.Message {
		kept(w, c.rec).Message = message
	}
}

// Advance goes on to a second: all that is due until then happens, instant by instant.
func (w *World) Advance(to int64) error {
	until := time.Duration(to) * time.Second
	for {
		at, ok := w.next()
		if !ok || at > until {
			break
		}
		if err := w.step(at); err != nil {
			return err
		}
	}
	return w.step(until)
}

// step has all happen that is due at an instant, and controllers and the scheduler act, until none
// of them has anything to do.
func (w *World) step(at time.Duration) error {
	w.passDeadlines(seconds(at))
	w.now = max(w.now, at)
	if err := w.loop.step(w.now, w.syncDeployments, w.observeDeployments); err != nil {
		return err
	}
	return w.failed
}

// Finish lets all happen that is still to come, with what the last attempts bring about.
func (w *World) Finish() error {
	for {
		if w.Due() == 0 {
			if err := w.queue.tryAll(); err != nil {
				return err
			}
		}
		if w.Due() == 0 {
			if helps, err := w.queue.helps(w.futile); err != nil || !helps {
				return err
			}
		}
		at, _ := w.next()
		if err := w.step(at); err != nil {
			return err
		}
	}
}

// waitingOrStored returns a pod of the queue or of the fork; nil where it is neither.
func (w *World) waitingOrStored(n PodName) (*corev1.Pod, error) {
	for _, e := range w.queue.waiting {
		if NameOf(e.Pod) == n && e.place == waits {
			return e.Pod, nil
		}
	}
	p, err := w.Pod(n.Namespace, n.Name)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return p, err
}

// further writes a pod down that a controller made and that replaces none.
func (w *World) further(namespace string, rec *Replacement) {
	if rec != nil {
		rec.Namespace = namespace
		w.others = append(w.others, rec)
	}
}

// Others returns the pods that waited in the snapshot, and those that were made beside the
// replacements.
func (w *World) Others() []*Replacement { return w.others }

// Current returns a pod of the fork as it is now, or one that an attempt has just taken out of it.
func (w *World) Current(n PodName) (*corev1.Pod, error) {
	if c := w.created[n]; c != nil && c.pod != nil {
		return c.pod, nil
	}
	p, err := w.Pod(n.Namespace, n.Name)
	if errors.Is(err, store.ErrNotFound) {
		return w.base.Pod(n.Namespace, n.Name)
	}
	return p, err
}

// attempted writes down what an attempt did.
func (w *World) attempted(_ *entry, at *Attempt) error {
	c := w.created[NameOf(at.Pod)]
	kept(w, c.rec)
	switch { // what it writes about a pod without a node (schedule_one.go handleSchedulingFailure)
	case at.Outcome == engine.Preempting:
		w.Call(w.clients.scheduler, 1+2*len(at.Victims))
	case at.Message != "" && at.Message != c.rec.Message:
		w.Call(w.clients.scheduler, 1)
	}
	if at.Message != "" && at.Message != c.rec.Message && at.Outcome != engine.Preempting {
		w.tellPod(PodWaits, at.Pod, at.Message)
	}
	if at.Message != "" {
		c.rec.Message = at.Message
	}
	switch at.Outcome {
	case engine.Scheduled:
		w.move(c, at.Pod)
		c.rec.Node, c.rec.WaitedFor, c.rec.Message = at.Node, c.rec.Message, ""
		second := w.Call(w.clients.scheduler, 1)
		if second <= w.Seconds() {
			w.tellPod(PodBound, at.Pod, "")
		}
		if err := cmp.Or(w.quotas.hears(at.Pod, 1), w.boundToTainted(at.Pod)); err != nil {
			return err
		}
		return w.bound(c, at.Pod, second)
	case engine.Preempting:
		w.tell(Moment{What: PodNominated, Pod: NameOf(at.Pod).String(), Owner: OwnerOf(at.Pod), Node: at.Node, Why: at.Message})
		for _, v := range at.Victims {
			n := PodName{v.Namespace, v.Name}
			if w.leaving[n] != nil {
				continue // its deletion began before
			}
			victim, err := w.Pod(n.Namespace, n.Name)
			if errors.Is(err, store.ErrNotFound) {
				continue // it went with a victim before, such as one whose Job has failed by that
			}
			if err != nil {
				return err
			}
			if err := w.preempt(victim, c.rec, at.Pod); err != nil {
				return err
			}
		}
	}
	return nil
}

// preempt has a preemption's victim leave, with its grace period
// (pkg/scheduler/framework/preemption/executor.go preemptPod).
func (w *World) preempt(victim *corev1.Pod, of *Replacement, by *corev1.Pod) error {
	p := *victim
	p.Status.Conditions = append(p.Status.Conditions[:len(p.Status.Conditions):len(p.Status.Conditions)], corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonPreemptionByScheduler, LastTransitionTime: metav1.NewTime(w.Instant()),
	})
	_, err := w.Evict(&p, &Left{Cause: CausePreemption, By: NameOf(by).String(), beside: of.Namespace != ""}, nil)
	return err
}

// move notes where a created pod is; nil: on no node.
func (w *World) move(c *created, pod *corev1.Pod) {
	was := c.pod
	c.pod = pod
	w.OnUndo(func() { c.pod = was })
}

// started makes a pod ready, unless it has left.
func (w *World) started(c *created, pod *corev1.Pod) error {
	if c.pod != pod || w.Dead(pod.Spec.NodeName) {
		return nil
	}
	at := w.Seconds()
	kept(w, c.rec).ReadyAfterSeconds = &at
	ready := *pod
	began, now := metav1.NewTime(w.Instant().Add(-c.took)), metav1.NewTime(w.Instant())
	ready.Status.Phase, ready.Status.StartTime = corev1.PodRunning, &began
	ready.Status.Conditions = append(ready.Status.Conditions[:len(ready.Status.Conditions):len(ready.Status.Conditions)],
		corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: now})
	if c.runs > 0 {
		w.due.schedule(w.now+c.runs, writes, NameOf(pod).String(), func() error { return w.succeeded(c, ready.UID) })
	}
	if err := w.setStatus(pod, &ready); err != nil {
		return err
	}
	return w.startedLed(&ready)
}
