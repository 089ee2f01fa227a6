package termination

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	events "k8s.io/client-go/tools/record"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/eviction"
	admission "k8s.io/kubernetes/pkg/kubelet/lifecycle"
	"k8s.io/kubernetes/pkg/kubelet/nodeshutdown"
	"k8s.io/kubernetes/pkg/kubelet/preemption"
	kubelettypes "k8s.io/kubernetes/pkg/kubelet/types"
	"k8s.io/kubernetes/pkg/kubelet/volumemanager"
	"k8s.io/utils/clock"

	"berth/test/conformance/lifecycle"
)

// phases answers for pods' phases; it is made once, and for one goroutine.
var phases = sync.OnceValues(lifecycle.NewOracle)

// afterProbe calls the kubelet's code for the phase after a probe failed.
func (e *Ending) afterProbe(q Question, pod *corev1.Pod) error {
	o, err := phases()
	if err != nil {
		return err
	}
	pod, runs := told(q, pod)
	startup := q.Cause == "startup"
	mains := slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return runs[c.Name] })
	if startup && !mains && pod.DeletionTimestamp == nil {
		return nil // a sidecar that never started, behind main containers that ended: the kubelet tells them from none that began by what it garbage-collected
	}
	if contradicts(pod, ran) {
		return nil
	}
	if !mains && pod.DeletionTimestamp == nil && slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return podutil.IsRestartableInitContainer(&c) && !runs[c.Name] }) {
		return nil // on its way down: sidecars are stopped one after the other once the main containers have ended, and no probe counts then
	}
	for i, s := range pod.Status.ContainerStatuses {
		if end := s.LastTerminationState.Terminated; s.State.Waiting != nil && end != nil && !podutil.ContainerShouldRestart(pod.Spec.Containers[i], pod.Spec, end.ExitCode) {
			return nil // no kubelet writes that one waits that is not started again
		}
	}
	if pod.DeletionTimestamp != nil && ofFiles(pod) {
		return nil // its object is going, and not the pod
	}
	killed, err := o.AfterProbe(pod, q.Container, startup, 137)
	if err != nil {
		return err
	}
	zero, err := o.AfterProbe(pod, q.Container, startup, 0)
	e.Judged, e.Phase, e.Zero = true, string(killed), string(zero)
	return err
}

// afterKill calls the kubelet's code for the phase after the pod was stopped.
func (e *Ending) afterKill(q Question, pod *corev1.Pod) error {
	o, err := phases()
	if err != nil {
		return err
	}
	var cause func(*corev1.Pod, eviction.KillPodFunc) error
	switch q.Cause {
	case "delete", "preempt":
		if pod.Spec.NodeName == "" || e.Period == 0 && len(pod.Finalizers) == 0 {
			return nil // the object is gone at once, and no phase is written
		}
		if ofFiles(pod) {
			return nil // its object is going, and not the pod
		}
		if pod.DeletionTimestamp == nil {
			pod.DeletionTimestamp = &metav1.Time{Time: q.Now}
		}
	case "evict-soft", "evict-hard":
		cause = evict
	case "kubelet-preempt":
		cause = preempt
	case "shutdown":
		cause = shutDown
	}
	pod, _ = told(q, pod)
	// Main containers that wait for init containers may have run in a sandbox
	// before this one.
	if contradicts(pod, func(s *corev1.ContainerStatus) bool {
		return ran(s) && (s.State.Waiting == nil || s.State.Waiting.Reason != "PodInitializing")
	}) {
		return nil
	}
	killed, err := o.AfterKill(pod, cause, 137)
	if err != nil {
		return err
	}
	zero, err := o.AfterKill(pod, cause, 0)
	e.Judged, e.Phase, e.Zero = true, string(killed.Phase), string(zero.Phase)
	if cause != nil && last(string(pod.Status.Phase)) == "" {
		e.Reason = killed.Reason
	}
	return err
}

// evicts reports whether the kubelet's own manager evicts a pod at all.
func evicts(pod *corev1.Pod) bool {
	return evict(pod.DeepCopy(), func(*corev1.Pod, bool, *int64, func(*corev1.PodStatus)) error { return nil }) == nil
}

// evict is an eviction by the kubelet's own manager.
func evict(pod *corev1.Pod, kill eviction.KillPodFunc) (err error) {
	m, _ := eviction.NewManager(nil, eviction.Config{}, func(p *corev1.Pod, evicted bool, period *int64, say func(*corev1.PodStatus)) error {
		err = kill(p, evicted, period, say)
		return err
	}, nil, nil, &events.FakeRecorder{}, nil, clock.RealClock{}, false)
	if !evictPod(reflect.ValueOf(m).UnsafePointer(), logr.Discard(), pod, 1, "low on memory", nil, &corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonTerminationByKubelet}) {
		return fmt.Errorf("the kubelet does not evict pod %s", pod.Name)
	}
	return err
}

// preempt is the kubelet's own preemption, of this one pod for a critical one that
// lacks what it requests.
func preempt(pod *corev1.Pod, kill eviction.KillPodFunc) (err error) {
	killed := false
	victim := pod.DeepCopy()
	victim.Spec.Priority = nil // whom it may preempt is another question
	victim.Annotations = nil
	victim.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	h := preemption.NewCriticalPodAdmissionHandler(func() []*corev1.Pod { return []*corev1.Pod{victim} }, func(_ *corev1.Pod, evicted bool, period *int64, say func(*corev1.PodStatus)) error {
		killed = true
		err = kill(pod, evicted, period, say)
		return err
	}, &events.FakeRecorder{})
	critical := int32(2000000000)
	makeRoom(h, &corev1.Pod{Spec: corev1.PodSpec{Priority: &critical}}, &admission.InsufficientResourceError{ResourceName: corev1.ResourceCPU, Requested: 1000, Capacity: 1000, Used: 1000})
	if !killed {
		return fmt.Errorf("the kubelet does not preempt pod %s", pod.Name)
	}
	return err
}

// shutDown is the end of the pod's node by the kubelet's own manager. Its wait for
// its pods is none for their end.
func shutDown(pod *corev1.Pod, kill eviction.KillPodFunc) error {
	done := make(chan error, 1)
	m := newShutdown(&nodeshutdown.Config{
		Logger: logr.Discard(), VolumeManager: volumemanager.NewFakeVolumeManager(nil, 0, nil, false),
		ShutdownGracePeriodByPodPriority: []kubeletconfig.ShutdownGracePeriodByPodPriority{{ShutdownGracePeriodSeconds: 60}},
		KillPodFunc: func(p *corev1.Pod, evicted bool, period *int64, say func(*corev1.PodStatus)) error {
			err := kill(p, evicted, period, say)
			done <- err
			return err
		},
	})
	if err := killPods(m, []*corev1.Pod{pod}); err != nil {
		return err
	}
	return <-done
}

// ofFiles reports whether a kubelet has a pod from its own files.
func ofFiles(pod *corev1.Pod) bool {
	return kubelettypes.IsMirrorPod(pod) || kubelettypes.IsStaticPod(pod)
}

// told is the pod with all of its containers' statuses, and what of them runs: that
// of which nothing is said, as the question means it.
func told(q Question, p *corev1.Pod) (pod *corev1.Pod, runs map[string]bool) {
	pod, runs = p.DeepCopy(), map[string]bool{q.Container: true}
	for _, name := range Running(q) {
		runs[name] = true
	}
	all := func(list []corev1.Container, statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
		if len(statuses) == 0 {
			statuses = make([]corev1.ContainerStatus, len(list))
		}
		for i := range list {
			s := &statuses[i]
			switch s.Name = list[i].Name; {
			case runs[s.Name]:
				s.State, s.Started = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, new(true)
			case s.State == (corev1.ContainerState{}) && pod.Status.Phase == corev1.PodPending:
				s.State.Waiting = &corev1.ContainerStateWaiting{Reason: "ContainerCreating"} // it never started
			case s.State == (corev1.ContainerState{}):
				s.State.Terminated = &corev1.ContainerStateTerminated{} // what of a pod is not said is over
			}
		}
		return statuses
	}
	pod.Status.ContainerStatuses = all(pod.Spec.Containers, pod.Status.ContainerStatuses)
	pod.Status.InitContainerStatuses = all(pod.Spec.InitContainers, pod.Status.InitContainerStatuses)
	return pod, runs
}

// ran reports whether a container was ever started.
func ran(s *corev1.ContainerStatus) bool {
	return s.State.Waiting == nil || s.LastTerminationState.Terminated != nil
}

// contradicts reports whether a main container ran before any init container, or runs, as mains
// judges it, before the init containers allow it. No kubelet writes that, so nothing defines what
// follows.
func contradicts(pod *corev1.Pod, mains func(*corev1.ContainerStatus) bool) bool {
	is := func(f func(*corev1.ContainerStatus) bool) bool {
		return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return f(&s) })
	}
	began, now := is(ran), is(mains)
	for i := range pod.Status.InitContainerStatuses {
		s := &pod.Status.InitContainerStatuses[i]
		sidecar, end := podutil.IsRestartableInitContainer(&pod.Spec.InitContainers[i]), s.State.Terminated
		if began && !ran(s) || now && !sidecar && (end == nil || end.ExitCode != 0) {
			return true
		}
	}
	return false
}
