package podlife

import (
	"fmt"
	"testing"
)

// TestNeverEvicted: what a kubelet never evicts stays as it is.
func TestNeverEvicted(t *testing.T) {
	for what, pod := range map[string]string{
		"critical: its priority is 2000000000 or more": `"spec":{"priority":2000000000}`,
		"mirror of a static pod":                       `"metadata":{"annotations":{"kubernetes.io/config.mirror":"x"}}`,
		"static: it comes from file":                   `"metadata":{"annotations":{"kubernetes.io/config.source":"file"}}`,
	} {
		for _, cause := range []Cause{CauseEvictHard, CauseEvictSoft} {
			o := ends(t, Ending{Pod: dying(t, pod), Cause: cause})
			if o.Refused == nil {
				t.Fatalf("%s: %s: %s", what, cause, timeline(o))
			}
			is(t, what, o.Refused.Text, "The kubelet does not evict this pod: "+what+".")
			is(t, what, []any{timeline(o), after(o.GoneAfterSeconds), o.Phase, o.Reason, len(o.Containers)}, "[0 eviction refused - Running  0]")
		}
		o := ends(t, Ending{Pod: dying(t, pod), Cause: CauseKubeletPreempt})
		is(t, "preempted: "+what, o.Refused == nil && o.GoneAfterSeconds != nil, true)
	}
	o := ends(t, Ending{Pod: dying(t, `"spec":{"priority":2000000000}`), Cause: CauseDelete, Then: []Following{{Cause: CauseEvictHard, AfterSeconds: 5}}})
	is(t, "while it is deleted", timeline(o), "0 deletion requested, 0 endpoints terminating, 0 SIGTERM c, 5 eviction refused, 30 SIGKILL c, 30 phase Failed, 30 object removed")
	is(t, "of any other", ends(t, Ending{Pod: dying(t, `"spec":{"priority":1999999999}`), Cause: CauseEvictHard}).Refused == nil, true)
}

// TestNothingHasStarted: in a pod that is Pending nothing runs that has no status.
func TestNothingHasStarted(t *testing.T) {
	pending := `"spec":{"initContainers":[{"name":"side","restartPolicy":"Always"}],"containers":[{"name":"c"}]},"status":{"phase":"Pending"}`
	o := ends(t, Ending{Pod: dying(t, pending), Cause: CauseDelete})
	is(t, "deleted", timeline(o), "0 deletion requested, 0 endpoints terminating, 0 phase Failed, 0 object removed")
	is(t, "not running", o.NotRunning, "[{c container waiting} {side sidecar waiting}]")
	is(t, "forced", ends(t, Ending{Pod: dying(t, pending), Cause: CauseDelete, Force: true}).LeftRunning, "[]")
	is(t, "evicted", timeline(ends(t, Ending{Pod: dying(t, pending), Cause: CauseEvictHard})), "0 evicted, 0 phase Failed, 0 endpoints removed")
	// A pod of which nothing is told is taken to run.
	is(t, "a manifest", timeouts(ends(t, Ending{Pod: dying(t, ""), Cause: CauseDelete})), "c 30")
}

// TestExitCodes: an application that dies of SIGTERM fails its pod.
func TestExitCodes(t *testing.T) {
	spec := `"spec":{"containers":[{"name":"c"}],"restartPolicy":"Never"}`
	e := Ending{Pod: dying(t, spec), Cause: CauseDelete, ExitSeconds: map[string]int64{"c": 3}}
	is(t, "by itself", fmt.Sprint(ends(t, e).Expected.Containers, ends(t, e).Expected.Phase), "[{c 0 3 0}]Succeeded")
	e.ExitCodes = map[string]int32{"c": 143}
	x := ends(t, e).Expected
	is(t, "of the signal", fmt.Sprint(x.Containers, x.Phase, after(x.GoneAfterSeconds)), "[{c 0 3 143}]Failed3")
	is(t, "said", x.Timeline[len(x.Timeline)-3].Detail, "by itself; taken to be with exit code 143")
	e.ExitSeconds["c"] = 40
	is(t, "too slow", fmt.Sprint(ends(t, e).Expected.Containers), "[{c 0 30 137}]")
	probed := dying(t, `"spec":{"containers":[{"name":"c","livenessProbe":{}}],"restartPolicy":"Never"}`)
	is(t, "killed for its probe", ends(t, Ending{Pod: probed, Cause: CauseLiveness, ExitSeconds: map[string]int64{"c": 1}, ExitCodes: map[string]int32{"c": 143}}).Expected.Phase, "Failed")
}

// TestHooksOfUnknownLength: one may take the whole period, after which the container has 2 s.
func TestHooksOfUnknownLength(t *testing.T) {
	for _, hook := range []string{`"exec":{"command":["x"]}`, `"httpGet":{"port":80}`, `"tcpSocket":{"port":80}`} {
		spec := fmt.Sprintf(`"spec":{"terminationGracePeriodSeconds":60,"containers":[{"name":"c","lifecycle":{"preStop":{%s}}}]}`, hook)
		o := ends(t, Ending{Pod: dying(t, spec), Cause: CauseDelete})
		is(t, hook, timeline(o), "0 deletion requested, 0 endpoints terminating, 0 preStop started c, 60 preStop given up c, 60 SIGTERM c, 62 SIGKILL c, 62 phase Failed, 62 object removed")
		is(t, hook, []any{o.Containers[0].PreStopUnknown, *o.Containers[0].PreStopSeconds, len(o.Notes)}, "[true 60 1]")
		o = ends(t, Ending{Pod: dying(t, spec), Cause: CauseDelete, PreStopSeconds: map[string]int64{"c": 59}})
		is(t, "known", timeline(o), "0 deletion requested, 0 endpoints terminating, 0 preStop started c, 59 preStop ended c, 59 SIGTERM c, 61 SIGKILL c, 61 phase Failed, 61 object removed")
		is(t, "known", []any{o.Containers[0].PreStopUnknown, len(o.Notes)}, "[false 0]")
		o = ends(t, Ending{Pod: dying(t, spec), Cause: CauseDelete, HookFails: []string{"c"}})
		is(t, "fails", o.Timeline[3].Event, "preStop failed")
	}
	o := ends(t, Ending{Pod: dying(t, `"spec":{"containers":[{"name":"c","lifecycle":{"preStop":{"sleep":{"seconds":5}}}}]}`), Cause: CauseDelete})
	is(t, "a sleep", []any{o.Containers[0].PreStopUnknown, *o.Containers[0].PreStopSeconds, len(o.Notes)}, "[false 5 0]")
}

// TestNegativeEvictionPeriod: a kubelet takes it, and ends the pod with a second.
func TestNegativeEvictionPeriod(t *testing.T) {
	o := ends(t, Ending{Pod: dying(t, ""), Cause: CauseEvictSoft, EvictionMaxPodGracePeriod: -1})
	is(t, "period", []any{o.GracePeriodSeconds, after(o.GoneAfterSeconds), *o.EvictionTimeoutSeconds}, "[1 2 10]")
}
