package admission

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// FuzzAdmission: whatever is posted, there is an answer, the arguments stay as
// they were, and the same question has the same answer.
func FuzzAdmission(f *testing.F) {
	f.Add([]byte(`{}`), []byte(`{}`))
	f.Add([]byte(`{"metadata":{"generateName":"a"},"spec":{"containers":[{"name":"c","lifecycle":{"stopSignal":"SIGHUP"}}]}}`), []byte(`{"spec":{"containers":[{}]}}`))
	f.Add([]byte(`{"spec":{"affinity":{"nodeAffinity":{}},"schedulingGates":[{}],"resources":{},"overhead":{"cpu":"1"}}}`),
		[]byte(`{"spec":{"schedulingGates":[{"name":"a"}],"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{}]}}}}}`))
	f.Add([]byte(`{"spec":{"initContainers":[{"restartPolicy":"Always","resizePolicy":[{}]}],"volumes":[{}],"resourceClaims":[{}],"topologySpreadConstraints":[{"minDomains":0}]}}`), []byte(`{}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		one, other := &corev1.Pod{}, &corev1.Pod{}
		if json.Unmarshal(a, one) != nil || json.Unmarshal(b, other) != nil {
			return
		}
		before, beforeOther := one.DeepCopy(), other.DeepCopy()
		for what, judge := range map[string]func() Verdict{
			"create": func() Verdict { return Create(one, Admission{}, now) },
			"update": func() Verdict { return Update(one, other) },
		} {
			v := judge()
			if (v.Pod == nil) == (len(v.Errors) == 0) {
				t.Errorf("%s: pod %v with errors %v", what, v.Pod != nil, v.Errors)
			}
			if d := cmp.Diff(lines(v.Errors), lines(judge().Errors)); d != "" {
				t.Errorf("%s: another answer to the same question:\n%s", what, d)
			}
		}
		if cmp.Diff(before, one) != "" || cmp.Diff(beforeOther, other) != "" {
			t.Error("an argument was written")
		}
	})
}
