package controllers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/record"
	"k8s.io/kubernetes/pkg/controller/history"
	"k8s.io/kubernetes/pkg/controller/statefulset"
)

// StatefulSets is the order in which a StatefulSet makes and deletes its pods.
var StatefulSets = &Part{Name: "statefulset", Draw: drawStatefulSet, Want: playStatefulSet, Got: func(_ *Case, a *Answer) []string { return lifeOf(a) }}

// drawStatefulSet draws a set of some ordinals, of which some are sick, are not there or end, and
// has it want other numbers of pods while pods are deleted.
func drawStatefulSet(d *Drawing) {
	d.k.Start = int64(d.IntN(40))
	for i := range 2 {
		d.add(nodeOf(string(rune('a'+i)), ""))
	}
	labels := map[string]string{"app": "db"}
	set := typed(&appsv1.StatefulSet{}, "StatefulSet", "apps/v1")
	n, limit, first := int32(1+d.IntN(6)), int32(10), one(d, 0, 0, 0, 3)
	set.Namespace, set.Name, set.UID = "default", "db", uidOf("StatefulSet", "db")
	set.Spec = appsv1.StatefulSetSpec{
		Replicas: &n, Selector: selecting(labels), ServiceName: "db", PodManagementPolicy: appsv1.OrderedReadyPodManagement, RevisionHistoryLimit: &limit,
		MinReadySeconds: one(d, int32(0), 0, 0, 7, 60), UpdateStrategy: appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType},
	}
	if d.in(30) {
		set.Spec.PodManagementPolicy = appsv1.ParallelPodManagement
		d.tag("parallel")
	}
	if first > 0 {
		set.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: int32(first)}
		d.tag("ordinals")
	}
	set.Spec.Template.Labels = labels
	grace := one(d, int64(0), 1, 10, 30, 60)
	set.Spec.Template.Spec = corev1.PodSpec{TerminationGracePeriodSeconds: &grace, RestartPolicy: corev1.RestartPolicyAlways, Containers: []corev1.Container{{Name: "c", Image: "i"}}}
	d.add(set)
	ref := owned("apps/v1", "StatefulSet", "db")
	for i := range int(n) {
		p := podOf(fmt.Sprintf("db-%d", first+i), map[string]string{"app": "db"}, &ref)
		p.Labels[appsv1.StatefulSetPodNameLabel] = p.Name
		p.Spec.TerminationGracePeriodSeconds = &grace
		runs(p, "a", one(d, int64(3), 500, 5000)+int64(d.IntN(9)), d.k.Start)
		if !d.sick(p) {
			continue
		}
		d.add(p)
	}
	for range d.IntN(3) {
		d.event(int64(d.IntN(200)), Event{Delete: &PodNamed{"default", fmt.Sprintf("db-%d", first+d.IntN(int(n)))}})
	}
	for i := range 1 + d.IntN(3) {
		d.event(int64(i*d.IntN(150)), Event{Scale: &ScaleTo{"StatefulSet", "default", "db", d.IntN(8)}})
	}
}

// sick has a pod be what a set's pods are at times; false where it is not there.
func (d *Drawing) sick(p *corev1.Pod) bool {
	switch d.IntN(14) {
	case 0:
		unready(p)
		d.tag("unready")
	case 1:
		dying(p, int64(1+d.IntN(40)))
		d.tag("dying")
	case 2:
		p.Status.Phase = one(d, corev1.PodFailed, corev1.PodSucceeded)
		unready(p)
		d.tag("over")
	case 3:
		p.Spec.NodeName, p.Status = "", corev1.PodStatus{Phase: corev1.PodPending}
		d.tag("waits")
	case 4:
		d.tag("absent")
		return false
	}
	return true
}

// playStatefulSet has the real control of StatefulSets act.
func playStatefulSet(k *Case) ([]string, error) {
	c := newCluster(k)
	set := of[appsv1.StatefulSet](k)[0].DeepCopy()
	f := informers.NewSharedInformerFactory(fake.NewSimpleClientset(), 0)
	control := statefulset.NewDefaultStatefulSetControl(
		statefulset.NewStatefulPodControlFromManager(&setPods{c: c}, &record.FakeRecorder{}), setStatus{set}, history.NewFakeHistory(f.Apps().V1().ControllerRevisions()))
	var next int64
	touched := false // berth leaves a set as it is until an event scales it or one of its pods is gone
	c.ends = func(*corev1.Pod) bool {
		touched = true
		return true
	}
	c.control = func() error {
		if !touched {
			return nil
		}
		for before := -1; before != len(c.lines); {
			before = len(c.lines)
			pods := []*corev1.Pod{}
			for _, name := range slices.Sorted(maps.Keys(c.pods)) {
				pods = append(pods, c.pods[name])
			}
			status, err := control.UpdateStatefulSet(context.Background(), set, pods, c.instant())
			if err != nil {
				return err
			}
			set.Status = *status
			if status.ReadyReplicas != status.AvailableReplicas && next <= c.now { // FindMinNextPodAvailabilityCheck
				next = c.now + 1
				c.at(next, "~set", c.control)
			}
		}
		return nil
	}
	c.happens(func(e *Event) error {
		if e.Delete != nil {
			return c.remove(e.Delete.Name)
		}
		n := int32(e.Scale.Replicas)
		set.Spec.Replicas = &n
		set.Generation++
		touched = true
		return c.control()
	})
	return c.run()
}

// setPods are the pods of a set, as its control sees and writes them.
type setPods struct {
	mu sync.Mutex // the control of a Parallel set writes several at once
	c  *cluster
}

func (s *setPods) CreatePod(_ context.Context, p *corev1.Pod, _ *appsv1.StatefulSet) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.c.pods[p.Name] != nil {
		return apierrors.NewAlreadyExists(corev1.Resource("pods"), p.Name)
	}
	s.c.create(p)
	return nil
}

func (s *setPods) GetPod(_, name string) (*corev1.Pod, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.c.pods[name]; p != nil {
		return p, nil
	}
	return nil, apierrors.NewNotFound(corev1.Resource("pods"), name)
}

func (s *setPods) UpdatePod(p *corev1.Pod, _ *appsv1.StatefulSet) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.c.pods[p.Name] = p
	return nil
}

// DeletePod begins a deletion; the control goes on with what it saw.
func (s *setPods) DeletePod(p *corev1.Pod) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	control := s.c.control
	s.c.control = func() error { return nil }
	defer func() { s.c.control = control }()
	return s.c.remove(p.Name)
}

func (s *setPods) CreateClaim(*corev1.PersistentVolumeClaim, *appsv1.StatefulSet) error { return nil }

func (s *setPods) GetClaim(_, name string) (*corev1.PersistentVolumeClaim, error) {
	return nil, apierrors.NewNotFound(corev1.Resource("persistentvolumeclaims"), name)
}

func (s *setPods) UpdateClaim(*corev1.PersistentVolumeClaim, *appsv1.StatefulSet) error { return nil }

type setStatus struct{ set *appsv1.StatefulSet }

func (s setStatus) UpdateStatefulSetStatus(_ context.Context, _ *appsv1.StatefulSet, to *appsv1.StatefulSetStatus) error {
	s.set.Status = *to
	return nil
}
