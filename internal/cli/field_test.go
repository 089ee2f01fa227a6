package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Inputs after public bug reports, which earlier versions answered wrongly.
const fieldInputs = "testdata/field/"

// TestGoldenHookThatHangs: a hook that never returns takes the period, and the container has 2 s
// after it (kubernetes issues 115817, 117373, 127339).
func TestGoldenHookThatHangs(t *testing.T) {
	for name, args := range map[string][]string{"termination-hook-unknown": nil, "termination-hook-known": {"--pre-stop", "app=59"}} {
		r := call{}.run(t, append([]string{"termination", "-f", fieldInputs + "prestop-hangs.yaml", "--now", "2026-09-02T10:00:00Z"}, args...)...)
		if r.code != exitYes {
			t.Errorf("%s: %+v", name, r)
		}
		golden(t, name, r.out)
		within(t, standardWidth, r.out)
	}
}

// TestGoldenRefusedEviction: a kubelet never evicts a critical pod; the command ends as for an
// eviction that the API refuses.
func TestGoldenRefusedEviction(t *testing.T) {
	pod := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"dns","namespace":"kube-system"},"spec":{"nodeName":"n1","priority":2000000000,"containers":[{"name":"c","image":"i"}]},"status":{"phase":"Running"}}`
	r := call{in: pod}.run(t, "termination", "-", "--cause", "evict-hard")
	if r.code != exitNo {
		t.Errorf("%+v", r)
	}
	golden(t, "termination-refused", r.out)
}

// TestExitCodeFlag: a container that dies of SIGTERM fails its pod.
func TestExitCodeFlag(t *testing.T) {
	pod := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"job"},"spec":{"nodeName":"n1","restartPolicy":"Never","containers":[{"name":"c","image":"i"}]},"status":{"phase":"Running"}}`
	r := call{in: pod}.run(t, "termination", "-", "--exit", "c=3", "--exit-code", "c=143")
	if !strings.Contains(r.out, "With these exits its phase is Failed, after 3s.") {
		t.Errorf("%+v", r)
	}
	if r = (call{in: pod}).run(t, "termination", "-", "--exit-code", "c=143"); r.code != exitBroken {
		t.Errorf("%+v", r)
	}
}

// TestExitCodeOfAStop: a container that its liveness probe stops runs again where it exits with
// something else than 0.
func TestExitCodeOfAStop(t *testing.T) {
	const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"job"},"spec":{"nodeName":"n1","restartPolicy":"OnFailure","containers":[{"name":"c","image":"i","livenessProbe":{"exec":{"command":["x"]},"periodSeconds":5,"failureThreshold":2}}]},
		"status":{"phase":"Running","startTime":"2026-11-21T09:00:00Z","containerStatuses":[{"name":"c","ready":true,"started":true,"state":{"running":{"startedAt":"2026-11-21T09:00:00Z"}}}]}}`
	_, online := uploaded(t)
	for code, want := range map[string]string{"c=0": "phase Succeeded", "c=143": "c: container restarted"} {
		args := []string{"lifecycle", "-", "--event", "liveness=Failure@10s,container=c,until=16s", "--exit", "c=3", "--exit-code", code}
		here := call{in: pod}.run(t, args...)
		if there := (call{in: pod, env: online.env}).run(t, args...); !strings.Contains(here.out, want) || here != there {
			t.Errorf("%s: %+v, by the server %+v", code, here, there)
		}
	}
	if r := (call{in: pod}).run(t, "lifecycle", "-", "--event", "exit=1@1s,container=c", "--exit-code", "c=143"); r.code != exitBroken || !strings.Contains(r.err, "exitCodes") {
		t.Errorf("%+v", r)
	}
}

// TestGoldenClaimThatNothingBinds: a pod that came with spec.nodeName, and a claim that waits for a
// scheduler, never starts (openebs 2915, lvm-localpv 379).
func TestGoldenClaimThatNothingBinds(t *testing.T) {
	cluster := fieldInputs + "nodename-wffc.yaml"
	for name, args := range map[string][]string{
		"lifecycle-claim-unbound": {"lifecycle", "default/pinned"}, "explain-claim-unbound": {"explain", "default/pinned"},
		"pending-claim-unbound": {"pending", "-A"},
	} {
		r := call{}.run(t, append(args, "--snapshot", cluster)...)
		golden(t, name, r.out)
		within(t, standardWidth, r.out)
	}
}

// TestGoldenAdmissionOfDumps: what the RuntimeClass, the LimitRange and the ResourceQuota of a dump
// make of a pod is what its API server does, and a decision notes it and does not count it
// (kubernetes issues 83054 and 101167).
func TestGoldenAdmissionOfDumps(t *testing.T) {
	const kata = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"k","namespace":"default"},"spec":{"runtimeClassName":"kata","containers":[{"name":"app","image":"i","resources":{"requests":{"cpu":"500m"}}}]}}`
	const bare = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"nolim","namespace":"team"},"spec":{"containers":[{"name":"app","image":"i"}]}}`
	for name, c := range map[string]struct {
		command, pod, dump string
		code               int
	}{
		"admit-runtimeclass":   {"admit", kata, fieldInputs + "runtimeclass-overhead.yaml", exitYes},
		"explain-runtimeclass": {"explain", kata, fieldInputs + "runtimeclass-overhead.yaml", exitNo},
		"admit-quota-status":   {"admit", bare, fieldInputs + "limitrange-and-quota.yaml", exitNo},
		"admit-quota":          {"admit", bare, fieldInputs + "quota-used-up.yaml", exitNo},
		"explain-quota":        {"explain", bare, fieldInputs + "quota-used-up.yaml", exitNo},
	} {
		r := call{in: c.pod}.run(t, c.command, "-", "--snapshot", c.dump)
		if r.code != c.code {
			t.Errorf("%s: %+v", name, r)
		}
		golden(t, name, r.out)
		within(t, standardWidth, r.out)
	}
}

// TestGoldenWarnings: the commonest mistake of units there is.
func TestGoldenWarnings(t *testing.T) {
	const pod = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"f","namespace":"shop"},"spec":{"nodeSelector":{"beta.kubernetes.io/os":"linux"},"schedulerName":"volcano","containers":[{"name":"c","image":"i",` +
		`"env":[{"name":"A","value":"1"},{"name":"A","value":"2"}],"resources":{"requests":{"memory":"512m"}}}]}}`
	for _, command := range []string{"admit", "explain"} {
		r := call{in: pod}.run(t, command, "-", "--snapshot", fieldInputs+"runtimeclass-overhead.yaml")
		golden(t, command+"-warnings", r.out)
		within(t, standardWidth, r.out)
	}
}

// TestConstraintsThatConflict: each constraint leaves a domain, and no node is in both (zone b by
// zones, n2 by nodes). Without the first pod of n3, n3 is.
func TestConstraintsThatConflict(t *testing.T) {
	const constraints = `"topologySpreadConstraints":[` +
		`{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"x"}}},` +
		`{"maxSkew":1,"topologyKey":"kubernetes.io/hostname","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"x"}}}]`
	dir := t.TempDir()
	for _, c := range []struct {
		on   []string
		head string
		code int
	}{
		{[]string{"n1", "n1", "n2", "n3", "n3"}, "CONFLICT  default/mine\n\nEach constraint allows some domain, but no node is in domains that all of them\nallow.\n", exitNo},
		{[]string{"n1", "n1", "n2", "n3"}, "ROOM  default/mine\n", 0},
	} {
		var items []string
		for node, zone := range map[string]string{"n1": "a", "n2": "a", "n3": "b"} {
			items = append(items, fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":%q,"labels":{"kubernetes.io/hostname":%q,"topology.kubernetes.io/zone":%q}},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"10"}}}`, node, node, zone))
		}
		for i, node := range c.on {
			items = append(items, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"default","name":"x-%d","labels":{"app":"x"}},"spec":{"nodeName":%q,"containers":[{"name":"c"}]}}`, i, node))
		}
		items = append(items, `{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"default","name":"mine","labels":{"app":"x"}},"spec":{`+constraints+`,"containers":[{"name":"c"}]}}`)
		file := filepath.Join(dir, "cluster.json")
		if err := os.WriteFile(file, []byte(`{"apiVersion":"v1","kind":"List","items":[`+strings.Join(items, ",")+`]}`), 0o600); err != nil {
			t.Fatal(err)
		}
		r := call{}.run(t, "spread", "default/mine", "--snapshot", file)
		if !strings.Contains("\n"+r.out, "\n"+c.head) || r.code != c.code {
			t.Errorf("%v: exit %d\n%s", c.on, r.code, r.out)
		}
	}
}

// TestMisspeltPod: a dump has most likely the pod that was meant, whose name may have ends that
// controllers gave it.
func TestMisspeltPod(t *testing.T) {
	cluster := filepath.Join(t.TempDir(), "cluster.yaml")
	pod := func(name string) string {
		return `{apiVersion: v1, kind: Pod, metadata: {name: ` + name + `, namespace: shop}, spec: {containers: [{name: c}]}, status: {phase: Pending}}`
	}
	text := "apiVersion: v1\nkind: List\nitems:\n- " + strings.Join([]string{fieldNode("n1", ""), pod("import"), pod("checkout-7d9f8c-x2v4q")}, "\n- ") + "\n"
	if err := os.WriteFile(cluster, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"shop/imprt": "Did you mean shop/import?", "shp/import": "There is one of that name in another namespace: -n shop.",
		"shp/imprt": "Did you mean shop/import?", "shop/chekout": "Did you mean shop/checkout-7d9f8c-x2v4q?", "shop/other": "Pass the full object",
	} {
		if r := (call{}).run(t, "explain", name, "--snapshot", cluster); r.code != exitBroken || !strings.Contains(r.err, want) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestLifecycleOfAnOverduePod: that it was to be gone comes first, and what removes it.
func TestLifecycleOfAnOverduePod(t *testing.T) {
	const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"late","namespace":"shop","deletionTimestamp":"2026-09-01T10:00:30Z","deletionGracePeriodSeconds":30},"spec":{"nodeName":"n1","containers":[{"name":"c","image":"i"}]},
		"status":{"phase":"Running","containerStatuses":[{"name":"c","ready":true,"started":true,"state":{"running":{"startedAt":"2026-09-01T09:00:00Z"}}}]}}`
	r := call{in: pod}.run(t, "lifecycle", "-", "--now", "2026-09-01T10:10:30Z")
	if said := strings.Join(strings.Fields(r.out), " "); !strings.HasPrefix(r.out, "OVERDUE BY 10m  shop/late") || !strings.Contains(said, "was to be gone at 10:00:30") || !strings.Contains(said, "kubectl delete pod late -n shop --grace-period=0 --force") {
		t.Errorf("%+v", r)
	}
	if r = (call{in: pod}).run(t, "lifecycle", "-", "--now", "2026-09-01T10:00:20Z"); strings.Contains(r.out, "OVERDUE") {
		t.Errorf("%+v", r)
	}
}

// TestMarksOfManyNodes: all nodes that are NotReady or cordoned are marked, also those that a
// summary does not name.
func TestMarksOfManyNodes(t *testing.T) {
	cluster := filepath.Join(t.TempDir(), "cluster.yaml")
	items := []string{fieldPod("p", "", requests("cpu: 9"), "")}
	for i := range 25 {
		node := fieldNode(fmt.Sprintf("n-%02d", i), "")
		if i%2 == 0 {
			node = strings.Replace(node, `{type: Ready, status: "True"}`, `{type: Ready, status: "False"}`, 1)
		} else {
			node = strings.Replace(node, "status: {alloc", "spec: {unschedulable: true}, status: {alloc", 1)
		}
		items = append(items, node)
	}
	if err := os.WriteFile(cluster, []byte("apiVersion: v1\nkind: List\nitems:\n- "+strings.Join(items, "\n- ")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := call{}.run(t, "explain", "default/p", "--all", "--decision", "--snapshot", cluster)
	if n := strings.Count(r.out, "NotReady"); n != 13 {
		t.Errorf("%d of 13 nodes are marked:\n%s%s", n, r.out, r.err)
	}
}

// TestScoresInParts: what each constraint and term adds to a node's score stands under its plugin.
func TestScoresInParts(t *testing.T) {
	dir := t.TempDir()
	cluster, pod := filepath.Join(dir, "cluster.yaml"), filepath.Join(dir, "pod.yaml")
	items := []string{fieldNode("n1", ", disk: ssd"), fieldNode("n2", ""), fieldPod("x1", `, labels: {app: x}`, requests("cpu: 1")+`, nodeName: n1`, "")}
	wants := `, affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 7, preference: {matchExpressions: [{key: disk, operator: In, values: [ssd]}]}}]}},
  topologySpreadConstraints: [{maxSkew: 2, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: x}}}]`
	for file, text := range map[string]string{
		cluster: "apiVersion: v1\nkind: List\nitems:\n- " + strings.Join(items, "\n- ") + "\n",
		pod:     "---\n" + strings.Replace(fieldPod("x2", `, labels: {app: x}`, requests("cpu: 1")+wants, ""), "phase: Running", "phase: Pending", 1) + "\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := call{}.run(t, "explain", "-f", pod, "--snapshot", cluster, "--node", "n1")
	for _, want := range []string{"- prefers disk In ssd 7", "- ScheduleAnyway over hostname: 1 pod x 1.39 + 1 2.39"} {
		if !strings.Contains(strings.Join(strings.Fields(r.out), " "), want) {
			t.Errorf("it does not say %q:\n%s%s", want, r.out, r.err)
		}
	}
	within(t, standardWidth, r.out)
}
