package podlife

import "testing"

// How long a pod has to end, and where the kubelet and the API server take that
// from (pkg/kubelet/kuberuntime killContainer, pkg/registry/core/pod CheckGracefulDelete).

// TestHangingHook: a preStop hook that hangs does not keep the pod from ending. The
// kubelet gives up after the period, and the container has 2 seconds more.
func TestHangingHook(t *testing.T) {
	o := ends(t, Ending{Pod: dying(t, `"spec":{"containers":[{`+hooked+`}]}`), Cause: CauseDelete, PreStopSeconds: map[string]int64{"c": 100000}})
	is(t, "timeouts", timeouts(o), "c 2")
	is(t, "timeline", timeline(o), "0 deletion requested, 0 endpoints terminating, 0 preStop started c, 30 preStop given up c, 30 SIGTERM c, 32 SIGKILL c, 32 phase Failed, 32 object removed")
}

// TestProbeOfADeletedPod: once the API server has set deletionGracePeriodSeconds,
// that is the period, also after a failed probe.
func TestProbeOfADeletedPod(t *testing.T) {
	o := ends(t, Ending{Pod: dying(t, `"metadata":{"deletionTimestamp":"2026-03-01T12:00:12Z","deletionGracePeriodSeconds":12},"spec":{"containers":[{"name":"c","livenessProbe":{"terminationGracePeriodSeconds":50}}]}`), Cause: CauseLiveness})
	is(t, "period", o.GracePeriodSeconds, 12)
	came(t, o, "pod.metadata.deletionGracePeriodSeconds", 12)
	is(t, "timeouts", timeouts(o), "c 12")
}

// TestProbePeriods: after a failed startup or liveness probe the period is that
// probe's own, if it has one.
func TestProbePeriods(t *testing.T) {
	p := `"spec":{"terminationGracePeriodSeconds":30,"containers":[{"name":"c","startupProbe":{"terminationGracePeriodSeconds":5},"livenessProbe":{"terminationGracePeriodSeconds":60}},{"name":"d","livenessProbe":{}}]}`
	for _, c := range []struct {
		cause     Cause
		container string
		want      int64
		source    string
	}{
		{CauseStartup, "", 5, "container.startupProbe.terminationGracePeriodSeconds"},
		{CauseLiveness, "c", 60, "container.livenessProbe.terminationGracePeriodSeconds"},
		{CauseLiveness, "d", 30, "pod.spec.terminationGracePeriodSeconds"},
	} {
		o := ends(t, Ending{Pod: dying(t, p), Cause: c.cause, Container: c.container})
		is(t, string(c.cause)+c.container, o.GracePeriodSeconds, c.want)
		came(t, o, c.source, c.want)
		is(t, "stopped", len(o.Containers), 1)
	}
	o := ends(t, Ending{Pod: dying(t, `"spec":{"containers":[{"name":"c","livenessProbe":{}}]}`), Cause: CauseLiveness})
	came(t, o, "default", 30)
}

// TestHookUsesUpThePeriod: the runtime's timeout is the period less the hook's time,
// and at least 2 seconds.
func TestHookUsesUpThePeriod(t *testing.T) {
	for _, c := range []struct {
		hook int64
		want string
	}{{0, "c 30"}, {10, "c 20"}, {28, "c 2"}, {29, "c 2"}, {30, "c 2"}} {
		o := ends(t, Ending{Pod: dying(t, `"spec":{"containers":[{`+hooked+`}]}`), Cause: CauseDelete, PreStopSeconds: map[string]int64{"c": c.hook}})
		is(t, "timeouts", timeouts(o), c.want)
		came(t, o, "container.lifecycle.preStop", 30-c.hook)
	}
}

// TestNoHookWithoutAPeriod: with a period of 0, which only a kill for a probe can
// have, no hook runs. The container still has 2 seconds.
func TestNoHookWithoutAPeriod(t *testing.T) {
	o := ends(t, Ending{Pod: dying(t, `"metadata":{"deletionTimestamp":"2026-03-01T12:00:00Z","deletionGracePeriodSeconds":0},"spec":{"containers":[{`+hooked+`,"livenessProbe":{}}]}`), Cause: CauseLiveness, PreStopSeconds: map[string]int64{"c": 10}})
	is(t, "period", o.GracePeriodSeconds, 0)
	is(t, "timeline", timeline(o), "0 liveness probe failed c, 0 preStop not run c, 0 SIGTERM c, 2 SIGKILL c, 2 phase Failed, 2 container stays down c")
}

// TestOverrideReplacesThePeriod: the override of an eviction replaces the period
// before the hook runs, so that the hook has the override's time.
func TestOverrideReplacesThePeriod(t *testing.T) {
	o := ends(t, Ending{Pod: dying(t, `"spec":{"containers":[{`+hooked+`}]}`), Cause: CauseEvictSoft, EvictionMaxPodGracePeriod: 8, PreStopSeconds: map[string]int64{"c": 5}})
	is(t, "period", o.GracePeriodSeconds, 8)
	is(t, "timeouts", timeouts(o), "c 3")
}

// TestEffectivePeriod: what the API server wrote counts, and the kubelet's override
// can only lower it; without either the spec's period counts. It is at least 1
// (pkg/kubelet/pod_workers.go calculateEffectiveGracePeriod).
func TestEffectivePeriod(t *testing.T) {
	of := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		deletion, override *int64
		spec, want         int64
	}{
		{nil, nil, 30, 30},
		{nil, nil, 0, 1},
		{of(10), nil, 30, 10},
		{of(0), nil, 30, 1},
		{of(10), of(5), 30, 5},
		{of(10), of(20), 30, 10},
		{nil, of(20), 30, 20},
		{nil, of(0), 30, 1}, // in v1.23 the spec's 30
		{of(0), of(20), 30, 20},
	} {
		notes := 0
		got := effective(0, c.deletion, c.override, c.spec, func(string, string, int64) { notes++ })
		if got != c.want || notes == 0 {
			t.Errorf("%v: %d with %d steps", c, got, notes)
		}
	}
}

// TestPeriodOfADelete: the API server takes the request's period, else the spec's
// (30 by default). It is 0 for a pod that is not scheduled or has ended, and 1 for a
// negative one.
func TestPeriodOfADelete(t *testing.T) {
	for _, c := range []struct {
		what, pod string
		asked     *int64
		want      int64
		source    string
	}{
		{"by default", ``, nil, 30, "default"},
		{"the pod's", `"spec":{"terminationGracePeriodSeconds":45}`, nil, 45, "pod.spec.terminationGracePeriodSeconds"},
		{"the option", `"spec":{"terminationGracePeriodSeconds":45}`, new(int64(5)), 5, "request.gracePeriodSeconds"},
		{"a longer option", `"spec":{"terminationGracePeriodSeconds":45}`, new(int64(600)), 600, "request.gracePeriodSeconds"},
		{"has failed", `"status":{"phase":"Failed"}`, new(int64(5)), 0, "pod.status.phase"},
		{"has succeeded", `"status":{"phase":"Succeeded"}`, nil, 0, "pod.status.phase"},
		{"negative", ``, new(int64(-5)), 1, "api-server"},
		{"negative, of the pod", `"spec":{"terminationGracePeriodSeconds":-5}`, nil, 1, "pod.spec.terminationGracePeriodSeconds"},
		{"negative and over", `"status":{"phase":"Failed"}`, new(int64(-5)), 0, "pod.status.phase"},
	} {
		for _, cause := range []Cause{CauseDelete, CausePreempt} {
			if cause == CausePreempt && c.asked != nil {
				continue
			}
			o := ends(t, Ending{Pod: dying(t, c.pod), Cause: cause, GracePeriodSeconds: c.asked})
			is(t, c.what, o.GracePeriodSeconds, c.want)
			came(t, o, c.source, c.want)
		}
	}
	p := dying(t, ``)
	p.Spec.NodeName = ""
	o := ends(t, Ending{Pod: p, Cause: CauseDelete, GracePeriodSeconds: new(int64(60))})
	is(t, "not scheduled", o.GracePeriodSeconds, 0)
	came(t, o, "pod.spec.nodeName", 0)
	is(t, "its timeline", timeline(o), "0 deletion requested, 0 object removed, 0 endpoints removed")
	is(t, "its containers", []any{len(o.Containers), len(o.LeftRunning), o.Phase}, []any{0, 0, "Pending"})
}

// TestPeriodOfAnEviction: a soft eviction's override is evictionMaxPodGracePeriod,
// never longer than the pod's own period; a hard one's is 1.
func TestPeriodOfAnEviction(t *testing.T) {
	for _, c := range []struct {
		cause        Cause
		most         int32
		period, wait int64
	}{
		{CauseEvictHard, 0, 1, 10},
		{CauseEvictHard, 500, 1, 10},
		{CauseEvictSoft, 0, 1, 10},
		{CauseEvictSoft, 5, 5, 10},
		{CauseEvictSoft, 7, 7, 10},
		{CauseEvictSoft, 21, 21, 31},
		{CauseEvictSoft, 500, 60, 90},
	} {
		o := ends(t, Ending{Pod: dying(t, `"spec":{"terminationGracePeriodSeconds":60}`), Cause: c.cause, EvictionMaxPodGracePeriod: c.most})
		is(t, string(c.cause), []int64{o.GracePeriodSeconds, *o.EvictionTimeoutSeconds}, []int64{c.period, c.wait})
		came(t, o, "kubelet", c.wait)
	}
}

// TestEvictionWait: the eviction manager waits one and a half times the override,
// not the period that came of it, and at least 10 seconds.
func TestEvictionWait(t *testing.T) {
	for override, want := range map[int64]int64{0: 10, 1: 10, 6: 10, 7: 10, 8: 12, 9: 13, 30: 45, -4: 10} {
		is(t, "wait", evictionWait(override), want)
	}
	o := ends(t, Ending{Pod: dying(t, `"metadata":{"deletionTimestamp":"2026-03-01T12:00:05Z","deletionGracePeriodSeconds":5},"spec":{"terminationGracePeriodSeconds":40}`), Cause: CauseEvictSoft, EvictionMaxPodGracePeriod: 30})
	is(t, "of a pod that is going", []int64{o.GracePeriodSeconds, *o.EvictionTimeoutSeconds}, []int64{5, 45})
	is(t, "began before", timeline(o), "0 evicted, 0 SIGTERM c, 5 SIGKILL c, 5 phase Failed, 5 endpoints removed, 5 object removed")
}
