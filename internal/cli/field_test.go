package cli

import (
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
		"explain-runtimeclass": {"explain", kata, fieldInputs + "runtimeclass-overhead.yaml", exitYes},
		"admit-quota-status":   {"admit", bare, fieldInputs + "limitrange-and-quota.yaml", exitNo},
		"admit-quota":          {"admit", bare, fieldInputs + "quota-used-up.yaml", exitNo},
		"explain-quota":        {"explain", bare, fieldInputs + "quota-used-up.yaml", exitYes},
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
