package handlers

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

// full is a cluster of full nodes; the pods' names say where they are and at
// which priority, and a budget stands before those of app web.
func full() string {
	on := func(name, node, cpu string, priority int, app string) string {
		return strings.Replace(pod(name, cpu, fmt.Sprintf(`,"nodeName":%q,"priority":%d`, node, priority)), `"uid"`, `"labels":{"app":"`+app+`"},"uid"`, 1)
	}
	return listOf(node("n1", "2"), node("n2", "2"), node("n3", "1"),
		on("a1", "n1", "1", 1, "web"), on("a5", "n1", "1", 5, "db"),
		on("b1", "n2", "1", 1, "web"), on("b200", "n2", "1", 200, "db"),
		on("c1", "n3", "1", 1, "db"),
		`{"kind":"PodDisruptionBudget","apiVersion":"policy/v1","metadata":{"name":"web","namespace":"shop"},"spec":{"selector":{"matchLabels":{"app":"web"}}},"status":{"disruptionsAllowed":0}}`)
}

func uids(names ...string) *extenderv1.MetaVictims {
	v := &extenderv1.MetaVictims{Pods: []*extenderv1.MetaPod{}}
	for _, n := range names {
		v.Pods = append(v.Pods, &extenderv1.MetaPod{UID: "uid-" + n})
	}
	return v
}

func violating(n int64, v *extenderv1.MetaVictims) *extenderv1.MetaVictims {
	v.NumPDBViolations = n
	return v
}

type byNode = map[string]*extenderv1.MetaVictims

func TestPreemptByUID(t *testing.T) {
	h := start(t, nil)
	h.upload("default", full())
	for _, c := range []struct {
		name, pod string
		ask, want byNode
	}{
		{"what kube-scheduler found is confirmed, violations counted anew", pod("p", "1", `,"priority":100`), byNode{"n1": violating(7, uids("a1")), "n3": uids("c1")}, byNode{"n1": violating(1, uids("a1")), "n3": uids("c1")}},
		{"a node that does not take the pod even so is left out", pod("p", "2", `,"priority":100`), byNode{"n2": uids("b1"), "n3": uids("c1"), "n1": uids("a5", "a1")}, byNode{"n1": violating(1, uids("a5", "a1"))}},
		{"victims that are missing are added, in order of priority", pod("p", "2", `,"priority":100`), byNode{"n1": uids("a1")}, byNode{"n1": violating(1, uids("a5", "a1"))}},
		{"of those that are added no more than needed, and first those that no budget guards", pod("p", "1", `,"priority":100`), byNode{"n1": uids()}, byNode{"n1": uids("a5")}},
		{"a node that needs no victim is given back without any (22)", pod("p", "0", `,"priority":100`), byNode{"n1": uids(), "n2": nil}, byNode{"n1": uids(), "n2": uids()}},
		{"pods that berth does not know there stay, behind those of higher priority (25, 28)", pod("p", "1", `,"priority":100`), byNode{"n1": uids("a5", "new", "a1"), "n3": violating(2, uids("new", "c1"))}, byNode{"n1": violating(1, uids("a5", "new", "a1")), "n3": violating(2, uids("new", "c1"))}},
		{"a node that berth does not know stays as it came", pod("p", "1", `,"priority":100`), byNode{"new": violating(3, uids("x", "y"))}, byNode{"new": violating(3, uids("x", "y"))}},
		{"nobody is asked about", pod("p", "1", ""), byNode{}, byNode{}},
		{"nowhere it would fit: preemption does not help (24)", pod("p", "64", `,"priority":100`), byNode{"n1": uids("a1")}, byNode{}},
		{"a null among the pods is nobody (26)", pod("p", "1", `,"priority":100`), byNode{"n3": {Pods: []*extenderv1.MetaPod{nil, {UID: "uid-c1"}}}}, byNode{"n3": uids("c1")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h.T = t
			ask, err := json.Marshal(c.ask)
			if err != nil {
				t.Fatal(err)
			}
			var got extenderv1.ExtenderPreemptionResult
			a := h.want(200, &got, "POST", "/preempt", fmt.Sprintf(`{"Pod":%s,"NodeNameToVictims":null,"NodeNameToMetaVictims":%s}`, c.pod, ask))
			if d := cmp.Diff(c.want, got.NodeNameToMetaVictims); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if strings.Contains(string(a.body), "null") {
				t.Errorf("kube-scheduler would crash on the null (26): %s", a.body)
			}
			id := a.Header.Get("Berth-Decision-Id")
			var replay struct{ Identical bool }
			if h.want(200, &replay, "POST", "/v1/decisions/"+id+"/replay", `{}`); !replay.Identical {
				t.Errorf("the replay of %s differs", id)
			}
		})
	}
}

// TestPreemptByPods sends whole pods, as kube-scheduler does without
// nodeCacheCapable; the answer is by UID all the same (23).
func TestPreemptByPods(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", full())
	whole := func(name string, priority int32, app string) *corev1.Pod {
		p := &corev1.Pod{}
		if err := json.Unmarshal([]byte(fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"shop","uid":"uid-%s","labels":{"app":%q}},"spec":{"priority":%d}}`, name, name, app, priority)), p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	ask := extenderv1.ExtenderPreemptionArgs{NodeNameToVictims: map[string]*extenderv1.Victims{
		"n1": {Pods: []*corev1.Pod{whole("a1", 1, "web")}, NumPDBViolations: 9},
		// berth has not heard of these yet: their own priority and labels count.
		"n3": {Pods: []*corev1.Pod{whole("c1", 1, "db"), whole("c9", 9, "web"), nil}},
	}}
	if err := json.Unmarshal([]byte(pod("p", "1", `,"priority":100`)), &ask.Pod); err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(ask)
	if err != nil {
		t.Fatal(err)
	}
	var got extenderv1.ExtenderPreemptionResult
	a := h.want(200, &got, "POST", "/clusters/prod/preempt", string(body))
	want := byNode{"n1": violating(1, uids("a1")), "n3": violating(1, uids("c9", "c1"))}
	if d := cmp.Diff(want, got.NodeNameToMetaVictims); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	var d struct {
		Verb       string
		Outcome    string
		Preemption struct {
			Candidates []struct {
				Node    string
				Victims []struct {
					Name    string
					Unknown bool
				}
			}
		}
	}
	h.want(200, &d, "GET", "/v1/decisions/"+a.Header.Get("Berth-Decision-Id"), "")
	if d.Verb != "preempt" || d.Outcome != "Preempting" || len(d.Preemption.Candidates) != 2 || !d.Preemption.Candidates[1].Victims[0].Unknown {
		t.Errorf("%+v", d)
	}
}

func TestPreemptRefusesWhatIsNotTheProtocol(t *testing.T) {
	h := start(t, nil)
	h.upload("default", full())
	for _, c := range []struct {
		body   string
		status int
	}{
		{`{`, 400},
		{`{"NodeNameToMetaVictims":{}}`, 400},
		{`{"Pod":` + pod("p", "1", "") + `}`, 400},
		{`{"Pod":` + pod("p", "1", "") + `,"NodeNameToVictims":{"n1":{"Pods":[{"metadata":7}]}}}`, 400},
		{`{"Pod":{"spec":7},"NodeNameToMetaVictims":{}}`, 400},
		{`{"Pod":` + pod("a1", "1", "") + `,"NodeNameToMetaVictims":{}}`, 409}, // bound
	} {
		h.want(c.status, nil, "POST", "/preempt", c.body)
	}
	h.want(404, nil, "POST", "/clusters/none/preempt", `{"Pod":`+pod("p", "1", "")+`,"NodeNameToMetaVictims":{}}`)
}

func TestDecisionsPreempt(t *testing.T) {
	h := start(t, nil)
	h.upload("default", full())
	body := func(more string) string { return `{"pod":` + pod("p", "1", `,"priority":100`) + more + `}` }
	var off struct {
		Outcome, Message string
		Preemption       *struct{}
	}
	h.want(201, &off, "POST", "/v1/decisions", body(`,"preempt":false`))
	if off.Outcome != "Unschedulable" || off.Preemption != nil || off.Message != "0/3 nodes are available: 3 Insufficient cpu." {
		t.Errorf("%+v", off)
	}
	var d struct {
		Outcome, NominatedNode, NominatedSnapshot string
		NotEvaluated                              []struct{ Plugin string }
		Preemption                                struct {
			Eligible            bool
			Node                string
			NumPDBViolations    int
			StartsWithinSeconds int
			Victims             []struct {
				Namespace, Name, UID string
				Priority             int
				GracePeriodSeconds   int
			}
			Candidates []struct{ Node string }
		}
	}
	h.want(201, &d, "POST", "/v1/decisions", body(`,"snapshot":"default@latest","bind":true`))
	p := d.Preemption
	if d.Outcome != "Preempting" || d.NominatedNode != "n3" || d.NominatedSnapshot != "default@2" || len(d.NotEvaluated) != 0 {
		t.Errorf("%+v", d)
	}
	if !p.Eligible || p.Node != "n3" || p.NumPDBViolations != 0 || p.StartsWithinSeconds != 30 || len(p.Victims) != 1 || p.Victims[0].UID != "uid-c1" || len(p.Candidates) != 3 {
		t.Errorf("%+v", p)
	}
	h.want(201, nil, "POST", "/v1/snapshots/default@latest/changes", `{"delete":[{"kind":"Pod","namespace":"shop","name":"c1"}]}`)
	var b struct{ Outcome, Node, BoundSnapshot string }
	h.want(201, &b, "POST", "/v1/decisions", `{"snapshot":"default@latest","podRef":{"namespace":"shop","name":"p"},"bind":true}`)
	if b.Outcome != "Scheduled" || b.Node != "n3" || b.BoundSnapshot != "default@4" {
		t.Errorf("%+v", b)
	}
}
