package scenario_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/scenario"
	"berth/test/enginetest"
)

// node is a node of some cpu.
func node(name, cpu string) *corev1.Node {
	return enginetest.Node(name, enginetest.Allocatable("cpu", cpu, "pods", "20"))
}

// setPod is a pod of a StatefulSet that takes 20 seconds to start and 30 to end.
func setPod(i int, on string, options ...enginetest.PodOption) *corev1.Pod {
	options = append(options, enginetest.Requests("cpu", "1"), enginetest.On(on))
	return running(enginetest.Pod(fmt.Sprint("db-", i), options...), "StatefulSet", "db", 20, 30)
}

func jobPod(name, on string) *corev1.Pod {
	p := running(enginetest.Pod(name, enginetest.Requests("cpu", "1"), enginetest.On(on)), "Job", "train", 4, 30)
	p.OwnerReferences[0].APIVersion = "batch/v1"
	return p
}

func job(spec batchv1.JobSpec) *batchv1.Job {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "train"}, Spec: spec}
}

// attached are a claim and its volume, which one node may have at a time.
func attached(name string) []any {
	return []any{
		&corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}},
			Spec:       corev1.PersistentVolumeClaimSpec{VolumeName: "pv-" + name, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}},
			Status:     corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound},
		},
		&corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: "pv-" + name},
			Spec: corev1.PersistentVolumeSpec{
				AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				ClaimRef:               &corev1.ObjectReference{Namespace: "default", Name: name},
				PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "ebs.csi.aws.com", VolumeHandle: name}},
			},
		},
	}
}

func mounting(p *corev1.Pod, claim string) *corev1.Pod {
	p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
	}})
	return p
}

// TestControllers drains a node whose pods' controllers do not make others at once.
func TestControllers(t *testing.T) {
	low := func(name, on string, started time.Duration) *corev1.Pod {
		p := running(enginetest.Pod(name, enginetest.Requests("cpu", "2"), enginetest.On(on)), "", "", 5, 30)
		at := metav1.NewTime(noon.Add(-started))
		p.Status.StartTime = &at
		return p
	}
	high := func(name string) *corev1.Pod {
		return running(enginetest.Pod(name, enginetest.Priority(10), enginetest.Requests("cpu", "2"), enginetest.On("a")), "ReplicaSet", "high", 5, 0)
	}
	sick := setPod(0, "b")
	sick.Status.Conditions[0].Status = corev1.ConditionFalse
	parallel := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "db"},
		Spec:       appsv1.StatefulSetSpec{Replicas: new(int32(3)), PodManagementPolicy: appsv1.ParallelPodManagement},
	}
	patient := parallel.DeepCopy()
	patient.Spec.PodManagementPolicy, patient.Spec.MinReadySeconds = "", 7
	train := []any{node("a", "10"), node("b", "10")}
	for i := range 7 {
		train = append(train, jobPod(fmt.Sprint("train-", i), "a"))
	}
	two := train[:4:4]
	failed, ignore := batchv1.Failed, batchv1.PodFailurePolicyActionIgnore
	waits := enginetest.Pod("import", enginetest.Priority(10), enginetest.Requests("cpu", "2"))
	web := running(enginetest.Pod("web-0", enginetest.Requests("cpu", "1"), enginetest.On("a")), "ReplicaSet", "web", 5, 30)
	for _, c := range []struct {
		what    string
		objects []any
		want    string
	}{
		{"two preemptors: while a victim ends, its node is the worse one", []any{
			node("a", "4"), node("b", "4"), node("c", "4"), high("high-0"), high("high-1"),
			low("b1", "b", time.Minute), low("b2", "b", time.Minute), low("c1", "c", time.Hour), low("c2", "c", time.Hour),
		}, `
high-0 eviction wave 1 at 0 gone 0: high-0-2 at 0 on "b" ready 35
high-1 eviction wave 1 at 0 gone 0: high-1-2 at 0 on "c" ready 35
b2 preemption wave 0 at 0 gone 30: no controller manages it
c2 preemption wave 0 at 0 gone 30: no controller manages it
`},
		{"a StatefulSet makes its pods in order", []any{node("a", "4"), node("b", "4"), setPod(0, "b"), setPod(1, "a"), setPod(2, "a")}, `
db-1 eviction wave 1 at 0 gone 30: db-1 at 30 on "b" ready 50
db-2 eviction wave 1 at 0 gone 30: db-2 at 50 on "b" ready 70
`},
		{"one that is available later has the next wait", []any{patient, node("a", "4"), node("b", "4"), setPod(0, "b"), setPod(1, "a"), setPod(2, "a")}, `
db-1 eviction wave 1 at 0 gone 30: db-1 at 30 on "b" ready 50
db-2 eviction wave 1 at 0 gone 30: db-2 at 57 on "b" ready 77
`},
		{"Parallel ones all at once", []any{parallel, node("a", "4"), node("b", "4"), setPod(0, "b"), setPod(1, "a"), setPod(2, "a")}, `
db-1 eviction wave 1 at 0 gone 30: db-1 at 30 on "b" ready 50
db-2 eviction wave 1 at 0 gone 30: db-2 at 30 on "b" ready 50
`},
		{"none comes back above one that is not Ready", []any{node("a", "4"), node("b", "4"), sick, setPod(1, "a"), setPod(2, "a")}, `
db-1 eviction wave 1 at 0 gone 30: StatefulSet/db makes its pods in order, and db-0 is not Ready
db-2 eviction wave 1 at 0 gone 30: StatefulSet/db makes its pods in order, and db-0 is not Ready
`},
		{"a Job's failures add up to its limit", train, `
train-0 eviction wave 1 at 0 gone 30: Job/train has failed: 7 of its pods failed, and its backoffLimit is 6
train-1 eviction wave 1 at 0 gone 30: Job/train has failed: 7 of its pods failed, and its backoffLimit is 6
train-2 eviction wave 1 at 0 gone 30: Job/train has failed: 7 of its pods failed, and its backoffLimit is 6
train-3 eviction wave 1 at 0 gone 30: Job/train has failed: 7 of its pods failed, and its backoffLimit is 6
train-4 eviction wave 1 at 0 gone 30: Job/train has failed: 7 of its pods failed, and its backoffLimit is 6
train-5 eviction wave 1 at 0 gone 30: Job/train has failed: 7 of its pods failed, and its backoffLimit is 6
train-6 eviction wave 1 at 0 gone 30: Job/train has failed: 7 of its pods failed, and its backoffLimit is 6
`},
		{"and its back-off doubles", two, `
train-0 eviction wave 1 at 0 gone 30: train-0-2 at 20 on "b" ready 24
train-1 eviction wave 1 at 0 gone 30: train-1-2 at 20 on "b" ready 24
`},
		{"a Job that ends takes its other pods along", append(two[:4:4], job(batchv1.JobSpec{BackoffLimit: new(int32(0))}), jobPod("train-9", "b")), `
train-0 eviction wave 1 at 0 gone 30: Job/train has failed: 1 of its pods failed, and its backoffLimit is 0
train-1 job-failed wave 0 at 0 gone 30: Job/train has failed: 1 of its pods failed, and its backoffLimit is 0
train-9 job-failed wave 0 at 0 gone 30: Job/train has failed: 1 of its pods failed, and its backoffLimit is 0
`},
		{"by policy it counts a pod once it is gone", append(two[:4:4], job(batchv1.JobSpec{PodReplacementPolicy: &failed})), `
train-0 eviction wave 1 at 0 gone 30: train-0-2 at 50 on "b" ready 54
train-1 eviction wave 1 at 0 gone 30: train-1-2 at 50 on "b" ready 54
`},
		{"what a policy ignores fails no Job and delays it all the same", append(two[:4:4], job(batchv1.JobSpec{BackoffLimit: new(int32(0)), PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action: ignore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
		}}}})), `
train-0 eviction wave 1 at 0 gone 30: train-0-2 at 50 on "b" ready 54
train-1 eviction wave 1 at 0 gone 30: train-1-2 at 50 on "b" ready 54
`},
		{"pods that wait take room", []any{node("a", "1"), node("b", "2"), waits, web}, `
web-0 eviction wave 1 at 0 gone 30: web-0-2 at 0 on "" (0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable. no new claims to deallocate, preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.)
`},
		{"and a pod that ends leaves some", []any{node("a", "1"), node("b", "1"), ending(running(enginetest.Pod("old", enginetest.Requests("cpu", "1"), enginetest.On("b")), "", "", 5, 30), 12), web}, `
web-0 eviction wave 1 at 0 gone 30: web-0-2 at 0 on "b" ready 17
`},
		{"a volume comes along once the old pod is gone", append(attached("data"), node("a", "4"), node("b", "4"), mounting(web.DeepCopy(), "data")), `
web-0 eviction wave 1 at 0 gone 30: web-0-2 at 0 on "b" ready 35
`},
	} {
		t.Run(c.what, func(t *testing.T) {
			d := drained(t, scenario.DrainQuestion{NodeChoice: chosen("a"), Force: true}, c.objects...)
			if got := toldPods(d.Pods); strings.TrimSpace(got) != strings.TrimSpace(c.want) {
				t.Errorf("got\n%s\nwant%s", got, c.want)
			}
		})
	}
}

// ending is a pod that is being deleted and gone after some seconds.
func ending(p *corev1.Pod, in int64) *corev1.Pod {
	at := metav1.NewTime(noon.Add(time.Duration(in) * time.Second))
	p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &at, &in
	return p
}

// TestVolumesStayAttached loses a node with a volume that one node may have at a time.
func TestVolumesStayAttached(t *testing.T) {
	web := mounting(running(enginetest.Pod("web-0", enginetest.On("a")), "ReplicaSet", "web", 5, 30), "data")
	objects := append(attached("data"), node("a", "4"), node("b", "4"), web)
	driver := &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "ebs.csi.aws.com"}, Spec: storagev1.CSIDriverSpec{AttachRequired: new(bool)}}
	for _, c := range []struct {
		what    string
		o       scenario.LossQuestion
		objects []any
		want    string
	}{
		{"for good", scenario.LossQuestion{}, objects, "web-0-2 on b: the volume of claim data is attached to a, where a pod uses it (Multi-Attach)"},
		// Tainted at 50 s, removed at 100, the pod is gone at 160, its volume free 360 s later.
		{"until the node is deleted, and six minutes more", scenario.LossQuestion{RemoveAfterSeconds: new(int64(100))}, objects, "web-0-2 on b ready 525"},
		{"unless it is of a driver that attaches nothing", scenario.LossQuestion{}, append(slices.Clip(objects), driver), "web-0-2 on b ready 55"},
	} {
		t.Run(c.what, func(t *testing.T) {
			c.o.NodeChoice = chosen("a")
			l := lost(t, c.o, c.objects...)
			if len(l.Pods) != 1 || l.Pods[0].Replacement == nil {
				t.Fatalf("%+v", l.Pods)
			}
			r := l.Pods[0].Replacement
			got := fmt.Sprintf("%s on %s", r.Name, r.Node)
			if r.NotStarted != "" {
				got += ": " + r.NotStarted
			}
			if r.ReadyAfterSeconds != nil {
				got += fmt.Sprintf(" ready %d", *r.ReadyAfterSeconds)
			}
			if got != c.want || l.Totals.Unserved() != (r.NotStarted != "") {
				t.Errorf("got %s, want %s; %+v", got, c.want, l.Totals)
			}
		})
	}
}

// TestLostBefore loses a node that has been lost for a while: its counts go on.
func TestLostBefore(t *testing.T) {
	since := metav1.NewTime(noon.Add(-100 * time.Second))
	a := node("a", "4")
	a.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, LastTransitionTime: since}}
	a.Spec.Taints = []corev1.Taint{
		{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule, TimeAdded: &since},
		{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute, TimeAdded: &since},
	}
	web := running(enginetest.Pod("web-0", enginetest.On("a")), "ReplicaSet", "web", 5, 30)
	web.Spec.Tolerations = []corev1.Toleration{{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(300))}}
	l := lost(t, scenario.LossQuestion{NodeChoice: chosen("a")}, a, node("b", "4"), web)
	const want = `
zone  1/2 Normal zone/normal
a not ready 0 tainted 0
web-0 taint wave 0 at 200: web-0-2 at 200 on "b" ready 205
`
	if got := toldLoss(l); strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant%s", got, want)
	}
}

// TestBindsWake: a pod that waits for another one to be near is tried again once that is bound.
func TestBindsWake(t *testing.T) {
	web := running(enginetest.Pod("web-0", enginetest.Labels("app", "web"), enginetest.Requests("cpu", "1"), enginetest.On("a")), "ReplicaSet", "web", 5, 30)
	near := enginetest.Pod("near", enginetest.Priority(10), enginetest.Requests("cpu", "1"), enginetest.Near(enginetest.PodTerm(corev1.LabelHostname, enginetest.Match("app", "web"))))
	d := drained(t, scenario.DrainQuestion{NodeChoice: chosen("a")}, node("a", "1"), node("b", "4"), web, near)
	if len(d.Others) != 1 || d.Others[0].Node != "b" || *d.Others[0].ReadyAfterSeconds != 0 {
		t.Errorf("%+v", d.Others)
	}
}

// TestJobWaitsForDeadPod: by its policy a Job replaces a pod once it is gone, which it never is on
// a dead node.
func TestJobWaitsForDeadPod(t *testing.T) {
	failed := batchv1.Failed
	l := lost(t, scenario.LossQuestion{NodeChoice: chosen("a")}, node("a", "4"), node("b", "4"), jobPod("train-0", "a"), job(batchv1.JobSpec{PodReplacementPolicy: &failed}))
	const want = "Job/train makes another one once the pod is gone"
	if len(l.Pods) != 1 || l.Pods[0].Replacement != nil || l.Pods[0].NotReplaced != want || l.Totals.Held != 1 {
		t.Errorf("%+v, %+v", l.Pods[0], l.Totals)
	}
}

// TestDeletedWhileOthersAreTried: a pod that a preemption of the same pass has deleted, as its Job
// has failed, is not tried any more.
func TestDeletedWhileOthersAreTried(t *testing.T) {
	waits := jobPod("train-1", "")
	waits.Status = corev1.PodStatus{}
	high := enginetest.Pod("high", enginetest.Priority(10), enginetest.Requests("cpu", "2"))
	d := drained(t, scenario.DrainQuestion{NodeChoice: chosen("a")}, node("a", "1"), node("b", "2"), node("c", "1"),
		jobPod("train-0", "b"), jobPod("train-2", "b"), waits, high, job(batchv1.JobSpec{BackoffLimit: new(int32(0))}))
	for _, o := range d.Others {
		if want := map[string]string{"high": "b", "train-1": ""}[o.Name]; o.Node != want {
			t.Errorf("%s is on %q, want %q", o.Name, o.Node, want)
		}
	}
	if len(d.Others) != 2 {
		t.Errorf("%+v", d.Others)
	}
}
