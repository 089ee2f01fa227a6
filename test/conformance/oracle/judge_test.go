package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

const (
	n1     = `{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1","labels":{"kubernetes.io/hostname":"n1","topology.kubernetes.io/zone":"a"}},"status":{"capacity":{"cpu":"2","memory":"4Gi","pods":"10"}}}`
	n2     = `{"kind":"Node","apiVersion":"v1","metadata":{"name":"n2","labels":{"kubernetes.io/hostname":"n2","topology.kubernetes.io/zone":"b"}},"status":{"capacity":{"cpu":"2","memory":"4Gi","pods":"10"}}}`
	suffix = "no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
)

// tainted is n2 with a taint of an effect.
func tainted(effect string) string {
	return strings.Replace(n2, `"status"`, `"spec":{"taints":[{"key":"k","effect":"`+effect+`"}]},"status"`, 1)
}

// p is the pod to decide; spec and status are JSON objects without braces.
func p(spec, status string) string {
	if spec != "" {
		spec += ","
	}
	return `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","labels":{"app":"x","v":"1"}},"spec":{` + spec + `"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]},"status":{` + status + `}}`
}

// on is a running pod of label app=x.
func on(node, name, spec string) string {
	return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"labels":{"app":"x","v":"1"}},"spec":{%s"nodeName":%q,"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"500m"}}}]},"status":{"phase":"Running","startTime":"2026-01-01T00:00:00Z"}}`, name, spec, node)
}

func judge(t *testing.T, objects ...string) *Verdict {
	t.Helper()
	c := &Case{Pod: Key{"default", "p"}}
	for _, o := range objects {
		c.Objects = append(c.Objects, json.RawMessage(o))
	}
	if bad, err := Invalid(c); err != nil || len(bad) > 0 {
		t.Fatalf("invalid case: %v %v", bad, err)
	}
	v, err := Judge(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestUnschedulable(t *testing.T) {
	spread := `"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"rack","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"x"}}}],"nodeSelector":{"kubernetes.io/hostname":"n1"}`
	anti := `"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchLabels":{"app":"x"}}}]}}`
	byName := `"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}]}}},"priority":0`
	big := on("n1", "big", `"priority":5,"resources":{"requests":{"cpu":"1500m"}},`)
	for name, tc := range map[string]struct {
		objects    []string
		message    string
		postFilter string
	}{
		"no nodes": {[]string{p("", "")}, "no nodes available to schedule pods", ""},
		"taints": {
			[]string{tainted("NoExecute"), p(`"nodeName":"","nodeSelector":{"kubernetes.io/hostname":"n2"}`, ""), n1},
			"0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint(s).", suffix,
		},
		"fit": {
			[]string{n1, tainted("NoSchedule"), big, p("", "")},
			"0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s).",
			"no new claims to deallocate, preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.",
		},
		"missing key": {
			[]string{n1, n2, p(spread, "")},
			"0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) didn't match pod topology spread constraints (missing required label).", suffix,
		},
		"anti-affinity": {
			[]string{n1, n2, on("n1", "a", ""), on("n2", "b", ""), p(anti, "")},
			"0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules.",
			"no new claims to deallocate, preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.",
		},
		"narrowed, nominated node leaks": {
			[]string{n1, n2, big, on("n2", "b", `"priority":5,"resources":{"requests":{"cpu":"1500m"}},`), p(byName, `"nominatedNodeName":"n1"`)},
			"0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeAffinity NodeResourcesFit].",
			"no new claims to deallocate, preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := judge(t, tc.objects...)
			if v.Outcome != Unschedulable || v.Message != tc.message || v.PostFilter != tc.postFilter {
				t.Errorf("got %s\n%q\n%q", v.Outcome, v.Message, v.PostFilter)
			}
		})
	}
}

func TestSkew(t *testing.T) {
	v := judge(t, n1, n2, on("n1", "a", ""),
		p(`"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"x"}},"matchLabelKeys":["v"]}]`, ""))
	if v.Outcome != Scheduled || !slices.Equal(v.Feasible, []string{"n2"}) || v.Scores != nil {
		t.Fatalf("got %+v", v)
	}
	want := Failure{"PodTopologySpread", "Unschedulable", []string{"node(s) didn't match pod topology spread constraints"}, []string{"n1"}}
	if len(v.Failures) != 1 || fmt.Sprint(v.Failures[0]) != fmt.Sprint(want) {
		t.Errorf("got %+v", v.Failures)
	}
}

// TestVolumes shows that the stores reach the binder and the other rules.
func TestVolumes(t *testing.T) {
	class := `{"kind":"StorageClass","apiVersion":"storage.k8s.io/v1","metadata":{"name":"local"},"provisioner":"kubernetes.io/no-provisioner","volumeBindingMode":"WaitForFirstConsumer"}`
	claim := `{"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"c"},"spec":{"storageClassName":"local","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`
	volume := `{"kind":"PersistentVolume","apiVersion":"v1","metadata":{"name":"v"},"spec":{"storageClassName":"local","capacity":{"storage":"2Gi"},"accessModes":["ReadWriteOnce"],"local":{"path":"/v"},
	 "nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"kubernetes.io/hostname","operator":"In","values":["n2"]}]}]}}},"status":{"phase":"Available"}}`
	v := judge(t, n1, n2, class, claim, volume, p(`"volumes":[{"name":"d","persistentVolumeClaim":{"claimName":"c"}}]`, ""))
	want := Failure{"VolumeBinding", "UnschedulableAndUnresolvable", []string{"node(s) didn't find available persistent volumes to bind"}, []string{"n1"}}
	if v.Outcome != Scheduled || !slices.Equal(v.Feasible, []string{"n2"}) || len(v.Failures) != 1 || fmt.Sprint(v.Failures[0]) != fmt.Sprint(want) {
		t.Errorf("got %+v", v)
	}
}

// TestDevices shows that claims and classes reach the plugin, the set of allocated
// devices, and the mapping of extended resources.
func TestDevices(t *testing.T) {
	slice := func(node string) string {
		return fmt.Sprintf(`{"kind":"ResourceSlice","apiVersion":"resource.k8s.io/v1","metadata":{"name":"s-%[1]s"},"spec":{"driver":"d.example.com","nodeName":"%[1]s","pool":{"name":"%[1]s","generation":1,"resourceSliceCount":1},"devices":[{"name":"x"}]}}`, node)
	}
	class := `{"kind":"DeviceClass","apiVersion":"resource.k8s.io/v1","metadata":{"name":"c"},"spec":{"extendedResourceName":"example.com/x"}}`
	claim := func(name, status string) string {
		return fmt.Sprintf(`{"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1","metadata":{"name":%q},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c"}}]}}%s}`, name, status)
	}
	taken := claim("other", `,"status":{"allocation":{"devices":{"results":[{"request":"r","driver":"d.example.com","pool":"n1","device":"x"}]}}}`)
	want := Failure{"DynamicResources", "UnschedulableAndUnresolvable", []string{"cannot allocate all claims"}, []string{"n1"}}
	for name, pod := range map[string]string{
		"by claim":    p(`"resourceClaims":[{"name":"r","resourceClaimName":"mine"}]`, ""),
		"by resource": strings.Replace(p("", ""), `"requests":{"cpu":"1"}`, `"limits":{"example.com/x":"1"}`, 1),
	} {
		v := judge(t, n1, n2, slice("n1"), slice("n2"), class, taken, claim("mine", ""), pod)
		if v.Outcome != Scheduled || !slices.Equal(v.Feasible, []string{"n2"}) || len(v.Failures) != 1 || fmt.Sprint(v.Failures[0]) != fmt.Sprint(want) {
			t.Errorf("%s: got %+v", name, v)
		}
		if name == "by claim" && !slices.Equal(v.Devices["n2"], []string{"mine r d.example.com/n2/x"}) {
			t.Errorf("got %v", v.Devices)
		}
	}
	if v := judge(t, n1, class, p(`"resourceClaims":[{"name":"r","resourceClaimName":"mine"}]`, "")); v.Outcome != Gated || v.Message != `could not find ResourceClaim "default/mine"` {
		t.Errorf("got %+v", v)
	}
}

func TestGated(t *testing.T) {
	v := judge(t, n1, p(`"schedulingGates":[{"name":"example.com/a"},{"name":"example.com/b"}]`, ""))
	if v.Outcome != Gated || !slices.Equal(v.Gates, []string{"example.com/a", "example.com/b"}) {
		t.Errorf("got %+v", v)
	}
}

func TestNominatedIsTakenUnscored(t *testing.T) {
	v := judge(t, n1, n2, on("n2", "b", ""), p("", `"nominatedNodeName":"n2"`))
	if v.Outcome != Scheduled || !v.Nominated || !slices.Equal(v.Best, []string{"n2"}) || v.Scores != nil {
		t.Errorf("got %+v", v)
	}
}

func TestDefaultSpreading(t *testing.T) {
	service := `{"kind":"Service","apiVersion":"v1","metadata":{"name":"s"},"spec":{"selector":{"app":"x"}}}`
	v := judge(t, n1, n2, on("n1", "a", ""), service, p("", ""))
	i := slices.Index(v.Scores.Plugins, "PodTopologySpread")
	if i < 0 || v.Scores.Nodes["n1"].Normalized[i] >= v.Scores.Nodes["n2"].Normalized[i] {
		t.Fatalf("got %+v", v.Scores)
	}
	// Without the service there is no selector, and the plugin has no say.
	if v = judge(t, n1, n2, on("n1", "a", ""), p("", "")); slices.Contains(v.Scores.Plugins, "PodTopologySpread") {
		t.Errorf("got %v", v.Scores.Plugins)
	}
}

func TestPreemption(t *testing.T) {
	full := func(node, name string, priority int) string {
		return on(node, name, fmt.Sprintf(`"priority":%d,"resources":{"requests":{"cpu":"1500m"}},`, priority))
	}
	v := judge(t, n1, n2, full("n1", "a", 1), full("n2", "b", 2), p(`"priority":10`, ""))
	if v.PostFilter != "" || len(v.Preemption.Candidates) != 2 || !slices.Equal(v.Preemption.Choices, []string{"n1"}) {
		t.Errorf("got %q %+v", v.PostFilter, v.Preemption)
	}
	v = judge(t, n1, n2, full("n1", "a", 1), full("n2", "b", 1), p(`"priority":10`, ""))
	if !slices.Equal(v.Preemption.Choices, []string{"n1", "n2"}) {
		t.Errorf("equal candidates: got %+v", v.Preemption)
	}
	v = judge(t, n1, full("n1", "a", 1), p(`"priority":10,"preemptionPolicy":"Never"`, ""))
	if v.Preemption.Eligible || v.PostFilter != "no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never." {
		t.Errorf("got %q %+v", v.PostFilter, v.Preemption)
	}
}

// TestPreemptionOfFewNodes: arguments by which upstream tries none of a few nodes hide no
// candidate, and nothing of what the pod is told.
func TestPreemptionOfFewNodes(t *testing.T) {
	victim := on("n1", "a", `"priority":1,"resources":{"requests":{"cpu":"1500m"}},`)
	c := &Case{Pod: Key{"default", "p"}, Config: json.RawMessage(`{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","profiles":[{"pluginConfig":[
		{"name":"DefaultPreemption","args":{"minCandidateNodesPercentage":10,"minCandidateNodesAbsolute":0}}]}]}`)}
	for _, o := range []string{n1, victim, p(`"priority":10`, "")} {
		c.Objects = append(c.Objects, json.RawMessage(o))
	}
	few, err := Judge(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	c.Config = nil
	all, err := Judge(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprintf("%+v", few.Preemption), fmt.Sprintf("%+v", all.Preemption); got != want || len(few.Preemption.Choices) != 1 {
		t.Errorf("got %s, by the default arguments %s", got, want)
	}
}
