package podlife

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func gcNode(t *testing.T, text string) *corev1.Node {
	t.Helper()
	n := &corev1.Node{}
	if err := json.Unmarshal([]byte("{"+text+"}"), n); err != nil {
		t.Fatal(err)
	}
	return n
}

// waste is a pod for the collector, on a node that is there unless it says
// otherwise.
func waste(t *testing.T, name, phase, more string) *corev1.Pod {
	t.Helper()
	p := &corev1.Pod{}
	p.Spec.NodeName = "n"
	if err := json.Unmarshal([]byte("{"+more+"}"), p); err != nil {
		t.Fatal(err)
	}
	p.Namespace, p.Name = "ns", name
	p.Status.Phase = corev1.PodPhase(phase)
	return p
}

func swept(list []Garbage) string {
	out := []string{}
	for _, g := range list {
		out = append(out, g.Name+" "+g.Reason)
	}
	return strings.Join(out, ", ")
}

const going = `"metadata":{"deletionTimestamp":"2026-03-01T12:00:00Z","deletionGracePeriodSeconds":30}`

func born(hour int) string {
	return fmt.Sprintf(`"metadata":{"creationTimestamp":"2026-03-01T%02d:00:00Z"}`, hour)
}

// TestGarbageOrder: evicted before older before name, and pods that are being
// deleted count.
func TestGarbageOrder(t *testing.T) {
	evicted := waste(t, "evicted", "Failed", born(9))
	evicted.Status.Reason = "Evicted"
	notFailed := waste(t, "not-failed", "Succeeded", born(8))
	notFailed.Status.Reason = "Evicted"
	pods := []*corev1.Pod{
		waste(t, "b", "Succeeded", born(5)), waste(t, "a", "Failed", born(5)), notFailed, evicted, waste(t, "young", "Failed", born(10)),
		waste(t, "going", "Failed", going), waste(t, "running", "Running", born(1)), waste(t, "unknown", "Unknown", born(1)), waste(t, "pending", "Pending", born(1)),
	}
	nodes := []*corev1.Node{gcNode(t, `"metadata":{"name":"n"}`)}
	for threshold, want := range map[int]string{
		6:                             "",
		5:                             "evicted terminated",
		1:                             "evicted terminated, going terminated, a terminated, b terminated, not-failed terminated",
		0:                             "",
		-3:                            "",
		DefaultTerminatedPodThreshold: "",
	} {
		is(t, fmt.Sprint("threshold ", threshold), swept(collected(t, pods, nodes, threshold, hour)), want)
	}
}

// TestGarbageSteps: upstream's scenarios (gc_controller_test.go), the first step
// that takes a pod giving the reason.
func TestGarbageSteps(t *testing.T) {
	taint := `"spec":{"taints":[{"key":"node.kubernetes.io/out-of-service","effect":"NoSchedule"}]}`
	ready := func(s string) string {
		return `,"status":{"conditions":[{"type":"Ready","status":"` + s + `"}]}`
	}
	nodes := []*corev1.Node{
		gcNode(t, `"metadata":{"name":"n"}`+ready("True")), gcNode(t, `"metadata":{"name":"false"},`+taint+ready("False")), gcNode(t, `"metadata":{"name":"unknown"},`+taint+ready("Unknown")),
		gcNode(t, `"metadata":{"name":"silent"},`+taint), gcNode(t, `"metadata":{"name":"ready"},`+taint+ready("True")), gcNode(t, `"metadata":{"name":"untainted"}`+ready("False")),
	}
	on := func(node, more string) string {
		if more != "" {
			more = "," + more
		}
		return `"spec":{"nodeName":"` + node + `"}` + more
	}
	for _, c := range []struct {
		what, phase, pod string
		threshold        int
		want             string
	}{
		{"going on a node that is out of service", "Running", on("false", going), 1, "p out-of-service"},
		{"the node's state is unknown", "Running", on("unknown", going), 1, "p out-of-service"},
		{"the node has no Ready condition", "Running", on("silent", going), 1, "p out-of-service"},
		{"over, too", "Succeeded", on("silent", going), 5, "p out-of-service"},
		{"the node is ready", "Running", on("ready", going), 1, ""},
		{"the node has no such taint", "Running", on("untainted", going), 1, ""},
		{"it is not going", "Running", on("false", ""), 1, ""},
		{"its node is gone", "Running", on("gone", ""), 1, "p orphaned"},
		{"its node is gone, and it is going", "Pending", on("gone", going), 1, "p orphaned"},
		{"its node is gone, and it is over", "Failed", on("gone", ""), 5, "p orphaned"},
		{"it never had a node and is going", "Pending", on("", going), 1, "p unscheduled"},
		{"it never had a node and is over and going", "Failed", on("", going), 5, "p unscheduled"},
		{"it waits for a node", "Pending", on("", ""), 1, ""},
		{"it runs", "Running", on("n", going), 1, ""},
	} {
		is(t, c.what, swept(collected(t, []*corev1.Pod{waste(t, "p", c.phase, c.pod)}, nodes, c.threshold, hour)), c.want)
	}
	// Two are over, one may stay: the older one is an orphan as well, and goes for
	// the first reason.
	older := waste(t, "older", "Failed", on("gone", born(1)))
	newer := waste(t, "newer", "Failed", on("gone", born(2)))
	is(t, "first step", swept(collected(t, []*corev1.Pod{newer, older}, nodes, 1, hour)), "older terminated, newer orphaned")
}

// TestGarbagePatches: pods that are over have none; orphans are told why.
func TestGarbagePatches(t *testing.T) {
	patch := func(p *corev1.Pod) string {
		list := collected(t, []*corev1.Pod{p}, nil, 1, now)
		if len(list) != 1 {
			t.Fatalf("%v", list)
		}
		if list[0].Patch == nil {
			return ""
		}
		js, err := json.Marshal(list[0].Patch)
		if err != nil {
			t.Fatal(err)
		}
		return string(js)
	}
	is(t, "over", patch(waste(t, "p", "Succeeded", "")), "")
	is(t, "unscheduled", patch(waste(t, "p", "Pending", `"spec":{"nodeName":""},"metadata":{"uid":"u","deletionTimestamp":"2026-03-01T12:00:00Z"}`)), `{"metadata":{"uid":"u"},"status":{"phase":"Failed"}}`)
	const why = `{"lastTransitionTime":"2026-03-01T12:00:00Z","message":"PodGC: node no longer exists","reason":"DeletionByPodGC","status":"True","type":"DisruptionTarget"}`
	is(t, "an orphan", patch(waste(t, "p", "Running", "")), `{"status":{"conditions":[`+why+`],"phase":"Failed"}}`)
	with := func(conditions string) *corev1.Pod {
		p := waste(t, "p", "Running", "")
		if err := json.Unmarshal([]byte(conditions), &p.Status.Conditions); err != nil {
			t.Fatal(err)
		}
		return p
	}
	is(t, "behind another condition", patch(with(`[{"type":"Ready","status":"True"}]`)),
		`{"status":{"$setElementOrder/conditions":[{"type":"Ready"},{"type":"DisruptionTarget"}],"conditions":[`+why+`],"phase":"Failed"}}`)
	// A foreign one is replaced; since when it is true stays.
	is(t, "a foreign one", patch(with(`[{"type":"DisruptionTarget","status":"True","reason":"EvictionByEvictionAPI","message":"x"}]`)),
		`{"status":{"$setElementOrder/conditions":[{"type":"DisruptionTarget"}],"conditions":[{"message":"PodGC: node no longer exists","reason":"DeletionByPodGC","type":"DisruptionTarget"}],"phase":"Failed"}}`)
	is(t, "its own", patch(with(`[{"type":"DisruptionTarget","status":"True","reason":"DeletionByPodGC","message":"PodGC: node no longer exists"}]`)), `{"status":{"phase":"Failed"}}`)
}

// collected is a pass that no context ends.
func collected(t testing.TB, pods []*corev1.Pod, nodes []*corev1.Node, threshold int, now time.Time) []Garbage {
	t.Helper()
	list, err := CollectGarbage(nil, pods, nodes, threshold, now)
	if err != nil {
		t.Fatal(err)
	}
	return list
}
