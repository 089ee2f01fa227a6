package world

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"berth/internal/engine/state"
	"berth/internal/kube/object"
)

// JobsBefore has the deadlines of Jobs count that are there at the start, and those go that have
// finished and have a time to live.
func (w *World) JobsBefore() error {
	for key, raw := range w.base.In("", "Job") {
		if err := w.steps.Take(readSteps); err != nil {
			return err
		}
		o, err := object.FromCanonical("Job", raw)
		if err != nil {
			return err
		}
		of := o.Value.(*batchv1.Job)
		if of.Spec.ActiveDeadlineSeconds == nil && of.Spec.TTLSecondsAfterFinished == nil {
			continue
		}
		j, err := w.jobs.named(ownerKey{key.Namespace, state.Owner{Kind: "Job", Name: key.Name}})
		if err != nil {
			return err
		}
		w.jobs.deadline(j)
		for _, s := range of.Status.Conditions {
			if j.finished && s.Status == corev1.ConditionTrue && (s.Type == batchv1.JobComplete || s.Type == batchv1.JobFailed) {
				w.jobs.expire(j, s.LastTransitionTime.Sub(w.o.Now))
			}
		}
	}
	return nil
}

// UpdateJob has a Job take another spec, or come: it may be suspended, resumed, or want another
// number of pods at once. like is the pod of its template.
func (w *World) UpdateJob(o object.Object, like *corev1.Pod) error {
	k := ownerKey{o.Key.Namespace, state.Owner{Kind: "Job", Name: o.Key.Name}}
	spec := o.Value.(*batchv1.Job).Spec.DeepCopy()
	_, there := w.base.Object(o.Key)
	w.tell(Moment{What: Applied, Owner: "Job/" + o.Key.Name})
	w.keep(o)
	if !there && w.jobs.jobs[k] == nil {
		w.jobs.start(k, spec, like)
		return nil
	}
	j, err := w.jobs.named(k)
	if err != nil {
		return err
	}
	return w.jobs.change(j, spec)
}

// cronJob is a CronJob whose schedule has Jobs start (pkg/controller/cronjob/
// cronjob_controllerv2.go).
type cronJob struct {
	key      ownerKey
	raw      []byte
	of       *batchv1.CronJob
	schedule cron.Schedule
	active   []*job        // those that run, in the order of their starts
	past     []*job        // those that have finished
	next     time.Duration // when it is looked at again; below 0: never
	runs     time.Duration // how long its pods took; 0: it is not known
}

// CronJobsBefore has the CronJobs that are there start Jobs.
func (w *World) CronJobsBefore() error {
	for key, raw := range w.base.In("", "CronJob") {
		if err := w.steps.Take(readSteps); err != nil {
			return err
		}
		if err := w.schedule(key, raw, false); err != nil {
			return err
		}
	}
	return nil
}

// ApplyCronJob has a CronJob come, or take another spec.
func (w *World) ApplyCronJob(o object.Object) error {
	w.tell(Moment{What: Applied, Owner: "CronJob/" + o.Key.Name})
	w.keep(o)
	k := ownerKey{o.Key.Namespace, state.Owner{Kind: "CronJob", Name: o.Key.Name}}
	for _, c := range w.crons {
		if c.key != k {
			continue
		}
		of := o.Value.(*batchv1.CronJob).DeepCopy()
		of.Status, of.CreationTimestamp = c.of.Status, c.of.CreationTimestamp
		was := &c.of.Spec
		same := was.Schedule == of.Spec.Schedule && ptr.Equal(was.TimeZone, of.Spec.TimeZone)
		if c.of, c.raw = of, o.JSON; !c.parses(w) {
			return nil
		}
		if !same { // another schedule has it wait for its next time (updateCronJob)
			c.again(w)
			return nil
		}
		return c.sync(w)
	}
	return w.schedule(o.Key, o.JSON, true)
}

// schedule reads a CronJob, and has its controller look at it.
func (w *World) schedule(key object.Key, raw []byte, fresh bool) error {
	o, err := object.FromCanonical(key.Kind, raw)
	if err != nil {
		return fmt.Errorf("read CronJob %s/%s: %w", key.Namespace, key.Name, err)
	}
	c := &cronJob{key: ownerKey{key.Namespace, state.Owner{Kind: key.Kind, Name: key.Name}}, raw: raw, of: o.Value.(*batchv1.CronJob).DeepCopy()}
	w.crons = append(w.crons, c)
	if fresh {
		c.of.CreationTimestamp, c.of.Status = metav1.NewTime(w.Instant()), batchv1.CronJobStatus{}
	}
	jobs, err := c.jobs(w)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		if j.cron = c; j.over == "" {
			c.active = append(c.active, j)
		} else {
			c.past = append(c.past, j)
		}
	}
	if !c.parses(w) {
		return nil
	}
	return c.sync(w)
}

// jobs returns the Jobs of a CronJob that the base has, and reads how long their pods ran.
func (c *cronJob) jobs(w *World) (list []*job, err error) {
	for key, raw := range w.base.In(c.key.namespace, "Job") {
		if !strings.HasPrefix(key.Name, c.key.Name+"-") {
			continue
		}
		o, err := object.FromCanonical("Job", raw)
		if err != nil {
			return nil, err
		}
		owner := metav1.GetControllerOfNoCopy(o.Value.(*batchv1.Job))
		if owner == nil || owner.Kind != "CronJob" || owner.Name != c.key.Name {
			continue
		}
		j, err := w.jobs.named(ownerKey{key.Namespace, state.Owner{Kind: "Job", Name: key.Name}})
		if err != nil {
			return nil, err
		}
		if j.like != nil && j.like.Status.Phase == corev1.PodSucceeded {
			c.runs = max(c.runs, ranFor(j.like))
		}
		list = append(list, j)
	}
	return list, nil
}

// ranFor returns how long the containers of a pod ran that has ended.
func ranFor(pod *corev1.Pod) (d time.Duration) {
	for _, s := range pod.Status.ContainerStatuses {
		if t := s.State.Terminated; t != nil && !t.StartedAt.IsZero() {
			d = max(d, t.FinishedAt.Sub(t.StartedAt.Time))
		}
	}
	return d
}

// parses reads the schedule, in the time zone of the CronJob; without one it is UTC, as most
// controllers have it. A schedule that is none starts nothing.
func (c *cronJob) parses(w *World) bool {
	c.next = -1
	text := c.of.Spec.Schedule
	if !strings.Contains(text, "TZ=") {
		zone := "UTC"
		if c.of.Spec.TimeZone != nil {
			zone = *c.of.Spec.TimeZone
		}
		text = "TZ=" + zone + " " + text
	}
	var err error
	if c.schedule, err = cron.ParseStandard(text); err != nil {
		c.schedule = nil
		w.tell(Moment{What: JobSkipped, Owner: "CronJob/" + c.key.Name, Why: err.Error()})
	}
	return err == nil
}

// again has the controller look at a CronJob at its next time (nextScheduleTimeDuration).
func (c *cronJob) again(w *World) {
	now := w.Instant()
	from, last, missed, _ := c.recent(now, false)
	switch {
	case last != nil:
		from = *last
	case missed:
		from = now
	}
	next := c.schedule.Next(from)
	if next.IsZero() {
		return
	}
	due := max(w.now, next.Sub(w.o.Now))
	c.next = due
	w.due.schedule(due, syncs, "CronJob/"+c.key.namespace+"/"+c.key.Name, func() error {
		if c.next != due {
			return nil
		}
		c.next = -1
		return c.sync(w)
	})
}

// recent returns the last time of the schedule until now that may still start a Job, and whether it
// missed some (cronjob/utils.go mostRecentScheduleTime).
func (c *cronJob) recent(now time.Time, deadline bool) (earliest time.Time, at *time.Time, missed bool, ok bool) {
	earliest = c.of.CreationTimestamp.Time
	if last := c.of.Status.LastScheduleTime; last != nil {
		earliest = last.Time
	}
	if s := c.of.Spec.StartingDeadlineSeconds; deadline && s != nil {
		if from := now.Add(-time.Duration(*s) * time.Second); from.After(earliest) {
			earliest = from
		}
	}
	first := c.schedule.Next(earliest)
	second := c.schedule.Next(first)
	switch {
	case first.IsZero() || now.Before(first):
		return earliest, nil, false, !first.IsZero()
	case now.Before(second):
		return earliest, &first, false, true
	}
	between := int64(second.Sub(first).Round(time.Second) / time.Second)
	if between < 1 {
		return earliest, nil, false, false
	}
	n := int64(now.Sub(first)/time.Second)/between + 1
	var last time.Time
	for t := c.schedule.Next(first.Add(time.Duration((n-2)*between) * time.Second)); !t.IsZero() && !t.After(now); t = c.schedule.Next(t) {
		last = t
	}
	if last.IsZero() {
		return earliest, nil, true, true
	}
	return earliest, &last, true, true
}

// sync starts a Job whose time has come (syncCronJob), and comes back at the next time.
func (c *cronJob) sync(w *World) error {
	if err := w.steps.Take(leaveSteps); err != nil {
		return err
	}
	if err := cmp.Or(c.cut(w, false), c.cut(w, true)); err != nil {
		return err
	}
	if s := c.of.Spec.Suspend; c.schedule == nil || s != nil && *s {
		return nil
	}
	now := w.Instant()
	_, at, _, ok := c.recent(now, true)
	if !ok {
		return nil
	}
	var err error
	if at != nil && c.due(*at, now) {
		err = c.start(w, *at)
	}
	c.again(w)
	return err
}

// due reports whether a time of the schedule is to start a Job, and has not done so.
func (c *cronJob) due(at, now time.Time) bool {
	s := c.of.Spec.StartingDeadlineSeconds
	last := c.of.Status.LastScheduleTime
	return (s == nil || !at.Add(time.Duration(*s)*time.Second).Before(now)) && (last == nil || !last.Time.Equal(at)) &&
		!slices.ContainsFunc(c.active, func(j *job) bool { return j.key.Name == c.name(at) })
}

// name is that of the Job of a time (cronjob/utils.go getJobName).
func (c *cronJob) name(at time.Time) string { return fmt.Sprintf("%s-%d", c.key.Name, at.Unix()/60) }

// start starts the Job of a time, as the concurrency policy lets it.
func (c *cronJob) start(w *World, at time.Time) error {
	owner := "CronJob/" + c.key.Name
	switch {
	case len(c.active) == 0:
	case c.of.Spec.ConcurrencyPolicy == batchv1.ForbidConcurrent:
		w.tell(Moment{What: JobSkipped, Owner: owner, Why: "Job/" + c.active[0].key.Name + " still runs, and its concurrencyPolicy is Forbid"})
		return nil
	case c.of.Spec.ConcurrencyPolicy == batchv1.ReplaceConcurrent:
		active := c.active
		c.active = nil
		for _, j := range active {
			if err := w.jobs.remove(j); err != nil {
				return err
			}
		}
	}
	k := ownerKey{c.key.namespace, state.Owner{Kind: "Job", Name: c.name(at)}}
	last := metav1.NewTime(at)
	c.of.Status.LastScheduleTime = &last
	if w.jobs.jobs[k] != nil {
		return nil
	}
	like, err := c.like(w, k.Name)
	if err != nil {
		return err
	}
	w.tell(Moment{What: JobCreated, Owner: "Job/" + k.Name, Why: owner})
	j := w.jobs.start(k, c.of.Spec.JobTemplate.Spec.DeepCopy(), like)
	j.cron, j.runs = c, c.runs
	c.active = append(c.active, j)
	return nil
}

// like returns a pod of a Job of the CronJob, as admission makes it.
func (c *cronJob) like(w *World, job string) (*corev1.Pod, error) {
	made, err := w.admit(c.raw)
	if err != nil {
		return nil, err
	}
	p := made.DeepCopy()
	for i := range p.OwnerReferences {
		was := p.OwnerReferences[i].Name
		p.OwnerReferences[i].Name = job
		for key, value := range p.Labels {
			if value == was {
				p.Labels[key] = job
			}
		}
		if rest, is := strings.CutPrefix(p.Spec.Hostname, was+"-"); is {
			p.Spec.Hostname = job + "-" + rest
		}
	}
	return p, nil
}

// finished hears that a Job of it is over and its pods are gone: one that had to wait may start.
func (c *cronJob) finished(w *World, j *job) error {
	c.active = slices.DeleteFunc(c.active, func(of *job) bool { return of == j })
	c.past = append(c.past, j)
	return c.sync(w)
}

// cut deletes the Jobs that started first of those that have succeeded, or failed, where there are
// more than the CronJob keeps (cleanupFinishedJobs, removeOldestJobs; pkg/apis/batch/v1/defaults.go
// SetDefaults_CronJob).
func (c *cronJob) cut(w *World, failed bool) error {
	keeps := ptr.Deref(c.of.Spec.SuccessfulJobsHistoryLimit, 3)
	if failed {
		keeps = ptr.Deref(c.of.Spec.FailedJobsHistoryLimit, 1)
	}
	c.past = slices.DeleteFunc(c.past, func(j *job) bool { return w.jobs.jobs[j.key] != j }) // it is deleted
	var list []*job
	for _, j := range c.past {
		if j.broken == failed {
			list = append(list, j)
		}
	}
	slices.SortFunc(list, func(a, b *job) int { // cronjob/utils.go byJobStartTime
		return cmp.Or(cmp.Compare(a.began, b.began), strings.Compare(a.key.Name, b.key.Name))
	})
	for _, j := range list[:max(0, len(list)-int(keeps))] {
		if err := w.jobs.remove(j); err != nil {
			return err
		}
	}
	return nil
}

// CronStarts counts the CronJobs whose next start is to come: they go on for ever.
func (w *World) CronStarts() (n int) {
	for _, c := range w.crons {
		if c.next >= 0 {
			n++
		}
	}
	return n
}
