package scenario_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/scenario"
	"berth/internal/world"
	"berth/test/enginetest"
)

// shownEach writes an answer about each node shortly: NODE workers, + for a leader that fits with
// those beside it.
func shownEach(list []scenario.FitNode) string {
	var out []string
	for _, n := range list {
		text := fmt.Sprint(n.Node, " ", n.Count)
		if n.More {
			text += " or more"
		}
		if n.Leader != nil && *n.Leader {
			text += fmt.Sprint(" +", *n.Beside)
		} else if n.Leader != nil {
			text += fmt.Sprint(" -", *n.Beside)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func TestFitEach(t *testing.T) {
	v := viewOf(t, enginetest.Node("c", enginetest.Allocatable("cpu", "9", "memory", "8Gi", "pods", "10")),
		enginetest.Node("a", enginetest.Allocatable("cpu", "4", "memory", "8Gi", "pods", "10")),
		enginetest.Node("b", enginetest.Allocatable("cpu", "2", "memory", "8Gi", "pods", "10")),
		enginetest.Node("few", enginetest.Allocatable("cpu", "9", "memory", "8Gi", "pods", "2")),
		enginetest.Node("none", enginetest.Allocatable("cpu", "500m", "memory", "8Gi", "pods", "10")),
		enginetest.Pod("worker-0", enginetest.Requests("cpu", "1"), enginetest.On("a")))
	worker := enginetest.Pod("worker", enginetest.Requests("cpu", "1"), enginetest.Gate("later"))
	leader := enginetest.Pod("leader", enginetest.Requests("cpu", "2500m"))
	apart := worker.DeepCopy() // each worker excludes others of its labels from its node
	apart.Labels = map[string]string{"app": "w"}
	apart.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
		TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: apart.Labels},
	}}}}
	o := world.Options{Profiles: profileOf(t, rules.DefaultSpec()), Now: noon}
	for _, c := range []struct {
		pod, leader *corev1.Pod
		most        int
		want        string
	}{
		{worker, nil, 100, "a 3, b 2, c 9, few 2, none 0"},
		{worker, leader, 100, "a 3 +0, b 2 -0, c 9 +6, few 2 +1, none 0 -0"},
		{worker, leader, 3, "a 3 or more +0, b 2 -0, c 3 or more +3, few 2 +1, none 0 -0"},
		{apart, apart, 100, "a 1 +0, b 1 +0, c 1 +0, few 1 +0, none 0 -0"},
	} {
		got, err := scenario.EachOf(t.Context(), v, o, c.pod, c.leader, c.most)
		if err != nil || shownEach(got) != c.want {
			t.Errorf("%s, %v; want %s", shownEach(got), err, c.want)
		}
	}
}

// alone counts replicas of a pod on one node by plain decisions, and returns the state that they
// leave.
func alone(t *testing.T, st *state.State, p *engine.Profile, pod *corev1.Pod, node string, most int) (int, *state.State) {
	n := 0
	for i := 0; n < most; i++ {
		one := scenario.ReplicasOf(pod).Pod(i)
		if st.Pod(one.Namespace, one.Name) != nil {
			continue
		}
		one, _, err := decision.ResolvePriority(st, one, nil)
		if err != nil {
			break
		}
		r, err := engine.Decide(st, one, p, engine.Options{Now: noon, NoPreemption: true, Candidates: []string{node}})
		if err != nil || r.Outcome != engine.Scheduled {
			break
		}
		effects, err := r.Effects()
		if err != nil {
			break
		}
		e := st.Edit()
		for _, x := range effects.Claims {
			x.UID = object.DerivedUID(object.Key{Kind: "ResourceClaim", Namespace: x.Namespace, Name: x.Name})
			_ = e.Put(x)
		}
		for _, x := range effects.Volumes {
			_ = e.Put(x)
		}
		for _, x := range effects.VolumeClaims {
			_ = e.Put(x)
		}
		if err := e.Bind(object.WithTopology(one, r.Nodes().Node(r.Row).Labels), node); err != nil {
			t.Fatal(err)
		}
		r.Release()
		st = e.Done()
		n++
	}
	return n, st
}

// TestFitEachEqualsDecisions counts on each node by as many plain decisions as it takes.
func TestFitEachEqualsDecisions(t *testing.T) {
	counted, beside := 0, 0
	for seed := range uint64(60) {
		c, other := enginetest.Generate(seed), enginetest.Generate(seed+1000)
		plain := func(from *corev1.Pod, name string) *corev1.Pod {
			p := from.DeepCopy()
			p.Name, p.Namespace, p.Spec.NodeName, p.Spec.SchedulingGates, p.Status = name, c.Pod.Namespace, "", nil, corev1.PodStatus{}
			p.Spec.ResourceClaims = nil
			p.Spec.Volumes = slices.DeleteFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return v.Ephemeral != nil || name == "leader" })
			return p
		}
		pod, leader := plain(c.Pod, "worker"), plain(other.Pod, "leader")
		leader.Spec.SchedulerName, leader.Spec.PriorityClassName = pod.Spec.SchedulerName, ""
		v, profiles := viewOf(t, c.Objects...), profileOf(t, c.Spec)
		got, err := scenario.EachOf(t.Context(), v, world.Options{Profiles: profiles, Now: noon}, pod, leader, 6)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, n := range got {
			count, _ := alone(t, v.State, profiles[0], pod, n.Node, 6)
			fits, st := alone(t, v.State, profiles[0], leader, n.Node, 1)
			with := 0
			if fits == 1 {
				with, _ = alone(t, st, profiles[0], pod, n.Node, 6)
			}
			if n.Count != count || *n.Leader != (fits == 1) || *n.Beside != with {
				t.Errorf("seed %d: %s; alone %d, %d, %d", seed, shownEach([]scenario.FitNode{n}), count, fits, with)
			}
			counted, beside = counted+count, beside+with
		}
	}
	if counted < 200 || beside < 50 {
		t.Errorf("%d replicas, %d beside a leader: this shows little", counted, beside)
	}
}

func TestFitEachQuestions(t *testing.T) {
	v := viewOf(t, enginetest.Node("a", enginetest.Allocatable("cpu", "4", "memory", "8Gi", "pods", "10")))
	pod := json.RawMessage(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"w","namespace":"default"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}`)
	ask := func(q *scenario.FitQuestion) (*scenario.Fit, error) {
		q.Pod, q.Sensitivity = pod, new(bool)
		s := stageOf(t, v)
		s.Editor.ReadPod = func(_ string, raw json.RawMessage) (*corev1.Pod, error) {
			o, err := object.Decode(raw, object.Limits{})
			if err != nil {
				return nil, err
			}
			return o.Value.(*corev1.Pod), nil
		}
		got, err := q.Answer(t.Context(), s)
		if err != nil {
			return nil, err
		}
		return got.(*scenario.Fit), nil
	}
	plain, err := ask(&scenario.FitQuestion{})
	if err != nil || plain.Each != nil {
		t.Fatalf("%+v, %v", plain, err)
	}
	each, err := ask(&scenario.FitQuestion{Each: "node", Leader: pod})
	if err != nil || shownEach(each.Each) != "a 4 +3" || each.Count != 4 || each.Digest == plain.Digest {
		t.Errorf("%+v, %v", each, err)
	}
	for want, q := range map[string]*scenario.FitQuestion{"each": {Each: "zone"}, "leader": {Leader: pod}} {
		if _, err := ask(q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
