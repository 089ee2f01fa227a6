package world

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth/internal/podlife"
)

// ledPod is a pod that its kubelet leads from instant to instant, as something happens to its
// containers. All others are ready some time after their bind, and stay so until they leave.
type ledPod struct {
	name PodName
	uid  types.UID
	run  *podlife.Run
	due  time.Duration // its next step; below 0: none
	loop bool          // what is to come has happened before
}

// lead has the kubelet of a pod's node lead it from now on.
func (w *World) lead(pod *corev1.Pod) (*ledPod, error) {
	n := NameOf(pod)
	if k := w.led[n]; k != nil && k.uid == pod.UID {
		return k, nil
	}
	node, err := w.Node(pod.Spec.NodeName)
	if err != nil {
		return nil, err
	}
	k := &ledPod{name: n, uid: pod.UID, due: -1, run: podlife.Lead(podlife.LifeQuestion{Pod: pod, Node: node, Now: w.Instant()})}
	w.led[n] = k
	return k, nil
}

// PodsBefore has kubelets go on with the pods that have not come to rest at the start: containers
// that wait in back-off end each time as their last run did, others that have stopped start again,
// and deadlines count.
func (w *World) PodsBefore() error {
	var names []PodName
	pods := 0
	for key, raw := range w.base.In("", "Pod") {
		pods++
		if bytes.Contains(raw, []byte(`"terminated"`)) || bytes.Contains(raw, []byte(`"activeDeadlineSeconds"`)) {
			names = append(names, PodName{key.Namespace, key.Name})
		}
	}
	if err := w.steps.Take(pods); err != nil {
		return err
	}
	slices.SortFunc(names, comparePods)
	for _, n := range names {
		pod, err := w.Pod(n.Namespace, n.Name)
		if err != nil {
			return err
		}
		node := pod.Spec.NodeName
		if node == "" || pod.DeletionTimestamp != nil || w.State().Nodes().Row(node) < 0 || w.Dead(node) || !podlife.Unsettled(pod) {
			continue
		}
		k, err := w.lead(pod)
		if err != nil {
			return err
		}
		k.run.Crashes()
		k.due = 0
		w.due.schedule(0, writes, n.String(), func() error { return w.stepDue(k, 0) })
	}
	return nil
}

// await schedules the next step of a pod.
func (w *World) await(k *ledPod) {
	next := k.run.Next()
	if k.due = -1; next.IsZero() {
		delete(w.led, k.name) // its status tells the rest
		return
	}
	at := max(w.now, next.Sub(w.o.Now))
	k.due = at
	w.due.schedule(at, writes, k.name.String(), func() error { return w.stepDue(k, at) })
}

// stepDue is a step that is due at an instant, unless another one has come before it.
func (w *World) stepDue(k *ledPod, at time.Duration) error {
	if w.led[k.name] != k || k.due != at {
		return nil
	}
	pod, err := w.Pod(k.name.Namespace, k.name.Name)
	if err == nil && w.Dead(pod.Spec.NodeName) {
		k.due = -1 // goes on when the kubelet is back
		return nil
	}
	return w.stepOf(k)
}

// stepOf has a kubelet do what is due in a pod.
func (w *World) stepOf(k *ledPod) error { return w.written(k, k.run.Step(w.Instant())) }

// toldOfPods are the moments of a pod's life that a timeline has, by podlife's name. What else
// there is follows from them.
var toldOfPods = map[string]string{
	"container ended": ContainerExited, "container stopped": ContainerExited, "container restarted": ContainerRestarted, "back-off": ContainerBackOff,
	"startup probe failed": ProbeFailed, "liveness probe failed": ProbeFailed, "container not ready": ProbeFailed, "container stopping": ContainerStopping,
	"ignored": Refused,
}

// written stores what a kubelet has written of a pod, and has controllers hear of it.
func (w *World) written(k *ledPod, moments []podlife.LifeMoment) error {
	if err := w.steps.Take(leaveSteps); err != nil {
		return err
	}
	pod, err := w.Pod(k.name.Namespace, k.name.Name)
	if err != nil || pod.UID != k.uid || pod.DeletionTimestamp != nil {
		delete(w.led, k.name)
		return nil
	}
	restarted, before := false, len(w.moments)+w.untold
	for _, m := range moments {
		if what := toldOfPods[m.Event]; what != "" {
			why := m.Container + ": " + m.Rule.Text
			if m.ExitCode != nil {
				why = fmt.Sprintf("%s: exit code %d", m.Container, *m.ExitCode)
			}
			w.tellPod(what, pod, why)
		}
		restarted = restarted || m.Event == "container restarted"
	}
	p := *pod
	p.Status = *k.run.Status()
	if c := ReadyCondition(&p); c != nil && IsReady(pod) != IsReady(&p) {
		c.LastTransitionTime = metav1.NewTime(w.Instant())
	}
	if err := w.setStatus(pod, &p); err != nil {
		return err
	}
	if hasEnded(&p) {
		delete(w.led, k.name)
		return w.over(&p)
	}
	if restarted {
		if err := w.jobs.restarted(&p); err != nil {
			return err
		}
	}
	if k.loop {
		w.looped += len(w.moments) + w.untold - before
	} else if text := k.run.Repeats(); text != "" {
		k.loop, w.loops = true, w.loops+1
		w.tellPod(PodRepeats, &p, text)
	}
	if w.led[k.name] == k {
		w.await(k)
	}
	return nil
}

// setStatus stores a pod whose status was another one. Budgets and its controller hear of its
// readiness.
func (w *World) setStatus(old, p *corev1.Pod) error {
	over := hasEnded(p)
	was, is := IsReady(old), IsReady(p)
	if over { // before a quota has room again, which is counted later
		if err := w.quotas.hears(p, 2); err != nil {
			return err
		}
	}
	if was != is && p.DeletionTimestamp == nil { // else it counts no more already
		by := int32(1)
		if was {
			by = -1
		}
		if err := w.budgets.changed(w.Fork, p, by); err != nil {
			return err
		}
	}
	switch {
	case is && !was:
		w.tellPod(PodReady, p, "")
	case !is && !over && (was || AssumedReady(old)):
		w.tellPod(PodUnready, p, "")
	}
	if was != is && !over {
		tries := 2
		if p.DeletionTimestamp != nil {
			tries = 1 // its controller counts it no more
		}
		if err := w.quotas.hears(p, tries); err != nil {
			return err
		}
	}
	if c := w.created[NameOf(p)]; c != nil && c.pod != nil {
		w.move(c, p)
	}
	if over {
		return w.Put(w.ctx, p)
	}
	if err := w.putQuietly(w.ctx, p); err != nil || !is || was {
		return err
	}
	return w.sets.sync(p)
}

// over has controllers hear of a pod whose containers have stopped for good: its object stays, and
// its room is free.
func (w *World) over(pod *corev1.Pod) error {
	if err := w.ended(pod); err != nil {
		return err
	}
	alive, failed := *pod, pod.Status.Phase == corev1.PodFailed
	alive.Status.Phase = corev1.PodRunning
	rec := &Left{Cause: CauseEnded}
	succeeds, why := successionOf(&alive)
	switch {
	case succeeds == onceGone: // its controller deletes it (stateful_set_control.go processReplica)
		if known, err := w.daemons.over(pod); err != nil || known {
			return err
		}
		return w.Leave(&alive, rec, 0)
	case ControlledBy(pod, "Job") && !failed:
		return w.jobs.succeeded(pod)
	case succeeds == noSuccessor && !failed:
		return nil
	}
	w.record(pod, rec)
	at := w.Seconds()
	rec.GoneAfterSeconds, rec.NotReplaced = &at, why
	switch succeeds {
	case atDeletion:
		return w.replace(&alive, rec)
	case afterBackoff:
		return w.jobs.lost(pod, rec, true)
	}
	return nil
}

// ended frees what a pod has had whose containers have stopped for good.
func (w *World) ended(pod *corev1.Pod) error {
	if c := w.created[NameOf(pod)]; c != nil {
		w.move(c, nil)
	}
	what := PodSucceeded
	if pod.Status.Phase == corev1.PodFailed {
		what = PodFailed
	}
	w.tellPod(what, pod, pod.Status.Reason)
	return w.volumes.released(pod)
}

// Reboot has nodes stop, and start again after some time, with the kubelets and all containers.
func (w *World) Reboot(names []string, after time.Duration) error {
	if len(names) == 0 {
		return nil
	}
	stopped := map[string]*LostNode{}
	for _, name := range names {
		if w.Dead(name) {
			continue
		}
		if err := w.die(name, NodeReboots); err != nil {
			return err
		}
		stopped[name] = w.nodes.lost[name]
	}
	w.due.schedule(w.now+after, writes, "Node/"+names[0], func() error {
		back := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return stopped[n] == nil || w.nodes.lost[n] != stopped[n] })
		return w.comeBack(back, w.restart)
	})
	return nil
}

// restart has a kubelet that begins anew, with no container running, go on with a pod of its node.
func (w *World) restart(pod *corev1.Pod, gaveUp bool) error {
	n := NameOf(pod)
	delete(w.unreadied, n)
	switch {
	case pod.DeletionTimestamp != nil:
		rec := w.leaving[n]
		if rec == nil {
			rec = &Left{}
		}
		return w.Gone(pod, rec)
	case w.starting(n):
		return w.resume(pod, gaveUp)
	case hasEnded(pod):
		return nil
	}
	k, err := w.lead(pod)
	if err != nil {
		return err
	}
	took, err := w.startOf(pod)
	if err != nil {
		return err
	}
	return w.written(k, k.run.Reboot(w.Instant(), took))
}

// Looping returns how many things are to happen that repeat for ever, and how many moments told of
// them.
func (w *World) Looping() (due, moments int) {
	if w.loops == 0 {
		return 0, 0
	}
	for _, k := range w.led {
		if k.loop && k.due >= 0 {
			due++
		}
	}
	return due, w.looped
}
