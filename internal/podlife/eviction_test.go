package podlife

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/kube/object/apiserver"
)

// consumer is a pod with a priority, a request and a use of what key names; use
// "" stands for no statistics.
func consumer(t *testing.T, name string, priority int32, key, request, use string) Consumer {
	t.Helper()
	p := &corev1.Pod{}
	p.Name, p.Namespace, p.Spec.Priority = name, "ns", &priority
	p.Spec.Containers = []corev1.Container{{Name: "c"}}
	if request != "" {
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceName(key): resource.MustParse(request)}
	}
	c := Consumer{Pod: p}
	if use != "" {
		c.Usage = corev1.ResourceList{corev1.ResourceName(key): resource.MustParse(use)}
	}
	return c
}

func ranked(t *testing.T, signal Signal, pods ...Consumer) string {
	t.Helper()
	list, _, err := RankForEviction(signal, pods)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i, r := range list {
		above := "-"
		if r.UsageAboveRequests != nil {
			above = r.UsageAboveRequests.String()
		}
		if (i > 0) != (r.Why != "") || r.NoStats != (r.UsageAboveRequests == nil) {
			t.Errorf("%+v", r)
		}
		out = append(out, fmt.Sprint(r.Name, " ", r.ExceedsRequests, " ", above))
	}
	return strings.Join(out, ", ")
}

// TestEvictionRanking: the kubelet ranks pods first by whether their usage of the
// starved resource exceeds requests, then by priority, and then by the usage above
// the requests. Of two pods the one above its requests goes first, whatever its
// priority.
func TestEvictionRanking(t *testing.T) {
	is(t, "memory", ranked(t, SignalMemory,
		consumer(t, "low-within", -10, "memory", "1Gi", "900Mi"),
		consumer(t, "high-above", 1000, "memory", "1Gi", "1100Mi"),
		consumer(t, "mid-above", 10, "memory", "1Gi", "1025Mi"),
		consumer(t, "mid-far-above", 10, "memory", "100Mi", "1Gi"),
		consumer(t, "exact", -20, "memory", "1Gi", "1Gi"),
		consumer(t, "unknown", 1000, "memory", "1Gi", ""),
	), "unknown false -, mid-far-above true 924Mi, mid-above true 1Mi, high-above true 76Mi, exact false 0, low-within false -124Mi")
}

// TestRankingBySignal: upstream's scenarios (helpers_test.go TestOrderedBy…).
func TestRankingBySignal(t *testing.T) {
	is(t, "disk", ranked(t, SignalDisk,
		consumer(t, "below", 0, "ephemeral-storage", "200Mi", "150Mi"), consumer(t, "above", 5, "ephemeral-storage", "100Mi", "150Mi"),
		consumer(t, "best-effort", 5, "ephemeral-storage", "", "100Mi")),
		"best-effort true 100Mi, above true 50Mi, below false -50Mi")
	// Requests play no part in pids, nor do missing statistics before priority.
	is(t, "pids", ranked(t, SignalPIDs,
		consumer(t, "few", 0, "pids", "", "10"), consumer(t, "many", 0, "pids", "", "900"), consumer(t, "high", 5, "pids", "", "5000"), consumer(t, "unknown", 1, "pids", "", ""), consumer(t, "known", 1, "pids", "", "1")),
		"many false 900, few false 10, unknown false -, known false 1, high false 5k")
	// Of inodes the request for storage is taken off.
	asks := consumer(t, "asks", 0, "inodes", "", "700")
	asks.Pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"ephemeral-storage": resource.MustParse("500")}
	is(t, "inodes", ranked(t, SignalInodes, asks, consumer(t, "plain", 0, "inodes", "", "300")), "plain true 300, asks true 200")
	is(t, "equals", ranked(t, SignalMemory, consumer(t, "b", 0, "memory", "", "1"), consumer(t, "a", 0, "memory", "", "1")), "a true 1, b true 1")
	if _, _, err := RankForEviction("cpu", nil); err == nil || err.Field != "signal" {
		t.Errorf("%v", err)
	}
}

func TestProtectedPods(t *testing.T) {
	pod := func(name string, priority int32, annotation, value string) Consumer {
		c := consumer(t, name, priority, "memory", "", "1")
		if annotation != "" {
			c.Pod.Annotations = map[string]string{annotation: value}
		}
		return c
	}
	list, protected, err := RankForEviction(SignalMemory, []Consumer{
		pod("critical", 2000000000, "", ""), pod("nearly", 1999999999, "", ""), pod("mirror", 0, "kubernetes.io/config.mirror", "x"), pod("static", 0, "kubernetes.io/config.source", "file"), pod("ours", 0, "kubernetes.io/config.source", "api"),
	})
	if err != nil || len(list) != 2 || list[0].Name != "ours" || list[1].Name != "nearly" {
		t.Errorf("%+v, %v", list, err)
	}
	is(t, "protected", protected, "[{ns critical critical: its priority is 2000000000 or more} {ns mirror mirror of a static pod} {ns static static: it comes from file}]")
}

// TestRequestsForEviction: as the scheduler counts them, but with overhead only
// beside something.
func TestRequestsForEviction(t *testing.T) {
	for what, c := range map[string]struct{ spec, want string }{
		"limits stand for requests": {`"containers":[{"name":"c","resources":{"limits":{"memory":"10"}}}]`, "10"},
		"containers are summed":     {`"containers":[{"name":"c","resources":{"requests":{"memory":"10"}}},{"name":"d","resources":{"requests":{"memory":"5"}}}]`, "15"},
		"a larger init container":   {`"initContainers":[{"name":"i","resources":{"requests":{"memory":"50"}}}],"containers":[{"name":"c","resources":{"requests":{"memory":"10"}}}]`, "50"},
		"a sidecar":                 {`"initContainers":[{"name":"i","restartPolicy":"Always","resources":{"requests":{"memory":"50"}}}],"containers":[{"name":"c","resources":{"requests":{"memory":"10"}}}]`, "60"},
		"of the pod":                {`"resources":{"requests":{"memory":"99"}},"containers":[{"name":"c","resources":{"requests":{"memory":"10"}}}]`, "99"},
		"with overhead":             {`"overhead":{"memory":"7"},"containers":[{"name":"c","resources":{"requests":{"memory":"10"}}}]`, "17"},
		"overhead alone":            {`"overhead":{"memory":"7"},"containers":[{"name":"c"}]`, "0"},
	} {
		p := &corev1.Pod{}
		if err := json.Unmarshal([]byte(`{"spec":{`+c.spec+`}}`), p); err != nil {
			t.Fatal(err)
		}
		apiserver.SetPodDefaults(p)
		q := requestOf(p, usageMemory)
		is(t, what, q.String(), c.want)
	}
}

// TestEndedPodsAreNotRanked: a finished Job's pod has no statistics, and would
// else come first. That it is deleted and held by a finalizer makes it no more
// active; containers that still run do.
func TestEndedPodsAreNotRanked(t *testing.T) {
	ended := func(name string, phase corev1.PodPhase, deleted bool, state corev1.ContainerState) Consumer {
		c := consumer(t, name, 0, "memory", "", "")
		c.Pod.Status.Phase = phase
		if deleted {
			c.Pod.DeletionTimestamp, c.Pod.Finalizers = new(before(1)), []string{"example.com/held"}
		}
		c.Pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: state}}
		return c
	}
	stopped := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
	runs := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	side := ended("side", corev1.PodSucceeded, true, stopped)
	side.Pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "side", State: runs}}
	list, protected, err := RankForEviction(SignalMemory, []Consumer{
		ended("done", corev1.PodSucceeded, false, stopped), ended("held", corev1.PodSucceeded, true, stopped), ended("unsaid", corev1.PodFailed, true, corev1.ContainerState{}),
		ended("stopping", corev1.PodFailed, false, runs), ended("dying", corev1.PodFailed, true, runs), side,
		consumer(t, "web", 0, "memory", "1Gi", "2Gi"),
	})
	var ranked, left []string
	for _, r := range list {
		ranked = append(ranked, r.Name)
	}
	for _, p := range protected {
		left = append(left, p.Name)
		if !strings.HasPrefix(p.Why, "over: ") {
			t.Errorf("%s: %s", p.Name, p.Why)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	is(t, "ranked", ranked, []string{"dying", "side", "stopping", "web"})
	is(t, "left out", left, []string{"done", "held", "unsaid"})
}

// TestRemedyOfARefusedEviction: a pod that is not ready may go once its budget lets such pods go; a
// ready one may not.
func TestRemedyOfARefusedEviction(t *testing.T) {
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name, pod.Labels = "shop", "web-1", map[string]string{"app": "web"}
	pod.Status.Phase = corev1.PodRunning
	b := &policyv1.PodDisruptionBudget{}
	b.Namespace, b.Name, b.Spec.Selector = "shop", "web", &metav1.LabelSelector{MatchLabels: pod.Labels}
	b.Status.CurrentHealthy, b.Status.DesiredHealthy = 0, 1
	budgets := []*policyv1.PodDisruptionBudget{b}
	v := JudgeEviction(pod, budgets, false)
	if r := v.Remedy; v.Allowed || r == nil || r.Command != `kubectl patch pdb web -n shop --type=merge -p '{"spec":{"unhealthyPodEvictionPolicy":"AlwaysAllow"}}'` || b.Spec.UnhealthyPodEvictionPolicy != nil {
		t.Errorf("%+v", v)
	}
	if v = JudgeEviction(pod, budgets, true); v.Allowed || v.Remedy != nil {
		t.Errorf("a ready pod: %+v", v)
	}
	b.Spec.UnhealthyPodEvictionPolicy = new(policyv1.AlwaysAllow)
	if v = JudgeEviction(pod, budgets, false); !v.Allowed || v.Remedy != nil {
		t.Errorf("with the policy: %+v", v)
	}
}
