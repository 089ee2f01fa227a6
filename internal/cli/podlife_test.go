package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var podsFile = filepath.Join("testdata", "pods.yaml")

// Answers about whole pods, without a server or a snapshot.
func TestGoldenPods(t *testing.T) {
	for _, c := range []struct {
		name string
		code int
		args []string
	}{
		{"lifecycle-crash", exitNo, []string{"lifecycle", "shop/crash", "-f", podsFile}},
		{"lifecycle-well", exitYes, []string{"lifecycle", "shop/well", "-f", podsFile}},
		{"lifecycle-init", exitNo, []string{"lifecycle", "init", "-n", "shop", "-f", podsFile}},
		{"lifecycle-node-gone", exitNo, []string{"lifecycle", "shop/well", "-f", podsFile, "--node-gone"}},
		{"lifecycle-node-lost", exitNo, []string{"lifecycle", "shop/well", "-f", podsFile, "--node-lost-since", "2026-11-21T09:28:00Z"}},
		{"lifecycle-restart-period", exitNo, []string{"lifecycle", "shop/crash", "-f", podsFile, "--max-container-restart-period", "20s"}},
		{"lifecycle-later", exitNo, []string{"lifecycle", "shop/crash", "-f", podsFile, "--now", "2026-11-21T10:30:00Z"}},
		{"lifecycle-events", exitYes, []string{"lifecycle", "shop/well", "-f", podsFile, "--event", "exit=1@30s,container=web", "--event", "exit=1@2026-11-21T09:31:00Z,container=web", "--until", "10m", "--exit", "web=3"}},
		{"lifecycle-list", exitNo, []string{"lifecycle", "-f", podsFile}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := call{}.run(t, c.args...)
			if r.code != c.code || r.err != "" {
				t.Errorf("code %d, stderr %q", r.code, r.err)
			}
			golden(t, c.name, r.out)
			within(t, standardWidth, r.out)
		})
	}
}

// Stdin is a file like any other: with -, and without a word where something is piped in.
func TestPodsOnStdin(t *testing.T) {
	raw, err := os.ReadFile(podsFile)
	if err != nil {
		t.Fatal(err)
	}
	want := call{}.run(t, "lifecycle", "-f", podsFile)
	for _, args := range [][]string{{"lifecycle", "-"}, {"lifecycle"}, {"lifecycle", "-f", "-"}} {
		if got := (call{in: string(raw)}).run(t, args...); got != want {
			t.Errorf("%v: %+v", args, got)
		}
	}
	one := (call{in: string(raw)}).run(t, "lifecycle", "shop/crash", "-f", "-", "-o", "json")
	var life struct{ Status string }
	if err := json.Unmarshal([]byte(one.out), &life); err != nil || life.Status != "CrashLoopBackOff" || one.code != exitNo {
		t.Errorf("%v %+v", err, one)
	}
	lines := strings.Split(strings.TrimSpace((call{in: string(raw)}).run(t, "lifecycle", "-", "-o", "json").out), "\n")
	for i, name := range []string{"crash", "well", "lost", "init", "waiting"} {
		var line struct {
			Name      string
			Lifecycle struct{ Phase string }
		}
		if err := json.Unmarshal([]byte(lines[i]), &line); err != nil || line.Name != name || line.Lifecycle.Phase == "" {
			t.Errorf("%d: %v %s", i, err, lines[i])
		}
	}
}

// The nodes in the same file as the pods count: on one that is not Ready no pod is healthy.
func TestLifecycleNodeLost(t *testing.T) {
	r := call{}.run(t, "lifecycle", "shop/lost", "-f", podsFile)
	if r.code != exitNo || !strings.HasPrefix(r.out, "Running  shop/lost") || !strings.Contains(r.out, "The node is not Ready") {
		t.Errorf("%+v", r)
	}
	within(t, standardWidth, r.out)
}

// A snapshot is a whole cluster: a node that it does not have is gone.
func TestLifecycleFromSnapshot(t *testing.T) {
	gone := strings.Replace(mustRead(t, podsFile), "nodeName: n-a1", "nodeName: n-z9", 1)
	file := filepath.Join(t.TempDir(), "cluster.yaml")
	if err := os.WriteFile(file, []byte(gone), 0o600); err != nil {
		t.Fatal(err)
	}
	r := call{}.run(t, "lifecycle", "shop/crash", "--snapshot", file)
	if r.code != exitNo || !strings.Contains(r.out, "phase Failed") || !strings.Contains(r.out, "DeletionByPodGC") {
		t.Errorf("%+v", r)
	}
	if r := (call{}).run(t, "lifecycle", "shop/crash", "-f", file); strings.Contains(r.out, "DeletionByPodGC") {
		t.Errorf("some nodes beside a pod are not all there are: %+v", r)
	}
}

func mustRead(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// How the last run ended is the first thing that one reads of a crash loop: also in explain, from
// a snapshot and from the pod alone.
func TestExplainShowsLastRun(t *testing.T) {
	oom := strings.Replace(mustRead(t, podsFile), "{exitCode: 1, reason: Error,", "{exitCode: 137, reason: OOMKilled, message: heap of 512 MiB is full,", 1)
	file := filepath.Join(t.TempDir(), "cluster.yaml")
	if err := os.WriteFile(file, []byte(oom), 0o600); err != nil {
		t.Fatal(err)
	}
	const want = "Its status is CrashLoopBackOff after OOMKilled (137): Container web waits"
	for _, args := range [][]string{{"explain", "shop/crash"}, {"explain", "shop/crash", "-f", file}} {
		if r := (call{}).run(t, append(args, "--snapshot", file)...); !strings.Contains(r.out, want) {
			t.Errorf("%v: %+v", args, r)
		}
	}
	r := call{}.run(t, "lifecycle", "shop/crash", "-f", file)
	if !strings.HasPrefix(r.out, "CrashLoopBackOff  shop/crash   after OOMKilled (137), ") || !strings.Contains(r.out, "heap of 512 MiB") {
		t.Errorf("%+v", r)
	}
	if r := (call{}).run(t, "lifecycle", "-f", file, "-o", "wide"); !strings.Contains(r.out, "CrashLoopBackOff: OOMKilled (137)") {
		t.Errorf("%+v", r)
	}
	if r := (call{}).run(t, "explain", "shop/well", "--snapshot", file); strings.Contains(r.out, "Its status") {
		t.Errorf("%+v", r)
	}
}

// What should have happened before is so long ago, and says by how much it is late.
func TestTerminationOverdue(t *testing.T) {
	deleted := strings.Replace(mustRead(t, podsFile), "{name: crash, namespace: shop}", `{name: crash, namespace: shop, deletionTimestamp: "2026-11-21T09:08:00Z", deletionGracePeriodSeconds: 45}`, 1)
	r := call{in: deleted}.run(t, "termination", "shop/crash", "-f", "-")
	if !strings.HasPrefix(r.out, "OVERDUE BY 22m  shop/crash") || strings.Contains(r.out, "+-") || !strings.Contains(r.out, " -22m") {
		t.Errorf("%+v", r)
	}
}

// What an API server never took has no life and no end, from a file as over REST.
func TestPodsThatNobodyTook(t *testing.T) {
	for what, c := range map[string]struct{ in, want string }{
		"no containers":   {"kind: Pod\nmetadata: {name: p}\nspec: {nodeName: n1}\n", "a pod has one container at least"},
		"another version": {"kind: Pod\napiVersion: v2\nmetadata: {name: p}\nspec: {containers: [{name: c}]}\n", "pod.apiVersion: "},
		"no name":         {"kind: Pod\nspec: {containers: [{name: c}]}\n", "pod 1 has no metadata.name"},
		"the second":      {"kind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}]}\n---\nspec: {containers: [{name: c}]}\n", "pod 2 has no metadata.name"},
	} {
		for _, command := range []string{"lifecycle", "termination"} {
			if r := (call{in: c.in}).run(t, command, "-f", "-"); r.code != exitBroken || r.out != "" || !strings.Contains(r.err, c.want) {
				t.Errorf("%s, %s: %+v", command, what, r)
			}
		}
	}
}

// A negative grace period is none, as kubectl has it.
func TestNegativeGracePeriod(t *testing.T) {
	run := func(args ...string) result {
		return call{}.run(t, append([]string{"termination", "shop/well", "-f", podsFile}, args...)...)
	}
	for _, c := range []struct{ with, without []string }{
		{[]string{"--grace-period", "-1"}, nil},
		{[]string{"--grace-period", "-9", "--cause", "api-eviction"}, []string{"--cause", "api-eviction"}},
		{[]string{"--then", "delete@10s,grace-period=-1", "--cause", "evict-soft"}, []string{"--then", "delete@10s", "--cause", "evict-soft"}},
	} {
		if a, b := run(c.with...), run(c.without...); a != b || a.code == exitBroken {
			t.Errorf("%v: %+v, want %+v", c.with, a, b)
		}
	}
	for want, args := range map[string][]string{
		"the node's share must not be negative": {"--grace-period", "-1", "--cause", "shutdown"},
		"it means gracePeriodSeconds 0":         {"--grace-period", "5", "--force"},
	} {
		if r := run(args...); r.code != exitBroken || !strings.Contains(r.err, want) {
			t.Errorf("%v: %+v", args, r)
		}
	}
	r := call{}.run(t, "lose", "worker-1", "--remove-after", "-5", "--snapshot", drains)
	if r.code != exitBroken || !strings.Contains(r.err, "removeAfterSeconds") {
		t.Errorf("%+v", r)
	}
}

func TestLifecycleRefusesEvents(t *testing.T) {
	for event, want := range map[string]string{
		"exit=1":                              "want what happens and when",
		"exit@30s":                            "want what happens and when",
		"exit=1@soon,container=web":           "want a duration from now",
		"exit=x@1s,container=web":             "exit=x: want a whole number",
		"exit=1@1s,container=web,until=never": "until: want a duration",
		"exit=1@1s,containers=web":            "containers=web: want container=NAME or until=WHEN",
		"exit=1@1s,container=nobody":          "events[0].container",
		"exit=1@-1s,container=web":            "must not be before now",
		"liveness=Failure@1s,container=web":   "has no such probe",
		"liveness=Sometimes@1s,container=web": "events[0].result",
		"node=found@1s":                       "events[0].node",
	} {
		r := call{}.run(t, "lifecycle", "shop/well", "-f", podsFile, "--event", event)
		if r.code != exitBroken || r.out != "" || !strings.Contains(r.err, want) {
			t.Errorf("%s: %+v", event, r)
		}
	}
	if r := (call{}).run(t, "lifecycle", "shop/well", "-f", podsFile, "--until", "tomorrow"); r.code != exitBroken || !strings.Contains(r.err, "--until") {
		t.Errorf("%+v", r)
	}
}

// That a node does not report is said of the pod that is on it, and of one that would go there.
func TestExplainUnreadyNode(t *testing.T) {
	const cluster = `apiVersion: v1
kind: List
items:
- {kind: Node, apiVersion: v1, metadata: {name: n1}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}, conditions: [{type: Ready, status: Unknown}]}}
- {kind: Pod, apiVersion: v1, metadata: {name: "on", namespace: default}, spec: {nodeName: n1, containers: [{name: c, image: i}]}, status: {phase: Running}}
- {kind: Pod, apiVersion: v1, metadata: {name: new, namespace: default}, spec: {containers: [{name: c, image: i}]}, status: {phase: Pending}}
`
	file := filepath.Join(t.TempDir(), "cluster.yaml")
	if err := os.WriteFile(file, []byte(cluster), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ pod, want string }{
		{"on", "BOUND  default/on   its node is NotReady\n\nIt is on n1, which is NotReady: what it shows"},
		{"on", "NOTE    node n1 is not Ready by its condition and has no taint"},
		{"new", "NOTE    node n1 is not Ready by its condition and has no taint"},
	} {
		if r := (call{}).run(t, "explain", c.pod, "--snapshot", file); r.code != exitYes || !strings.Contains(r.out, c.want) {
			t.Errorf("%s: %+v", c.pod, r)
		}
	}
	if r := (call{}).run(t, "fit", "new", "--snapshot", file); !strings.Contains(r.out, "node n1 is not Ready by its condition") {
		t.Errorf("%+v", r)
	}
}
