package podlife

import (
	"fmt"
	"strings"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	nodeUnknown = `"metadata":{"name":"n"},"status":{"conditions":[{"type":"Ready","status":"Unknown","lastTransitionTime":"2026-03-01T11:58:00Z"}]}`
	nodeReady   = `"metadata":{"name":"n"},"status":{"conditions":[{"type":"Ready","status":"True"}]}`
)

func after(n *int64) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}

func TestNodesThatDoNotAnswer(t *testing.T) {
	for _, c := range []struct {
		what, pod, node string
		cause           Cause
		events          string
		phase, gone     string
		stays           bool
	}{
		{"ready", ``, nodeReady, CauseDelete, "0 deletion requested, 0 endpoints terminating, 0 SIGTERM c, 30 SIGKILL c, 30 phase Failed, 30 object removed", "Failed", "30", false},
		{"not ready", ``, nodeUnknown, CauseDelete, "0 deletion requested, 0 endpoints terminating, 0 stays Terminating", "Running", "-", true},
		{"not ready, deleted before", `"metadata":{"deletionTimestamp":"2026-03-01T12:00:20Z","deletionGracePeriodSeconds":30}`, nodeUnknown, CauseDelete, "-10 deletion requested, -10 endpoints terminating, 0 deletion unchanged, 0 stays Terminating", "Running", "-", true},
		{"out of service", ``, nodeUnknown + `,"spec":{"taints":[{"key":"node.kubernetes.io/out-of-service","effect":"NoExecute"}]}`, CauseDelete, "0 deletion requested, 0 endpoints terminating, 20 phase Failed, 20 object removed", "Failed", "20", false},
		{"gone", ``, "", CausePreempt, "0 condition DisruptionTarget, 0 deletion requested, 0 endpoints terminating, 60 phase Failed, 60 object removed", "Failed", "60", false},
		{"gone, with a finalizer", `"metadata":{"finalizers":["f"]}`, "", CauseDelete, "0 deletion requested, 0 endpoints terminating, 60 phase Failed, 60 object kept", "Failed", "-", false},
		{"not ready, over", `"status":{"phase":"Succeeded"}`, nodeUnknown, CauseDelete, "0 deletion requested, 0 object removed, 0 endpoints removed", "Succeeded", "0", false},
	} {
		e := Ending{Pod: dying(t, c.pod), Cause: c.cause, NodeGiven: true}
		if c.node != "" {
			e.Node = aNode(t, c.node)
		}
		o := ends(t, e)
		is(t, c.what, timeline(o), c.events)
		is(t, c.what, []any{o.Phase, after(o.GoneAfterSeconds), o.StaysTerminating}, []any{c.phase, c.gone, c.stays})
		if c.stays && fmt.Sprint(o.LeftRunning) != "[c]" {
			t.Errorf("%s: left %v", c.what, o.LeftRunning)
		}
	}
}

func TestTaints(t *testing.T) {
	five := `"metadata":{"uid":"u"},"spec":{"tolerations":[{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}]}`
	tainted := `"metadata":{"name":"n"},"spec":{"taints":[{"key":"k","effect":"NoExecute","timeAdded":"2026-03-01T12:00:00Z"}]},` + nodeReady[len(`"metadata":{"name":"n"},`):]
	o := ends(t, Ending{Pod: dying(t, five), Cause: CauseTaint, Node: aNode(t, nodeUnknown), NodeGiven: true})
	is(t, "unreachable", timeline(o), "180 condition DisruptionTarget, 180 deletion requested, 180 endpoints terminating, 180 stays Terminating")
	is(t, "at", []string{clocked(o.NodeDeletion.At), o.DeletionTimestamp.Format("15:04:05")}, "[12:03:00 12:03:30]")
	o = ends(t, Ending{Pod: dying(t, five), Cause: CauseTaint, Node: aNode(t, tainted), NodeGiven: true})
	is(t, "not tolerated", timeline(o), "0 condition DisruptionTarget, 0 deletion requested, 0 endpoints terminating, 0 SIGTERM c, 30 SIGKILL c, 30 phase Failed, 30 object removed")
	tolerating := `"metadata":{"uid":"u"},"spec":{"tolerations":[{"key":"k","operator":"Exists","tolerationSeconds":100}]}`
	o = ends(t, Ending{Pod: dying(t, tolerating), Cause: CauseTaint, Node: aNode(t, tainted), NodeGiven: true, GracePeriodSeconds: new(int64(1))})
	is(t, "for 100 seconds", timeline(o), "100 condition DisruptionTarget, 100 deletion requested, 100 endpoints terminating, 100 SIGTERM c, 130 SIGKILL c, 130 phase Failed, 130 object removed")
	is(t, "offsets", fmt.Sprint(o.Containers[0].SignalAt, " ", o.Containers[0].KillAt, " ", after(o.GoneAfterSeconds)), "100 130 130")
	o = ends(t, Ending{Pod: dying(t, `"metadata":{"uid":"u"},"spec":{"tolerations":[{"operator":"Exists"}]}`), Cause: CauseTaint, Node: aNode(t, tainted), NodeGiven: true})
	is(t, "tolerated", timeline(o)+o.Phase+after(o.GoneAfterSeconds), "Running-")
	since := clockOf(t, "11:59:00")
	o = ends(t, Ending{Pod: dying(t, five), Cause: CauseTaint, NodeLostSince: &since})
	is(t, "lost since", clocked(o.NodeDeletion.At)+" "+clocked(o.NodeDeletion.Latest), "12:04:40 12:05:00")
	o = ends(t, Ending{Pod: dying(t, five), Cause: CauseTaint, NodeGiven: true})
	is(t, "gone", timeline(o), "60 phase Failed, 60 object removed")
}

func TestEvictionAPI(t *testing.T) {
	budget := func(allowed, healthy, desired int32, policy policyv1.UnhealthyPodEvictionPolicyType) *policyv1.PodDisruptionBudget {
		b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{}}}
		b.Status.DisruptionsAllowed, b.Status.CurrentHealthy, b.Status.DesiredHealthy = allowed, healthy, desired
		if policy != "" {
			b.Spec.UnhealthyPodEvictionPolicy = &policy
		}
		return b
	}
	stale := budget(1, 3, 2, "")
	stale.Generation = 2
	failed := budget(0, 3, 2, "")
	failed.Status.Conditions = []metav1.Condition{{Type: "DisruptionAllowed", Status: "False", Reason: "SyncFailed", Message: "why"}}
	elsewhere := budget(0, 0, 2, "")
	elsewhere.Namespace = "other"
	none := budget(0, 0, 2, "")
	none.Spec.Selector = nil
	const (
		isUp   = `"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}`
		isDown = `"status":{"phase":"Running","conditions":[{"type":"Ready","status":"False"}]}`
	)
	for _, c := range []struct {
		what, pod string
		budgets   []*policyv1.PodDisruptionBudget
		code      int
		rule      string
	}{
		{"no budget", isUp, nil, 201, "no-budget"},
		{"of another namespace", isUp, []*policyv1.PodDisruptionBudget{elsewhere, none}, 201, "no-budget"},
		{"allowed", isUp, []*policyv1.PodDisruptionBudget{budget(1, 3, 2, "")}, 201, "budget-allows"},
		{"spent", isUp, []*policyv1.PodDisruptionBudget{budget(0, 2, 2, "")}, 429, "budget-spent"},
		{"failed", isUp, []*policyv1.PodDisruptionBudget{failed}, 429, "budget-spent"},
		{"stale", isUp, []*policyv1.PodDisruptionBudget{stale}, 429, "budget-stale"},
		{"negative", isUp, []*policyv1.PodDisruptionBudget{budget(-1, 2, 2, "")}, 403, "budget-negative"},
		{"two", isUp, []*policyv1.PodDisruptionBudget{budget(1, 3, 2, ""), budget(1, 3, 2, "")}, 500, "several-budgets"},
		{"two, pending", `"status":{"phase":"Pending"}`, []*policyv1.PodDisruptionBudget{budget(1, 3, 2, ""), budget(1, 3, 2, "")}, 201, "not-budgeted"},
		{"sick, kept", isDown, []*policyv1.PodDisruptionBudget{budget(0, 2, 2, "")}, 201, "unhealthy-budget-kept"},
		{"sick, not kept", isDown, []*policyv1.PodDisruptionBudget{budget(0, 1, 2, "")}, 429, "budget-spent"},
		{"sick, none desired", isDown, []*policyv1.PodDisruptionBudget{budget(0, 1, 0, "")}, 429, "budget-spent"},
		{"sick, always", isDown, []*policyv1.PodDisruptionBudget{budget(0, 1, 2, policyv1.AlwaysAllow)}, 201, "unhealthy-always"},
		{"over", `"status":{"phase":"Failed"}`, []*policyv1.PodDisruptionBudget{budget(0, 1, 2, "")}, 201, "not-budgeted"},
		{"deleted", isUp + `,"metadata":{"deletionTimestamp":"2026-03-01T12:00:20Z","deletionGracePeriodSeconds":30}`, []*policyv1.PodDisruptionBudget{budget(0, 1, 2, "")}, 201, "not-budgeted"},
	} {
		o := ends(t, Ending{Pod: dying(t, c.pod), Cause: CauseAPIEviction, Budgets: c.budgets})
		is(t, c.what, fmt.Sprint(o.Eviction.Code, " ", o.Eviction.Rule.ID), fmt.Sprint(c.code, " eviction/", c.rule))
		if refused := strings.Contains(timeline(o), "eviction refused"); refused == o.Eviction.Allowed || refused == (o.GoneAfterSeconds != nil) {
			t.Errorf("%s: %s", c.what, timeline(o))
		}
	}
	is(t, "said", JudgeEviction(dying(t, isUp), []*policyv1.PodDisruptionBudget{failed}, true).Cause, "The disruption budget b does not allow evicting pods currently because it failed sync: why")
	is(t, "said", JudgeEviction(dying(t, isUp), []*policyv1.PodDisruptionBudget{budget(0, 2, 2, "")}, true).Cause, "The disruption budget b needs 2 healthy pods and has 2 currently")
	o := ends(t, Ending{Pod: dying(t, isUp), Cause: CauseAPIEviction, GracePeriodSeconds: new(int64(7))})
	is(t, "accepted", timeline(o), "0 condition DisruptionTarget, 0 deletion requested, 0 endpoints terminating, 0 SIGTERM c, 7 SIGKILL c, 7 phase Failed, 7 object removed")
}

func TestKubeletPreemption(t *testing.T) {
	o := ends(t, Ending{Pod: dying(t, `"spec":{"terminationGracePeriodSeconds":40}`), Cause: CauseKubeletPreempt})
	is(t, "its own period", []any{o.GracePeriodSeconds, *o.EvictionTimeoutSeconds, o.Phase, o.Reason, o.Message, after(o.GoneAfterSeconds)}, "[40 60 Failed Preempting Preempted in order to admit critical pod 40]")
	is(t, "timeline", timeline(o), "0 preempted, 0 SIGTERM c, 40 SIGKILL c, 40 phase Failed, 40 endpoints removed")
}

func TestRealExits(t *testing.T) {
	spec := `"spec":{"terminationGracePeriodSeconds":30,"initContainers":[{"name":"side","restartPolicy":"Always"}],"containers":[{` + hooked + `},{"name":"d"}]}`
	o := ends(t, Ending{Pod: dying(t, spec), Cause: CauseDelete, PreStopSeconds: map[string]int64{"c": 4}, HookFails: []string{"c"}, ExitSeconds: map[string]int64{"c": 3, "d": 5, "side": 1}})
	is(t, "slowest", timeouts(o)+" "+after(o.GoneAfterSeconds), "c 26, d 30, side 2 32")
	x := o.Expected
	is(t, "real", fmt.Sprint(x.Containers, x.Phase, after(x.GoneAfterSeconds)), "[{c 4 7 0} {d 0 5 0} {side 7 8 0}]Succeeded8")
	is(t, "its timeline", timeline(&Termination{Timeline: x.Timeline}), "0 deletion requested, 0 endpoints terminating, 0 preStop started c, 0 SIGTERM d, 4 preStop failed c, 4 SIGTERM c, 5 exited d, 7 SIGTERM side, 7 exited c, 8 exited side, 8 phase Succeeded, 8 object removed")
	o = ends(t, Ending{Pod: dying(t, spec), Cause: CauseEvictHard, PreStopSeconds: map[string]int64{"c": 0}, ExitSeconds: map[string]int64{"c": 3}})
	is(t, "too slow", fmt.Sprint(o.Expected.Containers, o.Expected.Phase), "[{c 0 2 137} {d 0 2 137} {side 1 3 137}]Failed")
	o = ends(t, Ending{Pod: dying(t, `"spec":{"terminationGracePeriodSeconds":30,"containers":[{"name":"c","livenessProbe":{}}]}`), Cause: CauseLiveness, ExitSeconds: map[string]int64{"c": 3}})
	is(t, "restarted", timeline(&Termination{Timeline: o.Expected.Timeline}), "0 liveness probe failed c, 0 SIGTERM c, 3 exited c, 3 container restarted c")
}

func TestOneCauseAfterAnother(t *testing.T) {
	two := `"spec":{"terminationGracePeriodSeconds":60,"initContainers":[{"name":"side","restartPolicy":"Always"}],"containers":[{"name":"c"}]}`
	for _, c := range []struct {
		what   string
		e      Ending
		events string
		phase  string
		reason string
		period int64
	}{
		{
			"evicted softly, then deleted with less",
			Ending{Cause: CauseEvictSoft, EvictionMaxPodGracePeriod: 40, Then: []Following{{Cause: CauseDelete, AfterSeconds: 10, GracePeriodSeconds: new(int64(5))}}},
			"0 evicted, 0 SIGTERM c, 10 deletion requested, 10 endpoints terminating, 10 SIGTERM c, 15 SIGTERM side, 15 SIGKILL c, 17 SIGKILL side, 17 phase Failed, 17 endpoints removed, 17 object removed", "Failed", "Evicted", 5,
		},
		{
			"evicted at once, then deleted: nothing becomes longer",
			Ending{Cause: CauseEvictHard, Then: []Following{{Cause: CauseDelete, AfterSeconds: 1}}},
			"0 evicted, 0 SIGTERM c, 1 deletion requested, 1 endpoints terminating, 1 SIGTERM side, 2 SIGKILL c, 3 SIGKILL side, 3 phase Failed, 3 endpoints removed, 3 object removed", "Failed", "Evicted", 1,
		},
		{
			"deleted, then evicted at once",
			Ending{Cause: CauseDelete, Then: []Following{{Cause: CauseEvictHard, AfterSeconds: 10}}},
			"0 deletion requested, 0 endpoints terminating, 0 SIGTERM c, 10 evicted, 10 SIGTERM c, 11 SIGTERM side, 12 SIGKILL c, 13 SIGKILL side, 13 phase Failed, 13 endpoints removed, 13 object removed", "Failed", "Evicted", 1,
		},
		{
			"deleted, then evicted with more",
			Ending{Cause: CauseDelete, GracePeriodSeconds: new(int64(20)), EvictionMaxPodGracePeriod: 50, Then: []Following{{Cause: CauseEvictSoft, AfterSeconds: 10}}},
			"0 deletion requested, 0 endpoints terminating, 0 SIGTERM c, 10 evicted, 20 SIGTERM side, 20 SIGKILL c, 22 SIGKILL side, 22 phase Failed, 22 object removed", "Failed", "", 20,
		},
		{
			"the kubelet restarts",
			Ending{Cause: CauseDelete, Then: []Following{{Cause: CauseKubeletRestart, AfterSeconds: 45}}},
			"0 deletion requested, 0 endpoints terminating, 0 SIGTERM c, 45 kubelet restarted, 45 SIGTERM c, 105 SIGTERM side, 105 SIGKILL c, 107 SIGKILL side, 107 phase Failed, 107 object removed", "Failed", "", 60,
		},
		{
			"the runtime restarts when one has stopped",
			Ending{Cause: CauseDelete, Then: []Following{{Cause: CauseRuntimeRestart, AfterSeconds: 61}}},
			"0 deletion requested, 0 endpoints terminating, 0 SIGTERM c, 60 SIGTERM side, 60 SIGKILL c, 61 container runtime restarted, 61 SIGTERM side, 121 SIGKILL side, 121 phase Failed, 121 object removed", "Failed", "", 60,
		},
		{
			"deleted, then by force",
			Ending{Cause: CauseDelete, Then: []Following{{Cause: CauseDelete, AfterSeconds: 10, Force: true}}},
			"0 deletion requested, 0 endpoints terminating, 0 SIGTERM c, 10 deletion requested, 10 object removed, 10 SIGTERM c, 10 endpoints removed, 11 SIGTERM side, 12 SIGKILL c, 13 SIGKILL side", "Running", "", 0,
		},
		{
			"too late",
			Ending{Cause: CauseDelete, Then: []Following{{Cause: CauseDelete, AfterSeconds: 99, Force: true}}},
			"0 deletion requested, 0 endpoints terminating, 0 SIGTERM c, 60 SIGTERM side, 60 SIGKILL c, 62 SIGKILL side, 62 phase Failed, 62 object removed", "Failed", "", 60,
		},
	} {
		c.e.Pod = dying(t, two)
		o := ends(t, c.e)
		is(t, c.what, timeline(o), c.events)
		is(t, c.what, []any{o.Phase, o.Reason, o.GracePeriodSeconds}, []any{c.phase, c.reason, c.period})
	}
}

func TestMirrorPodsComeBack(t *testing.T) {
	static := `"metadata":{"annotations":{"kubernetes.io/config.source":"file","kubernetes.io/config.mirror":"x"}}`
	o := ends(t, Ending{Pod: dying(t, static), Cause: CauseDelete})
	is(t, "deleted", timeline(o), "0 deletion requested, 0 endpoints terminating, 0 object removed, 0 mirror object written again")
	is(t, "it runs on", []any{o.Phase, o.LeftRunning, len(o.Containers), after(o.GoneAfterSeconds)}, "[Running [c] 0 -]")
	o = ends(t, Ending{Pod: dying(t, static), Cause: CauseDelete, Force: true})
	is(t, "by force", timeline(o), "0 deletion requested, 0 object removed, 0 endpoints removed, 0 mirror object written again")
}

func TestWhoIsReplacedWhen(t *testing.T) {
	owned := func(kind string) string {
		return `"metadata":{"ownerReferences":[{"kind":"` + kind + `","name":"o","controller":true}]}`
	}
	o := ends(t, Ending{Pod: dying(t, owned("ReplicaSet")), Cause: CauseDelete})
	is(t, "at its deletion", timeline(o), "0 deletion requested, 0 replacement created, 0 endpoints terminating, 0 SIGTERM c, 30 SIGKILL c, 30 phase Failed, 30 object removed")
	o = ends(t, Ending{Pod: dying(t, owned("ReplicaSet")), Cause: CauseEvictHard})
	is(t, "when it has failed", timeline(o), "0 evicted, 0 SIGTERM c, 2 SIGKILL c, 2 phase Failed, 2 endpoints removed, 2 replacement created")
	o = ends(t, Ending{Pod: dying(t, owned("StatefulSet")), Cause: CauseDelete})
	is(t, "when it is gone", timeline(o), "0 deletion requested, 0 endpoints terminating, 0 SIGTERM c, 30 SIGKILL c, 30 phase Failed, 30 object removed, 30 replacement created")
	o = ends(t, Ending{Pod: dying(t, owned("StatefulSet")), Cause: CauseDelete, Force: true})
	if !strings.Contains(fmt.Sprint(o.Notes), "at most one") {
		t.Errorf("notes %q", o.Notes)
	}
}

func TestServingWithoutCondition(t *testing.T) {
	for what, c := range map[string]struct {
		pod     string
		serving bool
	}{
		"a manifest that is taken to run": {``, true},
		"ready containers":                {`"status":{"phase":"Running","containerStatuses":[{"name":"c","ready":true,"started":true,"state":{"running":{}}}]}`, true},
		"containers that are not ready":   {`"status":{"phase":"Running","containerStatuses":[{"name":"c","state":{"running":{}}}]}`, false},
		"without a node":                  {`"status":{"phase":"Pending"}`, false},
		"the condition counts":            {`"status":{"phase":"Running","conditions":[{"type":"Ready","status":"False"}]}`, false},
	} {
		o := ends(t, Ending{Pod: dying(t, c.pod), Cause: CauseDelete})
		is(t, what, o.Endpoints.Serving, c.serving)
	}
}

func TestCausesThatAreRefused(t *testing.T) {
	for what, c := range map[string]struct {
		e     Ending
		field string
	}{
		"another node":                {Ending{Cause: CauseDelete, NodeGiven: true, Node: aNode(t, `"metadata":{"name":"x"}`)}, "node.metadata.name"},
		"a taint without a node":      {Ending{Cause: CauseTaint}, "node"},
		"a kubelet of no node":        {Ending{Cause: CauseEvictHard, NodeGiven: true}, "cause"},
		"an unknown container":        {Ending{Cause: CauseDelete, ExitSeconds: map[string]int64{"x": 1}}, "exitSeconds[x]"},
		"a negative exit":             {Ending{Cause: CauseDelete, ExitSeconds: map[string]int64{"c": -1}}, "exitSeconds[c]"},
		"an unknown hook":             {Ending{Cause: CauseDelete, HookFails: []string{"x"}}, "hookFails[0]"},
		"after a probe":               {Ending{Cause: CauseLiveness, Container: "c", Then: []Following{{Cause: CauseDelete}}}, "then"},
		"an unknown cause":            {Ending{Cause: CauseDelete, Then: []Following{{Cause: "liveness"}}}, "then[0].cause"},
		"back in time":                {Ending{Cause: CauseDelete, Then: []Following{{Cause: CauseDelete, AfterSeconds: 5}, {Cause: CauseDelete, AfterSeconds: 4}}}, "then[1].afterSeconds"},
		"an eviction that is unknown": {Ending{Cause: CauseEvictHard, Then: []Following{{Cause: CauseKubeletRestart, AfterSeconds: 1}}}, "then[0].cause"},
		"on a node that is lost":      {Ending{Cause: CauseDelete, NodeGiven: true, Then: []Following{{Cause: CauseDelete}}}, "then"},
	} {
		c.e.Pod = dying(t, `"spec":{"containers":[{"name":"c","livenessProbe":{}}]}`)
		out, errs := Terminate(c.e)
		if out != nil || len(errs) != 1 || errs[0].Field != c.field {
			t.Errorf("%s: %v", what, lines(errs))
		}
	}
}

// TestEndsOfNodesWithoutATime: lifecycle and termination take the same view of a
// node, and neither makes up a time.
func TestEndsOfNodesWithoutATime(t *testing.T) {
	for _, c := range []struct{ what, node, rule, detail, notes string }{
		{"undated", `"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}`, "since-unknown", "when the pod is deleted is not known", "its condition Ready has no lastTransitionTime"},
		{"no Ready", `"status":{"conditions":[{"type":"DiskPressure","status":"False"}]}`, "since-unknown", "when the pod is deleted is not known", "no condition Ready and no metadata.creationTimestamp"},
		{"no conditions", `"status":{"allocatable":{"cpu":"1"}}`, "none", "nothing deletes the pod", ""},
	} {
		n, p := aNode(t, c.node), dying(t, `"metadata":{"uid":"u"}`)
		o := ends(t, Ending{Pod: p, Cause: CauseTaint, Node: n, NodeGiven: true})
		l, errs := Live(LifeQuestion{Pod: p, Node: n, NodeGiven: true, Now: hour})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		is(t, c.what, []any{o.NodeDeletion.Rule.ID, o.NodeDeletion.At, o.Endpoints.Detail}, []any{"node-deletion/" + c.rule, l.NodeDeletion.At, c.detail})
		is(t, c.what, o.NodeDeletion.Rule, l.NodeDeletion.Rule)
		if notes := strings.Join(o.Notes, "; "); !strings.Contains(notes, c.notes) {
			t.Errorf("%s: notes %s", c.what, notes)
		}
		stays := ends(t, Ending{Pod: p, Cause: CauseDelete, Node: n, NodeGiven: true}).StaysTerminating
		is(t, c.what+" deleted", stays, c.rule == "since-unknown")
	}
}

// TestOverdueEnds: an end that is past is not told as a negative time.
func TestOverdueEnds(t *testing.T) {
	o := ends(t, Ending{Pod: dying(t, `"metadata":{"deletionTimestamp":"2026-03-01T11:00:20Z","deletionGracePeriodSeconds":30}`), Cause: CauseDelete, ExitSeconds: map[string]int64{"c": 3}})
	is(t, "gone", []any{after(o.GoneAfterSeconds), clocked(o.OverdueSince), after(o.Expected.GoneAfterSeconds)}, []any{"0", "11:00:20", "0"})
	if notes := strings.Join(o.Notes, "; "); !strings.Contains(notes, "overdue: it was to be gone at the latest at 2026-03-01T11:00:20Z") {
		t.Error(notes)
	}
	o = ends(t, Ending{Pod: dying(t, `"metadata":{"deletionTimestamp":"2026-03-01T12:00:20Z","deletionGracePeriodSeconds":30}`), Cause: CauseDelete})
	is(t, "in time", []any{after(o.GoneAfterSeconds), clocked(o.OverdueSince)}, []any{"20", ""})
}
