package controllers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/kubernetes/pkg/controller/cronjob"
)

// CronJobs are the starts of a CronJob's Jobs.
var CronJobs = &Part{Name: "cronjob", Draw: drawCronJob, Want: playCronJob, Got: func(_ *Case, a *Answer) (list []string) {
	for _, m := range a.Timeline {
		if m.What == "jobCreated" || m.What == "jobDeleted" {
			list = append(list, fmt.Sprintf("%d %s %s", m.AfterSeconds, m.What, strings.TrimPrefix(m.Owner, "Job/")))
		}
	}
	return sortedLines(list)
}}

// drawCronJob draws a CronJob that has missed some of its times or none, with Jobs that run as long
// as one that has ended, or for ever. It may be suspended or resumed.
func drawCronJob(d *Drawing) {
	d.k.Start, d.k.Until = int64(d.IntN(30)), int64(3600+d.IntN(6*3600))
	d.add(nodeOf("a", ""))
	c := typed(&batchv1.CronJob{}, "CronJob", "batch/v1")
	c.Namespace, c.Name, c.UID, c.CreationTimestamp = "default", "tick", uidOf("CronJob", "tick"), ago(60*int64(d.IntN(9000)))
	n, suspend := int32(1), d.in(15)
	grace := int64(1)
	c.Spec = batchv1.CronJobSpec{
		Schedule: one(d, fmt.Sprintf("*/%d * * * *", 1+d.IntN(45)), fmt.Sprintf("%d * * * *", d.IntN(60)), fmt.Sprintf("%d %d * * *", d.IntN(60), d.IntN(24)),
			"*/20 9-17/2 * * 1-5", "0 */3 1-7 * 4", "@hourly", "@daily", fmt.Sprintf("@every %dm", 1+d.IntN(100)), "59 23 31 2 *"),
		ConcurrencyPolicy: one(d, batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent), Suspend: &suspend,
		JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Parallelism: &n, Completions: &n, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: &grace, Containers: []corev1.Container{{Name: "c", Image: "i"}},
		}}}},
	}
	d.tag(string(c.Spec.ConcurrencyPolicy))
	if d.in(30) && !strings.HasPrefix(c.Spec.Schedule, "@every") {
		zone := one(d, "Asia/Kolkata", "America/New_York", "Asia/Tokyo")
		c.Spec.TimeZone = &zone
		d.tag("time zone")
	}
	if d.in(40) {
		deadline := one(d, int64(30), 600, 7200)
		c.Spec.StartingDeadlineSeconds = &deadline
		d.tag("deadline")
	}
	if d.in(60) {
		last := ago(60 * int64(1+d.IntN(2000)))
		c.Status.LastScheduleTime = &last
	}
	// kube-apiserver has 3 and 1 where none is named (pkg/apis/batch/v1 SetDefaults_CronJob).
	succeeded, failed := one(d, int32(0), 1, 3, 3, 3), int32(1)
	c.Spec.SuccessfulJobsHistoryLimit, c.Spec.FailedJobsHistoryLimit = &succeeded, &failed
	d.add(c)
	if d.in(60) {
		d.ended(int64(1 + d.IntN(5000)))
	}
	for i := range d.IntN(3) {
		next := c.DeepCopy()
		*next.Spec.Suspend = d.in(50)
		d.event(int64(i*4000+7+d.IntN(3000)), Event{Apply: next})
		d.tag("suspend")
	}
}

// ended draws a Job that has ended, whose pod ran for some seconds.
func (d *Drawing) ended(ran int64) {
	j := typed(&batchv1.Job{}, "Job", "batch/v1")
	j.Namespace, j.Name, j.UID, j.OwnerReferences = "default", "tick-1", uidOf("Job", "tick-1"), []metav1.OwnerReference{owned("batch/v1", "CronJob", "tick")}
	n, began, done := int32(1), ago(10+ran), ago(10)
	j.Spec = batchv1.JobSpec{Parallelism: &n, Completions: &n}
	j.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}}}
	j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: done}}
	j.Status.StartTime, j.Status.CompletionTime = &began, &done
	ref := owned("batch/v1", "Job", "tick-1")
	p := podOf("tick-1-x", nil, &ref)
	runs(p, "a", ran, d.k.Start)
	p.Spec.RestartPolicy, p.Status.Phase = corev1.RestartPolicyNever, corev1.PodSucceeded
	p.Status.Conditions[0].Status = corev1.ConditionFalse
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{StartedAt: ago(10 + ran), FinishedAt: done}}}}
	d.add(j, p)
	d.tag("ends")
}

// cronJobs are the real controller of CronJobs over Jobs that run for some time.
type cronJobs struct {
	c       *cluster
	control *cronjob.ControllerV2
	cron    *batchv1.CronJob
	jobs    map[string]*batchv1.Job
	takes   int64 // until a Job has finished; 0: it does not
}

// GetJob, CreateJob and DeleteJob are what the controller does to Jobs.
func (j *cronJobs) GetJob(_, name string) (*batchv1.Job, error) {
	if job := j.jobs[name]; job != nil {
		return job, nil
	}
	return nil, apierrors.NewNotFound(batchv1.Resource("jobs"), name)
}

func (j *cronJobs) CreateJob(_ string, job *batchv1.Job) (*batchv1.Job, error) {
	if j.jobs[job.Name] != nil {
		return nil, apierrors.NewAlreadyExists(batchv1.Resource("jobs"), job.Name)
	}
	job.Namespace, job.UID = "default", types.UID(job.Name)
	start := metav1.NewTime(j.c.instant())
	job.Status.StartTime = &start
	job.TypeMeta = metav1.TypeMeta{Kind: "Job", APIVersion: "batch/v1"}
	j.jobs[job.Name] = job
	j.c.lines = append(j.c.lines, fmt.Sprintf("%d jobCreated %s", j.c.now, job.Name))
	if j.takes > 0 {
		j.c.at(j.c.now+j.takes, job.Name, func() error {
			if j.jobs[job.Name] != job {
				return nil
			}
			now := metav1.NewTime(j.c.instant())
			job.Status.CompletionTime = &now
			job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
			return j.sync()
		})
	}
	return job, nil
}

func (j *cronJobs) DeleteJob(_, name string) error {
	delete(j.jobs, name)
	j.c.lines = append(j.c.lines, fmt.Sprintf("%d jobDeleted %s", j.c.now, name))
	return nil
}

// UpdateStatus and GetCronJob are for the status, which the case keeps as it is written.
func (j *cronJobs) UpdateStatus(_ context.Context, c *batchv1.CronJob) (*batchv1.CronJob, error) {
	return c, nil
}

func (j *cronJobs) GetCronJob(context.Context, string, string) (*batchv1.CronJob, error) {
	return j.cron, nil
}

// sync has the controller look at the CronJob, and again when it wants to.
func (j *cronJobs) sync() error {
	list := []*batchv1.Job{}
	for _, name := range slices.Sorted(maps.Keys(j.jobs)) {
		list = append(list, j.jobs[name])
	}
	cleanUpJobs(j.control, context.Background(), j.cron, slices.Clone(list)) // which it sorts
	after, _, err := syncCronJob(j.control, context.Background(), j.cron, list)
	if err != nil || after == nil {
		return err
	}
	// A tenth of a second is for clocks that differ (nextScheduleDelta).
	at := j.c.now + int64((*after-100*time.Millisecond)/time.Second)
	if at > j.c.k.Until {
		return nil
	}
	j.c.at(max(at, j.c.now), "~cron", func() error {
		if at <= j.c.now && at >= 0 {
			return j.sync()
		}
		return nil
	})
	return nil
}

func playCronJob(k *Case) ([]string, error) {
	client := fake.NewSimpleClientset()
	f := informers.NewSharedInformerFactory(client, 0)
	control, err := cronjob.NewControllerV2(context.Background(), f.Batch().V1().Jobs(), f.Batch().V1().CronJobs(), client)
	if err != nil {
		return nil, err
	}
	c := newCluster(&Case{Part: k.Part, Seed: k.Seed, Until: k.Until, Events: k.Events})
	j := &cronJobs{c: c, control: control, cron: of[batchv1.CronJob](k)[0].DeepCopy(), jobs: map[string]*batchv1.Job{}}
	for _, job := range of[batchv1.Job](k) {
		j.jobs[job.Name] = job.DeepCopy()
	}
	for _, p := range of[corev1.Pod](k) {
		t := p.Status.ContainerStatuses[0].State.Terminated
		j.takes = k.Start + int64(t.FinishedAt.Sub(t.StartedAt.Time)/time.Second)
	}
	setField(control, "now", c.instant)
	setField(control, "jobControl", j)
	setField(control, "cronJobControl", j)
	c.control = func() error { return nil }
	c.at(0, "~cron", j.sync)
	c.happens(func(e *Event) error {
		j.cron.Spec = *e.Apply.(*batchv1.CronJob).Spec.DeepCopy()
		return j.sync()
	})
	return c.run()
}
