package podlife

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

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

// finish writes what the containers do into the timeline, and puts it in order.
func (w *ending) finish() {
	for i := range w.out.Containers {
		s := &w.out.Containers[i]
		if s.PreStopSeconds != nil {
			w.event(s.started, actorKubelet, "preStop started", s.Name, w.hookDetail(s))
			end := "preStop ended"
			if s.hook > *s.PreStopSeconds {
				end = "preStop given up"
			}
			w.event(s.started+*s.PreStopSeconds, actorKubelet, end, s.Name, fmt.Sprintf("it used %d of its %d seconds; a hook that fails or hangs holds nothing up, and is not tried again", *s.PreStopSeconds, w.least()))
		} else if s.hasHook {
			w.event(s.started, actorKubelet, "preStop not run", s.Name, "there is no period for it")
		}
		signal := "or what the image names as STOPSIGNAL"
		if s.Signal != "SIGTERM" {
			signal = "the container's own stop signal"
		}
		w.event(s.SignalAt, actorRuntime, s.Signal, s.Name, signal)
		w.event(s.KillAt, actorRuntime, "SIGKILL", s.Name, fmt.Sprintf("to what still runs %d seconds after the signal", s.StopTimeoutSeconds))
	}
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
	}
	return 1
}

// least is the period that the containers really have.
func (w *ending) least() int64 {
	if w.Cause == CauseLiveness || w.Cause == CauseStartup {
		return w.out.GracePeriodSeconds
	}
	return max(w.out.GracePeriodSeconds, 1)
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
