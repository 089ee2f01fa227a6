package object

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/kube/object/stored"
)

// TestKindsOfControllers: what controllers and admission read is kept, pruned as pods are, and
// other versions of these kinds are passed over, as all were before.
func TestKindsOfControllers(t *testing.T) {
	const template = `"template":{"metadata":{"labels":{"a":"b"},"annotations":{"note":"CANARY"}},"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"x","value":"CANARY"}]}]}}`
	const kept = `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","resources":{}}]}}`
	for _, tt := range []struct{ object, want string }{
		{
			`{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"x","namespace":"d","annotations":{"deployment.kubernetes.io/revision":"3","kubectl.kubernetes.io/last-applied-configuration":"CANARY"}},` +
				`"spec":{"replicas":3,"selector":{"matchLabels":{"a":"b"}},` + template + `,"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%"}},"minReadySeconds":5,"progressDeadlineSeconds":60},` +
				`"status":{"readyReplicas":2,"conditions":[{"type":"Progressing","status":"True","reason":"R","message":"CANARY","lastUpdateTime":"2026-01-01T00:00:00Z"}]}}`,
			`"annotations":{"deployment.kubernetes.io/revision":"3"}},"spec":{"replicas":3,"selector":{"matchLabels":{"a":"b"}},` + kept + `,"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%"}},"minReadySeconds":5,"progressDeadlineSeconds":60},` +
				`"status":{"conditions":[{"type":"Progressing","status":"True","lastUpdateTime":"2026-01-01T00:00:00Z","reason":"R"}]}}`,
		},
		{
			`{"kind":"StatefulSet","apiVersion":"apps/v1","metadata":{"name":"x"},"spec":{"replicas":3,"selector":{"matchLabels":{"a":"b"}},` + template + `,"podManagementPolicy":"Parallel","ordinals":{"start":2},"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Delete"},` +
				`"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"fast"}}]},"status":{"replicas":3,"currentRevision":"x-1","updateRevision":"x-2"}}`,
			kept + `,"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{},"storageClassName":"fast"},"status":{}}],"serviceName":"","podManagementPolicy":"Parallel","updateStrategy":{},` +
				`"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Delete"},"ordinals":{"start":2}},"status":{"replicas":0,"currentRevision":"x-1","updateRevision":"x-2","availableReplicas":0}}`,
		},
		{`{"kind":"ReplicaSet","apiVersion":"apps/v1","metadata":{"name":"x"},"spec":{"selector":{"matchLabels":{"a":"b"}},"minReadySeconds":4,` + template + `}}`, `"minReadySeconds":4,"selector":{"matchLabels":{"a":"b"}},` + kept},
		{`{"kind":"ReplicationController","apiVersion":"v1","metadata":{"name":"x"},"spec":{` + template + `}}`, `"selector":{"a":"b"},` + kept},
		{`{"kind":"DaemonSet","apiVersion":"apps/v1","metadata":{"name":"x"},"spec":{"selector":{"matchLabels":{"a":"b"}},` + template + `,"updateStrategy":{"type":"OnDelete"}}}`, kept + `,"updateStrategy":{"type":"OnDelete"}`},
		{
			`{"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"x","finalizers":["orphan"]},"spec":{"parallelism":2,"completions":4,"completionMode":"Indexed","backoffLimit":3,"podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget","status":"True"}]}]},` + template + `},` +
				`"status":{"active":2,"ready":1,"succeeded":1,"completedIndexes":"0","startTime":"2026-01-01T00:00:00Z","conditions":[{"type":"Suspended","status":"False","lastProbeTime":"2026-01-01T00:00:00Z","message":"CANARY"}]}}`,
			`"finalizers":["orphan"]},"spec":{"parallelism":2,"completions":4,"podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget","status":"True"}]}]},"backoffLimit":3,` + kept + `,"completionMode":"Indexed"},` +
				`"status":{"conditions":[{"type":"Suspended","status":"False"}],"startTime":"2026-01-01T00:00:00Z","succeeded":1,"completedIndexes":"0"}}`,
		},
		{`{"kind":"CronJob","apiVersion":"batch/v1","metadata":{"name":"x"},"spec":{"schedule":"@daily","successfulJobsHistoryLimit":0,"failedJobsHistoryLimit":2,"jobTemplate":{"spec":{"parallelism":2,` + template + `}}},"status":{"lastScheduleTime":"2026-01-01T00:00:00Z"}}`, `"spec":{"schedule":"@daily","jobTemplate":{"metadata":{},"spec":{"parallelism":2,` + kept + `}},"successfulJobsHistoryLimit":0,"failedJobsHistoryLimit":2},"status":{"lastScheduleTime":"2026-01-01T00:00:00Z"}}`},
		{`{"kind":"RuntimeClass","apiVersion":"node.k8s.io/v1","metadata":{"name":"x"},"handler":"kata","overhead":{"podFixed":{"cpu":"0.25"}},"scheduling":{"nodeSelector":{"kata":"yes"},"tolerations":[{"key":"k"}]}}`, `"handler":"kata","overhead":{"podFixed":{"cpu":"250m"}},"scheduling":{"nodeSelector":{"kata":"yes"},"tolerations":[{"key":"k"}]}}`},
		{`{"kind":"LimitRange","apiVersion":"v1","metadata":{"name":"x"},"spec":{"limits":[{"type":"Container","default":{"cpu":"3"}}]}}`, `"spec":{"limits":[{"type":"Container","default":{"cpu":"3"}}]}}`},
		{`{"kind":"ResourceQuota","apiVersion":"v1","metadata":{"name":"x"},"spec":{"hard":{"pods":"3"},"scopes":["BestEffort"]},"status":{"hard":{"pods":"3"},"used":{"pods":"3"}}}`, `"spec":{"hard":{"pods":"3"},"scopes":["BestEffort"]},"status":{"hard":{"pods":"3"},"used":{"pods":"3"}}}`},
	} {
		objs := mustRead(t, tt.object, JSON)
		js := string(objs[0].JSON)
		if !strings.Contains(js, tt.want) || strings.Contains(js, "CANARY") {
			t.Errorf("%s\nwant %s", js, tt.want)
		}
		checkFixedPoint(t, objs)
	}
	objs, ignored, err := readAll(`{"kind":"Deployment","apiVersion":"extensions/v1beta1","metadata":{"name":"x"}}{"kind":"CronJob","apiVersion":"batch/v1beta1","metadata":{"name":"x"}}`, JSON, Limits{})
	if d := cmp.Diff(map[string]int{"Deployment.extensions": 1, "CronJob.batch": 1}, ignored); err != nil || len(objs) > 0 || d != "" {
		t.Errorf("%v, %v (-want +got):\n%s", objs, err, d)
	}
}

// TestUpdateOfOlderPod: a pod that was stored before its runtime class and the others were kept may
// be written again as it is.
func TestUpdateOfOlderPod(t *testing.T) {
	const whole = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","finalizers":["a.example/f"]},"spec":{"runtimeClassName":"kata","containers":[{"name":"c","image":"i","imagePullPolicy":"Always","lifecycle":{"postStart":{"exec":{"command":["x"]}}}}],` +
		`"volumes":[{"name":"v","emptyDir":{"sizeLimit":"1Gi"}}]}}`
	const older = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{"containers":[{"name":"c","image":"i","lifecycle":{}}],"volumes":[{"name":"v","emptyDir":{}}]}}`
	pod := func(js string) *corev1.Pod { return mustRead(t, js, JSON)[0].Value.(*corev1.Pod) }
	now, old := pod(whole), pod(older)
	now.DeletionTimestamp, now.ResourceVersion, old.ResourceVersion = old.DeletionTimestamp, "1", "1"
	if errs := stored.ValidateKeptUpdate(now, old); len(errs) > 0 {
		t.Errorf("an older pod may not be written again: %v", errs)
	}
	other := now.DeepCopy()
	other.Spec.RuntimeClassName = new("runc")
	if errs := stored.ValidateKeptUpdate(other, now); len(errs) == 0 {
		t.Error("a runtime class changes")
	}
}
