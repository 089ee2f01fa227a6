package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	et "berth/test/enginetest"
)

func TestNodeResourcesFit(t *testing.T) {
	small := func() *corev1.Node { return et.Node("n", et.Allocatable("cpu", "1", "memory", "1Gi", "pods", "2")) }
	ok := map[string]string{"n": "ok"}
	full := list(small(), et.Pod("there", et.On("n"), et.Requests("cpu", "600m")))
	resized := et.Pod("there", et.On("n"), et.Requests("cpu", "100m"))
	resized.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", AllocatedResources: et.Pod("x", et.Requests("cpu", "700m")).Spec.Containers[0].Resources.Requests, Resources: &corev1.ResourceRequirements{}}}
	ignoring := rules.DefaultSpec()
	ignoring.Args.NodeResourcesFit.IgnoredResourceGroups = []string{"example.com"}
	check(t, "NodeResourcesFit", []ruleCase{
		{name: "what is left must hold the request, which preemption could arrange", objects: full, pod: et.Pod("p", et.Requests("cpu", "500m")), want: map[string]string{"n": "Insufficient cpu"}},
		{name: "exactly what is left is enough", objects: full, pod: et.Pod("p", et.Requests("cpu", "400m")), want: ok},
		{name: "more than the node has is beyond help", objects: full, pod: et.Pod("p", et.Requests("cpu", "1100m")), want: map[string]string{"n": "Insufficient cpu!"}},
		{
			name: "all that falls short is named, in order", objects: append(full, et.Pod("second", et.On("n"))),
			pod:     et.Pod("p", et.Requests("memory", "2Gi", "cpu", "500m", "example.com/gpu", "1", "ephemeral-storage", "900Gi")),
			want:    map[string]string{"n": "Too many pods, Insufficient cpu, Insufficient memory, Insufficient ephemeral-storage, Insufficient example.com/gpu!"},
			message: "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient ephemeral-storage, 1 Insufficient example.com/gpu, 1 Insufficient memory, 1 Too many pods.",
		},
		{name: "a pod that asks for nothing needs a place all the same", objects: append(full, et.Pod("second", et.On("n"))), pod: et.Pod("p"), want: map[string]string{"n": "Too many pods"}},
		{name: "a pod that asks for nothing fits an overcommitted node", objects: list(small(), et.Pod("there", et.On("n"), et.Requests("cpu", "3"))), pod: et.Pod("p"), want: ok},
		{
			name: "requests that add up to more than 63 bits leave room, as upstream's sum wraps around", pod: et.Pod("p", et.Requests("memory", "2Gi")), want: map[string]string{"n": "Too many pods"},
			objects: list(small(), et.Pod("huge", et.On("n"), et.Requests("memory", "9223372036854775807")), et.Pod("more", et.On("n"), et.Requests("memory", "2Gi"))),
		},
		{name: "finished pods take no room", objects: list(small(), et.Pod("done", et.On("n"), et.Requests("cpu", "1"), et.Phase(corev1.PodFailed))), pod: et.Pod("p", et.Requests("cpu", "1")), want: ok},
		{name: "terminating pods do", objects: list(small(), et.Pod("going", et.On("n"), et.Requests("cpu", "1"), et.Terminating())), pod: et.Pod("p", et.Requests("cpu", "1")), want: map[string]string{"n": "Insufficient cpu"}},
		{name: "an init container counts where it asks for more than the rest", objects: full, pod: et.Pod("p", et.InitContainer("cpu", "500m"), et.Requests("cpu", "100m")), want: map[string]string{"n": "Insufficient cpu"}},
		{name: "a sidecar runs beside the containers", objects: full, pod: et.Pod("p", et.Sidecar("cpu", "250m"), et.Requests("cpu", "200m")), want: map[string]string{"n": "Insufficient cpu"}},
		{name: "a sidecar that starts later does not add to the init container before it", objects: full, pod: et.Pod("p", et.InitContainer("cpu", "300m"), et.Sidecar("cpu", "200m")), want: ok},
		{name: "one that starts before does", objects: full, pod: et.Pod("p", et.Sidecar("cpu", "200m"), et.InitContainer("cpu", "300m")), want: map[string]string{"n": "Insufficient cpu"}},
		{name: "overhead is added", objects: full, pod: et.Pod("p", et.Requests("cpu", "400m"), et.Overhead("cpu", "1m")), want: map[string]string{"n": "Insufficient cpu"}},
		{name: "pod-level requests replace the sum", objects: full, pod: et.Pod("p", et.Requests("cpu", "900m"), et.PodLevel("cpu", "300m")), want: ok},
		{name: "a pod that is being resized holds the larger amount", objects: list(small(), resized), pod: et.Pod("p", et.Requests("cpu", "400m")), want: map[string]string{"n": "Insufficient cpu"}},
		{name: "ignored groups are left to somebody else", objects: full, spec: &ignoring, pod: et.Pod("p", et.Requests("example.com/gpu", "1")), want: ok},
		{
			name: "LeastAllocated counts stand-ins where nothing is asked", pod: et.Pod("p"),
			objects: list(et.Node("half", et.Allocatable("cpu", "1", "memory", "1000Mi")), et.Node("empty", et.Allocatable("cpu", "10", "memory", "10000Mi")), et.Pod("x", et.On("half"), et.Requests("cpu", "400m"))),
			// half: cpu 1000-400-100 of 1000 is 50, memory 1000-200-200 of 1000 is 60.
			scores: map[string]string{"half": "55/55", "empty": "98/98"},
		},
	})
}

func TestNodeResourcesFitStrategies(t *testing.T) {
	spec := func(s rules.Strategy, resources ...rules.ResourceWeight) *rules.Spec {
		out := rules.DefaultSpec()
		out.Args.NodeResourcesFit.Strategy, out.Args.NodeResourcesFit.Resources = s, resources
		out.Args.NodeResourcesFit.Shape = []rules.ShapePoint{{Utilization: 0, Score: 0}, {Utilization: 100, Score: 10}}
		return &out
	}
	nodes := list(et.Node("gpu", et.Allocatable("cpu", "4", "example.com/gpu", "4")), et.Node("plain", et.Allocatable("cpu", "4")))
	check(t, "NodeResourcesFit", []ruleCase{
		{name: "MostAllocated prefers the fuller node", objects: append(nodes, et.Pod("x", et.On("gpu"), et.Requests("cpu", "1"))), spec: spec(rules.MostAllocated, rules.ResourceWeight{Name: "cpu", Weight: 1}), pod: et.Pod("p", et.Requests("cpu", "1")), scores: map[string]string{"gpu": "50/50", "plain": "25/25"}},
		{
			name: "an extended resource counts only where it is asked for and there", objects: nodes[:1],
			spec: spec(rules.RequestedToCapacityRatio, rules.ResourceWeight{Name: "example.com/gpu", Weight: 3}, rules.ResourceWeight{Name: "cpu", Weight: 1}),
			pod:  et.Pod("p", et.Requests("cpu", "2", "example.com/gpu", "1")),
			// gpu 25 weighs 3, cpu 50 weighs 1: 31.25.
			scores: map[string]string{"gpu": "31/31"},
		},
		{name: "not asked for, it leaves cpu alone to count", objects: nodes, spec: spec(rules.RequestedToCapacityRatio, rules.ResourceWeight{Name: "example.com/gpu", Weight: 3}, rules.ResourceWeight{Name: "cpu", Weight: 1}), pod: et.Pod("p", et.Requests("cpu", "2")), scores: map[string]string{"gpu": "50/50", "plain": "50/50"}},
	})
}

func TestNodeResourcesFitSaysHowMuchIsShort(t *testing.T) {
	objects := list(et.Node("n", et.Allocatable("cpu", "2", "memory", "1Gi")), et.Pod("x", et.On("n"), et.Requests("cpu", "1500m")))
	d := decide(t, ruleCase{objects: objects, pod: et.Pod("p", et.Requests("cpu", "750m", "memory", "2Gi"))})
	want := []engine.Detail{
		{Kind: "resource", Name: "cpu", Requested: ptr(int64(750)), Available: ptr(int64(500)), Capacity: ptr(int64(2000))},
		{Kind: "resource", Name: "memory", Requested: ptr(int64(2 << 30)), Available: ptr(int64(1 << 30)), Capacity: ptr(int64(1 << 30))},
	}
	if diff := cmp.Diff(want, details(t, d, "n")); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}

// TestScoresOfAmountsThatOverflow: the scores on n1 are those that kube-scheduler v1.36.3 works
// out, of which it refuses the ones beyond 0 to 100. Its sums wrap around, so that a node may have
// more left than it offers.
func TestScoresOfAmountsThatOverflow(t *testing.T) {
	for _, tc := range []struct {
		memory, held, asks string
		fit, balance       int64
	}{
		{"1", "7Ei", "0", -4611686018427387819, 75},
		{"1", "7Ei", "1Ki", 4611686018427336789, 75},
		{"1", "7Ei", "1Ei", 2305843009213694037, 75},
		{"1", "7Ei", "2Ei", 85, -4611686018427387785},
		{"1Ki", "7Ei", "1Ki", -4503599627370461, 99},
		{"1Ki", "7Ei", "1Ei", 2251799813685333, 28147497671065671},
		{"1Gi", "7Ei", "0", -4294967211, 69},
		{"1Gi", "7Ei", "2Ei", 85, 53687091268},
		{"64Pi", "7Ei", "0", 21, 69},
		{"64Pi", "7Ei", "1Ei", -11, 469},
		{"64Pi", "7Ei", "2Ei", 85, 868},
		{"1Ei", "7Ei", "0", 33, 69},
		{"1Ei", "7Ei", "1Ei", 31, 93},
		{"1Ei", "7Ei", "2Ei", 37, 118},
		{"3Ei", "7Ei", "1Ei", 35, 77},
		{"3Ei", "7Ei", "2Ei", 34, 85},
		// 100 times the memory is beyond 63 bits.
		{"70Pi", "0", "1Gi", 84, 68},
		{"100Pi", "0", "1Gi", 3, 68},
		{"7Ei", "0", "1Gi", 35, 68},
	} {
		nodes := list(et.Node("n1", et.Allocatable("cpu", "4", "memory", tc.memory, "pods", "10")), et.Node("n2", et.Allocatable("cpu", "8", "memory", "4Ei", "pods", "10")),
			et.Pod("held-1", et.On("n1"), et.Requests("memory", tc.held)), et.Pod("held-2", et.On("n1"), et.Requests("memory", tc.held)))
		d := decide(t, ruleCase{objects: nodes, pod: et.Pod("p", et.Requests("cpu", "1", "memory", tc.asks))})
		got := map[string]int64{}
		for _, s := range d.Nodes[0].Scores {
			got[s.Plugin] = s.Raw
		}
		if got["NodeResourcesFit"] != tc.fit || got["NodeResourcesBalancedAllocation"] != tc.balance {
			t.Errorf("%s with 2 x %s, asked for %s: %v, want %d and %d", tc.memory, tc.held, tc.asks, got, tc.fit, tc.balance)
		}
	}
}
