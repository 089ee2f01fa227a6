package podlife

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// EventUnchanged is a second delete that changes nothing.
const EventUnchanged = "deletion unchanged"

// eventRewritten is the kubelet's new mirror object of a static pod.
const eventRewritten = "mirror object written again"

// The actors of a timeline.
const (
	actorAPI       = "api-server"
	actorScheduler = "scheduler"
	actorKubelet   = "kubelet"
	actorRuntime   = "container-runtime"
	actorSlices    = "endpointslice-controller"
)

func (w *ending) event(offset int64, actor, event, container, detail string) {
	w.out.Timeline = append(w.out.Timeline, Event{OffsetSeconds: offset, Actor: actor, Event: event, Container: container, Detail: detail})
}

// closing is an event of the pod's end, which a later cause may move.
func (w *ending) closing(offset int64, actor, event, detail string) {
	w.event(offset, actor, event, "", detail)
	w.out.Timeline[len(w.out.Timeline)-1].closing = true
}

// stopEvents writes what happens to a container until the kubelet begins anew.
func (w *ending) stopEvents(s *Stop, until int64) {
	event := func(offset int64, actor, event, detail string) {
		if offset < until {
			w.event(offset, actor, event, s.Name, detail)
		}
	}
	if s.PreStopSeconds != nil {
		event(s.started, actorKubelet, "preStop started", w.hookDetail(s))
		end, why := "preStop ended", "a hook that fails or hangs holds nothing up, and is not tried again"
		switch {
		case s.hook > *s.PreStopSeconds && !(s.PreStopUnknown && slices.Contains(w.HookFails, s.Name)):
			end = "preStop given up"
		case slices.Contains(w.HookFails, s.Name):
			end, why = "preStop failed", "the Event has the reason FailedPreStopHook; it is not tried again, and the container is stopped all the same"
		}
		if s.PreStopUnknown {
			why = "nothing tells how long it runs, so this is the latest; " + why
		}
		event(s.started+*s.PreStopSeconds, actorKubelet, end, fmt.Sprintf("it used %d of its %d seconds; %s", *s.PreStopSeconds, s.period, why))
	} else if s.hasHook {
		event(s.started, actorKubelet, "preStop not run", "there is no period for it")
	}
	signal := "or what the image names as STOPSIGNAL"
	if s.Signal != "SIGTERM" {
		signal = "the container's own stop signal"
	}
	event(s.SignalAt, actorRuntime, s.Signal, signal)
	if s.exits {
		event(s.end, actorRuntime, "exited", fmt.Sprintf("by itself; taken to be with exit code %d", s.code))
		return
	}
	event(s.KillAt, actorRuntime, "SIGKILL", fmt.Sprintf("to what still runs %d seconds after the signal", s.StopTimeoutSeconds))
}

// finish writes what the containers do into the timeline, and puts it in order.
func (w *ending) finish() {
	for i := range w.out.Containers {
		w.stopEvents(&w.out.Containers[i], math.MaxInt64)
	}
	w.gone()
	w.move()
	w.overdue()
	slices.SortStableFunc(w.out.Timeline, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.OffsetSeconds, b.OffsetSeconds), cmp.Compare(rankOf(&a), rankOf(&b)))
	})
	for i := range w.out.Timeline {
		e := &w.out.Timeline[i]
		if at := addSeconds(w.Now, e.OffsetSeconds).UTC(); at.Year() <= 9999 && at.Year() >= 0 {
			e.At = &at
		}
	}
}

// rankOf orders events of the same second.
func rankOf(e *Event) int {
	switch {
	case strings.HasPrefix(e.Event, "SIGKILL"):
		return 4
	case e.Event == "exited":
		return 4
	case e.Actor == actorRuntime:
		return 3
	case strings.HasPrefix(e.Event, "preStop"):
		return 2
	case strings.HasPrefix(e.Event, "phase "):
		return 5
	case strings.HasPrefix(e.Event, "container restarted"), strings.HasPrefix(e.Event, "container stays down"):
		return 6
	case strings.HasPrefix(e.Event, "endpoints removed") && e.OffsetSeconds != 0:
		return 7
	case e.Event == "object kept", e.Event == "object removed" && e.Actor == actorKubelet:
		return 8
	case e.closing:
		return 9
	}
	return 1
}

// gone says when the object is gone, or the pod is over that the kubelet ends by
// itself.
func (w *ending) gone() {
	over := w.kill != nil && w.Pod.DeletionTimestamp == nil
	for i := range w.out.Timeline {
		switch e := &w.out.Timeline[i]; {
		case e.Event == eventRewritten:
			w.out.GoneAfterSeconds = nil
			return
		case e.Event == "object removed", over && strings.HasPrefix(e.Event, "phase "):
			w.out.GoneAfterSeconds = new(e.OffsetSeconds)
		}
	}
}

// overdue marks an object whose end is past by its deletion: it goes any moment.
func (w *ending) overdue() {
	if n := w.out.GoneAfterSeconds; n != nil && *n < 0 {
		since := addSeconds(w.Now, *n)
		w.out.GoneAfterSeconds, w.out.OverdueSince = new(int64(0)), inYears(since)
		w.out.Notes = append(w.out.Notes, "overdue: it was to be gone at the latest at "+since.UTC().Format(time.RFC3339)+", and its object is still there; goneAfterSeconds is not below 0")
	}
}

// move moves everything to when it begins.
func (w *ending) move() {
	if w.shift == 0 {
		return
	}
	for i := range w.out.Timeline {
		w.out.Timeline[i].OffsetSeconds = saturate(w.out.Timeline[i].OffsetSeconds, w.shift)
	}
	for i := range w.out.Containers {
		s := &w.out.Containers[i]
		s.SignalAt, s.KillAt, s.end = saturate(s.SignalAt, w.shift), saturate(s.KillAt, w.shift), saturate(s.end, w.shift)
	}
	if n := w.out.GoneAfterSeconds; n != nil {
		*n = saturate(*n, w.shift)
	}
	w.Now = addSeconds(w.Now, -w.shift)
}

func (w *ending) hookDetail(s *Stop) string {
	c := containerOf(w.Pod, s.Name)
	sort := "exec"
	switch h := c.Lifecycle.PreStop; {
	case h.Sleep != nil:
		sort = "sleep"
	case h.HTTPGet != nil:
		sort = "httpGet"
	case h.TCPSocket != nil:
		sort = "tcpSocket"
	}
	return sort
}

func containerOf(p *corev1.Pod, name string) (found *corev1.Container) {
	eachContainer(p, func(c *corev1.Container, _ string) {
		if c.Name == name && found == nil {
			found = c
		}
	})
	return found
}
