package scenario_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/test/enginetest"
)

// TestCronJobs has Jobs start by the schedules of CronJobs. It is noon at the start.
func TestCronJobs(t *testing.T) {
	t.Parallel()
	number := func(n int32) *int32 { return &n }
	cron := func(schedule string, change ...func(*batchv1.CronJob)) *batchv1.CronJob {
		c := &batchv1.CronJob{
			TypeMeta:   metav1.TypeMeta{Kind: "CronJob", APIVersion: "batch/v1"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "tick", CreationTimestamp: metav1.NewTime(noon.Add(-24 * time.Hour))},
			Spec: batchv1.CronJobSpec{Schedule: schedule, JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
				Parallelism: number(1), Completions: number(1),
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: new(int64(5)), Containers: []corev1.Container{{Name: "c", Image: "i"}}}},
			}}},
		}
		last := metav1.NewTime(noon.Add(-time.Minute))
		c.Status.LastScheduleTime = &last
		for _, f := range change {
			f(c)
		}
		return c
	}
	policy := func(p batchv1.ConcurrencyPolicy) func(*batchv1.CronJob) {
		return func(c *batchv1.CronJob) { c.Spec.ConcurrencyPolicy = p }
	}
	// before is a Job of the CronJob with a pod that ran some seconds.
	before := func(ran time.Duration) (*batchv1.Job, *corev1.Pod) {
		j := job(batchv1.JobSpec{Parallelism: number(1), Completions: number(1)})
		j.Name = "tick-1"
		yes := true
		j.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "CronJob", Name: "tick", UID: "u", Controller: &yes}}
		j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
		p := running(enginetest.Pod("tick-1-x", enginetest.On("a")), "Job", "tick-1", 4, 5)
		p.OwnerReferences[0].APIVersion = "batch/v1"
		p.Status.Phase = corev1.PodSucceeded
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			StartedAt: metav1.NewTime(noon.Add(-ran * time.Second)), FinishedAt: metav1.NewTime(noon),
		}}}}
		return j, p
	}
	j, p := before(40)
	_, long := before(90)
	old, brief := before(1)
	old.Status.StartTime = &metav1.Time{Time: noon.Add(-time.Hour)}
	minute := noon.Unix() / 60
	name := func(after int64) string { return "tick-" + strconv.FormatInt(minute+after, 10) }
	for _, c := range []struct {
		what, until string
		events      string
		want        []string
		not         []string
		objects     []any
	}{
		{"each time starts a Job, and they run beside each other", "4m", "", []string{"0 jobCreated Job/" + name(0), "0 created " + name(0) + "-1", "120 jobCreated Job/" + name(2), "120 created " + name(2) + "-1"}, []string{"60 jobCreated", "leaves"}, []any{cron("*/2 * * * *")}},
		{"with Forbid none starts while one runs", "4m", "", []string{"0 jobCreated Job/" + name(0), "120 jobSkipped CronJob/tick"}, []string{"120 jobCreated"}, []any{cron("*/2 * * * *", policy(batchv1.ForbidConcurrent))}},
		{"with Replace the one that runs is deleted", "3m", "", []string{"120 jobDeleted Job/" + name(0), "120 leaves " + name(0) + "-1 a: deletion", "120 jobCreated Job/" + name(2)}, nil, []any{cron("*/2 * * * *", policy(batchv1.ReplaceConcurrent))}},
		{"its Jobs run as long as those before", "3m", "", []string{"50 succeeded " + name(0) + "-1 a", "120 jobCreated Job/" + name(2)}, []string{"Skipped"}, []any{cron("*/2 * * * *", policy(batchv1.ForbidConcurrent)), j, p}},
		{"with Forbid one that had to wait starts once the one before has ended", "2m", "", []string{"60 jobSkipped", "100 succeeded " + name(0) + "-1 a", "100 jobCreated Job/" + name(1)}, nil, []any{cron("* * * * *", policy(batchv1.ForbidConcurrent)), j, long}},
		{"one that is suspended starts none until it is not", "5m", `{"at":"3m","apply":` + applied(t, cron("*/2 * * * *")) + `}`, []string{"180 jobCreated Job/" + name(2), "240 jobCreated Job/" + name(4)}, []string{"0 jobCreated Job/" + name(0) + "\n"}, []any{cron("*/2 * * * *", func(c *batchv1.CronJob) { c.Spec.Suspend = new(true) })}},
		{"a start that was missed comes once, at once", "30s", "", []string{"0 jobCreated Job/" + name(-30)}, nil, []any{cron("30 * * * *", func(c *batchv1.CronJob) {
			last := metav1.NewTime(noon.Add(-5 * time.Hour))
			c.Status.LastScheduleTime = &last
		})}},
		{"but not after its deadline", "30s", "", nil, []string{"jobCreated"}, []any{cron("30 * * * *", func(c *batchv1.CronJob) {
			last := metav1.NewTime(noon.Add(-5 * time.Hour))
			c.Status.LastScheduleTime, c.Spec.StartingDeadlineSeconds = &last, new(int64(600))
		})}},
		{"three Jobs that have succeeded are kept", "5m", "", []string{"131 jobDeleted Job/tick-1", "131 gone tick-1-x", "191 jobDeleted Job/" + name(0)}, []string{"jobDeleted Job/" + name(2)}, []any{cron("* * * * *"), old, brief}},
		{"or as many as it says", "2m", "", []string{"0 jobDeleted Job/tick-1", "11 jobDeleted Job/" + name(0), "71 jobDeleted Job/" + name(1)}, nil, []any{cron("* * * * *", func(c *batchv1.CronJob) { c.Spec.SuccessfulJobsHistoryLimit = number(0) }), old, brief}},
		{"or one", "2m", "", []string{"11 jobDeleted Job/tick-1", "71 jobDeleted Job/" + name(0)}, nil, []any{cron("* * * * *", func(c *batchv1.CronJob) { c.Spec.SuccessfulJobsHistoryLimit = number(1) }), old, brief}},
		{"and one that has failed", "3m", "", []string{"75 jobDeleted Job/" + name(0), "135 jobDeleted Job/" + name(1)}, []string{"75 jobDeleted Job/" + name(1)}, []any{cron("* * * * *", func(c *batchv1.CronJob) { c.Spec.JobTemplate.Spec.ActiveDeadlineSeconds = new(int64(10)) })}},
		{"its time zone counts", "1m", "", []string{"0 jobCreated Job/" + name(0)}, nil, []any{cron("0 21 * * *", func(c *batchv1.CronJob) { c.Spec.TimeZone = new("Asia/Tokyo") })}},
		{"one that is applied starts at its next time", "3m", `{"at":"10s","apply":` + applied(t, cron("* * * * *", func(c *batchv1.CronJob) { c.CreationTimestamp = metav1.Time{} })) + `}`, []string{"60 jobCreated Job/" + name(1), "120 jobCreated"}, []string{"10 jobCreated"}, []any{}},
	} {
		t.Run(c.what, func(t *testing.T) {
			out := clocked(t, `{"events":[`+c.events+`],"until":{"duration":"`+c.until+`"}}`, append(c.objects, alive("a", "9"))...)
			got := toldTimeline(out.Clock.Timeline)
			for _, line := range c.want {
				if !strings.Contains(got, line) {
					t.Errorf("want %s in\n%s", line, got)
				}
			}
			for _, text := range c.not {
				if strings.Contains(got, text) {
					t.Errorf("%s in\n%s", text, got)
				}
			}
		})
	}
	t.Run("its starts do not keep a run from being idle", func(t *testing.T) {
		out := clocked(t, `{}`, cron("*/5 * * * *"), alive("a", "9")).Clock
		if out.Ended != "idle" || out.Seconds > 20 {
			t.Errorf("%s after %d s", out.Ended, out.Seconds)
		}
	})
	t.Run("nor do they where pods wait in vain beside what they start", func(t *testing.T) {
		waits := enginetest.Pod("waits")
		waits.Spec.NodeSelector = map[string]string{"x": "none"}
		out := clocked(t, `{"events":[{"at":"100s","create":{"pod":{"metadata":{"name":"too"},"spec":{"nodeSelector":{"x":"none"},"containers":[{"name":"c","image":"i"}]}}}}],"startSeconds":5}`,
			cron("* * * * *"), alive("a", "9"), waits).Clock
		if out.Ended != "idle" || out.Seconds != 100 {
			t.Errorf("%s after %d s", out.Ended, out.Seconds)
		}
	})
}
