package world

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"berth/internal/kube/object"
)

// jobs is the controller of Jobs (pkg/controller/job/job_controller.go). It looks at a Job once one
// of its pods has left.
type jobs struct {
	w    *World
	jobs map[ownerKey]*job
}

// job is a Job of which a pod has left.
type job struct {
	key     ownerKey
	spec    *batchv1.JobSpec
	limit   int32
	unknown bool // the snapshot lacks the Job
	whenEnd bool // a pod is replaced once it is gone, not when its deletion begins
	failed  int32
	// succeeded counts pods.
	succeeded int32
	// inRow is how many failures count for the back-off, which ends at until.
	inRow  int32
	until  time.Duration
	over   string    // why the Job is over; empty: it is not
	next   []lostPod // to be replaced
	live   map[PodName]bool
	counts map[PodName]bool // pods whose failure was counted
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
func (c *jobs) of(pod *corev1.Pod) (*job, error) {
	k := keyOf(pod)
	if j := c.jobs[k]; j != nil {
		return j, nil
	}
	pods, err := c.w.podsOf(k)
	if err != nil {
		return nil, err
	}
	j := &job{key: k, spec: &batchv1.JobSpec{}, limit: defaultJobLimit, live: map[PodName]bool{}, counts: map[PodName]bool{}}
	for _, n := range pods {
		if p := c.w.base.State.Pod(n.Namespace, n.Name); p != nil && !p.Terminal && !p.Terminating {
			j.live[n] = true
		}
	}
	if raw, ok := c.w.base.Object(object.Key{Kind: "Job", Namespace: k.namespace, Name: k.Name}); ok {
		o, err := object.FromCanonical("Job", raw)
		if err != nil {
			return nil, fmt.Errorf("read Job %s/%s: %w", k.namespace, k.Name, err)
		}
		of := o.Value.(*batchv1.Job)
		j.spec, j.failed, j.succeeded = &of.Spec, of.Status.Failed, of.Status.Succeeded
		if of.Spec.BackoffLimit != nil {
			j.limit = *of.Spec.BackoffLimit
		}
	} else {
		j.unknown = true
	}
	policy := j.spec.PodReplacementPolicy
	j.whenEnd = policy != nil && *policy == batchv1.Failed || policy == nil && j.spec.PodFailurePolicy != nil
	if c.jobs == nil {
		c.jobs = map[ownerKey]*job{}
	}
	c.jobs[k] = j
	return j, nil
}

// lost counts a pod of a Job that is being deleted, or gone, as failed, and has the Job replace it
// (job_controller.go isPodFailed, trackJobStatusAndRemoveFinalizers, manageJob).
func (c *jobs) lost(pod *corev1.Pod, rec *Left, gone bool) error {
	j, err := c.of(pod)
	if err != nil {
		return err
	}
	name := NameOf(pod)
	switch {
	case j.counts[name], gone && !j.whenEnd && pod.DeletionTimestamp != nil: // it was being deleted at the start
		return nil
	case j.whenEnd && !gone:
		rec.held, rec.NotReplaced = true, "Job/"+j.key.Name+" makes another one once the pod is gone"
		return nil
	}
	kept(c.w, rec).held, rec.NotReplaced = false, ""
	was, lived := *j, j.live[name]
	was.next = slices.Clone(j.next)
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
	counted := true
	if action := j.action(pod, rec.Cause); action != nil {
		switch *action {
		case batchv1.PodFailurePolicyActionIgnore:
			counted = false
		case batchv1.PodFailurePolicyActionFailJob:
			return c.fail(j, rec, "its podFailurePolicy says so")
		}
	}
	if counted && j.spec.BackoffLimitPerIndex == nil {
		if j.failed++; j.failed > j.limit {
			return c.fail(j, rec, fmt.Sprintf("%d of its pods failed, and its backoffLimit is %d", j.failed, j.limit))
		}
	}
	j.inRow++ // one that is ignored counts here (newBackoffRecord)
	j.until = c.failedAt(pod, gone) + backoffAfter(j.inRow)
	j.next = append(j.next, lostPod{pod, rec})
	c.w.due.schedule(max(j.until, c.w.now), syncs, "Job/"+j.key.namespace+"/"+j.key.Name, func() error { return c.sync(j) })
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
	want := j.spec.Completions
	if j.over != "" || want == nil || int(*want)-int(j.succeeded) <= len(j.live)+len(j.next) {
		return nil
	}
	like := pod
	if _, indexed := pod.Annotations[batchv1.JobCompletionIndexAnnotation]; indexed { // the next one is new
		like = pod.DeepCopy()
		index := strconv.Itoa(int(j.succeeded) + len(j.live) + len(j.next))
		like.Annotations[batchv1.JobCompletionIndexAnnotation] = index
		like.Labels = labels.Merge(like.Labels, labels.Set{batchv1.JobCompletionIndexAnnotation: index})
	}
	rec, err := c.w.another(like)
	if err != nil {
		return err
	}
	j.live[PodName{pod.Namespace, rec.Name}] = true
	return nil
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

// sync makes the pods that are missing, once the back-off is over.
func (c *jobs) sync(j *job) error {
	if j.over != "" || c.w.now < j.until {
		return nil
	}
	was, next := *j, j.next
	c.w.OnUndo(func() { *j = was })
	j.next = nil
	for _, l := range next {
		if err := c.w.replace(l.pod, l.rec); err != nil {
			return err
		}
		if r := l.rec.Replacement; r != nil {
			n := PodName{l.pod.Namespace, r.Name}
			j.live[n] = true
			c.w.OnUndo(func() { delete(j.live, n) })
		}
	}
	return nil
}

// fail ends a Job: its pods are deleted, and none is made again (job_controller.go syncJob,
// deleteActivePods).
func (c *jobs) fail(j *job, rec *Left, why string) error {
	j.over = "Job/" + j.key.Name + " has failed: " + why
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
	return nil
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
