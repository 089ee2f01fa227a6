package world

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

func newJob(k ownerKey) *job {
	return &job{
		key: k, spec: &batchv1.JobSpec{}, limit: defaultJobLimit, live: map[PodName]bool{}, counts: map[PodName]bool{}, ending: map[PodName]bool{},
		done: map[int]bool{}, lapsed: map[int]bool{}, fails: map[int]indexFails{}, runs: 0,
	}
}

// takes has a Job follow a spec.
func (j *job) takes(s *batchv1.JobSpec) {
	j.spec, j.limit = s, defaultJobLimit
	switch {
	case s.BackoffLimit != nil:
		j.limit = *s.BackoffLimit
	case s.BackoffLimitPerIndex != nil:
		j.limit = math.MaxInt32 // pkg/apis/batch/v1/defaults.go SetDefaults_Job
	}
	policy := s.PodReplacementPolicy
	j.whenEnd = policy != nil && *policy == batchv1.Failed || policy == nil && s.PodFailurePolicy != nil
}

// reads takes over what the status says at the start.
func (j *job) reads(s *batchv1.JobStatus, now time.Time) {
	if s.StartTime != nil {
		j.began = s.StartTime.Sub(now)
	}
	for _, c := range s.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			j.over, j.finished, j.broken = "Job/"+j.key.Name+" is over", true, c.Type == batchv1.JobFailed
		}
	}
	eachIndex(s.CompletedIndexes, math.MaxInt, func(i int) { j.done[i] = true })
	if s.FailedIndexes != nil {
		eachIndex(*s.FailedIndexes, math.MaxInt, func(i int) { j.lapsed[i] = true })
	}
}

// eachIndex visits indexes below a number, such as 1,3-5 (indexed_job_utils.go
// parseIndexesFromString).
func eachIndex(text string, below int, visit func(i int)) {
	for part := range strings.SplitSeq(text, ",") {
		first, last, is := strings.Cut(part, "-")
		from, err := strconv.Atoi(first)
		to := from
		if is && err == nil {
			to, err = strconv.Atoi(last)
		}
		for i := from; err == nil && i <= to && i < below; i++ {
			visit(i)
		}
	}
}

// indexes reads how often the pods of each index have failed, and what the Job's pods are like.
func (c *jobs) indexes(j *job, pods []PodName) error {
	for _, n := range pods {
		if j.like != nil && j.spec.BackoffLimitPerIndex == nil {
			return nil
		}
		p, err := c.w.base.Pod(n.Namespace, n.Name)
		if err != nil {
			return err
		}
		if j.like == nil {
			j.like = p
		}
		count := func(key string) int32 {
			n, _ := strconv.ParseInt(p.Annotations[key], 10, 32)
			return int32(n)
		}
		if i := indexOf(p); i >= 0 && j.spec.BackoffLimitPerIndex != nil {
			f := indexFails{counted: count(batchv1.JobIndexFailureCountAnnotation)}
			f.all = f.counted + count(batchv1.JobIndexIgnoredFailureCountAnnotation)
			j.fails[i] = f
		}
	}
	return nil
}

// indexOf returns the completion index of a pod; -1 where it has none.
func indexOf(pod *corev1.Pod) int {
	i, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil {
		return -1
	}
	return i
}

func (j *job) suspended() bool { return j.spec.Suspend != nil && *j.spec.Suspend }

func (j *job) indexed() bool {
	return j.spec.CompletionMode != nil && *j.spec.CompletionMode == batchv1.IndexedCompletion
}

// active counts the pods that are not being deleted.
func (c *jobs) active(j *job) (list []PodName) {
	for n := range j.live {
		if !j.ending[n] {
			list = append(list, n)
		}
	}
	slices.SortFunc(list, comparePods)
	return list
}

// wants returns how many active pods a Job wants (manageJob).
func (c *jobs) wants(j *job) int {
	active := len(c.active(j))
	switch {
	case j.suspended():
		return 0
	case j.spec.Parallelism == nil: // it is not known
		return active + len(j.next)
	case j.spec.Completions == nil && j.succeeded > 0:
		return active
	case j.spec.Completions == nil:
		return int(*j.spec.Parallelism)
	}
	return max(0, min(int(*j.spec.Parallelism), int(*j.spec.Completions-j.succeeded)))
}

// syncAt has a Job act at an instant.
func (c *jobs) syncAt(j *job, at time.Duration) {
	c.w.due.schedule(max(at, c.w.now), syncs, "Job/"+j.key.namespace+"/"+j.key.Name, func() error { return c.sync(j) })
}

// sync deletes pods that are too many, or makes those that are missing once the back-off is over
// (manageJob). The pods that take the place of others come first.
func (c *jobs) sync(j *job) error {
	if j.over != "" || j.busy {
		return nil
	}
	active, want := c.active(j), c.wants(j)
	if len(active) > want {
		return c.reduce(j, active, len(active)-want)
	}
	was, next := *j, slices.Clone(j.next)
	c.w.OnUndo(func() { *j, j.next = was, next })
	// With replacement of failed pods alone, those that end are among the live ones.
	n := want - len(j.live)
	if n <= 0 || j.suspended() {
		return c.complete(j)
	}
	if c.w.now < j.until {
		return nil
	}
	for _, i := range c.places(j, n) {
		at := slices.IndexFunc(j.next, func(l lostPod) bool { return i < 0 || indexOf(l.pod) == i })
		if at < 0 {
			if err := c.another(j, j.like, i); err != nil {
				return err
			}
			continue
		}
		l := j.next[at]
		j.next = slices.Delete(slices.Clone(j.next), at, at+1)
		kept(c.w, l.rec).held, l.rec.NotReplaced = false, ""
		if err := c.w.replace(l.pod, l.rec); err != nil {
			return err
		}
		if r := l.rec.Replacement; r != nil {
			c.joins(j, PodName{l.pod.Namespace, r.Name})
		}
	}
	return nil
}

// places returns the indexes of the pods that are made, the lowest ones that are free and do not
// wait (firstPendingIndexes, getPodCreationInfoForIndependentIndexes); -1 for each of a Job without
// indexes, of which there may be nothing that shows what another pod is like.
func (c *jobs) places(j *job, n int) (list []int) {
	if !j.indexed() || j.spec.Completions == nil || j.spec.Parallelism == nil {
		if j.like == nil || j.spec.Parallelism == nil {
			n = min(n, len(j.next))
		}
		return slices.Repeat([]int{-1}, n)
	}
	taken := map[int]bool{}
	for name := range j.live {
		if p, err := c.w.waitingOrStored(name); err == nil && p != nil {
			taken[indexOf(p)] = true
		}
	}
	for i := 0; i < int(*j.spec.Completions) && n > 0; i++ {
		if taken[i] || j.done[i] || j.lapsed[i] {
			continue
		}
		if n--; j.fails[i].until <= c.w.now {
			list = append(list, i)
		}
	}
	return list
}

// joins notes a pod that was created for a Job.
func (c *jobs) joins(j *job, n PodName) {
	j.live[n] = true
	j.all = append(j.all, n)
	c.w.OnUndo(func() { delete(j.live, n) })
	if j.runs > 0 {
		c.w.created[n].runs = j.runs
	}
}

// another has a Job make one more pod like one of its pods, with an index where it has some.
func (c *jobs) another(j *job, like *corev1.Pod, index int) error {
	if indexOf(like) >= 0 && index >= 0 {
		like = like.DeepCopy()
		i := strconv.Itoa(index)
		like.Annotations[batchv1.JobCompletionIndexAnnotation] = i
		like.Labels = labels.Merge(like.Labels, labels.Set{batchv1.JobCompletionIndexAnnotation: i})
	}
	rec, err := c.w.another(like)
	if err != nil {
		return err
	}
	c.joins(j, PodName{like.Namespace, rec.Name})
	return nil
}

// indexFailed counts a failure of an index, and returns until when it waits. It may end the index,
// or the Job (isIndexFailed, getRemainingTimePerIndex).
func (c *jobs) indexFailed(j *job, pod *corev1.Pod, rec *Left, counted, lapses bool) (until time.Duration, err error) {
	i := indexOf(pod)
	f := j.fails[i]
	if f.all++; counted {
		f.counted++
		lapses = lapses || f.counted > *j.spec.BackoffLimitPerIndex
	}
	f.until = c.w.now + backoffAfter(f.all)
	j.fails[i] = f
	if !lapses {
		return f.until, nil
	}
	j.lapsed[i] = true
	rec.held, rec.NotReplaced = true, "its index "+strconv.Itoa(i)+" of Job/"+j.key.Name+" has failed"
	if done, err := c.indexesOver(j); err != nil || done {
		return 0, err
	}
	c.syncAt(j, c.w.now)
	return 0, nil
}

// indexEnds has an index wait from the end of its pod on where that comes before the next one
// (getFinishedTime).
func (c *jobs) indexEnds(j *job, pod *corev1.Pod) {
	i := indexOf(pod)
	f := j.fails[i]
	if j.spec.BackoffLimitPerIndex == nil || f.until < c.w.now || !slices.ContainsFunc(j.next, func(l lostPod) bool { return l.pod.UID == pod.UID && l.pod.Name == pod.Name }) {
		return
	}
	was := f
	c.w.OnUndo(func() { j.fails[i] = was })
	f.until = c.w.now + backoffAfter(f.all)
	j.fails[i] = f
	c.syncAt(j, f.until)
}

// indexesOver ends a Job of which too many indexes have failed, or some have and all others are
// done (syncJob).
func (c *jobs) indexesOver(j *job) (over bool, err error) {
	n := len(j.lapsed)
	switch most := j.spec.MaxFailedIndexes; {
	case j.spec.BackoffLimitPerIndex == nil || n == 0:
		return false, nil
	case most != nil && n > int(*most):
		return true, c.fail(j, &Left{}, strconv.Itoa(n)+" of its indexes failed, and its maxFailedIndexes is "+strconv.Itoa(int(*most)))
	case j.spec.Completions != nil && n+len(j.done) >= int(*j.spec.Completions):
		return true, c.fail(j, &Left{}, "indexes of it failed: "+strconv.Itoa(n))
	}
	return false, nil
}

// successPolicy completes a Job of which the indexes have succeeded that a rule wants
// (success_policy.go matchSuccessPolicy).
func (c *jobs) successPolicy(j *job) (met bool, err error) {
	if j.spec.SuccessPolicy == nil || j.spec.Completions == nil {
		return false, nil
	}
	for _, r := range j.spec.SuccessPolicy.Rules {
		all, have := 0, len(j.done)
		if r.SucceededIndexes != nil {
			have = 0
			eachIndex(*r.SucceededIndexes, int(*j.spec.Completions), func(i int) {
				if all++; j.done[i] {
					have++
				}
			})
		}
		if all > 0 && have == all || r.SucceededCount != nil && (all > 0 || r.SucceededIndexes == nil) && have >= int(*r.SucceededCount) {
			j.over = "Job/" + j.key.Name + " is complete by its successPolicy"
			if err := c.reduce(j, c.active(j), math.MaxInt); err != nil {
				return true, err
			}
			return true, c.finish(j)
		}
	}
	return false, nil
}

// complete ends a Job that has what it wants, and no pod left.
func (c *jobs) complete(j *job) error {
	done := j.spec.Completions == nil && j.succeeded > 0
	if n := j.spec.Completions; n != nil {
		done = j.succeeded >= *n
	}
	if !done || len(c.active(j)) > 0 || j.over != "" {
		return nil
	}
	j.over = "Job/" + j.key.Name + " is complete"
	return c.finish(j)
}

// finish has those hear of a Job that is over who wait for the end of its pods (enactJobFinished).
func (c *jobs) finish(j *job) error {
	if j.over == "" || j.finished || len(c.active(j)) > 0 || len(j.ending) > 0 {
		return nil
	}
	j.finished = true
	c.w.OnUndo(func() { j.finished = false })
	c.expire(j, c.w.now)
	if j.cron != nil {
		return j.cron.finished(c.w, j)
	}
	return nil
}

// expire deletes a Job some time after it has finished (pkg/controller/ttlafterfinished).
func (c *jobs) expire(j *job, finished time.Duration) {
	if ttl := j.spec.TTLSecondsAfterFinished; ttl != nil {
		c.w.due.schedule(max(c.w.now, finished+time.Duration(*ttl)*time.Second), syncs, "Job/"+j.key.namespace+"/"+j.key.Name, func() error { return c.remove(j) })
	}
}

// remove deletes a Job with its pods.
func (c *jobs) remove(j *job) error {
	if c.jobs[j.key] != j {
		return nil
	}
	delete(c.jobs, j.key)
	j.over, j.finished = "Job/"+j.key.Name+" is deleted", true
	c.w.tell(Moment{What: JobDeleted, Owner: "Job/" + j.key.Name})
	names, err := c.w.podsOf(j.key)
	if err != nil {
		return err
	}
	for _, n := range append(slices.Clone(names), j.all...) {
		p, err := c.w.waitingOrStored(n)
		switch {
		case err != nil:
			return err
		case p == nil || OwnerOf(p) != "Job/"+j.key.Name:
		case hasEnded(p):
			c.w.tellPod(PodGone, p, "")
			if err := c.w.Delete(n.Namespace, n.Name); err != nil {
				return err
			}
		default:
			c.jobs[j.key] = j // which its pods ask for as they end
			if err := c.w.remove(p, &Left{Cause: CauseDeletion}); err != nil {
				return err
			}
		}
	}
	return nil
}

// deadline has a Job fail that is active for too long (pastActiveDeadline).
func (c *jobs) deadline(j *job) {
	limit := j.spec.ActiveDeadlineSeconds
	if limit == nil || j.suspended() || j.over != "" {
		return
	}
	began := j.began
	c.w.due.schedule(max(c.w.now, began+time.Duration(*limit)*time.Second), syncs, "Job/"+j.key.namespace+"/"+j.key.Name, func() error {
		if j.over != "" || j.suspended() || j.began != began || j.spec.ActiveDeadlineSeconds != limit {
			return nil
		}
		return c.fail(j, &Left{}, "it was active longer than its activeDeadlineSeconds, "+strconv.FormatInt(*limit, 10))
	})
}
