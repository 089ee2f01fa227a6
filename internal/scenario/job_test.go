package scenario_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// indexedPod is a pod of one index of the Job train.
func indexedPod(i, on string) *corev1.Pod {
	p := jobPod("train-"+i, on)
	p.Spec.RestartPolicy = corev1.RestartPolicyNever
	p.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: i}
	p.Spec.Containers[0].Name = "c"
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, Ready: true}}
	return p
}

// jobManifest is a Job in JSON.
func jobManifest(t *testing.T, name string, spec batchv1.JobSpec) string {
	j := job(spec)
	j.Name, j.TypeMeta = name, metav1.TypeMeta{Kind: "Job", APIVersion: "batch/v1"}
	j.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}}}
	return applied(t, j)
}

// TestJobFields plays what the controller of Jobs does by the fields of a Job.
func TestJobFields(t *testing.T) {
	t.Parallel()
	number := func(n int32) *int32 { return &n }
	indexed := func(n, perIndex int32, change ...func(*batchv1.JobSpec)) *batchv1.Job {
		mode := batchv1.IndexedCompletion
		s := batchv1.JobSpec{Parallelism: number(n), Completions: number(n), CompletionMode: &mode}
		if perIndex >= 0 {
			s.BackoffLimitPerIndex = &perIndex
		}
		for _, f := range change {
			f(&s)
		}
		return job(s)
	}
	exits := func(pod, code, at string) string {
		return `{"at":"` + at + `","containerExits":{"name":"` + pod + `","exitCode":` + code + `}}`
	}
	two := batchv1.JobSpec{Parallelism: number(2), Completions: number(4)}
	suspended := two
	suspended.Suspend = new(true)
	began := metav1.NewTime(noon.Add(-time.Minute))
	timed := func(spec batchv1.JobSpec) *batchv1.Job {
		j := job(spec)
		j.Status.StartTime = &began
		return j
	}
	activeFor := func(n int64) batchv1.JobSpec {
		return batchv1.JobSpec{Parallelism: number(1), Completions: number(2), ActiveDeadlineSeconds: &n}
	}
	suspendedFor := func(n int64) batchv1.JobSpec {
		s := activeFor(n)
		s.Suspend = new(true)
		return s
	}
	onExit := func(action batchv1.PodFailurePolicyAction, op batchv1.PodFailurePolicyOnExitCodesOperator, code int32) batchv1.PodFailurePolicyRule {
		return batchv1.PodFailurePolicyRule{Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: op, Values: []int32{code}}}
	}
	done := timed(batchv1.JobSpec{Parallelism: number(1), TTLSecondsAfterFinished: number(90)})
	done.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: began}}
	ended := jobPod("train-0", "a")
	ended.Status.Phase = corev1.PodSucceeded
	for _, c := range []struct {
		what, events, want string
		objects            []any
	}{
		{
			"suspended, its pods are deleted and do not count as failed; resumed, others come",
			`{"apply":` + jobManifest(t, "train", suspended) + `},{"at":"1m","apply":` + jobManifest(t, "train", two) + `}`, `
0 applied Job/train
0 leaves train-0 a: scale-down
0 leaves train-1 a: scale-down
30 gone train-0 a
30 gone train-1 a
60 applied Job/train
60 created train-0-2
60 created train-0-3
60 bound train-0-2 a
60 bound train-0-3 a
64 ready train-0-2 a
64 ready train-0-3 a
`,
			[]any{alive("a", "9"), job(two), jobPod("train-0", "a"), jobPod("train-1", "a")},
		},
		{
			"scaled, it runs more pods, or fewer, the youngest first",
			`{"scale":{"kind":"Job","name":"train","replicas":3}},{"at":"1m","scale":{"kind":"Job","name":"train","replicas":2}}`, `
0 scaled Job/train: to 3 replicas
0 created train-0-2
0 bound train-0-2 a
4 ready train-0-2 a
60 scaled Job/train: to 2 replicas
60 leaves train-0-2 a: scale-down
90 gone train-0-2 a
`,
			[]any{alive("a", "9"), job(two), jobPod("train-0", "a"), jobPod("train-1", "a")},
		},
		{
			"it fails at its deadline", `{"at":"1s","cordon":{"nodes":["a"]}}`, `
1 cordoned a
40 leaves train-0 a: job-failed
70 gone train-0 a
`,
			[]any{alive("a", "9"), timed(batchv1.JobSpec{Parallelism: number(1), ActiveDeadlineSeconds: new(int64(100))}), jobPod("train-0", "a")},
		},
		{
			"one that has finished goes after its time to live", `{"at":"1s","cordon":{"nodes":["a"]}}`, `
1 cordoned a
30 jobDeleted Job/train
30 gone train-0 a
`,
			[]any{alive("a", "9"), done, ended},
		},
		{
			"each index has a limit and a back-off of its own; one that has failed does not come back",
			exits("train-1", "1", "0s") + "," + exits("train-1-2", "1", "20s"), `
0 containerExited train-1 a
0 failed train-1 a
10 created train-1-2
10 bound train-1-2 a
14 ready train-1-2 a
20 containerExited train-1-2 a
20 failed train-1-2 a
`,
			[]any{alive("a", "9"), indexed(3, 1), indexedPod("0", "a"), indexedPod("1", "a"), indexedPod("2", "a")},
		},
		{
			"more failed indexes than it may have end it", exits("train-1", "1", "0s") + "," + exits("train-2", "1", "5s"), `
0 containerExited train-1 a
0 failed train-1 a
5 containerExited train-2 a
5 failed train-2 a
5 leaves train-0 a: job-failed
35 gone train-0 a
`,
			[]any{alive("a", "9"), indexed(3, 0, func(s *batchv1.JobSpec) { s.MaxFailedIndexes = number(1) }), indexedPod("0", "a"), indexedPod("1", "a"), indexedPod("2", "a")},
		},
		{
			"its success policy ends it, with the pods that are left", exits("train-0", "0", "0s"), `
0 containerExited train-0 a
0 succeeded train-0 a
0 leaves train-1 a: scale-down
30 gone train-1 a
40 jobDeleted Job/train
40 gone train-0 a
`,
			[]any{alive("a", "9"), indexed(2, -1, func(s *batchv1.JobSpec) {
				zero := "0"
				s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: &zero}}}
				s.TTLSecondsAfterFinished = number(10)
			}), indexedPod("0", "a"), indexedPod("1", "a")},
		},
		{
			"the lowest index that is free comes next", exits("train-0", "0", "0s"), `
0 containerExited train-0 a
0 succeeded train-0 a
0 created train-0-2
0 bound train-0-2 a
4 ready train-0-2 a
`,
			[]any{alive("a", "9"), indexed(2, -1, func(s *batchv1.JobSpec) { s.Completions = number(3) }), indexedPod("0", "a"), indexedPod("1", "a")},
		},
		{
			"a success ends the back-off of a failure before", exits("train-0", "1", "0s") + "," + exits("train-1", "0", "5s"), `
0 containerExited train-0 a
0 failed train-0 a
5 containerExited train-1 a
5 succeeded train-1 a
5 created train-0-2
5 created train-0-3
5 bound train-0-2 a
5 bound train-0-3 a
9 ready train-0-2 a
9 ready train-0-3 a
`,
			[]any{alive("a", "9"), job(two), indexedPod("0", "a"), indexedPod("1", "a")},
		},
		{
			"an index that has succeeded does not come again", exits("train-0", "0", "0s") + "," + exits("train-0-2", "0", "10s"), `
0 containerExited train-0 a
0 succeeded train-0 a
0 created train-0-2
0 bound train-0-2 a
4 ready train-0-2 a
10 containerExited train-0-2 a
10 succeeded train-0-2 a
10 leaves train-1 a: scale-down
40 gone train-1 a
`,
			[]any{alive("a", "9"), indexed(2, -1, func(s *batchv1.JobSpec) {
				ends := "0,2"
				s.Completions = number(3)
				s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: &ends}}}
			}), indexedPod("0", "a"), indexedPod("1", "a")},
		},
		{
			"the first rule that matches decides, and exit code 0 matches none", exits("train-0", "1", "0s"), `
0 containerExited train-0 a
0 failed train-0 a
10 created train-0-2
10 bound train-0-2 a
14 ready train-0-2 a
`,
			[]any{alive("a", "9"), job(batchv1.JobSpec{Parallelism: number(1), BackoffLimit: number(0), PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
				onExit(batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyOnExitCodesOpNotIn, 1),
				onExit(batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyOnExitCodesOpIn, 1),
				onExit(batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyOnExitCodesOpIn, 1),
			}}}), func() *corev1.Pod {
				p := indexedPod("0", "a")
				p.Spec.InitContainers = []corev1.Container{{Name: "init", Image: "i"}}
				p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "init", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed"}}}}
				return p
			}()},
		},
		{
			"its deadline counts from when it was resumed", `{"apply":` + jobManifest(t, "train", suspendedFor(100)) + `},{"at":"30s","apply":` + jobManifest(t, "train", activeFor(100)) + `}`, `
0 applied Job/train
0 leaves train-0 a: scale-down
30 applied Job/train
30 created train-0-2
30 gone train-0 a
30 bound train-0-2 a
34 ready train-0-2 a
130 leaves train-0-2 a: job-failed
160 gone train-0-2 a
`,
			[]any{alive("a", "9"), timed(activeFor(100)), jobPod("train-0", "a")},
		},
		{
			"one that is applied comes", `{"apply":` + jobManifest(t, "fresh", two) + `}`, `
0 applied Job/fresh
0 created fresh-1
0 created fresh-1-2
0 bound fresh-1 a
0 bound fresh-1-2 a
10 ready fresh-1 a
10 ready fresh-1-2 a
`,
			[]any{alive("a", "9")},
		},
	} {
		t.Run(c.what, func(t *testing.T) {
			out := clocked(t, `{"events":[`+c.events+`],"until":{"duration":"1h"}}`, c.objects...)
			if got := toldTimeline(out.Clock.Timeline); strings.TrimSpace(got) != strings.TrimSpace(c.want) {
				t.Errorf("%s", got)
			}
		})
	}
}
