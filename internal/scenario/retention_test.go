package scenario_test

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/test/enginetest"
)

// pinned are two pods of a StatefulSet on the nodes a and b, each with a volume that its node alone
// reaches. Further claims get volumes on any node.
func pinned(policy appsv1.PodManagementPolicyType, whenScaled appsv1.PersistentVolumeClaimRetentionPolicyType, owned ...metav1.OwnerReference) []any {
	class, first := "fast", storagev1.VolumeBindingWaitForFirstConsumer
	objects := []any{
		alive("a", "4"), alive("b", "4"),
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: "ebs.csi.aws.com", VolumeBindingMode: &first},
		&appsv1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kv"},
			Spec: appsv1.StatefulSetSpec{
				Replicas: new(int32(2)), PodManagementPolicy: policy, Selector: enginetest.Match("app", "kv"),
				VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
					ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}},
				}},
				PersistentVolumeClaimRetentionPolicy: &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenScaled: whenScaled},
			},
		},
	}
	for i, node := range []string{"a", "b"} {
		name := fmt.Sprint("data-kv-", i)
		pair := attached(name)
		claim, pv := pair[0].(*corev1.PersistentVolumeClaim), pair[1].(*corev1.PersistentVolume)
		claim.UID, claim.Spec.StorageClassName, claim.OwnerReferences = "old", &class, owned
		pv.Spec.ClaimRef.UID, pv.Spec.StorageClassName = claim.UID, class
		pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}},
		}}}}
		p := kvPods(i + 1)[i].(*corev1.Pod)
		p.Spec.NodeName, p.UID = node, "pod-uid"
		objects = append(objects, claim, pv, mounting(p, name))
	}
	return objects
}

// TestRetentionWhenScaled scales a set down and up again, while node b takes no pod: a pod whose
// claim went with it gets another volume, and one that has kept its claim waits for node b.
func TestRetentionWhenScaled(t *testing.T) {
	const ordered, parallel = appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement
	const remove, retain = appsv1.DeletePersistentVolumeClaimRetentionPolicyType, appsv1.RetainPersistentVolumeClaimRetentionPolicyType
	controller := true
	other := metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Backup", Name: "x", UID: "x", Controller: &controller}
	set := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "kv", UID: "kv", Controller: &controller}
	for _, c := range []struct {
		what    string
		objects []any
		up      string // when the set is scaled up again; its pod ends by 5 s
		moves   bool
	}{
		{"Retain", pinned(ordered, retain), "1m", false},
		{"Delete", pinned(ordered, remove), "1m", true},
		{"Delete, owned by the set as long as the pod is wanted", pinned(ordered, remove, set), "1m", true},
		{"Delete, with Parallel", pinned(parallel, remove), "1m", true},
		{"a claim of another controller stays", pinned(ordered, remove, other), "1m", false},
		{"scaled up before the pod is gone, the claim goes nevertheless", pinned(ordered, remove), "2s", true},
		{"but not with Parallel, which looks at pods that end", pinned(parallel, remove), "2s", false},
	} {
		t.Run(c.what, func(t *testing.T) {
			out := clocked(t, `{"events":[{"cordon":{"nodes":["b"]}},{"scale":{"kind":"StatefulSet","name":"kv","replicas":1}},{"at":"`+c.up+`","scale":{"kind":"StatefulSet","name":"kv","replicas":2}}]}`, c.objects...).Clock
			got := toldTimeline(out.Timeline)
			if !strings.Contains(got, "5 gone kv-1 b\n") || !strings.Contains(got, " created kv-1\n") || strings.Contains(got, " bound kv-1 a\n") != c.moves || (out.Waiting == 0) != c.moves {
				t.Errorf("%d wait:\n%s", out.Waiting, got)
			}
		})
	}
}
