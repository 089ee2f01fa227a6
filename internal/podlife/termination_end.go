package podlife

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// followDelete writes what follows a delete through the API.
func (w *ending) followDelete(d deletion) {
	p := w.Pod
	w.disrupted(0, w.Cause, d.again)
	what := fmt.Sprintf("deletionGracePeriodSeconds %d", d.period)
	kept := d.period != 0 || len(p.Finalizers) > 0
	w.out.Endpoints = Endpoints{Serving: w.ready(), Terminating: true, Detail: "not ready at once; serving as long as its readiness probes succeed"}
	if w.by.ExecProbesGoOn && asksByExec(p) {
		w.out.Endpoints.Detail += ", exec ones as well"
	}
	if d.again && !d.changed {
		w.event(w.began(), actorAPI, "deletion requested", "", what)
		w.event(0, actorAPI, EventUnchanged, "", "a second delete may only shorten")
		w.endOf(w.began(), kept)
		return
	}
	w.event(0, actorAPI, "deletion requested", "", what)
	if !d.again {
		w.replaced(0)
	}
	if d.again {
		w.out.Notes = append(w.out.Notes, "the kubelet breaks off and begins anew with the shorter period, hooks included")
	}
	if kept {
		w.endOf(0, true)
		return
	}
	w.removedAtOnce()
}

// asksByExec reports whether a main container or a sidecar has a command as its readiness probe,
// which goes on to the end (pkg/kubelet/prober AddPod, StopLivenessAndStartup).
func asksByExec(p *corev1.Pod) (yes bool) {
	eachContainer(p, func(c *corev1.Container, kind string) {
		asked := kind == string(KindContainer) || kind == string(KindSidecar)
		yes = yes || asked && c.ReadinessProbe != nil && c.ReadinessProbe.Exec != nil
	})
	return yes
}

// endOf is the end of a pod whose object stays until the kubelet is done.
func (w *ending) endOf(from int64, kept bool) {
	p := w.Pod
	w.event(from, actorSlices, "endpoints terminating", "", fmt.Sprintf("ready false, serving %v, terminating true", w.out.Endpoints.Serving))
	w.last = from
	if isMirror(p) && p.Spec.NodeName != "" {
		w.mirrored()
		return
	}
	if p.Spec.NodeName != "" && w.nodeState() != NodeHealthy {
		w.stranded()
		return
	}
	if p.Spec.NodeName == "" {
		w.out.Phase = phaseNow(p)
		w.out.Endpoints = Endpoints{Removed: true, Detail: "a pod without a node has no address"}
		w.removal(w.last)
		return
	}
	if terminal(p.Status.Phase) {
		w.out.Phase = string(p.Status.Phase)
		w.out.Endpoints = Endpoints{Removed: true, Detail: "a pod that is over is in no slice"}
	}
	period := effective(0, &w.out.GracePeriodSeconds, nil, w.spec(), w.step)
	w.stopAll(period)
	if w.out.Phase == "" {
		w.ended()
	}
	if kept {
		w.removal(w.last)
	}
}

// removal is the last event of an object.
func (w *ending) removal(at int64) {
	if f := w.Pod.Finalizers; len(f) > 0 {
		w.closing(at, actorAPI, "object kept", "until its finalizers are gone: "+strings.Join(f, ", "))
		return
	}
	w.closing(at, actorKubelet, "object removed", "a delete with period 0, once all containers have stopped and volumes are unmounted")
	w.replacedAfter(at)
}

// removedAtOnce is a delete with period 0: the object and its name are free while
// the node may still run its processes.
func (w *ending) removedAtOnce() {
	p := w.Pod
	w.removed = true
	w.event(0, actorAPI, "object removed", "", "at once: the API server does not wait for the node")
	w.event(0, actorSlices, "endpoints removed", "", "with the object")
	w.replacedAfter(0)
	w.out.Phase = phaseNow(p)
	w.out.Endpoints = Endpoints{Removed: true, Detail: "the object is gone, and its endpoints with it"}
	if p.Spec.NodeName == "" {
		eachContainer(p, func(c *corev1.Container, kind string) {
			w.out.NotRunning = append(w.out.NotRunning, Idle{c.Name, kind, "waiting"})
		})
		return
	}
	if isMirror(p) {
		w.rewritten()
		return
	}
	w.stopAll(effective(0, new(int64(0)), nil, w.spec(), w.step))
	w.leave()
	if len(w.out.LeftRunning) > 0 {
		w.event(0, actorKubelet, "processes may still run", "", fmt.Sprintf(
			"%s: until the kubelet hears of it and %d seconds more, for ever if the node does not answer; a pod of the same name may start meanwhile", strings.Join(w.out.LeftRunning, ", "), w.last))
	}
}

// leave notes the containers that may still run when the object is gone.
func (w *ending) leave() {
	for i := range w.out.Containers {
		w.out.LeftRunning = append(w.out.LeftRunning, w.out.Containers[i].Name)
	}
}

// failed is the end of a pod that the kubelet kills by itself: its object
// stays.
func (w *ending) failed(k kill) {
	reason := k.reason
	w.out.Reason, w.out.Message = reason, k.message
	w.out.Endpoints = Endpoints{
		Ready: w.ready(), Serving: w.ready(), Terminating: w.Pod.DeletionTimestamp != nil,
		Detail: "the kubelet marks nothing while containers stop: ready as long as its readiness probes succeed, gone with the end of the phase",
	}
	if w.Pod.DeletionTimestamp != nil {
		w.out.Endpoints.Ready = false
	}
	if terminal(w.Pod.Status.Phase) {
		w.out.Phase, w.out.Reason, w.out.Message = string(w.Pod.Status.Phase), "", ""
		w.out.Endpoints = Endpoints{Removed: true, Detail: "a pod that is over is in no slice"}
		return
	}
	const condition = "condition DisruptionTarget True, TerminationByKubelet"
	if w.succeeds(killedCode, "") && !(k.cause == string(CauseShutdown) && w.doneBefore()) {
		// The kubelet keeps a reason with the phase that it came with, which was
		// Failed (pkg/kubelet/kubelet_pods.go generateAPIPodStatus).
		w.out.Reason, w.out.Message = "", ""
		w.ended(condition, "without the reason "+reason)
	} else {
		w.ended(reason+", "+condition, k.detail)
	}
	if w.Pod.DeletionTimestamp == nil {
		w.replaced(w.last)
	}
	w.closing(w.last, actorSlices, "endpoints removed", "a pod that is over is in no slice")
	if w.Pod.DeletionTimestamp != nil {
		w.removal(w.last)
	}
}

// ended works out the phase of a pod all of whose containers have stopped, if
// what runs ends with the code of a kill, and if with 0.
func (w *ending) ended(details ...string) {
	phase := func(code int32) string {
		if w.succeeds(code, "") {
			return string(corev1.PodSucceeded)
		}
		return string(corev1.PodFailed)
	}
	w.out.Phase = phase(killedCode)
	if zero := phase(0); zero != w.out.Phase && !w.real {
		w.out.PhaseIfAllExitZero = zero
		which := "init"
		if w.stopsMain() {
			which = "main"
		}
		details = append(details, zero+" if all "+which+" containers ended with exit code 0 in time")
	}
	details = slices.DeleteFunc(details, func(s string) bool { return s == "" })
	w.closing(w.last, actorKubelet, "phase "+w.out.Phase, strings.Join(details, "; "))
}

func (w *ending) stopsMain() bool {
	return slices.ContainsFunc(w.out.Containers, func(s Stop) bool { return s.Kind == "container" })
}

// succeeds reports whether a pod all of whose containers have stopped, what ran with a
// code, ends as Succeeded: whatever the restart policy, if every main container
// ended with 0, no plain init container never ran, and none failed for good
// (pkg/kubelet/kubelet_pods.go getPhase with podIsTerminal). The one named ran,
// whatever its status says.
func (w *ending) succeeds(code int32, ran string) bool {
	for i := range w.Pod.Spec.Containers {
		c := &w.Pod.Spec.Containers[i]
		end, known := w.lastEnd(c, "container", code, ran)
		if !known || end != 0 {
			return false
		}
		// A kubelet ends its static pods by their restart policy.
		if again, _ := mayRestart(&w.Pod.Spec, c, end); again && isStatic(w.Pod) {
			return false
		}
	}
	for i := range w.Pod.Spec.InitContainers {
		c := &w.Pod.Spec.InitContainers[i]
		if isSidecar(c) || statusOf(w.Pod, c.Name) == nil {
			continue
		}
		end, known := w.lastEnd(c, "init", code, ran)
		if again, _ := mayRestart(&w.Pod.Spec, c, end); !known || end != 0 && !again {
			return false
		}
	}
	return len(w.Pod.Spec.Containers) > 0
}

// doneBefore reports whether nothing of a pod ran, nor would any more.
func (w *ending) doneBefore() bool {
	for i := range w.Pod.Spec.Containers {
		c := &w.Pod.Spec.Containers[i]
		end, _ := w.lastEnd(c, "container", 0, "")
		if again, _ := mayRestart(&w.Pod.Spec, c, end); again {
			return false
		}
	}
	return !slices.ContainsFunc(w.out.Containers, func(s Stop) bool { return s.Kind != "ephemeral" })
}

// lastEnd is the exit code that a container counts with at its pod's end. A main
// one that could not be started again has none while its pod is not deleted: the
// kubelet goes on to report that it waits (pkg/kubelet/kubelet_pods.go
// convertToAPIContainerStatuses, pkg/kubelet/container/helpers.go
// ShouldContainerBeRestarted).
func (w *ending) lastEnd(c *corev1.Container, kind string, code int32, ran string) (exit int32, known bool) {
	if _, runs := w.state(c, kind); runs || c.Name == ran {
		if w.exited[c.Name] {
			return w.exitCode(c.Name), true
		}
		return code, true
	}
	s := statusOf(w.Pod, c.Name)
	end := endOf(s)
	if end == nil {
		return 0, false
	}
	deleted := w.Pod.DeletionTimestamp != nil || w.Cause.throughAPI()
	again, _ := mayRestart(&w.Pod.Spec, c, end.ExitCode)
	if kind == "container" && s.State.Terminated == nil && again && !deleted && !awaitsTurn(s) {
		return 0, false
	}
	return end.ExitCode, true
}

// awaitsTurn reports whether a container waits that the kubelet has not yet tried to
// start.
func awaitsTurn(s *corev1.ContainerStatus) bool {
	if s.State.Waiting == nil {
		return true
	}
	switch s.State.Waiting.Reason {
	case "", "ContainerCreating", "PodInitializing":
		return true
	}
	return false
}

// isStatic reports whether a pod comes from a kubelet's own files, which an API server
// only mirrors.
func isStatic(p *corev1.Pod) bool {
	source, ok := p.Annotations[annotationSource]
	return ok && source != "api"
}

// ready reports whether the pod is ready: by its condition, else as the kubelet
// would write it next, else, of a pod that is taken to run, yes.
func (w *ending) ready() bool {
	for _, c := range w.Pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	if w.Pod.Spec.NodeName == "" || w.nodeState() != NodeHealthy || terminal(w.Pod.Status.Phase) {
		return false
	}
	if len(w.Pod.Status.ContainerStatuses) == 0 {
		return phaseNow(w.Pod) == string(corev1.PodRunning)
	}
	for _, c := range Lifecycle(w.Pod, NodeHealthy, w.Now).Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// phaseNow is the pod's phase, or the one that a pod on its way to a node or on
// it has.
func phaseNow(p *corev1.Pod) string {
	switch {
	case p.Status.Phase != "":
		return string(p.Status.Phase)
	case p.Spec.NodeName == "":
		return string(corev1.PodPending)
	}
	return string(corev1.PodRunning)
}
