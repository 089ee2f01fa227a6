package podlife

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// FuzzTerminate: for every input there is an answer or a field at fault; the answer can be written
// as JSON, satisfies its own rules, and is the same the second time.
func FuzzTerminate(f *testing.F) {
	f.Add([]byte(`{"spec":{"nodeName":"n","terminationGracePeriodSeconds":9223372036854775807,"containers":[{"name":"c","lifecycle":{"preStop":{}}}],"initContainers":[{"name":"s","restartPolicy":"Always"}]}}`), uint8(0), int64(-1), int64(1)<<62, false)
	f.Add([]byte(`{"metadata":{"deletionTimestamp":"2026-03-01T12:00:00Z","deletionGracePeriodSeconds":-9223372036854775808},"spec":{"containers":[{"name":"c","livenessProbe":{"terminationGracePeriodSeconds":-5}},{"name":"c"}]}}`), uint8(4), int64(5), int64(3), true)
	f.Add([]byte(`{"metadata":{"deletionTimestamp":"0001-01-01T00:00:01Z","deletionGracePeriodSeconds":9223372036854775807},"status":{"phase":"Odd","containerStatuses":[{"name":"c"}]}}`), uint8(6), int64(0), int64(0), false)
	f.Fuzz(func(t *testing.T, raw []byte, cause uint8, period, hook int64, given bool) {
		p := &corev1.Pod{}
		if json.Unmarshal(raw, p) != nil {
			return
		}
		e := Ending{Pod: p, Cause: Causes[int(cause)%len(Causes)], EvictionMaxPodGracePeriod: int32(period), Now: hour, PreStopSeconds: map[string]int64{}}
		if given {
			e.GracePeriodSeconds = &period
		}
		if len(p.Spec.Containers) > 0 {
			e.PreStopSeconds[p.Spec.Containers[0].Name] = hook
		}
		before := p.DeepCopy()
		out, errs := Terminate(e)
		if (out == nil) == (len(errs) == 0) {
			t.Fatalf("an answer %v with errors %v", out != nil, errs)
		}
		if cmp.Diff(before, p) != "" {
			t.Error("the pod was written")
		}
		if out == nil {
			return
		}
		js, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := Terminate(e)
		if other, _ := json.Marshal(again); string(other) != string(js) {
			t.Error("another answer to the same question")
		}
		for _, s := range out.Containers {
			if s.StopTimeoutSeconds < leastStop || s.KillAt < s.SignalAt {
				t.Errorf("%+v", s)
			}
		}
		for i := range out.Timeline {
			if i > 0 && out.Timeline[i].OffsetSeconds < out.Timeline[i-1].OffsetSeconds {
				t.Errorf("the timeline goes back at %d", i)
			}
		}
		collected(t, []*corev1.Pod{p}, nil, int(period%3), hour)
	})
}

// FuzzEvictionRanking: every pod is in one of the two lists, and the order does
// not depend on that of the question.
func FuzzEvictionRanking(f *testing.F) {
	f.Add([]byte(`[{"metadata":{"name":"a"},"spec":{"priority":2000000000}},{"metadata":{"name":"b"}},{"metadata":{"name":"c"},"spec":{"overhead":{"memory":"1"},"resources":{}}}]`), uint8(0), int64(5))
	f.Fuzz(func(t *testing.T, raw []byte, signal uint8, use int64) {
		var pods []*corev1.Pod
		if json.Unmarshal(raw, &pods) != nil {
			return
		}
		s := Signals[int(signal)%len(Signals)]
		var list, back []Consumer
		for i, p := range pods {
			if p == nil {
				return
			}
			c := Consumer{Pod: p}
			if (use>>(i%40))&1 == 1 {
				c.Usage = corev1.ResourceList{s.UsageKey(): *quantityOf(use >> (i % 7))}
			}
			list = append(list, c)
			back = append([]Consumer{c}, back...)
		}
		ranking, protected, err := RankForEviction(s, list)
		if err != nil || len(ranking)+len(protected) != len(pods) {
			t.Fatalf("%d ranked and %d protected of %d, %v", len(ranking), len(protected), len(pods), err)
		}
		other, _, _ := RankForEviction(s, back)
		a, _ := json.Marshal(ranking)
		if b, _ := json.Marshal(other); unique(pods) && string(a) != string(b) {
			t.Errorf("the order of the question shows: %s and %s", a, b)
		}
	})
}

// unique reports whether no two pods have one name.
func unique(pods []*corev1.Pod) bool {
	names := map[string]bool{}
	for _, p := range pods {
		key := p.Namespace + "/" + p.Name
		if p.Namespace == "default" {
			key = "/" + p.Name
		}
		if names[key] {
			return false
		}
		names[key] = true
	}
	return true
}

func quantityOf(n int64) *resource.Quantity { return resource.NewQuantity(n, resource.DecimalSI) }
