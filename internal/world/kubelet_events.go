package world

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/podlife"
)

// PodEvent is what happens to a container of a pod.
type PodEvent struct {
	// Container is the first one if empty: for a probe, the first one that has it.
	Container string
	// ExitCode ends the container, and again Every after each later start where that is not nil.
	ExitCode *int32
	Every    *time.Duration
	// Probe fails For so long; for ever with 0.
	Probe string
	For   time.Duration
}

// Happens has something happen to a pod's container, which may be about to start. It returns why
// that cannot be; empty where it can.
func (w *World) Happens(n PodName, e *PodEvent) (refused string, err error) {
	pod, err := w.waitingOrStored(n)
	switch {
	case err != nil || pod == nil:
		return fmt.Sprintf("pods %q not found", n.Name), err
	case pod.DeletionTimestamp != nil:
		return "it is being deleted", nil
	case hasEnded(pod):
		return "it has ended", nil
	case pod.Spec.NodeName == "" || w.starting(n):
		if e.ExitCode != nil && e.Every == nil {
			return "it has not started", nil
		}
		w.toCome[n] = append(w.toCome[n], e)
		return "", nil
	}
	k, err := w.lead(pod)
	if err != nil {
		return "", err
	}
	k.loop = false
	if refused = w.happens(k, pod, e, false); refused != "" || w.Dead(pod.Spec.NodeName) {
		return refused, nil
	}
	return "", w.stepOf(k)
}

// starting reports whether a pod is on a node on which it is not ready for the first time yet.
func (w *World) starting(n PodName) bool {
	c := w.created[n]
	return c != nil && c.pod != nil && c.rec.ReadyAfterSeconds == nil
}

// happens hands an event to the kubelet of a pod that it leads; fresh: the pod has just started.
func (w *World) happens(k *ledPod, pod *corev1.Pod, e *PodEvent, fresh bool) (refused string) {
	ev := podlife.LifeEvent{At: w.Instant(), Container: e.Container, ExitCode: e.ExitCode}
	if e.Probe != "" {
		if ev.Probe, ev.Result = e.Probe, "Failure"; e.For > 0 {
			ev.Until = new(ev.At.Add(e.For))
		}
	}
	for i := 0; e.Container == "" && i < len(pod.Spec.Containers); i++ {
		if ev.Container = pod.Spec.Containers[i].Name; e.Probe == "" || k.run.Refuses(&ev) == "" {
			break
		}
	}
	if e.Every != nil && k.run.ExitEach(ev.Container, *e.Every, *e.ExitCode) && (fresh || k.run.Refuses(&ev) != "") {
		return "" // it has just started, or waits to start, and ends later
	}
	if refused = k.run.Refuses(&ev); refused == "" {
		k.run.Happen(ev)
	}
	return refused
}

// startedLed has the kubelet lead a pod that has just started, where something is to come.
func (w *World) startedLed(pod *corev1.Pod) error {
	n := NameOf(pod)
	events := w.toCome[n]
	if len(events) == 0 && pod.Spec.ActiveDeadlineSeconds == nil {
		return nil
	}
	delete(w.toCome, n)
	k, err := w.lead(pod)
	if err != nil {
		return err
	}
	for _, e := range events {
		if refused := w.happens(k, pod, e, true); refused != "" {
			w.tellPod(Refused, pod, refused)
		}
	}
	w.await(k)
	return nil
}

// takesKey is a pod, or a workload whose pods are meant.
type takesKey struct {
	kind string // empty: a pod
	PodName
	ends bool
}

// Takes has the next starts, or ends, of a pod or of the pods of a workload take a time. A pod is
// killed at the end of its grace period.
func (w *World) Takes(kind string, n PodName, ends bool, d time.Duration) {
	w.takes[takesKey{kind, n, ends}] = d
}

// takesOf returns how long a start or an end takes as a scenario says.
func (w *World) takesOf(pod *corev1.Pod, ends bool) (d time.Duration, is bool) {
	if len(w.takes) == 0 {
		return 0, false
	}
	keys := []takesKey{{"", NameOf(pod), ends}}
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		keys = append(keys, takesKey{owner.Kind, PodName{pod.Namespace, owner.Name}, ends})
		if name, is := strings.CutSuffix(owner.Name, "-"+pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]); is {
			keys = append(keys, takesKey{"Deployment", PodName{pod.Namespace, name}, ends})
		}
	}
	for _, k := range keys {
		if d, is = w.takes[k]; is {
			return d, true
		}
	}
	return 0, false
}
