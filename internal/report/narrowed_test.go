package report_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain/suggest"
	"berth/internal/engine/rules"
	"berth/internal/report"
	"berth/test/enginetest"
)

// TestNoNode: the nodes that a pod wants come first, and then what those lack.
func TestNoNode(t *testing.T) {
	keepOut := func(key string) enginetest.NodeOption {
		return enginetest.Taint(key, "", corev1.TaintEffectNoSchedule)
	}
	var pool []any
	for i := range 18 {
		n := enginetest.Node(fmt.Sprint("general-", i), enginetest.NodeLabels("pool", "general"), enginetest.Zone("a"))
		switch i {
		case 16:
			enginetest.Cordoned()(n)
		case 17:
			keepOut(corev1.TaintNodeUnreachable)(n)
		}
		pool = append(pool, n)
	}
	for i := range 6 {
		n := enginetest.Node(fmt.Sprint("gpu-", i), enginetest.NodeLabels("pool", "gpu"), enginetest.Zone("b"), keepOut("gpu"), enginetest.Allocatable("example.com/gpu", "1"))
		if i == 5 {
			keepOut(corev1.TaintNodeNotReady)(n)
		} else {
			pool = append(pool, enginetest.Pod(fmt.Sprint("train-", i), enginetest.On(n.Name), enginetest.Requests("example.com/gpu", "1"), enginetest.Owner("batch/v1", "Job", "train")))
		}
		pool = append(pool, n)
	}
	tolerant := enginetest.Tolerate("gpu", corev1.TolerationOpExists, "", "")
	gpu := enginetest.Requests("example.com/gpu", "1")
	for _, c := range []struct {
		want string
		opts []enginetest.PodOption
	}{
		{"No node fits: 6 of 24 have example.com/gpu; 5 are taken by default/train, 1 is not Ready.", []enginetest.PodOption{gpu, tolerant}},
		{"No node fits: 6 of 24 have example.com/gpu; 5 are taken by default/train, 1 is not Ready.", []enginetest.PodOption{enginetest.Requests("example.com/gpu", "1", "cpu", "5"), tolerant}},
		{"No node fits: the 6 nodes that have example.com/gpu have a taint that it does not tolerate: gpu:NoSchedule.", []enginetest.PodOption{gpu}},
		{"No node fits: none has example.com/tpu.", []enginetest.PodOption{enginetest.Requests("example.com/tpu", "1")}},
		{"No node fits: none of the 18 nodes that match its nodeSelector pool=general has example.com/gpu.", []enginetest.PodOption{gpu, enginetest.Selects("pool", "general")}},
		{"No node fits: none has pool=genral; did you mean general (18 nodes)?", []enginetest.PodOption{enginetest.Selects("pool", "genral")}},
		{"No node fits: none has pool=database; there are general, gpu.", []enginetest.PodOption{enginetest.Selects("pool", "database")}},
		{"No node fits: none has pol=gpu; did you mean pool=gpu (6 nodes)?", []enginetest.PodOption{enginetest.Selects("pol", "gpu")}},
		{"No node fits: none has zone=a; did you mean topology.kubernetes.io/zone=a (18 nodes)?", []enginetest.PodOption{enginetest.Selects("zone", "a")}},
		{"No node fits: none has all of pool=gpu,topology.kubernetes.io/zone=a.", []enginetest.PodOption{enginetest.Selects("pool", "gpu", corev1.LabelTopologyZone, "a")}},
		{"No node fits: 18 of 24 have no taint against it; 16 lack cpu even when empty, 1 is cordoned, 1 is not Ready.", []enginetest.PodOption{enginetest.Requests("cpu", "5")}},
		{"No node fits: it is for node gone, which is not there.", []enginetest.PodOption{enginetest.RequireNodes(enginetest.FieldTerm(enginetest.Expr("metadata.name", corev1.NodeSelectorOpIn, "gone")))}},
		{"No node fits: it is for node general-3, which lacks cpu even when empty.", []enginetest.PodOption{enginetest.RequireNodes(enginetest.FieldTerm(enginetest.Expr("metadata.name", corev1.NodeSelectorOpIn, "general-3"))), enginetest.Requests("cpu", "5")}},
		{"No node fits: the only node that matches its node affinity lacks example.com/gpu.", []enginetest.PodOption{enginetest.RequireNodes(enginetest.FieldTerm(enginetest.Expr("metadata.name", corev1.NodeSelectorOpIn, "general-3"))), gpu}},
	} {
		if got := noNode(t, pool, enginetest.Pod("p", c.opts...)); got != c.want {
			t.Errorf("\n got %s\nwant %s", got, c.want)
		}
	}
}

// noNode decides about a pod on a state of some objects.
func noNode(t *testing.T, objects []any, pod *corev1.Pod) string {
	t.Helper()
	s, err := enginetest.State(objects...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := rules.Build(rules.DefaultSpec())
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.Decide(s, pod, p, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	groups, narrowed := suggest.NamedGroups(r, 0)
	return report.NoNode(s.Nodes().Len(), groups, narrowed)
}

// TestHoldersInTheHeadline: who has what is short is told where it is one or two owners on all of
// the nodes, and where the sentence has room for them.
func TestHoldersInTheHeadline(t *testing.T) {
	on := func(name, node, job string, opts ...enginetest.PodOption) any {
		return enginetest.Pod(name, append(opts, enginetest.On(node), enginetest.Owner("batch/v1", "Job", job))...)
	}
	gpu := func(n string) enginetest.PodOption { return enginetest.Requests("example.com/gpu", n) }
	two := []any{enginetest.Node("a", enginetest.Allocatable("example.com/gpu", "2")), enginetest.Node("b", enginetest.Allocatable("example.com/gpu", "2")), enginetest.Node("c")}
	long := strings.Repeat("long-name-", 6)
	for name, c := range map[string]struct {
		objects []any
		pod     *corev1.Pod
		want    string
	}{
		"two owners": {
			append(slices.Clone(two), on("x", "a", "one", gpu("2")), on("y", "b", "two", gpu("2"))), enginetest.Pod("p", gpu("1")),
			"No node fits: 2 of 3 have example.com/gpu, and are taken by default/one and default/two.",
		},
		"some is left": {
			append(slices.Clone(two), on("x", "a", "one", gpu("1")), on("y", "b", "one", gpu("1"))), enginetest.Pod("p", gpu("2")),
			"No node fits: 2 of 3 have example.com/gpu, and have too few left beside default/one.",
		},
		"three owners": {
			append(slices.Clone(two), on("x", "a", "one", gpu("1")), on("z", "a", "three", gpu("1")), on("y", "b", "two", gpu("2"))), enginetest.Pod("p", gpu("1")),
			"No node fits: 2 of 3 have example.com/gpu, and have too few of them left.",
		},
		"no room for the names": {
			append(slices.Clone(two), on("x", "a", long, gpu("2")), on("y", "b", "x"+long, gpu("2"))), enginetest.Pod("p", gpu("1")),
			"No node fits: 2 of 3 have example.com/gpu, and have too few of them left.",
		},
		"a port": {
			[]any{enginetest.Node("a"), enginetest.Pod("x", enginetest.On("a"), enginetest.HostPort("", "TCP", 80))},
			enginetest.Pod("p", enginetest.HostPort("", "TCP", 80)),
			"No node fits: of 1 node 1 has its host port taken by default/x.",
		},
		"pods it avoids": {
			[]any{enginetest.Node("a"), on("x", "a", "one", enginetest.Labels("app", "a"))},
			enginetest.Pod("p", enginetest.Away(enginetest.PodTerm(corev1.LabelHostname, enginetest.Match("app", "a")))),
			"No node fits: of 1 node 1 has pods it avoids, of default/one.",
		},
		"an empty node would lack it, too": {
			[]any{enginetest.Node("a", enginetest.Allocatable("cpu", "2")), on("x", "a", "one", enginetest.Requests("cpu", "1"))},
			enginetest.Pod("p", enginetest.Requests("cpu", "3")),
			"No node fits: of 1 node 1 lacks cpu even when empty.",
		},
	} {
		if got := noNode(t, c.objects, c.pod); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}
