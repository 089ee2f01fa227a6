package engine_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/footprint"
	"berth/internal/engine/rules"
	"berth/internal/semantics"
	"berth/test/enginetest"
)

// TestFootprint: neither a decision nor its explanation allocates more than is estimated before.
// Memory of decisions before is not used again.
func TestFootprint(t *testing.T) {
	objects := enginetest.Large(enginetest.Size{Nodes: 1000, Pods: 10_000, Apps: 100})
	for i := range 20_000 {
		objects = append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("team-%d", i), Labels: map[string]string{"all": "yes"}}})
	}
	s, err := enginetest.State(objects...)
	if err != nil {
		t.Fatal(err)
	}
	list := enginetest.Questions()
	var many []enginetest.PodOption
	for i := range 16 {
		many = append(many, enginetest.Spread(corev1.LabelHostname, int32(i+1), corev1.ScheduleAnyway, enginetest.Match("app", fmt.Sprintf("app-%03d", i))),
			enginetest.PreferNear(10, enginetest.PodTerm(corev1.LabelHostname, enginetest.Match("app", fmt.Sprintf("app-%03d", i)))))
	}
	var inAll []enginetest.PodOption
	for i := range 8 {
		term := enginetest.PodTerm(corev1.LabelHostname, enginetest.Match("app", fmt.Sprintf("none-%d", i)))
		term.NamespaceSelector = enginetest.Match("all", "yes")
		inAll = append(inAll, enginetest.PreferNear(10, term))
	}
	full := enginetest.LargePod(0, "asked", many...)
	nowhere := enginetest.LargePod(0, "asked", enginetest.Spread(corev1.LabelHostname, 1, corev1.DoNotSchedule, enginetest.Match("app", "app-000")))
	evicting := nowhere.DeepCopy()
	first := int32(1 << 30)
	evicting.Spec.Priority = &first
	evicting.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("60")}
	list = append(list, enginetest.Question{Name: "terms", Pod: full, Spec: rules.DefaultSpec()}, enginetest.Question{Name: "evicting", Pod: evicting, Spec: rules.DefaultSpec()},
		enginetest.Question{Name: "namespaces", Pod: enginetest.LargePod(0, "asked", inAll...), Spec: rules.DefaultSpec()})
	allocated := func(f func()) int64 {
		runtime.GC()
		runtime.GC() // pools are empty then
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return int64(after.TotalAlloc - before.TotalAlloc)
	}
	for _, q := range list {
		p, err := rules.Build(q.Spec)
		if err != nil {
			t.Fatal(err)
		}
		s.DropMemos()
		var r *engine.Result
		took := allocated(func() { r, err = engine.Decide(s, q.Pod, p, engine.Options{}) })
		if err != nil {
			t.Fatal(q.Name, err)
		}
		bound := footprint.Decision(s, q.Pod, p, engine.Options{})
		t.Logf("%-16s %-13s %10d of %10d", q.Name, r.Outcome, took, bound)
		if took > bound {
			t.Errorf("%s allocates %d, %d are estimated", q.Name, took, bound)
		}
		for _, level := range []engine.Explain{engine.ExplainNone, engine.ExplainFailures, engine.ExplainFull, engine.ExplainAll} {
			took = allocated(func() {
				_, err = json.Marshal(explain.Decision(r, level))
			})
			if bound = footprint.Explanation(r, level); err != nil || took > bound {
				t.Errorf("%s: explaining %q allocates %d, %d are estimated (%v)", q.Name, level, took, bound, err)
			}
			t.Logf("%-16s %-13s %10d of %10d", q.Name, level, took, bound)
		}
		r.Release()
	}
}

// TestFootprintOfSums: where pods count otherwise under the release of a profile, so do the sums of
// the state that are made for it.
func TestFootprintOfSums(t *testing.T) {
	s, err := enginetest.State(enginetest.Large(enginetest.Size{Nodes: 100, Pods: 1000, Apps: 10})...)
	if err != nil {
		t.Fatal(err)
	}
	resized := enginetest.LargePod(0, "resized", enginetest.On(s.Nodes().Node(0).Name))
	held := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3")}
	resized.Status.AllocatedResources, resized.Status.Resources = held, &corev1.ResourceRequirements{Requests: held}
	e := s.Edit()
	if err := e.Put(resized); err != nil {
		t.Fatal(err)
	}
	with, pod := e.Done(), enginetest.LargePod(0, "asked")
	for _, r := range []*semantics.Release{semantics.Default(), semantics.Newest()} {
		p, err := rules.BuildUnder(rules.SpecOf(r), r)
		if err != nil {
			t.Fatal(err)
		}
		more := footprint.Decision(with, pod, p, engine.Options{NoPreemption: true}) - footprint.Decision(s, pod, p, engine.Options{NoPreemption: true})
		if counted := more >= with.ViewBytes(); counted != (r != semantics.Default()) {
			t.Errorf("%s: %d bytes more where a pod was resized, its sums take %d", r.Name, more, with.ViewBytes())
		}
	}
}
