package world

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/kube/object"
)

// jobs is the controller of Jobs (pkg/controller/job/job_controller.go).
type jobs struct {
	w    *World
	jobs map[ownerKey]*job
}

// job is a Job as its controller knows it.
type job struct {
	key       ownerKey
	spec      *batchv1.JobSpec
	limit     int32
	unknown   bool // the snapshot lacks the Job
	whenEnd   bool // a pod is replaced once it is gone, not when its deletion begins
	failed    int32
	broken    bool  // it has failed
	succeeded int32 // pods
	// inRow is how many failures count for the back-off, which ends at until.
	inRow  int32
	until  time.Duration
	over   string    // why the Job is over, or its pods are gone; empty: it is not
	next   []lostPod // to be replaced
	live   map[PodName]bool
	counts map[PodName]bool // pods whose failure was counted
	// ending are pods that are being deleted and all are pods that were created for it here.
	ending map[PodName]bool
	all    []PodName
	// done and lapsed are the indexes that have succeeded and failed, fails how often and how long
	// each waits. Of a Job that is not Indexed there are none.
	done, lapsed map[int]bool
	fails        map[int]indexFails
	began        time.Duration // when it started, or was resumed
	like         *corev1.Pod   // what its pods are like; nil: not known
	busy         bool          // it deletes pods
	finished     bool          // all of its pods have ended since it was over
	cron         *cronJob      // of which it is; may be nil
	runs         time.Duration // how long a new pod runs once it is ready; 0: it does not end
}

// indexFails are the failures of one index: those that count, and all.
type indexFails struct {
	counted, all int32
	until        time.Duration
}

type lostPod struct {
	pod *corev1.Pod
	rec *Left
}

// The back-off of a Job (job_controller.go DefaultJobPodFailureBackOff, MaxJobPodFailureBackOff),
// and the default of backoffLimit (pkg/apis/batch/v1/defaults.go).
const (
	jobBackoff      = 10 * time.Second
	mostJobBackoff  = 10 * time.Minute
	defaultJobLimit = 6
)

// of returns the Job of a pod.
func (c *jobs) of(pod *corev1.Pod) (*job, error) { return c.named(keyOf(pod)) }

func (c *jobs) named(k ownerKey) (*job, error) {
	if j := c.jobs[k]; j != nil {
		return j, nil
	}
	pods, err := c.w.podsOf(k)
	if err != nil {
		return nil, err
	}
	j := newJob(k)
	for _, n := range pods {
		p := c.w.base.State.Pod(n.Namespace, n.Name)
		switch {
		case p == nil || p.Terminal:
		case p.Terminating:
			j.ending[n] = true
		default:
			j.live[n] = true
		}
	}
	if raw, ok := c.w.base.Object(object.Key{Kind: "Job", Namespace: k.namespace, Name: k.Name}); ok {
		o, err := object.FromCanonical("Job", raw)
		if err != nil {
			return nil, fmt.Errorf("read Job %s/%s: %w", k.namespace, k.Name, err)
		}
		of := o.Value.(*batchv1.Job)
		j.failed, j.succeeded = of.Status.Failed, of.Status.Succeeded
		j.takes(&of.Spec)
		j.reads(&of.Status, c.w.o.Now)
		if err := c.indexes(j, pods); err != nil {
			return nil, err
		}
	} else {
		j.unknown = true
	}
	if c.jobs == nil {
		c.jobs = map[ownerKey]*job{}
	}
	c.jobs[k] = j
	return j, nil
}

// lost counts a pod of a Job that is being deleted, or gone, as failed, and has the Job replace it
// (job_controller.go isPodFailed, trackJobStatusAndRemoveFinalizers, manageJob).
func (c *jobs) lost(pod *corev1.Pod, rec *Left, gone bool) (err error) {
	j, err := c.of(pod)
	if err != nil {
		return err
	}
	name := NameOf(pod)
	setIn(c.w.Fork, j.ending, name, !gone)
	defer func() { err = errors.Join(err, c.finish(j)) }()
	switch {
	case j.counts[name] && gone:
		c.indexEnds(j, pod)
		return nil
	case j.counts[name], gone && !j.whenEnd && pod.DeletionTimestamp != nil: // it was being deleted at the start
		return nil
	case rec.Cause == CauseScaleDown: // its finalizer was taken off before (deleteJobPods)
		delete(j.live, name)
		rec.NotReplaced = "its controller wants fewer pods"
		return c.sync(j)
	case j.whenEnd && !gone:
		rec.held, rec.NotReplaced = true, "Job/"+j.key.Name+" makes another one once the pod is gone"
		return nil
	}
	kept(c.w, rec).held, rec.NotReplaced = false, ""
	was, lived := *j, j.live[name]
	was.next, was.fails, was.lapsed = slices.Clone(j.next), maps.Clone(j.fails), maps.Clone(j.lapsed)
	c.w.OnUndo(func() {
		*j = was
		delete(j.counts, name)
		if lived {
			j.live[name] = true
		}
	})
	j.counts[name] = true
	delete(j.live, name)
	if j.over != "" {
		rec.held, rec.NotReplaced = true, j.over
		return nil
	}
	counted, lapses := true, false
	if action := j.action(pod, rec.Cause); action != nil {
		switch *action {
		case batchv1.PodFailurePolicyActionFailIndex:
			lapses = true
		case batchv1.PodFailurePolicyActionIgnore:
			counted = false
		case batchv1.PodFailurePolicyActionFailJob:
			return c.fail(j, rec, "its podFailurePolicy says so")
		}
	}
	if counted {
		if j.failed++; j.failed > j.limit {
			return c.fail(j, rec, fmt.Sprintf("%d of its pods failed, and its backoffLimit is %d", j.failed, j.limit))
		}
	}
	var until time.Duration
	if j.spec.BackoffLimitPerIndex != nil {
		if until, err = c.indexFailed(j, pod, rec, counted, lapses); err != nil || rec.held {
			return err
		}
	} else {
		j.inRow++ // one that is ignored counts here (newBackoffRecord)
		j.until = c.failedAt(pod, gone) + backoffAfter(j.inRow)
		until = max(j.until, c.w.now)
	}
	j.next = append(j.next, lostPod{pod, rec})
	if j.suspended() {
		rec.held, rec.NotReplaced = true, "Job/"+j.key.Name+" is suspended"
	}
	c.syncAt(j, until)
	return nil
}

// failedAt is when a pod counts as having failed: one that its kubelet has not ended when it lost
// its readiness, be that before its deletion began (backoff_utils.go getFinishedTime).
func (c *jobs) failedAt(pod *corev1.Pod, gone bool) time.Duration {
	ready := ReadyCondition(pod)
	if ready == nil || ready.Status != corev1.ConditionFalse || ready.LastTransitionTime.IsZero() || gone && !c.w.Dead(pod.Spec.NodeName) {
		return c.w.now
	}
	return min(c.w.now, ready.LastTransitionTime.Sub(c.w.o.Now))
}

// backoffAfter is how long a Job waits after a number of failures (backoff_utils.go
// getRemainingTimeForFailuresCount).
func backoffAfter(failures int32) time.Duration {
	d := jobBackoff
	for range failures - 1 {
		if d *= 2; d >= mostJobBackoff {
			return mostJobBackoff
		}
	}
	return d
}

// action returns what the Job's pod failure policy does about a pod that has failed, or is
// disrupted; nil: it counts (pod_failure_policy.go matchPodFailurePolicy).
func (j *job) action(pod *corev1.Pod, cause string) *batchv1.PodFailurePolicyAction {
	if j.spec.PodFailurePolicy == nil {
		return nil
	}
	conditions := pod.Status.Conditions
	if cause != CauseDeletion && cause != CauseEnded && cause != "" { // all others say so in the pod
		conditions = append(slices.Clip(conditions), corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue})
	}
	for i := range j.spec.PodFailurePolicy.Rules {
		r := &j.spec.PodFailurePolicy.Rules[i]
		if matchesExit(r.OnExitCodes, pod) || slices.ContainsFunc(r.OnPodConditions, func(want batchv1.PodFailurePolicyOnPodConditionsPattern) bool {
			return slices.ContainsFunc(conditions, func(c corev1.PodCondition) bool { return c.Type == want.Type && c.Status == want.Status })
		}) {
			return &r.Action
		}
	}
	return nil
}

// matchesExit reports whether a container of a pod that failed ended with a code of a rule; 0 never
// is one (pod_failure_policy.go matchOnExitCodes).
func matchesExit(rule *batchv1.PodFailurePolicyOnExitCodesRequirement, pod *corev1.Pod) bool {
	return rule != nil && pod.Status.Phase == corev1.PodFailed && slices.ContainsFunc(slices.Concat(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses), func(s corev1.ContainerStatus) bool {
		end := s.State.Terminated
		return end != nil && end.ExitCode != 0 && (rule.ContainerName == nil || *rule.ContainerName == s.Name) &&
			slices.Contains(rule.Values, end.ExitCode) == (rule.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn)
	})
}

// succeeded counts a pod whose work is done, and makes the next one where completions are missing
// (job_controller.go manageJob).
func (c *jobs) succeeded(pod *corev1.Pod) error {
	j, err := c.of(pod)
	if err != nil || j.counts[NameOf(pod)] {
		return err
	}
	j.counts[NameOf(pod)] = true
	delete(j.live, NameOf(pod))
	j.succeeded, j.inRow, j.until = j.succeeded+1, 0, 0
	if i := indexOf(pod); i >= 0 {
		j.done[i] = true
	}
	if j.over != "" {
		return c.finish(j)
	}
	if met, err := c.successPolicy(j); err != nil || met {
		return err
	}
	if done, err := c.indexesOver(j); err != nil || done {
		return err
	}
	if j.spec.Parallelism != nil {
		return c.sync(j)
	}
	want := j.spec.Completions
	if want == nil || int(*want)-int(j.succeeded) <= len(j.live)+len(j.next) {
		return c.complete(j)
	}
	return c.another(j, pod, int(j.succeeded)+len(j.live)+len(j.next))
}

// restarted ends the Job of a pod of which a container was started again, where its pods have been
// restarted too often (job_controller.go pastBackoffLimitOnFailure).
func (c *jobs) restarted(pod *corev1.Pod) error {
	if !ControlledBy(pod, "Job") || pod.Spec.RestartPolicy != corev1.RestartPolicyOnFailure {
		return nil
	}
	j, err := c.of(pod)
	if err != nil || j.over != "" {
		return err
	}
	sum := int32(0)
	for n := range j.live {
		p, err := c.w.waitingOrStored(n)
		if err != nil {
			return err
		}
		if p == nil {
			continue
		}
		for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
			sum += s.RestartCount
		}
	}
	if sum < max(j.limit, 1) {
		return nil
	}
	return c.fail(j, &Left{}, fmt.Sprintf("containers of its pods were restarted %d times, and its backoffLimit is %d", sum, j.limit))
}

// fail ends a Job: its pods are deleted, and none is made again (job_controller.go syncJob,
// deleteActivePods).
func (c *jobs) fail(j *job, rec *Left, why string) error {
	j.over, j.broken = "Job/"+j.key.Name+" has failed: "+why, true
	rec.held, rec.NotReplaced = true, j.over
	for _, l := range j.next {
		kept(c.w, l.rec).held = true
		l.rec.NotReplaced = j.over
	}
	j.next = nil
	c.w.quotas.trim(j.key, 0)
	live := make([]PodName, 0, len(j.live))
	for n := range j.live {
		live = append(live, n)
	}
	slices.SortFunc(live, comparePods)
	for _, n := range live {
		if c.w.leaving[n] != nil {
			continue
		}
		pod, err := c.w.waitingOrStored(n)
		if err != nil {
			return err
		}
		if pod == nil {
			continue
		}
		if _, err := c.w.Evict(pod, &Left{Cause: CauseJobFailed}, nil); err != nil {
			return err
		}
	}
	return c.finish(j)
}

// guessed names the Jobs of pods that left which the base lacks, in order.
func (c *jobs) guessed() (names []string) {
	for _, j := range c.jobs {
		if j.unknown && len(j.counts) > 0 {
			names = append(names, j.key.namespace+"/"+j.key.Name)
		}
	}
	slices.Sort(names)
	return names
}

// scale has a Job want another number of pods at once.
func (c *jobs) scale(k ownerKey, to int) (refused string, err error) {
	j, err := c.named(k)
	if err != nil {
		return "", err
	}
	if j.like == nil {
		delete(c.jobs, k)
		return "no pod of Job/" + k.Name + " shows what its pods are like", nil
	}
	spec := j.spec.DeepCopy()
	spec.Parallelism = new(int32(to))
	return "", c.change(j, spec)
}

// start has a Job come.
func (c *jobs) start(k ownerKey, spec *batchv1.JobSpec, like *corev1.Pod) *job {
	j := newJob(k)
	if spec.Parallelism == nil {
		spec.Parallelism = new(int32(1))
	}
	if spec.Completions == nil && *spec.Parallelism == 1 {
		spec.Completions = new(int32(1))
	}
	j.takes(spec)
	j.began = c.w.now
	p := like.DeepCopy()
	p.Name, p.UID = k.Name+"-1", ""
	j.like = p
	if c.jobs == nil {
		c.jobs = map[ownerKey]*job{}
	}
	c.jobs[k] = j
	c.deadline(j)
	c.syncAt(j, c.w.now)
	return j
}

// change has a Job take another spec. One that is resumed starts anew.
func (c *jobs) change(j *job, spec *batchv1.JobSpec) error {
	was := j.suspended()
	j.takes(spec)
	if j.spec.Parallelism == nil {
		j.spec.Parallelism = new(int32(1))
	}
	if was && !j.suspended() {
		j.began = c.w.now
	}
	c.deadline(j)
	return c.sync(j)
}
