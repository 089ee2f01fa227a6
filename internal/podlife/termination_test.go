package podlife

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// hour is a round moment for timelines.
var hour = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// dying reads a pod that runs on a node; text is the inside of the JSON object.
func dying(t *testing.T, text string) *corev1.Pod {
	t.Helper()
	p := &corev1.Pod{}
	if err := json.Unmarshal([]byte("{"+text+"}"), p); err != nil {
		t.Fatal(err)
	}
	if len(p.Spec.Containers) == 0 {
		p.Spec.Containers = []corev1.Container{{Name: "c"}}
	}
	if p.Spec.NodeName == "" {
		p.Spec.NodeName = "n"
	}
	return p
}

// ends answers, and holds what every answer has to keep.
func ends(t *testing.T, e Ending) *Termination {
	t.Helper()
	if e.Now.IsZero() {
		e.Now = hour
	}
	before := e.Pod.DeepCopy()
	out, errs := Terminate(e)
	if len(errs) > 0 {
		t.Fatal(lines(errs))
	}
	if d := cmp.Diff(before, e.Pod); d != "" {
		t.Errorf("the pod was written:\n%s", d)
	}
	for i, ev := range out.Timeline {
		if i > 0 && ev.OffsetSeconds < out.Timeline[i-1].OffsetSeconds {
			t.Errorf("the timeline goes back at %d: %s", i, timeline(out))
		}
		if ev.At != nil && !ev.At.Equal(addSeconds(e.Now, ev.OffsetSeconds)) {
			t.Errorf("%s at %s, %d seconds from now", ev.Event, ev.At, ev.OffsetSeconds)
		}
	}
	return out
}

// timeouts writes containers with their stop timeouts, in order.
func timeouts(o *Termination) string {
	var out []string
	for _, s := range o.Containers {
		out = append(out, fmt.Sprint(s.Name, " ", s.StopTimeoutSeconds))
	}
	return strings.Join(out, ", ")
}

// timeline writes offsets, events and containers.
func timeline(o *Termination) string {
	var out []string
	for _, e := range o.Timeline {
		s := fmt.Sprint(e.OffsetSeconds, " ", e.Event)
		if e.Container != "" {
			s += " " + e.Container
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

// came reports that a number of the answer has a step of this source.
func came(t *testing.T, o *Termination, source string, value int64) {
	t.Helper()
	for _, s := range o.Steps {
		if s.Source == source && s.Value == value && s.Rule != "" {
			return
		}
	}
	t.Errorf("no step from %s with %d: %+v", source, value, o.Steps)
}

func is(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}

// hooked is a container with a hook that takes a program's time.
const hooked = `"name":"c","lifecycle":{"preStop":{"exec":{"command":["x"]}}}`

func TestSecondDelete(t *testing.T) {
	// The first delete was 10 s ago and gave 40 s.
	going := `"metadata":{"deletionTimestamp":"2026-03-01T12:00:30Z","deletionGracePeriodSeconds":40}`
	for _, c := range []struct {
		what   string
		pod    string
		asked  *int64
		period int64
		at     string
		events string
	}{
		{"longer", going, new(int64(60)), 40, "12:00:30", "-10 deletion requested, -10 endpoints terminating, -10 SIGTERM c, 0 deletion unchanged, 30 SIGKILL c, 30 phase Failed, 30 object removed"},
		{"equal", going, new(int64(40)), 40, "12:00:30", "-10 deletion requested, -10 endpoints terminating, -10 SIGTERM c, 0 deletion unchanged, 30 SIGKILL c, 30 phase Failed, 30 object removed"},
		{"without a period", going, nil, 40, "12:00:30", "-10 deletion requested, -10 endpoints terminating, -10 SIGTERM c, 0 deletion unchanged, 30 SIGKILL c, 30 phase Failed, 30 object removed"},
		{"shorter, from the first", going, new(int64(25)), 25, "12:00:15", "0 deletion requested, 0 endpoints terminating, 0 SIGTERM c, 25 SIGKILL c, 25 phase Failed, 25 object removed"},
		{"shorter, over already", going, new(int64(5)), 1, "12:00:00", "0 deletion requested, 0 endpoints terminating, 0 SIGTERM c, 2 SIGKILL c, 2 phase Failed, 2 object removed"},
		{"negative", going, new(int64(-7)), 1, "12:00:00", "0 deletion requested, 0 endpoints terminating, 0 SIGTERM c, 2 SIGKILL c, 2 phase Failed, 2 object removed"},
		{"none", going, new(int64(0)), 0, "12:00:00", "0 deletion requested, 0 object removed, 0 endpoints removed, 0 processes may still run, 0 SIGTERM c, 2 SIGKILL c"},
		{"of one without a period", `"metadata":{"deletionTimestamp":"2026-03-01T12:00:30Z"}`, new(int64(9)), 0, "12:00:30", "0 deletion requested, 0 object removed, 0 endpoints removed, 0 processes may still run, 0 SIGTERM c, 2 SIGKILL c"},
	} {
		o := ends(t, Ending{Pod: dying(t, c.pod), Cause: CauseDelete, GracePeriodSeconds: c.asked})
		is(t, c.what, fmt.Sprint(o.GracePeriodSeconds, " ", o.DeletionTimestamp.Format("15:04:05")), fmt.Sprint(c.period, " ", c.at))
		is(t, c.what, timeline(o), c.events)
	}
	// The scheduler leaves it alone.
	o := ends(t, Ending{Pod: dying(t, going), Cause: CausePreempt})
	is(t, "preempted", fmt.Sprint(o.GracePeriodSeconds, " ", timeline(o)), "40 -10 deletion requested, -10 endpoints terminating, -10 SIGTERM c, 0 deletion unchanged, 30 SIGKILL c, 30 phase Failed, 30 object removed")
}

func TestForceDelete(t *testing.T) {
	o := ends(t, Ending{Pod: dying(t, `"spec":{"terminationGracePeriodSeconds":60,"initContainers":[{"name":"side","restartPolicy":"Always"},{"name":"first"}]},"status":{"phase":"Running"}`), Cause: CauseDelete, Force: true})
	is(t, "period", o.GracePeriodSeconds, 0)
	is(t, "left", o.LeftRunning, "[c side]")
	is(t, "phase", o.Phase, "Running")
	is(t, "endpoints", o.Endpoints.Removed, true)
	came(t, o, "request.force", 0)
	// 0 for the API, 1 for the kubelet, 2 for the runtime.
	came(t, o, "kubelet", 1)
	is(t, "timeouts", timeouts(o), "c 2, side 2")
	is(t, "timeline", timeline(o), "0 deletion requested, 0 object removed, 0 endpoints removed, 0 processes may still run, 0 SIGTERM c, 1 SIGTERM side, 2 SIGKILL c, 3 SIGKILL side")
	is(t, "not running", o.NotRunning, "[{first init terminated}]")
	// Finalizers hold the object.
	o = ends(t, Ending{Pod: dying(t, `"metadata":{"finalizers":["example.com/f"]}`), Cause: CauseDelete, Force: true})
	is(t, "held", timeline(o), "0 deletion requested, 0 endpoints terminating, 0 SIGTERM c, 2 SIGKILL c, 2 phase Failed, 2 object kept")
	is(t, "left", len(o.LeftRunning), 0)
}

func TestSidecarsStopLast(t *testing.T) {
	spec := `"spec":{"terminationGracePeriodSeconds":30,"initContainers":[{"name":"one","restartPolicy":"Always"},{"name":"two","restartPolicy":"Always","lifecycle":{"preStop":{"sleep":{"seconds":3}}}}],"containers":[{` + hooked + `},{"name":"d"}]}`
	o := ends(t, Ending{Pod: dying(t, spec), Cause: CauseDelete, PreStopSeconds: map[string]int64{"c": 10}})
	is(t, "timeouts", timeouts(o), "c 20, d 30, two 2, one 2")
	is(t, "timeline", timeline(o), "0 deletion requested, 0 endpoints terminating, 0 preStop started c, 0 preStop started two, 0 SIGTERM d, 3 preStop ended two, 10 preStop ended c, 10 SIGTERM c, "+
		"30 SIGTERM two, 30 SIGTERM one, 30 SIGKILL c, 30 SIGKILL d, 32 SIGKILL two, 32 SIGKILL one, 32 phase Failed, 32 object removed")
	// Where the main containers are gone the last sidecar has the whole period,
	// and the one before it waits.
	running := `{"running":{}}`
	gone := `{"terminated":{"exitCode":0}}`
	status := func(main, one, two string) string {
		return fmt.Sprintf(`,"status":{"phase":"Running","containerStatuses":[{"name":"c","state":%s},{"name":"d","state":%s}],"initContainerStatuses":[{"name":"one","state":%s},{"name":"two","state":%s}]}`, main, gone, one, two)
	}
	o = ends(t, Ending{Pod: dying(t, spec+status(gone, running, running)), Cause: CauseDelete})
	is(t, "sidecars alone", timeouts(o), "two 27, one 2")
	is(t, "phase", o.Phase+o.PhaseIfAllExitZero, "Succeeded")
	// One that does not run is not waited for.
	o = ends(t, Ending{Pod: dying(t, spec+status(gone, running, gone)), Cause: CauseDelete})
	is(t, "the first alone", timeouts(o), "one 30")
	o = ends(t, Ending{Pod: dying(t, spec+status(running, running, gone)), Cause: CauseDelete, PreStopSeconds: map[string]int64{"c": 0}})
	is(t, "behind a main container", timeouts(o), "c 30, one 2")
}

func TestPhaseAtTheEnd(t *testing.T) {
	failed := `"status":{"phase":"Running","containerStatuses":[{"name":"c","state":{"running":{}}},{"name":"d","state":{"terminated":{"exitCode":3}}}]},"spec":{"containers":[{"name":"c"},{"name":"d"}]}`
	const (
		gone  = `"metadata":{"deletionTimestamp":"2026-03-01T12:00:05Z","deletionGracePeriodSeconds":5},`
		side  = `"spec":{"initContainers":[{"name":"side","restartPolicy":"Always","livenessProbe":{}}],`
		mains = `"containers":[{"name":"a","livenessProbe":{}},{"name":"b"}]},`
		plain = `"spec":{` + mains
		runs  = `{"running":{}}`
		waits = `{"waiting":{}}`
		zero  = `{"terminated":{"exitCode":0}}`
		one   = `{"terminated":{"exitCode":1}}`
	)
	statuses := func(a, b string) string {
		return fmt.Sprintf(`"status":{"phase":"Running","containerStatuses":[{"name":"a","state":%s},{"name":"b","state":%s}],"initContainerStatuses":[{"name":"side","state":{"running":{}}}]}`, a, b)
	}
	backOff := func(code int) string {
		return fmt.Sprintf(`{"phase":"Running","containerStatuses":[{"name":"c","state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"exitCode":%d}}}]}`, code)
	}
	renewed := func(init string) string {
		return fmt.Sprintf(`{"phase":"Running","containerStatuses":[{"name":"c","state":%s}],"initContainerStatuses":[{"name":"i","state":%s}]}`, zero, init)
	}
	for _, c := range []struct {
		what, pod   string
		cause       Cause
		phase, zero string
		reason      string
	}{
		{"deleted", ``, CauseDelete, "Failed", "Succeeded", ""},
		{"one had failed", failed, CauseDelete, "Failed", "", ""},
		{"evicted", ``, CauseEvictHard, "Failed", "Succeeded", "Evicted"},
		{"shut down", ``, CauseShutdown, "Failed", "Succeeded", "Terminated"},
		{"over", `"status":{"phase":"Succeeded"}`, CauseShutdown, "Succeeded", "", ""},
		{"deleted when over", `"status":{"phase":"Failed"}`, CauseDelete, "Failed", "", ""},
		{"restarted", `"status":{"phase":"Running"},"spec":{"containers":[{"name":"c","livenessProbe":{}}]}`, CauseLiveness, "Running", "", ""},
		{"not restarted", `"spec":{"restartPolicy":"Never","containers":[{"name":"c","livenessProbe":{}}]}`, CauseLiveness, "Failed", "Succeeded", ""},
		{"not restarted beside another", `"spec":{"restartPolicy":"Never","containers":[{"name":"c","livenessProbe":{}},{"name":"d"}]}`, CauseLiveness, "Running", "", ""},
		{"restarted by a rule", `"spec":{"restartPolicy":"Never","containers":[{"name":"c","startupProbe":{},"restartPolicy":"Never","restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[137]}}]}]}`, CauseStartup, "Running", "Succeeded", ""},
		{"not by a rule for others", `"spec":{"restartPolicy":"Never","containers":[{"name":"c","startupProbe":{},"restartPolicy":"Never","restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"NotIn","values":[137]}}]}]}`, CauseStartup, "Failed", "Running", ""},
		{"a sidecar of a dying pod", gone + side + `"containers":[{"name":"a"},{"name":"b"}]},` + statuses(zero, zero), CauseLiveness, "Succeeded", "", ""},
		{"one where a main container had failed", gone + side + `"containers":[{"name":"a"},{"name":"b"}]},` + statuses(zero, one), CauseLiveness, "Failed", "", ""},
		{"one where a main container still runs", gone + side + `"containers":[{"name":"a"},{"name":"b"}]},` + statuses(zero, runs), CauseLiveness, "Running", "", ""},
		{"one where a main container never ran", gone + side + `"containers":[{"name":"a"},{"name":"b"}]},` + statuses(zero, waits), CauseLiveness, "Failed", "", ""},
		{"beside one that ended well", gone + plain + statuses(runs, zero), CauseLiveness, "Failed", "Succeeded", ""},
		{"the same, evicted", gone + plain + statuses(runs, zero), CauseEvictHard, "Failed", "Succeeded", "Evicted"},
		{"beside one that failed", gone + plain + statuses(runs, one), CauseLiveness, "Failed", "", ""},
		{"beside one that runs", gone + plain + statuses(runs, runs), CauseLiveness, "Running", "", ""},
		{"for good beside one that ended well", `"spec":{"restartPolicy":"Never",` + mains + statuses(runs, zero), CauseLiveness, "Failed", "Succeeded", ""},
		{"for good beside one that failed", `"spec":{"restartPolicy":"Never",` + mains + statuses(runs, one), CauseLiveness, "Failed", "", ""},
		{"for good beside one that is restarted", `"spec":{"restartPolicy":"Never","containers":[{"name":"a","livenessProbe":{}},{"name":"b","restartPolicy":"Always"}]},` + statuses(runs, one), CauseLiveness, "Running", "", ""},
		{"a sidecar of a pod whose main containers run", `"spec":{"restartPolicy":"Never",` + side[len(`"spec":{`):] + `"containers":[{"name":"a"},{"name":"b"}]},` + statuses(zero, runs), CauseLiveness, "Running", "", ""},
		{"a sidecar of a pod that has nothing left to do", `"spec":{"restartPolicy":"Never",` + side[len(`"spec":{`):] + `"containers":[{"name":"a"},{"name":"b"}]},` + statuses(zero, zero), CauseLiveness, "Succeeded", "", ""},
		{"deleted in its back-off after it ended well", `"status":` + backOff(0), CauseDelete, "Succeeded", "", ""},
		{"the same, failed", `"status":` + backOff(1), CauseDelete, "Failed", "", ""},
		{"the same, for room", `"status":` + backOff(0), CausePreempt, "Succeeded", "", ""},
		{"the same, evicted, which keeps it waiting", `"status":` + backOff(0), CauseEvictHard, "Failed", "", "Evicted"},
		{"the same, evicted when deleted", gone + `"status":` + backOff(0), CauseEvictHard, "Succeeded", "", ""},
		{"the same, evicted before the next try", `"status":` + strings.ReplaceAll(backOff(0), "CrashLoopBackOff", "PodInitializing"), CauseEvictHard, "Succeeded", "", ""},
		{"beside one in its back-off after it ended well", plain + strings.ReplaceAll(statuses(runs, "x"), `"state":x`, `"state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":`+zero), CauseDelete, "Failed", "Succeeded", ""},
		{"in a new sandbox, whose init container runs", `"spec":{"initContainers":[{"name":"i"}],"containers":[{"name":"c"}]},"status":` + renewed(runs), CauseDelete, "Succeeded", "", ""},
		{"the same, where it is not run again", `"spec":{"restartPolicy":"Never","initContainers":[{"name":"i"}],"containers":[{"name":"c"}]},"status":` + renewed(runs), CauseDelete, "Failed", "Succeeded", ""},
		{"the same, where it never ran", `"spec":{"initContainers":[{"name":"i"}],"containers":[{"name":"c"}]},"status":` + renewed(waits), CauseDelete, "Failed", "", ""},
		{"done before its node shuts down", `"spec":{"restartPolicy":"Never",` + mains + strings.ReplaceAll(statuses(zero, zero), `[{"name":"side","state":{"running":{}}}]`, "[]"), CauseShutdown, "Succeeded", "", "Terminated"},
		{"the same, evicted, which makes it fail at first", `"spec":{"restartPolicy":"Never",` + mains + strings.ReplaceAll(statuses(zero, zero), `[{"name":"side","state":{"running":{}}}]`, "[]"), CauseEvictHard, "Succeeded", "", ""},
		{"static, shut down", `"metadata":{"annotations":{"kubernetes.io/config.source":"file"}}`, CauseShutdown, "Failed", "", "Terminated"},
		{"static, shut down, that is run once", `"metadata":{"annotations":{"kubernetes.io/config.source":"file"}},"spec":{"restartPolicy":"Never","containers":[{"name":"c"}]}`, CauseShutdown, "Failed", "Succeeded", "Terminated"},
		{"in a pod that is over", `"status":{"phase":"Succeeded"},"spec":{"containers":[{"name":"c","livenessProbe":{}}]}`, CauseLiveness, "Succeeded", "", ""},
	} {
		o := ends(t, Ending{Pod: dying(t, c.pod), Cause: c.cause})
		is(t, c.what, []string{o.Phase, o.PhaseIfAllExitZero, o.Reason}, []string{c.phase, c.zero, c.reason})
	}
}

func TestShutdownShares(t *testing.T) {
	byPriority := &ShutdownConfig{ByPodPriority: []ShutdownShare{{100000, 10}, {0, 60}, {10000, 180}, {1000, 120}}}
	for _, c := range []struct {
		what     string
		priority string
		spec     int64
		conf     *ShutdownConfig
		asked    *int64
		want     int64
	}{
		// Upstream's own scenarios: nodeshutdown_manager_test.go Test_groupByPriority.
		{"on a boundary", "1000", 900, byPriority, nil, 120},
		{"between", "9999", 900, byPriority, nil, 120},
		{"above all", "2000000", 900, byPriority, nil, 10},
		{"below all", "-1", 900, byPriority, nil, 60},
		{"without priority", "null", 900, byPriority, nil, 60},
		{"its own period is shorter", "0", 5, byPriority, nil, 5},
		{"the two durations", "0", 900, &ShutdownConfig{ShutdownGracePeriod: "30s", ShutdownGracePeriodCriticalPods: "10s"}, nil, 20},
		{"the two durations, critical", "2000000000", 900, &ShutdownConfig{ShutdownGracePeriod: "30s", ShutdownGracePeriodCriticalPods: "10s"}, nil, 10},
		{"no time", "0", 900, &ShutdownConfig{}, nil, 900},
		{"no time for it", "0", 900, &ShutdownConfig{ShutdownGracePeriod: "10s", ShutdownGracePeriodCriticalPods: "10s"}, nil, 1},
		{"a share given", "0", 900, nil, new(int64(7)), 7},
		{"none known", "0", 40, nil, nil, 40},
	} {
		p := dying(t, fmt.Sprintf(`"spec":{"priority":%s,"terminationGracePeriodSeconds":%d}`, c.priority, c.spec))
		o := ends(t, Ending{Pod: p, Cause: CauseShutdown, Shutdown: c.conf, GracePeriodSeconds: c.asked})
		is(t, c.what, o.GracePeriodSeconds, c.want)
		if known := c.asked != nil || c.conf != nil && len(c.conf.shares()) > 0; known == strings.Contains(fmt.Sprint(o.Notes), "not known") {
			t.Errorf("%s: %q", c.what, o.Notes)
		}
	}
}

func TestStopSignals(t *testing.T) {
	o := ends(t, Ending{Pod: dying(t, `"spec":{"containers":[{"name":"c","lifecycle":{"stopSignal":"SIGUSR1"}},{"name":"d"},{"name":"e"}]},
		"status":{"phase":"Running","containerStatuses":[{"name":"c","state":{"running":{}}},{"name":"d","stopSignal":"SIGQUIT","state":{"running":{}}},{"name":"e","state":{"running":{}}}]}`), Cause: CauseDelete})
	is(t, "timeline", timeline(o), "0 deletion requested, 0 endpoints terminating, 0 SIGTERM c, 0 SIGQUIT d, 0 SIGTERM e, 30 SIGKILL c, 30 SIGKILL d, 30 SIGKILL e, 30 phase Failed, 30 object removed")
}

func TestEndpointsOfTheDying(t *testing.T) {
	ready := `"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}`
	o := ends(t, Ending{Pod: dying(t, ready), Cause: CauseDelete})
	is(t, "deleted", []bool{o.Endpoints.Ready, o.Endpoints.Serving, o.Endpoints.Terminating, o.Endpoints.Removed}, "[false true true false]")
	o = ends(t, Ending{Pod: dying(t, ready), Cause: CauseEvictSoft})
	is(t, "evicted", []bool{o.Endpoints.Ready, o.Endpoints.Serving, o.Endpoints.Terminating, o.Endpoints.Removed}, "[true true false false]")
	is(t, "their end", timeline(o), "0 evicted, 0 SIGTERM c, 2 SIGKILL c, 2 phase Failed, 2 endpoints removed")
	o = ends(t, Ending{Pod: dying(t, `"status":{"phase":"Succeeded"}`), Cause: CauseDelete})
	is(t, "over", o.Endpoints.Removed, true)
}

func TestWhatPlaysNoPart(t *testing.T) {
	o := ends(t, Ending{
		Pod: dying(t, `"metadata":{"annotations":{"kubernetes.io/config.mirror":"x"}}`), Cause: CauseEvictHard, GracePeriodSeconds: new(int64(5)), Force: true, Container: "c",
		EvictionMaxPodGracePeriod: 9, Shutdown: &ShutdownConfig{}, PreStopSeconds: map[string]int64{"c": 4},
	})
	for _, n := range []string{"gracePeriodSeconds plays", "force plays", "container plays", "evictionMaxPodGracePeriod plays", "shutdown plays", "preStopSeconds of c plays"} {
		if !strings.Contains(fmt.Sprint(o.Notes), n) {
			t.Errorf("nothing said of %q: %q", n, o.Notes)
		}
	}
}

func TestQuestionsThatAreRefused(t *testing.T) {
	twice := `"spec":{"containers":[{"name":"c","livenessProbe":{}},{"name":"d","livenessProbe":{}}]}`
	for what, c := range map[string]struct {
		e     Ending
		field string
	}{
		"no cause":                  {Ending{Pod: dying(t, "")}, "cause"},
		"another cause":             {Ending{Pod: dying(t, ""), Cause: "evict"}, "cause"},
		"force with a period":       {Ending{Pod: dying(t, ""), Cause: CauseDelete, Force: true, GracePeriodSeconds: new(int64(3))}, "force"},
		"an unknown container":      {Ending{Pod: dying(t, ""), Cause: CauseLiveness, Container: "x"}, "container"},
		"no probe":                  {Ending{Pod: dying(t, ""), Cause: CauseLiveness}, "container"},
		"another container's probe": {Ending{Pod: dying(t, twice), Cause: CauseStartup, Container: "c"}, "container"},
		"several probes":            {Ending{Pod: dying(t, twice), Cause: CauseLiveness}, "container"},
		"an unknown hook":           {Ending{Pod: dying(t, ""), Cause: CauseDelete, PreStopSeconds: map[string]int64{"x": 1}}, "preStopSeconds[x]"},
		"a negative hook":           {Ending{Pod: dying(t, ""), Cause: CauseDelete, PreStopSeconds: map[string]int64{"c": -1}}, "preStopSeconds[c]"},
		"a code without an exit":    {Ending{Pod: dying(t, ""), Cause: CauseDelete, ExitCodes: map[string]int32{"c": 1}}, "exitCodes[c]"},
		"a code that is none":       {Ending{Pod: dying(t, ""), Cause: CauseDelete, ExitSeconds: map[string]int64{"c": 1}, ExitCodes: map[string]int32{"c": 256}}, "exitCodes[c]"},
		"a negative share":          {Ending{Pod: dying(t, ""), Cause: CauseShutdown, GracePeriodSeconds: new(int64(-1))}, "gracePeriodSeconds"},
		"a share and a config":      {Ending{Pod: dying(t, ""), Cause: CauseShutdown, GracePeriodSeconds: new(int64(1)), Shutdown: &ShutdownConfig{}}, "shutdown"},
		"no duration":               {Ending{Pod: dying(t, ""), Cause: CauseShutdown, Shutdown: &ShutdownConfig{ShutdownGracePeriod: "30"}}, "shutdown.shutdownGracePeriod"},
		"more for the critical":     {Ending{Pod: dying(t, ""), Cause: CauseShutdown, Shutdown: &ShutdownConfig{ShutdownGracePeriod: "3s", ShutdownGracePeriodCriticalPods: "4s"}}, "shutdown.shutdownGracePeriodCriticalPods"},
		"both forms":                {Ending{Pod: dying(t, ""), Cause: CauseShutdown, Shutdown: &ShutdownConfig{ShutdownGracePeriod: "3s", ByPodPriority: []ShutdownShare{{0, 1}}}}, "shutdown.shutdownGracePeriodByPodPriority"},
		"a negative part":           {Ending{Pod: dying(t, ""), Cause: CauseShutdown, Shutdown: &ShutdownConfig{ByPodPriority: []ShutdownShare{{0, -1}}}}, "shutdown.shutdownGracePeriodByPodPriority[0].shutdownGracePeriodSeconds"},
	} {
		out, errs := Terminate(c.e)
		if out != nil || len(errs) != 1 || errs[0].Field != c.field {
			t.Errorf("%s: %v", what, lines(errs))
		}
	}
}

// TestPeriodsWithoutEnd: people write the largest number there is.
func TestPeriodsWithoutEnd(t *testing.T) {
	spec := fmt.Sprintf(`"spec":{"terminationGracePeriodSeconds":%d,"initContainers":[{"name":"side","restartPolicy":"Always"}],"containers":[{%s}]}`, int64(math.MaxInt64), hooked)
	o := ends(t, Ending{Pod: dying(t, spec), Cause: CauseDelete, PreStopSeconds: map[string]int64{"c": 10}})
	is(t, "timeouts", timeouts(o), fmt.Sprintf("c %d, side 2", int64(math.MaxInt64-10)))
	if last := o.Timeline[len(o.Timeline)-1]; last.At != nil || o.DeletionTimestamp != nil || last.OffsetSeconds <= 0 {
		t.Errorf("%+v, %v", last, o.DeletionTimestamp)
	}
	if _, err := json.Marshal(o); err != nil {
		t.Error(err)
	}
}

// TestAfterAFailedProbe: when the container is started again, and that nothing is
// in a pod that is being deleted.
func TestAfterAFailedProbe(t *testing.T) {
	const spec = `"spec":{"terminationGracePeriodSeconds":5,"containers":[{"name":"c","livenessProbe":{}}]}`
	status := func(restarts int, started string, ended ...string) string {
		last := ""
		if len(ended) > 0 {
			last = fmt.Sprintf(`,"lastState":{"terminated":{"exitCode":137,"finishedAt":%q}}`, ended[0])
		}
		return fmt.Sprintf(`,"status":{"phase":"Running","containerStatuses":[{"name":"c","restartCount":%d,"state":{"running":{"startedAt":%q}}%s}]}`, restarts, started, last)
	}
	for _, c := range []struct{ what, pod, timeline, phase string }{
		{"the first time", spec + status(0, "2026-03-01T11:59:00Z"), "5 container restarted c", "Running"},
		{"no run before is known", spec + status(2, "2026-03-01T11:59:00Z"), "5 container restarted c", "Running"},
		{"the delay since the run before is over", spec + status(2, "2026-03-01T11:59:00Z", "2026-03-01T11:59:00Z"), "5 container restarted c", "Running"},
		{"it is not over", spec + status(2, "2026-03-01T11:59:55Z", "2026-03-01T11:59:46Z"), "25 container restarted c", "Running"},
		{"it just is", spec + status(2, "2026-03-01T11:59:55Z", "2026-03-01T11:59:45Z"), "5 container restarted c", "Running"},
		{"the longest wait", spec + status(9, "2026-03-01T11:59:00Z", "2026-03-01T11:58:59Z"), "305 container restarted c", "Running"},
		{"after it ran for long", spec + status(9, "2026-03-01T11:00:00Z", "2026-03-01T10:59:00Z"), "5 container restarted c", "Running"},
		{
			"while the pod is deleted", `"metadata":{"deletionTimestamp":"2026-03-01T12:00:05Z","deletionGracePeriodSeconds":5},` + spec + status(0, "2026-03-01T11:59:00Z"),
			"5 phase Failed, 5 container stays down c", "Failed",
		},
	} {
		o := ends(t, Ending{Pod: dying(t, c.pod), Cause: CauseLiveness})
		is(t, c.what, timeline(o), "0 liveness probe failed c, 0 SIGTERM c, 5 SIGKILL c, "+c.timeline)
		is(t, c.what+": phase", o.Phase, c.phase)
	}
}
