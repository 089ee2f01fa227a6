package podlife

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// followKill stops all containers of a pod with the answer's period as the
// kubelet does. fresh reports whether it begins now; else it began with the delete
// before.
func (w *ending) followKill(fresh bool) {
	if !fresh {
		w.last = w.began()
	}
	w.stopAll(w.out.GracePeriodSeconds)
}

// began is when the kubelet began to end a pod that is being deleted, in seconds
// from now.
func (w *ending) began() int64 {
	if w.Pod.DeletionTimestamp == nil {
		return 0
	}
	had := int64(0)
	if w.Pod.DeletionGracePeriodSeconds != nil {
		had = max(*w.Pod.DeletionGracePeriodSeconds, 0)
	}
	return min(0, int64(addSeconds(w.Pod.DeletionTimestamp.Time, -had).Sub(w.Now).Seconds()))
}

// stopAll stops what runs of a pod, from w.last on, with the kubelet's period
// (pkg/kubelet/kuberuntime kuberuntime_container.go killContainersWithSyncResult,
// killContainer, kuberuntime_termination_order.go).
func (w *ending) stopAll(period int64) {
	from := w.last
	w.period = period
	var plain, sidecars []*Stop
	eachContainer(w.Pod, func(c *corev1.Container, kind string) {
		state, runs := w.state(c, kind)
		if w.done[c.Name] {
			return
		}
		if !runs {
			w.out.NotRunning = append(w.out.NotRunning, Idle{c.Name, kind, state})
			return
		}
		s := w.stop(c, kind)
		if kind == "sidecar" {
			sidecars = append(sidecars, s)
		} else {
			plain = append(plain, s)
		}
	})
	ends := from
	for _, s := range plain {
		w.run(s, from, period, 0)
		if s.Kind == "container" {
			ends = max(ends, s.end)
		}
	}
	slices.Reverse(sidecars)
	// A sidecar waits for the main containers and the one behind it. One that does
	// not run is nothing to wait for, nor are those behind that one.
	behind := w.behind()
	killed := map[string]int64{}
	for _, s := range sidecars {
		turn := ends
		if at, runs := killed[behind[s.Name]]; runs {
			turn = max(turn, at)
		}
		w.run(s, from, period, turn)
		killed[s.Name] = s.end
	}
	for _, s := range append(plain, sidecars...) {
		w.note(s, period)
		w.out.Containers = append(w.out.Containers, *s)
		w.last = max(w.last, s.end)
	}
}

// EndsAfter returns how many seconds it takes at most to end a pod that runs and is deleted with a
// grace period: a hook that outlasts it, and sidecars behind the main containers, take more.
func EndsAfter(pod *corev1.Pod, grace int64) int64 {
	plain := true
	eachContainer(pod, func(c *corev1.Container, kind string) {
		plain = plain && kind != string(KindSidecar) && !hasPreStop(c)
	})
	if plain {
		return grace
	}
	w := &ending{Ending: Ending{Pod: pod}, out: &Termination{}, exited: map[string]bool{}}
	w.stopAll(grace)
	return max(w.last, 1)
}

// behind names for each sidecar the next one in the spec.
func (w *ending) behind() map[string]string {
	out, last := map[string]string{}, ""
	for i := len(w.Pod.Spec.InitContainers) - 1; i >= 0; i-- {
		if c := &w.Pod.Spec.InitContainers[i]; isSidecar(c) {
			out[c.Name] = last
			last = c.Name
		}
	}
	return out
}

// stop begins a container's end with what is known of it.
func (w *ending) stop(c *corev1.Container, kind string) *Stop {
	s := &Stop{Name: c.Name, Kind: kind, Signal: stopSignal(w.Pod, c.Name), hasHook: hasPreStop(c)}
	if s.hasHook {
		if n, given := w.PreStopSeconds[c.Name]; given {
			s.hook = n
		} else if sleep := c.Lifecycle.PreStop.Sleep; sleep != nil {
			s.hook = max(sleep.Seconds, 0)
		} else {
			s.hook, s.PreStopUnknown = math.MaxInt64, true
		}
	}
	return s
}

// run works out a container's end: at its SIGKILL, or before it where the
// application exits by itself.
func (w *ending) run(s *Stop, from, period, turn int64) {
	s.run(from, period, turn)
	s.end, s.code = s.KillAt, killedCode
	if n, given := w.ExitSeconds[s.Name]; w.real && given && n < s.StopTimeoutSeconds {
		s.end, s.exits, s.code = s.SignalAt+n, true, w.exitCode(s.Name)
		w.exited[s.Name] = true
	}
}

// run works out when the container is stopped: the hook first, out of the period; then a
// sidecar's wait until turn, out of what is left; what then is left is the stop
// timeout, at least 2. With no period there is neither hook nor wait.
func (s *Stop) run(from, period, turn int64) {
	s.started, s.period = from, period
	left, at := period, from
	if s.hasHook && left > 0 {
		took := min(s.hook, left)
		s.PreStopSeconds = &took
		left, at = left-took, at+took
	}
	if s.Kind == "sidecar" && left > 0 && turn > at {
		if s.WaitSeconds = left; turn < saturate(at, left) {
			s.WaitSeconds = turn - at
		}
		left, at = left-s.WaitSeconds, at+s.WaitSeconds
	}
	s.StopTimeoutSeconds = max(left, leastStop)
	s.SignalAt = at
	s.KillAt = saturate(at, s.StopTimeoutSeconds)
}

// saturate adds without going round: periods may be any int64.
func saturate(a, b int64) int64 {
	if sum := a + b; b < 0 || sum >= a {
		return sum
	}
	return 1<<63 - 1
}

// note records where a container's stop timeout comes from.
func (w *ending) note(s *Stop, period int64) {
	left := period
	if s.PreStopSeconds != nil {
		left -= *s.PreStopSeconds
		rule := "its hook uses up part of the period"
		if s.PreStopUnknown {
			rule = "nothing tells how long its hook runs: it may use up the whole period"
		}
		w.stepOf(s.Name, "container.lifecycle.preStop", rule, left)
	}
	if s.WaitSeconds > 0 {
		left -= s.WaitSeconds
		w.stepOf(s.Name, "kubelet", "a sidecar waits for the main containers and for those that started after it", left)
	}
	rule := "what is left of the period is the stop timeout"
	if left < leastStop {
		rule = "a container runtime is given at least 2 seconds"
	}
	w.stepOf(s.Name, "kubelet", rule, s.StopTimeoutSeconds)
}

func hasPreStop(c *corev1.Container) bool { return c.Lifecycle != nil && c.Lifecycle.PreStop != nil }

// stopSignal is what the container runtime sends first: the one that the
// container's status reports, else SIGTERM, unless the image says another. The
// container's own lifecycle.stopSignal is not read: the gate ContainerStopSignals
// is off in v1.36, and a kubelet does not pass it on
// (pkg/kubelet/kuberuntime helpers.go getContainerConfigStopSignal).
func stopSignal(p *corev1.Pod, name string) string {
	if s := statusOf(p, name); s != nil && s.StopSignal != nil && *s.StopSignal != "" {
		return string(*s.StopSignal)
	}
	return "SIGTERM"
}

func statusOf(p *corev1.Pod, name string) *corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{p.Status.ContainerStatuses, p.Status.InitContainerStatuses, p.Status.EphemeralContainerStatuses} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

// state reports whether a container runs. Without any status of its sort, main
// containers and sidecars of a pod that is not over are taken to run, and others
// not. In a pod that is Pending nothing has started that has no status.
func (w *ending) state(c *corev1.Container, kind string) (state string, runs bool) {
	if s := statusOf(w.Pod, c.Name); s != nil {
		switch {
		case s.State.Running != nil:
			return "running", true
		case s.State.Terminated != nil:
			return "terminated", false
		}
		return "waiting", false
	}
	list := w.Pod.Status.ContainerStatuses
	if kind == "sidecar" || kind == "init" {
		list = w.Pod.Status.InitContainerStatuses
	}
	switch {
	case terminal(w.Pod.Status.Phase), kind == "init", kind == "ephemeral":
		return "terminated", false
	case len(list) > 0, w.Pod.Status.Phase == corev1.PodPending:
		return "waiting", false
	}
	return "running", true
}
