package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/job"
	clocktesting "k8s.io/utils/clock/testing"
)

// Jobs are the back-off of a Job, and when it fails.
var Jobs = &Part{Name: "job", Draw: drawJob, Want: playJob, Got: func(k *Case, a *Answer) []string { return k.unnamed(lifeOf(a)) }}

// unnamed leaves out the names of pods where they are not asked for, and what berth does not play
// (getPodsWithDelayedDeletionPerIndex).
func (k *Case) unnamed(lines []string) []string {
	perIndex := k.job().Spec.BackoffLimitPerIndex != nil
	out := []string{}
	for _, l := range lines {
		f := strings.Fields(l)
		switch {
		case perIndex && f[1] == "gone": // the object stays until another pod has taken its count over
		case k.nameless:
			out = append(out, f[0]+" "+f[1])
		default:
			out = append(out, l)
		}
	}
	return sortedLines(out)
}

// drawJob draws a Job with all of its pods, which are evicted and deleted, and those after them.
func drawJob(d *Drawing) {
	d.k.Start, d.k.Until = 5, 4000
	d.add(nodeOf("a", ""))
	labels := map[string]string{"batch.kubernetes.io/controller-uid": "Job-work"}
	n, limit, start := int32(1+d.IntN(5)), int32(d.IntN(8)), ago(3600)
	mode, suspend, manual := batchv1.NonIndexedCompletion, false, true
	j := typed(&batchv1.Job{}, "Job", "batch/v1")
	j.Namespace, j.Name, j.UID = "default", "work", uidOf("Job", "work")
	completions := n + int32(d.IntN(4))
	j.Spec = batchv1.JobSpec{
		Parallelism: &n, Completions: &completions, BackoffLimit: &limit, Selector: selecting(labels), CompletionMode: &mode, Suspend: &suspend, ManualSelector: &manual,
	}
	if d.in(30) {
		mode = batchv1.IndexedCompletion
		completions = n
		d.tag("indexed")
	}
	grace := one(d, int64(0), 1, 30, 60)
	j.Spec.Template.Labels = labels
	j.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: &grace, Containers: []corev1.Container{{Name: "c", Image: "i"}}}
	j.Status.StartTime, j.Status.Active, j.Status.Ready = &start, n, &n
	if d.in(30) {
		j.Status.Failed = int32(d.IntN(int(limit) + 1))
		d.tag("failed before")
	}
	d.policies(&j.Spec)
	if mode == batchv1.IndexedCompletion && d.in(60) {
		perIndex := int32(d.IntN(3))
		j.Spec.BackoffLimitPerIndex = &perIndex
		if d.in(50) {
			most := int32(d.IntN(int(n) + 1))
			j.Spec.MaxFailedIndexes = &most
		}
		if p := j.Spec.PodFailurePolicy; p != nil && d.in(30) {
			p.Rules[0].Action = batchv1.PodFailurePolicyActionFailIndex
		}
		d.tag("per index")
	}
	if d.in(20) {
		deadline := 3600 + int64(d.IntN(400))
		j.Spec.ActiveDeadlineSeconds = &deadline
		d.tag("deadline")
	}
	d.add(j)
	ref := owned("batch/v1", "Job", "work")
	for i := range int(n) {
		p := podOf(fmt.Sprintf("work-%d", i), labels, &ref)
		p.Spec.TerminationGracePeriodSeconds, p.Spec.RestartPolicy = &grace, corev1.RestartPolicyNever
		p.Finalizers = []string{batchv1.JobTrackingFinalizer}
		p.Annotations = map[string]string{}
		if mode == batchv1.IndexedCompletion {
			p.Annotations[batchv1.JobCompletionIndexAnnotation] = fmt.Sprint(i)
		}
		started := ago(900)
		runs(p, "a", 900-10*int64(i), d.k.Start) // which is deleted first is no chance
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}}}}
		d.add(p)
	}
	at := int64(0)
	for range 1 + d.IntN(14) {
		at += one(d, int64(0), 0, int64(d.IntN(12)), int64(d.IntN(50)), int64(d.IntN(400)))
		name := fmt.Sprintf("work-%d", d.IntN(int(n)))
		for range d.IntN(4) {
			name += "-2"
		}
		if d.in(75) {
			d.event(at, Event{Evict: &PodNamed{"default", name}})
		} else {
			d.event(at, Event{Delete: &PodNamed{"default", name}})
		}
	}
	if d.in(35) {
		d.k.nameless = true
		d.k.Events = slices.DeleteFunc(d.k.Events, func(e Event) bool {
			return e.Delete != nil && strings.Count(e.Delete.Name, "-") > 1 || e.Evict != nil && strings.Count(e.Evict.Name, "-") > 1
		})
		d.changes(j, at)
	}
}

// changes draws other numbers of pods at once for a Job, and when it is suspended and resumed.
func (d *Drawing) changes(j *batchv1.Job, until int64) {
	now := j
	for at := int64(1); at <= until+200 && len(d.k.Events) < 30; at += 1 + int64(d.IntN(int(until)+200)) {
		if slices.ContainsFunc(d.k.Events, func(e Event) bool { return e.second == at }) {
			continue
		}
		now = now.DeepCopy()
		if d.in(40) {
			n := d.IntN(7)
			*now.Spec.Parallelism = int32(n)
			d.event(at, Event{Scale: &ScaleTo{"Job", "default", "work", n}})
			d.tag("scale")
			continue
		}
		*now.Spec.Suspend = !*now.Spec.Suspend
		d.event(at, Event{Apply: now})
		d.tag("suspend")
	}
}

// policies draws when pods are replaced, and what of their failures counts.
func (d *Drawing) policies(s *batchv1.JobSpec) {
	replace := one(d, batchv1.TerminatingOrFailed, batchv1.TerminatingOrFailed, batchv1.Failed)
	if d.in(35) {
		replace = batchv1.Failed
		s.PodFailurePolicy = &batchv1.PodFailurePolicy{}
		d.tag("policy")
		for range 1 + d.IntN(2) {
			r := batchv1.PodFailurePolicyRule{Action: one(d, batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailJob)}
			if d.in(25) {
				r.OnExitCodes = &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{3, 42}}
			} else {
				kind := one(d, corev1.DisruptionTarget, corev1.DisruptionTarget, "example.com/other")
				r.OnPodConditions = []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: kind, Status: corev1.ConditionTrue}}
			}
			s.PodFailurePolicy.Rules = append(s.PodFailurePolicy.Rules, r)
		}
	}
	if s.PodReplacementPolicy = &replace; replace == batchv1.Failed {
		d.tag("replaces failed")
	}
}

// jobs are the real controller of Jobs over a cluster; its writes of pods come here.
type jobs struct {
	mu      sync.Mutex
	c       *cluster
	f       informers.SharedInformerFactory
	control *job.Controller
	clock   *clocktesting.FakeClock
	job     *batchv1.Job
	lost    []*corev1.Pod // whose places are still to be taken
	over    map[string]bool
	polls   bool
	turns   bool // the controller is at work
}

func newJob(c *cluster) *jobs {
	client := fake.NewSimpleClientset()
	f := informers.NewSharedInformerFactory(client, 0)
	j := &jobs{c: c, f: f, clock: clocktesting.NewFakeClock(Begin), job: of[batchv1.Job](c.k)[0].DeepCopy(), over: map[string]bool{}}
	var err error
	j.control, err = newJobs(context.Background(), client, j.clock, f.Core().V1().Pods(), f.Batch().V1().Jobs(), nil, nil)
	must(err)
	setField(j.control, "podControl", controller.PodControlInterface(j))
	setField(j.control, "updateStatusHandler", func(_ context.Context, now *batchv1.Job) (*batchv1.Job, error) {
		j.job = now.DeepCopy()
		return now, nil
	})
	return j
}

// sync has the controller look at the Job until it changes nothing more, and again each second
// while it waits.
func (j *jobs) sync() error {
	if j.turns {
		return nil
	}
	j.turns = true
	defer func() { j.turns = false }()
	for before := ""; ; {
		pods := []any{}
		for _, p := range j.c.pods {
			pods = append(pods, p)
		}
		if err := j.f.Core().V1().Pods().Informer().GetIndexer().Replace(pods, ""); err != nil {
			return err
		}
		if err := j.f.Batch().V1().Jobs().Informer().GetIndexer().Replace([]any{j.job}, ""); err != nil {
			return err
		}
		j.clock.SetTime(j.c.instant())
		setField(j.control, "expectations", controller.ControllerExpectationsInterface(controller.NewControllerExpectations()))
		setPointer(j.control, "finalizerExpectations", newFinalizerExpectations())
		if err := syncJob(j.control, context.Background(), "default/work"); err != nil {
			return err
		}
		j.finalize()
		if now := fmt.Sprint(len(j.c.lines), j.job.Status); now != before {
			before = now
			continue
		}
		break
	}
	waits := len(j.c.active(j.job.UID)) < int(*j.job.Spec.Parallelism) || j.job.Spec.ActiveDeadlineSeconds != nil
	if !j.polls && waits && !j.failed() {
		j.polls = true
		j.c.at(j.c.now+1, "~job", func() error {
			j.polls = false
			return j.sync()
		})
	}
	return nil
}

func (j *jobs) failed() bool {
	return slices.ContainsFunc(j.job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue
	})
}

// finalize has pods go that are over and that the controller has counted.
func (j *jobs) finalize() {
	for name, p := range j.c.pods {
		if j.over[name] && len(p.Finalizers) == 0 {
			j.c.tell("gone", p)
			delete(j.c.pods, name)
		}
	}
}

// ends has a kubelet write how a pod ended; the object goes once its finalizer is off.
func (j *jobs) ends(p *corev1.Pod) bool {
	now, q := metav1.NewTime(j.c.instant()), p.DeepCopy()
	q.Status.Phase = corev1.PodFailed
	q.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 143, FinishedAt: now}}}}
	if p.Spec.NodeName == "" {
		q.Status = p.Status // no kubelet knows it
	}
	j.c.pods[p.Name], j.over[p.Name] = q, true
	j.loses(p)
	j.finalize()
	return false
}

// loses notes that a pod's place is free.
func (j *jobs) loses(p *corev1.Pod) {
	if !slices.ContainsFunc(j.lost, func(q *corev1.Pod) bool { return q.UID == p.UID }) && !j.replaced(p) {
		j.lost = append(j.lost, p)
	}
}

func (j *jobs) replaced(p *corev1.Pod) bool { return j.c.made[p.Name+"-2"] }

// CreatePodsWithGenerateName takes the place of the first pod that was lost, of the same index.
func (j *jobs) CreatePodsWithGenerateName(_ context.Context, _ string, t *corev1.PodTemplateSpec, _ runtime.Object, _ *metav1.OwnerReference, _ string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	index := t.Annotations[batchv1.JobCompletionIndexAnnotation]
	i := slices.IndexFunc(j.lost, func(p *corev1.Pod) bool { return p.Annotations[batchv1.JobCompletionIndexAnnotation] == index })
	if all := of[corev1.Pod](j.c.k); i < 0 && j.c.k.nameless && len(all) > 0 {
		p := j.c.createLike(all[0])
		p.Annotations, p.Finalizers = t.Annotations, t.Finalizers
		return nil
	}
	if i < 0 {
		return fmt.Errorf("%s, seed %d: a pod is made for none that was lost", j.c.k.Part, j.c.k.Seed)
	}
	p := j.c.createLike(j.lost[i])
	p.Annotations, p.Finalizers = t.Annotations, t.Finalizers // of which some count failures
	j.lost = slices.Delete(j.lost, i, i+1)
	return nil
}

func (j *jobs) CreatePods(ctx context.Context, ns string, t *corev1.PodTemplateSpec, o runtime.Object, ref *metav1.OwnerReference) error {
	return j.CreatePodsWithGenerateName(ctx, ns, t, o, ref, "")
}

func (j *jobs) DeletePod(_ context.Context, _, name string, _ runtime.Object) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.c.remove(name)
}

// PatchPod takes a finalizer off, which is all that the controller patches.
func (j *jobs) PatchPod(_ context.Context, _, name string, _ []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if p := j.c.pods[name]; p != nil {
		p = p.DeepCopy()
		p.Finalizers = nil
		j.c.pods[name] = p
	}
	return nil
}

// playJob evicts and deletes the pods of a Job.
func playJob(k *Case) ([]string, error) {
	c := newCluster(k)
	j := newJob(c)
	c.control, c.ends = j.sync, j.ends
	if r := k.job().Spec.PodReplacementPolicy; *r != batchv1.Failed {
		c.begins = j.loses
	}
	if k.job().Spec.ActiveDeadlineSeconds != nil {
		c.at(0, "~job", j.sync)
	}
	c.happens(func(e *Event) error {
		// What a scenario does in one second comes before what controllers do then.
		j.turns = e != &k.Events[len(k.Events)-1] && k.follows(e).second == e.second
		switch {
		case e.Delete != nil:
			return errors.Join(c.remove(e.Delete.Name), j.sync())
		case e.Scale != nil:
			n := int32(e.Scale.Replicas)
			j.job = j.job.DeepCopy()
			j.job.Spec.Parallelism = &n
			return j.sync()
		case e.Apply != nil:
			j.job = j.job.DeepCopy()
			j.job.Spec = *e.Apply.(*batchv1.Job).Spec.DeepCopy()
			return j.sync()
		}
		p := c.pods[e.Evict.Name]
		if p == nil || p.DeletionTimestamp != nil {
			return j.sync() // of those before in this second
		}
		p = p.DeepCopy() // registry/core/pod/storage/eviction.go addConditionAndDeletePod
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI"})
		c.pods[p.Name] = p
		return c.remove(p.Name)
	})
	lines, err := c.run()
	return k.unnamed(lines), err
}

// follows returns the event after one.
func (k *Case) follows(e *Event) *Event {
	for i := range k.Events {
		if &k.Events[i] == e {
			return &k.Events[i+1]
		}
	}
	return e
}

func (k *Case) job() *batchv1.Job { return of[batchv1.Job](k)[0] }
