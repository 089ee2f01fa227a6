package record_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/kube/object"
	"berth/test/logtest"
)

// Each case is a pod that fits nowhere on four nodes, and the change that has to
// be offered first, with the number of nodes that it opens.
func TestSuggestions(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	logtest.Upload(t, h,
		logtest.Object(t, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","labels":{"kubernetes.io/hostname":"n1","zone":"a"}},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"}}}`),
		logtest.Object(t, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n2","labels":{"kubernetes.io/hostname":"n2","zone":"b"}},"spec":{"taints":[{"key":"gpu","value":"yes","effect":"NoSchedule"}]},"status":{"allocatable":{"cpu":"16","memory":"8Gi","pods":"110"}}}`),
		logtest.Object(t, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n3","labels":{"kubernetes.io/hostname":"n3","zone":"a"}},"spec":{"unschedulable":true},"status":{"allocatable":{"cpu":"16","memory":"8Gi","pods":"110"}}}`),
		logtest.Held(t, logtest.Pod(t, "other", `"nodeName":"n1",`)),
	)
	for _, c := range []struct{ name, spec, change string }{
		{"cpu", `"containers":[{"name":"c","resources":{"requests":{"cpu":"3500m"}}}]`, "lower the cpu request of container c from 3500m to 3000m"},
		{"cpu, taint tolerated but too much", `"tolerations":[{"operator":"Exists","key":"gpu"}],"containers":[{"name":"c","resources":{"requests":{"cpu":"16500m"}}}]`, "lower the cpu request of container c from 16500m to 16000m"},
		{"selector", `"nodeSelector":{"disk":"ssd"},"containers":[{"name":"c"}]`, "drop disk=ssd from nodeSelector"},
		{"gate", `"schedulingGates":[{"name":"example.com/wait"}],"containers":[{"name":"c"}]`, "remove the scheduling gates example.com/wait"},
		{"spread", `"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"web"}}}],"containers":[{"name":"c"}]`, "raise maxSkew over zone from 1 to 2"},
		{"anti-affinity", `"tolerations":[{"operator":"Exists","key":"gpu"}],"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone","namespaceSelector":{},"labelSelector":{}}]}},"nodeSelector":{"zone":"a"},"containers":[{"name":"c"}]`, "drop zone=a from nodeSelector"},
		{"port", `"nodeSelector":{"zone":"c"},"containers":[{"name":"c"}]`, "drop zone=c from nodeSelector"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := logtest.Object(t, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x","namespace":"d","labels":{"app":"web"}},"spec":{`+c.spec+`}}`)
			ans, err := h.Decide(t.Context(), decision.Question{Pod: decoded(t, p), Suggest: true, DryRun: true})
			if err != nil {
				t.Fatal(err)
			}
			if len(ans.Suggestions) == 0 {
				t.Fatalf("nothing is suggested: %s", ans.Message)
			}
			first := ans.Suggestions[0]
			if first.Change != c.change || first.Fits == 0 || len(first.Nodes) != first.Fits {
				t.Fatalf("got %q, want first %q", first.Change, c.change)
			}
		})
	}
}

// A suggestion is never made for a pod that fits, nor left in the record.
func TestSuggestionsStayOut(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	logtest.Upload(t, h, logtest.Sample(t)...)
	ans, err := h.Decide(t.Context(), decision.Question{Pod: logtest.Pod(t, "fits", ""), Suggest: true})
	if err != nil || ans.Suggestions != nil {
		t.Fatalf("%v %+v", err, ans.Suggestions)
	}
	big := logtest.Pod(t, "big", `"nodeSelector":{"no":"where"},`)
	ans, err = h.Decide(t.Context(), decision.Question{Pod: big, Suggest: true})
	if err != nil || len(ans.Suggestions) == 0 {
		t.Fatalf("%v %+v", err, ans)
	}
	if r, err := h.Replay(t.Context(), ans.ID, record.Overrides{}); err != nil || !r.Identical {
		t.Fatalf("%v %+v", err, r)
	}
}

func decoded(t *testing.T, o object.Object) *corev1.Pod {
	t.Helper()
	p, ok := o.Value.(*corev1.Pod)
	if !ok {
		t.Fatalf("%T is no pod", o.Value)
	}
	return p
}
