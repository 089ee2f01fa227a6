package engine_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/explain/suggest"
	"berth/internal/engine/recall"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/test/enginetest"
)

// unheard is a pod whose names are all new to the state.
func unheard(i int) *corev1.Pod {
	word := func(s string) string { return fmt.Sprintf("%s-%d", s, i) }
	p := enginetest.Pod(word("pod"))
	p.Namespace, p.Labels = word("namespace"), map[string]string{word("label"): word("value")}
	p.Spec.SchedulerName, p.Spec.PriorityClassName = word("scheduler"), word("class")
	p.Spec.NodeSelector = map[string]string{word("selector"): word("value")}
	p.Spec.Tolerations = []corev1.Toleration{{Key: word("taint"), Operator: corev1.TolerationOpExists}}
	p.Spec.Containers[0].Image = word("image")
	p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: int32(i%60000 + 1), HostIP: fmt.Sprintf("10.0.%d.%d", i/250, i%250)}}
	p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceName("example.com/" + word("resource")): resource.MustParse("1"),
	}
	if i%2 == 0 { // which needs the whole arithmetic
		p.Spec.InitContainers = []corev1.Container{{Name: "i", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceName("example.com/" + word("init")): resource.MustParse("1"),
		}}}}
	}
	sel := &metav1.LabelSelector{MatchLabels: map[string]string{word("label"): word("value")}}
	p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: word("topology"), WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: sel}}
	p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
		{TopologyKey: word("topology"), LabelSelector: sel, Namespaces: []string{word("namespace")}},
	}}}
	p.Spec.Volumes = []corev1.Volume{
		{Name: "disk", VolumeSource: corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: word("disk")}}},
		{Name: "rbd", VolumeSource: corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{RBDImage: word("image"), RBDPool: word("pool"), CephMonitors: []string{word("monitor")}}}},
	}
	if i%3 == 0 {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: word("claim")},
		}})
	}
	return p
}

// busy is a state whose nodes limit volumes and whose pods hold a little of everything.
func busy(t *testing.T) *state.State {
	t.Helper()
	limit := int32(3)
	var list []any
	for i := range 3 {
		n := enginetest.Node(fmt.Sprintf("n%d", i))
		n.Status.Allocatable["example.com/known"] = resource.MustParse("4")
		list = append(list, n, &storagev1.CSINode{
			ObjectMeta: metav1.ObjectMeta{Name: n.Name},
			Spec:       storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "ebs.csi.aws.com", NodeID: n.Name, Allocatable: &storagev1.VolumeNodeResources{Count: &limit}}}},
		})
		p := unheard(1_000_000 + i)
		p.Spec.NodeName = n.Name
		list = append(list, p)
	}
	s, err := enginetest.State(list...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What a question names must not stay in the tables that all revisions of a cluster share.
func TestQuestionsLeaveNothingInTheTables(t *testing.T) {
	s := busy(t)
	p, err := rules.Build(rules.DefaultSpec())
	if err != nil {
		t.Fatal(err)
	}
	remembering := recall.NewDecider(0)
	s.Attachments(false) // which interns what the state's own pods mount
	before := s.Tables().Entries()
	for i := range 10_000 {
		state, pod := s, unheard(i)
		if i%4 == 0 {
			n := enginetest.Node("n1")
			n.Status.Allocatable[corev1.ResourceName(fmt.Sprintf("example.com/resource-%d", i))] = resource.MustParse("1")
			n.Status.Allocatable[corev1.ResourceName(fmt.Sprintf("example.com/unasked-%d", i))] = resource.MustParse("1")
			e := s.Overlay()
			if err := e.Put(n); err != nil {
				t.Fatal(err)
			}
			state = e.Done()
		}
		r, err := engine.Decide(state, pod, p, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		explain.Decision(r, engine.ExplainFull)
		if i%100 == 0 {
			suggest.Suggest(suggest.Question{State: state, Pod: pod, Profile: p, Object: func(_, _, name string) []byte {
				js, err := json.Marshal(enginetest.Node(name))
				if err != nil {
					t.Fatal(err)
				}
				return js
			}}, r)
		}
		r.Release()
		if i%10 == 0 {
			if r, err = remembering.Decide(state, pod, p, engine.Options{}); err != nil {
				t.Fatal(err)
			}
			r.Release()
		}
	}
	if after := s.Tables().Entries(); after != before {
		t.Errorf("10,000 questions made %d entries of %d", after, before)
	}
}

// An answer is the same whether or not the tables hold the question's words already.
func TestLocalNamesChangeNoAnswer(t *testing.T) {
	t.Parallel()
	from, to := enginetest.Seeds(t, 1500)
	for seed := from; seed < to; seed++ {
		c := enginetest.Mixed(seed)
		s, err := enginetest.State(c.Objects...)
		if err != nil {
			continue
		}
		want, wantErr := c.DecideOn(s)
		// The same state once a pod with all those words was there and went.
		if s, err = enginetest.State(c.Objects...); err != nil {
			t.Fatal(err)
		}
		s.Attachments(false)
		e := s.Edit()
		for _, row := range s.Nodes().Order() {
			p := c.Pod.DeepCopy()
			p.Name = fmt.Sprint("gone-", row)
			p.Spec.NodeName = s.Nodes().Node(int(row)).Name
			if err := e.Put(p); err != nil {
				t.Fatal(err)
			}
			e.Delete("Pod", p.Namespace, p.Name)
		}
		got, gotErr := c.DecideOn(e.Done())
		if diff := cmp.Diff(want, got); diff != "" || fmt.Sprint(wantErr) != fmt.Sprint(gotErr) {
			t.Fatalf("seed %d: %v, %v\n%s", seed, wantErr, gotErr, diff)
		}
	}
}

// A node of an overlay offers what only the question and that node know of.
func TestOverlayOffersItsOwnResources(t *testing.T) {
	s := busy(t)
	const name = "example.com/only-here"
	n := enginetest.Node("n2")
	n.Status.Allocatable[name] = resource.MustParse("2")
	e := s.Overlay()
	if err := e.Put(n); err != nil {
		t.Fatal(err)
	}
	over := e.Done()
	// A second overlay on the first, and the name in the tables meanwhile.
	e = over.Overlay()
	n = enginetest.Node("n0")
	n.Status.Allocatable["example.com/another"] = resource.MustParse("1")
	if err := e.Put(n); err != nil {
		t.Fatal(err)
	}
	twice := e.Done()
	e = s.Edit()
	placed := enginetest.Pod("placed")
	placed.Spec.Containers[0].Resources.Requests = corev1.ResourceList{name: resource.MustParse("1"), "example.com/another": resource.MustParse("1")}
	if err := e.Put(placed); err != nil {
		t.Fatal(err)
	}
	e.Done()
	for _, c := range []struct {
		state *state.State
		want  string
		node  string
	}{{over, name, "n2"}, {twice, name, "n2"}, {twice, "example.com/another", "n0"}, {over, "example.com/another", ""}, {s, name, ""}} {
		pod := enginetest.Pod("p")
		pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceName(c.want): resource.MustParse("1")}
		d, err := (&enginetest.Case{Pod: pod, Spec: rules.DefaultSpec()}).DecideOn(c.state)
		if err != nil || d.Node != c.node {
			t.Errorf("%s: on %q, want %q: %v", c.want, d.Node, c.node, err)
		}
		if c.node == "" && (len(d.Failures) != 1 || d.Failures[0].Reason != rules.ReasonInsufficient+c.want) {
			t.Errorf("%+v", d.Failures)
		}
	}
}
